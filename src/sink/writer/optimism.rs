//! Whether the next batch is tried by COPY straight into a table with a key: it is the fastest way for keys that are all
//! new, and work for nothing where one is stored.

use std::sync::Mutex;
use std::sync::PoisonError;

/// Batches that pass by after the first conflict; after each further one twice as many.
const PAUSE: u32 = 8;

/// So many at most.
const LONGEST_PAUSE: u32 = 256;

/// What the conflicts so far say of the next batch.
#[derive(Debug, Default)]
pub(crate) struct Optimism(Mutex<Pause>);

#[derive(Debug, Default)]
struct Pause {
    /// Batches that still pass by.
    left: u32,
    /// How long the last pause was.
    length: u32,
}

impl Optimism {
    fn pause(&self) -> std::sync::MutexGuard<'_, Pause> {
        // Two numbers, whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the batch at hand is tried so; counts it where not.
    pub(super) fn tries(&self) -> bool {
        let mut pause = self.pause();
        if pause.left == 0 {
            return true;
        }
        pause.left -= 1;
        false
    }

    /// The keys were new, or not.
    pub(super) fn learn(&self, new: bool) {
        let mut pause = self.pause();
        pause.length = if new { 0 } else { (pause.length * 2).clamp(PAUSE, LONGEST_PAUSE) };
        pause.left = pause.length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches that pass by until the next try.
    fn passed(optimism: &Optimism) -> u32 {
        (0..).find(|_| optimism.tries()).unwrap()
    }

    #[test]
    fn each_conflict_in_a_row_doubles_the_pause_and_a_success_ends_it() {
        let optimism = Optimism::default();
        assert_eq!(passed(&optimism), 0);
        for pause in [8, 16, 32, 64, 128, 256, 256] {
            optimism.learn(false);
            assert_eq!(passed(&optimism), pause);
        }
        optimism.learn(true);
        assert_eq!(passed(&optimism), 0);
        optimism.learn(false);
        assert_eq!(passed(&optimism), 8);
    }
}
