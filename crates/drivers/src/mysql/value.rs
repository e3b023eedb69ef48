//! Values of the MySQL protocol: as text in ordinary answers, in binary form for prepared statements.

use jsonathlon_driver_api::codecs::decimal::decimal;
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::prepared::Parameter;
use jsonathlon_driver_api::rows::Cell;
use jsonathlon_schema::instant;
use mysql::Column;
use mysql::consts::ColumnType;

/// Converts a parameter to the client library's value.
pub(super) fn parameter(parameter: &Parameter<'_>) -> mysql::Value {
    match *parameter {
        Parameter::Null => mysql::Value::NULL,
        Parameter::Bool(truth) => mysql::Value::Int(i64::from(truth)),
        Parameter::Int(number) => mysql::Value::Int(number),
        Parameter::Float(number) => mysql::Value::Double(number),
        Parameter::Text(text) | Parameter::Json(text) => mysql::Value::Bytes(text.as_bytes().to_vec()),
    }
}

/// Converts a row to typed cells.
pub(super) fn row<'a>(columns: &[Column], cells: &'a [mysql::Value]) -> Result<Vec<Cell<'a>>> {
    if columns.len() != cells.len() {
        return Err(DriverError::Protocol(format!("{} cells in {} columns", cells.len(), columns.len())));
    }
    columns
        .iter()
        .zip(cells)
        .map(|(column, value)| {
            let (kind, name) = (column.column_type(), column.name_str());
            match value {
                mysql::Value::NULL => Ok(Cell::Null),
                mysql::Value::Bytes(bytes) => cell(kind, bytes, &name),
                mysql::Value::Int(number) => Ok(Cell::Int(*number)),
                mysql::Value::UInt(number) => {
                    i64::try_from(*number).map(Cell::Int).map_err(|_| too_wide(&name))
                }
                mysql::Value::Double(number) => Ok(Cell::Float(*number)),
                mysql::Value::Date(year, month, day, hour, minute, second, micros) => {
                    let date = [(*year).into(), (*month).into(), (*day).into()];
                    let time = [(*hour).into(), (*minute).into(), (*second).into()];
                    instant(instant::of_calendar(date, time, (*micros).into()), &name)
                }
                // TIME and FLOAT are rejected here as in text form, because FLOAT has only six digits there.
                _ => cell(kind, &[], &name),
            }
        })
        .collect()
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
    let (date, time, micros) = match *bytes {
        [] => ([0; 3], [0; 3], 0),
        [a, b, month, day] => ([u16::from_le_bytes([a, b]), month.into(), day.into()], [0; 3], 0),
        [a, b, month, day, hour, minute, second, ref micros @ ..] if matches!(micros.len(), 0 | 4) => (
            [u16::from_le_bytes([a, b]), month.into(), day.into()],
            [hour, minute, second],
            micros.try_into().map_or(0, u32::from_le_bytes),
        ),
        _ => {
            return Err(DriverError::Protocol(format!(
                "a time of {} bytes in column `{column}`",
                bytes.len()
            )));
        }
    };
    instant(instant::of_calendar(date.map(i64::from), time.map(i64::from), micros.into()), column)
}

pub(super) fn cell<'a>(kind: ColumnType, bytes: &'a [u8], column: &str) -> Result<Cell<'a>> {
    use ColumnType as T;
    match kind {
        T::MYSQL_TYPE_TINY
        | T::MYSQL_TYPE_SHORT
        | T::MYSQL_TYPE_INT24
        | T::MYSQL_TYPE_LONG
        | T::MYSQL_TYPE_LONGLONG
        | T::MYSQL_TYPE_YEAR
        | T::MYSQL_TYPE_DECIMAL
        | T::MYSQL_TYPE_NEWDECIMAL => {
            let text = text(bytes, column)?;
            match number(text) {
                Some(number) => Ok(number),
                None if is_number(text) => Err(too_wide(column)),
                None => Err(DriverError::Protocol(format!("`{text}` in column `{column}` of numbers"))),
            }
        }
        // The server writes as many digits as identify the double uniquely.
        T::MYSQL_TYPE_DOUBLE => {
            let text = text(bytes, column)?;
            let parsed = text.parse().map(Cell::Float);
            parsed.map_err(|_| DriverError::Protocol(format!("`{text}` in column `{column}` of numbers")))
        }
        T::MYSQL_TYPE_DATE
        | T::MYSQL_TYPE_NEWDATE
        | T::MYSQL_TYPE_DATETIME
        | T::MYSQL_TYPE_DATETIME2
        | T::MYSQL_TYPE_TIMESTAMP
        | T::MYSQL_TYPE_TIMESTAMP2 => instant(instant::of_text(text(bytes, column)?), column),
        T::MYSQL_TYPE_VARCHAR
        | T::MYSQL_TYPE_VAR_STRING
        | T::MYSQL_TYPE_STRING
        | T::MYSQL_TYPE_ENUM
        | T::MYSQL_TYPE_SET
        | T::MYSQL_TYPE_TINY_BLOB
        | T::MYSQL_TYPE_BLOB
        | T::MYSQL_TYPE_MEDIUM_BLOB
        | T::MYSQL_TYPE_LONG_BLOB
        | T::MYSQL_TYPE_JSON => text(bytes, column).map(Cell::Text),
        T::MYSQL_TYPE_FLOAT => Err(DriverError::Unsupported(format!(
            "column `{column}` is of type FLOAT, which the server writes with six digits: cast it to DOUBLE"
        ))),
        other => Err(DriverError::Unsupported(format!(
            "column `{column}` is of type {}: cast it to CHAR",
            format!("{other:?}").trim_start_matches("MYSQL_TYPE_")
        ))),
    }
}

fn text<'a>(bytes: &'a [u8], column: &str) -> Result<&'a str> {
    simdutf8::compat::from_utf8(bytes)
        .map_err(|error| DriverError::Protocol(format!("a text of column `{column}` is not UTF-8 ({error})")))
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Parses a fixed-point number: an integer if its fraction is zero, otherwise the nearest double. `None` if
/// the text is no number, or an integer outside 64 bits.
fn number(text: &str) -> Option<Cell<'static>> {
    if let Ok(whole) = text.parse() {
        return Some(Cell::Int(whole));
    }
    let (whole, fraction) = text.split_once('.').filter(|_| is_number(text))?;
    if fraction.bytes().all(|digit| digit == b'0') {
        return whole.parse().ok().map(Cell::Int);
    }
    let scale = u32::try_from(fraction.len()).ok()?;
    match format!("{whole}{fraction}").parse::<i128>() {
        Ok(unscaled) => decimal(unscaled, scale),
        // More digits than 128 bits hold.
        Err(_) => text.parse().ok().map(Cell::Float),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_numbers_are_integers_and_others_the_nearest_doubles() {
        assert_eq!(number("0"), Some(Cell::Int(0)));
        assert_eq!(number("-9223372036854775808"), Some(Cell::Int(i64::MIN)));
        assert_eq!(number("9223372036854775808"), None);
        assert_eq!(number("18446744073709551615"), None);
        assert_eq!(number("12.00"), Some(Cell::Int(12)));
        assert_eq!(number("-0.1"), Some(Cell::Float(-0.1)));
        assert_eq!(number("0.30"), Some(Cell::Float(0.3)));
        let long = "3.14159265358979323846264338327950288419716939937510582097494";
        assert_eq!(number(long), Some(Cell::Float(std::f64::consts::PI)));
        for none in ["", "-", ".5", "5.", "x", "1e3", "0x10", "--1"] {
            assert_eq!(number(none), None, "{none}");
            assert!(!is_number(none), "{none}");
        }
    }

    #[test]
    fn what_has_no_place_in_an_answer_is_refused_with_advice() {
        let error = |kind, bytes: &[u8]| cell(kind, bytes, "c").unwrap_err().to_string();
        let time = error(ColumnType::MYSQL_TYPE_TIME, b"838:59:59");
        assert!(time.contains("`c` is of type TIME: cast it to CHAR"), "{time}");
        let zeros = error(ColumnType::MYSQL_TYPE_DATETIME, b"0000-00-00 00:00:00");
        assert!(zeros.contains("`c` is no date of a calendar"), "{zeros}");
        assert!(binary_instant(&[], "c").is_err() && binary_instant(&[1, 2], "c").is_err());
        assert!(error(ColumnType::MYSQL_TYPE_FLOAT, b"0.1").contains("DOUBLE"));
        assert!(error(ColumnType::MYSQL_TYPE_LONGLONG, b"18446744073709551615").contains("64 bits"));
        assert!(error(ColumnType::MYSQL_TYPE_LONGLONG, b"x").contains("out of protocol"));
        assert!(error(ColumnType::MYSQL_TYPE_BLOB, b"\xff").contains("not UTF-8"));
    }

    #[test]
    fn instants_of_all_types_are_microseconds_since_1970() {
        const INSTANT: Cell<'_> = Cell::Int(1_767_323_045_678_901);
        const DAY: Cell<'_> = Cell::Int(1_767_312_000_000_000);
        for kind in [ColumnType::MYSQL_TYPE_DATETIME, ColumnType::MYSQL_TYPE_TIMESTAMP] {
            assert_eq!(cell(kind, b"2026-01-02 03:04:05.678901", "c").unwrap(), INSTANT, "{kind:?}");
        }
        assert_eq!(cell(ColumnType::MYSQL_TYPE_DATE, b"2026-01-02", "c").unwrap(), DAY);
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
            let cell = cell(ColumnType::MYSQL_TYPE_LONGLONG, text.as_bytes(), "c").unwrap();
            prop_assert_eq!(cell, Cell::Int(number));
        }

        #[test]
        fn doubles_come_with_every_bit(number in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            let text = number.to_string();
            let cell = cell(ColumnType::MYSQL_TYPE_DOUBLE, text.as_bytes(), "c").unwrap();
            prop_assert_eq!(cell, Cell::Float(number));
        }

        #[test]
        fn decimals_are_the_doubles_that_their_texts_are(unscaled in any::<i64>(), scale in 1..30_usize) {
            let digits = format!("{:0>1$}", unscaled.unsigned_abs(), scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            let text = format!("{}{whole}.{fraction}", if unscaled < 0 { "-" } else { "" });
            let expected: f64 = text.parse().unwrap();
            match number(&text) {
                Some(Cell::Int(whole)) => prop_assert_eq!(whole as f64, expected),
                Some(Cell::Float(float)) => prop_assert_eq!(float, expected),
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
