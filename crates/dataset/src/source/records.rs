//! Records of the serving workload as a source.

use super::block::Block;
use super::inputs::Inputs;
use super::lines::Lines;
use super::tally::ReadProgress;
use crate::error::DataError;
use crate::records::{RecordSet, Records};

/// Target size of a block in bytes.
const BLOCK: usize = 512 * 1024;
/// Maximum number of records. Keys would allow 2⁶³, which no load needs.
const MAX_RECORDS: u64 = 1 << 40;

/// Generates records while they are read.
pub(super) struct RecordLines {
    set: RecordSet,
    next: u64,
    tally: ReadProgress,
    documents: u64,
}

impl RecordLines {
    pub(super) fn new(records: &Records, documents: u64) -> Result<Self, DataError> {
        if !(1..=MAX_RECORDS).contains(&documents) {
            let reason = format!("{documents} records; from 1 to {MAX_RECORDS} can be made");
            return Err(DataError::Range { reason });
        }
        let tally = ReadProgress { total: Some(documents), ..ReadProgress::default() };
        Ok(RecordLines { set: records.prepare()?, next: 0, tally, documents })
    }
}

impl Lines for RecordLines {
    fn next_block(&mut self, block: &mut Block) -> Result<bool, DataError> {
        block.bytes.clear();
        while self.next < self.documents && block.bytes.len() < BLOCK {
            self.set.line(self.next, &mut block.bytes);
            self.next += 1;
        }
        block.index(&mut self.tally);
        self.tally.done = self.tally.documents;
        Ok(!block.is_empty())
    }

    fn tally(&self) -> ReadProgress {
        self.tally
    }

    fn inputs(&self) -> Inputs {
        Inputs::generated("the generated records")
    }
}
