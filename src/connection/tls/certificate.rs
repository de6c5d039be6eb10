//! The few fields of an X.509 certificate that rustls does not show, by a small walk over its DER (RFC 5280, 4.1).

use std::net::IpAddr;

/// A DER element: its tag and its content.
#[derive(Clone, Copy)]
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
}

const SEQUENCE: u8 = 0x30;
const OID: u8 = 0x06;
const VERSION: u8 = 0xA0;
const HASH_PARAMETER: u8 = 0xA0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const EXTENSIONS: u8 = 0xA3;
const SERIAL_NUMBER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const CRITICAL: u8 = 0x01;
const DNS_NAME: u8 = 0x82;
const IP_ADDRESS: u8 = 0x87;

/// Takes one element off the input.
fn take<'a>(input: &mut &'a [u8]) -> Option<Element<'a>> {
    let (&tag, rest) = input.split_first()?;
    let (&first, mut rest) = rest.split_first()?;
    let length = if first < 0x80 {
        usize::from(first)
    } else {
        let (digits, tail) = rest.split_at_checked(usize::from(first & 0x7F))?;
        rest = tail;
        if digits.is_empty() || digits.len() > 4 {
            return None;
        }
        digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit))
    };
    let (content, rest) = rest.split_at_checked(length)?;
    *input = rest;
    Some(Element { tag, content })
}

fn take_tag<'a>(input: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    take(input).filter(|element| element.tag == tag).map(|element| element.content)
}

/// The hash of `tls-server-end-point` channel binding (RFC 5929, 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BindingHash {
    Sha256,
    Sha384,
    Sha512,
}

/// The hash that the certificate's signature uses; MD5 and SHA-1 count as SHA-256. `None` where the algorithm has no
/// hash of its own (Ed25519) or is unknown: then no channel binding is defined.
pub(super) fn binding_hash(certificate: &[u8]) -> Option<BindingHash> {
    let mut body = take_tag(&mut &*certificate, SEQUENCE)?;
    take_tag(&mut body, SEQUENCE)?;
    let mut algorithm = take_tag(&mut body, SEQUENCE)?;
    match take_tag(&mut algorithm, OID)? {
        // 1.2.840.113549.1.1.x: RSA with MD5, SHA-1, SHA-256, SHA-384, SHA-512; 10 is PSS
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, kind] => match kind {
            4 | 5 | 11 => Some(BindingHash::Sha256),
            12 => Some(BindingHash::Sha384),
            13 => Some(BindingHash::Sha512),
            10 => pss_hash(algorithm),
            _ => None,
        },
        // 1.2.840.10045.4.1: ECDSA with SHA-1; 4.3.x: with SHA-256, SHA-384, SHA-512
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 1] | [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2] => {
            Some(BindingHash::Sha256)
        }
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3] => Some(BindingHash::Sha384),
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 4] => Some(BindingHash::Sha512),
        _ => None,
    }
}

/// The hash of RSASSA-PSS-params (RFC 4055, 3.1); SHA-1 is its default.
fn pss_hash(mut parameters: &[u8]) -> Option<BindingHash> {
    let mut parameters = take_tag(&mut parameters, SEQUENCE)?;
    let Some(mut hash) = take_tag(&mut parameters, HASH_PARAMETER) else { return Some(BindingHash::Sha256) };
    let mut algorithm = take_tag(&mut hash, SEQUENCE)?;
    match take_tag(&mut algorithm, OID)? {
        // 1.3.14.3.2.26: SHA-1; 2.16.840.1.101.3.4.2.x: SHA-256, SHA-384, SHA-512
        [0x2B, 0x0E, 3, 2, 0x1A] | [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1] => Some(BindingHash::Sha256),
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2] => Some(BindingHash::Sha384),
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3] => Some(BindingHash::Sha512),
        _ => None,
    }
}

/// The parts of a certificate that the checks of our own need.
pub(super) struct Facts<'a> {
    /// X.509 version 1, which has no extensions and which webpki does not read.
    pub(super) is_version_1: bool,
    /// The bytes that are signed.
    pub(super) signed: &'a [u8],
    /// The content of the signature's AlgorithmIdentifier.
    pub(super) signature_algorithm: &'a [u8],
    pub(super) signature: &'a [u8],
    pub(super) issuer: &'a [u8],
    pub(super) subject: &'a [u8],
    /// Seconds since 1970.
    pub(super) not_before: i64,
    /// Seconds since 1970.
    pub(super) not_after: i64,
    /// The content of the key's AlgorithmIdentifier.
    pub(super) key_algorithm: &'a [u8],
    pub(super) key: &'a [u8],
    alternative_names: Option<&'a [u8]>,
}

/// Reads the facts; `None` for what is no certificate.
pub(super) fn facts(certificate: &[u8]) -> Option<Facts<'_>> {
    let mut outer = take_tag(&mut &*certificate, SEQUENCE)?;
    let whole = outer;
    let mut body = take_tag(&mut outer, SEQUENCE)?;
    let signed = &whole[..whole.len() - outer.len()];
    let signature_algorithm = take_tag(&mut outer, SEQUENCE)?;
    let signature = bits(&mut outer)?;

    let is_version_1 = body.first() != Some(&VERSION);
    if !is_version_1 {
        take(&mut body)?;
    }
    take_tag(&mut body, SERIAL_NUMBER)?;
    take_tag(&mut body, SEQUENCE)?;
    let issuer = take_tag(&mut body, SEQUENCE)?;
    let mut validity = take_tag(&mut body, SEQUENCE)?;
    let not_before = time(take(&mut validity)?)?;
    let not_after = time(take(&mut validity)?)?;
    let subject = take_tag(&mut body, SEQUENCE)?;
    let mut key_info = take_tag(&mut body, SEQUENCE)?;
    let key_algorithm = take_tag(&mut key_info, SEQUENCE)?;
    let key = bits(&mut key_info)?;
    let mut alternative_names = None;
    while let Some(element) = take(&mut body) {
        if element.tag == EXTENSIONS {
            alternative_names = find_alternative_names(element.content)?;
        }
    }
    Some(Facts {
        is_version_1,
        signed,
        signature_algorithm,
        signature,
        issuer,
        subject,
        not_before,
        not_after,
        key_algorithm,
        key,
        alternative_names,
    })
}

/// A BIT STRING of whole bytes.
fn bits<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    take_tag(input, BIT_STRING)?.strip_prefix(&[0])
}

impl<'a> Facts<'a> {
    /// The subject alternative names of a tag; none where the list is malformed.
    fn alternatives(&self, tag: u8) -> impl Iterator<Item = &'a [u8]> {
        let mut list = self.alternative_names.unwrap_or_default();
        std::iter::from_fn(move || take(&mut list))
            .filter(move |element| element.tag == tag)
            .map(|element| element.content)
    }

    /// The DNS names among the subject alternative names.
    pub(super) fn dns_names(&self) -> impl Iterator<Item = &'a str> {
        self.alternatives(DNS_NAME).filter_map(|name| std::str::from_utf8(name).ok())
    }

    /// The addresses among the subject alternative names.
    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        self.alternatives(IP_ADDRESS).filter_map(|octets| {
            <[u8; 4]>::try_from(octets)
                .map(IpAddr::from)
                .or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from))
                .ok()
        })
    }

    /// The common name of the subject, where it is text.
    pub(super) fn common_name(&self) -> Option<&'a str> {
        common_name(self.subject)
    }
}

fn common_name(mut subject: &[u8]) -> Option<&str> {
    let mut found = None;
    while let Some(mut set) = take(&mut subject).map(|element| element.content) {
        while let Some(mut attribute) = take(&mut set).map(|element| element.content) {
            // 2.5.4.3
            if take_tag(&mut attribute, OID) == Some(&[0x55, 4, 3]) {
                found = take(&mut attribute).and_then(|value| std::str::from_utf8(value.content).ok());
            }
        }
    }
    found
}

/// The list of names in the extension 2.5.29.17; `None` outside where the extensions are malformed.
fn find_alternative_names(mut extensions: &[u8]) -> Option<Option<&[u8]>> {
    let mut list = take_tag(&mut extensions, SEQUENCE)?;
    while let Some(mut extension) = take_tag(&mut list, SEQUENCE) {
        if take_tag(&mut extension, OID)? != [0x55, 0x1D, 0x11] {
            continue;
        }
        if extension.first() == Some(&CRITICAL) {
            take(&mut extension)?;
        }
        let mut value = take_tag(&mut extension, OCTET_STRING)?;
        return Some(Some(take_tag(&mut value, SEQUENCE)?));
    }
    Some(None)
}

/// `YYMMDDhhmmssZ` (years 1950–2049) or `YYYYMMDDhhmmssZ`, as seconds since 1970.
fn time(element: Element<'_>) -> Option<i64> {
    let text = std::str::from_utf8(element.content).ok()?.strip_suffix('Z')?;
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, rest) = match element.tag {
        UTC_TIME => (number(0, 2).map(|year| if year < 50 { 2000 + year } else { 1900 + year })?, 2),
        GENERALIZED_TIME => (number(0, 4)?, 4),
        _ => return None,
    };
    let part = |index: usize| number(rest + 2 * index, rest + 2 * index + 2);
    let days = days_from_civil(year, part(0)?, part(1)?);
    Some(((days * 24 + part(2)?) * 60 + part(3)?) * 60 + part(4)?)
}

/// Days since 1970 in the Gregorian calendar, counting years from March so that leap days come last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        let utc = |text: &str| time(Element { tag: UTC_TIME, content: text.as_bytes() });
        assert_eq!(utc("700101000000Z"), Some(0));
        assert_eq!(utc("000229235959Z"), Some(951_868_799));
        assert_eq!(utc("491231235959Z"), Some(2_524_607_999));
        let generalized = |text: &str| time(Element { tag: GENERALIZED_TIME, content: text.as_bytes() });
        assert_eq!(generalized("20500101000000Z"), Some(2_524_608_000));
        assert_eq!(generalized("19691231235959Z"), Some(-1));
        assert_eq!(generalized("2050"), None);
    }

    #[test]
    fn broken_der_gives_nothing() {
        for bytes in
            [&[][..], &[0x30], &[0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], &[0x30, 0x80], &[0x30, 3, 0x30, 9, 1]]
        {
            assert!(facts(bytes).is_none());
            assert!(binding_hash(bytes).is_none());
        }
    }
}
