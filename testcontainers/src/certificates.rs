//! A certificate authority for one server, a server certificate for 127.0.0.1, a client certificate.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

/// The role that the client certificate is for; it has no password.
pub const CERTIFICATE_ROLE: &str = "certified";

/// PEM texts.
pub(crate) struct Certificates {
    pub(crate) authority: String,
    pub(crate) server: String,
    pub(crate) server_key: String,
    pub(crate) client: String,
    pub(crate) client_key: String,
}

impl Certificates {
    pub(crate) fn generate() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::new([])?;
        params.distinguished_name.push(DnType::CommonName, "pgsluice tests");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;

        let server_key = KeyPair::generate()?;
        let names = ["127.0.0.1", "::1", "localhost"].map(str::to_owned);
        let mut params = leaf("localhost", names, ExtendedKeyUsagePurpose::ServerAuth)?;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let server = params.signed_by(&server_key, &authority)?;

        let client_key = KeyPair::generate()?;
        let client = leaf(CERTIFICATE_ROLE, [], ExtendedKeyUsagePurpose::ClientAuth)?
            .signed_by(&client_key, &authority)?;

        Ok(Self {
            authority: authority.pem(),
            server: server.pem(),
            server_key: server_key.serialize_pem(),
            client: client.pem(),
            client_key: client_key.serialize_pem(),
        })
    }
}

fn leaf(
    common_name: &str,
    names: impl Into<Vec<String>>,
    usage: ExtendedKeyUsagePurpose,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    params.extended_key_usages = vec![usage];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}
