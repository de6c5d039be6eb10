//! A server: the run's shared one, or one of a test's own.

use std::path::PathBuf;

use tokio::sync::OnceCell;

use crate::Database;
use crate::control::Control;
use crate::options::Options;
use crate::place::{InUse, Place};
use crate::runtime::aside;
use crate::url::ServerUrl;

/// A running server. Its databases' URLs name the superuser and the password.
#[derive(Debug)]
pub struct Server {
    pub(crate) url: ServerUrl,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) version: u32,
    /// The directory with the certificates; none where somebody else runs the server.
    pub(crate) place: Option<Place>,
    pub(crate) tls: bool,
    pub(crate) control: Control,
    #[expect(dead_code, reason = "keeps the server up")]
    pub(crate) in_use: Option<InUse>,
}

/// The run's shared server, of the run's version.
///
/// # Panics
///
/// If there is none and none can be started; the message says what to install.
pub async fn server() -> &'static Server {
    static SHARED: OnceCell<Server> = OnceCell::const_new();
    match SHARED.get_or_try_init(|| aside(Server::shared)).await {
        Ok(server) => server,
        Err(error) => panic!("{error}"),
    }
}

impl Server {
    /// A server of one's own, to pause, restart or kill; ended when the value is dropped, with its data.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    pub async fn own(options: Options) -> Self {
        match aside(move || Self::start_own(&options)).await {
            Ok(server) => server,
            Err(error) => panic!("{error}"),
        }
    }

    /// A fresh database on this server.
    pub async fn database(&self) -> Database {
        Database::on(self).await
    }

    /// The host's name or address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The major version.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The URL of a database of this server.
    pub fn url(&self, database: &str) -> String {
        self.url.database(database)
    }

    /// The URL of a database over TLS, the server's certificate and name checked.
    ///
    /// # Panics
    ///
    /// If the server has no TLS, or is not the harness's own.
    pub fn tls_url(&self, database: &str) -> String {
        let authority = self.authority();
        self.url.database_with(database, &format!("sslmode=verify-full&sslrootcert={}", authority.display()))
    }

    /// The PEM file of the authority that signed the server's certificate.
    ///
    /// # Panics
    ///
    /// If the server has no TLS, or is not the harness's own.
    pub fn authority(&self) -> PathBuf {
        self.certificate_file("ca.pem")
    }

    /// The PEM files of a certificate and key that log in as [`CERTIFICATE_ROLE`](crate::CERTIFICATE_ROLE) without a password.
    ///
    /// # Panics
    ///
    /// If the server has no TLS, or is not the harness's own.
    pub fn client_certificate(&self) -> (PathBuf, PathBuf) {
        (self.certificate_file("client.pem"), self.certificate_file("client.key"))
    }

    /// The container that it runs in.
    pub(crate) fn container(&self) -> Option<String> {
        self.place.as_ref()?.container()
    }

    fn certificate_file(&self, name: &str) -> PathBuf {
        match &self.place {
            Some(place) if self.tls => place.file(name),
            _ => panic!(
                "this server has no certificates of the harness: unset DATABASE_URL or PGSLUICE_TEST_SERVER"
            ),
        }
    }

    /// Freezes all of the server's processes: it answers nothing and closes nothing.
    ///
    /// # Panics
    ///
    /// As all that follow: if the server is not one's own, or does not obey.
    pub async fn pause(&self) {
        self.command(|control, _| control.pause()).await;
    }

    /// Lets a paused server go on.
    pub async fn unpause(&self) {
        self.command(|control, _| control.unpause()).await;
    }

    /// Ends the server as a crash does; `start` brings it up again with its data.
    pub async fn kill(&self) {
        self.command(|control, _| control.end("KILL")).await;
    }

    /// Starts a server that was killed, and waits until it answers.
    pub async fn start(&self) {
        self.command(|control, url| control.start().and_then(|()| control.wait_until_ready(url).map(drop)))
            .await;
    }

    /// Ends every session, shuts down, starts again at the same port and waits until the server answers.
    pub async fn restart(&self) {
        self.command(|control, _| control.end("INT")).await;
        self.start().await;
    }

    async fn command(&self, work: impl FnOnce(&Control, &str) -> Result<(), String> + Send + 'static) {
        let (control, url) = (self.control.clone(), self.url("postgres"));
        assert!(
            !matches!(control, Control::Shared),
            "other tests use this server: take one with `Server::own`"
        );
        if let Err(error) = aside(move || work(&control, &url)).await {
            panic!("{error}");
        }
    }
}
