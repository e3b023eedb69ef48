//! Tables of large documents as a source, one table after the other.

use super::block::Block;
use super::inputs::Inputs;
use super::lines::Lines;
use super::tally::ReadProgress;
use crate::error::DataError;
use crate::nested::{NestedGenerator, NestedTable};

/// Target size of a block in bytes; a larger document gets a block of its own.
const BLOCK: usize = 512 * 1024;

/// Upper bound for the bytes of a line besides its document.
const LINE: usize = 64;

/// Generates large documents while they are read, as lines of `{"key":…,"doc":{…}}`.
pub(super) struct OrdinalLines {
    /// Tables that have not been started, in reverse order.
    pending: Vec<NestedTable>,
    generator: Option<NestedGenerator>,
    next: u64,
    tally: ReadProgress,
}

impl OrdinalLines {
    pub(super) fn new(tables: &[NestedTable]) -> Result<Self, DataError> {
        let documents = tables.iter().map(|table| table.documents).sum();
        if documents == 0 {
            return Err(DataError::Range { reason: "no documents; from 1 on can be made".to_owned() });
        }
        let tally = ReadProgress { total: Some(documents), ..ReadProgress::default() };
        Ok(Self { pending: tables.iter().rev().copied().collect(), generator: None, next: 0, tally })
    }
}

impl Lines for OrdinalLines {
    fn next_block(&mut self, block: &mut Block) -> Result<bool, DataError> {
        block.bytes.clear();
        while block.bytes.len() < BLOCK {
            match &mut self.generator {
                Some(generator) if self.next < generator.table().documents => {
                    let line = usize::try_from(generator.length(self.next)).unwrap_or_default() + LINE;
                    block.bytes.reserve_exact(line.max(BLOCK));
                    let result = generator.line(self.next, &mut block.bytes);
                    result.map_err(|error| DataError::io("write", "memory".as_ref(), error))?;
                    self.next += 1;
                }
                _ => {
                    // Drop the previous table's maker first, so that only one document is in memory.
                    self.generator = None;
                    let Some(table) = self.pending.pop() else { break };
                    self.generator = Some(NestedGenerator::new(table));
                    self.next = 0;
                }
            }
        }
        block.index(&mut self.tally);
        self.tally.done = self.tally.documents;
        Ok(!block.is_empty())
    }

    fn tally(&self) -> ReadProgress {
        self.tally
    }

    fn inputs(&self) -> Inputs {
        Inputs::generated("the generated documents")
    }
}
