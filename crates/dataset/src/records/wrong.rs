//! What is wrong with an answer.

/// What is wrong with an answer, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at byte {at}")]
pub struct Wrong {
    /// What is wrong.
    pub fault: Fault,
    /// Where in the text, in bytes from its start; the place of a row where a whole answer is wrong.
    pub at: usize,
}

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The text is no JSON.
    #[error("no JSON")]
    Syntax,
    /// The text ends too early.
    #[error("the text ends too early")]
    Truncated,
    /// Something follows the document.
    #[error("text behind the document")]
    Trailing,
    /// A member or element is not there.
    #[error("a missing member")]
    Missing,
    /// A member is there twice.
    #[error("a member twice")]
    Doubled,
    /// There is a member or element that should not be there.
    #[error("an additional member")]
    Additional,
    /// A value is of another type.
    #[error("a value of another type")]
    Type,
    /// A value has no tag.
    #[error("a value without a tag")]
    Tag,
    /// A value is not that of its key, path and tag.
    #[error("a wrong value")]
    Value,
    /// The key in a document is another one.
    #[error("a wrong key")]
    Key,
    /// Values bear versions that no write has left together.
    #[error("values of different versions")]
    Mixed,
    /// A record that does not belong to the answer.
    #[error("a record that was not asked for")]
    Unasked,
    /// A record that belongs to the answer is not in it.
    #[error("a record left out")]
    Omitted,
    /// Records are not in the order of their keys.
    #[error("records out of order")]
    Order,
    /// A row has another number of columns, or is there though there should be none.
    #[error("a row too many")]
    Surplus,
}
