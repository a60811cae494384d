//! Instants: milliseconds since 1970-01-01T00:00:00Z, written as RFC 3339 in UTC.
//!
//! The core never reads a clock; whoever calls it passes [`Timestamp`] values in.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) const DAY_MS: i64 = 86_400_000;
/// 0000-01-01T00:00:00.000Z.
const MIN_MS: i64 = -62_167_219_200_000;
/// 9999-12-31T23:59:59.999Z.
const MAX_MS: i64 = 253_402_300_799_999;

/// An instant with millisecond precision, between the years 0000 and 9999.
///
/// It reads any RFC 3339 time (fractions beyond a millisecond are cut) and writes UTC with exactly three
/// digits of fraction, `2026-07-17T01:00:00.000Z`, as A2A 1.0, §5.6.1 asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00.000Z.
    pub const EPOCH: Self = Self(0);

    /// The instant `millis` milliseconds after the epoch, held to the years that RFC 3339 can write.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        if millis < MIN_MS {
            Self(MIN_MS)
        } else if millis > MAX_MS {
            Self(MAX_MS)
        } else {
            Self(millis)
        }
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The instant `millis` later, held to the last that can be written.
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// The instant `seconds` later, held to the last that can be written.
    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        self.plus_millis(seconds.saturating_mul(1000))
    }

    /// Milliseconds from `earlier` to this instant; zero when `earlier` is the later one.
    #[must_use]
    pub fn millis_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}

/// Days since the epoch of a date in the proleptic Gregorian calendar. Callers pass years 0..=9999.
#[allow(
    clippy::arithmetic_side_effects,
    reason = "years are at most 9999, months 12 and days 31: every term is far from the ends of i64"
)]
pub(crate) const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // The year is taken to begin in March, so that the leap day is its last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date of a day counted from the epoch: the inverse of [`days_from_civil`].
#[allow(
    clippy::arithmetic_side_effects,
    reason = "days are those of the years 0..=9999: every term is far from the ends of i64"
)]
pub(crate) const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

impl Timestamp {
    /// What it is written as, in ASCII.
    #[allow(
        clippy::arithmetic_side_effects,
        reason = "divisions and remainders by constants that are not zero; nine digits are far from the end of u32"
    )]
    fn text(self) -> [u8; 24] {
        let (year, month, day) = civil_from_days(self.0.div_euclid(DAY_MS));
        let of_day = self.0.rem_euclid(DAY_MS);
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let date = (year * 100 + month) * 100 + day;
        let time = (hour * 100 + minute) * 100_000 + of_day % 60_000;
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let (of_date, of_time) = text.split_at_mut(10);
        // Nine digits at most: 32 bits hold them, which are quicker to divide.
        for (text, digits) in [(of_date, date), (of_time, time)] {
            let mut digits = u32::try_from(digits).unwrap_or_default();
            for byte in text.iter_mut().rev().filter(|byte| byte.is_ascii_digit()) {
                *byte |= u8::try_from(digits % 10).unwrap_or_default();
                digits /= 10;
            }
        }
        text
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

/// What is wrong with a text that should be a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATime;

impl fmt::Display for NotATime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("expected an RFC 3339 time such as 2026-07-17T01:00:00.000Z")
    }
}

impl std::error::Error for NotATime {}

/// A number with one more digit. Callers pass at most four; in checked arithmetic of 64 bits this is most of what reading a
/// time takes, where no instruction multiplies to 128.
const fn with_digit(value: u32, digit: u8) -> u32 {
    value
        .wrapping_mul(10)
        .wrapping_add(digit.wrapping_sub(b'0') as u32)
}

/// Reads the parts of an RFC 3339 text from left to right.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn expect(&mut self, allowed: &[u8]) -> Option<u8> {
        self.byte().filter(|byte| allowed.contains(byte))
    }

    /// Exactly `count` digits (at most four here), as a number.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let mut value: u32 = 0;
        for _ in 0..count {
            value = with_digit(value, self.byte().filter(u8::is_ascii_digit)?);
        }
        Some(value.into())
    }

    fn two(&mut self, least: i64, most: i64) -> Option<i64> {
        self.digits(2).filter(|value| (least..=most).contains(value))
    }

    /// An optional fraction of a second, in milliseconds; further digits are cut.
    fn fraction(&mut self) -> Option<i64> {
        if self.0.first() != Some(&b'.') {
            return Some(0);
        }
        self.byte();
        let mut value: u32 = 0;
        let mut count: usize = 0;
        while let Some(digit) = self.0.first().copied().filter(u8::is_ascii_digit) {
            self.byte();
            if count < 3 {
                value = with_digit(value, digit);
            }
            count = count.saturating_add(1);
        }
        for _ in count..3 {
            value = with_digit(value, b'0');
        }
        (count > 0).then_some(value.into())
    }

    /// The offset from UTC, in minutes.
    #[allow(
        clippy::arithmetic_side_effects,
        reason = "hours and minutes are at most two digits"
    )]
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.expect(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.two(0, 23)?;
        self.expect(b":")?;
        let minutes = self.two(0, 59)?;
        Some(sign * (hours * 60 + minutes))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[allow(
    clippy::arithmetic_side_effects,
    reason = "years are at most 9999, and all else is less: every term is far from the ends of i64"
)]
fn parse(text: &str) -> Option<Timestamp> {
    let mut scan = Scanner(text.as_bytes());
    let year = scan.digits(4)?;
    scan.expect(b"-")?;
    let month = scan.two(1, 12)?;
    scan.expect(b"-")?;
    let day = scan.two(1, days_in_month(year, month))?;
    scan.expect(b"Tt ")?;
    let hour = scan.two(0, 23)?;
    scan.expect(b":")?;
    let minute = scan.two(0, 59)?;
    scan.expect(b":")?;
    // A leap second is read as the last millisecond-exact second that exists here: the next minute's first.
    let second = scan.two(0, 60)?;
    let milli = scan.fraction()?;
    let offset = scan.offset()?;
    if !scan.0.is_empty() {
        return None;
    }
    let minutes = hour * 60 + minute - offset;
    let millis = days_from_civil(year, month, day) * DAY_MS + (minutes * 60 + second) * 1_000 + milli;
    (MIN_MS..=MAX_MS).contains(&millis).then_some(Timestamp(millis))
}

impl FromStr for Timestamp {
    type Err = NotATime;

    fn from_str(text: &str) -> Result<Self, NotATime> {
        parse(text).ok_or(NotATime)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.text()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader)
    }
}

/// Reads an instant where it stands.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = Timestamp;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an RFC 3339 time")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn writes_utc_with_three_digits_of_fraction() {
        assert_eq!(Timestamp::EPOCH.to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            Timestamp::from_millis(1_784_250_000_007).to_string(),
            "2026-07-17T01:00:00.007Z"
        );
        assert_eq!(
            Timestamp::from_millis(i64::MAX).to_string(),
            "9999-12-31T23:59:59.999Z"
        );
        assert_eq!(
            Timestamp::from_millis(i64::MIN).to_string(),
            "0000-01-01T00:00:00.000Z"
        );
    }

    #[test]
    fn reads_offsets_fractions_and_lower_case() {
        let at = |text: &str| text.parse::<Timestamp>().map(|it| it.to_string());
        assert_eq!(
            at("2026-07-17t03:00:00.5+02:00"),
            Ok("2026-07-17T01:00:00.500Z".into())
        );
        assert_eq!(at("2026-07-17T01:00:00z"), Ok("2026-07-17T01:00:00.000Z".into()));
        assert_eq!(
            at("2026-07-17T01:00:00.1239999Z"),
            Ok("2026-07-17T01:00:00.123Z".into())
        );
        assert_eq!(at("2024-02-29T23:59:60Z"), Ok("2024-03-01T00:00:00.000Z".into()));
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in [
            "",
            "2026-07-17",
            "2026-07-17T01:00:00",
            "2026-07-17T01:00:00.Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-07-17T24:00:00Z",
            "2026-07-17T01:00:00Z ",
            "2026-07-17T01:00:00+24:00",
            "0000-01-01T00:00:00+00:01",
            "+026-07-17T01:00:00Z",
            "２026-07-17T01:00:00Z",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(NotATime), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_jiff(millis in MIN_MS..=MAX_MS) {
            let ours = Timestamp::from_millis(millis);
            let theirs = jiff::Timestamp::from_millisecond(millis).unwrap();
            prop_assert_eq!(ours.to_string(), format!("{theirs:.3}"));
            prop_assert_eq!(ours.to_string().parse(), Ok(ours));
        }

        #[test]
        fn never_panics(text in ".{0,40}") {
            let _ = text.parse::<Timestamp>();
        }
    }
}
