//! Loads documents as fast as the system accepts them, and accounts for every rejected document.
//!
//! Clean documents are loaded in bulk. Suspects (duplicate keys, very large, …) are loaded on trial first.
//! None of them can then make a bulk statement fail or leave part of itself behind. Accepted suspects are
//! loaded after the clean documents; that time is part of the load. Rejected documents are listed with the
//! system's reason.

use std::time::Duration;

use jsonathlon_dataset::stage::StagedDocuments;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Bottleneck, FailureKind, Metrics, Trial, Verdict};
use jsonathlon_telemetry::memory::peak_resident_bytes;
use jsonathlon_worker::protocol::{Op, SettleReply};

use super::file::{document_count, load_file, probe_file, rejected_lines, remove};
use super::load_usage::{LoadUsage, LoadWatch};
use super::reject_search::{self, MAX_REJECTED, RejectedDocument};
use super::rejects::{self, RejectedEntry};
use super::suspects::{self, SuspectCheck};
use crate::RunError;
use crate::bottleneck;
use crate::recorder::{MemoryReading, TrialRecorder, memory_metrics, new_trial};
use crate::run_context::{FIRST_ROUND, LoadedDocuments, RunContext, TABLE, TargetState};
use crate::scratch::sibling_path;
use crate::session::{Session, TrialError};

/// Minimum share of the offered documents that a system must hold to be compared with others.
const COMPARABLE_SHARE: f64 = 0.999;

/// Loads one target. Records the trial in rounds that begin with a load, and stores the accepted documents or
/// the failure in [`TargetState::load_result`].
pub(super) fn load(
    context: &RunContext<'_>,
    round: u32,
    target_state: &mut TargetState<'_>,
    recorder: &mut TrialRecorder<'_>,
) -> Result<(), RunError> {
    let settings = context.settings;
    let cells = target_state.cells;
    let cell = cells.load();
    let key = cell.trial_key(round, 0);
    let blank_trial = new_trial(&cell, round, 0);
    let outcome = attempt(&mut target_state.session, context, recorder, blank_trial);
    let (trial, rejected, accepted) = match TrialError::split_fatal(outcome)? {
        Ok(loaded) => loaded,
        Err(failure) => {
            target_state.session.abandon(settings.keep_data);
            recorder.record_failure(key.clone(), &cell, round, 0, failure.clone())?;
            target_state.load_result = Err(failure.with_cause_key(&key));
            return Ok(());
        }
    };
    target_state.load_s = trial.seconds.unwrap_or_default();
    target_state.load_result = Ok(accepted);
    // Reloading data in a resumed run is not a trial.
    if (round == FIRST_ROUND || round <= context.load_rounds_of(target_state.load_s)) && !recorder.has(&key) {
        rejects::record(cells, &rejected, recorder)?;
        recorder.record_trial(key, trial)?;
    }
    Ok(())
}

type LoadOutcome = (Trial, Vec<RejectedEntry>, LoadedDocuments);

fn attempt(
    session: &mut Session<'_>,
    context: &RunContext<'_>,
    recorder: &mut TrialRecorder<'_>,
    mut trial: Trial,
) -> Result<LoadOutcome, TrialError> {
    let RunContext { staged, settings, .. } = *context;
    let limit = Duration::from_secs_f64(settings.load_timeout_s);
    session.open()?;
    let create = session.statements("create", &[("table", TABLE)])?;
    session.run(create, limit)?;
    let mut usage = LoadUsage::default();
    let watch = LoadWatch::begin(session);
    let rejected_lines = bulk_load(session, staged, limit, &mut usage, recorder)?;
    watch.end(&mut usage);
    // Testing suspects is not part of the load time; loading the accepted ones is.
    let mut suspect_check = match staged.suspects.as_slice() {
        [] => SuspectCheck::default(),
        _ => suspects::check(session, staged, recorder)?,
    };
    let watch = LoadWatch::begin(session);
    suspects::load(session, staged, &mut suspect_check, &mut usage, recorder)?;
    build_indexes(session, settings.load_timeout_s, &mut usage)?;
    watch.end(&mut usage);

    let SuspectCheck { accepted, rejected: rejected_suspects, .. } = suspect_check;
    let rejected =
        rejects::describe(staged, &program_files(session, staged), &rejected_lines, &rejected_suspects)
            .map_err(RunError::io("read the documents"))?;
    let count = count(session, staged, &rejected, limit)?;
    if count == 0 {
        return Err(rejects::load_failure(&rejected, session.target));
    }
    let refused_bytes: u64 = rejected.iter().map(|document| document.bytes).sum();
    trial.seconds = Some(usage.seconds);
    let is_partial = (count as f64) < COMPARABLE_SHARE * staged.documents as f64;
    trial.verdict = if is_partial { Verdict::Partial } else { Verdict::Exact };
    trial.bound_by = bound_by(&usage, context);
    trial.metrics = metrics(&usage, count, staged.bytes.saturating_sub(refused_bytes));
    trial.metrics.extend([
        metric::DOCUMENTS_OFFERED.with_value(staged.documents as f64),
        metric::DOCUMENTS_REJECTED.with_value(rejected.len() as f64),
        metric::SUSPECT_DOCUMENTS_ACCEPTED.with_value(accepted.len() as f64),
        metric::OPEN_S.with_value(session.open_s),
    ]);
    if let Some(peak) = usage.peak {
        trial.metrics.extend(memory_metrics(MemoryReading::Peak, peak, session.idle_memory));
    }
    if let Ok(bytes) = peak_resident_bytes(std::process::id()) {
        // The coordinator's own memory, mainly the expected answers.
        trial.metrics.insert(metric::PEAK_COORDINATOR_BYTES.name.to_owned(), bytes as f64);
    }
    let rejected_lines = rejected_lines.iter().map(|document| document.ordinal).collect();
    Ok((trial, rejected, LoadedDocuments { rejected_lines, accepted_suspects: accepted }))
}

/// Builds the indexes of the loaded table, if the system's folder has statements for that.
fn build_indexes(session: &mut Session<'_>, limit_s: f64, usage: &mut LoadUsage) -> Result<(), TrialError> {
    let statements = session.statements("index", &[("table", TABLE)])?;
    if !statements.is_empty() {
        let settle = Op::Settle { statements, until_zero: None, limit_s, sync: !session.is_remote() };
        let limit = Duration::from_secs_f64(limit_s);
        usage.add_index_build(&session.request::<SettleReply>(&settle, limit, &mut |_| {})?);
    }
    Ok(())
}

/// Paths of the files that this program creates for a system, as they may appear in error messages.
fn program_files(session: &Session<'_>, staged: &StagedDocuments) -> Vec<String> {
    let folder = session.folder();
    let scratch = ["part", "kept", "suspects"].map(|ending| sibling_path(folder, ending));
    // A clean file outside the work folder is the user's own file, whose name may appear in messages.
    let is_in_work_folder = folder.parent().is_some_and(|work| staged.clean_file.starts_with(work));
    let clean_file = is_in_work_folder.then(|| staged.clean_file.clone());
    clean_file.into_iter().chain(scratch).map(|file| file.display().to_string()).collect()
}

fn bound_by(usage: &LoadUsage, context: &RunContext<'_>) -> Option<Bottleneck> {
    let usage = bottleneck::TrialUsage {
        seconds: usage.seconds,
        cpu_s: usage.cpu_s?,
        read_bytes: usage.read_bytes,
        written_bytes: usage.written_bytes.unwrap_or_default(),
        cores: context.settings.cores,
        disk_bytes_per_s: context.disk_bytes_per_s,
    };
    bottleneck::bottleneck(&usage)
}

/// Metrics of a load that left `documents` documents of `bytes` bytes in the system.
fn metrics(usage: &LoadUsage, documents: u64, bytes: u64) -> Metrics {
    let bytes = bytes as f64;
    let per_second = |amount: f64| if usage.seconds > 0.0 { amount / usage.seconds } else { 0.0 };
    let mut metrics = Metrics::from([
        metric::DOCUMENTS_LOADED.with_value(documents as f64),
        metric::DOCUMENTS_PER_S.with_value(per_second(documents as f64)),
        metric::BYTES_PER_S.with_value(per_second(bytes)),
        metric::INDEX_S.with_value(usage.index_s),
    ]);
    if let Some(client_cpu_s) = usage.client_cpu_s {
        metrics.insert(metric::CLIENT_CPU_S.name.to_owned(), client_cpu_s);
    }
    if let Some(cpu_s) = usage.cpu_s {
        metrics.insert(metric::SERVER_CPU_S.name.to_owned(), cpu_s);
        metrics.insert(metric::READ_BYTES.name.to_owned(), usage.read_bytes as f64);
    }
    if let Some(written_bytes) = usage.written_bytes {
        metrics.insert(metric::WRITTEN_BYTES.name.to_owned(), written_bytes as f64);
        if bytes > 0.0 {
            metrics.insert(metric::WRITTEN_BYTES_PER_BYTE.name.to_owned(), written_bytes as f64 / bytes);
        }
    }
    if let Some(sync_s) = usage.sync_s {
        metrics.insert(metric::SYNC_S.name.to_owned(), sync_s);
    }
    metrics
}

/// Counts the documents in the table; a failure if it is not the number of accepted documents.
fn count(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    rejected: &[RejectedEntry],
    limit: Duration,
) -> Result<u64, TrialError> {
    let expected = staged.documents - rejected.len() as u64;
    let count = document_count(session, TABLE, limit)?;
    if count == expected {
        return Ok(count);
    }
    Err(TrialError::failed(
        FailureKind::Wrong,
        format!(
            "{count} documents are in the table, {expected} were accepted ({} offered, {} refused)",
            staged.documents,
            rejected.len()
        ),
    ))
}

/// Loads the clean documents through the system's bulk load path. Returns the rejected lines of the clean
/// file.
fn bulk_load(
    session: &mut Session<'_>,
    staged: &StagedDocuments,
    limit: Duration,
    usage: &mut LoadUsage,
    recorder: &mut TrialRecorder<'_>,
) -> Result<Vec<RejectedDocument>, TrialError> {
    let documents = staged.clean_documents;
    if documents == 0 {
        return Ok(Vec::new());
    }
    let failure = match load_file(session, TABLE, &staged.clean_file, Some(documents), limit, recorder) {
        Ok(reply) => {
            usage.add_load(&reply);
            return Ok(rejected_lines(&reply));
        }
        // A rejection can be traced to single documents; a crash or timeout of the whole load cannot.
        Err(TrialError::Failed(failure)) if failure.kind == FailureKind::Refused => failure,
        Err(error) => return Err(error),
    };
    recorder.warn(&format!(
        "{} refused the documents as a whole ({}); looking for the ones it means",
        session.target.configuration.title,
        rejects::first_line(&rejects::strip_program_files(&failure.error, &program_files(session, staged)))
    ));
    let scratch = sibling_path(session.folder(), "part");
    let result = reject_search::find(&staged.clean_file, &scratch, MAX_REJECTED, &mut |part| {
        probe_file(session, part, recorder)
    });
    remove(&scratch)?;
    let rejected = result?;
    if rejected.is_empty() {
        return Err(failure.into());
    }
    // Remove what the failed statement may have left: every document must be present exactly once.
    recreate_table(session, limit)?;
    if rejected.len() as u64 == documents {
        return Ok(rejected);
    }
    let remaining_file = sibling_path(session.folder(), "kept");
    reject_search::copy_without(
        &staged.clean_file,
        rejected.iter().map(|document| document.ordinal),
        &remaining_file,
    )?;
    let remaining = documents.saturating_sub(rejected.len() as u64);
    let reply = load_file(session, TABLE, &remaining_file, Some(remaining), limit, recorder);
    remove(&remaining_file)?;
    usage.add_load(&reply?);
    Ok(rejected)
}

fn recreate_table(session: &mut Session<'_>, limit: Duration) -> Result<(), TrialError> {
    let drop = session.statements("drop", &[("table", TABLE)])?;
    session.run(drop, limit)?;
    let create = session.statements("create", &[("table", TABLE)])?;
    session.run(create, limit)?;
    Ok(())
}
