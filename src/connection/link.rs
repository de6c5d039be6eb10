//! One connection: the client, the task behind it, and what the server said of itself.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use deadpool_postgres::ClientWrapper;
use tokio_postgres::{Client, NoTls};

use super::driver::Driver;
use super::failure;
use super::server::ServerInfo;
use super::tls::Connector;
use crate::{Error, ErrorKind, Result};

/// How long a cancel request may take.
const CANCEL: Duration = Duration::from_secs(5);

/// A connection to a server. Dropping it closes it, once a running statement is answered.
pub struct Connection {
    client: ClientWrapper,
    driver: Driver,
    server: ServerInfo,
    tls: Option<Connector>,
}

impl Connection {
    /// `tls` makes the sessions of cancel requests, where this one may be encrypted.
    pub(super) fn new(client: Client, driver: Driver, server: ServerInfo, tls: Option<Connector>) -> Self {
        // The wrapper would abort the task that it is given, and the server would miss the goodbye.
        let placeholder = tokio::spawn(std::future::ready(()));
        Self { client: ClientWrapper::new(client, placeholder), driver, server, tls }
    }

    /// What the server said of itself at the login.
    pub fn server(&self) -> &ServerInfo {
        &self.server
    }

    /// Why the connection ended, as its own task saw it: the server's last words where an idle session is ended.
    pub fn last_error(&self) -> Option<String> {
        self.driver.last_error().map(|error| match error.sqlstate() {
            Some(code) => format!("{} (SQLSTATE {code})", error.message()),
            None => error.message().to_owned(),
        })
    }

    /// The error of `operation` where the connection's own task saw why it ended.
    pub(super) fn loss(&self, operation: &'static str) -> Option<Error> {
        self.driver.last_error().map(|last| failure::lost(operation, last))
    }

    /// The error of `operation`; where `error` only says that the connection is closed, with the reason.
    pub fn failure(&self, operation: &'static str, error: &tokio_postgres::Error) -> Error {
        failure::operation_error(operation, error, self.driver.last_error())
    }

    /// Asks the server, over the same TLS, to cancel what runs on this connection. The statement then ends with 57014
    /// or, where the request came late, as it would have.
    ///
    /// # Errors
    /// `Connection` or `Timeout` where the request could not be delivered.
    pub async fn cancel(&self) -> Result<()> {
        let token = self.client.cancel_token();
        let request = async {
            match &self.tls {
                Some(tls) => token.cancel_query(tls.clone()).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        match tokio::time::timeout(CANCEL, request).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(failure::operation_error("cancel", &error, None)),
            Err(_) => Err(Error::new(ErrorKind::Timeout, "cancel", "the cancel request was not delivered")),
        }
    }

    /// Closes the connection and waits until it is closed, for a few seconds at most.
    pub async fn close(self) {
        let Self { client, driver, .. } = self;
        drop(client);
        driver.finish().await;
    }

    /// Ends a connection in an unknown state: cancels what may still run, then closes.
    pub(super) async fn abandon(self) {
        if !self.client.is_closed()
            && let Err(error) = self.cancel().await
        {
            tracing::debug!(%error, "an abandoned statement may still run");
        }
        self.close().await;
    }
}

impl Deref for Connection {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}
