//! Documents and sinks in memory, which the tests of all protocols share.

use crate::driver::{DocumentSource, LoadSink, Result};

/// Documents out of memory.
pub struct Lines {
    lines: Vec<Vec<u8>>,
    next: usize,
}

impl Lines {
    /// These.
    pub fn of<T: AsRef<[u8]>>(lines: &[T]) -> Self {
        Self { lines: lines.iter().map(|line| line.as_ref().to_vec()).collect(), next: 0 }
    }
}

impl DocumentSource for Lines {
    fn next_document(&mut self) -> Result<Option<&[u8]>> {
        self.next += 1;
        Ok(self.lines.get(self.next - 1).map(Vec::as_slice))
    }
}

/// Remembers what it is told.
#[derive(Default)]
pub struct Told {
    /// Ordinals and reasons, in the order they were told.
    pub refused: Vec<(u64, String)>,
    /// The last count told.
    pub offered: u64,
}

impl LoadSink for Told {
    fn refused(&mut self, ordinal: u64, reason: String) {
        self.refused.push((ordinal, reason));
    }

    fn offered(&mut self, documents: u64) {
        self.offered = documents;
    }
}
