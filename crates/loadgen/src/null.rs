//! Null driver: a connection in memory that answers reads at once, to measure the clients' own overhead.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use jsonathlon_dataset::records::RecordSet;
use jsonathlon_driver_api::{
    Cell, DriverError, NonblockingConnection, Parameter, PreparedStatement, Result, RowSink, StatementStats,
};

/// Protocol name of the null driver; no system of the catalogue has it.
pub const PROTOCOL: &str = "null";

/// Documents that the null driver answers from.
#[derive(Debug)]
pub struct MemoryTable {
    set: RecordSet,
    documents: Vec<String>,
}

impl MemoryTable {
    /// Generates the documents of the records 0 up to `records`.
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

/// Connection that answers reads by key from a table. The only parameter is the key. Each answer is copied,
/// as the kernel copies the data of a socket, into the next of many buffers, because a single reused buffer
/// would stay in the CPU cache.
#[derive(Debug)]
pub struct NullConnection {
    table: Arc<MemoryTable>,
    buffers: Vec<String>,
    next_buffer: usize,
    requested: Option<u64>,
}

impl NullConnection {
    /// Creates a connection over a table, with buffers of `bytes` in all.
    #[must_use]
    pub fn new(table: Arc<MemoryTable>, bytes: usize) -> Self {
        let longest = table.documents.iter().map(String::len).max().unwrap_or(0).max(1);
        let buffers = (0..bytes.div_ceil(longest)).map(|_| " ".repeat(longest)).collect();
        Self { table, buffers, next_buffer: 0, requested: None }
    }
}

impl NonblockingConnection for NullConnection {
    fn prepare(&mut self, _: &str) -> Result<PreparedStatement> {
        Ok(PreparedStatement::numbered(0))
    }

    #[inline]
    fn send(&mut self, _: &PreparedStatement, parameters: &[Parameter<'_>]) -> Result<()> {
        let records = self.table.set.records();
        self.requested = match parameters.first() {
            Some(Parameter::Text(key)) => records.number(key.as_bytes()),
            Some(Parameter::Int(key)) => records.number_of_bigint(*key),
            _ => None,
        };
        match self.requested {
            Some(_) => Ok(()),
            None => Err(DriverError::Refused("the null target reads by key".to_owned())),
        }
    }

    #[inline]
    fn receive(&mut self, _: bool, sink: &mut dyn RowSink) -> Result<Option<StatementStats>> {
        sink.columns(&["doc"])?;
        let number = self.requested.take().and_then(|number| usize::try_from(number).ok());
        if let Some(document) = number.and_then(|number| self.table.documents.get(number)) {
            let index = std::mem::take(&mut self.next_buffer);
            if let Some(buffer) = self.buffers.get_mut(index) {
                buffer.clear();
                buffer.push_str(document);
                sink.row(&[Cell::Text(buffer)])?;
            }
            self.next_buffer = if index + 1 < self.buffers.len() { index + 1 } else { 0 };
        }
        Ok(Some(StatementStats::default()))
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn close(self: Box<Self>) {}
}
