//! Events of the built-in generator as a source.

use super::block::Block;
use super::inputs::Inputs;
use super::lines::Lines;
use super::tally::ReadProgress;
use crate::error::DataError;
use crate::generate::{Generator, MAX_EVENTS};

/// Target size of a block in bytes.
const BLOCK: usize = 512 * 1024;

/// Generates events while they are read.
pub(super) struct GeneratedLines {
    generator: Generator,
    name: String,
    tally: ReadProgress,
}

impl GeneratedLines {
    /// Creates a source of events from number `start` on. The `malformed` bad lines are spread over events 0
    /// to `start + documents`.
    pub(super) fn new(seed: u64, start: u64, documents: u64, malformed: u64) -> Result<Self, DataError> {
        let name = format!("the range of {documents} generated events from {start} on");
        let end = start.checked_add(documents).filter(|end| *end <= MAX_EVENTS).ok_or_else(|| {
            let last = MAX_EVENTS - 1;
            DataError::Range {
                reason: format!("{name} goes beyond the last that can be made, number {last}"),
            }
        })?;
        if malformed > end {
            let reason =
                format!("{malformed} malformed lines do not fit into {end} events; ask for at most {end}");
            return Err(DataError::Range { reason });
        }
        let generator = Generator::new(seed, start..end).with_malformed(malformed, end);
        Ok(GeneratedLines {
            generator,
            name,
            tally: ReadProgress { total: Some(documents), ..ReadProgress::default() },
        })
    }
}

impl Lines for GeneratedLines {
    fn next_block(&mut self, block: &mut Block) -> Result<bool, DataError> {
        block.bytes.clear();
        let has_documents = self.generator.fill(&mut block.bytes, BLOCK) && !block.bytes.is_empty();
        block.index(&mut self.tally);
        self.tally.done = self.tally.documents;
        if !has_documents && self.tally.documents == 0 {
            return Err(DataError::Empty { input: self.name.clone(), blank_lines: 0 });
        }
        Ok(has_documents)
    }

    fn tally(&self) -> ReadProgress {
        self.tally
    }

    fn inputs(&self) -> Inputs {
        Inputs::generated(&self.name)
    }
}
