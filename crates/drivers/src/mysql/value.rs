//! Values of the MySQL protocol: as text in ordinary answers, in binary form for prepared statements.

use jsonathlon_driver_api::codecs::decimal::{fixed_point, is_fixed_point};
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::rows::Cell;
use jsonathlon_schema::instant;

/// Kind of a column, which decides how its values are encoded and what they become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    Tiny,
    /// SMALLINT, and YEAR with the same encoding.
    Short,
    /// INT, and MEDIUMINT with the same encoding.
    Long,
    LongLong,
    Decimal,
    Float,
    Double,
    Null,
    /// Date, with or without time.
    Instant,
    /// Text, bytes or JSON.
    Text,
    /// Type without a place in an answer, by its SQL name.
    Other(&'static str),
}

impl ColumnType {
    /// Returns the kind of a type code of the protocol. `None` for an unknown code.
    pub(super) fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 | 246 => Self::Decimal,
            1 => Self::Tiny,
            2 | 13 => Self::Short,
            3 | 9 => Self::Long,
            4 => Self::Float,
            5 => Self::Double,
            6 => Self::Null,
            8 => Self::LongLong,
            // TIMESTAMP, DATE, DATETIME, NEWDATE, and the newer forms of TIMESTAMP and DATETIME.
            7 | 10 | 12 | 14 | 17 | 18 => Self::Instant,
            11 | 19 => Self::Other("TIME"),
            16 => Self::Other("BIT"),
            // VARCHAR, JSON, ENUM, SET, the four sizes of BLOB and TEXT, VAR_STRING, STRING.
            15 | 245 | 247..=254 => Self::Text,
            242 => Self::Other("VECTOR"),
            255 => Self::Other("GEOMETRY"),
            _ => return None,
        })
    }
}

pub(super) fn too_wide(column: &str) -> DriverError {
    DriverError::Unsupported(format!(
        "a number of column `{column}` is outside 64 bits with a sign: cast it to CHAR or DOUBLE"
    ))
}

/// Converts a date, with or without time, to a cell. The zero dates that the server allows are an error.
fn instant(microseconds: Option<i64>, column: &str) -> Result<Cell<'static>> {
    microseconds.map(Cell::Int).ok_or_else(|| {
        DriverError::Unsupported(format!(
            "a time of column `{column}` is no date of a calendar: cast it to CHAR"
        ))
    })
}

/// Decodes a date, with or without time, of the binary protocol, which omits zeros at the end.
pub(super) fn binary_instant(bytes: &[u8], column: &str) -> Result<Cell<'static>> {
    let (date, time, microseconds) = match *bytes {
        [] => ([0; 3], [0; 3], 0),
        [a, b, month, day] => ([u16::from_le_bytes([a, b]), month.into(), day.into()], [0; 3], 0),
        [a, b, month, day, hour, minute, second, ref microseconds @ ..]
            if matches!(microseconds.len(), 0 | 4) =>
        {
            (
                [u16::from_le_bytes([a, b]), month.into(), day.into()],
                [hour, minute, second],
                microseconds.try_into().map_or(0, u32::from_le_bytes),
            )
        }
        _ => {
            return Err(DriverError::Protocol(format!(
                "a time of {} bytes in column `{column}`",
                bytes.len()
            )));
        }
    };
    instant(instant::from_calendar(date.map(i64::from), time.map(i64::from), microseconds.into()), column)
}

/// Converts the text of a value to a cell.
pub(super) fn cell<'a>(kind: ColumnType, bytes: &'a [u8], column: &str) -> Result<Cell<'a>> {
    use ColumnType as T;
    match kind {
        T::Tiny | T::Short | T::Long | T::LongLong | T::Decimal => {
            let text = text(bytes, column)?;
            match fixed_point(text) {
                Some(number) => Ok(number),
                None if is_fixed_point(text) => Err(too_wide(column)),
                None => Err(invalid_number(text, column)),
            }
        }
        // The server writes as many digits as identify the double uniquely.
        T::Double => {
            let text = text(bytes, column)?;
            text.parse().map(Cell::Float).map_err(|_| invalid_number(text, column))
        }
        T::Null => Ok(Cell::Null),
        T::Instant => instant(instant::from_text(text(bytes, column)?), column),
        T::Text => text(bytes, column).map(Cell::Text),
        T::Float => Err(DriverError::Unsupported(format!(
            "column `{column}` is of type FLOAT, which the server writes with six digits: cast it to DOUBLE"
        ))),
        T::Other(name) => {
            Err(DriverError::Unsupported(format!("column `{column}` is of type {name}: cast it to CHAR")))
        }
    }
}

fn invalid_number(text: &str, column: &str) -> DriverError {
    DriverError::Protocol(format!("`{text}` in column `{column}` of numbers"))
}

fn text<'a>(bytes: &'a [u8], column: &str) -> Result<&'a str> {
    simdutf8::compat::from_utf8(bytes)
        .map_err(|error| DriverError::Protocol(format!("a text of column `{column}` is not UTF-8 ({error})")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_no_place_in_an_answer_is_refused_with_advice() {
        let error = |kind, bytes: &[u8]| cell(kind, bytes, "c").unwrap_err().to_string();
        let time = error(ColumnType::Other("TIME"), b"838:59:59");
        assert!(time.contains("`c` is of type TIME: cast it to CHAR"), "{time}");
        let zeros = error(ColumnType::Instant, b"0000-00-00 00:00:00");
        assert!(zeros.contains("`c` is no date of a calendar"), "{zeros}");
        assert!(binary_instant(&[], "c").is_err() && binary_instant(&[1, 2], "c").is_err());
        assert!(error(ColumnType::Float, b"0.1").contains("DOUBLE"));
        assert!(error(ColumnType::LongLong, b"18446744073709551615").contains("64 bits"));
        assert!(error(ColumnType::LongLong, b"x").contains("out of protocol"));
        assert!(error(ColumnType::Text, b"\xff").contains("not UTF-8"));
    }

    #[test]
    fn instants_of_all_types_are_microseconds_since_1970() {
        const INSTANT: Cell<'_> = Cell::Int(1_767_323_045_678_901);
        const DAY: Cell<'_> = Cell::Int(1_767_312_000_000_000);
        assert_eq!(cell(ColumnType::Instant, b"2026-01-02 03:04:05.678901", "c").unwrap(), INSTANT);
        assert_eq!(cell(ColumnType::Instant, b"2026-01-02", "c").unwrap(), DAY);
        // The same instant in binary form: 678,901 is 0x000A5BF5.
        let bytes = [0xEA, 0x07, 1, 2, 3, 4, 5, 0xF5, 0x5B, 0x0A, 0];
        assert_eq!(binary_instant(&bytes, "c").unwrap(), INSTANT);
        assert_eq!(binary_instant(&bytes[..7], "c").unwrap(), Cell::Int(1_767_323_045_000_000));
        assert_eq!(binary_instant(&bytes[..4], "c").unwrap(), DAY);
    }

    proptest! {
        #[test]
        fn integers_come_as_they_are(number in any::<i64>()) {
            let text = number.to_string();
            let cell = cell(ColumnType::LongLong, text.as_bytes(), "c").unwrap();
            prop_assert_eq!(cell, Cell::Int(number));
        }

        #[test]
        fn doubles_come_with_every_bit(number in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            let text = number.to_string();
            let cell = cell(ColumnType::Double, text.as_bytes(), "c").unwrap();
            prop_assert_eq!(cell, Cell::Float(number));
        }
    }
}
