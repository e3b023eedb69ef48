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
    fn of(trial: &Trial) -> Option<Self> {
        let all = &trial.per_second;
        (!all.is_empty()).then(|| Self {
            round: trial.round,
            order: trial.order,
            operations: all.iter().map(|one| one.operations).collect(),
            errors: all.iter().map(|one| one.errors).collect(),
            longest_us: all.iter().map(|one| Number(one.longest_us)).collect(),
            backlog: all.iter().map(|one| one.backlog).collect(),
            ramp: all.iter().take_while(|one| one.ramp).count(),
            checkpoints: all.iter().any(|one| one.in_checkpoint.is_some()).then(|| {
                all.iter()
                    .enumerate()
                    .filter(|(_, one)| one.in_checkpoint == Some(true))
                    .map(|(at, _)| at)
                    .collect()
            }),
            disk_queue: match all.iter().any(|one| one.disk_queue.is_some()) {
                true => all.iter().map(|one| one.disk_queue.map(Number)).collect(),
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
    fn of(trials: &[&Trial]) -> Self {
        let mut all = Self::default();
        for trial in trials {
            for name in trial.metrics.keys() {
                all.metrics.entry(name.clone()).or_default();
            }
        }
        for trial in trials {
            all.round.push(trial.round);
            all.order.push(trial.order);
            all.at_ms.push(trial.at_ms);
            all.seconds.push(trial.seconds.map(Number));
            all.server_s.push(trial.server_seconds.map(Number));
            all.verdict.push(trial.verdict);
            all.bound_by.push(trial.bound_by.clone());
            all.failure.push(trial.failure.clone());
            for (name, column) in &mut all.metrics {
                column.push(trial.metrics.get(name).copied().map(Number));
            }
        }
        all
    }
}

impl RunEvidence {
    pub(super) fn of(run: &Run, summary: &Summary) -> Result<Self, PageError> {
        let mut trials: HashMap<String, Vec<&Trial>> = HashMap::new();
        for trial in run.trials() {
            trials.entry(trial.cell.key()).or_default().push(trial);
        }
        // A plan belongs to a question in a data state, whatever the phase in which it was read.
        let plans: HashMap<String, &PlanCheck> =
            run.plans().map(|plan| (planned(&plan.cell), plan)).collect();
        let folder = Path::new(&run.path);
        let mut texts = StringTable::default();
        let mut found = Vec::new();
        for (_, entry) in cells(run, summary) {
            let key = entry.cell.key();
            let of = trials.get(&key).map(Vec::as_slice).unwrap_or_default();
            let check = of.first().and_then(|first| plans.get(&planned(&first.cell)));
            let (statement, plan) = check.map(|check| plan(folder, check, &mut texts)).unwrap_or_default();
            let answers = answers(run, of, &mut texts);
            let seconds = of.iter().filter_map(|trial| SecondColumns::of(trial)).collect();
            found.push(CellEvidence { key, trials: Trials::of(of), statement, plan, answers, seconds });
        }
        let series = Series::of(&read_series(folder)?, &run.manifest.started, &mut texts);
        Ok(Self { texts: texts.into_all(), cells: found, series })
    }
}

fn planned(cell: &Cell) -> String {
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
    let mut found: Vec<Answer> = Vec::new();
    for trial in trials {
        let Some(digest) = &trial.answer_digest else { continue };
        if let Some(known) = found.iter_mut().find(|one| one.digest == *digest) {
            known.trials += 1;
            continue;
        }
        let configuration = run.manifest.configurations.iter().find(|one| one.has(&trial.cell));
        let text = configuration
            .and_then(|one| {
                read_contained(
                    Path::new(&run.path),
                    &answer_file(&one.file_name(), trial.cell.step.word(), digest),
                )
            })
            .map(|text| texts.index(&text));
        found.push(Answer { digest: digest.clone(), text, trials: 1 });
    }
    found
}
