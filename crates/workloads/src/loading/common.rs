//! Loads the documents that several configurations hold once more, untimed, so that all answer questions
//! about the same documents.

use std::time::Duration;

use jsonathlon_schema::record::FailureKind;

use super::file::{document_count, load_file, remove};
use super::{reject_search, settle};
use crate::RunError;
use crate::recorder::TrialRecorder;
use crate::run_context::{LoadedDocuments, RunContext};
use crate::scratch::sibling_path;
use crate::session::{Session, TrialError};

impl RunContext<'_> {
    /// Loads exactly these documents, untimed, into a new `table` and waits until they can be queried.
    ///
    /// # Errors
    /// [`FailureKind::Refused`] if the system rejects a document that it accepted before,
    /// [`FailureKind::Wrong`] if the table has another number of documents afterwards.
    pub(crate) fn load_common_documents(
        &self,
        documents: &LoadedDocuments,
        table: &str,
        session: &mut Session<'_>,
        recorder: &mut TrialRecorder<'_>,
    ) -> Result<(), TrialError> {
        let (staged, limit) = (self.staged, Duration::from_secs_f64(self.settings.load_timeout_s));
        session.open()?;
        session.run(session.statements("create", &[("table", table)])?, limit)?;
        let mut rejected_lines: Vec<u64> = documents.rejected_lines.iter().copied().collect();
        rejected_lines.sort_unstable();
        let clean_count = staged.clean_documents.saturating_sub(rejected_lines.len() as u64);
        let mut replies = Vec::new();
        let part_path = sibling_path(session.folder(), "common");
        if clean_count > 0 {
            reject_search::copy_without(&staged.clean_file, rejected_lines, &part_path)?;
            replies.push(load_file(session, table, &part_path, Some(clean_count), limit, recorder));
        }
        for suspect in
            documents.accepted_suspects.iter().filter_map(|position| staged.suspects.get(*position))
        {
            if replies.iter().any(Result::is_err) {
                break;
            }
            let bytes = staged.suspect_bytes(suspect).map_err(RunError::io("read a suspect document"))?;
            let line = [&bytes, &b"\n"[..]].concat();
            std::fs::write(&part_path, line)
                .map_err(RunError::io(format!("write {}", part_path.display())))?;
            replies.push(load_file(session, table, &part_path, Some(1), limit, recorder));
        }
        remove(&part_path)?;
        for reply in replies {
            if let Some(reject) = reply?.rejects.into_iter().next() {
                return Err(TrialError::failed(FailureKind::Refused, reject.reason));
            }
        }
        let index_statements = session.statements("index", &[("table", table)])?;
        if !index_statements.is_empty() {
            session.run(index_statements, limit)?;
        }
        settle(session, "drain", table, self.settings.load_timeout_s, !session.is_remote())?;
        let (count, expected) =
            (document_count(session, table, limit)?, clean_count + documents.accepted_suspects.len() as u64);
        if count == expected {
            return Ok(());
        }
        let error = format!("{count} documents are in the table, {expected} were given");
        Err(TrialError::failed(FailureKind::Wrong, error))
    }
}
