//! In-memory documents and a recording load sink, shared by the tests of all protocols.

use crate::driver::{DocumentSource, LoadSink, Result};

/// Document source over lines in memory.
pub struct MemoryDocuments {
    lines: Vec<Vec<u8>>,
    position: usize,
}

impl MemoryDocuments {
    /// Copies `lines`; each becomes one document.
    pub fn new<T: AsRef<[u8]>>(lines: &[T]) -> Self {
        Self { lines: lines.iter().map(|line| line.as_ref().to_vec()).collect(), position: 0 }
    }
}

impl DocumentSource for MemoryDocuments {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        self.position += 1;
        Ok(self.lines.get(self.position - 1).map(Vec::as_slice))
    }
}

/// Records every callback so that tests can assert on them.
#[derive(Default)]
pub struct RecordingSink {
    /// Ordinal and reason of each rejected document, in the order of the callbacks.
    pub refused: Vec<(u64, String)>,
    /// Number of documents offered, from the latest callback.
    pub offered: u64,
}

impl LoadSink for RecordingSink {
    fn reject(&mut self, ordinal: u64, reason: String) {
        self.refused.push((ordinal, reason));
    }

    fn report_offered(&mut self, documents: u64) {
        self.offered = documents;
    }
}
