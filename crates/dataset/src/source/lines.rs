//! Reads documents in blocks of lines, whatever the kind of source.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::archive::TarReader;
use super::block::Block;
use super::bulk::BulkFilter;
use super::document_reader::DocumentReader;
use super::form::{Form, InputOptions};
use super::input::{Input, OpenInput, Opened, Opener, Origin};
use super::inputs::Inputs;
use super::member_names::MemberNames;
use super::place::{Place, PlaceUnit};
use super::tally::ReadProgress;
use crate::error::DataError;
use crate::skipped_entries::SkippedEntry;

/// Bytes read per block: small enough to stay in a core's L2 cache while being scanned.
const BLOCK: usize = 512 * 1024;
/// Blocks that a long line has enlarged beyond this size (in bytes) are reallocated.
const MAX_KEPT: usize = 4 * BLOCK;
/// Maximum length of a document, in bytes. Longer ones are an error, so that data without an end cannot fill
/// the memory (a few kilobytes of gzip can unpack to terabytes).
pub const LONGEST_LINE: usize = 256 << 20;

/// A source that is read once, from its start to its end.
pub trait Lines {
    /// Replaces the content of `block` by the next documents, at least one. Returns `false` if no document is
    /// left.
    ///
    /// # Errors
    ///
    /// If the data cannot be read to its end, or if the source contains no document.
    fn next_block(&mut self, block: &mut Block) -> Result<bool, DataError>;

    /// Returns the counts up to the current reading position.
    fn tally(&self) -> ReadProgress;

    /// Returns the path if the source is a single regular, uncompressed file.
    fn plain_file(&self) -> Option<&Path> {
        None
    }

    /// Returns the inputs, which are added when they are opened, and what is known about them.
    fn inputs(&self) -> Inputs;
}

/// Iterates over a source one document at a time.
pub struct Documents {
    lines: Box<dyn Lines + Send>,
    block: Block,
    next: usize,
}

impl Documents {
    /// Creates an iterator over a source that has not been read from yet.
    pub fn new(lines: Box<dyn Lines + Send>) -> Self {
        Documents { lines, block: Block::new(), next: 0 }
    }

    /// Returns the next document without its newline. `None` at the end of the source.
    ///
    /// # Errors
    ///
    /// See [`Lines::next_block`].
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, DataError> {
        if self.next >= self.block.len() {
            self.next = 0;
            if !self.lines.next_block(&mut self.block)? {
                self.block = Block::new();
                return Ok(None);
            }
        }
        self.next += 1;
        Ok(self.block.line_at(self.next - 1))
    }

    /// Gives access to the underlying source, e.g. to its counts.
    pub fn lines(&self) -> &(dyn Lines + Send) {
        &*self.lines
    }
}

/// Documents of several inputs, read one after the other.
pub(super) struct InputLines {
    name: String,
    opener: Opener,
    pending: VecDeque<Input>,
    /// Archive whose members are being read, with the origin of its bytes.
    archive: Option<(TarReader, Origin)>,
    member_names: MemberNames,
    open: Option<OpenInput>,
    /// Reads inputs of other forms than lines.
    documents: DocumentReader,
    /// Set while a bulk file is read.
    bulk: Option<BulkFilter>,
    plain_file: Option<PathBuf>,
    inputs: Inputs,
    /// Beginning of a line whose end has not been read yet.
    partial_line: Vec<u8>,
    tally: ReadProgress,
    /// Number of documents in inputs that were read completely.
    earlier_documents: u64,
    longest_line: usize,
}

impl InputLines {
    /// Opens the first input. `name` is the display name of the whole source.
    pub(super) fn open(
        name: String,
        inputs: Vec<Input>,
        left_out: Vec<SkippedEntry>,
        options: InputOptions,
    ) -> Result<Self, DataError> {
        let total = inputs.iter().map(Input::stored_bytes).sum();
        let is_single = inputs.len() == 1;
        let mut lines = InputLines {
            name,
            opener: Opener { options, bytes_read: Arc::default(), is_single },
            pending: inputs.into(),
            archive: None,
            member_names: MemberNames::default(),
            open: None,
            documents: DocumentReader::new(LONGEST_LINE),
            bulk: None,
            plain_file: None,
            inputs: Inputs::default(),
            partial_line: Vec::new(),
            tally: ReadProgress { total, ..ReadProgress::default() },
            earlier_documents: 0,
            longest_line: LONGEST_LINE,
        };
        lines.inputs.leave_out(left_out);
        lines.open_next()?;
        if is_single && let Some(open) = &lines.open {
            lines.plain_file = open.plain_file().map(Path::to_path_buf);
            lines.tally.total = lines.tally.total.or(open.origin.length);
        }
        Ok(lines)
    }

    /// Opens the next input that holds documents. Returns `false` if there is none.
    fn open_next(&mut self) -> Result<bool, DataError> {
        self.close()?;
        self.earlier_documents = self.tally.documents;
        loop {
            let opened = match self.next_member()? {
                Some(opened) => opened,
                None => match self.pending.pop_front() {
                    Some(input) => self.opener.open(&input)?,
                    None => return Ok(false),
                },
            };
            match opened {
                Opened::Documents(open) => {
                    self.begin(open);
                    return Ok(true);
                }
                Opened::Tar(archive, origin) => {
                    self.opener.is_single = false;
                    self.archive = Some((archive, origin));
                }
                Opened::Zip(name, listing) => {
                    self.opener.is_single = false;
                    self.inputs.leave_out(listing.left_out);
                    if listing.has_repeated_names {
                        self.inputs.note_hidden_members(name.into());
                    }
                    listing
                        .members
                        .into_iter()
                        .rev()
                        .for_each(|member| self.pending.push_front(Input::Member(member)));
                }
                Opened::LeftOut(entry) => self.inputs.leave_out([entry]),
            }
        }
    }

    /// Opens the next member of the archive that is being read. `None` if there is no archive or no further
    /// member.
    fn next_member(&mut self) -> Result<Option<Opened>, DataError> {
        let Some((archive, origin)) = &mut self.archive else { return Ok(None) };
        let mut left_out = Vec::new();
        let member = archive.next_member(&mut left_out, &mut self.member_names);
        let member = member.map_err(|error| origin.tar_failed(error))?;
        self.inputs.leave_out(left_out);
        match member {
            Some(member) => {
                if member.is_repeated {
                    self.inputs.note_repeated_member(member.name.as_str().into());
                }
                self.opener.open_member(member, origin).map(Some)
            }
            None => {
                origin.check_unchanged()?;
                self.archive = None;
                Ok(None)
            }
        }
    }

    fn begin(&mut self, open: OpenInput) {
        let name: Arc<str> = open.origin.name.as_str().into();
        self.tally.lines = 0;
        self.tally.input = self.inputs.add(Arc::clone(&name), open.form);
        self.tally.byte_order_marks += u64::from(open.had_byte_order_mark);
        if open.has_array_lines {
            self.inputs.note_array_lines(Arc::clone(&name));
        }
        if let Some(key) = open.extended_key {
            self.inputs.note_extended_json(name, key);
        }
        self.bulk = open.is_bulk.then(BulkFilter::default);
        self.documents.begin(&open);
        self.open = Some(open);
    }

    /// Ends with the current input, and notes what was found in it.
    fn close(&mut self) -> Result<(), DataError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        open.origin.check_unchanged()?;
        if let Some(bulk) = self.bulk.take() {
            self.inputs.count_bulk(bulk.counts());
        }
        if open.form != Form::Array {
            return Ok(());
        }
        if self.opener.options.form.is_none() && self.documents.arrays() > 1 {
            self.inputs.note_several_arrays(open.origin.name.as_str().into());
        }
        if self.documents.is_cut_off() {
            self.inputs.note_unclosed_array(open.origin.name.as_str().into());
        }
        Ok(())
    }

    /// Replaces the content of `block` by the next documents of the current input, of which there may be none.
    /// Returns `false` at the end of the input.
    fn read(&mut self, block: &mut Block) -> Result<bool, DataError> {
        match &mut self.open {
            Some(open) if open.form != Form::Lines => {
                self.documents.read_block(open, block, &mut self.tally, self.earlier_documents)?;
                return Ok(!block.is_empty());
            }
            _ => self.fill(&mut block.bytes)?,
        }
        let has_bytes = !block.bytes.is_empty();
        block.index(&mut self.tally);
        if let Some(bulk) = &mut self.bulk {
            bulk.apply(block, &mut self.tally);
        }
        Ok(has_bytes)
    }

    /// Error of a source without documents.
    fn empty(&self) -> DataError {
        let left_out = self.inputs.left_out();
        if self.inputs.forms().is_empty() && !left_out.is_empty() {
            return DataError::NothingReadable { folder: PathBuf::from(&self.name), left_out };
        }
        DataError::Empty { input: self.name.clone(), blank_lines: self.tally.blank_lines }
    }

    /// Fills `bytes` with whole lines of the current input, or clears it at the input's end.
    fn fill(&mut self, bytes: &mut Vec<u8>) -> Result<(), DataError> {
        let Some(open) = &mut self.open else {
            bytes.clear();
            return Ok(());
        };
        let documents = self.tally.documents - self.earlier_documents;
        if bytes.capacity() > MAX_KEPT {
            *bytes = Vec::new();
        }
        // Never shrink the buffer: growing it again would fill memory with zeros that is overwritten anyway.
        let mut filled = self.partial_line.len();
        // A small file needs no more than its size, and one byte to find its end.
        let block = open.whole_length.map_or(BLOCK, |length| BLOCK.min(length + 1));
        bytes.resize((filled + block).max(bytes.len()), 0);
        bytes[..filled].copy_from_slice(&self.partial_line);
        self.partial_line.clear();
        // The bytes left over from the last call contain no newline.
        let mut searched = filled;
        loop {
            let count = match open.read(&mut bytes[filled..]) {
                Ok(count) => count,
                Err(error) => {
                    let complete_lines = memchr::memchr_iter(b'\n', &bytes[..filled]).count();
                    return Err(open.origin.failed(error, documents + complete_lines as u64));
                }
            };
            filled += count;
            if count == 0 {
                if filled > 0 && bytes[filled - 1] != b'\n' {
                    bytes.truncate(filled);
                    bytes.push(b'\n');
                    self.tally.unterminated += 1;
                } else {
                    bytes.truncate(filled);
                }
                return Ok(());
            }
            if filled < bytes.len() {
                continue;
            }
            if let Some(newline) = memchr::memrchr(b'\n', &bytes[searched..filled]) {
                let end = searched + newline + 1;
                self.partial_line.shrink_to(MAX_KEPT);
                self.partial_line.extend_from_slice(&bytes[end..filled]);
                bytes.truncate(end);
                return Ok(());
            }
            if filled > self.longest_line {
                let (input, number) = (open.origin.name.as_str().into(), self.tally.lines + 1);
                let place = Place { input, number, unit: PlaceUnit::Line, byte: None };
                return Err(DataError::LineTooLong { place: place.to_string(), limit: self.longest_line });
            }
            searched = filled;
            bytes.resize((2 * filled).min(self.longest_line + 1), 0);
        }
    }
}

impl Lines for InputLines {
    fn next_block(&mut self, block: &mut Block) -> Result<bool, DataError> {
        loop {
            if !self.read(block)? {
                if self.open_next()? {
                    continue;
                }
                if self.tally.documents == 0 {
                    return Err(self.empty());
                }
                return Ok(false);
            }
            if !block.is_empty() {
                return Ok(true);
            }
            // More blank lines than the longest document may have bytes: no document is to be expected, and
            // searching for one could take forever.
            if self.tally.documents == 0 && self.tally.blank_lines > self.longest_line as u64 {
                return Err(self.empty());
            }
        }
    }

    fn tally(&self) -> ReadProgress {
        ReadProgress { done: self.opener.bytes_read.load(Ordering::Relaxed), ..self.tally }
    }

    fn plain_file(&self) -> Option<&Path> {
        self.plain_file.as_deref()
    }

    fn inputs(&self) -> Inputs {
        self.inputs.clone()
    }
}
