//! `inet`, `cidr`, `macaddr` and `macaddr8`, read as the server's own parsers do, abbreviations included.

mod mac;
mod v4;
mod v6;

use super::EncodeError;

pub(super) use mac::{macaddr_from_text, macaddr8_from_text};

const FAMILY_V4: u8 = 2;
const FAMILY_V6: u8 = 3;

/// An address and how many of its bits are the network's.
struct Network {
    address: [u8; 16],
    /// 4 or 16.
    bytes: usize,
    bits: u8,
}

/// Why a text is no network.
enum Fault {
    Syntax,
    /// A width so long that some servers wrap it.
    ServerOnly,
}

impl Network {
    /// True where no bit stands beyond the network's.
    fn is_clean(&self) -> bool {
        let bits = usize::from(self.bits);
        self.address[..self.bytes].iter().enumerate().all(|(at, byte)| {
            let kept = bits.saturating_sub(at * 8).min(8);
            kept == 8 || byte & (0xFF >> kept) == 0
        })
    }

    fn push(&self, cidr: bool, out: &mut Vec<u8>) {
        let family = if self.bytes == 4 { FAMILY_V4 } else { FAMILY_V6 };
        out.extend_from_slice(&[family, self.bits, u8::from(cidr), self.bytes as u8]);
        out.extend_from_slice(&self.address[..self.bytes]);
    }
}

fn read(source: &str, cidr: bool) -> Result<Network, EncodeError> {
    let text = source.as_bytes();
    let network = match (text.contains(&b':'), cidr) {
        (true, _) => v6::read(text).ok_or(Fault::Syntax),
        (false, true) => v4::read_cidr(text),
        (false, false) => v4::read_inet(text),
    };
    network.map_err(|fault| {
        let reason = if cidr { "the text is no cidr" } else { "the text is no inet" };
        match fault {
            Fault::Syntax => EncodeError::new("22P02", reason),
            Fault::ServerOnly => EncodeError::server_only("22P02", reason),
        }
    })
}

pub(super) fn inet_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    read(source, false)?.push(false, out);
    Ok(())
}

pub(super) fn cidr_from_text(source: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let network = read(source, true)?;
    if !network.is_clean() {
        return Err(EncodeError::new("22P02", "the cidr has bits set to the right of its mask"));
    }
    network.push(true, out);
    Ok(())
}

/// Family, width and address; whether it was a cidr has no part in the server's equality.
pub(super) fn push_key(body: &[u8], out: &mut Vec<u8>) {
    if let [family, bits, _, _, address @ ..] = body {
        out.extend_from_slice(&[*family, *bits]);
        out.extend_from_slice(address);
    }
}
