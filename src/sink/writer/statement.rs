//! The SQL of a step, by its form and column set.

use crate::catalog::{Column, Identity, TypeKind};
use crate::options::ConflictAction;
use crate::sink::plan::Form;
use crate::sink::target::{Target, column_number};
use crate::sql::statement::{self, Assign, Source};

/// How a step is carried out.
#[derive(Debug, Clone)]
pub(crate) enum Statement {
    /// One statement.
    One(String),
    /// Stored rows are updated; the rows that the answer does not name are inserted. `upsert` decides on what is left
    /// then, where the relation takes a conflict target.
    Pair { update: String, insert: String, upsert: Option<String> },
    /// COPY into the relation.
    Copy(String),
    /// There is nothing to do (no column beside the key to set to NULL).
    Nothing,
}

/// How a step is carried out, and what brings its rows.
pub(super) struct Way {
    pub(super) statement: Statement,
    pub(super) source: Source,
    /// The COPY into the table that takes the statement's place where all keys are new.
    pub(super) optimistic: Option<String>,
}

/// The way of `rows` rows of one form and column set.
pub(super) fn way(target: &Target, form: Form, set: &[u16], rows: usize) -> Way {
    let parameters = || {
        let (statement, source) = build(target, form, set);
        Way { statement, source, optimistic: None }
    };
    let appends = match form {
        Form::Insert => true,
        Form::Update | Form::Replace | Form::Recreate | Form::Ignore if !target.needs_pair(set) => false,
        _ => return parameters(),
    };
    let Some(copying) = target.copying.as_ref().filter(|_| !set.is_empty()) else { return parameters() };
    let copy = || statement::copy(&target.columns(target.source, set), copying.format);
    if appends && copying.straight.is_some_and(|least| rows >= least) {
        return Way { statement: Statement::Copy(copy()), source: target.source, optimistic: None };
    }
    if rows < copying.staged {
        return parameters();
    }
    let mut way = match &copying.stage {
        Some(stage) => {
            let source = Source::Stage(stage.name);
            Way { statement: over(target, form, set, source), source, optimistic: None }
        }
        None => parameters(),
    };
    // After a delete of the same key the row may be there.
    let may_be_new = !appends && form != Form::Recreate;
    way.optimistic = (copying.optimistic && may_be_new).then(copy);
    way
}

/// The statement of a step whose rows travel as parameters, and the source that they take.
pub(super) fn build(target: &Target, form: Form, set: &[u16]) -> (Statement, Source) {
    let source = match form {
        Form::Delete | Form::Nullify => key_source(target, set),
        _ => target.source,
    };
    (over(target, form, set, source), source)
}

/// The statement of a step over a source.
pub(super) fn over(target: &Target, form: Form, set: &[u16], source: Source) -> Statement {
    let columns = target.columns(source, set);
    let Some(key) = target.statement_key() else {
        return Statement::One(statement::insert(&columns));
    };
    let text = match form {
        Form::Insert => statement::insert(&columns),
        Form::Delete => statement::delete(&columns, &key),
        Form::Nullify => {
            let changes: Vec<Assign> = changeable(target).map(Assign::Null).collect();
            if changes.is_empty() {
                return Statement::Nothing;
            }
            statement::update(&columns, &key, &changes)
        }
        Form::Ignore if target.needs_pair(set) => statement::insert_missing(&columns, &key),
        Form::Ignore => statement::insert_or_ignore(&columns, &key),
        Form::Update | Form::Replace | Form::Recreate => {
            let changes = changes(target, form, set);
            if !target.needs_pair(set) {
                statement::upsert(&columns, &key, &changes)
            } else if changes.is_empty() {
                statement::insert_missing(&columns, &key)
            } else {
                let update = statement::update_returning(&columns, &key, &changes);
                let insert = statement::insert_or_ignore(&columns, &key);
                let upsert = (!key.no_target).then(|| statement::upsert(&columns, &key, &changes));
                return Statement::Pair { update, insert, upsert };
            }
        }
    };
    Statement::One(text)
}

/// The source of rows that bring the key alone: arrays of its columns are smaller than rows of the table.
pub(super) fn key_source(target: &Target, set: &[u16]) -> Source {
    if is_flattened(target, set) { target.source } else { Source::ColumnArrays }
}

/// unnest flattens arrays of arrays, and spreads composites over their fields.
fn is_flattened(target: &Target, set: &[u16]) -> bool {
    set.iter().any(|&column| {
        let (base, _) = target.table.columns[usize::from(column)].data_type.base(-1);
        base.array_oid == 0 || matches!(base.kind, TypeKind::Array { .. } | TypeKind::Composite(_))
    })
}

/// Columns beside the key that an UPDATE may change.
fn changeable(target: &Target) -> impl Iterator<Item = u16> + '_ {
    let changeable = |(position, column): (usize, &Column)| {
        let always = column.identity == Identity::Always;
        (!column.generated && !always && !target.is_key(position)).then(|| column_number(position))
    };
    target.table.columns.iter().enumerate().filter_map(changeable)
}

/// What the stored row's columns become.
fn changes(target: &Target, form: Form, set: &[u16]) -> Vec<Assign> {
    let given = |column: u16| set.contains(&column);
    let recreate = form == Form::Recreate;
    let kept = |column: u16| !recreate && target.insert_only[usize::from(column)];
    match form {
        Form::Replace | Form::Recreate => {
            let rest = changeable(target).filter(|&column| !kept(column));
            let rest = rest
                .map(|column| if given(column) { Assign::Given(column) } else { Assign::Default(column) });
            // After a delete the key's new spelling counts; and columns that a replace leaves out are NULL already.
            let key = target.key.iter().flat_map(|key| key.columns.iter().copied()).filter(|&column| {
                let declared = &target.table.columns[usize::from(column)];
                recreate
                    && target.key_spellings
                    && given(column)
                    && !declared.generated
                    && declared.identity != Identity::Always
            });
            // A new row would draw a new identity; a given one cannot be assigned to a stored row.
            let identity = (0..target.table.columns.len()).map(column_number).filter(|&column| {
                let always = target.table.columns[usize::from(column)].identity == Identity::Always;
                always && !given(column) && !target.is_key(usize::from(column))
            });
            key.map(Assign::Given).chain(rest).chain(identity.map(Assign::Default)).collect()
        }
        _ => {
            debug_assert!(target.action != ConflictAction::InsertOrIgnore);
            let beside_key = |&column: &u16| !target.is_key(usize::from(column)) && !kept(column);
            let always =
                |&column: &u16| target.table.columns[usize::from(column)].identity != Identity::Always;
            set.iter().copied().filter(beside_key).filter(always).map(Assign::Given).collect()
        }
    }
}
