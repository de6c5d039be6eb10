//! Certificates of every kind, made by the `openssl` command: no library makes them all.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The keys and signatures of an authority and of what it signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rsa,
    /// RSA keys, signatures padded by PSS: the hash is in the signature's parameters.
    RsaPss,
    /// The same, and the key itself is for PSS only: another type of key.
    RsaPssKey,
    P256,
    P384,
    Ed25519,
}

impl Kind {
    fn key(self) -> &'static [&'static str] {
        match self {
            Self::Rsa | Self::RsaPss => &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            Self::RsaPssKey => &["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"],
            Self::P256 => &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            Self::P384 => &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
            Self::Ed25519 => &["-algorithm", "ED25519"],
        }
    }

    fn signature(self) -> &'static [&'static str] {
        match self {
            Self::Rsa | Self::P256 => &["-sha256"],
            Self::RsaPss | Self::RsaPssKey => {
                &["-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]
            }
            Self::P384 => &["-sha384"],
            Self::Ed25519 => &[],
        }
    }
}

/// A certificate and its key, both PEM files.
#[derive(Debug, Clone)]
pub(super) struct Certified {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// An authority; its files lie in a folder of the test's.
pub(super) struct Authority {
    kind: Kind,
    folder: PathBuf,
    pub(super) own: Certified,
}

/// Runs `openssl`.
fn openssl(arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).output().unwrap_or_else(|error| {
        panic!("openssl: {error}: the tests of TLS need the command (Debian: apt-get install openssl)")
    });
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {}: {told}", arguments.join(" "));
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The least that `openssl req` wants to read.
const REQUEST: &str = "[req]\ndistinguished_name = name\n[name]\n";

impl Authority {
    pub(super) fn new(kind: Kind, parent: &Path, name: &str) -> Self {
        let folder = parent.join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("request"), REQUEST).unwrap();
        let extensions = "basicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign, cRLSign\n\
                          subjectKeyIdentifier = hash\n";
        let mut authority = Self {
            kind,
            own: Certified { certificate: folder.join("ca.pem"), key: folder.join("ca.key") },
            folder,
        };
        authority.own = authority.certify("ca", &format!("pgsluice {name}"), extensions, true);
        authority
    }

    /// A certificate for a server (or a client) of that common name.
    pub(super) fn sign(&self, file: &str, common_name: &str, alternative: &str) -> Certified {
        let extensions = format!("basicConstraints = CA:FALSE\nsubjectAltName = {alternative}\n");
        self.certify(file, common_name, &extensions, false)
    }

    /// A certificate that is its own root, and is marked as an authority.
    pub(super) fn self_signed(&self, file: &str, common_name: &str) -> Certified {
        let extensions = format!("basicConstraints = CA:TRUE\nsubjectAltName = DNS:{common_name}\n");
        self.certify(file, common_name, &extensions, true)
    }

    fn certify(&self, file: &str, common_name: &str, extensions: &str, of_itself: bool) -> Certified {
        let path = |ending: &str| self.folder.join(format!("{file}.{ending}"));
        let (key, request, certificate) = (path("key"), path("csr"), path("pem"));
        std::fs::write(path("ext"), extensions).unwrap();
        openssl(&[&["genpkey", "-out", text(&key)], self.kind.key()].concat());
        let subject = format!("/CN={common_name}");
        let config = self.folder.join("request");
        let make = ["req", "-new", "-config", text(&config), "-key", text(&key), "-subj", &subject];
        openssl(&[&make[..], &["-out", text(&request)]].concat());
        let (ext, serial) = (path("ext"), rand_serial(file, common_name));
        let sign = ["x509", "-req", "-in", text(&request), "-days", "30", "-extfile", text(&ext)];
        let by: &[&str] = if of_itself {
            &["-signkey", text(&key)]
        } else {
            &["-CA", text(&self.own.certificate), "-CAkey", text(&self.own.key)]
        };
        let out = ["-set_serial", &serial, "-out", text(&certificate)];
        openssl(&[&sign[..], by, self.kind.signature(), &out].concat());
        Certified { certificate, key }
    }

    /// The same certificate with another content, signed again. Only for an authority with plain RSA signatures.
    fn signed_again(&self, file: &str, old: &Certified, change: impl Fn(&mut Vec<Vec<u8>>)) -> Certified {
        assert_eq!(self.kind, Kind::Rsa);
        let path = |ending: &str| self.folder.join(format!("{file}.{ending}"));
        let (der, content, signature, pem) = (path("der"), path("tbs"), path("sig"), path("pem"));
        openssl(&["x509", "-in", text(&old.certificate), "-outform", "DER", "-out", text(&der)]);
        let whole = std::fs::read(&der).unwrap();
        let outer = elements(body(&whole));
        let mut fields: Vec<Vec<u8>> = elements(body(outer[0])).into_iter().map(<[u8]>::to_vec).collect();
        change(&mut fields);
        let to_be_signed = element(0x30, &fields.concat());
        std::fs::write(&content, &to_be_signed).unwrap();
        let sign = ["dgst", "-sha256", "-sign", text(&self.own.key), "-out", text(&signature)];
        openssl(&[&sign[..], &[text(&content)]].concat());
        let bits = [&[0], &std::fs::read(&signature).unwrap()[..]].concat();
        let whole = [to_be_signed, outer[1].to_vec(), element(0x03, &bits)].concat();
        std::fs::write(&der, element(0x30, &whole)).unwrap();
        openssl(&["x509", "-inform", "DER", "-in", text(&der), "-out", text(&pem)]);
        Certified { certificate: pem, key: old.key.clone() }
    }

    /// The same without its version and extensions: X.509 version 1, as the manual's own recipe makes.
    pub(super) fn version_1(&self, file: &str, old: &Certified) -> Certified {
        self.signed_again(file, old, |fields| fields.retain(|field| !matches!(field[0], 0xa0 | 0xa3)))
    }

    /// The same, valid during the year 2020.
    pub(super) fn expired(&self, file: &str, old: &Certified) -> Certified {
        self.signed_again(file, old, |fields| {
            let times = ["200101000000Z", "210101000000Z"].map(|time| element(0x17, time.as_bytes()));
            fields[4] = element(0x30, &times.concat());
        })
    }
}

/// Some serial number: those of one authority must differ.
fn rand_serial(file: &str, common_name: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (file, common_name).hash(&mut hasher);
    (hasher.finish() >> 1).to_string()
}

/// An element of DER.
fn element(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match body.len() {
        short @ 0..=127 => out.push(short as u8),
        long => {
            out.push(0x82);
            out.extend(u16::try_from(long).unwrap().to_be_bytes());
        }
    }
    out.extend(body);
    out
}

/// The lengths of an element's head and body.
fn lengths(der: &[u8]) -> (usize, usize) {
    match der[1] {
        short @ 0..=127 => (2, usize::from(short)),
        long => {
            let count = usize::from(long & 0x7f);
            let length = der[2..2 + count].iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
            (2 + count, length)
        }
    }
}

fn body(der: &[u8]) -> &[u8] {
    let (head, length) = lengths(der);
    &der[head..head + length]
}

/// The elements that stand one after another.
fn elements(mut der: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while !der.is_empty() {
        let (head, length) = lengths(der);
        let (first, rest) = der.split_at(head + length);
        found.push(first);
        der = rest;
    }
    found
}
