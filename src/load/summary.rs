//! What a load came to.

use serde::Serialize;

use crate::Error;

/// The counts of a load and why it ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The table.
    pub table: String,
    /// Records read.
    pub read: u64,
    /// Records whose transaction committed, whether or not they changed a row.
    pub written: u64,
    /// Of the written ones: those without effect (keys that were not there to delete, rows that a trigger swallowed).
    pub without_effect: u64,
    /// Records rejected.
    pub rejected: u64,
    /// Texts that lost a U+0000.
    pub removed_u0000: u64,
    /// Records that were read and whose outcome nobody knows: the answer to their COMMIT was lost.
    pub unknown: u64,
    /// Bytes read of the inputs as stored.
    pub bytes: u64,
    /// Wall time.
    pub seconds: f64,
    /// It ended before all records were tried: too many were rejected, a signal came, or something failed.
    pub stopped: bool,
    /// No row was sent because none should be.
    pub dry_run: bool,
    /// The zone in which texts without offset were read, where a column could have such.
    pub time_zone: Option<String>,
    /// What ended it, where that was an error.
    pub error: Option<String>,
}

/// Why a load ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Ending {
    /// The inputs are read to their end and the rejected records were borne.
    Complete,
    /// More records were rejected than are borne.
    TooManyRejected,
    /// The caller asked.
    Interrupted,
    /// Something failed.
    Failed(Error),
}

/// The summary and the ending.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// The counts.
    pub summary: Summary,
    /// Why it ended.
    pub ending: Ending,
    /// The table has a key, so that the same input can be loaded again.
    pub keyed: bool,
}

impl Outcome {
    /// How many rows are in and how to go on; `None` where all is in.
    pub fn advice(&self) -> Option<String> {
        let Summary { written, rejected, dry_run: false, .. } = self.summary else {
            return None;
        };
        let why = match &self.ending {
            Ending::Complete if rejected == 0 => return None,
            Ending::Complete => {
                return Some(format!(
                    "{} committed, {} rejected; repair the rejected ones and load them alone",
                    records(written),
                    records(rejected)
                ));
            }
            Ending::TooManyRejected => "stopped because of rejected records",
            Ending::Interrupted => "stopped by a signal",
            Ending::Failed(_) => "stopped by the error",
        };
        let onward = if written == 0 {
            "nothing is in the table; repair the cause and load again"
        } else if self.keyed {
            "repair the cause and load the same input again: the key keeps a row from coming in twice"
        } else {
            "the committed rows need not be the first of the input, and the table has no key: load into an empty copy \
             of the table, or remove them before the input is loaded again"
        };
        let aside = match self.ending {
            Ending::TooManyRejected => {
                "; --max-errors N and --rejects FILE set bad records aside and load the others"
            }
            _ => "",
        };
        Some(format!("{why}; {} committed; {onward}{aside}", records(written)))
    }
}

fn records(count: u64) -> String {
    if count == 1 { "1 record is".to_owned() } else { format!("{count} records are") }
}
