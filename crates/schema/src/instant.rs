//! Instants as stored in answers: microseconds since 1970, UTC, whatever unit a system's own type has.
//!
//! Every conversion cuts off fractions of a microsecond towards the past.

/// Decimal places of a second that microseconds have.
const DIGITS: u32 = 6;
const MICROSECONDS_A_SECOND: i64 = 1_000_000;
const MICROSECONDS_A_DAY: i64 = 86_400 * MICROSECONDS_A_SECOND;

/// Converts days since 1970. `None` if the result exceeds 64 bits.
pub fn from_days(days: i64) -> Option<i64> {
    days.checked_mul(MICROSECONDS_A_DAY)
}

/// Converts ticks since 1970, each 10^−`digits` seconds: 0 for seconds, 3 for milliseconds, 9 for
/// nanoseconds. `None` if the result exceeds 64 bits.
pub fn from_ticks(ticks: i64, digits: u32) -> Option<i64> {
    match digits.checked_sub(DIGITS) {
        Some(extra_digits) => ticks.checked_div_euclid(10_i64.checked_pow(extra_digits)?),
        None => ticks.checked_mul(10_i64.checked_pow(DIGITS - digits)?),
    }
}

/// Converts a date of the Gregorian calendar and a time of day, given in whole seconds and additional
/// microseconds. Second 60 (a leap second) is accepted. `None` if the date or the time of day does not exist.
pub fn from_calendar(
    [year, month, day]: [i64; 3],
    [hour, minute, second]: [i64; 3],
    micros: i64,
) -> Option<i64> {
    let is_time = (0..=23).contains(&hour) && (0..=59).contains(&minute) && (0..=60).contains(&second);
    if !is_time || !(1..=12).contains(&month) || !(1..=days_of_month(year, month)).contains(&day) {
        return None;
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    seconds.checked_mul(MICROSECONDS_A_SECOND)?.checked_add(micros)
}

/// Parses `2026-01-02T03:04:05.678901Z`. A space may replace the `T`, and the seconds and the fraction may be
/// missing. The zone may be missing (then UTC) or an offset (`+02:00`, `+0200`, `+02`). A date alone is
/// midnight. `None` for any other text.
pub fn from_text(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split('-');
    let mut number = |digits: usize| {
        let part = parts.next()?;
        (part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| part.parse::<i64>().ok())?
    };
    let date = [number(4)?, number(2)?, number(2)?];
    if parts.next().is_some() {
        return None;
    }
    if rest.is_empty() {
        return from_calendar(date, [0; 3], 0);
    }
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let zone_start = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at_checked(zone_start)?;
    let (time, fraction) = clock.trim_end().split_once('.').unwrap_or((clock.trim_end(), ""));
    let clock: Vec<i64> = time.split(':').map(two_digits).collect::<Option<_>>()?;
    let clock = match clock.as_slice() {
        [hour, minute] => [*hour, *minute, 0],
        [hour, minute, second] => [*hour, *minute, *second],
        _ => return None,
    };
    let mut micros = 0;
    let mut unit = MICROSECONDS_A_SECOND / 10;
    for digit in fraction.chars() {
        micros += i64::from(digit.to_digit(10)?) * unit;
        unit /= 10;
    }
    from_calendar(date, clock, micros)?.checked_sub(offset_seconds(zone)? * MICROSECONDS_A_SECOND)
}

fn two_digits(text: &str) -> Option<i64> {
    (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Returns the number of seconds by which a zone is ahead of UTC. `None` if the zone is malformed.
fn offset_seconds(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone.get(1..)?;
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "00"),
    };
    Some(sign * (two_digits(hours)? * 3_600 + two_digits(minutes)? * 60))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_since_1970(next_year, next_month, 1) - days_since_1970(year, month, 1)
}

/// Returns the days since 1970 of a Gregorian date, computed with years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    const INSTANT: i64 = 1_767_323_045_678_901;

    #[test]
    fn one_instant_is_the_same_in_every_unit_and_as_text() {
        assert_eq!(from_ticks(1_767_323_045, 0), Some(1_767_323_045_000_000));
        assert_eq!(from_ticks(1_767_323_045_678, 3), Some(1_767_323_045_678_000));
        assert_eq!(from_ticks(INSTANT, 6), Some(INSTANT));
        assert_eq!(from_ticks(1_767_323_045_678_901_234, 9), Some(INSTANT));
        assert_eq!(from_days(20_455), Some(1_767_312_000_000_000));
        assert_eq!(from_calendar([2026, 1, 2], [3, 4, 5], 678_901), Some(INSTANT));
        for text in [
            "2026-01-02T03:04:05.678901Z",
            "2026-01-02 03:04:05.678901",
            "2026-01-02 05:04:05.678901234+02:00",
        ] {
            assert_eq!(from_text(text), Some(INSTANT), "{text}");
        }
        assert_eq!(from_text("2026-01-02"), from_days(20_455));
    }

    #[test]
    fn what_is_finer_than_a_microsecond_is_cut_off_before_1970_as_after_it() {
        assert_eq!(from_ticks(-1, 9), Some(-1));
        assert_eq!(from_ticks(-1_000, 9), Some(-1));
        assert_eq!(from_text("1969-12-31T23:59:59.999999999Z"), Some(-1));
    }

    #[test]
    fn what_is_no_instant_or_beyond_64_bits_is_none() {
        assert_eq!(from_ticks(i64::MAX, 3), None);
        assert_eq!(from_ticks(0, 40), None);
        assert_eq!(from_days(i64::from(i32::MAX)), None);
        for text in ["2026-02-29", "2026-00-01", "2026-04-31 00:00", "0000-00-00", "2026-01-02T24:00:00Z", ""]
        {
            assert_eq!(from_text(text), None, "{text}");
        }
        assert_eq!(from_text("2024-02-29"), from_days(19_782));
    }
}
