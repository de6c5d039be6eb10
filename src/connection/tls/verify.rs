//! The checks of the server's certificate: none, its chain, or chain and name.

use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, PeerMisbehaved, RootCertStore, SignatureScheme,
};

use super::certificate::{self, Facts};

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
        let facts = facts(end_entity)?;
        // A server certificate that is its own root: OpenSSL takes it also where it is marked as an authority, which
        // webpki refuses for a server. Being a root, it needs no signature.
        if roots.certificates.iter().any(|root| root == end_entity) {
            return verify_dates(&facts, now);
        }
        // The manual's own recipe for a server certificate gives version 1.
        if facts.is_version_1 {
            verify_dates(&facts, now)?;
            return self.verify_issued_by(roots, &facts);
        }
        let algorithms = self.provider.signature_verification_algorithms.all;
        let parsed = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(&parsed, &roots.store, intermediates, now, algorithms)
    }

    /// The certificate must be signed by a root itself: version 1 cannot say who is an authority.
    fn verify_issued_by(&self, roots: &Roots, certificate: &Facts<'_>) -> Result<(), Error> {
        let signed_by = |root: &Facts<'_>| {
            self.provider.signature_verification_algorithms.all.iter().any(|algorithm| {
                algorithm.signature_alg_id().as_ref() == certificate.signature_algorithm
                    && algorithm.public_key_alg_id().as_ref() == root.key_algorithm
                    && algorithm.verify_signature(root.key, certificate.signed, certificate.signature).is_ok()
            })
        };
        let issuer = roots
            .certificates
            .iter()
            .filter_map(|root| certificate::facts(root))
            .find(|root| root.subject == certificate.issuer && signed_by(root));
        issuer.map(|_| ()).ok_or_else(|| CertificateError::UnknownIssuer.into())
    }

    /// The handshake's signature by the key of a version 1 certificate.
    fn verify_signed(
        &self,
        message: &[u8],
        certificate: &Facts<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let mapping = self.provider.signature_verification_algorithms.mapping;
        let (_, algorithms) = mapping
            .iter()
            .find(|(scheme, _)| *scheme == dss.scheme)
            .ok_or(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme)?;
        let valid = algorithms.iter().any(|algorithm| {
            algorithm.public_key_alg_id().as_ref() == certificate.key_algorithm
                && algorithm.verify_signature(certificate.key, message, dss.signature()).is_ok()
        });
        if valid {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }
}

fn facts<'a>(certificate: &'a CertificateDer<'_>) -> Result<Facts<'a>, Error> {
    certificate::facts(certificate).ok_or_else(|| CertificateError::BadEncoding.into())
}

fn verify_dates(facts: &Facts<'_>, now: UnixTime) -> Result<(), Error> {
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if now < facts.not_before {
        return Err(CertificateError::NotValidYet.into());
    }
    if now > facts.not_after {
        return Err(CertificateError::Expired.into());
    }
    Ok(())
}

/// libpq's rule: an alternative name of the host's kind decides; a certificate without one goes by its common name.
fn verify_name(certificate: &Facts<'_>, name: &ServerName<'_>) -> Result<(), Error> {
    let (of_kind, matches) = match name {
        ServerName::IpAddress(address) => {
            let address = IpAddr::from(*address);
            (certificate.addresses().next().is_some(), certificate.addresses().any(|other| other == address))
        }
        _ => (certificate.dns_names().next().is_some(), {
            certificate.dns_names().any(|pattern| matches_pattern(pattern, &name.to_str()))
        }),
    };
    let by_common_name =
        !of_kind && certificate.common_name().is_some_and(|pattern| matches_pattern(pattern, &name.to_str()));
    if matches || by_common_name { Ok(()) } else { Err(CertificateError::NotValidForName.into()) }
}

/// Equal without regard to case; a leading `*.` stands for one label.
fn matches_pattern(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(domain) => host.split_once('.').is_some_and(|(label, rest)| {
            !label.is_empty() && rest.eq_ignore_ascii_case(domain) && host.parse::<IpAddr>().is_err()
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
                verify_name(&facts(end_entity)?, server_name)?;
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
            _ if facts(cert)?.is_version_1 => self.verify_signed(message, &facts(cert)?, dss),
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
            _ if facts(cert)?.is_version_1 => self.verify_signed(message, &facts(cert)?, dss),
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
