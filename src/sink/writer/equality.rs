//! Keys whose equality only the server knows: it is asked which spellings are one key, before the batch is folded.

use std::collections::HashMap;

use super::parameter::Rows;
use super::transaction::{Transaction, Trouble};
use super::{Failure, broken};
use crate::sink::log::{Fields, Log};
use crate::sql::statement;

/// Replaces the keys' spellings in the log by the numbers of their classes. False where a key is no value of its
/// column: then the records must be tried one by one.
pub(super) async fn class_keys(transaction: &Transaction<'_>, log: &mut Log) -> Result<bool, Failure> {
    let target = transaction.target;
    let Some(key) = &target.key else { return Ok(true) };
    let mut fields: Vec<u8> = Vec::new();
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut spellings: HashMap<&[u8], usize> = HashMap::new();
    let mut spelling_of: Vec<Option<usize>> = Vec::with_capacity(log.rows.len());
    for row in &log.rows {
        if row.partial_key {
            spelling_of.push(None);
            continue;
        }
        let next = spans.len();
        let number = *spellings.entry(log.key(row)).or_insert(next);
        spelling_of.push(Some(number));
        if number == next {
            let start = fields.len();
            let set = log.set(row);
            for column in key.columns.iter() {
                let field = set.iter().zip(Fields(log.fields(row))).find(|(given, _)| *given == column);
                let (_, field) =
                    field.ok_or_else(|| Failure::not_committed(broken("a key without its field")))?;
                fields.extend_from_slice(field);
            }
            spans.push((start, fields.len()));
        }
    }
    drop(spellings);
    let rows =
        Rows { set: &key.columns, rows: spans.iter().map(|&(start, end)| &fields[start..end]).collect() };
    let sql = statement::key_classes(&target.columns(target.source, &key.columns));
    let classes = match transaction.numbers(&sql, target.source, &rows).await {
        Ok(classes) => classes,
        Err(Trouble::Data(_)) => return Ok(false),
        Err(Trouble::Other(failure)) => return Err(failure),
    };
    let old = std::mem::take(&mut log.keys);
    for (row, spelling) in log.rows.iter_mut().zip(spelling_of) {
        let start = log.keys.len();
        match spelling {
            Some(number) => log.keys.extend_from_slice(&classes[number].to_be_bytes()),
            // Eight bytes are a class; one more in front keeps an incomplete key apart.
            None => {
                log.keys.push(u8::MAX);
                log.keys.extend_from_slice(&old[row.key_start..row.key_end]);
            }
        }
        (row.key_start, row.key_end) = (start, log.keys.len());
    }
    Ok(true)
}
