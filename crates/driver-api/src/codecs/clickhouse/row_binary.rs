//! Decoder for ClickHouse's `RowBinaryWithNamesAndTypes`, in which every cell is typed, exact and free of
//! escapes.
//!
//! <https://clickhouse.com/docs/interfaces/formats/RowBinaryWithNamesAndTypes>

use jsonathlon_schema::instant;

use crate::codecs::decimal::decimal;
use crate::driver::{DriverError, Result};
use crate::rows::{Cell, RowSink};

/// Binary encoding of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ColumnType {
    is_nullable: bool,
    storage: Storage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Storage {
    Bool,
    /// Integer: width in bytes, and whether it has a sign.
    Integer(usize, bool),
    Float32,
    Float64,
    /// Decimal: width in bytes, and number of fractional digits.
    Decimal(usize, u32),
    Text,
    FixedText(usize),
    /// Days since 1970: width in bytes, and whether they have a sign.
    Date(usize, bool),
    /// Ticks since 1970: width in bytes, whether they have a sign, and decimal digits of a second (0 for
    /// seconds).
    Timestamp(usize, bool, u32),
    /// Type of a column that holds only NULL.
    Nothing,
}

/// Decodes an answer and passes its columns and rows to `sink`. Empty input is an answer without columns.
///
/// # Errors
/// [`DriverError::Protocol`] if the bytes do not have this format, [`DriverError::Unsupported`] if a type or
/// value cannot be represented in a cell, and errors that `sink` returns.
pub fn decode(bytes: &[u8], sink: &mut dyn RowSink) -> Result<()> {
    let mut input = Input { bytes };
    if bytes.is_empty() {
        return sink.columns(&[]);
    }
    // A name takes at least one byte. A larger count is not a valid header, and allocating for it could
    // exhaust memory.
    let count = usize::try_from(input.varint()?).unwrap_or(usize::MAX);
    if count == 0 || count > input.bytes.len() {
        return Err(truncated());
    }
    let names: Vec<&str> = (0..count).map(|_| input.text("the header")).collect::<Result<_>>()?;
    let mut types = Vec::with_capacity(count);
    for name in &names {
        let text = input.text("the header")?;
        types.push(parse_type(text).ok_or_else(|| {
            DriverError::Unsupported(format!(
                "column `{name}` is of type {text}: cast it to String, or to a number of at most 64 bits"
            ))
        })?);
    }
    sink.columns(&names)?;
    while !input.bytes.is_empty() {
        let mut row = Vec::with_capacity(count);
        for (column, kind) in types.iter().enumerate() {
            row.push(input.cell(*kind, names[column])?);
        }
        sink.row(&row)?;
    }
    Ok(())
}

/// Parses the name of a type. `None` if its cells cannot be represented in an answer.
fn parse_type(text: &str) -> Option<ColumnType> {
    let text = text.trim();
    if let Some(inner) = argument_of(text, "LowCardinality") {
        return parse_type(inner);
    }
    if let Some(inner) = argument_of(text, "Nullable") {
        return parse_type(inner).map(|kind| ColumnType { is_nullable: true, ..kind });
    }
    let storage = match text {
        "Bool" => Storage::Bool,
        "Int8" => Storage::Integer(1, true),
        "Int16" => Storage::Integer(2, true),
        "Int32" => Storage::Integer(4, true),
        "Int64" => Storage::Integer(8, true),
        "Int128" => Storage::Integer(16, true),
        "UInt8" => Storage::Integer(1, false),
        "UInt16" => Storage::Integer(2, false),
        "UInt32" => Storage::Integer(4, false),
        "UInt64" => Storage::Integer(8, false),
        "UInt128" => Storage::Integer(16, false),
        "Float32" => Storage::Float32,
        "Float64" => Storage::Float64,
        "String" => Storage::Text,
        "Nothing" => Storage::Nothing,
        "Date" => Storage::Date(2, false),
        "Date32" => Storage::Date(4, true),
        "DateTime" => Storage::Timestamp(4, false, 0),
        // The argument is the time zone for display, which does not change the stored value.
        _ if argument_of(text, "DateTime").is_some() => Storage::Timestamp(4, false, 0),
        _ => {
            if let Some(length) = argument_of(text, "FixedString") {
                // ClickHouse has no FixedString(0). Accepting it would make rows of no bytes, and decoding
                // would never end.
                Storage::FixedText(length.parse().ok().filter(|length| *length > 0)?)
            } else if let Some(arguments) = argument_of(text, "DateTime64") {
                let digits = arguments.split(',').next()?.trim().parse().ok()?;
                Storage::Timestamp(8, true, digits)
            } else {
                let (precision, scale) = argument_of(text, "Decimal")?.split_once(',')?;
                let bytes = match precision.trim().parse::<u32>().ok()? {
                    0..=9 => 4,
                    10..=18 => 8,
                    19..=38 => 16,
                    _ => return None,
                };
                Storage::Decimal(bytes, scale.trim().parse().ok()?)
            }
        }
    };
    Some(ColumnType { is_nullable: false, storage })
}

fn argument_of<'a>(text: &'a str, function: &str) -> Option<&'a str> {
    text.strip_prefix(function)?.strip_prefix('(')?.strip_suffix(')')
}

fn truncated() -> DriverError {
    DriverError::Protocol(
        "a binary answer that ends within a cell; has the statement a FORMAT of its own?".into(),
    )
}

struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.bytes.split_at_checked(length).ok_or_else(truncated)?;
        self.bytes = rest;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.bytes.split_first_chunk().ok_or_else(truncated)?;
        self.bytes = rest;
        Ok(*bytes)
    }

    /// Reads an unsigned LEB128 number.
    fn varint(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(truncated())
    }

    fn text(&mut self, column: &str) -> Result<&'a str> {
        let length = usize::try_from(self.varint()?).map_err(|_| truncated())?;
        to_text(self.take(length)?, column)
    }

    /// Reads a little-endian integer of 1 to 16 bytes. `None` if it does not fit into an i128.
    fn integer(&mut self, length: usize, signed: bool) -> Result<Option<i128>> {
        let bytes = self.take(length)?;
        let is_negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut buffer = [if is_negative { 0xff } else { 0 }; 16];
        buffer[..length].copy_from_slice(bytes);
        if !signed && length == 16 {
            return Ok(i128::try_from(u128::from_le_bytes(buffer)).ok());
        }
        Ok(Some(i128::from_le_bytes(buffer)))
    }

    fn cell(&mut self, kind: ColumnType, column: &str) -> Result<Cell<'a>> {
        if kind.is_nullable && self.byte()? != 0 {
            return Ok(Cell::Null);
        }
        Ok(match kind.storage {
            Storage::Bool => Cell::Bool(self.byte()? != 0),
            Storage::Integer(8, true) => Cell::Int(i64::from_le_bytes(self.array()?)),
            Storage::Integer(length, signed) => self
                .integer(length, signed)?
                .and_then(|number| i64::try_from(number).ok())
                .map(Cell::Int)
                .ok_or_else(|| too_wide(column))?,
            Storage::Float32 => Cell::Float(f64::from(f32::from_le_bytes(self.array()?))),
            Storage::Float64 => Cell::Float(f64::from_le_bytes(self.array()?)),
            Storage::Decimal(length, scale) => {
                let unscaled = self.integer(length, true)?;
                unscaled.and_then(|unscaled| decimal(unscaled, scale)).ok_or_else(|| too_wide(column))?
            }
            Storage::Text => Cell::Text(self.text(column)?),
            Storage::FixedText(length) => Cell::Text(to_text(self.take(length)?, column)?),
            Storage::Date(length, signed) => {
                let days = self.integer(length, signed)?.and_then(|days| i64::try_from(days).ok());
                days.and_then(instant::from_days).map(Cell::Int).ok_or_else(|| too_wide(column))?
            }
            Storage::Timestamp(length, signed, digits) => {
                let ticks = self.integer(length, signed)?.and_then(|ticks| i64::try_from(ticks).ok());
                let microseconds = ticks.and_then(|ticks| instant::from_ticks(ticks, digits));
                microseconds.map(Cell::Int).ok_or_else(|| too_wide(column))?
            }
            Storage::Nothing => return Err(truncated()),
        })
    }
}

fn to_text<'a>(bytes: &'a [u8], column: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        DriverError::Unsupported(format!(
            "a text of column `{column}` is not UTF-8 ({error}): ask for it in hex"
        ))
    })
}

fn too_wide(column: &str) -> DriverError {
    DriverError::Unsupported(format!(
        "a number of column `{column}` is outside 64 bits with a sign: cast it to String"
    ))
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::value::{Row, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::rows::ResultSet;

    fn decode(bytes: &[u8]) -> Result<(Vec<String>, Vec<Row>)> {
        let mut outcome = ResultSet::default();
        super::decode(bytes, &mut outcome)?;
        Ok((outcome.columns, outcome.rows))
    }

    fn header(columns: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(columns.len()).unwrap()];
        for text in columns.iter().map(|column| column.0).chain(columns.iter().map(|column| column.1)) {
            bytes.push(u8::try_from(text.len()).unwrap());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }

    #[test]
    fn every_type_is_read_by_its_width() {
        let mut bytes = header(&[
            ("b", "Bool"),
            ("i", "Int64"),
            ("u", "UInt16"),
            ("n", "Nullable(Int32)"),
            ("f", "Float64"),
            ("t", "LowCardinality(Nullable(String))"),
            ("d", "Decimal(9, 2)"),
            ("x", "FixedString(3)"),
            ("h", "Int128"),
        ]);
        bytes.push(1);
        bytes.extend_from_slice(&i64::MIN.to_le_bytes());
        bytes.extend_from_slice(&65535u16.to_le_bytes());
        bytes.push(1);
        bytes.extend_from_slice(&f64::NEG_INFINITY.to_le_bytes());
        bytes.extend_from_slice(b"\x00\x03a\0b");
        bytes.extend_from_slice(&(-125i32).to_le_bytes());
        bytes.extend_from_slice(b"xyz");
        bytes.extend_from_slice(&(-7i128).to_le_bytes());
        let (names, rows) = decode(&bytes).unwrap();
        assert_eq!(names.len(), 9);
        let expected = vec![
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Int(65535),
            Value::Null,
            Value::Float(f64::NEG_INFINITY),
            Value::Text("a\0b".into()),
            Value::Float(-1.25),
            Value::Text("xyz".into()),
            Value::Int(-7),
        ];
        assert_eq!(rows, vec![expected]);
    }

    #[test]
    fn instants_of_all_types_are_microseconds_since_1970() {
        const INSTANT: i64 = 1_767_323_045_678_901;
        let seconds = INSTANT / 1_000_000;
        let (whole_seconds, milliseconds) = (seconds * 1_000_000, INSTANT / 1_000 * 1_000);
        let second_bytes = u32::try_from(seconds).unwrap().to_le_bytes();
        let day = 1_767_312_000_000_000;
        let cases: [(&str, &[u8], i64); 8] = [
            ("Date", &20_455_u16.to_le_bytes(), day),
            ("Date32", &20_455_i32.to_le_bytes(), day),
            ("DateTime", &second_bytes, whole_seconds),
            ("DateTime('Asia/Kolkata')", &second_bytes, whole_seconds),
            ("DateTime64(3)", &(INSTANT / 1_000).to_le_bytes(), milliseconds),
            ("DateTime64(6, 'UTC')", &INSTANT.to_le_bytes(), INSTANT),
            ("DateTime64(9, 'UTC')", &(INSTANT * 1_000 + 999).to_le_bytes(), INSTANT),
            ("Date32", &(-1_i32).to_le_bytes(), -86_400_000_000),
        ];
        for (kind, cell, expected) in cases {
            let bytes = [header(&[("c", kind)]), cell.to_vec()].concat();
            assert_eq!(decode(&bytes).unwrap().1, [[Value::Int(expected)]], "{kind}");
        }
    }

    #[test]
    fn what_has_no_place_in_an_answer_is_refused_with_advice() {
        for kind in [
            "Time",
            "IntervalSecond",
            "Array(String)",
            "Tuple(a Int8)",
            "JSON",
            "Dynamic",
            "Enum8('a' = 1)",
            "UInt256",
        ] {
            let Err(DriverError::Unsupported(text)) = decode(&header(&[("c", kind)])) else {
                panic!("{kind} was read")
            };
            assert!(
                text.contains("`c`") && text.contains(kind) && text.contains("cast it to String"),
                "{text}"
            );
        }
    }

    #[test]
    fn numbers_outside_64_bits_and_bytes_that_are_no_text_are_refused() {
        let mut wide = header(&[("c", "UInt64")]);
        wide.extend_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(decode(&wide), Err(DriverError::Unsupported(text)) if text.contains("64 bits")));
        let mut text = header(&[("c", "String")]);
        text.extend_from_slice(b"\x01\xff");
        assert!(matches!(decode(&text), Err(DriverError::Unsupported(text)) if text.contains("UTF-8")));
    }

    #[test]
    fn an_answer_of_no_bytes_has_no_columns() {
        assert_eq!(decode(&[]).unwrap(), (vec![], vec![]));
    }

    proptest! {
        #[test]
        fn rubbish_is_an_error_and_never_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            // Errors are allowed here; only panics and endless loops fail the test.
            decode(&bytes).ok();
        }

        #[test]
        fn integers_and_texts_come_back(rows in proptest::collection::vec((any::<i64>(), any::<Option<String>>()), 0..50)) {
            let mut bytes = header(&[("i", "Int64"), ("t", "Nullable(String)")]);
            for (number, text) in &rows {
                bytes.extend_from_slice(&number.to_le_bytes());
                bytes.push(u8::from(text.is_none()));
                if let Some(text) = text {
                    let mut length = text.len();
                    while length >= 0x80 {
                        bytes.push((length & 0x7f) as u8 | 0x80);
                        length >>= 7;
                    }
                    bytes.push(length as u8);
                    bytes.extend_from_slice(text.as_bytes());
                }
            }
            let expected: Vec<Row> = rows.into_iter()
                .map(|(number, text)| vec![Value::Int(number), text.map_or(Value::Null, Value::Text)])
                .collect();
            prop_assert_eq!(decode(&bytes).unwrap().1, expected);
        }
    }
}
