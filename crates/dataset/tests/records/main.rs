//! Records: documents made, and answers over them checked.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod answers;
mod common;
mod documents;
mod keys;
mod source;
mod wrong;
