//! Blocking work beside the tests' runtimes.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Outlives every test: the engine's client keeps connections, and a test's runtime ends with the test.
pub(crate) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime"));

/// Runs `work` on a thread of its own; a test's runtime has often a single one.
pub(crate) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = oneshot::channel();
    std::thread::spawn(move || {
        // The test that waited may be gone.
        let _ = send.send(work());
    });
    receive.await.expect("the harness does not panic")
}
