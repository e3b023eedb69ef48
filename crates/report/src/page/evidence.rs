//! Evidence behind the results: trials, statements, plans, answers and telemetry.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jsonathlon_results::folder::{answer_file, read_run_file, read_series};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::record::{Bottleneck, Cell, Failure, Phase, PlanCheck, Trial, TrialSecond, Verdict};
use serde::Serialize;

use super::number::Number;
use super::series::Series;
use super::string_table::StringTable;
use super::{PageError, cells};

/// Evidence of all runs of a page: the details behind its results.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Evidence {
    /// Evidence of each run, in the order of the runs in `PageData`.
    pub(super) runs: Vec<RunEvidence>,
}

/// Evidence of one run; cells refer to its texts by their index.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct RunEvidence {
    /// Long texts without duplicates; other fields refer to them by index.
    texts: Vec<String>,
    /// One entry per cell, in the order of the run's cells.
    cells: Vec<CellEvidence>,
    /// Telemetry of the run. `None` if there is no sample.
    series: Option<Series>,
}

/// Evidence of one cell: its trials, and the statement, plan and answers behind them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct CellEvidence {
    /// Key of the cell in the journal; a trial's key is `KEY#ROUND.ORDER`.
    key: String,
    /// Trial data column by column, one element per trial.
    trials: Trials,
    /// Index of the statement's text in `texts`. `None` if there is none.
    statement: Option<usize>,
    /// Plan of the statement. `None` if none was read.
    plan: Option<Plan>,
    /// Distinct answers, in the order in which they were first given.
    answers: Vec<DistinctAnswer>,
    /// Per-second data of trials; absent unless clients send operations in the cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    seconds: Vec<SecondColumns>,
}

/// Per-second data of one trial, column by column.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct SecondColumns {
    /// Round of the trial, counted from 1.
    round: u32,
    /// Repetition within its cell and round, from 0.
    order: u32,
    /// Operations that ended successfully in each second.
    operations: Vec<u64>,
    /// Operations that failed in each second.
    errors: Vec<u64>,
    /// Longest response time of these operations, in microseconds.
    longest_us: Vec<Number>,
    /// Largest number of arrivals that waited for a connection.
    backlog: Vec<u64>,
    /// Number of seconds of the warm-up, which come first.
    ramp: usize,
    /// Indexes of the seconds in which the system wrote a checkpoint. `None` if the system does not report
    /// that.
    checkpoints: Option<Vec<usize>>,
    /// Mean number of requests under way on the disk of the system's data; absent if that is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    disk_queue: Vec<Option<Number>>,
    /// 95th percentile of the staleness of the questions that began in each second, in milliseconds, without a value
    /// where none began; absent unless writers were at work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    stale_p95_ms: Vec<Option<Number>>,
    /// Longest staleness of these questions, in milliseconds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    stale_max_ms: Vec<Option<Number>>,
}

/// Values of each second; empty if no second has one.
fn optional_column(seconds: &[TrialSecond], value: fn(&TrialSecond) -> Option<f64>) -> Vec<Option<Number>> {
    match seconds.iter().any(|second| value(second).is_some()) {
        true => seconds.iter().map(|second| value(second).map(Number)).collect(),
        false => Vec::new(),
    }
}

impl SecondColumns {
    fn from_trial(trial: &Trial) -> Option<Self> {
        let seconds = &trial.per_second;
        (!seconds.is_empty()).then(|| Self {
            round: trial.round,
            order: trial.order,
            operations: seconds.iter().map(|second| second.operations).collect(),
            errors: seconds.iter().map(|second| second.errors).collect(),
            longest_us: seconds.iter().map(|second| Number(second.longest_us)).collect(),
            backlog: seconds.iter().map(|second| second.backlog).collect(),
            ramp: seconds.iter().take_while(|second| second.ramp).count(),
            checkpoints: seconds.iter().any(|second| second.in_checkpoint.is_some()).then(|| {
                seconds
                    .iter()
                    .enumerate()
                    .filter(|(_, second)| second.in_checkpoint == Some(true))
                    .map(|(index, _)| index)
                    .collect()
            }),
            disk_queue: optional_column(seconds, |second| second.disk_queue),
            stale_p95_ms: optional_column(seconds, |second| second.stale_p95_ms),
            stale_max_ms: optional_column(seconds, |second| second.stale_max_ms),
        })
    }
}

/// Plan by which a system executes a statement.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Plan {
    /// Index of the plan's text in `texts`.
    text: usize,
    /// File of the plan, relative to the run folder.
    file: String,
    /// Deviations of the plan from what the configuration promises, in words.
    violations: Vec<String>,
}

/// An answer to a question, with the number of trials that gave it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct DistinctAnswer {
    /// Digest that identifies the answer.
    digest: String,
    /// Index of the answer's text in `texts`. `None` if its file is missing.
    text: Option<usize>,
    /// Number of trials that gave the answer.
    trials: u64,
}

/// Trials, column by column, because names would be most of the file otherwise.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Trials {
    /// Round of each trial, counted from 1.
    round: Vec<u32>,
    /// Repetition of each trial within its round, from 0.
    order: Vec<u32>,
    /// End of each trial in milliseconds since 1970.
    at_ms: Vec<i64>,
    /// Time of each trial, measured by the client. `None` without a valid time.
    seconds: Vec<Option<Number>>,
    /// Time that the system itself reports, in seconds. `None` if it reports none.
    server_s: Vec<Option<Number>>,
    /// Result of verifying each trial's answer.
    verdict: Vec<Verdict>,
    /// Bottleneck of each trial. `None` if the trial was too short to classify.
    bound_by: Vec<Option<Bottleneck>>,
    /// Why a trial has no time. `None` if it has one.
    failure: Vec<Option<Failure>>,
    /// Metrics by name. `None` for trials that lack the metric.
    metrics: BTreeMap<String, Vec<Option<Number>>>,
}

impl Trials {
    fn new(trials: &[&Trial]) -> Self {
        let mut columns = Self::default();
        for trial in trials {
            for name in trial.metrics.keys() {
                columns.metrics.entry(name.clone()).or_default();
            }
        }
        for trial in trials {
            columns.round.push(trial.round);
            columns.order.push(trial.order);
            columns.at_ms.push(trial.at_ms);
            columns.seconds.push(trial.seconds.map(Number));
            columns.server_s.push(trial.server_seconds.map(Number));
            columns.verdict.push(trial.verdict);
            columns.bound_by.push(trial.bound_by);
            columns.failure.push(trial.failure.clone());
            for (name, column) in &mut columns.metrics {
                column.push(trial.metrics.get(name).copied().map(Number));
            }
        }
        columns
    }
}

impl RunEvidence {
    pub(super) fn new(run: &Run, summary: &Summary) -> Result<Self, PageError> {
        let mut trials: HashMap<String, Vec<&Trial>> = HashMap::new();
        for trial in run.trials() {
            trials.entry(trial.cell.key()).or_default().push(trial);
        }
        // A plan belongs to a question in a data state, in whatever phase it was read.
        let plans: HashMap<String, &PlanCheck> =
            run.plans().map(|plan| (plan_key(&plan.cell), plan)).collect();
        let folder = Path::new(&run.path);
        let mut texts = StringTable::default();
        let mut evidence = Vec::new();
        for (_, entry) in cells::entries(run, summary) {
            let key = entry.cell.key();
            let cell_trials = trials.get(&key).map(Vec::as_slice).unwrap_or_default();
            let check = cell_trials.first().and_then(|first| plans.get(&plan_key(&first.cell)));
            let (statement, plan) = check.map(|check| plan(folder, check, &mut texts)).unwrap_or_default();
            let answers = answers(run, cell_trials, &mut texts);
            let seconds = cell_trials.iter().filter_map(|trial| SecondColumns::from_trial(trial)).collect();
            evidence.push(CellEvidence {
                key,
                trials: Trials::new(cell_trials),
                statement,
                plan,
                answers,
                seconds,
            });
        }
        let series = Series::new(&read_series(folder)?, &run.manifest.started, &mut texts);
        Ok(Self { texts: texts.into_all(), cells: evidence, series })
    }
}

/// Statement that a cell's plan was read for. `None` if no plan of it was read, or its file is missing.
pub(crate) fn statement(run: &Run, cell: &Cell) -> Option<String> {
    let key = plan_key(cell);
    let check = run.plans().find(|plan| plan_key(&plan.cell) == key)?;
    let text = read_run_file(Path::new(&run.path), &check.file)?;
    let (statement, _) = text.split_once("\n\n").unwrap_or((&text, ""));
    (!statement.trim().is_empty()).then(|| statement.to_owned())
}

/// Key of a cell's plan, which all its phases share.
fn plan_key(cell: &Cell) -> String {
    Cell { phase: Phase::Hot, ..cell.clone() }.key()
}

/// Reads a plan file, which holds the statement, an empty line, and the plan. Returns the index of the
/// statement and the plan.
fn plan(folder: &Path, check: &PlanCheck, texts: &mut StringTable) -> (Option<usize>, Option<Plan>) {
    let PlanCheck { file, violations, .. } = check.clone();
    let text = read_run_file(folder, &file);
    let (statement, plan) = match &text {
        Some(text) => text.split_once("\n\n").unwrap_or((text, "")),
        // The file may have been deleted by hand to save space; the journal still holds the violations.
        None => ("", ""),
    };
    let statement = (!statement.is_empty()).then(|| texts.index(statement));
    (statement, Some(Plan { text: texts.index(plan.trim_end()), file, violations }))
}

/// Distinct answers of the trials, in the order in which they were first given.
fn answers(run: &Run, trials: &[&Trial], texts: &mut StringTable) -> Vec<DistinctAnswer> {
    let mut answers: Vec<DistinctAnswer> = Vec::new();
    for trial in trials {
        let Some(digest) = &trial.answer_digest else { continue };
        if let Some(answer) = answers.iter_mut().find(|answer| answer.digest == *digest) {
            answer.trials += 1;
            continue;
        }
        let configuration =
            run.manifest.configurations.iter().find(|configuration| configuration.contains_cell(&trial.cell));
        let text = configuration
            .and_then(|configuration| {
                read_run_file(
                    Path::new(&run.path),
                    &answer_file(&configuration.file_name(), trial.cell.step.word(), digest),
                )
            })
            .map(|text| texts.index(&text));
        answers.push(DistinctAnswer { digest: digest.clone(), text, trials: 1 });
    }
    answers
}
