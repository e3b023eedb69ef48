//! Answers: detecting their end, and decoding their rows.

use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::nonblocking::with_inline;
use jsonathlon_driver_api::rows::{Cell, RowSink, StatementStats};

use super::packet::{self, Reader, ServerError, malformed};
use super::value::{ColumnType, binary_instant, cell, too_wide};

/// Status flag: another answer follows.
const MORE: u16 = 8;
/// Column flag of an unsigned integer.
const UNSIGNED: u16 = 32;
const OK: u8 = 0;
const LOCAL_INFILE: u8 = 0xFB;
const EOF: u8 = 0xFE;
const ERROR: u8 = 0xFF;
/// Length in bytes from which a packet that begins as an EOF packet is a row with a long text.
const LONGER_THAN_EOF: usize = 9;
/// As [`LONGER_THAN_EOF`], where an OK packet takes the place of the EOF packet.
const LONGER_THAN_OK: usize = 0xFF_FFFF;

/// Position of the parser in an answer that may be incomplete.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// End of the packets that have arrived completely.
    parsed_end: usize,
    state: State,
}

/// What the next packet of an answer is.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    Begin,
    /// Number of column descriptions still to come, including the EOF packet that ends them.
    Columns(u64),
    Rows,
    End,
}

impl State {
    /// Returns the state after a packet, of which `packet` is the beginning.
    fn next(self, packet: &[u8], without_eof: bool) -> Result<Self> {
        Ok(match (self, packet.first().copied()) {
            (Self::Begin | Self::Rows, Some(ERROR)) => Self::End,
            (Self::Begin, Some(OK)) => Completion::of_ok(packet)?.next(),
            (Self::Begin, Some(LOCAL_INFILE)) => Self::Begin,
            (Self::Begin, _) => Self::Columns(Reader(packet).number()? + u64::from(!without_eof)),
            (Self::Columns(1), _) => Self::Rows,
            (Self::Columns(remaining), _) => Self::Columns(remaining.saturating_sub(1)),
            (Self::Rows, _) if ends_rows(packet, without_eof) => {
                Completion::of_rows(packet, without_eof)?.next()
            }
            (state, _) => state,
        })
    }
}

impl Progress {
    /// Continues over the received bytes. Returns `true` if the answer is complete.
    pub(super) fn follow(&mut self, bytes: &[u8], without_eof: bool) -> Result<bool> {
        while self.state != State::End {
            let Some((packet, end)) = packet::first(bytes, self.parsed_end) else { return Ok(false) };
            self.state = self.state.next(packet, without_eof)?;
            self.parsed_end = end;
        }
        Ok(true)
    }

    /// Returns the end of the answer in the received bytes.
    pub(super) fn end(&self) -> usize {
        self.parsed_end
    }
}

/// Returns `true` if a packet ends the rows and is not a row with a long text.
fn ends_rows(packet: &[u8], without_eof: bool) -> bool {
    let threshold = if without_eof { LONGER_THAN_OK } else { LONGER_THAN_EOF };
    packet.first() == Some(&EOF) && packet.len() < threshold
}

/// What the packet at the end of an answer says.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Completion {
    /// Number of changed rows.
    pub(super) affected: u64,
    pub(super) warnings: u16,
    status: u16,
}

impl Completion {
    fn of_ok(packet: &[u8]) -> Result<Self> {
        let mut reader = Reader(packet);
        reader.u8()?;
        let affected = reader.number()?;
        // Id of the last row.
        reader.number()?;
        Ok(Self { affected, status: reader.u16()?, warnings: reader.u16()? })
    }

    /// Decodes the packet that ends the rows.
    fn of_rows(packet: &[u8], without_eof: bool) -> Result<Self> {
        if without_eof {
            return Self::of_ok(packet);
        }
        let mut reader = Reader(packet);
        reader.u8()?;
        Ok(Self { affected: 0, warnings: reader.u16()?, status: reader.u16()? })
    }

    fn next(self) -> State {
        if self.status & MORE == 0 { State::End } else { State::Begin }
    }

    pub(super) fn stats(self) -> StatementStats {
        StatementStats { affected: Some(self.affected), ..StatementStats::default() }
    }
}

/// Columns of a statement, cached from its latest answer.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// Descriptions of all columns, one after the other.
    descriptions: Vec<u8>,
    list: Vec<Column>,
    /// Number of columns that the current answer has described so far.
    count: usize,
}

#[derive(Debug)]
struct Column {
    name: String,
    kind: ColumnType,
    is_unsigned: bool,
    /// End of the description in [`Columns::descriptions`].
    end: usize,
}

impl Columns {
    /// Decodes the description of the next column, unless it equals the cached one.
    fn describe(&mut self, packet: &[u8]) -> Result<()> {
        let start = self.count.checked_sub(1).map_or(0, |last| self.list[last].end);
        let cached = self.list.get(self.count).map(|column| &self.descriptions[start..column.end]);
        if cached != Some(packet) {
            self.list.truncate(self.count);
            self.descriptions.truncate(start);
            self.descriptions.extend_from_slice(packet);
            self.list.push(Column::read(packet, self.descriptions.len())?);
        }
        self.count += 1;
        Ok(())
    }

    /// Passes the names of all columns that were described to `sink`.
    fn finish(&mut self, sink: &mut dyn RowSink) -> Result<()> {
        self.list.truncate(self.count);
        let list = &self.list;
        with_inline(list.len(), "", |index| Ok(list[index].name.as_str()), |names| sink.columns(names))
    }
}

impl Column {
    fn read(packet: &[u8], end: usize) -> Result<Self> {
        let mut reader = Reader(packet);
        // Catalog, database, table, and original name of the table.
        for _ in 0..4 {
            reader.counted()?;
        }
        let name = String::from_utf8_lossy(reader.counted()?).into_owned();
        reader.counted()?;
        // Length of the following fields, character set, and column width.
        reader.bytes(7)?;
        let code = reader.u8()?;
        let kind = ColumnType::from_code(code)
            .ok_or_else(|| DriverError::Protocol(format!("column `{name}` is of type {code}")))?;
        Ok(Self { name, kind, is_unsigned: reader.u16()? & UNSIGNED != 0, end })
    }
}

/// Decodes an answer packet by packet and passes its rows on. Of several answers the last one counts.
pub(super) struct AnswerReader<'a> {
    is_binary: bool,
    without_eof: bool,
    columns: &'a mut Columns,
    state: State,
    /// First error of a row or of the sink, after which rows are only read.
    first_error: Option<DriverError>,
    completion: Completion,
}

/// What the server sends or expects after a packet of an answer.
#[derive(Debug)]
pub(super) enum Continuation {
    /// Another packet of the answer.
    Packet,
    /// The server waits for the content of a file.
    File,
    /// Nothing: the answer is complete.
    Nothing(Completion),
}

/// Why an answer is none.
#[derive(Debug)]
pub(super) enum AnswerError {
    /// The server's error for the statement.
    Server(ServerError),
    Driver(DriverError),
}

impl From<DriverError> for AnswerError {
    fn from(error: DriverError) -> Self {
        Self::Driver(error)
    }
}

impl AnswerError {
    pub(super) fn error(self) -> DriverError {
        match self {
            Self::Server(error) => error.error(),
            Self::Driver(error) => error,
        }
    }
}

impl<'a> AnswerReader<'a> {
    pub(super) fn new(is_binary: bool, without_eof: bool, columns: &'a mut Columns) -> Self {
        let (state, first_error, completion) = (State::default(), None, Completion::default());
        Self { is_binary, without_eof, columns, state, first_error, completion }
    }

    /// Decodes the next packet.
    ///
    /// # Errors
    /// The server's error. At the end of the answer also the first error of a row or of `sink`.
    pub(super) fn packet(
        &mut self,
        packet: &[u8],
        sink: &mut dyn RowSink,
    ) -> std::result::Result<Continuation, AnswerError> {
        let previous = self.state;
        self.state = previous.next(packet, self.without_eof)?;
        match (previous, packet.first().copied()) {
            (State::Begin | State::Rows, Some(ERROR)) => {
                return Err(AnswerError::Server(ServerError::read(packet)?));
            }
            (State::Begin, Some(OK)) => {
                self.completion = Completion::of_ok(packet)?;
                self.attempt(|_| sink.columns(&[]));
            }
            (State::Begin, Some(LOCAL_INFILE)) => return Ok(Continuation::File),
            (State::Begin, _) => self.columns.count = 0,
            (State::Columns(remaining), _) => {
                // The last of them is not a description but the EOF packet, unless that is deprecated.
                if remaining > 1 || self.without_eof {
                    self.columns.describe(packet)?;
                }
                if self.state == State::Rows {
                    self.attempt(|columns| columns.finish(sink));
                }
            }
            (State::Rows, _) if ends_rows(packet, self.without_eof) => {
                let completion = Completion::of_rows(packet, self.without_eof)?;
                // A statement that returns rows changes none.
                self.completion = Completion { affected: 0, ..completion };
            }
            (State::Rows, _) if self.first_error.is_none() => {
                let is_binary = self.is_binary;
                self.attempt(|columns| row(packet, is_binary, &columns.list, sink));
            }
            (State::Rows | State::End, _) => {}
        }
        if self.state != State::End {
            return Ok(Continuation::Packet);
        }
        match self.first_error.take() {
            None => Ok(Continuation::Nothing(self.completion)),
            Some(error) => Err(error.into()),
        }
    }

    /// Executes `action` and keeps its error, unless an earlier one is kept.
    fn attempt(&mut self, action: impl FnOnce(&mut Columns) -> Result<()>) {
        if let Err(error) = action(self.columns) {
            self.first_error.get_or_insert(error);
        }
    }
}

/// Passes a complete answer to `sink`.
pub(super) fn hand_over(
    bytes: &[u8],
    mut reader: AnswerReader<'_>,
    sink: &mut dyn RowSink,
) -> Result<StatementStats> {
    let mut position = 0;
    loop {
        let (packet, end) = packet::message(bytes, position).ok_or_else(malformed)?;
        position = end;
        match reader.packet(&packet, sink).map_err(AnswerError::error)? {
            Continuation::Packet => {}
            Continuation::Nothing(completion) => return Ok(completion.stats()),
            Continuation::File => return Err(malformed()),
        }
    }
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
    let null_bitmap = reader.bytes((columns.len() + 9) / 8)?;
    let value = |index: usize| {
        let bit = index + 2;
        if null_bitmap[bit / 8] & (1 << (bit % 8)) != 0 {
            Ok(Cell::Null)
        } else {
            binary(&columns[index], &mut reader)
        }
    };
    with_inline(columns.len(), Cell::Null, value, |cells| sink.row(cells))
}

fn binary<'a>(column: &Column, reader: &mut Reader<'a>) -> Result<Cell<'a>> {
    use ColumnType as T;
    let Column { name, kind, is_unsigned, .. } = column;
    let integer = |signed: i64, unsigned: u64| {
        if *is_unsigned { i64::try_from(unsigned).map_err(|_| too_wide(name)) } else { Ok(signed) }
            .map(Cell::Int)
    };
    match kind {
        T::Tiny => {
            let bytes = reader.array()?;
            integer(i8::from_le_bytes(bytes).into(), u8::from_le_bytes(bytes).into())
        }
        T::Short => {
            let bytes = reader.array()?;
            integer(i16::from_le_bytes(bytes).into(), u16::from_le_bytes(bytes).into())
        }
        T::Long => {
            let bytes = reader.array()?;
            integer(i32::from_le_bytes(bytes).into(), u32::from_le_bytes(bytes).into())
        }
        T::LongLong => {
            let bytes = reader.array()?;
            integer(i64::from_le_bytes(bytes), u64::from_le_bytes(bytes))
        }
        T::Double => Ok(Cell::Float(f64::from_le_bytes(reader.array()?))),
        T::Null => Ok(Cell::Null),
        T::Instant => binary_instant(reader.counted()?, name),
        // FLOAT is rejected here as in text form.
        T::Float => cell(*kind, reader.bytes(4)?, name),
        _ => cell(*kind, reader.counted()?, name),
    }
}
