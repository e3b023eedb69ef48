//! Encoding of statements and their parameters.

use std::io::Write;

use jsonathlon_driver_api::driver::Result;
use jsonathlon_driver_api::prepared::{Parameter, check_parameter_count};

use super::packet::{QUERY, close, open, text};

const EXECUTE: u8 = 0x17;
const TINY: u8 = 1;
const DOUBLE: u8 = 5;
const NULL: u8 = 6;
const LONGLONG: u8 = 8;
const TEXT: u8 = 253;

/// Statement that is executed many times.
#[derive(Debug)]
pub(super) enum Statement {
    /// Statement prepared by the server: its id, and the number of its parameters.
    Prepared(u32, usize),
    /// Statement sent as text: the parts between its parameters.
    Text(Vec<String>),
}

impl Statement {
    /// Creates a statement that is sent as text each time.
    pub(super) fn from_text(statement: &str) -> Self {
        Self::Text(split_at_parameters(statement))
    }

    /// Returns `true` if the statement's answers are in the binary protocol.
    pub(super) fn is_binary(&self) -> bool {
        matches!(self, Self::Prepared(..))
    }

    /// Replaces the content of `out` with one execution.
    pub(super) fn execution(&self, parameters: &[Parameter<'_>], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let start = open(0, out);
        match self {
            Self::Prepared(number, count) => {
                check_parameter_count(*count, parameters)?;
                out.push(EXECUTE);
                out.extend_from_slice(&number.to_le_bytes());
                // No cursor, and an iteration count of 1.
                out.extend_from_slice(&[0, 1, 0, 0, 0]);
                if !parameters.is_empty() {
                    append_values(parameters, out);
                }
            }
            Self::Text(parts) => {
                check_parameter_count(parts.len() - 1, parameters)?;
                out.push(QUERY);
                for (index, part) in parts.iter().enumerate() {
                    let parameter = index.checked_sub(1).and_then(|previous| parameters.get(previous));
                    if let Some(parameter) = parameter {
                        append_literal(parameter, out);
                    }
                    out.extend_from_slice(part.as_bytes());
                }
            }
        }
        close(start, out);
        Ok(())
    }
}

/// Appends the NULL bitmap, the types and the values of parameters.
fn append_values(parameters: &[Parameter<'_>], out: &mut Vec<u8>) {
    let bitmap_start = out.len();
    out.resize(bitmap_start + parameters.len().div_ceil(8), 0);
    // Flag: the types follow.
    out.push(1);
    for (index, parameter) in parameters.iter().enumerate() {
        let kind = match parameter {
            Parameter::Null => {
                out[bitmap_start + index / 8] |= 1 << (index % 8);
                NULL
            }
            Parameter::Bool(_) => TINY,
            Parameter::Int(_) => LONGLONG,
            Parameter::Float(_) => DOUBLE,
            Parameter::Text(_) | Parameter::Json(_) => TEXT,
        };
        out.extend_from_slice(&[kind, 0]);
    }
    for parameter in parameters {
        match *parameter {
            Parameter::Null => {}
            Parameter::Bool(truth) => out.push(u8::from(truth)),
            Parameter::Int(number) => out.extend_from_slice(&number.to_le_bytes()),
            Parameter::Float(number) => out.extend_from_slice(&number.to_le_bytes()),
            Parameter::Text(value) | Parameter::Json(value) => text(value.as_bytes(), out),
        }
    }
}

/// Appends a value as an SQL literal. Backslashes escape in every session.
fn append_literal(parameter: &Parameter<'_>, out: &mut Vec<u8>) {
    let result = match *parameter {
        Parameter::Null => out.write_all(b"NULL"),
        Parameter::Bool(truth) => out.write_all(if truth { b"1" } else { b"0" }),
        Parameter::Int(number) => write!(out, "{number}"),
        Parameter::Float(number) => write!(out, "{number:e}"),
        Parameter::Text(text) | Parameter::Json(text) => {
            out.push(b'\'');
            let mut rest = text.as_bytes();
            while let Some(position) = memchr::memchr3(b'\'', b'\\', 0, rest) {
                out.extend_from_slice(&rest[..position]);
                out.extend_from_slice(match rest[position] {
                    0 => b"\\0",
                    b'\'' => b"\\'",
                    _ => b"\\\\",
                });
                rest = &rest[position + 1..];
            }
            out.extend_from_slice(rest);
            out.push(b'\'');
            Ok(())
        }
    };
    // Writing to a `Vec` cannot fail.
    result.ok();
}

/// Splits a statement at its parameters: question marks outside of strings, quoted names and comments.
fn split_at_parameters(statement: &str) -> Vec<String> {
    let bytes = statement.as_bytes();
    let (mut parts, mut start, mut position) = (Vec::new(), 0, 0);
    let end_after = |begin: usize, terminator: &str| {
        statement
            .get(begin..)
            .and_then(|rest| rest.find(terminator))
            .map_or(bytes.len(), |offset| begin + offset + terminator.len())
    };
    while position < bytes.len() {
        position = match bytes[position] {
            b'?' => {
                parts.push(statement[start..position].to_owned());
                start = position + 1;
                position + 1
            }
            quote @ (b'\'' | b'"' | b'`') => {
                let mut end = position + 1;
                while end < bytes.len() && bytes[end] != quote {
                    end += if bytes[end] == b'\\' && quote != b'`' { 2 } else { 1 };
                }
                end + 1
            }
            b'#' => end_after(position, "\n"),
            b'-' if bytes[position..].starts_with(b"-- ") => end_after(position, "\n"),
            b'/' if bytes[position..].starts_with(b"/*") => end_after(position + 2, "*/"),
            _ => position + 1,
        };
    }
    parts.push(statement[start..].to_owned());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_marks_are_parameters_where_they_are_nothing_else() {
        assert_eq!(
            split_at_parameters("SELECT ?, '?', \"?\", `?`, 'a\\'?' /* ? */ -- ?\n, ? # ?"),
            ["SELECT ", ", '?', \"?\", `?`, 'a\\'?' /* ? */ -- ?\n, ", " # ?"]
        );
        assert_eq!(split_at_parameters("SELECT 'é', 1"), ["SELECT 'é', 1"]);
        assert_eq!(split_at_parameters("'"), ["'"]);
    }

    #[test]
    fn values_are_escaped_in_a_text() {
        let mut out = Vec::new();
        let statement = Statement::from_text("SELECT ?, ?, ?, ?");
        let values =
            [Parameter::Text("a'b\\c\0d"), Parameter::Null, Parameter::Int(-1), Parameter::Float(0.5)];
        statement.execution(&values, &mut out).unwrap();
        assert_eq!(&out[5..], b"SELECT 'a\\'b\\\\c\\0d', NULL, -1, 5e-1");
        assert!(statement.execution(&values[1..], &mut out).is_err());
    }

    #[test]
    fn an_execution_is_one_packet() {
        let mut out = Vec::new();
        let values = [Parameter::Text("ab"), Parameter::Null, Parameter::Int(7)];
        Statement::Prepared(3, 3).execution(&values, &mut out).unwrap();
        let head = [29, 0, 0, 0, 0x17, 3, 0, 0, 0, 0, 1, 0, 0, 0];
        let rest = [2, 1, 253, 0, 6, 0, 8, 0, 2, b'a', b'b', 7, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(out, [head.as_slice(), &rest].concat());
    }
}
