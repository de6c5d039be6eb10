//! The fixed ISO layout `yyyy-MM-dd[ T]HH:mm:ss[.fraction][Z|±zz[:mm]]`: no allocation, a few nanoseconds.

use super::text::Fields;
use crate::record::{MICROS_PER_SECOND, days_from_civil, days_in_month};

/// The fields of a text in the fixed layout, of which the time may be missing. `None` says only that the general
/// reader has to look: other forms, and everything that is out of range.
#[inline]
pub(super) fn read(source: &[u8]) -> Option<Fields> {
    let (date, rest) = source.split_first_chunk::<10>()?;
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = date else { return None };
    let year = pair(y0, y1)? * 100 + pair(y2, y3)?;
    let month = pair(m0, m1)?;
    let day = pair(d0, d1)?;
    if year == 0 || !(1..=12).contains(&month) || day == 0 || day > days_in_month(i64::from(year), month) {
        return None;
    }
    let days = Some(days_from_civil(i64::from(year), month, day));
    if rest.is_empty() {
        return Some(Fields { days, micros: None, east: None });
    }
    let (time, mut rest) = rest.split_first_chunk::<9>()?;
    let &[b' ' | b'T' | b't', h0, h1, b':', i0, i1, b':', s0, s1] = time else { return None };
    let (hour, minute, second) = (pair(h0, h1)?, pair(i0, i1)?, pair(s0, s1)?);
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut micros = i64::from((hour * 60 + minute) * 60 + second) * MICROS_PER_SECOND;
    if let [b'.', fraction @ ..] = rest {
        let mut unit = 100_000;
        let mut length = 0;
        for byte in fraction {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            micros += i64::from(digit) * unit;
            unit /= 10;
            length += 1;
        }
        if length == 0 || length > 6 {
            return None;
        }
        rest = &fraction[length..];
    }
    let east = match rest {
        [] => None,
        [b'Z' | b'z'] => Some(0),
        &[sign @ (b'+' | b'-'), h0, h1] => Some(offset(sign, pair(h0, h1)?, 0)?),
        &[sign @ (b'+' | b'-'), h0, h1, m0, m1] | &[sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            Some(offset(sign, pair(h0, h1)?, pair(m0, m1)?)?)
        }
        _ => return None,
    };
    Some(Fields { days, micros: Some(micros), east })
}

#[inline]
fn pair(tens: u8, ones: u8) -> Option<u32> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens <= 9 && ones <= 9).then(|| u32::from(tens) * 10 + u32::from(ones))
}

#[inline]
fn offset(sign: u8, hours: u32, minutes: u32) -> Option<i32> {
    if hours > 15 || minutes > 59 {
        return None;
    }
    let seconds = ((hours * 60 + minutes) * 60).cast_signed();
    Some(if sign == b'-' { -seconds } else { seconds })
}
