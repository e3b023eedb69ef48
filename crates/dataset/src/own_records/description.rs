//! Description of own records, as jobs and manifests hold it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::files::RecordFiles;
use super::keys::NewKeys;
use super::pointer::{OwnPath, pointer_step};
use crate::error::DataError;
use crate::records::{KeyType, PathSegment};
use crate::value_digest::{CapturePlan, ValueDigester};

/// The user's documents as records with keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnRecords {
    /// Folder of the files that `keying` has written.
    pub folder: PathBuf,
    /// Number of documents, which are the records 0 to `documents` − 1 in the order of their keys.
    pub documents: u64,
    /// Type of the keys.
    pub key_type: KeyType,
    /// Path of the key in the documents. `None` if the key of a document is its number in the data, from 1.
    pub key: Option<OwnPath>,
    /// Length of the longest key in bytes, keys of new records included. 0 for integers.
    pub max_key_bytes: u32,
    /// How keys of new records are made.
    pub new_keys: NewKeys,
    /// Path whose value writes change. `None` if documents are not updated.
    pub update: Option<UpdatePath>,
    /// Paths of scalar values that at least 95 % of the sampled documents have, in document order.
    pub paths: Vec<OwnPath>,
    /// Seed by which the documents of inserts are chosen.
    pub seed: u64,
    /// Digest of the documents, of the path of the key and of the update path.
    pub digest: String,
    /// Those of `KeyingOptions::key_members` that documents have.
    pub members_in_use: Vec<String>,
    /// Top-level member in which the system keeps the key. `None` if it does not keep it in the document.
    #[serde(default)]
    pub key_member: Option<String>,
}

/// Path whose value writes change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatePath {
    /// Where the value is.
    pub path: OwnPath,
    /// Type of the values that are changed; documents with a value of another type are not updated.
    pub kind: UpdateKind,
    /// Number of documents with a value of this type.
    pub documents: u64,
}

/// Type of the values that writes change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateKind {
    /// Texts: eight hexadecimal digits of the version, and as many further characters as keep the length in
    /// bytes of the loaded text.
    Text,
    /// Integers: the version itself.
    Integer,
}

/// Key, document and update value of one record, as examples for reading query plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleRecord {
    /// Characters of the key, or its digits.
    pub key: String,
    /// Text of the document.
    pub document: String,
    /// Characters of the value at the update path, or its digits. Empty if there is none.
    pub value: String,
}

impl OwnRecords {
    /// Returns `true` if this top-level member is the path of the key.
    #[must_use]
    pub fn is_key_path(&self, member: &str) -> bool {
        let Some(OwnPath { steps }) = &self.key else { return false };
        matches!(steps.as_slice(), [PathSegment::Member(name)] if name == member)
    }

    /// Returns `true` if documents have this top-level member. Known only for the members that were named to
    /// `keying`.
    #[must_use]
    pub fn uses_member(&self, member: &str) -> bool {
        self.members_in_use.iter().any(|used| used == member)
    }

    /// Returns why a system that keeps the key in this top-level member cannot hold the documents, and what
    /// to do. `None` if it can. Known only for the members that were named to `keying`.
    #[must_use]
    pub fn member_conflict(&self, member: &str) -> Option<String> {
        if !self.uses_member(member) || self.is_key_path(member) {
            return None;
        }
        let option = format!("--key {}", pointer_step(member));
        // As in exports of MongoDB: `{"_id": {"$oid": …}}`.
        if let Some([PathSegment::Member(first), PathSegment::Member(inner)]) =
            self.key.as_ref().map(|key| key.steps.as_slice())
            && first == member
        {
            return Some(format!(
                "it keeps the key in the member `{member}`, in which documents have an object: take its value out, \
                 for example by `jq -c '.{member} = .{member}[\"{inner}\"]'`, and use `{option}`"
            ));
        }
        let renaming = format!(".own_{} = .{member} | del(.{member})", member.trim_start_matches('_'));
        Some(format!(
            "it keeps the key in the member `{member}`, which documents have for something else: use `{option}` if \
             that tells documents apart, or rename the member, for example by `jq -c '{renaming}'`"
        ))
    }

    /// Reads the record in the middle of the key order.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn example(&self) -> Result<ExampleRecord, DataError> {
        let files = RecordFiles::open(&self.folder, self.documents)?;
        let failed = |error| DataError::io("read", files.folder(), error);
        let entry = files.entry(self.documents / 2).map_err(failed)?;
        let key = files.key_text(&entry, self.key_type).map_err(failed)?;
        let mut document = Vec::new();
        files.document(&entry, &mut document).map_err(failed)?;
        let value = self.value_in(&document).unwrap_or_default();
        Ok(ExampleRecord { key, document: String::from_utf8_lossy(&document).into_owned(), value })
    }

    fn value_in(&self, document: &[u8]) -> Option<String> {
        let mut plan = CapturePlan::default();
        let index = plan.add(&self.update.as_ref()?.path.steps, true)?;
        let mut digester = ValueDigester::new();
        digester.digest(document, &plan).ok()?;
        let captured = digester.captured().get(index)?;
        let bytes = captured.text(document).unwrap_or_else(|| captured.raw(document).into());
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}
