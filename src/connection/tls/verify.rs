//! The checks of the server's certificate: none, its chain, or chain and name.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::certificate;

/// The roots, both as trust anchors and as they are.
#[derive(Debug)]
pub(super) struct Roots {
    pub(super) store: RootCertStore,
    pub(super) certificates: Vec<CertificateDer<'static>>,
}

/// What is checked.
#[derive(Debug)]
pub(super) enum Check {
    /// Nothing: there is no root to check against (`require` and less).
    Nothing,
    /// The way to a root.
    Chain(Roots),
    /// The way to a root, and the host's name.
    ChainAndName(Roots),
}

#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) check: Check,
}

impl Verifier {
    fn verify_chain(
        &self,
        roots: &Roots,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), Error> {
        // A server certificate that is its own root: OpenSSL takes it also where it is marked as an authority, which
        // webpki refuses for a server. Being a root, it needs no signature.
        if roots.certificates.iter().any(|root| root == end_entity) {
            return verify_dates(end_entity, now);
        }
        let algorithms = self.provider.signature_verification_algorithms.all;
        let parsed = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(&parsed, &roots.store, intermediates, now, algorithms)
    }
}

fn verify_dates(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let facts = certificate::facts(certificate).ok_or(CertificateError::BadEncoding)?;
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now < facts.not_before {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > facts.not_after {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

/// The alternative names decide; a certificate without any goes by its common name, as in libpq.
fn verify_name(certificate: &CertificateDer<'_>, name: &ServerName<'_>) -> Result<(), Error> {
    let facts = certificate::facts(certificate).ok_or(CertificateError::BadEncoding)?;
    if facts.has_alternative_names {
        return verify_server_name(&ParsedCertificate::try_from(certificate)?, name);
    }
    match facts.common_name {
        Some(common_name) if matches_pattern(common_name, &name.to_str()) => Ok(()),
        _ => Err(CertificateError::NotValidForName.into()),
    }
}

/// Equal without regard to case; a leading `*.` stands for one label.
fn matches_pattern(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(domain) => host.split_once('.').is_some_and(|(label, rest)| {
            !label.is_empty()
                && rest.eq_ignore_ascii_case(domain)
                && host.parse::<std::net::IpAddr>().is_err()
        }),
        None => pattern.eq_ignore_ascii_case(host),
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.check {
            Check::Nothing => {}
            Check::Chain(roots) => self.verify_chain(roots, end_entity, intermediates, now)?,
            Check::ChainAndName(roots) => {
                self.verify_chain(roots, end_entity, intermediates, now)?;
                verify_name(end_entity, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.check {
            // Who accepts any certificate gains nothing from its signature, and webpki cannot read X.509 v1.
            Check::Nothing => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.check {
            Check::Nothing => Ok(HandshakeSignatureValid::assertion()),
            _ => verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_stands_for_one_label() {
        assert!(matches_pattern("db.Test", "DB.test"));
        assert!(matches_pattern("*.test", "db.test"));
        assert!(!matches_pattern("*.test", "a.db.test"));
        assert!(!matches_pattern("*.test", ".test"));
        assert!(!matches_pattern("*.0.0.1", "127.0.0.1"));
        assert!(!matches_pattern("other", "db.test"));
    }
}
