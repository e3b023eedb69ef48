//! Columns of answers, and decoding of their values from the protocol's text format.

use jsonathlon_driver_api::codecs::decimal::fixed_point;
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::nonblocking::with_inline;
use jsonathlon_driver_api::rows::{Cell, RowSink};
use jsonathlon_schema::instant;

use super::wire::message::{Reader, malformed, utf8};

/// Columns of a statement, cached from its latest answer.
#[derive(Debug, Default)]
pub(super) struct Columns {
    description: Vec<u8>,
    list: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    name: String,
    kind: Kind,
}

/// Type to which the text of a column is converted.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    Int,
    Float,
    Decimal,
    /// Date or timestamp, with or without time zone; without one it is read as UTC, as in all other systems.
    Time,
    Text,
    /// Type without a place in an answer, by its object identifier.
    Other(u32),
}

impl Kind {
    /// Returns the kind of a built-in type. Identifiers are those of the server's `pg_type.dat`. A domain is
    /// described as its base type.
    fn of(oid: u32) -> Self {
        match oid {
            16 => Self::Bool,
            20 | 21 | 23 | 26 => Self::Int,
            700 | 701 => Self::Float,
            1082 | 1114 | 1184 => Self::Time,
            1700 => Self::Decimal,
            // char, name, text, json, unknown, bpchar, varchar, uuid, jsonb; void is an empty text.
            18 | 19 | 25 | 114 | 705 | 1042 | 1043 | 2278 | 2950 | 3802 => Self::Text,
            other => Self::Other(other),
        }
    }
}

/// Returns the SQL name of a type that has no place in an answer.
fn type_name(oid: u32) -> String {
    let name = match oid {
        17 => "bytea",
        790 => "money",
        1083 => "time",
        1186 => "interval",
        1266 => "timetz",
        2249 => "record",
        other => return format!("number {other} of pg_type"),
    };
    name.to_owned()
}

impl Columns {
    /// Decodes a row description, unless it equals the cached one, and passes the names to `sink`.
    pub(super) fn describe(&mut self, body: &[u8], sink: &mut dyn RowSink) -> Result<()> {
        if self.description != body {
            self.decode(body)?;
        }
        let list = &self.list;
        with_inline(list.len(), "", |index| Ok(list[index].name.as_str()), |names| sink.columns(names))
    }

    fn decode(&mut self, body: &[u8]) -> Result<()> {
        self.description.clear();
        self.list.clear();
        let mut reader = Reader(body);
        for _ in 0..reader.u16()? {
            let name = reader.text()?.to_owned();
            // Table and column number of the origin.
            reader.bytes(6)?;
            let kind = Kind::of(reader.u32()?);
            // Length and modifier of the type, and format code.
            reader.bytes(8)?;
            self.list.push(Column { name, kind });
        }
        self.description.extend_from_slice(body);
        Ok(())
    }

    /// Passes a row to `sink`.
    pub(super) fn row(&self, body: &[u8], sink: &mut dyn RowSink) -> Result<()> {
        let mut reader = Reader(body);
        let count = reader.u16()?;
        if count != self.list.len() {
            return Err(malformed());
        }
        let cell = |index: usize| match reader.column()? {
            Some(bytes) => self.list[index].cell(bytes),
            None => Ok(Cell::Null),
        };
        with_inline(count, Cell::Null, cell, |cells| sink.row(cells))
    }
}

impl Column {
    fn cell<'a>(&self, bytes: &'a [u8]) -> Result<Cell<'a>> {
        let Self { name, kind } = self;
        let text = utf8(bytes)?;
        let cell = match kind {
            Kind::Text => return Ok(Cell::Text(text)),
            Kind::Bool => Some(Cell::Bool(text == "t")),
            Kind::Time => {
                return instant::from_text(text).map(Cell::Int).ok_or_else(|| {
                    let problem = format!("column `{name}` holds the time {text}, which is on no calendar");
                    DriverError::Unsupported(format!("{problem}: cast it to text"))
                });
            }
            Kind::Int => text.parse().ok().map(Cell::Int),
            Kind::Float => text.parse().ok().map(Cell::Float),
            Kind::Decimal => numeric(text),
            Kind::Other(oid) => {
                return Err(DriverError::Unsupported(format!(
                    "column `{name}` is of type {}: cast it to text",
                    type_name(*oid)
                )));
            }
        };
        cell.ok_or_else(|| {
            DriverError::Unsupported(format!(
                "column `{name}` holds {text}, which is outside 64 bits with a sign: cast it to text or double precision"
            ))
        })
    }
}

/// Converts a `numeric`, which may also be no number or infinite.
fn numeric(text: &str) -> Option<Cell<'static>> {
    match text {
        "NaN" | "Infinity" | "-Infinity" => text.parse().ok().map(Cell::Float),
        finite => fixed_point(finite),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(oid: u32, text: &str) -> Result<Cell<'_>> {
        Column { name: "c".to_owned(), kind: Kind::of(oid) }.cell(text.as_bytes())
    }

    #[test]
    fn instants_of_all_types_are_microseconds_since_1970() {
        for (oid, text) in [(1114, "2026-01-02 03:04:05.678901"), (1184, "2026-01-02 05:34:05.678901+02:30")]
        {
            assert_eq!(cell(oid, text).unwrap(), Cell::Int(1_767_323_045_678_901), "{text}");
        }
        assert_eq!(cell(1082, "2026-01-02").unwrap(), Cell::Int(1_767_312_000_000_000));
        for text in ["infinity", "-infinity", "0044-03-15 BC"] {
            assert!(cell(1082, text).unwrap_err().to_string().contains("cast it to text"), "{text}");
        }
    }

    #[test]
    fn numbers_come_with_every_digit_or_are_refused_with_advice() {
        assert_eq!(cell(20, "-9223372036854775808").unwrap(), Cell::Int(i64::MIN));
        assert_eq!(cell(1700, "9223372036854775807").unwrap(), Cell::Int(i64::MAX));
        assert_eq!(cell(1700, "2.00").unwrap(), Cell::Int(2));
        assert_eq!(cell(1700, "-0.001").unwrap(), Cell::Float(-0.001));
        assert_eq!(cell(1700, "-Infinity").unwrap(), Cell::Float(f64::NEG_INFINITY));
        assert!(matches!(cell(1700, "NaN").unwrap(), Cell::Float(number) if number.is_nan()));
        assert!(cell(1700, "9223372036854775808").unwrap_err().to_string().contains("64 bits"));
        assert_eq!(cell(701, "5e-324").unwrap(), Cell::Float(5e-324));
        assert!(matches!(cell(701, "-0").unwrap(), Cell::Float(zero) if zero.is_sign_negative()));
    }

    #[test]
    fn what_has_no_place_in_an_answer_is_refused_with_advice() {
        for (oid, name) in [(1186, "interval"), (1083, "time"), (1007, "number 1007 of pg_type")] {
            let error = cell(oid, "x").unwrap_err().to_string();
            assert!(error.contains(&format!("`c` is of type {name}: cast it to text")), "{error}");
        }
        assert_eq!(cell(3802, "{}").unwrap(), Cell::Text("{}"));
    }
}
