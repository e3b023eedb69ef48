//! Nonblocking PostgreSQL connection. One execution is one write and, as a rule, one read, and allocates no
//! memory.
//!
//! Values are sent and received as text. Columns of the types that JSON has, and dates and timestamps, become
//! typed cells; all others are texts.

use std::os::fd::{AsFd, BorrowedFd};

use jsonathlon_driver_api::driver::{DriverError, Result, SessionOptions};
use jsonathlon_driver_api::endpoint::Endpoint;
use jsonathlon_driver_api::nonblocking::{NonblockingConnection, no_request_pending, with_inline};
use jsonathlon_driver_api::prepared::{Parameter, PreparedStatement, StatementTable, check_parameter_count};
use jsonathlon_driver_api::rows::{Cell, RowSink, StatementStats};
use jsonathlon_schema::instant;

use super::wire::message::{self, Bind, Reader, malformed, utf8};
use super::wire::{Wire, startup};

/// Connection of one client over this crate's own implementation of the protocol, without TLS.
pub struct PostgresNonblocking {
    wire: Wire,
    outbox: Vec<u8>,
    /// Whether statements are prepared on the server; otherwise each execution parses its text anew.
    prepare: bool,
    statements: StatementTable<Statement>,
    /// Number of statement names used so far.
    names: u64,
    /// Statement whose answer is pending. `None` if nothing was sent.
    current: Option<PreparedStatement>,
}

/// Statement in its encoded form, with the columns of its answer.
struct Statement {
    bind: Bind,
    /// Number of parameters. `None` if the statement is not prepared, so that only the server knows it.
    parameters: Option<usize>,
    columns: Columns,
}

/// Columns of a statement, cached from its latest answer.
#[derive(Debug, Default)]
struct Columns {
    description: Vec<u8>,
    all: Vec<(String, Kind)>,
}

/// Type to which the text of a column is converted.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    Int,
    Float,
    Decimal,
    /// Date or timestamp, with or without time zone.
    Time,
    Text,
}

impl PostgresNonblocking {
    /// Logs in to the server of `open` and executes its statements. `None` if that requires what this client
    /// lacks: TLS, or an old authentication method.
    ///
    /// # Errors
    /// As for opening a connection, and the server's error for a statement.
    pub fn open(open: &SessionOptions, prepare: bool) -> Result<Option<Self>> {
        let Some(wire) = Wire::open(&Endpoint::of(open)?, &open.statements)? else { return Ok(None) };
        let (outbox, statements) = (Vec::new(), StatementTable::default());
        Ok(Some(Self { wire, outbox, prepare, statements, names: 0, current: None }))
    }
}

impl NonblockingConnection for PostgresNonblocking {
    fn prepare(&mut self, text: &str) -> Result<PreparedStatement> {
        let (bind, parameters) = if self.prepare {
            self.names += 1;
            let name = format!("s{}", self.names);
            let count = self.wire.ask(&startup::prepare(&name, text), startup::parameters)?;
            (Bind::new(&name, Vec::new()), Some(count))
        } else {
            let mut parse = Vec::new();
            message::parse("", text, &mut parse);
            (Bind::new("", parse), None)
        };
        Ok(self.statements.insert(Statement { bind, parameters, columns: Columns::default() }))
    }

    fn send(&mut self, prepared: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        let statement = self.statements.get(prepared)?;
        if let Some(count) = statement.parameters {
            check_parameter_count(count, parameters)?;
        }
        let mut request = std::mem::take(&mut self.outbox);
        let written = statement.bind.execution(parameters, &mut request);
        let sent = written.and_then(|()| self.wire.write(&request));
        self.outbox = request;
        self.current = Some(prepared.clone());
        sent
    }

    fn receive(&mut self, wait: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        if !self.wire.complete(wait)? {
            return Ok(None);
        }
        let report = match (self.wire.error(), self.current.take()) {
            (Some(error), _) => Err(error),
            (None, Some(current)) => {
                let statement = self.statements.get_mut(&current)?;
                answer(self.wire.answer(), &mut statement.columns, sink)
            }
            (None, None) => Err(no_request_pending()),
        };
        self.wire.forget();
        report.map(Some)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.wire.as_fd())
    }

    fn close(self: Box<Self>) {}
}

/// Passes the rows of an answer without error to `sink`.
fn answer(messages: &[u8], columns: &mut Columns, sink: &mut dyn RowSink) -> Result<StatementStats> {
    let (mut next, mut report) = (0, StatementStats::default());
    while let Some((kind, body, end)) = message::at(messages, next)? {
        match kind {
            b'D' => row(body, &columns.all, sink)?,
            b'T' => {
                columns.describe(body)?;
                with_inline(
                    columns.all.len(),
                    "",
                    |index| Ok(columns.all[index].0.as_str()),
                    |names| sink.columns(names),
                )?;
            }
            b'n' => sink.columns(&[])?,
            b'C' => report.affected = Some(count(body)),
            _ => {}
        }
        next = end;
    }
    Ok(report)
}

fn row(body: &[u8], columns: &[(String, Kind)], sink: &mut dyn RowSink) -> Result<()> {
    let mut reader = Reader(body);
    let count = reader.u16()?;
    if count != columns.len() {
        return Err(malformed());
    }
    let cell = |index: usize| match reader.column()? {
        Some(bytes) => cell(&columns[index], bytes),
        None => Ok(Cell::Null),
    };
    with_inline(count, Cell::Null, cell, |cells| sink.row(cells))
}

fn cell<'a>((name, kind): &(String, Kind), bytes: &'a [u8]) -> Result<Cell<'a>> {
    let text = utf8(bytes)?;
    let read = match kind {
        Kind::Text => return Ok(Cell::Text(text)),
        Kind::Bool => Some(Cell::Bool(text == "t")),
        Kind::Time => instant::of_text(text).map(Cell::Int),
        Kind::Int => text.parse().ok().map(Cell::Int),
        Kind::Float => text.parse().ok().map(Cell::Float),
        Kind::Decimal if text.contains('.') => text.parse().ok().map(Cell::Float),
        Kind::Decimal => text.parse().ok().map(Cell::Int),
    };
    read.ok_or_else(|| DriverError::Unsupported(format!("column `{name}` holds {text}: cast it to text")))
}

/// Returns the row count of a command tag such as `UPDATE 1` or `INSERT 0 1`, or 0 if the tag has none.
fn count(tag: &[u8]) -> u64 {
    let digits = tag.split(|byte| *byte == b' ').next_back().unwrap_or_default();
    digits
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

impl Columns {
    /// Decodes a row description, unless it equals the cached one.
    fn describe(&mut self, body: &[u8]) -> Result<()> {
        if self.description == body {
            return Ok(());
        }
        self.description.clear();
        self.all.clear();
        let mut reader = Reader(body);
        for _ in 0..reader.u16()? {
            let name = reader.text()?.to_owned();
            // Table and column number of the origin.
            reader.bytes(6)?;
            let kind = match reader.u32()? {
                16 => Kind::Bool,
                20 | 21 | 23 | 26 => Kind::Int,
                700 | 701 => Kind::Float,
                1082 | 1114 | 1184 => Kind::Time,
                1700 => Kind::Decimal,
                _ => Kind::Text,
            };
            // Length and modifier of the type, and format code.
            reader.bytes(8)?;
            self.all.push((name, kind));
        }
        self.description.extend_from_slice(body);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_is_one_piece_of_bytes() {
        let mut out = vec![1, 2, 3];
        let bind = Bind::new("s1", Vec::new());
        bind.execution(&[Parameter::Int(-7), Parameter::Null, Parameter::Text("é")], &mut out).unwrap();
        let expected = b"B\0\0\0\x1e\0s1\0\0\0\0\x03\0\0\0\x02-7\xff\xff\xff\xff\0\0\0\x02\xc3\xa9\0\0";
        assert_eq!(out, [expected.as_slice(), message::RUN].concat());
    }

    #[test]
    fn instants_of_all_types_are_microseconds_since_1970() {
        let time = ("at".to_owned(), Kind::Time);
        for text in ["2026-01-02 03:04:05.678901", "2026-01-02 05:34:05.678901+02:30"] {
            assert_eq!(cell(&time, text.as_bytes()).unwrap(), Cell::Int(1_767_323_045_678_901), "{text}");
        }
        assert_eq!(cell(&time, b"2026-01-02").unwrap(), Cell::Int(1_767_312_000_000_000));
        assert!(cell(&time, b"infinity").unwrap_err().to_string().contains("cast it to text"));
    }

    #[test]
    fn tags_are_counted() {
        for (tag, rows) in [("UPDATE 12\0", 12), ("INSERT 0 1\0", 1), ("BEGIN\0", 0), ("SELECT 3\0", 3)] {
            assert_eq!(count(tag.as_bytes()), rows, "{tag}");
        }
    }

    #[test]
    fn messages_that_lie_about_their_length_are_refused() {
        assert!(message::at(b"Z\0\0\0\x05", 0).unwrap().is_none());
        assert!(message::at(b"Z\0\0\0\x03I", 0).is_err());
        assert!(message::at(b"Z\x7f\xff\xff\xffI", 0).is_err());
        assert_eq!(message::at(b"Z\0\0\0\x05Iabc", 0).unwrap(), Some((b'Z', &b"I"[..], 6)));
    }
}
