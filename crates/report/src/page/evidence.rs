//! Evidence behind the results: trials, statements, plans, answers and telemetry.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use jsonathlon_results::folder::{answer_file, read_contained, read_series};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::record::{Cell, Failure, Phase, PlanCheck, Trial, Verdict};
use serde::Serialize;

use super::PageError;
use super::data::cells;
use super::number::Number;
use super::series::Series;
use super::string_table::StringTable;

/// Evidence of all runs of a page.
#[derive(Debug, Serialize)]
pub(super) struct TrialData {
    pub(super) runs: Vec<RunEvidence>,
}

/// Evidence of one run; cells refer to its texts by their index.
#[derive(Debug, Serialize)]
pub(super) struct RunEvidence {
    texts: Vec<String>,
    cells: Vec<CellEvidence>,
    series: Option<Series>,
}

#[derive(Debug, Serialize)]
struct CellEvidence {
    key: String,
    trials: Trials,
    statement: Option<usize>,
    plan: Option<Plan>,
    answers: Vec<Answer>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seconds: Vec<SecondColumns>,
}

/// Seconds of one trial, column by column.
#[derive(Debug, Serialize)]
struct SecondColumns {
    round: u32,
    order: u32,
    operations: Vec<u64>,
    errors: Vec<u64>,
    longest_us: Vec<Number>,
    backlog: Vec<u64>,
    /// Number of seconds of the warm-up, which come first.
    ramp: usize,
    /// Indexes of the seconds in which the system wrote a checkpoint; `None` if the system does not report
    /// that.
    checkpoints: Option<Vec<usize>>,
    /// Mean number of requests under way on the disk of the system's data; empty if that is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disk_queue: Vec<Option<Number>>,
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
            disk_queue: match seconds.iter().any(|second| second.disk_queue.is_some()) {
                true => seconds.iter().map(|second| second.disk_queue.map(Number)).collect(),
                false => Vec::new(),
            },
        })
    }
}

#[derive(Debug, Serialize)]
struct Plan {
    text: usize,
    file: String,
    violations: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Answer {
    digest: String,
    text: Option<usize>,
    trials: u64,
}

/// Trials, column by column, because names would be most of the file otherwise.
#[derive(Debug, Default, Serialize)]
struct Trials {
    round: Vec<u32>,
    order: Vec<u32>,
    at_ms: Vec<i64>,
    seconds: Vec<Option<Number>>,
    server_s: Vec<Option<Number>>,
    verdict: Vec<Verdict>,
    bound_by: Vec<Option<String>>,
    failure: Vec<Option<Failure>>,
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
            columns.bound_by.push(trial.bound_by.clone());
            columns.failure.push(trial.failure.clone());
            for (name, column) in &mut columns.metrics {
                column.push(trial.metrics.get(name).copied().map(Number));
            }
        }
        columns
    }
}

impl RunEvidence {
    pub(super) fn of(run: &Run, summary: &Summary) -> Result<Self, PageError> {
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
        for (_, entry) in cells(run, summary) {
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
        let series = Series::of(&read_series(folder)?, &run.manifest.started, &mut texts);
        Ok(Self { texts: texts.into_all(), cells: evidence, series })
    }
}

/// Key of a cell's plan, which all its phases share.
fn plan_key(cell: &Cell) -> String {
    Cell { phase: Phase::Hot, ..cell.clone() }.key()
}

/// Reads a plan file, which holds the statement, an empty line, and the plan. Returns the index of the
/// statement and the plan.
fn plan(folder: &Path, check: &PlanCheck, texts: &mut StringTable) -> (Option<usize>, Option<Plan>) {
    let PlanCheck { file, violations, .. } = check.clone();
    let text = read_contained(folder, &file);
    let (statement, plan) = match &text {
        Some(text) => text.split_once("\n\n").unwrap_or((text, "")),
        // The file may have been deleted by hand to save space; the journal still holds the violations.
        None => ("", ""),
    };
    let statement = (!statement.is_empty()).then(|| texts.index(statement));
    (statement, Some(Plan { text: texts.index(plan.trim_end()), file, violations }))
}

/// Distinct answers of the trials, in the order in which they were first given.
fn answers(run: &Run, trials: &[&Trial], texts: &mut StringTable) -> Vec<Answer> {
    let mut answers: Vec<Answer> = Vec::new();
    for trial in trials {
        let Some(digest) = &trial.answer_digest else { continue };
        if let Some(answer) = answers.iter_mut().find(|answer| answer.digest == *digest) {
            answer.trials += 1;
            continue;
        }
        let configuration =
            run.manifest.configurations.iter().find(|configuration| configuration.has(&trial.cell));
        let text = configuration
            .and_then(|configuration| {
                read_contained(
                    Path::new(&run.path),
                    &answer_file(&configuration.file_name(), trial.cell.step.word(), digest),
                )
            })
            .map(|text| texts.index(&text));
        answers.push(Answer { digest: digest.clone(), text, trials: 1 });
    }
    answers
}
