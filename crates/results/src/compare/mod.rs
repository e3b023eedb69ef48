//! Two runs beside each other, cell by cell: what became faster, what slower, what fails now, and where no
//! difference has been shown.
//!
//! The rounds of two runs share nothing, so a ratio's interval is made of both sides' own scatter
//! ([`unpaired_ratio`]). What lies between the runs, such as another neighbour on the machine, is in no
//! interval: what is known to differ is listed first ([`Changed`]).

mod differences;
mod gate;
mod matching;
mod plans;
mod references;
mod sizes;

use serde::{Serialize, Serializer};

use jsonathlon_measure::statistics::unpaired_ratio;

use crate::ResultsError;
use crate::comparison::{Difference, Rounds};
use crate::record::{Phase, Verdict};
use crate::summary::{Entry, Run};

pub use differences::{Changed, Kind};
pub use gate::{Gate, Reason, ReasonKind};
pub use matching::Alone;
pub use references::References;
pub use sizes::SizeComparison;

use plans::Broken;

/// Version of the comparison's JSON.
pub const SCHEMA: u32 = 1;

/// Share of equal cells that 95 % intervals are expected to call different.
const BY_CHANCE: f64 = 0.05;

/// Two runs beside each other. A is the baseline, B what is held against it; every ratio is B ÷ A.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// Format version.
    pub schema: u32,
    /// The baseline.
    pub a: Side,
    /// The run that is held against it.
    pub b: Side,
    /// Whether they are of other documents, which somebody has asked for.
    pub different_data: bool,
    /// What differs in how they were made.
    pub differences: Vec<Changed>,
    /// Cells that both have; of sizes only those that are not right in both.
    pub cells: Vec<CellComparison>,
    /// Sizes and peaks of memory of configurations that both have.
    pub sizes: Vec<SizeComparison>,
    /// What A alone has.
    pub only_in_a: Vec<Alone>,
    /// What B alone has.
    pub only_in_b: Vec<Alone>,
    /// How many cells there are of each outcome.
    pub counts: Counts,
    /// What the reference rows tell of the machine.
    pub references: References,
    /// Whether B may pass, where that was asked for.
    pub gate: Option<Gate>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Side {
    /// The run folder.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// Version of the program that made it.
    pub program: String,
    /// Documents offered.
    pub documents: u64,
    /// Digest of their bytes.
    pub digest: String,
    /// Planned trials that have no record.
    pub open_trials: usize,
}

/// One cell in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellComparison {
    /// Workload.
    pub workload: String,
    /// System.
    pub system: String,
    /// Variant.
    pub variant: String,
    /// Storage setting.
    pub storage: String,
    /// A row to read others by, which is in no count.
    pub reference: bool,
    /// Step.
    pub step: String,
    /// Phase.
    pub phase: Phase,
    /// State of the data; none of a load.
    pub state: Option<String>,
    /// The baseline's figures.
    pub a: Measured,
    /// The other run's figures.
    pub b: Measured,
    /// Median seconds of B ÷ median seconds of A.
    pub ratio: Option<f64>,
    /// Lower limit of its 95 % interval; none with fewer than two rounds on either side.
    pub low: Option<f64>,
    /// Upper limit.
    pub high: Option<f64>,
    /// What that allows to say.
    pub outcome: Outcome,
    /// Why, where figures do not say it themselves.
    pub note: Option<String>,
}

/// One side of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Version of the system.
    pub version: String,
    /// The worst verdict among the cell's trials.
    pub verdict: Verdict,
    /// Median seconds; none unless every trial of the cell may have a time.
    pub median_s: Option<f64>,
    /// Trials with a time.
    pub trials: u64,
    /// Rounds with a time.
    pub rounds: usize,
}

/// What two cells beside each other allow to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Both have a time.
    Timed(Difference),
    /// A had a right answer, over all documents and by the promised plan, and B has not.
    NowFails,
    /// The other way round.
    NowAnswers,
    /// Neither is right, and neither has a time.
    NoTime,
    /// Both have times that must not be set against each other.
    NotCompared,
}

impl Outcome {
    /// The words used in files and tables.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Timed(difference) => difference.words(),
            Self::NowFails => "now fails",
            Self::NowAnswers => "now answers",
            Self::NoTime => "no time in either",
            Self::NotCompared => "not compared",
        }
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.words())
    }
}

/// How many cells there are of each outcome. Reference rows count only where they fail: their times tell of
/// the machine and not of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Slower in B.
    pub slower: usize,
    /// Faster in B.
    pub faster: usize,
    /// No difference shown.
    pub none_shown: usize,
    /// Right in A, and not in B.
    pub now_fail: usize,
    /// Right in B, and not in A.
    pub now_answer: usize,
    /// Right in neither.
    pub no_time: usize,
    /// With times that are not set against each other.
    pub not_compared: usize,
    /// Ratios with an interval.
    pub with_interval: usize,
}

impl Counts {
    fn of(cells: &[CellComparison]) -> Self {
        let mut counts = Self::default();
        for cell in cells.iter().filter(|cell| !cell.reference || cell.outcome == Outcome::NowFails) {
            let count = match cell.outcome {
                Outcome::Timed(Difference::Slower) => &mut counts.slower,
                Outcome::Timed(Difference::Faster) => &mut counts.faster,
                Outcome::Timed(Difference::NoneShown) => &mut counts.none_shown,
                Outcome::NowFails => &mut counts.now_fail,
                Outcome::NowAnswers => &mut counts.now_answer,
                Outcome::NoTime => &mut counts.no_time,
                Outcome::NotCompared => &mut counts.not_compared,
            };
            *count += 1;
            if cell.has_interval() {
                counts.with_interval += 1;
            }
        }
        counts
    }

    /// Cells whose times are set against each other.
    #[must_use]
    pub fn compared(&self) -> usize {
        self.slower + self.faster + self.none_shown
    }

    /// How many of them chance alone is expected to call different.
    #[must_use]
    pub fn expected_by_chance(&self) -> f64 {
        self.with_interval as f64 * BY_CHANCE
    }
}

impl RunComparison {
    /// What differs between the machines.
    pub fn machine_differences(&self) -> impl Iterator<Item = &Changed> {
        self.differences.iter().filter(|changed| changed.kind == Kind::Machine)
    }
}

impl CellComparison {
    /// Whether it could be shown to be slower or faster.
    #[must_use]
    pub fn has_interval(&self) -> bool {
        matches!(self.outcome, Outcome::Timed(_)) && self.low.is_some()
    }
}

/// Compares two runs, of the same documents unless `different_data` is given.
///
/// # Errors
/// When they have nothing in common, or are of other documents.
pub fn compare(a: &Run, b: &Run, different_data: bool) -> Result<RunComparison, ResultsError> {
    let (data_a, data_b) = (&a.manifest.data, &b.manifest.data);
    if data_a.documents != data_b.documents {
        return Err(ResultsError::Incomparable(format!(
            "{} is of {} documents and {} of {}: times over different numbers of documents are not compared; \
             `jsonathlon check growth` shows how figures grow with them",
            a.path, data_a.documents, b.path, data_b.documents
        )));
    }
    let other_data = data_a.digest != data_b.digest;
    if other_data && !different_data {
        return Err(ResultsError::Incomparable(format!(
            "{} and {} are of different documents ({} from {}; {} from {}); a difference between them may be \
             the documents'. Run again over the same ones, or say --different-data",
            a.path, b.path, data_a.digest, data_a.source, data_b.digest, data_b.source
        )));
    }
    let (summary_a, summary_b) = (a.summary(), b.summary());
    let matched = matching::matched(
        (&a.manifest.configurations, &summary_a.results),
        (&b.manifest.configurations, &summary_b.results),
    );
    let (rounds_a, rounds_b) = (Rounds::of(a), Rounds::of(b));
    let cells: Vec<CellComparison> = matched
        .cells
        .iter()
        .map(|pair| {
            let broken = Broken::of((a, pair.a), (b, pair.b));
            cell(pair, &rounds_a.seconds(pair.a), &rounds_b.seconds(pair.b), &broken)
        })
        .collect();
    if cells.is_empty() {
        return Err(ResultsError::Incomparable(format!(
            "{} and {} have no cell in common: the first is of {}, the second of {}",
            a.path,
            b.path,
            matching::names(&a.manifest.configurations),
            matching::names(&b.manifest.configurations)
        )));
    }
    Ok(RunComparison {
        schema: SCHEMA,
        a: side(a),
        b: side(b),
        different_data: other_data,
        differences: differences::differences(&a.manifest, &b.manifest, &matched.configurations),
        counts: Counts::of(&cells),
        references: References::of(&cells),
        sizes: sizes::sizes(&matched.configurations, &summary_a.results, &summary_b.results),
        cells,
        only_in_a: matched.only_in_a,
        only_in_b: matched.only_in_b,
        gate: None,
    })
}

fn side(run: &Run) -> Side {
    Side {
        run: run.path.clone(),
        started: run.manifest.started.clone(),
        program: run.manifest.program.clone(),
        documents: run.manifest.data.documents,
        digest: run.manifest.data.digest.clone(),
        open_trials: run.open_trials().len(),
    }
}

fn cell(pair: &matching::Pair<'_>, a: &[Vec<f64>], b: &[Vec<f64>], broken: &Broken<'_>) -> CellComparison {
    let (right_a, right_b) = (is_right(pair.verdict_a), is_right(pair.verdict_b));
    let comparable = right_a && right_b && pair.a.phase == pair.b.phase;
    let ratio = comparable.then(|| unpaired_ratio(b, a)).flatten();
    let (outcome, note) = match (right_a, right_b, &ratio) {
        (true, false, _) => (Outcome::NowFails, None),
        (true, true, _) if broken.anew() => (Outcome::NowFails, None),
        (false, true, _) => (Outcome::NowAnswers, None),
        (true, true, Some(ratio)) => (Outcome::Timed(Difference::of(ratio)), None),
        (true, true, None) if pair.a.phase != pair.b.phase => {
            let note = format!("{} in A, {} in B", pair.a.phase.word(), pair.b.phase.word());
            (Outcome::NotCompared, Some(note))
        }
        (true, true, None) => {
            (Outcome::NotCompared, Some("no time that a ratio could be made of".to_owned()))
        }
        (false, false, _) if !pair.verdict_a.has_time() && !pair.verdict_b.has_time() => {
            (Outcome::NoTime, None)
        }
        (false, false, _) => {
            let note = format!("{} in A, {} in B", pair.verdict_a.word(), pair.verdict_b.word());
            (Outcome::NotCompared, Some(note))
        }
    };
    let notes: Vec<String> = [note, broken.note()].into_iter().flatten().collect();
    let measured = |entry: &Entry, verdict: Verdict, rounds: &[Vec<f64>]| Measured {
        version: entry.version.clone(),
        verdict,
        median_s: entry.median_s.filter(|_| verdict.has_time()),
        trials: entry.trials,
        rounds: rounds.len(),
    };
    CellComparison {
        workload: pair.b.workload.clone(),
        system: pair.b.system.clone(),
        variant: pair.b.variant.clone(),
        storage: pair.storage.to_owned(),
        reference: pair.reference,
        step: pair.b.step.clone(),
        phase: pair.b.phase,
        state: pair.b.parameters.get("state").and_then(|state| state.as_str()).map(str::to_owned),
        a: measured(pair.a, pair.verdict_a, a),
        b: measured(pair.b, pair.verdict_b, b),
        ratio: ratio.map(|ratio| ratio.median),
        low: ratio.and_then(|ratio| ratio.low),
        high: ratio.and_then(|ratio| ratio.high),
        outcome,
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

/// Whether a verdict is one of an answer that was found right, over everything that was offered.
fn is_right(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Exact | Verdict::Approximate)
}
