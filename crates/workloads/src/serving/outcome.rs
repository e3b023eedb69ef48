//! Turns the measurements of clients into trials.

use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::report::{JobReport, OperationReport, ReadBackCount};
use jsonathlon_schema::metric::{self, MetricDef};
use jsonathlon_schema::record::{Cell, Failure, FailureKind, Finding, Metrics, Trial, TrialSecond, Verdict};
use jsonathlon_stats::histogram::{Histogram, interval_log_head};

use super::settings::Slo;
use super::trials::cell_of_operation;
use crate::recorder::new_trial;

/// Maximum share of failed operations; with more, a trial does not represent the system.
const TOLERABLE_ERRORS: f64 = 0.001;

/// Failure text of operations of an open loop of which none arrived in the measurement window, which is not the system's
/// fault.
const NONE_ARRIVED: &str =
    "none arrived within the measured time: it needs a higher rate or a longer --duration";

/// Data about a trial in addition to the clients' measurements.
#[derive(Debug, Clone, Default)]
pub(super) struct TrialContext {
    /// Whether the answers were verified.
    pub(super) verified: bool,
    /// WAL bytes of the trial; `None` if unknown.
    pub(super) wal_bytes: Option<WalBytes>,
    /// Further metrics of the trial.
    pub(super) metrics: Metrics,
    /// Length of the warm-up in seconds.
    pub(super) ramp_s: f64,
    /// Bytes that the trial may read from the disk and still count as in memory; `None` if unknown.
    pub(super) read_limit_bytes: Option<u64>,
    /// What happened to the system if clients lost it; `None` otherwise.
    pub(super) loss: Option<String>,
    /// Observations about the whole trial.
    pub(super) findings: Vec<Finding>,
    /// Whether reports were asked beside the load: processor time, switches and disk contain theirs then, and are not
    /// told for each operation.
    pub(super) has_reports: bool,
}

/// Bytes that a trial added to the WAL, next to those of an idle system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WalBytes {
    /// Bytes written during the trial.
    pub(super) written: f64,
    /// Bytes that an idle system would have written in the same time.
    pub(super) idle: f64,
}

/// Measurements of the clients, with every histogram decoded once.
pub(super) struct ServingResults {
    report: JobReport,
    by_operation: Vec<(Operation, DecodedOperation)>,
    /// Sum over all operations.
    total: DecodedOperation,
}

/// Measurements of one operation, with its histograms decoded.
struct DecodedOperation {
    report: OperationReport,
    service: Histogram,
    response: Option<Histogram>,
    failed: Option<Histogram>,
}

impl DecodedOperation {
    /// Whether no operation arrived within the window of an open loop. Those that never began or ended have response
    /// times, too.
    fn is_without_arrivals(&self, report: &JobReport) -> bool {
        let has_arrivals = self.response.as_ref().is_some_and(|response| response.count() > 0);
        report.arrivals.is_some() && self.report.errors == 0 && !has_arrivals
    }
}

impl ServingResults {
    /// Decodes the histograms; a failure if one is invalid.
    pub(super) fn new(report: JobReport) -> Result<Self, Failure> {
        let by_operation = report
            .operations
            .iter()
            .map(|(operation, report)| Ok((*operation, decode(*operation, report)?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        let total = total(&by_operation);
        Ok(Self { report, by_operation, total })
    }

    /// Throughput over all operations, in operations per second.
    pub(super) fn throughput(&self) -> f64 {
        throughput(&self.total, self.report.measured_s)
    }

    /// What happened to a system that clients lost; `None` if they did not. `exits` lists how its server
    /// ended, each time. If it is empty but all clients had to reconnect, it is a remote server or one that
    /// restarted by itself.
    pub(super) fn loss_message(&self, exits: &[String]) -> Option<String> {
        let JobReport { reconnects, read_back, .. } = &self.report;
        let mut message = match exits {
            [] if read_back.is_some() => {
                format!("all clients lost their connections, and {reconnects} were opened again")
            }
            [] => return None,
            exits => exits.join("; "),
        };
        if let Some(ReadBackCount { written, read }) = read_back {
            let records = format!("; {read} of {written} records with acknowledged writes were read back");
            message.push_str(&records);
        }
        Some(message)
    }

    /// Number of successful operations.
    pub(super) fn operations(&self) -> u64 {
        self.total.report.operations
    }

    /// Share of the planned arrivals that the system carried out within the window; what it refused was answered, but
    /// not done. `None` in a closed loop, and if none was planned.
    pub(super) fn kept_share(&self) -> Option<f64> {
        let arrivals = self.report.arrivals.as_ref().filter(|arrivals| arrivals.planned > 0)?;
        let not_done = arrivals.missed + arrivals.unfinished + self.total.report.errors;
        Some(arrivals.planned.saturating_sub(not_done) as f64 / arrivals.planned as f64)
    }

    /// Verdict of the whole mix, and why it is not better.
    pub(super) fn verdict(&self, verified: bool, loss: Option<&str>) -> (Verdict, Option<Failure>) {
        judge(&self.report, &self.total, self.wrong_count(), verified, loss)
    }

    /// Number of wrong answers; those outside the measurement window, or when reading back, count too.
    fn wrong_count(&self) -> u64 {
        self.total.report.wrong.max(self.report.wrong_answers.len() as u64)
    }

    /// Length of the measurement window in seconds.
    pub(super) fn measured_s(&self) -> f64 {
        self.report.measured_s
    }

    /// Error messages of the system, each with its number of occurrences.
    pub(super) fn refusals(&self) -> impl Iterator<Item = (&String, &u64)> {
        self.report.refusals.iter()
    }

    /// Whether response times meet the objective without errors. Arrivals that never began count with their
    /// wait.
    pub(super) fn meets(&self, slo: Slo) -> bool {
        let is_within = |response: &Histogram| {
            response.count() > 0 && response.quantile_us(slo.quantile) <= slo.seconds * 1e6
        };
        self.total.report.errors == 0 && self.total.response.as_ref().is_some_and(is_within)
    }

    /// Trial of the whole mix, and one for each operation if there are several.
    pub(super) fn trials(&self, cell: &Cell, round: u32, context: &TrialContext) -> Vec<Trial> {
        let Self { report, by_operation, total } = self;
        let mut mix_trial = new_trial(cell, round, 0);
        mix_trial.metrics = operation_metrics(total, report.measured_s);
        mix_trial.metrics.extend(run_metrics(report, total.report.operations as f64, context));
        mix_trial.per_second = trial_seconds(report, context.ramp_s);
        mix_trial.findings.clone_from(&context.findings);
        let wrong_count = self.wrong_count();
        add_verdict(&mut mix_trial, report, total, wrong_count, context);
        let mut trials = vec![mix_trial];
        if by_operation.len() > 1 {
            for (operation, decoded) in by_operation {
                let mut trial = new_trial(&cell_of_operation(cell, *operation), round, 0);
                trial.metrics = operation_metrics(decoded, report.measured_s);
                trial.findings.clone_from(&context.findings);
                add_verdict(&mut trial, report, decoded, wrong_count, context);
                trials.push(trial);
            }
        }
        trials
    }

    /// All histograms of a trial as an HdrHistogram interval log, version 1.3, which other programs can read.
    /// Each operation and kind of time is one interval, named by its tag.
    pub(super) fn interval_log(&self, started_s: f64, ramp_s: f64) -> String {
        let mut log = interval_log_head(started_s);
        for (operation, decoded) in &self.by_operation {
            let kinds = [
                ("service", Some(&decoded.service)),
                ("response", decoded.response.as_ref()),
                ("failed", decoded.failed.as_ref()),
            ];
            for (kind, histogram) in kinds {
                if let Some(histogram) = histogram.filter(|histogram| histogram.count() > 0) {
                    let tag = format!("{operation}-{kind}");
                    log.push_str(&histogram.interval_line(&tag, ramp_s, self.report.measured_s));
                    log.push('\n');
                }
            }
        }
        log
    }
}

fn decode(operation: Operation, report: &OperationReport) -> Result<DecodedOperation, Failure> {
    let histogram = |text: &String| {
        Histogram::from_text(text).map_err(|error| {
            let error = format!("the histogram of {operation} cannot be read: {error}");
            Failure::new(FailureKind::Protocol, error)
        })
    };
    Ok(DecodedOperation {
        service: histogram(&report.service)?,
        response: report.response.as_ref().map(histogram).transpose()?,
        failed: report.failed.as_ref().map(histogram).transpose()?,
        report: report.clone(),
    })
}

/// Sums up the measurements of all operations.
fn total(by_operation: &[(Operation, DecodedOperation)]) -> DecodedOperation {
    let mut sum = DecodedOperation {
        report: OperationReport::default(),
        service: Histogram::new(),
        response: None,
        failed: None,
    };
    for (_, decoded) in by_operation {
        let counts = &mut sum.report;
        counts.operations += decoded.report.operations;
        counts.documents += decoded.report.documents;
        counts.errors += decoded.report.errors;
        counts.timeouts += decoded.report.timeouts;
        counts.wrong += decoded.report.wrong;
        counts.stale += decoded.report.stale;
        counts.retries += decoded.report.retries;
        sum.service.merge(&decoded.service);
        let histograms = [(&mut sum.response, &decoded.response), (&mut sum.failed, &decoded.failed)];
        for (merged, histogram) in histograms {
            if let Some(histogram) = histogram {
                merged.get_or_insert_with(Histogram::new).merge(histogram);
            }
        }
    }
    sum
}

fn throughput(decoded: &DecodedOperation, seconds: f64) -> f64 {
    if seconds > 0.0 { decoded.report.operations as f64 / seconds } else { 0.0 }
}

/// Metrics of the service time, each with its quantile.
const SERVICE_QUANTILES: [(MetricDef, f64); 5] = [
    (metric::SERVICE_P50_US, 0.5),
    (metric::SERVICE_P90_US, 0.9),
    (metric::SERVICE_P99_US, 0.99),
    (metric::SERVICE_P999_US, 0.999),
    (metric::SERVICE_MAX_US, 1.0),
];

/// Metrics of the response time, each with its quantile.
const RESPONSE_QUANTILES: [(MetricDef, f64); 5] = [
    (metric::RESPONSE_P50_US, 0.5),
    (metric::RESPONSE_P90_US, 0.9),
    (metric::RESPONSE_P99_US, 0.99),
    (metric::RESPONSE_P999_US, 0.999),
    (metric::RESPONSE_MAX_US, 1.0),
];

fn operation_metrics(decoded: &DecodedOperation, seconds: f64) -> Metrics {
    let OperationReport { operations, documents, errors, timeouts, wrong, stale, retries, .. } =
        decoded.report;
    let mut metrics = Metrics::from([
        metric::THROUGHPUT_OPS_PER_S.with_value(throughput(decoded, seconds)),
        metric::OPERATIONS.with_value(operations as f64),
        metric::DOCUMENTS.with_value(documents as f64),
        metric::ERRORS.with_value(errors as f64),
        metric::TIMEOUTS.with_value(timeouts as f64),
        metric::WRONG_ANSWERS.with_value(wrong as f64),
        metric::STALE_ANSWERS.with_value(stale as f64),
        metric::RETRIES.with_value(retries as f64),
    ]);
    let mut insert_quantiles = |quantiles: [(MetricDef, f64); 5], histogram: &Histogram| {
        if histogram.count() > 0 {
            for (metric, quantile) in quantiles {
                metrics.insert(metric.name.to_owned(), histogram.quantile_us(quantile));
            }
        }
    };
    insert_quantiles(SERVICE_QUANTILES, &decoded.service);
    if let Some(response) = &decoded.response {
        insert_quantiles(RESPONSE_QUANTILES, response);
    }
    metrics
}

fn run_metrics(report: &JobReport, operations: f64, context: &TrialContext) -> Metrics {
    let mut metrics = Metrics::from([
        metric::MEASURED_S.with_value(report.measured_s),
        metric::THREADS.with_value(f64::from(report.threads)),
        metric::LOST_UPDATES.with_value(report.lost_updates as f64),
        metric::RECONNECTS.with_value(report.reconnects as f64),
        metric::UNKNOWN_WRITES.with_value(report.unknown_writes as f64),
        metric::RECORDS_AT_END.with_value(report.records as f64),
    ]);
    if let Some(steady) = report.steady {
        metrics.insert(metric::STEADY.name.to_owned(), f64::from(u8::from(steady)));
    }
    if let Some(arrivals) = &report.arrivals {
        metrics.insert(metric::MISSED_ARRIVALS.name.to_owned(), arrivals.missed as f64);
        metrics.insert(metric::UNFINISHED_ARRIVALS.name.to_owned(), arrivals.unfinished as f64);
        metrics.insert(metric::PLANNED_ARRIVALS.name.to_owned(), arrivals.planned as f64);
        metrics.insert(metric::BACKLOG_MAX.name.to_owned(), arrivals.backlog_max as f64);
        metrics.insert(metric::BACKLOG_AT_START.name.to_owned(), arrivals.backlog_at_start as f64);
        if let Ok(lateness) = Histogram::from_text(&arrivals.lateness)
            && lateness.count() > 0
        {
            metrics.insert(metric::LATENESS_P99_US.name.to_owned(), lateness.quantile_us(0.99));
        }
    }
    metrics.extend(context.metrics.clone());
    if let Some(limit) =
        context.read_limit_bytes.filter(|_| report.usage.cpu_s.is_some() && context.loss.is_none())
    {
        let read_bytes = report.usage.counters.read_bytes;
        metrics.insert(metric::READ_BYTES.name.to_owned(), read_bytes as f64);
        metrics.insert(metric::IN_MEMORY.name.to_owned(), f64::from(u8::from(read_bytes <= limit)));
    }
    if operations > 0.0 {
        metrics.extend(usage_per_operation(report, operations, context));
    }
    if let (Some(client), Some(server)) = (report.usage.client_cpu_s, report.usage.cpu_s)
        && client + server > 0.0
        && context.loss.is_none()
        && !context.has_reports
    {
        metrics.insert(metric::CLIENT_CPU_SHARE.name.to_owned(), client / (client + server));
    }
    metrics
}

/// Resource usage of a run, divided by its number of operations.
fn usage_per_operation(report: &JobReport, operations: f64, context: &TrialContext) -> Metrics {
    let mut metrics = Metrics::new();
    let mut per_op =
        |metric: MetricDef, total: f64| metrics.insert(metric.name.to_owned(), total / operations);
    let usage = &report.usage;
    // The usage of a server process that ended is unknown, and that of reports cannot be told from the clients'.
    let is_usage_known = context.loss.is_none() && !context.has_reports;
    if let Some(client) = usage.client_cpu_s.filter(|_| !context.has_reports) {
        per_op(metric::CLIENT_CPU_US_PER_OP, client * 1e6);
    }
    if let Some(server) = usage.cpu_s.filter(|_| is_usage_known) {
        per_op(metric::SERVER_CPU_US_PER_OP, server * 1e6);
    }
    // Includes writes of other processes and of a restarted server: it counts the whole disk.
    if let Some(bytes) = report.disk_written_bytes.filter(|_| !context.has_reports) {
        per_op(metric::DISK_WRITTEN_BYTES_PER_OP, bytes as f64);
    }
    if let Some(scheduling) = report.scheduling.as_ref().filter(|_| is_usage_known) {
        per_op(metric::CONTEXT_SWITCHES_PER_OP, scheduling.context_switches as f64);
        per_op(metric::CPU_MIGRATIONS_PER_OP, scheduling.migrations as f64);
    }
    if let Some(WalBytes { written, idle }) = context.wal_bytes {
        per_op(metric::WAL_BYTES_PER_OP, (written - idle).max(0.0));
        metrics.insert(metric::IDLE_WAL_BYTES.name.to_owned(), idle);
    }
    metrics
}

fn trial_seconds(report: &JobReport, ramp_s: f64) -> Vec<TrialSecond> {
    let second = |(index, second): (usize, &jsonathlon_loadgen::report::TrialSecond)| TrialSecond {
        operations: second.operations,
        errors: second.errors,
        longest_us: second.longest_us,
        backlog: second.backlog,
        ramp: (index as f64) < ramp_s,
        in_checkpoint: second.checkpoint,
        disk_queue: second.disk_queue,
        ..TrialSecond::default()
    };
    report.seconds.iter().enumerate().map(second).collect()
}

/// Sets the verdict, and the histograms of valid results.
fn add_verdict(
    trial: &mut Trial,
    report: &JobReport,
    decoded: &DecodedOperation,
    wrong_count: u64,
    context: &TrialContext,
) {
    (trial.verdict, trial.failure) =
        judge(report, decoded, wrong_count, context.verified, context.loss.as_deref());
    if !trial.verdict.has_time() {
        return;
    }
    trial.histograms.insert("service".into(), decoded.service.to_text());
    if let Some(response) = &decoded.response {
        trial.histograms.insert("response".into(), response.to_text());
    }
    if let Some(failed) = decoded.failed.as_ref().filter(|failed| failed.count() > 0) {
        trial.histograms.insert("failed".into(), failed.to_text());
    }
}

/// Verdict on operations, and why it is not better. A `wrong_count` above 0 invalidates all operations of the trial.
fn judge(
    report: &JobReport,
    decoded: &DecodedOperation,
    wrong_count: u64,
    verified: bool,
    loss: Option<&str>,
) -> (Verdict, Option<Failure>) {
    let OperationReport { operations, errors, .. } = decoded.report;
    let with_loss = |message: String| loss.map_or(message.clone(), |loss| format!("{message}; {loss}"));
    if wrong_count > 0 {
        let first = report.wrong_answers.first().map_or("", String::as_str);
        let answers = if wrong_count == 1 { "answer was" } else { "answers were" };
        let error = with_loss(format!("{wrong_count} {answers} wrong: {first}"));
        return (Verdict::Wrong, Some(Failure::new(FailureKind::Wrong, error)));
    }
    if operations == 0 {
        let (refusal, kind) = match report.refusals.keys().next() {
            _ if decoded.is_without_arrivals(report) => (NONE_ARRIVED, FailureKind::Environment),
            Some(refusal) => (refusal.as_str(), FailureKind::Refused),
            None => ("no operation ended within the measured time", FailureKind::Timeout),
        };
        let kind = if loss.is_some() { FailureKind::Crash } else { kind };
        return (Verdict::Failed, Some(Failure::new(kind, with_loss(refusal.to_owned()))));
    }
    let failure = loss.map(|message| Failure::new(FailureKind::Crash, message));
    let has_failed = loss.is_some() || errors as f64 > TOLERABLE_ERRORS * (operations + errors) as f64;
    let verdict = match verified {
        _ if has_failed => Verdict::Partial,
        true => Verdict::Exact,
        false => Verdict::Unverified,
    };
    (verdict, failure)
}

#[cfg(test)]
mod tests {
    use jsonathlon_loadgen::report::ArrivalReport;

    use super::*;
    use crate::cells::control_cell;

    /// Judges a trial that may read 1,000 bytes from the disk.
    fn judged(report: JobReport, exits: &[&str]) -> Trial {
        let (outcome, context) = measured(report, exits);
        outcome.trials(&control_cell("serving"), 1, &context).remove(0)
    }

    /// Measurements of 1,000 reads in two seconds, and their context.
    fn measured(report: JobReport, exits: &[&str]) -> (ServingResults, TrialContext) {
        let mut service = Histogram::new();
        (0..1000).for_each(|_| service.record_ns(1_000_000));
        let errors = report.refusals.values().sum();
        let measured = OperationReport {
            operations: 1000,
            errors,
            service: service.to_text(),
            ..OperationReport::default()
        };
        let usage = jsonathlon_worker::protocol::OpUsage {
            cpu_s: Some(1.0),
            client_cpu_s: Some(1.0),
            counters: report.usage.counters,
        };
        let operations = [(Operation::Read, measured)].into();
        let disk_written_bytes = Some(12_000_000);
        let report = JobReport { measured_s: 2.0, operations, usage, disk_written_bytes, ..report };
        let outcome = ServingResults::new(report).unwrap();
        let exits: Vec<String> = exits.iter().map(|exit| (*exit).to_owned()).collect();
        let loss = outcome.loss_message(&exits);
        let context =
            TrialContext { verified: true, read_limit_bytes: Some(1000), loss, ..TrialContext::default() };
        (outcome, context)
    }

    #[test]
    fn a_trial_whose_server_ended_is_partial_whatever_it_reached() {
        let healthy = judged(JobReport::default(), &[]);
        assert_eq!((healthy.verdict, healthy.failure.clone()), (Verdict::Exact, None));
        assert!(healthy.metrics.contains_key(metric::SERVER_CPU_US_PER_OP.name));
        assert_eq!(healthy.metrics[metric::DISK_WRITTEN_BYTES_PER_OP.name], 12_000.0);
        let read_back = Some(ReadBackCount { written: 9, read: 7 });
        let crashed = judged(JobReport { read_back, ..JobReport::default() }, &["it ended", "again"]);
        assert_eq!(crashed.verdict, Verdict::Partial);
        let message = "it ended; again; 7 of 9 records with acknowledged writes were read back";
        assert_eq!(crashed.failure, Some(Failure::new(FailureKind::Crash, message)));
        assert_eq!(crashed.metrics[metric::THROUGHPUT_OPS_PER_S.name], 500.0);
        for MetricDef { name, .. } in [metric::SERVER_CPU_US_PER_OP, metric::CLIENT_CPU_SHARE] {
            assert!(!crashed.metrics.contains_key(name), "{name}");
        }
        // A remote server or one that restarts by itself only shows that all clients had to reconnect.
        let remote = judged(JobReport { read_back, reconnects: 3, ..JobReport::default() }, &[]);
        assert_eq!(remote.verdict, Verdict::Partial);
        assert!(
            remote.failure.unwrap().error.contains("all clients lost their connections, and 3 were opened")
        );
    }

    #[test]
    fn what_a_system_refused_was_not_carried_at_its_rate() {
        let arrivals = || ArrivalReport { planned: 2000, missed: 200, unfinished: 300, ..Default::default() };
        let refusals = [("queue full".to_owned(), 500)].into();
        let report = JobReport { arrivals: Some(arrivals()), refusals, ..JobReport::default() };
        let (outcome, context) = measured(report, &[]);
        assert_eq!(outcome.kept_share(), Some(0.5));
        assert_eq!(outcome.verdict(context.verified, None).0, Verdict::Partial);
        let report = JobReport { arrivals: Some(arrivals()), ..JobReport::default() };
        let (outcome, context) = measured(report, &[]);
        assert_eq!(outcome.kept_share(), Some(0.75));
        assert_eq!(outcome.verdict(context.verified, None), (Verdict::Exact, None));
        let (verdict, failure) = outcome.verdict(context.verified, Some("it ended"));
        assert_eq!((verdict, failure.unwrap().kind), (Verdict::Partial, FailureKind::Crash));
    }

    #[test]
    fn costs_of_an_operation_are_not_told_beside_reports() {
        let report = JobReport {
            scheduling: Some(jsonathlon_loadgen::report::Scheduling { context_switches: 5, migrations: 6 }),
            ..JobReport::default()
        };
        let (outcome, context) = measured(report, &[]);
        let shared = [
            metric::CLIENT_CPU_US_PER_OP,
            metric::SERVER_CPU_US_PER_OP,
            metric::CLIENT_CPU_SHARE,
            metric::CONTEXT_SWITCHES_PER_OP,
            metric::CPU_MIGRATIONS_PER_OP,
            metric::DISK_WRITTEN_BYTES_PER_OP,
        ];
        let told = |has_reports| {
            let context = TrialContext { has_reports, ..context.clone() };
            let trial = outcome.trials(&control_cell("serving"), 1, &context).remove(0);
            shared.map(|metric| trial.metrics.contains_key(metric.name))
        };
        assert_eq!((told(false), told(true)), ([true; 6], [false; 6]));
    }

    #[test]
    fn a_rate_at_which_nobody_came_is_told_so() {
        let arrivals = ArrivalReport::default();
        let empty = OperationReport { service: Histogram::new().to_text(), ..OperationReport::default() };
        let operations = [(Operation::Read, empty)].into();
        let report =
            JobReport { measured_s: 2.0, operations, arrivals: Some(arrivals), ..JobReport::default() };
        let outcome = ServingResults::new(report).unwrap();
        let trial = outcome.trials(&control_cell("serving"), 1, &TrialContext::default()).remove(0);
        let failure = trial.failure.unwrap();
        assert_eq!((trial.verdict, failure.kind), (Verdict::Failed, FailureKind::Environment));
        assert!(failure.error.contains("a higher rate or a longer --duration"), "{}", failure.error);
    }

    /// Trials of reads that were answered and of updates of which `arrived` never began, in an open loop.
    fn trials_of_two(arrived: u32) -> Vec<Trial> {
        let histogram = |count: u32| {
            let mut histogram = Histogram::new();
            (0..count).for_each(|_| histogram.record_ns(1_000_000));
            histogram.to_text()
        };
        let operation = |operations: u32, arrivals: u32| OperationReport {
            operations: u64::from(operations),
            service: histogram(operations),
            response: Some(histogram(arrivals)),
            ..OperationReport::default()
        };
        let operations =
            [(Operation::Read, operation(40, 40)), (Operation::Update, operation(0, arrived))].into();
        let arrivals = jsonathlon_loadgen::report::ArrivalReport {
            planned: 40 + u64::from(arrived),
            missed: u64::from(arrived),
            ..Default::default()
        };
        let report =
            JobReport { measured_s: 2.0, operations, arrivals: Some(arrivals), ..JobReport::default() };
        let context = TrialContext { verified: true, ..TrialContext::default() };
        ServingResults::new(report).unwrap().trials(&control_cell("serving"), 1, &context)
    }

    #[test]
    fn an_operation_that_never_came_is_told_from_one_that_was_never_answered() {
        let failures = |arrived| -> Vec<Option<FailureKind>> {
            trials_of_two(arrived)
                .into_iter()
                .map(|trial| trial.failure.map(|failure| failure.kind))
                .collect()
        };
        assert_eq!(failures(0), [None, None, Some(FailureKind::Environment)]);
        assert_eq!(failures(1), [None, None, Some(FailureKind::Timeout)]);
        let never = trials_of_two(0).remove(2);
        assert!(never.failure.unwrap().error.starts_with("none arrived"), "no fault of the system");
    }

    #[test]
    fn a_trial_that_reads_from_the_disk_says_that_the_data_were_not_in_memory() {
        let disk_metrics = |read_bytes: u64, exits: &[&str]| {
            let counters = jsonathlon_telemetry::process::Usage { read_bytes, ..Default::default() };
            let usage = jsonathlon_worker::protocol::OpUsage { counters, ..Default::default() };
            let metrics = judged(JobReport { usage, ..JobReport::default() }, exits).metrics;
            [metric::READ_BYTES, metric::IN_MEMORY].map(|metric| metrics.get(metric.name).copied())
        };
        assert_eq!(disk_metrics(1000, &[]), [Some(1000.0), Some(1.0)]);
        assert_eq!(disk_metrics(1001, &[]), [Some(1001.0), Some(0.0)]);
        // What the first of two server processes read is unknown.
        assert_eq!(disk_metrics(0, &["it ended"]), [None, None]);
    }

    #[test]
    fn what_is_wrong_when_it_is_read_back_makes_its_trial_wrong() {
        let wrong_answers = vec!["record 3, read back: stale".to_owned()];
        let trial = judged(JobReport { wrong_answers, ..JobReport::default() }, &["it ended"]);
        assert_eq!(trial.verdict, Verdict::Wrong);
        assert_eq!(trial.failure.unwrap().error, "1 answer was wrong: record 3, read back: stale; it ended");
        assert!(trial.histograms.is_empty());
    }
}
