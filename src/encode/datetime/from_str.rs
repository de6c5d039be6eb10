//! `FromStr` of the date and time values: the forms that the columns take.

use std::str::FromStr;

use super::interval;
use super::{read_date, read_time, read_timestamp};
use crate::encode::{EncodeError, Zone};
use crate::record::{Date, Interval, Time, TimeTz, Timestamp};

macro_rules! from_str {
    ($($type:ty => $read:expr, $doc:literal);* $(;)?) => {$(
        #[doc = $doc]
        impl FromStr for $type {
            type Err = EncodeError;

            fn from_str(source: &str) -> Result<Self, EncodeError> {
                ($read)(source)
            }
        }
    )*};
}

from_str! {
    Date => read_date, "The forms that a `date` column takes; a time of day in the text is left out.";
    Time => read_time, "The forms that a `time` column takes; an offset in the text is left out.";
    TimeTz => |source| super::read_timetz(source, &Zone::utc()), "The forms that a `timetz` column takes, without an offset in UTC.";
    Timestamp => read_timestamp, "The forms that a `timestamp` column takes; an offset in the text is left out.";
    Interval => interval::read, "The forms that an `interval` column takes.";
}
