//! How far a source has been read, and what was in it.

/// What has been read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Documents: lines that are not blank.
    pub documents: u64,
    /// Their bytes, each with one newline.
    pub bytes: u64,
    /// Lines of nothing but white space, which are no documents.
    pub blank_lines: u64,
    /// Lines that ended with a carriage return, which was taken off.
    pub carriage_returns: u64,
    /// Last lines of a file that had no newline.
    pub unterminated: u64,
    /// Byte order marks at the beginning of inputs, which are no part of a document and were taken off.
    pub byte_order_marks: u64,
    /// Which of the source's inputs was read last, from 0.
    pub input: u32,
    /// Lines of that input so far, whatever is on them.
    pub lines: u64,
    /// How far the reading is, in the unit of `total`: bytes as stored, or documents of a generator.
    pub done: u64,
    /// How far it goes, where that is known beforehand.
    pub total: Option<u64>,
}
