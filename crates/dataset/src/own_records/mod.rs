//! The user's own documents as records of the serving workload.
//!
//! [`OwnRecords`] describes documents that `keying` has keyed, and is part of jobs. [`OwnRecordSet`] makes
//! the documents that clients write, and verifies answers. Record numbers are in the order of the keys;
//! inserted records have greater numbers, and their document is one of the data with a key of its own. Writes
//! set the value at the update path, which bears their version. All other values of a document must stay as
//! the system gave them back after the load: a [`Baseline`] holds their digest by value, eight bytes a
//! record.

mod absence;
mod baseline;
mod choice;
mod description;
mod facts;
mod files;
mod given_back;
mod keys;
mod packed_keys;
mod pointer;
mod projection;
mod scan;
mod set;
mod suitable;
mod verification;
mod versions;

pub use absence::AbsenceMismatch;
pub use baseline::{BaselineReader, BaselineReport};
pub use choice::Need;
pub use description::{ExampleRecord, OwnRecords, UpdateKind, UpdatePath};
pub use facts::Baseline;
pub use files::{INDEX_FILE, KEYS_FILE, ROWS_FILE, SUSPECT_ROWS_FILE};
pub use keys::{NewKeys, OwnKey};
pub use pointer::{OwnPath, Pointer, pointer_step};
pub use projection::OwnCell;
pub use scan::OwnScan;
pub use set::{OwnRecordSet, OwnScratch};

pub(crate) use files::{IndexEntry, UpdateSlot};
pub(crate) use keys::{NEW_KEY_MARKS, NEW_KEYS};
