//! Proposes key and updated path of staged documents. They are those of the data profile of the same documents.

use super::key_candidates::KeyCandidates;
use super::key_proposal::{Excluded, KeyCandidate, KeyProposal, UpdateProposal, propose_key, propose_update};
use super::options::DescribeOptions;
use super::paths::Paths;
use super::tokens::Tokens;
use crate::error::DataError;
use crate::scan::Scanner;
use crate::stage::StagedDocuments;

/// Key and updated path that the user named, and which therefore are not proposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamedPaths<'a> {
    /// JSON pointer (RFC 6901) of the key, or `line` for the number of the document. `None` if a key is to be
    /// proposed.
    pub key: Option<&'a str>,
    /// JSON pointer of the path that updates set. `None` if one is to be proposed.
    pub update: Option<&'a str>,
}

/// Key and updated path that are proposed for staged documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposals {
    /// `None` if the user named the key.
    pub key: Option<KeyProposal>,
    /// `None` if the user named the path, or if no path is fit.
    pub update: Option<UpdateProposal>,
}

/// Proposes what the user did not name, so that key and updated path are different. Without named paths, it
/// is what [`describe`](super::describe) proposes with the default options for the same documents.
///
/// Reads all documents once, in their order, or none if both paths are named. The proposed key is unique,
/// unless its reason says that it only seems so. `cancelled` is called for every block of documents.
///
/// # Errors
///
/// If the documents cannot be read again; [`DataError::Cancelled`] if `cancelled` returned `true`.
pub fn propose_for_staged(
    staged: &StagedDocuments,
    named: NamedPaths<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Proposals, DataError> {
    if named.key.is_some() && named.update.is_some() {
        return Ok(Proposals::default());
    }
    let options = DescribeOptions::default();
    let mut keys = named.key.is_none().then(|| KeyCandidates::new(options.max_keys, options.max_key_hashes));
    let mut paths = named.update.is_none().then(|| Paths::new(options.max_paths));
    let mut scanner = Scanner::new();
    let mut observe = |_: u64, document: &[u8], _: bool| {
        if let Some(keys) = &mut keys {
            keys.start(document);
            Tokens::new(document).for_each(|token| keys.token(&token));
            keys.end(None);
        }
        if let Some(paths) = &mut paths {
            // Documents that are not covered are no reason against any path.
            let _ = paths.observe_document(document, scanner.scan(document).traits);
        }
        Ok(())
    };
    let mut check = || if cancelled() { Err(DataError::Cancelled) } else { Ok(()) };
    staged.visit_in_order(&mut observe, &mut check)?;
    let key = keys.map(|keys| propose_other_key(keys.finish().candidates, named.update));
    let key_pointer = named.key.or_else(|| key.as_ref()?.pointer.as_deref());
    let update = paths.and_then(|paths| {
        let excluded = Excluded { key: key_pointer, large: &paths.with_large_integers() };
        propose_update(&paths.finish(), staged.documents, &excluded)
    });
    Ok(Proposals { key, update })
}

/// Proposes a key that is not the path that updates set.
fn propose_other_key(mut candidates: Vec<KeyCandidate>, updated: Option<&str>) -> KeyProposal {
    let found = candidates.len();
    candidates.retain(|candidate| Some(candidate.pointer.as_str()) != updated);
    let mut key = propose_key(&candidates);
    if let Some(updated) = updated.filter(|_| candidates.len() < found) {
        key.reason += &format!("; {updated} is left out, because updates set it");
    }
    key
}
