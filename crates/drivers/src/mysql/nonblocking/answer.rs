//! Answers: detecting their end, and decoding their rows.

use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::nonblocking::with_inline;
use jsonathlon_driver_api::rows::{Cell, RowSink, StatementStats};
use mysql::consts::ColumnType;

use super::super::value::{binary_instant, cell, too_wide};
use super::packet::{self, Reader, malformed};

/// Status flag: another answer follows.
const MORE: u16 = 8;
/// Column flag of an unsigned integer.
const UNSIGNED: u16 = 32;
const EOF: u8 = 0xFE;
const FAILED: u8 = 0xFF;

/// Position of the parser in an answer that may be incomplete.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// End of the packets that have arrived completely.
    seen: usize,
    state: State,
    failed: Option<usize>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    Begin,
    /// Number of column descriptions still to come, including the EOF packet that ends them.
    Columns(u64),
    Rows,
    End,
}

impl Progress {
    /// Continues over the received bytes. Returns `true` if the answer is complete.
    pub(super) fn follow(&mut self, bytes: &[u8], without_eof: bool) -> Result<bool> {
        while self.state != State::End {
            let Some((packet, end)) = packet::at(bytes, self.seen)? else { return Ok(false) };
            self.state = match (self.state, packet.first().copied()) {
                (State::Begin | State::Rows, Some(FAILED)) => {
                    self.failed = Some(self.seen);
                    State::End
                }
                (State::Begin, Some(0)) => after(ok(packet)?.1),
                (State::Begin, _) => State::Columns(Reader(packet).number()? + u64::from(!without_eof)),
                (State::Columns(1), _) => State::Rows,
                (State::Columns(left), _) => State::Columns(left - 1),
                (State::Rows, Some(EOF)) if ends(packet, without_eof) => after(status(packet, without_eof)?),
                (state, _) => state,
            };
            self.seen = end;
        }
        Ok(true)
    }

    /// Returns the end of the answer in the received bytes.
    pub(super) fn end(&self) -> usize {
        self.seen
    }

    /// Returns the start of the error packet. `None` if the answer reports no error.
    pub(super) fn failed(&self) -> Option<usize> {
        self.failed
    }
}

fn after(status: u16) -> State {
    if status & MORE == 0 { State::End } else { State::Begin }
}

/// Returns `true` if a packet with the EOF byte ends the rows and is not a row with a long text.
fn ends(packet: &[u8], without_eof: bool) -> bool {
    without_eof || packet.len() < 9
}

/// Decodes an OK packet: number of changed rows, and status flags.
fn ok(packet: &[u8]) -> Result<(u64, u16)> {
    let mut reader = Reader(packet);
    reader.u8()?;
    let affected = reader.number()?;
    reader.number()?;
    Ok((affected, reader.u16()?))
}

/// Returns the status flags of the packet that ends the rows.
fn status(packet: &[u8], without_eof: bool) -> Result<u16> {
    if without_eof {
        return ok(packet).map(|(_, status)| status);
    }
    let mut reader = Reader(packet);
    reader.bytes(3)?;
    reader.u16()
}

/// Columns of a statement, cached from its latest answer.
#[derive(Debug, Default)]
pub(super) struct Columns {
    described: Vec<u8>,
    all: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    name: String,
    kind: ColumnType,
    is_unsigned: bool,
}

impl Columns {
    /// Decodes column descriptions, unless they equal the cached ones.
    fn describe(&mut self, packets: &[u8], count: usize) -> Result<()> {
        if self.described == packets && self.all.len() == count {
            return Ok(());
        }
        self.all.clear();
        let mut next = 0;
        for _ in 0..count {
            let (packet, end) = packet::at(packets, next)?.ok_or_else(malformed)?;
            let mut reader = Reader(packet);
            // Catalog, database, table, and original name of the table.
            for _ in 0..4 {
                reader.counted()?;
            }
            let name = String::from_utf8_lossy(reader.counted()?).into_owned();
            reader.counted()?;
            // Length of the following fields, character set, and column width.
            reader.bytes(7)?;
            let kind = reader.u8()?;
            let kind = ColumnType::try_from(kind)
                .map_err(|_| DriverError::Protocol(format!("column `{name}` is of type {kind}")))?;
            self.all.push(Column { name, kind, is_unsigned: reader.u16()? & UNSIGNED != 0 });
            next = end;
        }
        self.described.clear();
        self.described.extend_from_slice(packets);
        Ok(())
    }
}

/// Passes a complete answer without error to `sink`. If there are several, the last statement's answer
/// counts.
pub(super) fn hand_over(
    bytes: &[u8],
    is_binary: bool,
    without_eof: bool,
    columns: &mut Columns,
    sink: &mut dyn RowSink,
) -> Result<StatementStats> {
    let mut at = 0;
    loop {
        let first = next(bytes, &mut at)?;
        let (affected, status) = if first.first() == Some(&0) {
            sink.columns(&[])?;
            ok(first)?
        } else {
            let count = usize::try_from(Reader(first).number()?).map_err(|_| malformed())?;
            let start = at;
            for _ in 0..count {
                next(bytes, &mut at)?;
            }
            let described = &bytes[start..at];
            if !without_eof {
                next(bytes, &mut at)?;
            }
            columns.describe(described, count)?;
            let all = &columns.all;
            with_inline(count, "", |index| Ok(all[index].name.as_str()), |names| sink.columns(names))?;
            loop {
                let packet = next(bytes, &mut at)?;
                if packet.first() == Some(&EOF) && ends(packet, without_eof) {
                    break (0, status(packet, without_eof)?);
                }
                row(packet, is_binary, all, sink)?;
            }
        };
        if status & MORE == 0 {
            return Ok(StatementStats { affected: Some(affected), ..StatementStats::default() });
        }
    }
}

fn next<'a>(bytes: &'a [u8], at: &mut usize) -> Result<&'a [u8]> {
    let (packet, end) = packet::at(bytes, *at)?.ok_or_else(malformed)?;
    *at = end;
    Ok(packet)
}

fn row(packet: &[u8], is_binary: bool, columns: &[Column], sink: &mut dyn RowSink) -> Result<()> {
    let mut reader = Reader(packet);
    if !is_binary {
        let text = |index: usize| match reader.column()? {
            Some(bytes) => cell(columns[index].kind, bytes, &columns[index].name),
            None => Ok(Cell::Null),
        };
        return with_inline(columns.len(), Cell::Null, text, |cells| sink.row(cells));
    }
    reader.u8()?;
    // In the NULL bitmap of a binary row the first two bits are reserved.
    let nulls = reader.bytes((columns.len() + 9) / 8)?;
    let value = |index: usize| {
        let bit = index + 2;
        if nulls[bit / 8] & (1 << (bit % 8)) != 0 {
            Ok(Cell::Null)
        } else {
            binary(&columns[index], &mut reader)
        }
    };
    with_inline(columns.len(), Cell::Null, value, |cells| sink.row(cells))
}

fn binary<'a>(column: &Column, reader: &mut Reader<'a>) -> Result<Cell<'a>> {
    use ColumnType as T;
    let Column { name, kind, is_unsigned } = column;
    let int = |signed: i64, unsigned: u64| {
        if *is_unsigned { i64::try_from(unsigned).map_err(|_| too_wide(name)) } else { Ok(signed) }
            .map(Cell::Int)
    };
    match kind {
        T::MYSQL_TYPE_TINY => {
            let bytes = reader.array()?;
            int(i8::from_le_bytes(bytes).into(), u8::from_le_bytes(bytes).into())
        }
        T::MYSQL_TYPE_SHORT | T::MYSQL_TYPE_YEAR => {
            let bytes = reader.array()?;
            int(i16::from_le_bytes(bytes).into(), u16::from_le_bytes(bytes).into())
        }
        T::MYSQL_TYPE_LONG | T::MYSQL_TYPE_INT24 => {
            let bytes = reader.array()?;
            int(i32::from_le_bytes(bytes).into(), u32::from_le_bytes(bytes).into())
        }
        T::MYSQL_TYPE_LONGLONG => {
            let bytes = reader.array()?;
            int(i64::from_le_bytes(bytes), u64::from_le_bytes(bytes))
        }
        T::MYSQL_TYPE_DOUBLE => Ok(Cell::Float(f64::from_le_bytes(reader.array()?))),
        T::MYSQL_TYPE_NULL => Ok(Cell::Null),
        T::MYSQL_TYPE_DATE
        | T::MYSQL_TYPE_NEWDATE
        | T::MYSQL_TYPE_DATETIME
        | T::MYSQL_TYPE_DATETIME2
        | T::MYSQL_TYPE_TIMESTAMP
        | T::MYSQL_TYPE_TIMESTAMP2 => binary_instant(reader.counted()?, name),
        // FLOAT is rejected here as in text form.
        T::MYSQL_TYPE_FLOAT => cell(*kind, reader.bytes(4)?, name),
        _ => cell(*kind, reader.counted()?, name),
    }
}
