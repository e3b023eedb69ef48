//! Finds the maximum nesting depth of documents, exact to one level.

use std::time::Duration;

use jsonathlon_catalogue::FidelitySetup;
use jsonathlon_dataset::fidelity::{Case, Nesting};
use jsonathlon_schema::record::Finding;
use jsonathlon_schema::settings::fidelity::RfcRequirement;

use super::{
    document_file::DocumentFile,
    outcome,
    probe::{InsertPath, Probe},
};
use crate::{
    limit,
    session::{Session, TrialError},
};

/// Maximum depth to try: no practical document is deeper, and some engines crash on deeper ones.
const MAX_DEPTH: u64 = 100_000;

/// Subject of the finding whose state is the depth of the deepest accepted document.
const ACCEPTED: &str = "levels accepted";
/// Subject of the finding about the first rejected depth, with the outcome and the system's error message.
const REJECTED: &str = "levels rejected";

/// Searches the deepest document that the system accepts by its bulk load path.
pub(super) fn find(
    nesting: Nesting,
    setup: FidelitySetup,
    file: &DocumentFile,
    limit: Duration,
    session: &mut Session<'_>,
) -> Result<Vec<Finding>, TrialError> {
    let mut rejection = None;
    let search = limit::find::<TrialError>(Nesting::MIN_LEVELS, MAX_DEPTH, |levels| {
        if session.worker_pid().is_none() {
            session.reset_data()?;
            session.open()?;
        }
        let case = Case {
            name: nesting.name().to_owned(),
            requirement: RfcRequirement::Choose,
            source: String::new(),
            probes: nesting.probes().to_owned(),
            bytes: nesting.document(levels),
        };
        file.write(&case.bytes)?;
        // Nothing is extracted: only acceptance matters.
        let setup = FidelitySetup { can_extract: false, ..setup };
        let probe = Probe { case: &case, setup, file: &file.path, limit };
        let (findings, is_healthy) = probe.run(InsertPath::Bulk, session)?;
        if !is_healthy {
            session.kill();
        }
        // The last rejected depth is also the smallest one: bisection accepts every depth that it tries
        // afterwards.
        match findings.into_iter().find(outcome::is_not_stored) {
            None => Ok(true),
            Some(finding) => {
                rejection = Some(finding);
                Ok(false)
            }
        }
    })?;
    let mut findings = Vec::new();
    findings.extend(search.accepted.map(|levels| Finding::new(ACCEPTED, levels.to_string())));
    if let (Some(levels), Some(rejection)) = (search.rejected, rejection) {
        let finding = Finding::new(REJECTED, levels.to_string());
        findings.push(Finding { kinds: vec![rejection.state.into()], message: rejection.message, ..finding });
    }
    Ok(findings)
}
