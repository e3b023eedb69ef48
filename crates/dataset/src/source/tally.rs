//! Reading progress of a source and counts of what was found in it.

/// Counts of a source up to its current reading position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Number of documents, i.e. lines that are not blank.
    pub documents: u64,
    /// Size of the documents in bytes, each with one newline.
    pub bytes: u64,
    /// Number of lines with white space only, which are not documents.
    pub blank_lines: u64,
    /// Number of lines that ended with a carriage return, which was removed.
    pub carriage_returns: u64,
    /// Number of inputs whose last line had no newline.
    pub unterminated: u64,
    /// Number of inputs that began with a byte order mark, which was removed.
    pub byte_order_marks: u64,
    /// Index of the input that was read last, from 0.
    pub input: u32,
    /// Number of lines read from that input, including blank lines.
    pub lines: u64,
    /// Current position, in the unit of `total`: stored bytes, or documents for generators.
    pub done: u64,
    /// Final position. `None` if it is not known in advance.
    pub total: Option<u64>,
}
