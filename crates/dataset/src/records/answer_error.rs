//! Faults found while verifying answers.

/// Fault of an answer and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at byte {position}")]
pub struct AnswerError {
    /// Kind of the fault, e.g. a wrong value.
    pub fault: AnswerFault,
    /// Byte offset in the text. For a fault of a whole answer, the position of the row or element.
    pub position: usize,
}

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerFault {
    /// The text is not JSON.
    #[error("no JSON")]
    Syntax,
    /// The text ends too early.
    #[error("the text ends too early")]
    Truncated,
    /// More text follows after the document.
    #[error("text behind the document")]
    Trailing,
    /// A member or element is missing.
    #[error("a missing member")]
    Missing,
    /// A member occurs twice in an object.
    #[error("a member twice")]
    Doubled,
    /// A member or element that the document does not have.
    #[error("an additional member")]
    Additional,
    /// A value has another type than expected.
    #[error("a value of another type")]
    Type,
    /// A string value does not begin with a version tag.
    #[error("a value without a tag")]
    Tag,
    /// A value does not match its record, path and tag.
    #[error("a wrong value")]
    Value,
    /// The document differs from the one that was loaded, apart from the value that writes change.
    #[error("another document than the one that was loaded")]
    Document,
    /// The files with which the answer has to be compared cannot be read.
    #[error("the files of the records cannot be read")]
    Files,
    /// The key in a document or row is malformed or that of another record.
    #[error("a wrong key")]
    Key,
    /// Values have versions that no write can have left together.
    #[error("values of different versions")]
    Mixed,
    /// A record or element that was not requested.
    #[error("a record that was not asked for")]
    Unasked,
    /// A record that belongs to the answer is missing.
    #[error("a record left out")]
    Omitted,
    /// Records are not in the order of their keys.
    #[error("records out of order")]
    Order,
    /// A row too many, or a row with an unexpected number of columns.
    #[error("a row too many")]
    Surplus,
}
