//! Which field of a record goes into which column: by header, by position, by key.

use std::collections::HashMap;

use crate::{Error, ErrorKind, Result};

/// Where a field goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Into the declared column of this index.
    Column(usize),
    /// It says the kind of change.
    Op,
    /// Nowhere.
    Skip,
}

/// The fields' targets and the columns that are declared to the sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) targets: Vec<Target>,
    pub(super) columns: Vec<String>,
}

/// The keys of a line's object and the columns that are declared to the sink. A key that is not here is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) targets: HashMap<String, Target>,
    pub(super) columns: Vec<String>,
    /// Keys that are not here are skipped.
    pub(super) skip_others: bool,
}

impl Keys {
    /// Adds a column; `index` is its place among those declared.
    pub(super) fn add(&mut self, name: &str, index: usize) {
        self.targets.insert(name.to_owned(), Target::Column(index));
        self.columns.push(name.to_owned());
    }
}

/// What is loaded, as the table and the options say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// The table's columns that can be given, in order.
    pub(super) table: &'a [String],
    /// `--columns`.
    pub(super) columns: Option<&'a [String]>,
    /// `--op-column`.
    pub(super) op: Option<&'a str>,
    /// `--ignore-unknown`.
    pub(super) ignore_unknown: bool,
}

impl Wanted<'_> {
    /// Targets of a header's names; `--columns` selects among them.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] that lists the names which are no columns, are there twice, or are asked for and missing.
    pub(super) fn by_header(&self, header: &[String]) -> Result<Mapping> {
        self.check_selection()?;
        if let Some(asked) = self.columns {
            let missing = names(asked.iter().filter(|name| !header.contains(name)));
            reject(&missing, "the header has no column", "")?;
        }
        if let Some(op) = self.op.filter(|op| !header.iter().any(|name| name == op)) {
            reject(&[op], "the header has no column", "--op-column names it")?;
        }
        let selected = |name: &String| match self.columns {
            Some(asked) => asked.contains(name),
            None => !self.ignore_unknown || self.table.contains(name),
        };
        let mapping = self.map(header, selected);
        let unknown = names(mapping.columns.iter().filter(|name| !self.table.contains(name)));
        reject(&unknown, "the table has no column", &self.advice(&unknown))?;
        let doubled = names(doubled(&mapping.columns));
        reject(
            &doubled,
            "the header has twice the column",
            "--columns selects by name, --no-header by position",
        )?;
        if mapping.targets.iter().filter(|&&target| target == Target::Op).count() > 1 {
            reject(&[self.op.unwrap_or_default()], "the header has twice the column", "")?;
        }
        if mapping.columns.is_empty() {
            return Err(config("the header names no column of the table".into()));
        }
        Ok(mapping)
    }

    /// Targets of fields without a header: those of `--columns`, else the table's columns in order.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] where `--columns` names unknown or doubled columns, or leaves out `--op-column`.
    pub(super) fn by_position(&self) -> Result<Mapping> {
        self.check_selection()?;
        let fields = self.columns.unwrap_or(self.table);
        if self.op.is_some_and(|op| !fields.iter().any(|name| name == op)) {
            return Err(config("--columns must say which field --op-column is".into()));
        }
        let known = |name: &String| !self.ignore_unknown || self.table.contains(name);
        let mapping = self.map(fields, known);
        let unknown = names(mapping.columns.iter().filter(|name| !self.table.contains(name)));
        reject(&unknown, "the table has no column", &self.advice(&unknown))?;
        Ok(mapping)
    }

    /// The keys of objects: all columns, or those of `--columns`.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] where `--columns` names unknown or doubled columns.
    pub(super) fn by_key(&self) -> Result<Keys> {
        self.check_selection()?;
        let columns: Vec<String> = self
            .columns
            .unwrap_or(self.table)
            .iter()
            .filter(|name| self.op != Some(name.as_str()))
            .cloned()
            .collect();
        let unknown = names(columns.iter().filter(|name| !self.table.contains(name)));
        reject(&unknown, "the table has no column", &self.advice(&unknown))?;
        let mut targets: HashMap<String, Target> =
            columns.iter().enumerate().map(|(index, name)| (name.clone(), Target::Column(index))).collect();
        if let Some(op) = self.op {
            targets.insert(op.to_owned(), Target::Op);
        }
        Ok(Keys { targets, columns, skip_others: self.ignore_unknown || self.columns.is_some() })
    }

    fn map(&self, fields: &[String], selected: impl Fn(&String) -> bool) -> Mapping {
        let mut columns = Vec::new();
        let targets = fields
            .iter()
            .map(|name| {
                if self.op == Some(name.as_str()) {
                    Target::Op
                } else if selected(name) {
                    columns.push(name.clone());
                    Target::Column(columns.len() - 1)
                } else {
                    Target::Skip
                }
            })
            .collect();
        Mapping { targets, columns }
    }

    fn check_selection(&self) -> Result<()> {
        let doubled = names(self.columns.into_iter().flat_map(doubled));
        reject(&doubled, "--columns has twice the column", "")
    }

    fn advice(&self, unknown: &[&str]) -> String {
        let near = unknown
            .iter()
            .find_map(|name| self.table.iter().find(|column| column.eq_ignore_ascii_case(name)));
        match near {
            Some(column) => {
                format!("did you mean \"{column}\"? names are taken exactly; --ignore-unknown skips them")
            }
            None => "--ignore-unknown skips them, --columns selects those that are loaded".to_owned(),
        }
    }
}

fn doubled(list: &[String]) -> impl Iterator<Item = &String> {
    list.iter().enumerate().filter(|(index, name)| list[..*index].contains(name)).map(|(_, name)| name)
}

fn names<'a>(list: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    list.map(String::as_str).collect()
}

fn reject(list: &[&str], what: &str, hint: &str) -> Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let quoted: Vec<String> = list.iter().map(|name| format!("\"{name}\"")).collect();
    let error = config(format!("{what} {}", quoted.join(", ")));
    Err(if hint.is_empty() { error } else { error.with_hint(hint) })
}

fn config(message: String) -> Error {
    Error::new(ErrorKind::Config, "match columns", message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    struct Case {
        table: Vec<String>,
        columns: Option<Vec<String>>,
        op: Option<&'static str>,
        ignore: bool,
    }

    impl Case {
        fn new() -> Self {
            Self { table: list(&["id", "v", "note"]), columns: None, op: None, ignore: false }
        }

        fn wanted(&self) -> Wanted<'_> {
            let columns = self.columns.as_deref();
            Wanted { table: &self.table, columns, op: self.op, ignore_unknown: self.ignore }
        }

        fn header(&self, header: &[&str]) -> Result<Mapping> {
            self.wanted().by_header(&list(header))
        }
    }

    #[test]
    fn a_header_maps_by_exact_name_in_any_order() {
        let mapping = Case::new().header(&["v", "id"]).unwrap();
        assert_eq!(
            mapping,
            Mapping { targets: vec![Target::Column(0), Target::Column(1)], columns: list(&["v", "id"]) }
        );
    }

    #[test]
    fn all_unknown_names_are_listed_with_what_to_do() {
        let error = Case::new().header(&["id", "V", "extra"]).unwrap_err();
        assert_eq!(error.message(), "the table has no column \"V\", \"extra\"");
        assert!(error.hint().unwrap().starts_with("did you mean \"v\"?"), "{error}");
        let mapping = Case { ignore: true, ..Case::new() }.header(&["id", "V", "extra", "v"]).unwrap();
        assert_eq!(mapping.targets, [Target::Column(0), Target::Skip, Target::Skip, Target::Column(1)]);
    }

    #[test]
    fn a_doubled_name_is_an_error_where_it_is_loaded() {
        assert!(Case::new().header(&["id", "v", "id"]).is_err());
        assert!(Case { ignore: true, ..Case::new() }.header(&["id", "x", "x"]).is_ok());
        assert!(Case { op: Some("op"), ..Case::new() }.header(&["op", "id", "op"]).is_err());
        assert!(Case { ignore: true, ..Case::new() }.header(&["x", "y"]).is_err());
    }

    #[test]
    fn columns_select_by_name_with_a_header() {
        let case = Case { columns: Some(list(&["note", "id"])), ..Case::new() };
        let mapping = case.header(&["id", "whatever", "v", "note"]).unwrap();
        assert_eq!(mapping.columns, ["id", "note"]);
        assert_eq!(mapping.targets, [Target::Column(0), Target::Skip, Target::Skip, Target::Column(1)]);
        assert_eq!(case.header(&["id"]).unwrap_err().message(), "the header has no column \"note\"");
        let strange = Case { columns: Some(list(&["id", "x"])), ..Case::new() };
        assert_eq!(strange.header(&["id", "x"]).unwrap_err().message(), "the table has no column \"x\"");
    }

    #[test]
    fn columns_name_by_position_without_a_header() {
        let by_position = |case: Case| case.wanted().by_position();
        assert_eq!(by_position(Case::new()).unwrap().columns, ["id", "v", "note"]);
        let some = Case { columns: Some(list(&["note", "op", "id"])), op: Some("op"), ..Case::new() };
        let mapping = by_position(some).unwrap();
        assert_eq!(mapping.targets, [Target::Column(0), Target::Op, Target::Column(1)]);
        assert!(by_position(Case { op: Some("op"), ..Case::new() }).is_err());
        assert!(by_position(Case { columns: Some(list(&["id", "id"])), ..Case::new() }).is_err());
        let gap = Case { columns: Some(list(&["id", "-", "v"])), ignore: true, ..Case::new() };
        assert_eq!(by_position(gap).unwrap().targets, [Target::Column(0), Target::Skip, Target::Column(1)]);
    }

    #[test]
    fn keys_are_all_columns_of_the_table() {
        let keys = Case { op: Some("op"), ..Case::new() }.wanted().by_key().unwrap();
        assert_eq!(keys.columns, ["id", "v", "note"]);
        assert_eq!(keys.targets["note"], Target::Column(2));
        assert_eq!(keys.targets["op"], Target::Op);
        assert!(!keys.skip_others);
        let keys = Case { columns: Some(list(&["v"])), ..Case::new() }.wanted().by_key().unwrap();
        assert_eq!((keys.columns, keys.skip_others), (list(&["v"]), true));
    }
}
