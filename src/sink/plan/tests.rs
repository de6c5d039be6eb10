use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::catalog::sample;
use crate::encode::{EncodeContext, Zone};
use crate::options::{DeleteStrategy, SinkOptions};
use crate::record::{RowKind, Value};
use crate::sink::encoder::Encoder;
use crate::sink::log::{Chunk, body};

/// A change of `public.t (id, a, b)`: the key, whether it deletes, and the columns beside the key.
type Change = (i32, bool, [Option<Option<i32>>; 2]);

/// What is stored: the columns beside the key, by key.
type Stored = BTreeMap<i32, [Option<i32>; 2]>;

fn target(options: SinkOptions) -> Arc<Target> {
    Arc::new(Target::new(Arc::new(sample::table(&["id", "a", "b"], 1)), &options).unwrap())
}

fn log(target: &Arc<Target>, changes: &[Change]) -> Log {
    let context = EncodeContext::new(Zone::named("UTC").unwrap());
    let mut encoder = Encoder::undeclared(Arc::clone(target), context);
    let mut chunk = Chunk::new();
    for &(id, delete, fields) in changes {
        let kind = if delete { RowKind::Delete } else { RowKind::Insert };
        let mut row = encoder.row(&mut chunk, kind, 0);
        row.value(0, &Value::from(id)).unwrap();
        for (index, field) in fields.into_iter().enumerate() {
            if let Some(value) = field {
                row.value(index + 1, &Value::from(value)).unwrap();
            }
        }
        row.finish(None).unwrap();
    }
    chunk.log
}

fn int(field: &[u8]) -> Option<i32> {
    body(field).map(|body| i32::from_be_bytes(body.try_into().unwrap()))
}

/// What the server makes of the plan's steps. No column has a DEFAULT.
fn applied(plan: &Plan<'_>, mut stored: Stored) -> Stored {
    for step in plan.steps(0..plan.units.len()) {
        let mut keys = BTreeSet::new();
        for &unit in &step.units {
            let mut given: [Option<Option<i32>>; 3] = [None; 3];
            for (&column, field) in step.set.iter().zip(Fields(plan.fields(unit))) {
                given[usize::from(column)] = Some(int(field));
            }
            let [Some(Some(key)), a, b] = given else { panic!("a unit without its key") };
            assert!(keys.insert(key), "a key twice in one statement");
            let fresh = [a.flatten(), b.flatten()];
            match step.form {
                Form::Insert => panic!("an append to a table with a key"),
                Form::Delete => drop(stored.remove(&key)),
                Form::Nullify => {
                    stored.entry(key).and_modify(|row| *row = [None; 2]);
                }
                Form::Ignore => drop(stored.entry(key).or_insert(fresh)),
                Form::Replace | Form::Recreate => drop(stored.insert(key, fresh)),
                Form::Update => {
                    let row = stored.entry(key).or_insert([None; 2]);
                    for (column, given) in row.iter_mut().zip([a, b]) {
                        *column = given.unwrap_or(*column);
                    }
                }
            }
        }
    }
    stored
}

/// The changes one by one.
fn one_by_one(changes: &[Change], action: ConflictAction, nullify: bool, mut stored: Stored) -> Stored {
    for &(key, delete, fields) in changes {
        let fresh = fields.map(Option::flatten);
        match (delete, stored.get_mut(&key)) {
            (true, Some(row)) if nullify => *row = [None; 2],
            (true, _) if nullify => {}
            (true, _) => drop(stored.remove(&key)),
            (false, None) => drop(stored.insert(key, fresh)),
            (false, Some(row)) => match action {
                ConflictAction::InsertOrIgnore => {}
                ConflictAction::InsertOrReplace => *row = fresh,
                _ => *row = std::array::from_fn(|n| fields[n].unwrap_or(row[n])),
            },
        }
    }
    stored
}

fn change() -> impl Strategy<Value = Change> {
    let field = || prop_oneof![Just(None), Just(Some(None)), (0..5).prop_map(|v| Some(Some(v)))];
    (0..4, proptest::bool::weighted(0.3), [field(), field()])
}

proptest! {
    #[test]
    fn steps_give_what_the_changes_give_one_by_one(
        changes in proptest::collection::vec(change(), 0..30),
        stored in proptest::collection::btree_map(0..4, Just([Some(8), Some(9)]), 0..4),
        action in 0..3,
        nullify: bool,
        fold: bool,
    ) {
        let action = match action {
            0 => ConflictAction::InsertOrUpdate,
            1 => ConflictAction::InsertOrReplace,
            _ => ConflictAction::InsertOrIgnore,
        };
        let strategy =
            if nullify { DeleteStrategy::NonPkFieldToNull } else { DeleteStrategy::ChangelogStandard };
        let target =
            target(SinkOptions::new().on_conflict(action).delete_strategy(strategy).deduplication(fold));
        let log = log(&target, &changes);
        let plan = Plan::folded(&target, &log);
        prop_assert_eq!(applied(&plan, stored.clone()), one_by_one(&changes, action, nullify, stored));
        // Each record is part of one unit.
        let mut records: Vec<u32> = (0..plan.units.len()).flat_map(|unit| plan.records(unit).to_vec()).collect();
        records.sort_unstable();
        prop_assert_eq!(records, (0..u32::try_from(changes.len()).unwrap()).collect::<Vec<_>>());
    }
}

/// The forms of the units, each with its records.
fn units(options: SinkOptions, changes: &[Change]) -> Vec<(Form, Vec<u32>)> {
    let target = target(options);
    let log = log(&target, changes);
    let plan = Plan::folded(&target, &log);
    (0..plan.units.len()).map(|unit| (plan.units[unit].form, plan.records(unit).to_vec())).collect()
}

const UPSERT: [Option<Option<i32>>; 2] = [Some(Some(1)), None];
const NOTHING: [Option<Option<i32>>; 2] = [None, None];

#[test]
fn changes_of_one_key_are_one_unit() {
    let changes = [(1, false, UPSERT), (2, false, UPSERT), (1, true, NOTHING), (1, false, UPSERT)];
    assert_eq!(
        units(SinkOptions::new(), &changes),
        [(Form::Recreate, vec![0, 2, 3]), (Form::Update, vec![1])]
    );
    assert_eq!(
        units(SinkOptions::new(), &changes[..3]),
        [(Form::Delete, vec![0, 2]), (Form::Update, vec![1])]
    );
}

#[test]
fn without_folding_each_change_is_a_unit() {
    let changes = [(1, false, UPSERT), (1, true, NOTHING), (1, false, UPSERT)];
    let forms = [(Form::Update, vec![0]), (Form::Delete, vec![1]), (Form::Update, vec![2])];
    assert_eq!(units(SinkOptions::new().deduplication(false), &changes), forms);
}

#[test]
fn units_of_one_form_and_set_are_one_step_deletes_first() {
    let target = target(SinkOptions::new());
    let log = log(
        &target,
        &[
            (1, false, UPSERT),
            (2, true, NOTHING),
            (3, false, [None, Some(None)]),
            (4, false, UPSERT),
            (5, true, UPSERT),
        ],
    );
    let plan = Plan::folded(&target, &log);
    let steps: Vec<(Form, usize)> =
        plan.steps(0..plan.units.len()).iter().map(|step| (step.form, step.units.len())).collect();
    assert_eq!(steps, [(Form::Delete, 2), (Form::Update, 2), (Form::Update, 1)]);
}
