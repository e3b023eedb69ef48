//! Registry of metrics: name, unit, direction, and how the values of trials are reduced to the cell's value.
//!
//! Summary, comparison, gate, growth, tables and the page read this one list; the page's copy
//! (`web/src/metrics.ts`) is generated from it. A test fails if a workload writes a metric that is not
//! registered. Unregistered metrics of a system's folder are reduced to their median, shown in the unit in
//! which their name ends, and have no direction.

use crate::record::{ALL_QUESTIONS, Cell, INGEST, Phase, RATE, SLO, Trial};

/// Unit of a metric, which also determines how values are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Duration of wall-clock or CPU time in seconds.
    Seconds,
    /// Duration in milliseconds, such as the age of what a question sees.
    Milliseconds,
    /// Duration of one operation in microseconds.
    Microseconds,
    /// Microseconds for each operation.
    MicrosecondsPerOperation,
    /// Size or amount in bytes.
    Bytes,
    /// Bytes per second of wall-clock time.
    BytesPerSecond,
    /// Bytes for each operation.
    BytesPerOperation,
    /// Events per second, such as operations or documents.
    PerSecond,
    /// Events per hour, such as questions over all documents.
    PerHour,
    /// Events for each operation, such as context switches.
    PerOperation,
    /// Number of events or objects.
    Count,
    /// Share of a whole, from 0 to 1.
    Share,
    /// Plain number without a unit.
    Number,
}

impl Unit {
    /// Returns `true` for durations, which a slower machine lengthens.
    #[must_use]
    pub fn is_duration(self) -> bool {
        matches!(self, Self::Seconds | Self::Milliseconds | Self::Microseconds)
    }

    /// Returns `true` for events per time, which a slower machine lowers.
    #[must_use]
    pub fn is_rate(self) -> bool {
        matches!(self, Self::PerSecond | Self::PerHour)
    }

    /// Unit of an unregistered metric, taken from the end of its name, so that metrics of systems' own
    /// folders can be printed. [`Unit::Number`] if the ending is unknown.
    #[must_use]
    pub fn from_metric_name(name: &str) -> Self {
        const ENDINGS: [(&str, Unit); 12] = [
            ("_us_per_op", Unit::MicrosecondsPerOperation),
            ("bytes_per_op", Unit::BytesPerOperation),
            ("_per_op", Unit::PerOperation),
            ("_us", Unit::Microseconds),
            ("_ms", Unit::Milliseconds),
            ("bytes_per_s", Unit::BytesPerSecond),
            ("_per_s", Unit::PerSecond),
            ("_per_h", Unit::PerHour),
            ("_s", Unit::Seconds),
            ("bytes", Unit::Bytes),
            ("_share", Unit::Share),
            ("_error", Unit::Share),
        ];
        let entry = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
        entry.map_or(Self::Number, |(_, unit)| *unit)
    }
}

/// How the values of a cell's trials are reduced to one value of the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// Median of the trials' values.
    Median,
    /// Maximum: a median of peaks or errors would hide the largest one, which matters.
    Maximum,
    /// Sum of the trials' values.
    Sum,
    /// Quantile of merged histograms, such as a p99. The trials' histograms are merged, because the
    /// median of p99s is not a p99.
    MergedHistogram,
    /// No reduction: only a single value stands for the cell.
    None,
}

/// Direction in which a metric improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BetterDirection {
    /// Lower values are better, as for times and sizes.
    Lower,
    /// Higher values are better, as for throughput.
    Higher,
    /// The metric does not say what is better.
    Neither,
}

/// How a metric is named, displayed, reduced to one value per cell, and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricDef {
    /// Name in journals, summaries and exports, ending with the unit.
    pub name: &'static str,
    /// Title of the metric in tables and on the page.
    pub title: &'static str,
    /// Unit of the values, see [`Unit`].
    pub unit: Unit,
    /// How the trials' values are reduced to the cell's value.
    pub reduction: Reduction,
    /// Direction in which the metric improves.
    pub better: BetterDirection,
    /// Whether cells have a 95 % interval over rounds of this metric, which comparisons need.
    pub interval: bool,
    /// Whether the metric covers whole processes. For an embedded engine it then includes the client.
    pub covers_processes: bool,
    /// Whether the metric says how fast operations were. A cell without verified answers omits it.
    pub is_speed: bool,
    /// Whether trials have a few samples rather than thousands, so that a quantile's interval over rounds asks for few
    /// in each.
    pub has_few_samples: bool,
}

impl MetricDef {
    const fn new(name: &'static str, title: &'static str, unit: Unit, better: BetterDirection) -> Self {
        let reduction = Reduction::Median;
        Self {
            name,
            title,
            unit,
            reduction,
            better,
            interval: false,
            covers_processes: false,
            is_speed: false,
            has_few_samples: false,
        }
    }

    const fn sum(self) -> Self {
        Self { reduction: Reduction::Sum, ..self }
    }

    /// Quantile of a trial's histogram, which the metric's name specifies; see [`MetricDef::quantile`].
    const fn quantile_of_histogram(self) -> Self {
        Self { reduction: Reduction::MergedHistogram, interval: true, is_speed: true, ..self }
    }

    const fn of_few_samples(self) -> Self {
        Self { has_few_samples: true, ..self }
    }

    const fn is_speed(self) -> Self {
        Self { is_speed: true, ..self }
    }

    const fn maximum(self) -> Self {
        Self { reduction: Reduction::Maximum, ..self }
    }

    const fn with_interval(self) -> Self {
        Self { interval: true, ..self }
    }

    const fn covers_processes(self) -> Self {
        Self { covers_processes: true, ..self }
    }

    /// Finds a registered metric by its name. `None` if the name is not registered.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|metric| metric.name == name)
    }

    /// Histogram and quantile that the metric's name denotes: `service_p999_us` is 0.999 of `service`. `None`
    /// if the metric is not a quantile of a histogram.
    #[must_use]
    pub fn quantile(&self) -> Option<(&'static str, f64)> {
        if self.reduction != Reduction::MergedHistogram {
            return None;
        }
        let (histogram, rest) = self.name.split_once("_p")?;
        let digits = rest.strip_suffix("_us")?;
        let hundredths = digits.parse::<f64>().ok()?;
        Some((histogram, hundredths / 10_f64.powi(i32::try_from(digits.len()).ok()?)))
    }

    /// Value of the metric in a trial. `None` if the trial does not have it.
    #[must_use]
    pub fn value(&self, trial: &Trial) -> Option<f64> {
        match *self {
            SECONDS => trial.seconds,
            SERVER_S => trial.server_seconds,
            _ => trial.metrics.get(self.name).copied(),
        }
    }

    /// Entry of [`Metrics`](crate::record::Metrics) that gives the metric this value.
    #[must_use]
    pub fn with_value(&self, value: f64) -> (String, f64) {
        (self.name.to_owned(), value)
    }
}

/// Headline metric of a cell, chosen from those that it has. It is the throughput for a measurement window.
/// With arrivals by a schedule, which fixes the throughput, it is the response time, or the highest rate that
/// met a service-level objective. In the mixed workload it is the questions per hour, the time of a single
/// question, or what writers reach. For a settled system it is the size, otherwise the time. If the cell has
/// none of the candidates, the first one is returned.
#[must_use]
pub fn headline(cell: &Cell, has_metric: impl Fn(&MetricDef) -> bool) -> &'static MetricDef {
    let candidates: &[&'static MetricDef] = match cell.phase {
        Phase::Measured if cell.parameters.contains_key(SLO) => &[&SLO_OPS_PER_S, &SECONDS],
        Phase::Measured if cell.is_open_loop() => &[&RESPONSE_P99_US, &THROUGHPUT_OPS_PER_S, &SECONDS],
        Phase::Measured => &[&THROUGHPUT_OPS_PER_S, &SECONDS],
        Phase::Steady => &[&TOTAL_BYTES, &FILES_BYTES],
        phase if phase.is_mixed() => mixed_candidates(cell),
        _ => &[&SECONDS],
    };
    let first = candidates.iter().find(|metric| has_metric(metric)).or_else(|| candidates.first());
    first.copied().unwrap_or(&SECONDS)
}

/// Headline metrics of a cell of the mixed workload. At a rate, which fixes the documents per second, writers
/// are told apart by their response time.
fn mixed_candidates(cell: &Cell) -> &'static [&'static MetricDef] {
    let is_at_rate = cell.parameters.get(RATE).is_some_and(serde_json::Value::is_number);
    match cell.step.word() {
        INGEST if is_at_rate => &[&INSERT_RESPONSE_P95_US, &DOCUMENTS_PER_S],
        INGEST => &[&DOCUMENTS_PER_S],
        ALL_QUESTIONS => &[&QUESTIONS_PER_H],
        _ => &[&QUESTION_P50_US],
    }
}

macro_rules! metrics {
    ($($constant:ident = $name:literal, $title:literal, $unit:ident, $better:ident $(, $more:ident)*;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $title, ".")]
            pub const $constant: MetricDef = MetricDef::new($name, $title, Unit::$unit, BetterDirection::$better)$(.$more())*;
        )*

        /// All registered metrics, in the order of this file.
        pub const ALL: &[MetricDef] = &[$($constant),*];
    };
}

metrics! {
    // Times of requests, of loading and of settling.
    SECONDS = "seconds", "time", Seconds, Lower, with_interval;
    SERVER_S = "server_s", "server’s own time", Seconds, Lower;
    OPEN_S = "open_s", "time to open", Seconds, Lower;
    INDEX_S = "index_s", "time to build indexes", Seconds, Lower;
    SYNC_S = "sync_s", "time to sync", Seconds, Lower;
    DRAINED_S = "drained_s", "drained after", Seconds, Lower;
    COMPACTED_S = "compacted_s", "compacted after", Seconds, Lower;
    // Rates of loading.
    DOCUMENTS_PER_S = "documents_per_s", "documents per second", PerSecond, Higher, with_interval;
    BYTES_PER_S = "bytes_per_s", "bytes per second", BytesPerSecond, Higher, with_interval;
    // Operations of clients.
    THROUGHPUT_OPS_PER_S = "throughput_ops_per_s", "throughput", PerSecond, Higher, with_interval, is_speed;
    OPERATIONS = "operations", "operations", Count, Neither, sum;
    MEASURED_S = "measured_s", "time measured", Seconds, Neither;
    CLIENTS = "clients", "clients", Count, Neither;
    THREADS = "threads", "threads of clients", Count, Neither;
    STEADY = "steady", "steady state reached", Number, Neither;
    IN_MEMORY = "in_memory", "data in memory", Number, Neither;
    // Durations of operations: service time and response time.
    SERVICE_P50_US = "service_p50_us", "service time, median", Microseconds, Lower, quantile_of_histogram;
    SERVICE_P90_US = "service_p90_us", "service time, p90", Microseconds, Lower, quantile_of_histogram;
    SERVICE_P99_US = "service_p99_us", "service time, p99", Microseconds, Lower, quantile_of_histogram;
    SERVICE_P999_US = "service_p999_us", "service time, p99.9", Microseconds, Lower, quantile_of_histogram;
    SERVICE_MAX_US = "service_max_us", "service time, longest", Microseconds, Lower, maximum, is_speed;
    RESPONSE_P50_US = "response_p50_us", "response time, median", Microseconds, Lower, quantile_of_histogram;
    RESPONSE_P90_US = "response_p90_us", "response time, p90", Microseconds, Lower, quantile_of_histogram;
    RESPONSE_P99_US = "response_p99_us", "response time, p99", Microseconds, Lower, quantile_of_histogram;
    RESPONSE_P999_US = "response_p999_us", "response time, p99.9", Microseconds, Lower, quantile_of_histogram;
    RESPONSE_MAX_US = "response_max_us", "response time, longest", Microseconds, Lower, maximum, is_speed;
    // Errors, and operations that were retried.
    ERRORS = "errors", "errors", Count, Lower, sum;
    TIMEOUTS = "timeouts", "operations given up at the time limit", Count, Lower, sum;
    WRONG_ANSWERS = "wrong_answers", "wrong answers", Count, Lower, sum;
    STALE_ANSWERS = "stale_answers", "stale answers", Count, Lower, sum;
    RETRIES = "retries", "retries", Count, Lower, sum;
    LOST_UPDATES = "lost_updates", "lost updates", Count, Lower, sum;
    UNKNOWN_WRITES = "unknown_writes", "writes of unknown outcome", Count, Lower, sum;
    RECONNECTS = "reconnects", "connections opened again", Count, Lower, sum;
    // Mixed load: questions while documents come in.
    QUESTIONS_PER_H = "questions_per_h", "questions per hour", PerHour, Higher, with_interval, is_speed;
    QUESTION_P50_US = "question_p50_us", "question, median", Microseconds, Lower, quantile_of_histogram, of_few_samples;
    QUESTION_P95_US = "question_p95_us", "question, p95", Microseconds, Lower, quantile_of_histogram, of_few_samples;
    KEPT_SHARE = "kept_share", "share of the rate kept", Share, Higher, with_interval;
    BACKLOG_DOCUMENTS = "backlog_documents", "documents due and not acknowledged at the end", Count, Lower, maximum;
    INSERT_RESPONSE_P50_US = "insert_response_p50_us", "response of a batch, median", Microseconds, Lower, quantile_of_histogram, of_few_samples;
    INSERT_RESPONSE_P95_US = "insert_response_p95_us", "response of a batch, p95", Microseconds, Lower, quantile_of_histogram, of_few_samples;
    INSERT_RESPONSE_MAX_US = "insert_response_max_us", "response of a batch, longest", Microseconds, Lower, maximum, is_speed;
    STALE_P50_MS = "stale_p50_ms", "staleness, median", Milliseconds, Lower;
    STALE_P95_MS = "stale_p95_ms", "staleness, p95", Milliseconds, Lower;
    STALE_MAX_MS = "stale_max_ms", "staleness, longest", Milliseconds, Lower, maximum;
    ANSWERS = "answers", "answers", Count, Neither, sum;
    EXACT = "exact", "answers as expected", Count, Neither, sum;
    BOUNDED = "bounded", "answers of no single moment, within bounds", Count, Lower, sum;
    HOLES = "holes", "answers with holes", Count, Lower, sum;
    TORN = "torn", "answers that end within a batch", Count, Lower, sum;
    WENT_BACK = "went_back", "answers that saw less than one before", Count, Lower, sum;
    GROWN_SHARE = "grown_share", "growth of the data", Share, Neither;
    INTERFERENCE = "interference", "interference: questions beside writers ÷ after them", Number, Higher, with_interval;
    DEBT = "debt", "debt: questions before draining ÷ after it", Number, Higher, with_interval;
    DISORDER = "disorder", "disorder: questions on grown data ÷ on data as loaded", Number, Higher, with_interval;
    SEEN_COST = "seen_cost", "cost of asking what was seen", Number, Lower, with_interval;
    STREAM_SPEEDUP = "stream_speedup", "speed-up over one stream", Number, Higher, with_interval;
    STREAM_FAIRNESS = "stream_fairness", "slowest ÷ fastest stream", Number, Higher, with_interval;
    // Crash tests.
    CRASHES = "crashes", "crashes", Count, Neither, sum;
    CRASHES_WITHOUT_LOSS = "crashes_without_loss", "crashes without losses", Count, Higher, sum;
    CRASHES_AS_PROMISED = "crashes_as_promised", "crashes with the promise kept", Count, Higher, sum;
    ACKNOWLEDGED_WRITES = "acknowledged_writes", "writes acknowledged before the crash", Count, Neither, sum;
    IN_FLIGHT_WRITES = "in_flight_writes", "writes under way at the crash", Count, Neither, sum;
    LOST_WRITES = "lost_writes", "acknowledged writes lost", Count, Lower, sum;
    LOST_DOCUMENTS = "lost_documents", "loaded documents lost", Count, Lower, sum;
    TORN_DOCUMENTS = "torn_documents", "documents torn", Count, Lower, sum;
    WRITES_OUT_OF_ORDER = "writes_out_of_order", "writes lost before others that are there", Count, Lower, sum;
    WRITES_ACKNOWLEDGED_AFTER_CRASH = "writes_acknowledged_after_crash", "writes acknowledged after the crash", Count, Lower, sum;
    OLDEST_LOSS_S = "oldest_loss_s", "age of the oldest loss", Seconds, Lower, maximum;
    ALLOWED_LOSS_S = "allowed_loss_s", "age of losses that the tier allows", Seconds, Neither;
    DISK_STALL_S = "disk_stall_s", "longest standstill of the disk", Seconds, Lower, maximum;
    MACHINE_STALL_S = "machine_stall_s", "longest standstill of the machine", Seconds, Lower, maximum;
    RECOVERY_S = "recovery_s", "time to recover", Seconds, Lower;
    // Open loop: arrivals and backlog.
    OFFERED_OPS_PER_S = "offered_ops_per_s", "rate of arrivals", PerSecond, Neither;
    SLO_OPS_PER_S = "slo_ops_per_s", "highest rate that meets the SLO", PerSecond, Higher, with_interval, is_speed;
    SLO_BROKEN_OPS_PER_S = "slo_broken_ops_per_s", "lowest rate that breaks the SLO", PerSecond, Higher;
    PLANNED_ARRIVALS = "planned_arrivals", "arrivals planned", Count, Neither, sum;
    MISSED_ARRIVALS = "missed_arrivals", "arrivals not begun", Count, Lower, sum;
    UNFINISHED_ARRIVALS = "unfinished_arrivals", "arrivals begun and not ended", Count, Lower, sum;
    LATENESS_P99_US = "lateness_p99_us", "lateness of the client, p99", Microseconds, Lower, maximum;
    BACKLOG_AT_START = "backlog_at_start", "operations waiting when measuring began", Count, Lower, maximum;
    BACKLOG_MAX = "backlog_max", "max backlog", Count, Lower, maximum;
    // Resources used per operation.
    SERVER_CPU_US_PER_OP = "server_cpu_us_per_op", "CPU per operation, system", MicrosecondsPerOperation, Lower, with_interval, covers_processes;
    CLIENT_CPU_US_PER_OP = "client_cpu_us_per_op", "CPU per operation, client", MicrosecondsPerOperation, Lower, with_interval;
    CLIENT_CPU_SHARE = "client_cpu_share", "client’s share of the CPU time", Share, Lower;
    CONTEXT_SWITCHES_PER_OP = "context_switches_per_op", "context switches per operation", PerOperation, Lower;
    CPU_MIGRATIONS_PER_OP = "cpu_migrations_per_op", "CPU migrations per operation", PerOperation, Lower;
    DISK_WRITTEN_BYTES_PER_OP = "disk_written_bytes_per_op", "bytes written to disk per operation", BytesPerOperation, Lower;
    WAL_BYTES_PER_OP = "wal_bytes_per_op", "WAL bytes per operation", BytesPerOperation, Lower, with_interval;
    WAL_RECORD_BYTES_PER_OP = "wal_record_bytes_per_op", "WAL bytes per operation, without page images", BytesPerOperation, Lower;
    WAL_IMAGE_BYTES_PER_OP = "wal_image_bytes_per_op", "WAL bytes per operation, page images", BytesPerOperation, Lower;
    IDLE_WAL_BYTES = "idle_wal_bytes", "WAL bytes while idle", Bytes, Lower;
    RECORDS_AT_END = "records_at_end", "records at the end", Count, Neither;
    // Resources used by processes.
    SERVER_CPU_S = "server_cpu_s", "CPU seconds, system", Seconds, Lower, covers_processes;
    CLIENT_CPU_S = "client_cpu_s", "CPU seconds, client", Seconds, Lower;
    PEAK_PSS_BYTES = "peak_pss_bytes", "peak memory", Bytes, Lower, maximum, covers_processes;
    PEAK_ANONYMOUS_BYTES = "peak_anonymous_bytes", "peak memory, anonymous", Bytes, Lower, maximum;
    PEAK_SHARED_BYTES = "peak_shared_bytes", "peak memory, shared", Bytes, Lower, maximum;
    PEAK_FILE_MAPPED_BYTES = "peak_file_mapped_bytes", "peak memory, mapped files", Bytes, Lower, maximum;
    PEAK_PSS_OVER_IDLE_BYTES = "peak_pss_over_idle_bytes", "peak memory over idle", Bytes, Lower, maximum;
    HELD_PSS_BYTES = "held_pss_bytes", "memory held", Bytes, Lower, covers_processes;
    HELD_ANONYMOUS_BYTES = "held_anonymous_bytes", "memory held, anonymous", Bytes, Lower;
    HELD_SHARED_BYTES = "held_shared_bytes", "memory held, shared", Bytes, Lower;
    HELD_FILE_MAPPED_BYTES = "held_file_mapped_bytes", "memory held, mapped files", Bytes, Lower;
    HELD_PSS_OVER_IDLE_BYTES = "held_pss_over_idle_bytes", "memory held over idle", Bytes, Lower;
    IDLE_PSS_BYTES = "idle_pss_bytes", "memory when idle", Bytes, Lower, covers_processes;
    READ_BYTES = "read_bytes", "bytes read", Bytes, Lower;
    WRITTEN_BYTES = "written_bytes", "bytes written", Bytes, Lower;
    WRITTEN_BYTES_PER_BYTE = "written_bytes_per_byte", "bytes written per byte", Number, Lower;
    MAJOR_FAULTS = "major_faults", "major faults", Count, Lower;
    // Counters reported by the engine.
    ENGINE_ROWS_READ = "engine_rows_read", "rows read by the engine’s count", Count, Lower;
    ENGINE_BYTES_READ = "engine_bytes_read", "bytes read by the engine’s count", Bytes, Lower;
    ENGINE_MEMORY_BYTES = "engine_memory_bytes", "memory by the engine’s count", Bytes, Lower;
    // Numbers of documents.
    DOCUMENTS = "documents", "documents", Count, Neither;
    DOCUMENTS_OFFERED = "documents_offered", "documents offered", Count, Neither;
    DOCUMENTS_LOADED = "documents_loaded", "documents loaded", Count, Higher;
    DOCUMENTS_REJECTED = "documents_rejected", "documents rejected", Count, Lower;
    SUSPECT_DOCUMENTS_ACCEPTED = "suspect_documents_accepted", "suspect documents accepted", Count, Neither;
    // Sizes of data on disk.
    TOTAL_BYTES = "total_bytes", "total bytes", Bytes, Lower, with_interval;
    LEAST_TOTAL_BYTES = "least_total_bytes", "smallest total over loads", Bytes, Lower;
    MOST_TOTAL_BYTES = "most_total_bytes", "largest total over loads", Bytes, Lower;
    DATA_BYTES = "data_bytes", "bytes of data", Bytes, Lower;
    INDEX_BYTES = "index_bytes", "bytes of indexes", Bytes, Lower;
    FILES_BYTES = "files_bytes", "bytes of files", Bytes, Lower, with_interval;
    LOG_BYTES = "log_bytes", "bytes of logs", Bytes, Lower;
    BACKGROUND_WORK_LEFT = "background_work_left", "background work left", Count, Lower;
    // Large documents: transfers, copies and indexes.
    SOURCE_BYTES = "source_bytes", "bytes of the documents’ texts", Bytes, Neither;
    DELIVERED_BYTES = "delivered_bytes", "bytes delivered", Bytes, Neither;
    FILES_WITH_COPY_BYTES = "files_with_copy_bytes", "bytes of files with the copy", Bytes, Lower;
    ADDED_BYTES = "added_bytes", "bytes added by the copy", Bytes, Lower;
    ADDED_SHARE = "added_share", "bytes added by the copy ÷ bytes of the texts", Share, Lower;
    INDEX_USE = "index_use", "use of the index: 3 used, 2 usable, 1 in vain, 0 impossible", Number, Higher;
    // Precision of a trial, and disturbances by the machine.
    RELATIVE_ERROR = "relative_error", "relative error", Share, Lower, maximum;
    RESIDENT_SHARE = "resident_share", "share of files in memory", Share, Neither;
    MACHINE_LOAD = "machine_load", "load of the machine", Number, Neither;
    FOREIGN_TASKS = "foreign_tasks", "runnable tasks of other programs", Count, Neither;
    MACHINE_STEAL_S = "machine_steal_s", "CPU steal", Seconds, Neither;
    MACHINE_STEAL_SHARE = "machine_steal_share", "CPU steal, share", Share, Neither;
    PEAK_COORDINATOR_BYTES = "peak_coordinator_bytes", "peak memory, coordinator", Bytes, Lower, maximum;
    PEAK_CLIENT_BYTES = "peak_client_bytes", "peak memory, client", Bytes, Lower, maximum;
    CONTROL_MEMORY_S = "control_memory_s", "control, memory-bound", Seconds, Neither;
    CONTROL_COMPUTE_S = "control_compute_s", "control, compute-bound", Seconds, Neither;
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_name_and_title_is_registered_once() {
        let names: HashSet<&str> = ALL.iter().map(|metric| metric.name).collect();
        let titles: HashSet<&str> = ALL.iter().map(|metric| metric.title).collect();
        assert_eq!((names.len(), titles.len()), (ALL.len(), ALL.len()));
    }

    #[test]
    fn quantiles_are_told_by_their_names() {
        assert_eq!(SERVICE_P50_US.quantile(), Some(("service", 0.5)));
        assert_eq!(RESPONSE_P99_US.quantile(), Some(("response", 0.99)));
        assert_eq!(RESPONSE_P999_US.quantile(), Some(("response", 0.999)));
        assert_eq!(INSERT_RESPONSE_P95_US.quantile(), Some(("insert_response", 0.95)));
        assert_eq!((SERVICE_MAX_US.quantile(), LATENESS_P99_US.quantile()), (None, None));
        let quantiles = || ALL.iter().filter(|metric| metric.reduction == Reduction::MergedHistogram);
        assert!(quantiles().all(|metric| metric.quantile().is_some() && metric.is_speed));
        assert_eq!(quantiles().count(), 12);
    }

    #[test]
    fn a_name_that_is_not_registered_tells_its_unit_alone() {
        assert_eq!(MetricDef::find("cache_hits"), None);
        for (name, unit) in [
            ("flush_bytes_per_s", Unit::BytesPerSecond),
            ("operations_per_s", Unit::PerSecond),
            ("merges_per_h", Unit::PerHour),
            ("lag_ms", Unit::Milliseconds),
            ("response_s", Unit::Seconds),
            ("cache_bytes", Unit::Bytes),
            ("hit_share", Unit::Share),
            ("cache_hits", Unit::Number),
            ("flush_us", Unit::Microseconds),
            ("flush_us_per_op", Unit::MicrosecondsPerOperation),
            ("flushed_bytes_per_op", Unit::BytesPerOperation),
            ("flushes_per_op", Unit::PerOperation),
        ] {
            assert_eq!(Unit::from_metric_name(name), unit, "{name}");
        }
    }

    #[test]
    fn registered_names_end_in_their_unit() {
        for metric in ALL {
            let unit = Unit::from_metric_name(metric.name);
            let is_count = matches!(metric.unit, Unit::Count) && unit == Unit::Number;
            let exceptions = [SECONDS, ENGINE_BYTES_READ];
            assert!(unit == metric.unit || is_count || exceptions.contains(metric), "{}", metric.name);
        }
    }
}
