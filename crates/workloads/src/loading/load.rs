//! Documents going in: as fast as the system takes them, with nothing lost unseen.
//!
//! Documents that are fit for everybody go in bulk. Suspects (malformed, duplicate keys, very large, …)
//! are offered one by one, first to a table on trial, so that one of them can neither spoil a bulk
//! statement nor leave half of itself behind. What a system refuses is listed with its own reason.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::scan::Traits;
use jsonathlon_dataset::stage::{Staged, Suspect};
use jsonathlon_dataset::value::Value;
use jsonathlon_measure::activity::DiskWrites;
use jsonathlon_measure::memory::{PeakSampler, peak_resident_bytes};
use jsonathlon_results::record::{Body, FailureKind, Metrics, Rejects, Trial, Verdict};
use jsonathlon_systems::LoadMode;
use jsonathlon_worker::protocol::{Load, Loaded, Op, Settled};

use super::refused::{self, Refused};
use crate::RunError;
use crate::bench::{Accepted, Bench, TABLE, UnderTest};
use crate::bound;
use crate::cells::Cells;
use crate::recorder::{Recorder, blank, memory_metrics};
use crate::session::{Ended, Session, relay};

/// The table in which single documents are tried.
const PROBE: &str = "documents_probed";

/// Share of the offered documents that a system must hold to be compared with others.
const COMPARABLE: f64 = 0.999;
/// Reasons kept apart in the journal; the file of rejects has them all.
const REASONS: usize = 20;
/// A single document that needs longer than this is refused by hanging.
const ONE_DOCUMENT_LIMIT: Duration = Duration::from_secs(300);

/// What a bulk load left.
struct Bulk {
    loaded: Loaded,
    /// Refused lines of the clean file.
    refused: Vec<Refused>,
}

/// Loads one target and records how it went, in rounds that begin with a load. What it holds then is kept with it, or
/// the failure that keeps it from being asked.
pub(super) fn load(
    bench: &Bench<'_>,
    round: u32,
    one: &mut UnderTest<'_>,
    recorder: &mut Recorder<'_>,
) -> Result<(), RunError> {
    let settings = bench.settings;
    let cells = one.cells;
    let cell = cells.load();
    let key = cell.trial_key(round, 0);
    let blank = blank(&cell, round, 0);
    let outcome = attempt(&mut one.session, bench, recorder, blank);
    let (trial, rejected, accepted) = match Ended::split(outcome)? {
        Ok(done) => done,
        Err(failure) => {
            one.session.give_up(settings.keep_data);
            recorder.failed(key.clone(), &cell, round, 0, failure.clone())?;
            one.holds = Err(failure.recorded_in(&key));
            return Ok(());
        }
    };
    one.load_s = trial.seconds.unwrap_or_default();
    one.holds = Ok(accepted);
    // A run that goes on loads again what it had loaded; that is no trial.
    if (round == 1 || round <= settings.load_rounds_of(one.load_s)) && !recorder.has(&key) {
        note_rejects(cells, &rejected, recorder)?;
        recorder.trial(key, trial)?;
    }
    Ok(())
}

type Done = (Trial, Vec<Refused>, Accepted);

fn attempt(
    session: &mut Session<'_>,
    bench: &Bench<'_>,
    recorder: &mut Recorder<'_>,
    mut trial: Trial,
) -> Result<Done, Ended> {
    let Bench { staged, settings, disk_bytes_per_s, .. } = *bench;
    let limit = Duration::from_secs_f64(settings.load_timeout_s);
    session.open()?;
    let create = session.statements("create", &[("table", TABLE)])?;
    session.run(create, limit)?;
    let sampler = session.engine().map(|pid| PeakSampler::start(pid, Duration::from_millis(250)));
    let writes = (!session.is_guest()).then(|| DiskWrites::begin(session.folder())).flatten();
    let bulk = bulk(session, staged, limit, recorder)?;
    let index = session.statements("index", &[("table", TABLE)])?;
    let indexed: Option<Settled> = if index.is_empty() {
        None
    } else {
        let limit_s = settings.load_timeout_s;
        let settle = Op::Settle { statements: index, until_zero: None, limit_s, sync: !session.is_guest() };
        Some(session.request(&settle, limit, &mut |_| {})?)
    };
    let written_bytes = writes.and_then(|writes| writes.bytes());
    let peak = sampler.and_then(PeakSampler::finish);

    let refused_lines = bulk.refused.iter().map(|one| one.ordinal).collect();
    let mut rejected: Vec<Refused> = bulk
        .refused
        .into_iter()
        .map(|one| Refused { ordinal: staged.offered_ordinal(one.ordinal), reason: one.reason })
        .collect();
    let suspects = suspects(session, staged, &mut rejected, recorder)?;
    rejected.sort_by_key(|one| one.ordinal);
    let count = count(session, staged, &rejected, limit)?;

    let loaded = bulk.loaded;
    let index_s = indexed.as_ref().map_or(0.0, |settled| settled.seconds);
    let seconds = loaded.seconds + index_s;
    let cpu_s = loaded.usage.cpu_s.map(|loading| {
        loading + indexed.as_ref().and_then(|settled| settled.usage.cpu_s).unwrap_or_default()
    });
    let indexing = indexed.as_ref().map_or(0, |settled| settled.usage.counters.read_bytes);
    let read_bytes = loaded.usage.counters.read_bytes + indexing;
    trial.seconds = Some(seconds);
    trial.verdict =
        if (count as f64) < COMPARABLE * staged.documents as f64 { Verdict::Partial } else { Verdict::Exact };
    trial.bound_by = cpu_s
        .and_then(|cpu_s| {
            let cores = settings.cores;
            bound::verdict(&bound::Spent {
                seconds,
                cpu_s,
                read_bytes,
                written_bytes: written_bytes.unwrap_or_default(),
                cores,
                disk_bytes_per_s,
            })
        })
        .map(str::to_owned);
    let bytes = staged.clean_bytes as f64;
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    trial.metrics = Metrics::from([
        ("documents_offered".to_owned(), staged.documents as f64),
        ("documents_loaded".to_owned(), count as f64),
        ("documents_rejected".to_owned(), rejected.len() as f64),
        ("suspects_accepted".to_owned(), suspects.len() as f64),
        ("documents_per_s".to_owned(), per_second(staged.clean_documents as f64)),
        ("bytes_per_s".to_owned(), per_second(bytes)),
        ("index_s".to_owned(), index_s),
        ("open_s".to_owned(), session.open_s),
    ]);
    if let Some(client) = loaded.usage.client_cpu_s {
        trial.metrics.insert("client_cpu_s".into(), client);
    }
    if let Some(cpu_s) = cpu_s {
        trial.metrics.insert("server_cpu_s".into(), cpu_s);
        trial.metrics.insert("read_bytes".into(), read_bytes as f64);
    }
    if let Some(written_bytes) = written_bytes {
        trial.metrics.insert("written_bytes".into(), written_bytes as f64);
        if bytes > 0.0 {
            trial.metrics.insert("written_bytes_per_byte".into(), written_bytes as f64 / bytes);
        }
    }
    if let Some(sync) = loaded.sync_seconds {
        trial.metrics.insert("sync_s".into(), sync);
    }
    if let Some(peak) = peak {
        trial.metrics.extend(memory_metrics("peak", peak, session.idle));
    }
    if let Ok(bytes) = peak_resident_bytes(std::process::id()) {
        // The coordinator's own memory, which holds what answers are verified with and little else.
        trial.metrics.insert("peak_harness_bytes".into(), bytes as f64);
    }
    Ok((trial, rejected, Accepted { refused_lines, suspects }))
}

/// The system's own count of its documents, which must be that of those it accepted.
fn count(
    session: &mut Session<'_>,
    staged: &Staged,
    rejected: &[Refused],
    limit: Duration,
) -> Result<u64, Ended> {
    let figures = session.figures("count", &[("table", TABLE)], limit)?;
    let expected = staged.documents - rejected.len() as u64;
    let count = match figures.values().next() {
        Some(Value::Int(count)) => u64::try_from(*count).unwrap_or(0),
        other => {
            let error = format!("the system's count of documents is no number: {other:?}");
            return Err(Ended::failed(FailureKind::Wrong, error));
        }
    };
    if count == expected {
        return Ok(count);
    }
    Err(Ended::failed(
        FailureKind::Wrong,
        format!(
            "{count} documents are in the table, {expected} were accepted ({} offered, {} refused)",
            staged.documents,
            rejected.len()
        ),
    ))
}

/// The clean documents, through the system's own bulk path.
fn bulk(
    session: &mut Session<'_>,
    staged: &Staged,
    limit: Duration,
    recorder: &mut Recorder<'_>,
) -> Result<Bulk, Ended> {
    let failure = match load_file(session, TABLE, &staged.clean, limit, recorder) {
        Ok(loaded) => {
            let refused = refused_lines(&loaded);
            return Ok(Bulk { loaded, refused });
        }
        // A part that is refused can be found; a crash or a timeout of the whole cannot be blamed on one.
        Err(Ended::Failed(failure)) if failure.kind == FailureKind::Refused && staged.clean_documents > 0 => {
            failure
        }
        Err(other) => return Err(other),
    };
    recorder.warn(&format!(
        "{} refused the documents as a whole ({}); looking for the ones it means",
        session.target.configuration.title,
        first_line(&failure.error)
    ));
    let scratch = session.folder().with_extension("part");
    let found = refused::find(&staged.clean, &scratch, &mut |part| probe(session, part, recorder));
    remove(&scratch)?;
    let refused = found?;
    if refused.is_empty() {
        return Err(failure.into());
    }
    // Whatever the failed statement left behind goes: a document must be there exactly once.
    start_over(session, limit)?;
    let kept = session.folder().with_extension("kept");
    refused::without(&staged.clean, &refused, &kept)?;
    let loaded = load_file(session, TABLE, &kept, limit, recorder);
    remove(&kept)?;
    Ok(Bulk { loaded: loaded?, refused })
}

fn start_over(session: &mut Session<'_>, limit: Duration) -> Result<(), Ended> {
    let drop = session.statements("drop", &[("table", TABLE)])?;
    session.run(drop, limit)?;
    let create = session.statements("create", &[("table", TABLE)])?;
    session.run(create, limit)?;
    Ok(())
}

/// Loads `file` into `table` the way the configuration says.
fn load_file(
    session: &mut Session<'_>,
    table: &str,
    file: &Path,
    limit: Duration,
    recorder: &mut Recorder<'_>,
) -> Result<Loaded, Ended> {
    let path = jsonathlon_systems::catalogue::sql_text(&file.display().to_string());
    let values = [("table", table), ("file", path.as_str())];
    let load = match session.target.part.load {
        Some(LoadMode::File) => Load::Statement { statements: session.statements("load", &values)? },
        Some(LoadMode::Rows | LoadMode::Stream) => {
            Load::Rows { statement: session.statement("load", &values)?, file: file.to_owned() }
        }
        None => {
            let system = &session.target.configuration.system;
            let error = format!("the folder of {system} does not say how documents get in: [WORKLOAD] load");
            return Err(Ended::failed(FailureKind::Environment, error));
        }
    };
    let sync = !session.is_guest();
    session.request(&Op::Load { load, sync }, limit, &mut relay(recorder.observer))
}

fn refused_lines(loaded: &Loaded) -> Vec<Refused> {
    loaded
        .rejects
        .iter()
        .map(|reject| Refused { ordinal: reject.line, reason: reject.reason.clone() })
        .collect()
}

/// Loads `file` into a table on trial that is gone afterwards, and gives the reason when it is refused.
/// An engine that dies of it has refused too, and is started again.
fn probe(
    session: &mut Session<'_>,
    file: &Path,
    recorder: &mut Recorder<'_>,
) -> Result<Option<String>, Ended> {
    session.open()?;
    let create = session.statements("create", &[("table", PROBE)])?;
    session.run(create, ONE_DOCUMENT_LIMIT)?;
    let reason = match load_file(session, PROBE, file, ONE_DOCUMENT_LIMIT, recorder) {
        Ok(loaded) => loaded.rejects.into_iter().next().map(|reject| reject.reason),
        Err(Ended::Failed(failure)) if failure.kind == FailureKind::Refused => Some(failure.error),
        Err(Ended::Failed(failure)) if matches!(failure.kind, FailureKind::Crash | FailureKind::Timeout) => {
            session.kill();
            session.open()?;
            Some(format!("it ended the engine: {}", failure.error))
        }
        Err(other) => return Err(other),
    };
    let drop = session.statements("drop", &[("table", PROBE)])?;
    session.run(drop, ONE_DOCUMENT_LIMIT)?;
    Ok(reason)
}

/// Offers the suspects one by one. The places of the accepted ones are given, the others are added to `rejected`.
fn suspects(
    session: &mut Session<'_>,
    staged: &Staged,
    rejected: &mut Vec<Refused>,
    recorder: &mut Recorder<'_>,
) -> Result<Vec<usize>, Ended> {
    let mut accepted = Vec::new();
    let file = session.folder().with_extension("one");
    for (place, suspect) in staged.suspects.iter().enumerate() {
        recorder.observer.event(&crate::observer::Event::Progress {
            done: place as u64,
            total: Some(staged.suspects.len() as u64),
            unit: "suspect documents",
        });
        let bytes = staged.suspect_bytes(suspect).map_err(RunError::io("read a suspect document"))?;
        write_line(&file, &bytes)?;
        let refusal = probe(session, &file, recorder)?;
        let reason = match (refusal, is_json(suspect)) {
            (Some(reason), _) => Some(reason),
            // A table of JSON must not hold what is not JSON, and no reference answer over it exists.
            (None, false) => Some(format!(
                "not a JSON document ({}), although the system alone would have taken it",
                suspect.reason.as_deref().unwrap_or("malformed")
            )),
            (None, true) => None,
        };
        if let Some(reason) = reason {
            rejected.push(Refused { ordinal: suspect.ordinal, reason });
            continue;
        }
        load_file(session, TABLE, &file, ONE_DOCUMENT_LIMIT, recorder)?;
        accepted.push(place);
    }
    remove(&file)?;
    Ok(accepted)
}

/// Whether a suspect is a JSON text at all; whether a system takes it is another question.
pub(crate) fn is_json(suspect: &Suspect) -> bool {
    !suspect.traits.intersects(Traits::MALFORMED) && !suspect.traits.intersects(Traits::NOT_UTF8)
}

fn note_rejects(cells: Cells<'_>, rejected: &[Refused], recorder: &mut Recorder<'_>) -> Result<(), RunError> {
    if rejected.is_empty() {
        return Ok(());
    }
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let mut lines = Vec::new();
    for one in rejected {
        let short: String = first_line(&one.reason).chars().take(160).collect();
        let known = reasons.len() < REASONS || reasons.contains_key(&short);
        *reasons.entry(if known { short } else { "other reasons".to_owned() }).or_insert(0) += 1;
        let line = serde_json::json!({"ordinal": one.ordinal, "reason": one.reason});
        lines.extend_from_slice(line.to_string().as_bytes());
        lines.push(b'\n');
    }
    let file = format!("rejects/{}.ndjson", cells.target.file_name());
    recorder.folder.write_file(&file, &lines)?;
    let cell = cells.load();
    let key = format!("rejects:{}", cell.key());
    recorder.note(key, Body::Rejects(Rejects { cell, file: Some(file), reasons }))
}

fn write_line(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    let failed = || RunError::io(format!("write {}", path.display()));
    let mut file = std::fs::File::create(path).map_err(failed())?;
    file.write_all(bytes).and_then(|()| file.write_all(b"\n")).map_err(failed())
}

fn remove(path: &Path) -> Result<(), RunError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::io(format!("remove {}", path.display()))(error))
        }
        _ => Ok(()),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_shortened_to_their_first_line() {
        assert_eq!(first_line("one\ntwo"), "one");
        assert_eq!(first_line(""), "");
    }
}
