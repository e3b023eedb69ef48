//! Proof that a system works: the workload itself, made small, in a folder of its own.

use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::source::Source;
use jsonathlon_measure::series::Subject;
use jsonathlon_results::id::Step;
use jsonathlon_results::record::{Body, FailureKind, Verdict};
use jsonathlon_results::summary::Run;
use jsonathlon_servers::wait_until_gone;

use crate::RunError;
use crate::analytics::{Analytics, AnalyticsSettings};
use crate::bench::TABLE;
use crate::observer::Observer;
use crate::run::{Plan, start};
use crate::session::{Ended, Session, WorkerCommand};
use crate::settings::Settings;
use crate::target::{GONE_LIMIT, Target};

/// Documents that are loaded: enough for every question to have an answer with several rows.
const DOCUMENTS: u64 = 1000;
/// Limit of every step. What a system does to a thousand documents in this time it does not do at all.
const LIMIT: Duration = Duration::from_secs(300);

/// What came out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// What the system said about its version when it was opened again.
    pub version: String,
    /// Documents in its table.
    pub loaded: u64,
    /// Questions answered as the reference answers them, approximately where that is declared.
    pub right: usize,
    /// What went wrong, in the system's own words where it had any. None, and the system works.
    pub problems: Vec<String>,
}

/// Loads a thousand generated documents into the target through its own load path, asks every question
/// once, compares the answers with the reference, opens the data again and drops the table. `scratch` is a
/// folder for this alone, which a server's user may enter.
///
/// # Errors
/// When that could not be begun or was interrupted; what the system does wrong is a problem in the proof.
pub fn prove(
    target: Target,
    worker: WorkerCommand,
    scratch: &Path,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<Proof, RunError> {
    let id = target.file_name();
    let plan = Plan {
        source: Source::Generated { seed: 1, start: 0, documents: DOCUMENTS, malformed: 0 },
        settings: Settings {
            rounds: 1,
            load_rounds: Some(1),
            timeout_s: LIMIT.as_secs_f64(),
            load_timeout_s: LIMIT.as_secs_f64(),
            keep_data: true,
            ..Settings::default()
        },
        targets: vec![target],
        worker,
        command: Vec::new(),
    };
    let folder = scratch.join("run");
    let data = folder.join("work").join(&id);
    let once = AnalyticsSettings { hot_trials: 1, most_hot_trials: 1, cold: false, ..Default::default() };
    let ended = start(&plan, &mut Analytics::new(once), &folder, observer, cancelled);
    // An interrupted run leaves its server to be ended by its guard; the folder can be removed after that.
    wait_until_gone(&data, GONE_LIMIT);
    ended?;
    let mut proof = judge(&Run::read(&folder)?);
    if proof.problems.is_empty()
        && let Some(target) = plan.targets.first()
    {
        let log = folder.join("logs").join(format!("{}.log", target.file_name()));
        let (cores, subject) = (plan.settings.cores, Subject::default());
        let mut session = Session::new(target, &plan.worker, data, log, cores, subject, cancelled);
        let dropped = drop_table(&mut session);
        if dropped.is_err() {
            session.kill();
        }
        match Ended::split(dropped)? {
            Ok(version) => proof.version = version,
            Err(failure) => {
                proof.problems.push(format!("drop: {}: {}", failure.kind.word(), failure.error));
            }
        }
    }
    Ok(proof)
}

/// What a system says about its version. Nothing of a server by address is changed for it; the user's own
/// programs are started once, in `scratch`.
///
/// # Errors
/// It cannot be reached or started, or does not let the run in.
pub fn reported_version(
    target: &Target,
    worker: &WorkerCommand,
    scratch: &Path,
    cancelled: &dyn Fn() -> bool,
) -> Result<String, RunError> {
    let (folder, log) = (scratch.join("data"), scratch.join("log"));
    let cores = Settings::default().cores;
    let mut session = Session::new(target, worker, folder, log, cores, Subject::default(), cancelled);
    let version = Ended::split(session.version());
    session.kill();
    version?.map_err(|failure| RunError::Environment(failure.error))
}

/// Ends what the run began: the data is opened once more, and goes as the system's folder says.
fn drop_table(session: &mut Session<'_>) -> Result<String, Ended> {
    session.open()?;
    let drop = session.statements("drop", &[("table", TABLE)])?;
    session.run(drop, LIMIT)?;
    session.close()?;
    Ok(session.reported_version.clone().unwrap_or_default())
}

fn judge(run: &Run) -> Proof {
    let summary = run.summary();
    let mut proof = Proof::default();
    let failed = |step: &Step| summary.failures.iter().any(|failure| failure.cell.step == *step);
    for failure in &summary.failures {
        // Which way a planner takes through a thousand documents is no promise about a million of them, and
        // nothing is asked after a load that failed.
        let follows = failed(&Step::Load) && failure.cell.step != Step::Load;
        if failure.kind != FailureKind::Plan.word() && !follows {
            proof.problems.push(format!("{}: {}: {}", failure.cell.step, failure.kind, failure.error));
        }
    }
    for record in &run.records {
        if let Body::Rejects(rejects) = &record.body {
            for (words, reason) in &rejects.reasons {
                let (count, why) = (reason.documents, reason.in_words(words));
                proof.problems.push(format!("load: {count} of {DOCUMENTS} documents refused: {why}"));
            }
        }
    }
    let right = |step: &str| {
        let mut of_step = summary.results.iter().filter(|entry| entry.cell.step.word() == step).peekable();
        of_step.peek().is_some()
            && of_step.all(|entry| matches!(entry.verdict, Verdict::Exact | Verdict::Approximate))
    };
    proof.right = Question::ALL.iter().filter(|question| right(question.id())).count();
    let load = summary.results.iter().find(|entry| entry.cell.step == Step::Load);
    proof.loaded =
        load.and_then(|load| load.metrics.get("documents_loaded")).map_or(0, |count| *count as u64);
    // Whatever was not told as a failure must not pass for a proof either.
    if proof.problems.is_empty()
        && (proof.right < Question::ALL.len() || proof.loaded < DOCUMENTS || !summary.complete)
    {
        proof.problems.push(format!(
            "only {} of {DOCUMENTS} documents and {} of {} questions came out right",
            proof.loaded,
            proof.right,
            Question::ALL.len()
        ));
    }
    proof
}
