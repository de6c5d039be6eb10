//! Folding: from a batch's log to the statements that give what applying the records one by one would give.
//!
//! Records of one key become one *unit*, where the conflict policy and the delete strategy allow it; units of one form
//! and one column set become one *step*, a statement. Two units of one key never share a step.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::log::{ColumnSet, Fields, Log, LogRow, Op};
use super::target::Target;
use crate::options::ConflictAction;

/// What a unit does to its key's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Append to a table without a key.
    Insert,
    /// Insert, or change the given columns of the stored row.
    Update,
    /// Insert, or make the stored row the one that an insert would give: columns that are not given get their DEFAULT.
    Replace,
    /// As `Replace`, after a delete of the same key: the key's new spelling and the insert-only columns too.
    Recreate,
    /// Insert, or leave the stored row.
    Ignore,
    /// Delete by key.
    Delete,
    /// Set all columns beside the key to NULL, by key.
    Nullify,
}

/// The fields of a unit: in the log, or merged from several records.
#[derive(Debug, Clone, Copy)]
enum Place {
    Log,
    Merged,
}

/// The change of one key that several records of the log may have come to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) form: Form,
    place: Place,
    start: usize,
    end: usize,
    set: u32,
    /// The unit's records: a range of `Plan::order`.
    records: (usize, usize),
    /// Which of its key's units it is: later ones go in later steps.
    wave: u32,
    /// A row of the log that has the unit's key.
    key_row: u32,
}

/// Units, and the records that each stands for.
pub(crate) struct Plan<'a> {
    target: &'a Target,
    log: &'a Log,
    /// Row numbers of the log, the records of a unit together.
    order: Vec<u32>,
    pub(crate) units: Vec<Unit>,
    merged: Vec<u8>,
    sets: Vec<ColumnSet>,
}

/// One statement: the units `units` of the plan.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) form: Form,
    pub(crate) set: ColumnSet,
    pub(crate) units: Vec<usize>,
}

impl<'a> Plan<'a> {
    /// Folds the whole log.
    pub(crate) fn folded(target: &'a Target, log: &'a Log) -> Self {
        let order = (0..u32::try_from(log.rows.len()).unwrap_or(u32::MAX)).collect();
        Self::new(target, log, order, target.fold)
    }

    /// The given rows of the log, in arrival order, a unit each.
    pub(crate) fn unfolded(target: &'a Target, log: &'a Log, rows: Vec<u32>) -> Self {
        Self::new(target, log, rows, false)
    }

    fn new(target: &'a Target, log: &'a Log, order: Vec<u32>, fold: bool) -> Self {
        let mut plan = Self {
            target,
            log,
            units: Vec::with_capacity(order.len()),
            order,
            merged: Vec::new(),
            sets: log.sets.clone(),
        };
        if target.key.is_none() {
            for at in 0..plan.order.len() {
                let row = plan.row(at);
                plan.push_row(Form::Insert, row, (at, at + 1), 0);
            }
            return plan;
        }
        let rows = &log.rows;
        let by_key = |&a: &u32, &b: &u32| compare(log, &rows[a as usize], &rows[b as usize]).then(a.cmp(&b));
        // Sorted by key, so that neighbours on the server's pages come together; keys in order cost nothing here.
        plan.order.sort_by(by_key);
        let mut at = 0;
        while at < plan.order.len() {
            let first = plan.row(at);
            let same = |&other: &u32| compare(log, first, &rows[other as usize]) == Ordering::Equal;
            let count = if first.partial_key {
                1
            } else {
                plan.order[at..].iter().take_while(|row| same(row)).count()
            };
            if fold {
                plan.fold_key((at, at + count));
            } else {
                for wave in 0..count {
                    let row = plan.row(at + wave);
                    plan.push_row(plan.single(row), row, (at + wave, at + wave + 1), wave);
                }
            }
            at += count;
        }
        if plan.in_arrival_order() {
            let last = |unit: &Unit| plan.order[unit.records.1 - 1];
            plan.units.sort_by_key(last);
        }
        plan
    }

    /// Rows whose key the server completes may meet any other row: then nothing is reordered.
    fn in_arrival_order(&self) -> bool {
        self.target.arrival_order || self.log.rows.iter().any(|row| row.partial_key)
    }

    fn row(&self, at: usize) -> &'a LogRow {
        &self.log.rows[self.order[at] as usize]
    }

    /// The form of a record that stands alone.
    fn single(&self, row: &LogRow) -> Form {
        match row.op {
            Op::Delete => Form::Delete,
            Op::Nullify => Form::Nullify,
            Op::Upsert => match self.target.action {
                ConflictAction::InsertOrIgnore => Form::Ignore,
                ConflictAction::InsertOrReplace => Form::Replace,
                _ => Form::Update,
            },
        }
    }

    fn push_row(&mut self, form: Form, row: &LogRow, records: (usize, usize), wave: usize) {
        self.units.push(Unit {
            form,
            place: Place::Log,
            start: row.start,
            end: row.end,
            set: row.set,
            records,
            wave: u32::try_from(wave).unwrap_or(u32::MAX),
            key_row: self.order[records.0],
        });
    }

    /// The units that the records of one key come to (DESIGN: the folding table).
    fn fold_key(&mut self, (from, to): (usize, usize)) {
        let first = self.units.len();
        self.push_row(self.single(self.row(from)), self.row(from), (from, from + 1), 0);
        for at in from + 1..to {
            let row = self.row(at);
            let next = self.single(row);
            let last = self.units.len() - 1;
            let unit = self.units[last];
            let records = (unit.records.0, at + 1);
            let wave = usize::try_from(unit.wave).unwrap_or(usize::MAX);
            match (unit.form, next) {
                // The row is gone, whatever came before.
                (_, Form::Delete) => {
                    self.units.truncate(first);
                    self.push_row(Form::Delete, row, (from, at + 1), 0);
                }
                // Nothing is there to be set to NULL.
                (Form::Delete, Form::Nullify) | (Form::Nullify, Form::Nullify) => {
                    self.units[last].records = records
                }
                (Form::Delete, _) => {
                    self.units.truncate(last);
                    self.push_row(Form::Recreate, row, records, wave);
                }
                (Form::Nullify, _) | (_, Form::Nullify) => self.push_row(next, row, (at, at + 1), wave + 1),
                // A record that the server will refuse must not take another's columns with it.
                _ if row.unmergeable
                    || self.log.rows[self.order[unit.records.1 - 1] as usize].unmergeable =>
                {
                    self.push_row(next, row, (at, at + 1), wave + 1);
                }
                // The first row stays.
                (_, Form::Ignore) => self.units[last].records = records,
                (_, _) => self.merge(last, row, records),
            }
        }
    }

    /// A later upsert of the same key over the unit: its columns win, but for insert-only ones.
    fn merge(&mut self, unit: usize, row: &LogRow, records: (usize, usize)) {
        let old = self.units[unit];
        let old_set = self.sets[old.set as usize].clone();
        let new_set = self.log.set(row);
        // What the first record of a row decides: insert-only columns, and how the key is spelled.
        let stays = |column: u16| {
            let column = usize::from(column);
            self.target.insert_only[column] || (self.target.key_spellings && self.target.is_key(column))
        };
        // Under replace the later record stands for itself: columns that it does not give are not kept.
        let keeps_old = self.target.action != ConflictAction::InsertOrReplace;
        let any_stays = old_set.iter().chain(new_set.iter()).any(|&column| stays(column));
        if !any_stays && (!keeps_old || *old_set == **new_set || covers(new_set, &old_set)) {
            self.units[unit] =
                Unit { place: Place::Log, start: row.start, end: row.end, set: row.set, records, ..old };
            return;
        }
        let mut set: Vec<u16> = Vec::with_capacity(old_set.len() + new_set.len());
        let mut fields: Vec<u8> = Vec::new();
        let old_fields = match old.place {
            Place::Log => &self.log.bytes[old.start..old.end],
            Place::Merged => &self.merged[old.start..old.end],
        };
        for (&column, field) in old_set.iter().zip(Fields(old_fields)) {
            let later_gives = new_set.contains(&column);
            if stays(column) || (keeps_old && !later_gives) {
                set.push(column);
                fields.extend_from_slice(field);
            }
        }
        for (&column, field) in new_set.iter().zip(Fields(self.log.fields(row))) {
            if !stays(column) {
                set.push(column);
                fields.extend_from_slice(field);
            }
        }
        let start = self.merged.len();
        self.merged.extend_from_slice(&fields);
        let set = self.intern(set);
        let end = self.merged.len();
        self.units[unit] = Unit { place: Place::Merged, start, end, set, records, ..old };
    }

    fn intern(&mut self, set: Vec<u16>) -> u32 {
        let found = self.sets.iter().rposition(|known| **known == *set).unwrap_or_else(|| {
            self.sets.push(set.into());
            self.sets.len() - 1
        });
        u32::try_from(found).unwrap_or(u32::MAX)
    }

    /// The fields of a unit, in the order of its step's set.
    pub(crate) fn fields(&self, unit: usize) -> &[u8] {
        let unit = &self.units[unit];
        match unit.place {
            Place::Log => &self.log.bytes[unit.start..unit.end],
            Place::Merged => &self.merged[unit.start..unit.end],
        }
    }

    /// The unit's records, as rows of the log in arrival order.
    pub(crate) fn records(&self, unit: usize) -> &[u32] {
        let (from, to) = self.units[unit].records;
        &self.order[from..to]
    }

    /// The statements for some units, ascending, in the order in which they must run.
    pub(crate) fn steps(&self, units: impl Iterator<Item = usize>) -> Vec<Step> {
        if self.in_arrival_order() { self.runs(units) } else { self.groups(units) }
    }

    /// The key of a unit; empty on a table without one.
    pub(crate) fn key(&self, unit: usize) -> &'a [u8] {
        self.log.key(&self.log.rows[self.units[unit].key_row as usize])
    }

    /// Units of different keys do not meet: grouped by wave, deletes first.
    fn groups(&self, units: impl Iterator<Item = usize>) -> Vec<Step> {
        let mut steps: Vec<(u32, u8, u32, Step)> = Vec::new();
        for index in units {
            let unit = &self.units[index];
            let found = steps.iter_mut().rev().find(|(wave, _, set, step)| {
                *wave == unit.wave && *set == unit.set && step.form == unit.form
            });
            match found {
                Some((.., step)) => step.units.push(index),
                None => {
                    let rank = match unit.form {
                        Form::Delete => 0,
                        Form::Nullify => 1,
                        _ => 2,
                    };
                    steps.push((unit.wave, rank, unit.set, self.step(index)));
                }
            }
        }
        steps.sort_by_key(|&(wave, rank, ..)| (wave, rank));
        steps.into_iter().map(|(.., step)| step).collect()
    }

    /// Units in arrival order: a step ends where the form or the set changes, or a key comes again.
    fn runs(&self, units: impl Iterator<Item = usize>) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut set = None;
        let mut partial = false;
        let mut keys: HashSet<&[u8]> = HashSet::new();
        for index in units {
            let unit = &self.units[index];
            let row = &self.log.rows[unit.key_row as usize];
            let key = self.key(index);
            let continues = steps.last().is_some_and(|step| {
                step.form == unit.form
                    && set == Some(unit.set)
                    && partial == row.partial_key
                    && (self.never_meets(row, &step.set) || !keys.contains(key))
            });
            if !continues {
                steps.push(self.step(index));
                keys.clear();
            } else if let Some(step) = steps.last_mut() {
                step.units.push(index);
            }
            keys.insert(key);
            set = Some(unit.set);
            partial = row.partial_key;
        }
        steps
    }

    /// A row that omits a key column for which the server gives a new value each time.
    fn never_meets(&self, row: &LogRow, set: &ColumnSet) -> bool {
        row.partial_key
            && self.target.key.as_ref().is_some_and(|key| {
                key.columns
                    .iter()
                    .any(|column| !set.contains(column) && self.target.server_gives_distinct(*column))
            })
    }

    fn step(&self, unit: usize) -> Step {
        let Unit { form, set, .. } = self.units[unit];
        Step { form, set: self.sets[set as usize].clone(), units: vec![unit] }
    }
}

fn compare(log: &Log, a: &LogRow, b: &LogRow) -> Ordering {
    log.key(a).cmp(log.key(b))
}

/// True where `wide` has every column of `narrow`.
fn covers(wide: &[u16], narrow: &[u16]) -> bool {
    narrow.iter().all(|column| wide.contains(column))
}

#[cfg(test)]
mod tests;
