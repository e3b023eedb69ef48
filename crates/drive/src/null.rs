//! The null target: a lane in memory that answers reads at once, so that what is left is the clients' own cost.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use jsonathlon_connection::{Cell, DriverError, Lane, Parameter, Prepared, Report, Result, RowSink};
use jsonathlon_dataset::records::RecordSet;

/// The name of its protocol; no system has it.
pub const PROTOCOL: &str = "null";

/// Documents in memory.
#[derive(Debug)]
pub struct Table {
    set: RecordSet,
    documents: Vec<String>,
}

impl Table {
    /// The documents of the records 0 up to `records`.
    #[must_use]
    pub fn new(set: RecordSet, records: u64) -> Self {
        let document = |number| {
            let mut text = Vec::new();
            set.document(number, 0, &mut text);
            String::from_utf8(text).unwrap_or_default()
        };
        Self { documents: (0..records).map(document).collect(), set }
    }
}

/// A lane that answers reads from a table. Its one parameter is the key. Answers are copied, as a connection's are by the
/// kernel, into one buffer after the other: none is in a cache that was used just before.
#[derive(Debug)]
pub struct Null {
    table: Arc<Table>,
    buffers: Vec<String>,
    turn: usize,
    asked: Option<u64>,
}

impl Null {
    /// A lane over a table, with buffers of so many bytes in all.
    #[must_use]
    pub fn new(table: Arc<Table>, bytes: usize) -> Self {
        let longest = table.documents.iter().map(String::len).max().unwrap_or(0).max(1);
        let buffers = (0..bytes.div_ceil(longest)).map(|_| " ".repeat(longest)).collect();
        Self { table, buffers, turn: 0, asked: None }
    }
}

impl Lane for Null {
    fn prepare(&mut self, _: &str) -> Result<Prepared> {
        Ok(Prepared::numbered(0))
    }

    #[inline]
    fn send(&mut self, _: &Prepared, parameters: &[Parameter<'_>]) -> Result<()> {
        let records = self.table.set.records();
        self.asked = match parameters.first() {
            Some(Parameter::Text(key)) => records.number(key.as_bytes()),
            Some(Parameter::Int(key)) => records.number_of_bigint(*key),
            _ => None,
        };
        match self.asked {
            Some(_) => Ok(()),
            None => Err(DriverError::Refused("the null target reads by key".to_owned())),
        }
    }

    #[inline]
    fn receive(&mut self, _: bool, sink: &mut dyn RowSink) -> Result<Option<Report>> {
        sink.columns(&["doc"])?;
        let number = self.asked.take().and_then(|number| usize::try_from(number).ok());
        if let Some(document) = number.and_then(|number| self.table.documents.get(number)) {
            let turn = std::mem::take(&mut self.turn);
            if let Some(buffer) = self.buffers.get_mut(turn) {
                buffer.clear();
                buffer.push_str(document);
                sink.row(&[Cell::Text(buffer)])?;
            }
            self.turn = if turn + 1 < self.buffers.len() { turn + 1 } else { 0 };
        }
        Ok(Some(Report::default()))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {}
}
