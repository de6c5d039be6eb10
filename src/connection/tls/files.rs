//! From TLS settings to a rustls configuration: root certificates, the client's certificate and key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, InconsistentKeys, RootCertStore};

use super::provider::provider;
use super::verify::{Check, Roots, Verifier};
use super::{RootSource, TlsSettings};
use crate::options::SslMode;
use crate::{Error, ErrorKind, Result};

/// Where systems keep the bundle of the roots that they trust (Debian, Red Hat, Alpine and SUSE, BSD and macOS).
const SYSTEM_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// ALPN's name for the protocol; servers before 17 pass over it.
const ALPN: &[u8] = b"postgresql";

fn refused(message: impl Into<String>, file: &Path) -> Error {
    Error::new(ErrorKind::Config, "set up TLS", message).with_context("file", file.display().to_string())
}

/// Reads the files and builds the configuration; they are read at each connect, so that renewed ones are found.
///
/// # Errors
/// `Config` for a `verify-*` mode without a root, and for files that cannot be read; `Unsupported` in a build without
/// TLS.
pub(in crate::connection) fn client_config(settings: &TlsSettings) -> Result<Arc<ClientConfig>> {
    let provider = provider()?;
    let verifier = Verifier { provider: provider.clone(), check: check(settings)? };
    let versions: &[_] = match (settings.only_tls12, settings.only_tls13) {
        (true, _) => &[&TLS12],
        (_, true) => &[&TLS13],
        _ => &[&TLS12, &TLS13],
    };
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|error| Error::new(ErrorKind::Unsupported, "set up TLS", error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &settings.cert {
        None => builder.with_no_client_auth(),
        Some(cert) => {
            builder.with_client_cert_resolver(Arc::new(client_certificate(settings, cert, &provider)?))
        }
    };
    config.enable_sni = settings.sni;
    config.alpn_protocols = vec![ALPN.to_vec()];
    Ok(Arc::new(config))
}

/// The client's certificate and key. rustls's own way in refuses X.509 version 1, which servers take.
fn client_certificate(
    settings: &TlsSettings,
    cert: &Path,
    provider: &CryptoProvider,
) -> Result<SingleCertAndKey> {
    let key = settings.key.as_deref().ok_or_else(|| {
        refused("the client certificate has no private key", cert).with_hint("set \"sslkey\"")
    })?;
    let unusable = |error: rustls::Error| refused(format!("the private key cannot be used: {error}"), key);
    let signer = provider.key_provider.load_private_key(private_key(key)?).map_err(unusable)?;
    let certified = CertifiedKey::new(certificates(cert)?, signer);
    match certified.keys_match() {
        Err(error @ rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(unusable(error)),
        _ => Ok(SingleCertAndKey::from(certified)),
    }
}

/// What is checked: `verify-*` need roots; the other modes check the chain where a root file was named, and `require`
/// also where libpq's default file exists.
fn check(settings: &TlsSettings) -> Result<Check> {
    match (root_file(settings)?, settings.mode) {
        (None, SslMode::VerifyCa | SslMode::VerifyFull) => {
            Err(Error::new(ErrorKind::Config, "set up TLS", "sslmode verify-ca and verify-full need a root certificate")
                .with_hint("set \"sslrootcert\" (connection.ssl.root-cert.location, PGSSLROOTCERT) or choose sslmode=require"))
        }
        (None, _) => Ok(Check::Nothing),
        (Some(file), SslMode::VerifyFull) => Ok(Check::ChainAndName(roots(&file)?)),
        (Some(file), _) => Ok(Check::Chain(roots(&file)?)),
    }
}

/// The file of roots that the server is checked against, if any.
///
/// # Errors
/// `Config` where the system has no bundle.
pub(in crate::connection) fn root_file(settings: &TlsSettings) -> Result<Option<PathBuf>> {
    Ok(match (&settings.root, settings.mode) {
        (RootSource::File(file), _) => Some(file.clone()),
        (RootSource::System(file), _) => Some(system_bundle(file.as_ref())?),
        (RootSource::Default(_), SslMode::Disable | SslMode::Allow | SslMode::Prefer) => None,
        (RootSource::Default(file), _) => file.clone().filter(|file| file.exists()),
    })
}

fn system_bundle(named: Option<&PathBuf>) -> Result<PathBuf> {
    named
        .cloned()
        .or_else(|| SYSTEM_BUNDLES.into_iter().map(PathBuf::from).find(|file| file.exists()))
        .ok_or_else(|| {
            Error::new(ErrorKind::Config, "set up TLS", "the system has no bundle of root certificates")
                .with_hint("install one, or name it in SSL_CERT_FILE or \"sslrootcert\"")
        })
}

fn roots(file: &Path) -> Result<Roots> {
    let certificates = certificates(file)?;
    let mut store = RootCertStore::empty();
    // Anchors that webpki cannot read are passed over: a bundle may hold old ones, and a pinned one needs no anchor.
    store.add_parsable_certificates(certificates.iter().cloned());
    Ok(Roots { store, certificates })
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let unreadable = |error: rustls::pki_types::pem::Error| {
        refused(format!("the certificates cannot be read: {error}"), file)
    };
    let certificates: Vec<_> = CertificateDer::pem_file_iter(file)
        .map_err(unreadable)?
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    if certificates.is_empty() {
        return Err(refused("the file holds no certificate in PEM form", file));
    }
    Ok(certificates)
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>> {
    let metadata = std::fs::metadata(file)
        .map_err(|error| refused(format!("the private key cannot be read: {error}"), file))?;
    if is_open_to_others(&metadata) {
        return Err(refused("others can read the private key", file)
            .with_hint("its mode must be 0600, or 0640 where root owns it"));
    }
    PrivateKeyDer::from_pem_file(file).map_err(|_| {
        refused("the file holds no private key that can be read", file)
            .with_hint("it must be in PEM form and not encrypted")
    })
}

/// libpq's rule for key files.
#[cfg(unix)]
fn is_open_to_others(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let forbidden = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    metadata.permissions().mode() & forbidden != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use crate::ErrorKind;
    use crate::connection::dsn::Environment;
    use crate::connection::target::ConnectTarget;

    fn config_error(dsn: &str) -> String {
        let target =
            ConnectTarget::builder().dsn(dsn).unwrap().environment(Environment::default()).build().unwrap();
        let error = super::client_config(&target.tls).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Config);
        error.to_string()
    }

    #[test]
    fn l06_verify_without_a_root_names_the_option() {
        for mode in ["verify-ca", "verify-full"] {
            assert!(config_error(&format!("sslmode={mode}")).contains("sslrootcert"));
        }
    }

    #[test]
    fn b23_a_root_file_that_is_missing_or_empty_is_never_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("root.crt");
        for mode in ["prefer", "require", "verify-full"] {
            let dsn = format!("sslmode={mode} sslrootcert='{}'", file.display());
            let _ = std::fs::remove_file(&file);
            assert!(config_error(&dsn).contains("root.crt"));
            std::fs::write(&file, "nothing").unwrap();
            assert!(config_error(&dsn).contains("no certificate"));
        }
    }
}
