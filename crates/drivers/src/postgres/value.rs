//! Decoding of values in the protocol's binary format.

use jsonathlon_driver_api::codecs::decimal::decimal;
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::rows::Cell;
use jsonathlon_schema::instant;
use postgres::types::{FromSql, Kind, Type};

/// Bytes of a value of any type. `None` for NULL.
struct Raw<'a>(Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(
        _: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Converts a row to typed cells.
pub(super) fn row(row: &postgres::Row) -> Result<Vec<Cell<'_>>> {
    row.columns()
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let raw: Raw<'_> =
                row.try_get(index).map_err(|error| DriverError::Protocol(error.to_string()))?;
            match raw.0 {
                None => Ok(Cell::Null),
                Some(bytes) => cell(column.type_(), bytes, column.name()),
            }
        })
        .collect()
}

/// Microseconds from 1970, the epoch of answers, to 2000, the server's epoch.
const MICROSECONDS_TO_2000: i64 = 946_684_800_000_000;
const DAYS_TO_2000: i64 = 10_957;

fn cell<'a>(kind: &Type, bytes: &'a [u8], column: &str) -> Result<Cell<'a>> {
    let malformed =
        || DriverError::Protocol(format!("{} bytes in column `{column}` of type {kind}", bytes.len()));
    // A domain's values are encoded as those of its base type.
    let kind = match kind.kind() {
        Kind::Domain(inner) => inner,
        _ => kind,
    };
    Ok(match *kind {
        Type::BOOL => match bytes {
            [byte] => Cell::Bool(*byte != 0),
            _ => return Err(malformed()),
        },
        Type::INT2 => Cell::Int(i16::from_be_bytes(array(bytes).ok_or_else(malformed)?).into()),
        Type::INT4 => Cell::Int(i32::from_be_bytes(array(bytes).ok_or_else(malformed)?).into()),
        Type::INT8 => Cell::Int(i64::from_be_bytes(array(bytes).ok_or_else(malformed)?)),
        Type::OID => Cell::Int(u32::from_be_bytes(array(bytes).ok_or_else(malformed)?).into()),
        Type::FLOAT4 => Cell::Float(f32::from_be_bytes(array(bytes).ok_or_else(malformed)?).into()),
        Type::FLOAT8 => Cell::Float(f64::from_be_bytes(array(bytes).ok_or_else(malformed)?)),
        // A `timestamp` without time zone is read as UTC, as in all other systems.
        Type::TIMESTAMPTZ | Type::TIMESTAMP => {
            let since_2000 = array(bytes).map(i64::from_be_bytes).ok_or_else(malformed)?;
            let finite = (since_2000 != i64::MIN).then_some(since_2000);
            let since_1970 = finite.and_then(|since_2000| since_2000.checked_add(MICROSECONDS_TO_2000));
            Cell::Int(since_1970.ok_or_else(|| beyond(column))?)
        }
        Type::DATE => {
            let since_2000 = array(bytes).map(i32::from_be_bytes).ok_or_else(malformed)?;
            let finite = (since_2000 != i32::MIN).then_some(i64::from(since_2000));
            let since_1970 = finite.and_then(|since_2000| instant::of_days(since_2000 + DAYS_TO_2000));
            Cell::Int(since_1970.ok_or_else(|| beyond(column))?)
        }
        Type::NUMERIC => numeric(bytes).ok_or_else(|| {
            DriverError::Unsupported(format!(
                "a number of column `{column}` is outside 64 bits with a sign: cast it to text or double precision"
            ))
        })?,
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::JSON => {
            text(bytes, column)?
        }
        // The first byte is the version of the format, which has always been 1.
        Type::JSONB => match bytes {
            [1, rest @ ..] => text(rest, column)?,
            _ => return Err(malformed()),
        },
        _ => {
            return Err(DriverError::Unsupported(format!(
                "column `{column}` is of type {kind}: cast it to text"
            )));
        }
    })
}

/// Error for a time that is infinite or does not fit into 64 bits of microseconds.
pub(super) fn beyond(column: &str) -> DriverError {
    DriverError::Unsupported(format!("a time of column `{column}` is beyond all times: cast it to text"))
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn text<'a>(bytes: &'a [u8], column: &str) -> Result<Cell<'a>> {
    std::str::from_utf8(bytes)
        .map(Cell::Text)
        .map_err(|error| DriverError::Protocol(format!("a text of column `{column}` is not UTF-8 ({error})")))
}

/// Decodes a `numeric` as `numeric_send` writes it: number of digits, weight of the first digit, sign,
/// display scale, then digits in base 10,000. Integral values become integers. `None` if one does not fit
/// into 64 bits.
fn numeric(bytes: &[u8]) -> Option<Cell<'static>> {
    const NEGATIVE: u16 = 0x4000;
    let mut words = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let (count, weight, sign, _scale) = (words.next()?, words.next()?, words.next()?, words.next()?);
    match sign {
        0 | NEGATIVE => {}
        0xC000 => return Some(Cell::Float(f64::NAN)),
        0xD000 => return Some(Cell::Float(f64::INFINITY)),
        0xF000 => return Some(Cell::Float(f64::NEG_INFINITY)),
        _ => return None,
    }
    // The 16 bits are a signed number.
    let weight = i32::from(weight.cast_signed());
    let digits: Vec<u16> = words.take(usize::from(count)).collect();
    let last = weight - i32::from(count) + 1;
    let minus = if sign == NEGATIVE { "-" } else { "" };
    let mut value: i128 = 0;
    for digit in &digits {
        let Some(next) = value.checked_mul(10_000).and_then(|value| value.checked_add(i128::from(*digit)))
        else {
            return approximate(minus, &digits, last);
        };
        value = next;
    }
    let value = if sign == NEGATIVE { -value } else { value };
    if value == 0 {
        return Some(Cell::Int(0));
    }
    if last >= 0 {
        let power = 10_000_i128.checked_pow(last.unsigned_abs())?;
        return decimal(value.checked_mul(power)?, 0);
    }
    decimal(value, last.unsigned_abs() * 4)
}

/// Converts a number with more digits than 128 bits hold to the nearest double. `None` if it is an integer.
fn approximate(minus: &str, digits: &[u16], last: i32) -> Option<Cell<'static>> {
    if last >= 0 {
        return None;
    }
    let text: String = digits.iter().map(|digit| format!("{digit:04}")).collect();
    format!("{minus}{text}e{}", last * 4).parse().ok().map(Cell::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn whole_numbers_are_integers_and_others_the_nearest_doubles() {
        let case = |words: &[u16]| numeric(&sent(words));
        assert_eq!(case(&[0, 0, 0, 0]), Some(Cell::Int(0)));
        assert_eq!(case(&[1, 1, 0, 0, 12]), Some(Cell::Int(120_000)));
        assert_eq!(case(&[2, 1, 0x4000, 0, 1, 2345]), Some(Cell::Int(-12_345)));
        assert_eq!(case(&[2, 0, 0, 2, 1, 2500]), Some(Cell::Float(1.25)));
        assert_eq!(case(&[1, 0xFFFF, 0x4000, 1, 1000]), Some(Cell::Float(-0.1)));
        assert_eq!(case(&[5, 4, 0, 0, 922, 3372, 368, 5477, 5807]), Some(Cell::Int(i64::MAX)));
        assert_eq!(case(&[5, 4, 0, 0, 922, 3372, 368, 5477, 5808]), None);
        assert_eq!(case(&[1, 100, 0, 0, 1]), None);
        assert!(matches!(case(&[0, 0, 0xC000, 0]), Some(Cell::Float(nan)) if nan.is_nan()));
        let long = [&[12_u16, 0, 0, 44, 3][..], &[1415; 11]].concat();
        assert_eq!(case(&long), Some(Cell::Float(3.141_514_151_415_141_5)));
    }

    #[test]
    fn instants_of_all_types_are_microseconds_since_1970() {
        // 2026-01-02T03:04:05.678901Z.
        let since_2000 = 820_638_245_678_901_i64.to_be_bytes();
        for kind in [Type::TIMESTAMPTZ, Type::TIMESTAMP] {
            assert_eq!(cell(&kind, &since_2000, "at").unwrap(), Cell::Int(1_767_323_045_678_901), "{kind}");
            for infinity in [i64::MAX, i64::MIN] {
                assert!(cell(&kind, &infinity.to_be_bytes(), "at").is_err(), "{kind} {infinity}");
            }
        }
        let day = 9_498_i32.to_be_bytes();
        assert_eq!(cell(&Type::DATE, &day, "at").unwrap(), Cell::Int(1_767_312_000_000_000));
        for infinity in [i32::MAX, i32::MIN] {
            assert!(cell(&Type::DATE, &infinity.to_be_bytes(), "at").is_err(), "{infinity}");
        }
    }

    #[test]
    fn what_has_no_place_in_an_answer_is_refused_with_advice() {
        let error = cell(&Type::INTERVAL, &[0; 16], "at").unwrap_err().to_string();
        assert!(error.contains("`at`") && error.contains("cast it to text"), "{error}");
        assert!(cell(&Type::INT8, &[0; 4], "n").is_err());
        assert_eq!(cell(&Type::JSONB, b"\x01{}", "doc").unwrap(), Cell::Text("{}"));
    }
}
