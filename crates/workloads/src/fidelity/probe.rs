//! Stores one document in one way, and reads it back in both ways.

use std::{path::Path, time::Duration};

use jsonathlon_catalogue::{FidelitySetup, LoadMode};
use jsonathlon_dataset::fidelity::{Case, MEMBER};
use jsonathlon_schema::finding_state::FindingState;
use jsonathlon_schema::{
    record::{Failure, FailureKind, Finding},
    value::Value,
};
use jsonathlon_worker::protocol::{AskReply, LoadMethod, LoadReply, Op};

use super::outcome::{
    document_finding, engine_failure_finding, message_finding, unreadable_finding, value_finding,
};
use crate::{
    plain_name::PlainName,
    run_context::TABLE,
    session::{Session, TrialError},
};

/// A way to store a document: bulk load path or statement parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertPath {
    Bulk,
    Parameter,
}

impl InsertPath {
    pub(super) const BOTH: [Self; 2] = [Self::Bulk, Self::Parameter];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::Parameter => "parameter",
        }
    }
}

/// One document with the settings for storing and reading it.
pub(super) struct Probe<'p> {
    pub(super) case: &'p Case,
    pub(super) setup: FidelitySetup,
    /// File that contains the document.
    pub(super) file: &'p Path,
    pub(super) limit: Duration,
}

/// Result of a request, or the failure of the engine, which is a finding.
type ProbeResult<T> = Result<T, Failure>;

impl Probe<'_> {
    /// Stores and reads the document in one way. Returns the findings, and whether the engine is healthy and
    /// the document removed. An error concerns the machine or the folder's statements, not the document.
    pub(super) fn run(
        &self,
        insert_path: InsertPath,
        session: &mut Session<'_>,
    ) -> Result<(Vec<Finding>, bool), TrialError> {
        if let Some(reason) = self.skip_reason(insert_path) {
            let finding = message_finding(insert_path.word(), FindingState::NotTested, reason);
            return Ok((vec![finding], true));
        }
        let create = session.statements("create", &[("table", TABLE)])?;
        session.run(create, self.limit)?;
        let result = match insert_path {
            InsertPath::Bulk => self.load_bulk(session),
            InsertPath::Parameter => self.insert_parameter(session),
        };
        let rejection = match split_failure(result)? {
            Ok(reply) => reply.rejects.into_iter().next().map(|reject| reject.reason),
            Err(failure) if failure.kind == FailureKind::Refused => Some(failure.error),
            Err(failure) if is_engine_failure(&failure) => {
                return Ok((vec![engine_failure_finding(insert_path.word(), &failure)], false));
            }
            // Neither a rejection nor the end of the engine: the client could not send the document.
            Err(failure) => {
                let finding = message_finding(insert_path.word(), FindingState::NotSent, &failure.error);
                return Ok((vec![finding], self.drop_document(session)?));
            }
        };
        if let Some(message) = rejection {
            let finding = message_finding(insert_path.word(), FindingState::Rejected, &message);
            return Ok((vec![finding], self.drop_document(session)?));
        }
        let mut findings = vec![Finding::new(insert_path.word(), FindingState::Accepted)];
        let subject = format!("{}, whole", insert_path.word());
        match split_failure(self.read_document(session))? {
            Ok(rows) => findings.push(document_finding(&subject, self.case, &rows, self.reads_hex())),
            Err(failure) if is_engine_failure(&failure) => {
                findings.push(engine_failure_finding(&subject, &failure));
                return Ok((findings, false));
            }
            Err(failure) => findings.push(unreadable_finding(&subject, &failure.error)),
        }
        if self.setup.can_extract && self.case.has_member() {
            let subject = format!("{}, value", insert_path.word());
            match split_failure(self.read_value(session))? {
                Ok(rows) => {
                    findings.push(value_finding(&subject, self.case, &rows, self.setup.extracted_form))
                }
                Err(failure) if is_engine_failure(&failure) => {
                    findings.push(engine_failure_finding(&subject, &failure));
                    return Ok((findings, false));
                }
                Err(failure) => findings.push(unreadable_finding(&subject, &failure.error)),
            }
        }
        Ok((findings, self.drop_document(session)?))
    }

    /// Returns why the document is not written in this way; `None` if it is written.
    fn skip_reason(&self, insert_path: InsertPath) -> Option<&'static str> {
        match insert_path {
            InsertPath::Bulk if self.setup.one_document_per_line && !self.case.is_one_line() => {
                Some("the bulk path takes a document a line, and this one has several")
            }
            InsertPath::Parameter if !self.setup.can_insert => Some("its folder has no statement for this"),
            InsertPath::Parameter if std::str::from_utf8(&self.case.bytes).is_err() => {
                Some("a parameter is text, which is UTF-8")
            }
            _ => None,
        }
    }

    fn load_bulk(&self, session: &mut Session<'_>) -> Result<LoadReply, TrialError> {
        let plain_name = PlainName::new(self.file)?;
        let path = plain_name.text();
        let values = [("table", TABLE), ("file", path.as_str())];
        let load = match self.setup.load {
            LoadMode::File => LoadMethod::Statement { statements: session.statements("load", &values)? },
            LoadMode::Rows | LoadMode::Stream => LoadMethod::Whole {
                statement: session.statement("load", &values)?,
                file: self.file.to_owned(),
            },
        };
        session.request(&Op::Load { load, sync: false }, self.limit, &mut |_| {})
    }

    fn insert_parameter(&self, session: &mut Session<'_>) -> Result<LoadReply, TrialError> {
        let statements = session.statements_with_parameters("insert", &[("table", TABLE)])?;
        let statement = statements.into_iter().next().unwrap_or_default();
        let load = LoadMethod::Parameter { statement, file: self.file.to_owned() };
        session.request(&Op::Load { load, sync: false }, self.limit, &mut |_| {})
    }

    /// Whether the document is read back as hexadecimal digits, because it is not UTF-8.
    fn reads_hex(&self) -> bool {
        self.setup.can_read_hex && std::str::from_utf8(&self.case.bytes).is_err()
    }

    fn read_document(&self, session: &mut Session<'_>) -> Result<Vec<Option<Value>>, TrialError> {
        let file = if self.reads_hex() { "read_hex" } else { "read" };
        let statement = session.statement(file, &[("table", TABLE)])?;
        self.first_column(statement, session)
    }

    fn read_value(&self, session: &mut Session<'_>) -> Result<Vec<Option<Value>>, TrialError> {
        let statement = session.statement("value", &[("table", TABLE), ("member", MEMBER)])?;
        self.first_column(statement, session)
    }

    /// First column of each row of the answer.
    fn first_column(
        &self,
        statement: String,
        session: &mut Session<'_>,
    ) -> Result<Vec<Option<Value>>, TrialError> {
        let reply: AskReply = session.request(&Op::Ask { statement }, self.limit, &mut |_| {})?;
        if reply.outcome.replaced > 0 {
            // The client cannot decode the text, so nothing is known about what the system stored.
            return Err(TrialError::failed(FailureKind::Protocol, "the text is not UTF-8"));
        }
        Ok(reply.outcome.rows.into_iter().map(|row| row.into_iter().next()).collect())
    }

    /// Removes the document, usually with its table. Returns `false` if that fails, so that the engine must
    /// start with an empty folder.
    fn drop_document(&self, session: &mut Session<'_>) -> Result<bool, TrialError> {
        let drop = session.statements("drop", &[("table", TABLE)])?;
        Ok(split_failure(session.run(drop, self.limit))?.is_ok())
    }
}

/// Returns `true` if the engine has crashed or hangs.
fn is_engine_failure(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Crash | FailureKind::Timeout)
}

/// Separates failures of the engine, which are findings, from errors that end the run.
fn split_failure<T>(result: Result<T, TrialError>) -> Result<ProbeResult<T>, TrialError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(TrialError::Failed(failure)) => Ok(Err(failure)),
        Err(error) => Err(error),
    }
}
