//! Keying: gives each of the user's documents its key, for the serving workload.
//!
//! [`key_documents`] reads staged documents once. It writes the rows that systems load,
//! `{"key":…,"doc":{…}}`, and the files by which clients know the records ([`OwnRecords`]), in bounded
//! memory.

mod document;
mod index_writer;
mod rows;
mod scalar_paths;
mod sort;

use std::cell::Cell;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::DataError;
use crate::own_records::{
    INDEX_FILE, KEYS_FILE, OwnPath, OwnRecords, Pointer, ROWS_FILE, UpdateKind, UpdatePath,
};
use crate::records::KeyType;
use crate::stage::{Progress, SUSPECTS_FILE, StagedDocuments, VisitDocument};

use document::DocumentKeyer;
use index_writer::IndexWriter;
use rows::RowWriter;
use sort::KeySorter;

/// Where the key of a document is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyChoice {
    /// The key is the number of the document in the data, from 1. It does not stand in the document.
    Line,
    /// The key is the value at this path, a text or an integer.
    Path(Pointer),
}

/// How documents become records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyingOptions {
    /// Where the keys are.
    pub key: KeyChoice,
    /// Path of the value that writes change, a text or an integer. `None` if documents are not updated.
    pub update: Option<Pointer>,
    /// Seed by which the documents of inserts are chosen.
    pub seed: u64,
    /// Top-level members that mean something to systems, such as those in which they keep the key; see
    /// [`OwnRecords::uses_member`].
    pub key_members: Vec<String>,
}

/// Documents with their keys.
#[derive(Clone, Debug)]
pub struct KeyedDocuments {
    /// The rows to load. They have the same numbers as the documents.
    pub staged: StagedDocuments,
    /// The records as clients need them: keys, paths and files.
    pub records: OwnRecords,
}

/// Keys staged documents, and writes rows and index to `folder`, which is created if it does not exist and
/// must not be the folder in which they were staged. `progress` is called after every block of documents. On
/// any error, partial files are removed.
///
/// # Errors
///
/// [`DataError::Key`] if a document is no object, its key is missing, of another type, longer than 255 bytes,
/// or that of another document, or if no document has a text or integer at the update path.
/// [`DataError::ChangedDocuments`] if the documents were changed after they were staged.
/// [`DataError::Cancelled`] if `cancelled` returned `true`. Errors of reading and writing files.
pub fn key_documents(
    staged: &StagedDocuments,
    folder: &Path,
    options: &KeyingOptions,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<KeyedDocuments, DataError> {
    std::fs::create_dir_all(folder).map_err(|error| DataError::io("write", folder, error))?;
    if staged.is_staged_in(folder) {
        // The suspects' rows would replace the suspects.
        return Err(DataError::InTheWay { path: folder.join(SUSPECTS_FILE) });
    }
    let remove_files = || {
        for name in [ROWS_FILE, SUSPECTS_FILE, INDEX_FILE, KEYS_FILE] {
            // Best effort: files that do not exist are not removed.
            let _ = std::fs::remove_file(folder.join(name));
        }
    };
    // Files of an earlier keying must not be mistaken for results of this one.
    remove_files();
    let outcome = key(staged, folder, options, progress, cancelled);
    if outcome.is_err() {
        remove_files();
    }
    outcome
}

fn key(
    staged: &StagedDocuments,
    folder: &Path,
    options: &KeyingOptions,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
) -> Result<KeyedDocuments, DataError> {
    let samples = parse_samples(staged);
    let key_path = match &options.key {
        KeyChoice::Line => None,
        KeyChoice::Path(pointer) => Some(resolve(pointer, &samples)),
    };
    let update_path = options.update.as_ref().map(|pointer| resolve(pointer, &samples));
    if key_path.is_some() && key_path == update_path {
        let reason = "`--key` and `--update` name the same path: an update would change the key".to_owned();
        return Err(DataError::Key { reason });
    }
    let mut keyer = DocumentKeyer::new(staged, key_path.as_ref(), update_path.as_ref(), &options.key_members);
    let mut rows = RowWriter::create(folder)?;
    let mut sorter = KeySorter::new(folder);
    let mut index = IndexWriter::create(folder)?;
    let mut key = Vec::new();
    let mut visit = |ordinal: u64, text: &[u8], is_suspect: bool| {
        key.clear();
        let mut entry = keyer.read(ordinal, text, &mut key)?;
        let is_text = key_path.is_some() && keyer.key_type() == KeyType::Text;
        rows.write(is_text.then_some(&*key), text, is_suspect, staged, &mut entry)?;
        match (&key_path, is_text) {
            // Documents are in the order of their numbers.
            (None, _) => index.add(&[], &entry),
            (Some(_), true) => sorter.push(&key, &entry),
            (Some(_), false) => sorter.push(&ordered_bytes(entry.key), &entry),
        }
    };
    visit_all(staged, progress, cancelled, &mut visit)?;
    if let Some(duplicate) = add_sorted(sorter, &mut index)? {
        return Err(duplicate_key(duplicate, &keyer, key_path.as_ref()));
    }
    let update = update_path.map(|path| decide_update(path, &keyer)).transpose()?;
    let key_type = if key_path.is_some() { keyer.key_type() } else { KeyType::Bigint };
    let (new_keys, max_key_bytes) = index.finish(key_type)?;
    let records = OwnRecords {
        folder: folder.to_path_buf(),
        documents: staged.documents,
        key_type,
        max_key_bytes,
        new_keys,
        paths: scalar_paths::scalar_paths(&samples),
        seed: options.seed,
        digest: digest(staged, key_path.as_ref(), update.as_ref()),
        members_in_use: keyer.members_in_use(),
        key: key_path,
        update,
        key_member: None,
    };
    Ok(KeyedDocuments { staged: rows.finish(staged, folder)?, records })
}

/// Adds the sorted records to the index. Returns the numbers of the first two documents with the same key:
/// the pair whose second one comes first.
fn add_sorted(sorter: KeySorter, index: &mut IndexWriter) -> Result<Option<(u64, u64)>, DataError> {
    let mut duplicate: Option<(u64, u64)> = None;
    let mut previous: Option<(Vec<u8>, u64)> = None;
    sorter.finish(&mut |key, entry| {
        let second = entry.ordinal;
        if let Some((previous_key, first)) = &previous
            && previous_key.as_slice() == key
            && duplicate.is_none_or(|(_, earliest)| second < earliest)
        {
            duplicate = Some((*first, second));
        }
        let (buffer, ordinal) = previous.get_or_insert_default();
        key.clone_into(buffer);
        *ordinal = second;
        index.add(key, &entry)
    })?;
    Ok(duplicate)
}

fn duplicate_key(
    (first, second): (u64, u64),
    keyer: &DocumentKeyer<'_>,
    path: Option<&OwnPath>,
) -> DataError {
    let path = path.map(OwnPath::to_string).unwrap_or_default();
    let reason = format!(
        "{} and {} have the same key at {path}; name a path by `--key` that tells documents apart, or use \
         `--key line`",
        keyer.place(first),
        keyer.place(second)
    );
    DataError::Key { reason }
}

fn digest(staged: &StagedDocuments, key: Option<&OwnPath>, update: Option<&UpdatePath>) -> String {
    let parts = (&staged.digest, key.map(OwnPath::to_string), update.map(|update| update.path.to_string()));
    format!("blake3:{}", blake3::hash(format!("{parts:?}").as_bytes()).to_hex())
}

/// Encodes an integer key so that the order of the bytes is that of the integers.
fn ordered_bytes(key: u64) -> [u8; 8] {
    (key ^ 1 << 63).to_be_bytes()
}

fn parse_samples(staged: &StagedDocuments) -> Vec<(&[u8], Value)> {
    let parse = |line: &Vec<u8>| serde_json::from_slice(line).ok();
    let parsed =
        staged.samples.iter().filter_map(|sample| Some((sample.line.as_slice(), parse(&sample.line)?)));
    parsed.collect()
}

/// Resolves a path by the first sampled document that has it.
fn resolve(pointer: &Pointer, samples: &[(&[u8], Value)]) -> OwnPath {
    let found = samples.iter().find_map(|(_, document)| pointer.resolve(document));
    found.unwrap_or_else(|| pointer.as_members())
}

fn decide_update(path: OwnPath, keyer: &DocumentKeyer<'_>) -> Result<UpdatePath, DataError> {
    let (kind, documents) = match keyer.texts >= keyer.integers {
        true => (UpdateKind::Text, keyer.texts),
        false => (UpdateKind::Integer, keyer.integers),
    };
    if documents == 0 {
        let reason = format!(
            "no document has one text or integer at {path}, which a version could replace; name another path by \
             `--update`"
        );
        return Err(DataError::Key { reason });
    }
    Ok(UpdatePath { path, kind, documents })
}

/// Visits all documents in the order of their numbers, and checks that they are those that were staged.
fn visit_all(
    staged: &StagedDocuments,
    progress: &mut dyn FnMut(Progress),
    cancelled: &dyn Fn() -> bool,
    visit: &mut VisitDocument<'_>,
) -> Result<(), DataError> {
    let mut hasher = blake3::Hasher::new();
    let state = Cell::new(Progress { total: Some(staged.documents), ..Progress::default() });
    let mut take = |ordinal: u64, text: &[u8], is_suspect: bool| {
        hasher.update(text);
        hasher.update(b"\n");
        visit(ordinal, text, is_suspect)?;
        let before = state.get();
        state.set(Progress {
            documents: ordinal + 1,
            bytes: before.bytes + text.len() as u64 + 1,
            suspects: before.suspects + u64::from(is_suspect),
            done: ordinal + 1,
            total: before.total,
        });
        Ok(())
    };
    let mut pause = || {
        progress(state.get());
        if cancelled() { Err(DataError::Cancelled) } else { Ok(()) }
    };
    staged.visit_in_order(&mut take, &mut pause)?;
    progress(state.get());
    if crate::digest::digest_text(&hasher) != staged.digest {
        return Err(DataError::ChangedDocuments { path: staged.clean_file.clone() });
    }
    Ok(())
}
