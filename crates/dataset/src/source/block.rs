//! A block of whole lines, the unit in which documents are read.

use memchr::memchr_iter;

use super::tally::ReadProgress;
use crate::scan::{Fault, Scan, Scanner};

/// Whole documents, one per line. Every line ends with a newline and no line is blank.
///
/// Blocks are reusable: reading into an existing block keeps its allocated memory.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The lines. May hold more bytes behind them while the block is being filled.
    pub(super) bytes: Vec<u8>,
    /// Offset of each line's newline in `bytes`.
    ends: Vec<usize>,
    /// Index of the input that the lines come from, from 0.
    input: u32,
    /// Line number of the first line within its input, from 1.
    first_line: u64,
    /// Line numbers of all lines within their input. Empty if the lines are consecutive.
    numbers: Vec<u64>,
    /// Byte offset of each document in its decoded input. Empty if each document is a line of its input.
    starts: Vec<u64>,
    /// Faults of documents that had newlines, by index: there is no other way to know at which byte they were
    /// before the newlines were removed.
    faults: Vec<(usize, Fault)>,
}

impl Block {
    /// Creates an empty block without allocating memory.
    pub fn new() -> Self {
        Block::default()
    }

    /// Returns all lines including their newlines.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of documents in the block.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if the block contains no document.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over the documents in order, without their newlines.
    pub fn lines(&self) -> BlockLines<'_> {
        BlockLines { bytes: &self.bytes, ends: self.ends.iter(), start: 0 }
    }

    /// Returns the index of the input that the documents come from, counted from 0 in the source's order.
    pub fn input(&self) -> u32 {
        self.input
    }

    /// Returns the line number (from 1, within the input) of the document at `index` (from 0, within the
    /// block). Of an input that is not read as lines, the number of the document (from 1, within the input).
    pub fn line_number(&self, index: usize) -> u64 {
        self.numbers.get(index).copied().unwrap_or(self.first_line + index as u64)
    }

    /// Returns the offset of the document at `index` (from 0, within the block) in its decoded input. `None` if
    /// the input is read as lines.
    pub fn byte_position(&self, index: usize) -> Option<u64> {
        self.starts.get(index).copied()
    }

    /// Returns the fault of the document at `index` with its offset in the document as its input has it. `None` if
    /// the document is valid, or stands in the block as it does in its input.
    pub(crate) fn original_fault(&self, index: usize) -> Option<Fault> {
        let position = self.faults.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        self.faults.get(position).map(|(_, fault)| *fault)
    }

    /// Returns a copy of the block without some lines. `ranges` are byte ranges of whole lines with their
    /// newlines, in ascending order.
    pub(crate) fn without(&self, ranges: &[std::ops::Range<usize>]) -> Block {
        let mut remaining = Block { input: self.input, first_line: self.first_line, ..Block::default() };
        let mut start = 0;
        for range in ranges {
            remaining.bytes.extend_from_slice(self.bytes.get(start..range.start).unwrap_or_default());
            start = range.end;
        }
        remaining.bytes.extend_from_slice(self.bytes.get(start..).unwrap_or_default());
        // Lines and ranges are in the same order, so that each range is looked at once.
        let mut ranges = ranges.iter().peekable();
        let mut is_kept = |end: usize| {
            while ranges.next_if(|range| range.end <= end).is_some() {}
            !ranges.peek().is_some_and(|range| range.contains(&end))
        };
        let kept_lines = self.ends.iter().enumerate().filter(|(_, end)| is_kept(**end));
        remaining.numbers = kept_lines.map(|(index, _)| self.line_number(index)).collect();
        remaining.ends = memchr_iter(b'\n', &remaining.bytes).collect();
        remaining
    }

    /// Scans the documents in order and passes each one to `visit` with the result of its scan.
    ///
    /// Faster than scanning each of [`Block::lines`], because UTF-8 is validated once for the whole block.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns; the remaining documents are not scanned.
    pub fn scan<'a, E>(
        &'a self,
        scanner: &mut Scanner,
        mut visit: impl FnMut(&'a [u8], Scan<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Ok(text) = simdutf8::basic::from_utf8(&self.bytes) else {
            return self.lines().try_for_each(|line| visit(line, scanner.scan(line)));
        };
        let mut start = 0;
        for &end in &self.ends {
            let line = text.get(start..end).unwrap_or_default();
            visit(line.as_bytes(), scanner.scan_text(line))?;
            start = end + 1;
        }
        Ok(())
    }

    /// Returns the document at `index` (from 0, within the block), without its newline. `None` if the block
    /// is shorter.
    pub(super) fn line_at(&self, index: usize) -> Option<&[u8]> {
        let start = match index.checked_sub(1) {
            Some(previous) => self.ends.get(previous)? + 1,
            None => 0,
        };
        self.bytes.get(start..*self.ends.get(index)?)
    }

    /// Removes all documents, so that documents of another input can be added.
    pub(super) fn clear(&mut self, tally: &ReadProgress) {
        self.bytes.clear();
        self.ends.clear();
        self.numbers.clear();
        self.starts.clear();
        self.faults.clear();
        (self.input, self.first_line) = (tally.input, tally.lines + 1);
    }

    /// Adds a document that begins at offset `start` of its decoded input. `append` writes it as one line,
    /// without the newline.
    pub(super) fn push(&mut self, start: u64, tally: &mut ReadProgress, append: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        append(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.push(b'\n');
        self.starts.push(start);
        tally.documents += 1;
        tally.lines += 1;
        tally.bytes += (self.bytes.len() - before) as u64;
    }

    /// Notes the fault of the last document, with its offset in the document as its input has it.
    pub(super) fn note_fault(&mut self, fault: Fault) {
        self.faults.push((self.ends.len().saturating_sub(1), fault));
    }

    /// Finds the lines in `bytes`, which must be empty or end with a newline. Removes blank lines and a
    /// carriage return before a newline.
    pub(super) fn index(&mut self, tally: &mut ReadProgress) {
        self.ends.clear();
        self.numbers.clear();
        self.starts.clear();
        self.faults.clear();
        (self.input, self.first_line) = (tally.input, tally.lines + 1);
        let mut start = 0;
        let mut dirty_start = None;
        for end in memchr_iter(b'\n', &self.bytes) {
            // A line that begins with a printable byte and does not end with a carriage return needs no
            // cleaning.
            if self.bytes[start] <= b' ' || self.bytes[end.saturating_sub(1)] == b'\r' {
                dirty_start = Some(start);
                break;
            }
            self.ends.push(end);
            start = end + 1;
        }
        if let Some(start) = dirty_start {
            self.clean_from(start, tally);
        } else {
            tally.lines += self.ends.len() as u64;
        }
        tally.documents += self.ends.len() as u64;
        tally.bytes += self.bytes.len() as u64;
    }

    /// Compacts the lines from offset `start` on, overwriting blank lines and carriage returns.
    #[cold]
    fn clean_from(&mut self, start: usize, tally: &mut ReadProgress) {
        let (mut source, mut target) = (start, start);
        let clean_lines = self.ends.len() as u64;
        self.numbers.extend((0..clean_lines).map(|index| self.first_line + index));
        let mut number = self.first_line + clean_lines;
        while let Some(length) = memchr::memchr(b'\n', &self.bytes[source..]) {
            let next_start = source + length + 1;
            let mut end = next_start - 1;
            if end > source && self.bytes[end - 1] == b'\r' {
                end -= 1;
                tally.carriage_returns += 1;
            }
            if self.bytes[source..end].iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                tally.blank_lines += 1;
            } else {
                self.bytes.copy_within(source..end, target);
                target += end - source;
                self.bytes[target] = b'\n';
                self.ends.push(target);
                self.numbers.push(number);
                target += 1;
            }
            source = next_start;
            number += 1;
        }
        tally.lines = number - 1;
        self.bytes.truncate(target);
    }
}

/// Iterator over the documents of a block.
#[derive(Clone, Debug)]
pub struct BlockLines<'a> {
    bytes: &'a [u8],
    ends: std::slice::Iter<'a, usize>,
    start: usize,
}

impl<'a> Iterator for BlockLines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let end = *self.ends.next()?;
        let line = self.bytes.get(self.start..end)?;
        self.start = end + 1;
        Some(line)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ends.size_hint()
    }
}

impl ExactSizeIterator for BlockLines<'_> {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn indexed(bytes: &[u8]) -> (Block, ReadProgress) {
        let mut block = Block { bytes: bytes.to_vec(), ends: vec![7], ..Block::default() };
        let mut tally = ReadProgress::default();
        block.index(&mut tally);
        (block, tally)
    }

    #[test]
    fn plain_lines_stay_as_they_are() {
        let (block, tally) = indexed(b"{}\n[1]\nx\n");
        assert_eq!(block.bytes(), b"{}\n[1]\nx\n");
        assert_eq!(block.lines().collect::<Vec<_>>(), [b"{}".as_slice(), b"[1]", b"x"]);
        assert_eq!(tally, ReadProgress { documents: 3, bytes: 9, lines: 3, ..ReadProgress::default() });
        assert_eq!([0, 1, 2].map(|index| block.line_number(index)), [1, 2, 3]);
    }

    #[test]
    fn blank_lines_and_carriage_returns_go() {
        let (block, tally) = indexed(b"\n{}\r\n \t\r\n  [1] \n\r\r\nx\r\r\n\n");
        assert_eq!(block.bytes(), b"{}\n  [1] \nx\r\n");
        assert_eq!(block.lines().collect::<Vec<_>>(), [b"{}".as_slice(), b"  [1] ", b"x\r"]);
        assert_eq!(
            tally,
            ReadProgress {
                documents: 3,
                bytes: 13,
                blank_lines: 4,
                carriage_returns: 4,
                lines: 7,
                ..ReadProgress::default()
            }
        );
        assert_eq!([0, 1, 2].map(|index| block.line_number(index)), [2, 4, 6]);
    }

    proptest! {
        #[test]
        fn cleaning_agrees_with_splitting(text in "[ \t\r\nab]{0,60}\n") {
            let (block, tally) = indexed(text.as_bytes());
            let mut blank = 0;
            let mut expected: Vec<&str> = Vec::new();
            let mut numbers = Vec::new();
            for (number, line) in (1..).zip(text.strip_suffix('\n').unwrap().split('\n')) {
                let line = line.strip_suffix('\r').unwrap_or(line);
                if line.trim_matches([' ', '\t', '\r']).is_empty() {
                    blank += 1;
                } else {
                    expected.push(line);
                    numbers.push(number);
                }
            }
            let lines: Vec<_> = block.lines().map(|line| std::str::from_utf8(line).unwrap()).collect();
            prop_assert_eq!(&lines, &expected);
            prop_assert_eq!(tally.blank_lines, blank);
            let joined: String = expected.iter().flat_map(|line| [line, "\n"]).collect();
            prop_assert_eq!(block.bytes(), joined.as_bytes());
            for (index, line) in expected.iter().enumerate() {
                prop_assert_eq!(block.line_at(index), Some(line.as_bytes()));
                prop_assert_eq!(block.line_number(index), numbers[index]);
            }
            prop_assert_eq!(tally.lines, blank + expected.len() as u64);
            // Without every other line.
            let mut start = 0;
            let mut skipped = Vec::new();
            for (index, line) in expected.iter().enumerate() {
                let end = start + line.len() + 1;
                if index % 2 == 0 { skipped.push(start..end) }
                start = end;
            }
            let remaining = block.without(&skipped);
            let remaining_lines: Vec<&[u8]> =
                expected.iter().skip(1).step_by(2).map(|line| line.as_bytes()).collect();
            prop_assert_eq!(remaining.lines().collect::<Vec<_>>(), remaining_lines);
            for (index, number) in numbers.iter().skip(1).step_by(2).enumerate() {
                prop_assert_eq!(remaining.line_number(index), *number);
            }
            prop_assert_eq!(block.line_at(expected.len()), None);
        }
    }
}
