//! A data error of the server is narrowed to its records: their neighbours commit.
//!
//! Folding can make a good record fail with a bad one of its key, and the order of keys can part a row from the one
//! that it needs. So a unit that fails alone only makes its records suspects; these are replayed unfolded, in the
//! order of their arrival, after all others were applied, and what fails then is rejected.

use std::collections::HashSet;
use std::ops::Range;

use super::blame;
use super::transaction::{Transaction, Trouble};
use super::{Failure, Written, refused_whole};
use crate::error::ServerFault;
use crate::sink::log::Log;
use crate::sink::plan::Plan;

/// Writes what can be written of a plan whose whole was refused, in a transaction of its own. `classed` is false where
/// the keys could not be told apart: then each record is a suspect.
pub(super) async fn narrow(
    transaction: &Transaction<'_>,
    plan: &Plan<'_>,
    log: &Log,
    classed: bool,
) -> Result<Written, Failure> {
    transaction.begin().await?;
    let written = narrow_inside(transaction, plan, log, classed).await?;
    match transaction.commit(written).await {
        Ok(written) => Ok(written),
        Err(Trouble::Other(failure)) => Err(failure),
        Err(Trouble::Data(fault)) => {
            transaction.rollback().await?;
            Err(refused_whole("commit batch", fault))
        }
    }
}

/// The same in the transaction that is open, which stays open.
pub(super) async fn narrow_inside(
    transaction: &Transaction<'_>,
    plan: &Plan<'_>,
    log: &Log,
    classed: bool,
) -> Result<Written, Failure> {
    let mut written = Written::default();
    let mut suspects: Vec<u32> = Vec::new();
    if classed {
        bisect(transaction, plan, &mut written, &mut suspects).await?;
        suspects.sort_unstable();
    } else {
        suspects.extend(0..u32::try_from(log.rows.len()).unwrap_or(u32::MAX));
    }
    replay(transaction, log, suspects, &mut written).await?;
    Ok(written)
}

/// Applies halves of halves; the records of units that fail alone become suspects, and with them what comes later for
/// the same key: a suspect must not be applied over its successors.
async fn bisect(
    transaction: &Transaction<'_>,
    plan: &Plan<'_>,
    written: &mut Written,
    suspects: &mut Vec<u32>,
) -> Result<(), Failure> {
    let mut failed: HashSet<&[u8]> = HashSet::new();
    let mut ranges = Vec::new();
    let mut split =
        |ranges: &mut Vec<Range<usize>>, failed: &mut HashSet<_>, range: Range<usize>| match range.len() {
            0 => {}
            1 => {
                suspects.extend_from_slice(plan.records(range.start));
                failed.insert(plan.key(range.start));
            }
            length => {
                let middle = range.start + length / 2;
                ranges.push(middle..range.end);
                ranges.push(range.start..middle);
            }
        };
    // The whole has just failed.
    split(&mut ranges, &mut failed, 0..plan.units.len());
    while let Some(range) = ranges.pop() {
        let keyed = transaction.target.key.is_some();
        let follows = |unit: &usize| keyed && failed.contains(plan.key(*unit));
        let units: Vec<usize> = range.clone().filter(|unit| !follows(unit)).collect();
        if units.is_empty() {
            range.for_each(|unit| split(&mut ranges, &mut failed, unit..unit + 1));
            continue;
        }
        match transaction.attempt(plan, &units).await? {
            Ok(without_effect) => {
                written.without_effect += without_effect;
                let left: Vec<usize> = range.filter(follows).collect();
                left.into_iter().for_each(|unit| split(&mut ranges, &mut failed, unit..unit + 1));
            }
            Err(_) => split(&mut ranges, &mut failed, range),
        }
    }
    Ok(())
}

/// Tries each suspect by itself, again as long as another one's success may have cleared its way.
async fn replay(
    transaction: &Transaction<'_>,
    log: &Log,
    mut suspects: Vec<u32>,
    written: &mut Written,
) -> Result<(), Failure> {
    while !suspects.is_empty() {
        let mut failed: Vec<(u32, ServerFault)> = Vec::new();
        let mut applied: Vec<u32> = Vec::new();
        for row in suspects {
            let plan = Plan::unfolded(transaction.target, log, vec![row]);
            match transaction.attempt(&plan, &[0]).await? {
                Ok(without_effect) => {
                    written.without_effect += without_effect;
                    applied.push(row);
                }
                Err(fault) => failed.push((row, fault)),
            }
        }
        // A record that a later one of its key has passed cannot be applied any more.
        let passed = |row: u32| {
            let key = log.key(&log.rows[row as usize]);
            !key.is_empty()
                && applied.iter().any(|&other| other > row && log.key(&log.rows[other as usize]) == key)
        };
        suspects = Vec::new();
        for (row, fault) in failed {
            if applied.is_empty() || passed(row) {
                written.rejected.push((row, blame::name_column(transaction, log, row, fault).await?));
            } else {
                suspects.push(row);
            }
        }
    }
    written.rejected.sort_unstable_by_key(|(row, _)| *row);
    Ok(())
}
