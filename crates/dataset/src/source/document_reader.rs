//! Reads inputs that are not newline-delimited: their documents become lines of blocks.

use super::block::Block;
use super::form::Form;
use super::input::OpenInput;
use super::place::{Place, PlaceUnit};
use super::splitter::{DocumentSplitter, Split, append_as_line};
use super::tally::ReadProgress;
use crate::error::DataError;
use crate::scan::Scanner;

/// Size in bytes from which on a block is complete.
const BLOCK: usize = 512 * 1024;
/// Bytes that are read at once: few, so that buffer and block stay in a core's L2 cache together.
const BUFFER: usize = 128 * 1024;
/// A buffer that a long document has enlarged beyond this size (in bytes) is reallocated.
const MAX_KEPT: usize = 4 * BLOCK;

/// Maximum length in bytes of a last document that is taken for one that was cut off. A longer one probably lacks
/// a quote or bracket and has swallowed the documents behind it.
const LONGEST_CUT: usize = 64 * 1024;

/// Reader of the documents of one input after the other. Its buffer holds the document that is being read.
#[derive(Debug)]
pub(super) struct DocumentReader {
    buffer: Vec<u8>,
    /// Number of bytes of the buffer that are in use.
    filled: usize,
    splitter: DocumentSplitter,
    /// Offset of the buffer's first byte in the decoded input.
    offset: u64,
    is_end: bool,
    /// Maximum length of a document in bytes.
    longest: usize,
    /// Finds the faults of documents that are rewritten.
    scanner: Scanner,
}

impl DocumentReader {
    /// Creates a reader without an input; see [`DocumentReader::begin`].
    pub(super) fn new(longest: usize) -> Self {
        DocumentReader {
            buffer: Vec::new(),
            filled: 0,
            splitter: DocumentSplitter::new(Form::Stream),
            offset: 0,
            is_end: true,
            longest,
            scanner: Scanner::new(),
        }
    }

    /// Starts with the next input.
    pub(super) fn begin(&mut self, input: &OpenInput) {
        self.filled = 0;
        self.splitter = DocumentSplitter::new(input.form);
        self.offset = input.removed_bytes();
        self.is_end = false;
    }

    /// Returns `true` if the input has ended within an array.
    pub(super) fn is_cut_off(&self) -> bool {
        self.is_end && self.splitter.is_in_array()
    }

    /// Returns the number of arrays of the input that were read to their end.
    pub(super) fn arrays(&self) -> u64 {
        self.splitter.arrays()
    }

    /// Replaces the content of `block` by the next documents. The block is empty at the end of the input.
    /// `earlier_documents` is the number of documents in inputs before this one.
    pub(super) fn read_block(
        &mut self,
        input: &mut OpenInput,
        block: &mut Block,
        tally: &mut ReadProgress,
        earlier_documents: u64,
    ) -> Result<(), DataError> {
        if block.bytes.capacity() > MAX_KEPT {
            *block = Block::new();
        }
        block.clear(tally);
        while block.bytes.len() < BLOCK {
            let bytes = self.buffer.get(..self.filled).unwrap_or_default();
            match self.splitter.next(bytes, self.is_end) {
                Split::CutDocument(range) if range.len() > LONGEST_CUT => {
                    return Err(DataError::Unclosed {
                        input: input.origin.name.clone(),
                        document: tally.documents - earlier_documents + 1,
                        byte: self.offset + range.start as u64,
                        length: range.len() as u64,
                    });
                }
                Split::Document(range) | Split::CutDocument(range) => {
                    let start = self.offset + range.start as u64;
                    if range.len() > self.longest {
                        let number = tally.documents - earlier_documents + 1;
                        return Err(self.too_long(input, number, start));
                    }
                    let document = bytes.get(range).unwrap_or_default();
                    let mut is_rewritten = false;
                    block.push(start, tally, |line| is_rewritten = append_as_line(document, line));
                    // Without its newlines a document has its faults at other bytes.
                    if is_rewritten && let Some(fault) = self.scanner.scan(document).fault {
                        block.note_fault(fault);
                    }
                }
                Split::More => self.read_more(input, tally.documents - earlier_documents)?,
                Split::End => break,
                Split::NoArray(position) => {
                    let byte = self.offset + position as u64;
                    let (input, arrays) = (input.origin.name.clone(), self.splitter.arrays());
                    return Err(DataError::NoArray { input, byte, arrays });
                }
            }
        }
        Ok(())
    }

    /// Reads further bytes behind those that are still needed.
    fn read_more(&mut self, input: &mut OpenInput, documents: u64) -> Result<(), DataError> {
        let consumed = self.splitter.consumed();
        self.splitter.shift(consumed);
        self.buffer.copy_within(consumed..self.filled, 0);
        self.filled -= consumed;
        self.offset += consumed as u64;
        if self.filled > self.longest {
            // The buffer begins with the document that is being read.
            return Err(self.too_long(input, documents + 1, self.offset));
        }
        if self.buffer.len() > MAX_KEPT && self.filled < BUFFER {
            self.buffer.truncate(BLOCK);
            self.buffer.shrink_to_fit();
        }
        let size = if self.filled <= BUFFER / 2 { BUFFER } else { 2 * self.filled };
        // One byte beyond the longest document tells that it is too long.
        let size = size.min((self.longest + 1).max(BUFFER));
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
        match input.read(free) {
            Ok(0) => self.is_end = true,
            Ok(count) => self.filled += count,
            Err(error) => return Err(input.origin.failed(error, documents)),
        }
        Ok(())
    }

    fn too_long(&self, input: &OpenInput, number: u64, byte: u64) -> DataError {
        let input = input.origin.name.as_str().into();
        let place = Place { input, number, unit: PlaceUnit::Document, byte: Some(byte) };
        DataError::LineTooLong { place: place.to_string(), limit: self.longest }
    }
}
