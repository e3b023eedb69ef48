//! Mixed load: right answers to questions that are asked while writers add documents, and verdicts on what
//! was answered.
//!
//! Every writer adds its documents in a known order, so that what a question has seen is one number for each
//! writer, its *prefix*. A [`Sweep`] gives the right answer over the documents of the beginning and any
//! prefixes; [`judge`] walks it through all questions of a trial once, after the trial, and says of each
//! whether it was answered right. Where an answer is of no single moment, bounds decide: all that was
//! acknowledged before the question began must be in it, and nothing that was not sent before it ended.
//!
//! Everything here is pure: no clock, no file, no database.

#![forbid(unsafe_code)]

mod bounds;
mod documents;
mod history;
mod judge;
mod pool;
mod posters;
mod prefixes;
mod seen;
mod sweep;
mod texts;
mod verdict;

pub use documents::{Documents, DocumentsBuilder};
pub use history::{EndError, WriterHistory, acknowledged, check_end, stale_ns};
pub use jsonathlon_schema::visibility::Visibility;
pub use judge::{AskedQuestion, Declared, judge};
pub use pool::{Pool, documents_of_writer, pool_position};
pub use prefixes::Prefixes;
pub use seen::{SeenCount, SeenDocuments, SeenError};
pub use sweep::{Steps, Sweep, SweepError};
pub use verdict::{Judgement, QuestionVerdict, VerdictCounts, WrongReason, first_wrong};
