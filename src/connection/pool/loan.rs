//! A connection that is out of its pool, and its two ways back.

use std::time::Instant;

use deadpool::managed::Object;
use tokio::runtime::Handle;

use super::manager::Manager;
use crate::connection::link::Connection;

/// A connection on loan: whoever holds it gives it back or discards it.
pub(in crate::connection) struct Loan(Object<Manager>);

const HELD: &str = "a connection on loan is open until it is discarded";

impl Loan {
    pub(super) fn new(object: Object<Manager>) -> Self {
        Self(object)
    }

    pub(in crate::connection) fn connection(&self) -> &Connection {
        self.0.connection.as_ref().expect(HELD)
    }

    pub(in crate::connection) fn connection_mut(&mut self) -> &mut Connection {
        self.0.connection.as_mut().expect(HELD)
    }

    /// Whether it was lent before.
    pub(in crate::connection) fn is_reused(&self) -> bool {
        Object::metrics(&self.0).recycle_count > 0
    }

    /// Back into the pool; a closed connection is dropped and its place is free.
    pub(in crate::connection) fn give_back(mut self) {
        if self.connection().is_closed() {
            drop(Object::take(self.0));
            return;
        }
        self.0.returned = Instant::now();
    }

    /// Ends the connection. Its place in the pool is taken until the server has let go of it, so that the pool's size
    /// stays the limit of backends.
    pub(in crate::connection) fn discard(mut self) {
        let connection = self.0.connection.take();
        let Ok(runtime) = Handle::try_current() else {
            drop(Object::take(self.0));
            return;
        };
        runtime.spawn(async move {
            if let Some(connection) = connection {
                connection.abandon().await;
            }
            drop(Object::take(self.0));
        });
    }
}
