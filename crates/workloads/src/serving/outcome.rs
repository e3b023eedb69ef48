//! Turns the measurements of clients into trials.

use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::report::{JobReport, OperationReport, ReadBackCount};
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Metrics, Trial, TrialSecond, Verdict};
use jsonathlon_stats::histogram::{Histogram, interval_log_head};

use super::settings::Objective;
use super::trials::of_operation;
use crate::recorder::new_trial;

/// Maximum share of failed operations; with more, a trial does not represent the system.
const TOLERABLE_ERRORS: f64 = 0.001;

/// Failure text of an open loop without arrivals in the measurement window, which is not the system's fault.
const NONE_ARRIVED: &str = "no operation arrived within the measured time, since the rate is too low for it: choose a higher \
                            --rates, or a longer --measure";

/// Data about a trial in addition to the clients' measurements.
#[derive(Debug, Clone, Default)]
pub(super) struct TrialContext {
    /// Whether the answers were verified.
    pub(super) verified: bool,
    /// WAL bytes written during the trial, and by an idle system in the same time; `None` if unknown.
    pub(super) journal_bytes: Option<(f64, f64)>,
    /// Further metrics of the trial.
    pub(super) metrics: Metrics,
    /// Length of the warm-up in seconds.
    pub(super) ramp_s: f64,
    /// Bytes that the trial may read from the disk and still count as in memory; `None` if unknown.
    pub(super) may_read: Option<u64>,
    /// What happened to the system if clients lost it; `None` otherwise.
    pub(super) lost: Option<String>,
}

/// Measurements of the clients, with every histogram decoded once.
pub(super) struct ServingResults {
    driven: JobReport,
    by_operation: Vec<(Operation, DecodedOperation)>,
    /// Sum over all operations.
    all: DecodedOperation,
}

/// Measurements of one operation, with its histograms decoded.
struct DecodedOperation {
    measured: OperationReport,
    service: Histogram,
    response: Option<Histogram>,
    failed: Option<Histogram>,
}

impl ServingResults {
    /// Decodes the histograms; a failure if one is invalid.
    pub(super) fn of(driven: JobReport) -> Result<Self, Failure> {
        let by_operation = driven
            .operations
            .iter()
            .map(|(operation, measured)| Ok((*operation, read(*operation, measured)?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        let all = total(&by_operation);
        Ok(Self { driven, by_operation, all })
    }

    /// Throughput over all operations, in operations per second.
    pub(super) fn throughput(&self) -> f64 {
        per_second(&self.all, self.driven.measured_s)
    }

    /// What happened to a system that clients lost; `None` if they did not. `ends` lists how its server
    /// ended, each time. If it is empty but all clients had to reconnect, it is a remote server or one that
    /// restarted by itself.
    pub(super) fn lost_system(&self, ends: &[String]) -> Option<String> {
        let JobReport { reconnects, read_back, .. } = &self.driven;
        let mut words = match ends {
            [] if read_back.is_some() => {
                format!("all clients lost their connections, and {reconnects} were opened again")
            }
            [] => return None,
            ends => ends.join("; "),
        };
        if let Some(ReadBackCount { written, read }) = read_back {
            words.push_str(&format!("; {read} of {written} records with acknowledged writes were read back"));
        }
        Some(words)
    }

    /// Number of successful operations.
    pub(super) fn operations(&self) -> u64 {
        self.all.measured.operations
    }

    /// Length of the measurement window in seconds.
    pub(super) fn measured_s(&self) -> f64 {
        self.driven.measured_s
    }

    /// Error messages of the system, each with its number of occurrences.
    pub(super) fn refusals(&self) -> impl Iterator<Item = (&String, &u64)> {
        self.driven.refusals.iter()
    }

    /// Whether response times meet an objective without errors. Arrivals that never began count with their
    /// wait.
    pub(super) fn keeps(&self, objective: Objective) -> bool {
        let is_within = |response: &Histogram| {
            response.count() > 0 && response.quantile_us(objective.quantile) <= objective.seconds * 1e6
        };
        self.all.measured.errors == 0 && self.all.response.as_ref().is_some_and(is_within)
    }

    /// Trial of the whole mix, and one for each operation if there are several.
    pub(super) fn trials(&self, cell: &Cell, round: u32, beside: &TrialContext) -> Vec<Trial> {
        let Self { driven, by_operation, all } = self;
        let mut whole = new_trial(cell, round, 0);
        whole.metrics = figures(all, driven.measured_s);
        whole.metrics.extend(of_the_run(driven, all.measured.operations as f64, beside));
        whole.per_second = by_second(driven, beside.ramp_s);
        // Wrong answers outside the measurement window, or when reading back, count too.
        let wrong = all.measured.wrong.max(driven.wrong.len() as u64);
        judge(&mut whole, driven, all, wrong, beside);
        let mut trials = vec![whole];
        if by_operation.len() > 1 {
            for (operation, one) in by_operation {
                let mut trial = new_trial(&of_operation(cell, *operation), round, 0);
                trial.metrics = figures(one, driven.measured_s);
                judge(&mut trial, driven, one, wrong, beside);
                trials.push(trial);
            }
        }
        trials
    }

    /// All histograms of a trial as an HdrHistogram interval log, version 1.3, which other programs can read.
    /// Each operation and kind of time is one interval, named by its tag.
    pub(super) fn interval_log(&self, begun_s: f64, ramp_s: f64) -> String {
        let mut log = interval_log_head(begun_s);
        for (operation, one) in &self.by_operation {
            let kinds = [
                ("service", Some(&one.service)),
                ("response", one.response.as_ref()),
                ("failed", one.failed.as_ref()),
            ];
            for (kind, histogram) in kinds {
                if let Some(histogram) = histogram.filter(|histogram| histogram.count() > 0) {
                    let tag = format!("{operation}-{kind}");
                    log.push_str(&histogram.interval_line(&tag, ramp_s, self.driven.measured_s));
                    log.push('\n');
                }
            }
        }
        log
    }
}

fn read(operation: Operation, measured: &OperationReport) -> Result<DecodedOperation, Failure> {
    let histogram = |text: &String| {
        Histogram::from_text(text).map_err(|error| {
            let error = format!("the histogram of {operation} cannot be read: {error}");
            Failure::new(FailureKind::Protocol, error)
        })
    };
    Ok(DecodedOperation {
        service: histogram(&measured.service)?,
        response: measured.response.as_ref().map(histogram).transpose()?,
        failed: measured.failed.as_ref().map(histogram).transpose()?,
        measured: measured.clone(),
    })
}

/// Sums up the measurements of all operations.
fn total(by_operation: &[(Operation, DecodedOperation)]) -> DecodedOperation {
    let mut all = DecodedOperation {
        measured: OperationReport::default(),
        service: Histogram::new(),
        response: None,
        failed: None,
    };
    for (_, one) in by_operation {
        let into = &mut all.measured;
        into.operations += one.measured.operations;
        into.documents += one.measured.documents;
        into.errors += one.measured.errors;
        into.timeouts += one.measured.timeouts;
        into.wrong += one.measured.wrong;
        into.stale += one.measured.stale;
        into.retries += one.measured.retries;
        all.service.merge(&one.service);
        for (into, from) in [(&mut all.response, &one.response), (&mut all.failed, &one.failed)] {
            if let Some(from) = from {
                into.get_or_insert_with(Histogram::new).merge(from);
            }
        }
    }
    all
}

fn per_second(read: &DecodedOperation, seconds: f64) -> f64 {
    if seconds > 0.0 { read.measured.operations as f64 / seconds } else { 0.0 }
}

const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("max", 1.0)];

fn figures(read: &DecodedOperation, seconds: f64) -> Metrics {
    let OperationReport { operations, documents, errors, timeouts, wrong, stale, retries, .. } =
        read.measured;
    let mut metrics = Metrics::from([
        ("throughput_ops_per_s".to_owned(), per_second(read, seconds)),
        ("operations".to_owned(), operations as f64),
        ("documents".to_owned(), documents as f64),
        ("errors".to_owned(), errors as f64),
        ("timeouts".to_owned(), timeouts as f64),
        ("wrong_answers".to_owned(), wrong as f64),
        ("stale_answers".to_owned(), stale as f64),
        ("retries".to_owned(), retries as f64),
    ]);
    let mut quantiles = |what: &str, histogram: &Histogram| {
        if histogram.count() > 0 {
            for (name, quantile) in QUANTILES {
                metrics.insert(format!("{what}_{name}_us"), histogram.quantile_us(quantile));
            }
        }
    };
    quantiles("service", &read.service);
    if let Some(response) = &read.response {
        quantiles("response", response);
    }
    metrics
}

fn of_the_run(driven: &JobReport, operations: f64, beside: &TrialContext) -> Metrics {
    let mut metrics = Metrics::from([
        ("measured_s".to_owned(), driven.measured_s),
        ("threads".to_owned(), f64::from(driven.threads)),
        ("lost_updates".to_owned(), driven.lost_updates as f64),
        ("reconnects".to_owned(), driven.reconnects as f64),
        ("unknown_writes".to_owned(), driven.unknown_writes as f64),
        ("records_at_end".to_owned(), driven.records as f64),
    ]);
    if let Some(steady) = driven.steady {
        metrics.insert("steady".to_owned(), f64::from(u8::from(steady)));
    }
    if let Some(arrivals) = &driven.arrivals {
        metrics.insert("missed_arrivals".into(), arrivals.missed as f64);
        metrics.insert("unfinished_arrivals".into(), arrivals.unfinished as f64);
        metrics.insert("planned_arrivals".into(), arrivals.planned as f64);
        metrics.insert("backlog_max".into(), arrivals.backlog_max as f64);
        metrics.insert("backlog_at_start".into(), arrivals.backlog_at_start as f64);
        if let Ok(lateness) = Histogram::from_text(&arrivals.lateness)
            && lateness.count() > 0
        {
            metrics.insert("lateness_p99_us".into(), lateness.quantile_us(0.99));
        }
    }
    metrics.extend(beside.metrics.clone());
    if let Some(most) = beside.may_read.filter(|_| driven.usage.cpu_s.is_some() && beside.lost.is_none()) {
        let read = driven.usage.counters.read_bytes;
        metrics.insert("read_bytes".to_owned(), read as f64);
        metrics.insert("in_memory".to_owned(), f64::from(u8::from(read <= most)));
    }
    if operations > 0.0 {
        let mut per_op = |name: &str, value: f64| metrics.insert(name.to_owned(), value / operations);
        let usage = &driven.usage;
        // The usage of a server process that ended is unknown.
        let is_whole = beside.lost.is_none();
        if let Some(client) = usage.client_cpu_s {
            per_op("client_cpu_us_per_op", client * 1e6);
        }
        if let Some(server) = usage.cpu_s.filter(|_| is_whole) {
            per_op("server_cpu_us_per_op", server * 1e6);
        }
        // Includes writes of other processes and of a restarted server: it counts the whole disk.
        if let Some(written) = driven.disk_written_bytes {
            per_op("disk_written_bytes_per_op", written as f64);
        }
        if let Some(scheduling) = driven.scheduling.as_ref().filter(|_| is_whole) {
            per_op("context_switches_per_op", scheduling.context_switches as f64);
            per_op("cpu_migrations_per_op", scheduling.migrations as f64);
        }
        if let Some((bytes, idle)) = beside.journal_bytes {
            per_op("journal_bytes_per_op", (bytes - idle).max(0.0));
            metrics.insert("idle_journal_bytes".into(), idle);
        }
    }
    if let (Some(client), Some(server)) = (driven.usage.client_cpu_s, driven.usage.cpu_s)
        && client + server > 0.0
        && beside.lost.is_none()
    {
        metrics.insert("driver_share".into(), client / (client + server));
    }
    metrics
}

fn by_second(driven: &JobReport, ramp_s: f64) -> Vec<TrialSecond> {
    let second = |(index, second): (usize, &jsonathlon_loadgen::report::TrialSecond)| TrialSecond {
        operations: second.operations,
        errors: second.errors,
        longest_us: second.longest_us,
        backlog: second.backlog,
        ramp: (index as f64) < ramp_s,
        in_checkpoint: second.checkpoint,
        disk_queue: second.disk_queue,
    };
    driven.seconds.iter().enumerate().map(second).collect()
}

/// Sets the verdict, and the histograms of valid results. One `wrong` answer invalidates all operations of
/// the trial.
fn judge(trial: &mut Trial, driven: &JobReport, read: &DecodedOperation, wrong: u64, beside: &TrialContext) {
    let OperationReport { operations, errors, .. } = read.measured;
    let lost = beside.lost.as_ref();
    let with_lost = |words: String| lost.map_or(words.clone(), |lost| format!("{words}; {lost}"));
    if wrong > 0 {
        let first = driven.wrong.first().map_or("", String::as_str);
        let answers = if wrong == 1 { "answer was" } else { "answers were" };
        let error = with_lost(format!("{wrong} {answers} wrong: {first}"));
        trial.verdict = Verdict::Wrong;
        trial.failure = Some(Failure::new(FailureKind::Wrong, error));
        return;
    }
    if operations == 0 {
        let (refusal, kind) = match driven.refusals.keys().next() {
            Some(refusal) => (refusal.as_str(), FailureKind::Refused),
            None if driven.arrivals.as_ref().is_some_and(|arrivals| arrivals.planned == 0) => {
                (NONE_ARRIVED, FailureKind::Environment)
            }
            None => ("no operation ended within the measured time", FailureKind::Timeout),
        };
        let kind = if lost.is_some() { FailureKind::Crash } else { kind };
        trial.verdict = Verdict::Failed;
        trial.failure = Some(Failure::new(kind, with_lost(refusal.to_owned())));
        return;
    }
    trial.failure = lost.map(|words| Failure::new(FailureKind::Crash, words));
    trial.verdict = if lost.is_some() || errors as f64 > TOLERABLE_ERRORS * (operations + errors) as f64 {
        Verdict::Partial
    } else if beside.verified {
        Verdict::Exact
    } else {
        Verdict::Unverified
    };
    trial.histograms.insert("service".into(), read.service.to_text());
    if let Some(response) = &read.response {
        trial.histograms.insert("response".into(), response.to_text());
    }
    if let Some(failed) = read.failed.as_ref().filter(|failed| failed.count() > 0) {
        trial.histograms.insert("failed".into(), failed.to_text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::control_cell;

    /// Judges a trial that may read 1,000 bytes from the disk.
    fn judged(driven: JobReport, ends: &[&str]) -> Trial {
        let mut service = Histogram::new();
        (0..1000).for_each(|_| service.record_ns(1_000_000));
        let measured =
            OperationReport { operations: 1000, service: service.to_text(), ..OperationReport::default() };
        let usage = jsonathlon_worker::protocol::OpUsage {
            cpu_s: Some(1.0),
            client_cpu_s: Some(1.0),
            counters: driven.usage.counters,
        };
        let operations = [(Operation::Read, measured)].into();
        let disk_written_bytes = Some(12_000_000);
        let driven = JobReport { measured_s: 2.0, operations, usage, disk_written_bytes, ..driven };
        let outcome = ServingResults::of(driven).unwrap();
        let ends: Vec<String> = ends.iter().map(|one| (*one).to_owned()).collect();
        let lost = outcome.lost_system(&ends);
        let beside = TrialContext { verified: true, may_read: Some(1000), lost, ..TrialContext::default() };
        outcome.trials(&control_cell("serving"), 1, &beside).remove(0)
    }

    #[test]
    fn a_trial_whose_server_ended_is_partial_whatever_it_reached() {
        let well = judged(JobReport::default(), &[]);
        assert_eq!((well.verdict, well.failure.clone()), (Verdict::Exact, None));
        assert!(well.metrics.contains_key("server_cpu_us_per_op"));
        assert_eq!(well.metrics["disk_written_bytes_per_op"], 12_000.0);
        let read_back = Some(ReadBackCount { written: 9, read: 7 });
        let ended = judged(JobReport { read_back, ..JobReport::default() }, &["it ended", "again"]);
        assert_eq!(ended.verdict, Verdict::Partial);
        let words = "it ended; again; 7 of 9 records with acknowledged writes were read back";
        assert_eq!(ended.failure, Some(Failure::new(FailureKind::Crash, words)));
        assert_eq!(ended.metrics["throughput_ops_per_s"], 500.0);
        for gone in ["server_cpu_us_per_op", "driver_share"] {
            assert!(!ended.metrics.contains_key(gone), "{gone}");
        }
        // A remote server or one that restarts by itself only shows that all clients had to reconnect.
        let guest = judged(JobReport { read_back, reconnects: 3, ..JobReport::default() }, &[]);
        assert_eq!(guest.verdict, Verdict::Partial);
        assert!(
            guest.failure.unwrap().error.contains("all clients lost their connections, and 3 were opened")
        );
    }

    #[test]
    fn a_rate_at_which_nobody_came_is_told_so() {
        let arrivals = jsonathlon_loadgen::report::ArrivalReport::default();
        let nothing = OperationReport { service: Histogram::new().to_text(), ..OperationReport::default() };
        let operations = [(Operation::Read, nothing)].into();
        let driven =
            JobReport { measured_s: 2.0, operations, arrivals: Some(arrivals), ..JobReport::default() };
        let outcome = ServingResults::of(driven).unwrap();
        let trial = outcome.trials(&control_cell("serving"), 1, &TrialContext::default()).remove(0);
        let failure = trial.failure.unwrap();
        assert_eq!((trial.verdict, failure.kind), (Verdict::Failed, FailureKind::Environment));
        assert!(failure.error.contains("higher --rates, or a longer --measure"), "{}", failure.error);
    }

    #[test]
    fn a_trial_that_reads_from_the_disk_says_that_the_data_were_not_in_memory() {
        let reading = |read_bytes: u64, ends: &[&str]| {
            let counters = jsonathlon_telemetry::process::Usage { read_bytes, ..Default::default() };
            let usage = jsonathlon_worker::protocol::OpUsage { counters, ..Default::default() };
            let metrics = judged(JobReport { usage, ..JobReport::default() }, ends).metrics;
            (metrics.get("read_bytes").copied(), metrics.get("in_memory").copied())
        };
        assert_eq!(reading(1000, &[]), (Some(1000.0), Some(1.0)));
        assert_eq!(reading(1001, &[]), (Some(1001.0), Some(0.0)));
        // What the first of two server processes read is unknown.
        assert_eq!(reading(0, &["it ended"]), (None, None));
    }

    #[test]
    fn what_is_wrong_when_it_is_read_back_makes_its_trial_wrong() {
        let wrong = vec!["record 3, read back: stale".to_owned()];
        let judged = judged(JobReport { wrong, ..JobReport::default() }, &["it ended"]);
        assert_eq!(judged.verdict, Verdict::Wrong);
        assert_eq!(judged.failure.unwrap().error, "1 answer was wrong: record 3, read back: stale; it ended");
        assert!(judged.histograms.is_empty());
    }
}
