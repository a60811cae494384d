//! HTTP dates: to the second, in GMT (RFC 9110, §5.6.7).

use crate::time::{DAY_MS, Timestamp, civil_from_days, days_from_civil};

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Days of the week, from that of 1970-01-01 on.
const DAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];

/// The lengths of the months in a leap year.
const LENGTHS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A date with two digits of a year is at most so many years behind what it is read beside.
const AHEAD: i64 = 50;

fn pick<T: Copy>(list: &[T], index: i64) -> Option<T> {
    usize::try_from(index)
        .ok()
        .and_then(|index| list.get(index))
        .copied()
}

/// An instant as an HTTP date, `Sun, 06 Nov 1994 08:49:37 GMT`; what is less than a second is cut.
#[must_use]
#[allow(
    clippy::arithmetic_side_effects,
    reason = "divisions and remainders by constants that are not zero, and a month that is at least 1"
)]
pub fn format(at: Timestamp) -> String {
    let days = at.as_millis().div_euclid(DAY_MS);
    let seconds = at.as_millis().rem_euclid(DAY_MS) / 1_000;
    let (year, month, day) = civil_from_days(days);
    let weekday = pick(&DAYS, days.rem_euclid(7)).and_then(|name| name.get(..3));
    let month = pick(&MONTHS, month - 1);
    format!(
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} GMT",
        weekday.unwrap_or_default(),
        month.unwrap_or_default(),
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
    )
}

/// An HTTP date in any of its three forms, or `None` for any other text.
///
/// `beside` tells the century of the one that has two digits for its year: it is at most fifty years behind it.
#[must_use]
pub fn parse(text: &str, beside: Timestamp) -> Option<Timestamp> {
    match text.split_once(", ") {
        Some((weekday, rest)) if weekday.len() == 3 => {
            is_day(weekday, 3)?;
            let (day, rest) = rest.split_once(' ')?;
            let (month, rest) = rest.split_once(' ')?;
            let (year, rest) = rest.split_once(' ')?;
            instant(
                number(year, 4)?,
                month,
                number(day, 2)?,
                rest.strip_suffix(" GMT")?,
            )
        }
        Some((weekday, rest)) => {
            is_day(weekday, weekday.len())?;
            let (date, time) = rest.strip_suffix(" GMT")?.split_once(' ')?;
            let (day, rest) = date.split_once('-')?;
            let (month, year) = rest.split_once('-')?;
            let year = century(number(year, 2)?, beside);
            instant(year, month, number(day, 2)?, time)
        }
        None => {
            let (weekday, rest) = text.split_once(' ')?;
            is_day(weekday, 3)?;
            let (month, rest) = rest.split_once(' ')?;
            let (day, rest) = rest.split_at_checked(2)?;
            let (time, year) = rest.strip_prefix(' ')?.split_once(' ')?;
            let day = match day.strip_prefix(' ') {
                Some(digit) => number(digit, 1)?,
                None => number(day, 2)?,
            };
            instant(number(year, 4)?, month, day, time)
        }
    }
}

/// Whether the first letters of a day's name, so many of them, are these.
fn is_day(text: &str, letters: usize) -> Option<()> {
    let whole = letters > 3;
    let mut names = DAYS
        .iter()
        .map(|name| if whole { Some(*name) } else { name.get(..3) });
    names.any(|name| name == Some(text)).then_some(())
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize) -> Option<i64> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// The latest year with these last two digits that is not too far ahead.
fn century(digits: i64, beside: Timestamp) -> i64 {
    let (year, ..) = civil_from_days(beside.as_millis().div_euclid(DAY_MS));
    let latest = year.saturating_add(AHEAD);
    latest.saturating_sub(latest.saturating_sub(digits).rem_euclid(100))
}

/// The instant of a date and a time of day, `08:49:37`.
#[allow(
    clippy::arithmetic_side_effects,
    reason = "numbers of at most four digits: every term is far from the ends of i64"
)]
fn instant(year: i64, month: &str, day: i64, time: &str) -> Option<Timestamp> {
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()?;
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = pick(&LENGTHS, month)? - i64::from(month == 1 && !leap);
    let (hour, rest) = time.split_once(':')?;
    let (minute, second) = rest.split_once(':')?;
    let (hour, minute, second) = (number(hour, 2)?, number(minute, 2)?, number(second, 2)?);
    // A leap second counts as the one that follows it.
    let sound = (1..=length).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let seconds = (days_from_civil(year, month + 1, day) * 24 + hour) * 3_600 + minute * 60 + second;
    sound.then(|| Timestamp::from_millis(seconds.saturating_mul(1_000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_date_is_written_and_read_in_its_three_forms() {
        let when = at("1994-11-06T08:49:37Z");
        assert_eq!(format(when), "Sun, 06 Nov 1994 08:49:37 GMT");
        for form in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(parse(form, at("2026-01-01T00:00:00Z")), Some(when), "{form}");
        }
        let later = at("1994-11-16T08:49:37Z");
        assert_eq!(parse("Wed Nov 16 08:49:37 1994", later), Some(later));
    }

    #[test]
    fn a_year_of_two_digits_is_at_most_fifty_years_ahead() {
        let year = |digits: &str| {
            let text = format!("Sunday, 01-Jan-{digits} 00:00:00 GMT");
            parse(&text, at("2026-06-01T00:00:00Z")).unwrap().to_string()
        };
        assert!(year("76").starts_with("2076"));
        assert!(year("77").starts_with("1977"));
        assert!(year("26").starts_with("2026"));
    }

    #[test]
    fn any_other_text_is_none() {
        for text in [
            "",
            "0",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 1900 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Son, 06 Nov 1994 08:49:37 GMT",
            "Sunda, 06-Nov-94 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994",
            "Sun Nov é 08:49:37 1994",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(parse(text, Timestamp::EPOCH), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_to_the_second(seconds in -62_167_219_200_i64..253_402_300_800) {
            let when = Timestamp::EPOCH.plus_seconds(seconds).plus_millis(999);
            prop_assert_eq!(parse(&format(when), Timestamp::EPOCH), Some(Timestamp::EPOCH.plus_seconds(seconds)));
        }

        #[test]
        fn a_date_is_that_of_another_calendar(seconds in -62_135_596_800_i64..253_402_300_800) {
            let peer = jiff::Timestamp::from_second(seconds).unwrap();
            let written = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&peer).unwrap();
            prop_assert_eq!(format(Timestamp::EPOCH.plus_seconds(seconds)), written);
        }

        #[test]
        fn no_text_breaks_anything(text in ".{0,40}") {
            let _ = parse(&text, Timestamp::EPOCH);
        }
    }
}
