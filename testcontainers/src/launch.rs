//! Finding or starting a server.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::certificates::{CERTIFICATE_ROLE, Certificates};
use crate::choice::{self, Demand, Source};
use crate::control::{Control, connect, version_at};
use crate::docker;
use crate::local::{self, LocalServer};
use crate::options::Options;
use crate::place::{self, Place, Reaping};
use crate::runtime::RUNTIME;
use crate::server::Server;
use crate::url::ServerUrl;

/// Tries with another port: between choosing one and the server's own bind, another process may take it.
const PORTS: u32 = 5;

impl Server {
    pub(crate) fn shared() -> Result<Self, String> {
        let demand = Demand::from_environment()?;
        let options = Options::new();
        let key =
            |source: &str, version: u32| format!("{source}{version}-{:08x}", options.fingerprint() as u32);
        if demand.prefers_docker() {
            let place = Place::new(&choice::run(), &key("docker", demand.docker_version()));
            if place.file("address").exists() {
                let (_starting, in_use) = place.enter()?;
                if let Some(server) = Self::adopt(&place) {
                    return Ok(Self { in_use: Some(in_use), ..server });
                }
            }
        }
        let source = demand.source()?;
        let key = match &source {
            Source::Docker(version) => key("docker", *version),
            Source::Local(binaries) => key("local", binaries.version),
            Source::Url(url) => return Self::elsewhere(url, demand.version()),
        };
        let place = Place::new(&choice::run(), &key);
        let (_starting, in_use) = place.enter()?;
        if let Some(server) = Self::adopt(&place) {
            return Ok(Self { in_use: Some(in_use), ..server });
        }
        place::sweep();
        let server = Self::launch(&source, &options, place, choice::linger(), true)?;
        Ok(Self { control: Control::Shared, in_use: Some(in_use), ..server })
    }

    pub(crate) fn start_own(options: &Options) -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let source = Demand::from_environment()?.own(options).source()?;
        let key = format!("own-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let place = Place::new(&choice::run(), &key);
        let (_starting, in_use) = place.enter()?;
        let server = Self::launch(&source, options, place, 0, false)?;
        Ok(Self { in_use: Some(in_use), ..server })
    }

    /// The server that another process of the run has started, if it answers. The caller holds the place's locks.
    fn adopt(place: &Place) -> Option<Self> {
        let text = fs::read_to_string(place.file("address")).ok()?;
        let mut words = text.split_whitespace();
        let port = words.next()?.parse().ok()?;
        let url = ServerUrl::local(port, words.next()?);
        let version = version_at(&url.database("postgres")).ok()?;
        place.keep_watched().ok()?;
        let place = Some(place.clone());
        let host = "127.0.0.1".to_owned();
        Some(Self { url, host, port, version, place, tls: true, control: Control::Shared, in_use: None })
    }

    fn elsewhere(url: &str, demanded: Option<u32>) -> Result<Self, String> {
        let config: Config =
            url.parse().map_err(|_| "DATABASE_URL is not a URL of a Postgres database".to_owned())?;
        let version =
            version_at(url).map_err(|e| format!("the server of DATABASE_URL does not answer: {e}"))?;
        if demanded.is_some_and(|demanded| demanded != version) {
            return Err(format!(
                "PGSLUICE_TEST_VERSION does not fit: the server of DATABASE_URL is version {version}"
            ));
        }
        let host = match config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            Some(Host::Unix(path)) => path.display().to_string(),
            None => "localhost".to_owned(),
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let url = ServerUrl::parse(url)?;
        Ok(Self { url, host, port, version, place: None, tls: false, control: Control::Shared, in_use: None })
    }

    /// Starts a server and waits for it. The caller holds the place's locks.
    fn launch(
        source: &Source,
        options: &Options,
        place: Place,
        linger: u32,
        shared: bool,
    ) -> Result<Self, String> {
        let _ = fs::remove_file(place.file("address"));
        let name = place.name().to_owned();
        let data = local::data_directory(&name);
        let reaping = match source {
            Source::Docker(_) => Reaping { engine: "docker", target: name.clone(), linger },
            _ => Reaping { engine: "local", target: data.display().to_string(), linger },
        };
        place.watch(&reaping)?;
        let certificates = Certificates::generate().map_err(|e| format!("certificates: {e}"))?;
        for (file, text) in [
            ("ca.pem", &certificates.authority),
            ("client.pem", &certificates.client),
            ("client.key", &certificates.client_key),
        ] {
            write_private(&place.file(file), text)?;
        }
        let password = random_hex::<12>()?;
        let mut attempt = 1;
        let (control, port, version) = loop {
            let port = free_port()?;
            let url = ServerUrl::local(port, &password).database("postgres");
            let started = match source {
                Source::Docker(version) => docker::Start {
                    version: *version,
                    name: &name,
                    run: &choice::run(),
                    port,
                    password: &password,
                    options,
                    certificates: &certificates,
                    throwaway: shared,
                }
                .run()
                .map(|()| Control::Container(name.clone())),
                Source::Local(binaries) => LocalServer::create(
                    binaries.clone(),
                    data.clone(),
                    port,
                    &password,
                    options,
                    &certificates,
                )
                .and_then(|mut server| {
                    server.start().map(|()| Control::Process(Arc::new(Mutex::new(server))))
                }),
                Source::Url(_) => Err("a server of one's own cannot be somebody else's".to_owned()),
            };
            match started.and_then(|control| control.wait_until_ready(&url).map(|version| (control, version)))
            {
                Ok((control, version)) => break (control, port, version),
                Err(error) if attempt < PORTS && error.contains("ddress already in use") => attempt += 1,
                Err(error) if attempt < PORTS && error.contains("port is already allocated") => attempt += 1,
                Err(error) => return Err(error),
            }
        };
        let url = ServerUrl::local(port, &password);
        create_certificate_role(&url.database("postgres"))?;
        write_private(&place.file("address"), &format!("{port} {password}\n"))?;
        let host = "127.0.0.1".to_owned();
        let tls = !options.without_tls;
        Ok(Self { url, host, port, version, place: Some(place), tls, control, in_use: None })
    }
}

fn create_certificate_role(url: &str) -> Result<(), String> {
    RUNTIME.block_on(async {
        let client = connect(url).await?;
        let create = format!("create role {CERTIFICATE_ROLE} login");
        client.batch_execute(&create).await.map_err(|e| docker::describe(&e))
    })
}

/// A free port below those that the kernel gives to outgoing connections, so that it stays free while a server restarts.
pub(crate) fn free_port() -> Result<u16, String> {
    for _ in 0..100 {
        let port = 20_000 + u16::from_str_radix(&random_hex::<2>()?, 16).map_err(|e| e.to_string())? % 12_000;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no free port between 20000 and 32000".to_owned())
}

fn random_hex<const BYTES: usize>() -> Result<String, String> {
    let mut bytes = [0; BYTES];
    let random = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    random.map_err(|e| format!("/dev/urandom: {e}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn write_private(path: &Path, text: &str) -> Result<(), String> {
    let file = fs::OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|e| format!("{}: {e}", path.display()))
}
