//! Recognises times: texts in the form of RFC 3339, and numbers that are times since 1970.

use jsonathlon_schema::time_bucket::TimeBucket;

/// How written times are related to UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenZone {
    /// All times are in UTC: they end with `Z`, or their offset is zero.
    Utc,
    /// No time has an offset, dates without a time of day included.
    Unstated,
    /// Times have offsets other than zero, or only some have one.
    Varied,
}

impl WrittenZone {
    /// Returns the relation of all times of both groups.
    pub(super) fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::Varied }
    }
}

/// A text that is a date, or a date with a time of day, as in RFC 3339; the offset from UTC may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenTime {
    pub(super) zone: WrittenZone,
    /// Whether the text has a time of day after `T` or a space.
    pub(super) has_hour: bool,
}

/// Number of bytes of a date: `2026-02-03`.
const DATE: usize = 10;
/// Number of bytes of a time of day up to its minutes: `T04:05`.
const MINUTES: usize = 6;

impl WrittenTime {
    /// Returns the time that a text is. `None` if it has another form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (date, rest) = bytes.split_at_checked(DATE)?;
        let number = |bytes: &[u8]| -> Option<u32> {
            let all_digits = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
            all_digits.then(|| bytes.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
        };
        let [_, _, _, _, b'-', _, _, b'-', _, _] = date else { return None };
        number(&date[..4])?;
        let is_date = (1..=12).contains(&number(&date[5..7])?) && (1..=31).contains(&number(&date[8..])?);
        if !is_date {
            return None;
        }
        if rest.is_empty() {
            return Some(Self { zone: WrittenZone::Unstated, has_hour: false });
        }
        let (time, rest) = rest.split_at_checked(MINUTES)?;
        let [b'T' | b' ', _, _, b':', _, _] = time else { return None };
        let is_time = number(&time[1..3])? < 24 && number(&time[4..])? < 60;
        let rest = match rest {
            // A leap second is the sixtieth.
            [b':', tens, ones, rest @ ..] => {
                number(&[*tens, *ones]).filter(|seconds| *seconds <= 60)?;
                without_fraction(rest)?
            }
            rest => rest,
        };
        let zone = match rest {
            [] => WrittenZone::Unstated,
            b"Z" | b"z" | b"+00:00" | b"-00:00" => WrittenZone::Utc,
            [b'+' | b'-', h1, h2, b':', m1, m2] => {
                number(&[*h1, *h2, *m1, *m2])?;
                WrittenZone::Varied
            }
            _ => return None,
        };
        is_time.then_some(Self { zone, has_hour: true })
    }
}

/// Returns the bytes after the fraction of a second. `None` if a point has no digits after it.
fn without_fraction(rest: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = rest.strip_prefix(b".") else { return Some(rest) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| &fraction[digits..])
}

/// Returns the resolution, in ticks per second, in which a number is a plausible time since 1970. `None` if
/// it is none.
pub(super) fn resolution(number: f64) -> Option<u64> {
    TimeBucket::RESOLUTIONS.into_iter().find(|&ticks_per_second| {
        let ticks = TimeBucket { ticks_per_second, ..TimeBucket::default() }.plausible_ticks();
        number >= ticks.start as f64 && number < ticks.end as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_told_from_other_texts() {
        let zone = |text: &str| WrittenTime::parse(text).map(|time| time.zone);
        for (text, expected) in [
            ("2026-02-03", WrittenZone::Unstated),
            ("2026-02-03T04:05", WrittenZone::Unstated),
            ("2026-02-03 04:05:06", WrittenZone::Unstated),
            ("2026-02-03T04:05:06Z", WrittenZone::Utc),
            ("2016-12-31T23:59:60.123456789Z", WrittenZone::Utc),
            ("2026-02-03T04:05:06.7+00:00", WrittenZone::Utc),
            ("2026-02-03T04:05:06-08:00", WrittenZone::Varied),
        ] {
            assert_eq!(zone(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "2026-02",
            "2026-13-01",
            "2026-00-01",
            "2026-02-32",
            "2026-02-03T",
            "2026-02-03T24:00:00Z",
            "2026-02-03T04:60:00Z",
            "2026-02-03T04:05:61Z",
            "2026-02-03T04:05:06.Z",
            "2026-02-03T04:05:06 UTC",
            "2026-02-03t04:05:06Z",
            "2026/02/03",
            "26-02-03",
            "2026-02-03x",
            "２026-02-03",
            "+026-02-03",
        ] {
            assert_eq!(zone(text), None, "{text}");
        }
        assert!(!WrittenTime::parse("2026-02-03").unwrap().has_hour);
        assert!(WrittenTime::parse("2026-02-03 04:05").unwrap().has_hour);
        assert_eq!(WrittenZone::Utc.and(WrittenZone::Unstated), WrittenZone::Varied);
    }

    #[test]
    fn numbers_between_1990_and_2100_are_times_in_one_resolution() {
        for (number, expected) in [
            (631_152_000.0, Some(1)),
            (631_151_999.9, None),
            (1_770_000_000.25, Some(1)),
            (4_102_444_800.0, None),
            (1.77e12, Some(1_000)),
            (1.77e15, Some(1_000_000)),
            (1.77e18, None),
            (-1.77e9, None),
            (f64::INFINITY, None),
        ] {
            assert_eq!(resolution(number), expected, "{number}");
        }
    }
}
