//! Functional test of a system: the analytics workload on few documents, in a separate folder.

use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::source::Source;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::id::Step;
use jsonathlon_schema::metric::DOCUMENTS_LOADED;
use jsonathlon_schema::record::{FailureKind, RecordBody, Verdict};
use jsonathlon_schema::settings::RunSettings;
use jsonathlon_servers::wait_until_exited;
use jsonathlon_telemetry::series::SubjectHandle;

use crate::RunError;
use crate::analytics::{Analytics, AnalyticsSettings};
use crate::observer::Observer;
use crate::quiet_machine::BusyMachinePolicy;
use crate::run::{RunPlan, start};
use crate::run_context::TABLE;
use crate::session::{Session, TrialError, WorkerCommand};
use crate::target::{EXIT_TIMEOUT, Target};

/// Number of loaded documents: enough for every question to have an answer with several rows.
const DOCUMENTS: u64 = 1000;
/// Timeout of every step. A system that needs longer for a thousand documents is considered broken.
const STEP_LIMIT: Duration = Duration::from_secs(300);

/// What a functional test of a system found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SmokeTestReport {
    /// Version that the system reported when it was opened again; empty if the test failed before.
    pub version: String,
    /// Number of documents that the load reported.
    pub loaded_documents: u64,
    /// Number of questions with the expected answer; approximate answers count where the folder declares
    /// them.
    pub correct_answers: usize,
    /// Problems that were found, with the system's error messages if it gave any. Empty if the system works.
    pub problems: Vec<String>,
}

/// Tests a system with a thousand generated documents. Loads them through the system's own load path, asks
/// every question once, compares the answers with the reference, reopens the data and drops the table.
/// `scratch` must be an exclusive folder that the server's user may enter.
///
/// # Errors
/// If the test cannot start or is interrupted. Faults of the system are [`SmokeTestReport::problems`], not
/// errors.
pub fn smoke_test(
    target: Target,
    worker: WorkerCommand,
    scratch: &Path,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<SmokeTestReport, RunError> {
    let id = target.file_name();
    let plan = RunPlan {
        source: Source::Generated { seed: 1, start: 0, documents: DOCUMENTS, malformed: 0 },
        settings: RunSettings {
            rounds: 1,
            load_rounds: Some(1),
            timeout_s: STEP_LIMIT.as_secs_f64(),
            load_timeout_s: STEP_LIMIT.as_secs_f64(),
            keep_data: true,
            ..RunSettings::default()
        },
        targets: vec![target],
        worker,
        command: Vec::new(),
        busy_machine: BusyMachinePolicy::Ignore,
    };
    let folder = scratch.join("run");
    let data = folder.join("work").join(&id);
    let settings = AnalyticsSettings { hot_trials: 1, max_hot_trials: 1, cold: false, ..Default::default() };
    let result = start(&plan, &mut Analytics::new(settings), &folder, observer, cancelled);
    // An interrupted run leaves its server to the guard; the folder can be removed once the server has ended.
    wait_until_exited(&data, EXIT_TIMEOUT);
    result?;
    let mut report = judge(&Run::read(&folder)?);
    if report.problems.is_empty()
        && let Some(target) = plan.targets.first()
    {
        let log = folder.join("logs").join(format!("{}.log", target.file_name()));
        let (cores, subject) = (plan.settings.cores, SubjectHandle::default());
        let mut session = Session::new(target, &plan.worker, data, log, cores, subject, cancelled);
        let drop_result = drop_table(&mut session);
        if drop_result.is_err() {
            session.kill();
        }
        match TrialError::split_fatal(drop_result)? {
            Ok(version) => report.version = version,
            Err(failure) => {
                report.problems.push(format!("drop: {}: {}", failure.kind.word(), failure.error));
            }
        }
    }
    Ok(report)
}

/// Returns the version that a system reports. A remote server is not changed; a user-supplied binary is
/// started once, in `scratch`.
///
/// # Errors
/// [`RunError::Environment`] if the system cannot be reached or started, or denies the login.
pub fn reported_version(
    target: &Target,
    worker: &WorkerCommand,
    scratch: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<String, RunError> {
    let (folder, log) = (scratch.join("data"), scratch.join("log"));
    let cores = RunSettings::default().cores;
    let mut session = Session::new(target, worker, folder, log, cores, SubjectHandle::default(), cancelled);
    let version = TrialError::split_fatal(session.version());
    session.kill();
    version?.map_err(|failure| RunError::Environment(failure.error))
}

/// Opens the data once more, drops the table as the system's folder says, and returns the reported version.
fn drop_table(session: &mut Session<'_>) -> Result<String, TrialError> {
    session.open()?;
    let drop = session.statements("drop", &[("table", TABLE)])?;
    session.run(drop, STEP_LIMIT)?;
    session.close()?;
    Ok(session.reported_version.clone().unwrap_or_default())
}

fn judge(run: &Run) -> SmokeTestReport {
    let summary = run.summary();
    let mut report = SmokeTestReport::default();
    let has_failed = |step: &Step| summary.failures.iter().any(|failure| failure.cell.step == *step);
    for failure in &summary.failures {
        // A query plan for a thousand documents does not predict the plan for a million, and no question can
        // be answered after a failed load.
        let is_consequence = has_failed(&Step::Load) && failure.cell.step != Step::Load;
        if failure.kind != FailureKind::Plan && !is_consequence {
            report.problems.push(format!("{}: {}: {}", failure.cell.step, failure.kind, failure.error));
        }
    }
    for record in &run.records {
        if let RecordBody::Rejects(rejects) = &record.body {
            for (kind, reason) in &rejects.reasons {
                let (count, explanation) = (reason.documents, reason.describe(kind));
                report
                    .problems
                    .push(format!("load: {count} of {DOCUMENTS} documents refused: {explanation}"));
            }
        }
    }
    let is_right = |step: &str| {
        let mut entries = summary.results.iter().filter(|entry| entry.cell.step.word() == step).peekable();
        entries.peek().is_some()
            && entries.all(|entry| matches!(entry.verdict, Verdict::Exact | Verdict::Approximate))
    };
    report.correct_answers = Question::ALL.iter().filter(|question| is_right(question.id())).count();
    let load = summary.results.iter().find(|entry| entry.cell.step == Step::Load);
    report.loaded_documents =
        load.and_then(|load| load.metric(&DOCUMENTS_LOADED)).map_or(0, |count| count as u64);
    // A shortfall that no failure explains must not count as a passed test.
    if report.problems.is_empty()
        && (report.correct_answers < Question::ALL.len()
            || report.loaded_documents < DOCUMENTS
            || !summary.complete)
    {
        report.problems.push(format!(
            "only {} of {DOCUMENTS} documents and {} of {} questions came out right",
            report.loaded_documents,
            report.correct_answers,
            Question::ALL.len()
        ));
    }
    report
}
