//! The task that closes connections which rest too long, are too old, or were closed by the server.

use std::sync::Weak;
use std::time::{Duration, Instant};

use super::shared::Shared;

const LONGEST_SLEEP: Duration = Duration::from_secs(10);
const SHORTEST_SLEEP: Duration = Duration::from_millis(50);

/// Runs until the pool is gone. A quarter of the shortest age between two looks: a connection is closed at most that
/// much late.
pub(super) async fn run(shared: Weak<Shared>) {
    loop {
        let sleep = {
            let Some(shared) = shared.upgrade() else { return };
            let ages = shared.connections().manager().ages();
            let now = Instant::now();
            shared.connections().retain(|pooled, _| !pooled.is_spent(ages, now));
            let shortest = ages.idle.into_iter().chain(ages.life).min().unwrap_or(LONGEST_SLEEP);
            (shortest / 4).clamp(SHORTEST_SLEEP, LONGEST_SLEEP)
        };
        tokio::time::sleep(sleep).await;
    }
}
