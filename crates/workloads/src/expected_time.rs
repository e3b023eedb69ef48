//! Expected duration of a run, turn by turn, from what is typical of embedded engines and of servers.
//!
//! The durations are rough, because they are known before anything ran. During the run they are corrected by
//! what finished turns took.

use std::{fs::DirEntry, path::Path};

use jsonathlon_catalogue::Configuration;
use jsonathlon_dataset::nested::NestedTable;
use jsonathlon_dataset::records::Kind;
use jsonathlon_dataset::source::Source;
use jsonathlon_schema::id::DataState;
use jsonathlon_schema::settings::{RunSettings, StoppingRule};

use crate::stopping::{MAX_ROUNDS, ROUNDS_SHARE};

/// Size of a document that typical durations refer to, in bytes with its newline: that of a generated event.
pub const TYPICAL_DOCUMENT_BYTES: u64 = 482;
/// Compressed documents are assumed to be this many times larger when they are read.
const COMPRESSION_RATIO: u64 = 8;
/// Size of a record of several short values, in bytes.
const RECORD_BYTES: u64 = 1_200;
/// Size of a record of many long values, in bytes.
const LARGE_RECORD_BYTES: u64 = 20_000;

/// What the expected duration of a run depends on, apart from the settings of its workload.
#[derive(Debug, Clone)]
pub struct RunOutline<'a> {
    /// Configurations under test, in the order of the plan.
    pub configurations: Vec<&'a Configuration>,
    /// Settings that all workloads share.
    pub settings: &'a RunSettings,
    /// Number of documents that each system loads, as if they were of the size of a generated event.
    pub typical_documents: f64,
}

impl<'a> RunOutline<'a> {
    /// Creates the outline of a run over `documents` documents of `bytes` bytes in total.
    #[must_use]
    pub fn new(
        configurations: Vec<&'a Configuration>,
        settings: &'a RunSettings,
        documents: u64,
        bytes: u64,
    ) -> Self {
        let typical_documents = documents.max(bytes / TYPICAL_DOCUMENT_BYTES) as f64;
        Self { configurations, settings, typical_documents }
    }

    /// Creates the outline of a run over the documents of `source`. `None` if their number is unknown before
    /// they are read.
    #[must_use]
    pub fn of_source(
        configurations: Vec<&'a Configuration>,
        settings: &'a RunSettings,
        source: &Source,
    ) -> Option<Self> {
        let (documents, bytes) = match source {
            Source::Generated { documents, .. } => (*documents, 0),
            Source::Records { records, documents } => {
                (*documents, documents.saturating_mul(record_bytes(&records.kind)))
            }
            Source::Ordinals { tables } => {
                let bytes = |table: &NestedTable| table.documents * NestedTable::nominal_bytes_of(table.n);
                (tables.iter().map(|table| table.documents).sum(), tables.iter().map(bytes).sum())
            }
            Source::Corpus(_) => (0, 0),
            Source::Path(path) => (0, unpacked_bytes(path)?),
            Source::Stdin | Source::Url(_) => return None,
            Source::WithInput { source, .. } => return Self::of_source(configurations, settings, source),
        };
        Some(Self::new(configurations, settings, documents, bytes))
    }
}

/// Rough size of a record of this kind, in bytes.
fn record_bytes(kind: &Kind) -> u64 {
    match kind {
        Kind::Size { bytes } => u64::from(*bytes),
        Kind::Large => LARGE_RECORD_BYTES,
        _ => RECORD_BYTES,
    }
}

/// Rough size of the documents in a file or below a folder, in bytes. `None` if it cannot be examined.
fn unpacked_bytes(path: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(path).ok()?;
    if metadata.is_dir() {
        // A link to a folder may lead back to this one.
        let is_linked_folder =
            |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink()) && entry.path().is_dir();
        let entries = std::fs::read_dir(path).ok()?.filter_map(Result::ok);
        let sizes = entries.filter(|entry| !is_linked_folder(entry));
        return Some(sizes.filter_map(|entry| unpacked_bytes(&entry.path())).fold(0, u64::saturating_add));
    }
    let is_compressed = path.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| {
        ["gz", "zst", "bz2", "xz", "zip", "tgz", "tzst", "tbz2", "txz"].contains(&extension)
    });
    Some(metadata.len().saturating_mul(if is_compressed { COMPRESSION_RATIO } else { 1 }))
}

/// Typical durations of one kind of system, in seconds, on a machine of few cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TypicalTimes {
    /// Start of the engine, together with its end.
    pub(crate) start_s: f64,
    /// Load, settling and reading back, apart from the documents.
    pub(crate) load_s: f64,
    /// Load, settling and reading back, for each document.
    pub(crate) load_document_s: f64,
    /// Trials of one question in one round, apart from the documents.
    pub(crate) question_s: f64,
    /// Trials of one question in one round, for each document.
    pub(crate) question_document_s: f64,
    /// One statement on one small document.
    pub(crate) statement_s: f64,
    /// Transfers, copies and queries of large documents in one round, for each mebibyte.
    pub(crate) mebibyte_s: f64,
}

impl TypicalTimes {
    /// About a third more than SQLite, DuckDB and ClickHouse took on two idle cores.
    const EMBEDDED: Self = Self {
        start_s: 0.1,
        load_s: 0.5,
        load_document_s: 12e-6,
        question_s: 0.05,
        question_document_s: 0.6e-6,
        statement_s: 0.0013,
        mebibyte_s: 0.015,
    };
    /// About a third more than PostgreSQL and MongoDB took on two idle cores.
    const SERVER: Self = Self {
        start_s: 0.5,
        load_s: 1.0,
        load_document_s: 20e-6,
        question_s: 0.08,
        question_document_s: 1e-6,
        statement_s: 0.004,
        mebibyte_s: 0.05,
    };
    /// A server that is running already needs no start.
    const REMOTE: Self = Self { start_s: 0.2, ..Self::SERVER };
    const YARDSTICK: Self = Self {
        load_s: 0.1,
        load_document_s: 1e-6,
        question_s: 0.05,
        question_document_s: 0.0,
        ..Self::EMBEDDED
    };

    /// Durations that are typical of the kind of system that `configuration` uses.
    pub(crate) fn of(configuration: &Configuration) -> Self {
        match configuration {
            Configuration { reference: true, .. } => Self::YARDSTICK,
            Configuration { embedded: true, .. } => Self::EMBEDDED,
            Configuration { server: None, .. } => Self::REMOTE,
            _ => Self::SERVER,
        }
    }

    /// Seconds of a load with its start, settling and reading back.
    pub(crate) fn load_seconds(&self, documents: f64) -> f64 {
        self.start_s + self.load_s + documents * self.load_document_s
    }
}

/// Part of a run whose rounds take similarly long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunPart {
    /// Each system is loaded and gives its answers, before anything is timed.
    Survey,
    /// Rounds of trials in a data state.
    Rounds(DataState),
    /// Each system compacts its data.
    Compaction,
    /// Rounds over one table of large documents, by its position in the run.
    Table(usize),
    /// Search of the largest document.
    SizeSearch,
}

/// Who decides how many rounds a part has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoundCount {
    /// The workload, whatever the figures are.
    Fixed,
    /// The stopping rule of the run.
    ByStoppingRule,
}

/// Expected seconds of one part of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExpectedPart {
    pub(crate) part: RunPart,
    /// Seconds of each target's turn, one list per round. The last list holds for all further rounds.
    turns: Vec<Vec<f64>>,
    rounds: u32,
    count: RoundCount,
}

impl ExpectedPart {
    /// Creates a part of `rounds` rounds. `turns` has the seconds of each target's turn, one list per round,
    /// the last of which holds for all further rounds.
    pub(crate) fn new(part: RunPart, turns: Vec<Vec<f64>>, rounds: u32, count: RoundCount) -> Self {
        Self { part, turns, rounds, count }
    }

    /// Creates a part of one round.
    pub(crate) fn once(part: RunPart, turns: Vec<f64>) -> Self {
        Self::new(part, vec![turns], 1, RoundCount::Fixed)
    }

    /// Number of rounds that are expected.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Seconds of each target's turn in a round, from 1.
    pub(crate) fn turns(&self, round: u32) -> &[f64] {
        let index = (round.max(1) - 1) as usize;
        self.turns.get(index).or(self.turns.last()).map(Vec::as_slice).unwrap_or_default()
    }

    fn seconds(&self) -> f64 {
        (1..=self.rounds).flat_map(|round| self.turns(round)).sum()
    }
}

/// Expected duration of a run, without installation, staging and the tables at its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectedTime {
    parts: Vec<ExpectedPart>,
    limit_s: Option<f64>,
}

impl ExpectedTime {
    /// Creates the expectation of a run with these parts. The number of rounds that the stopping rule decides
    /// is the one that it is expected to reach.
    pub(crate) fn new(parts: Vec<ExpectedPart>, settings: &RunSettings) -> Self {
        let limit_s = match settings.stopping {
            StoppingRule::Precision { seconds, .. } => Some(seconds),
            StoppingRule::Rounds | StoppingRule::Budget { .. } => None,
        };
        let mut expected = Self { parts, limit_s };
        for part in &mut expected.parts {
            if part.count == RoundCount::ByStoppingRule {
                part.rounds = expected_rounds(part, settings);
            }
        }
        expected
    }

    /// Expected seconds of the whole run.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.parts.iter().map(ExpectedPart::seconds).sum()
    }

    /// Seconds after which the run begins no further round, although its results are not precise enough.
    /// `None` if it does not wait for precision.
    #[must_use]
    pub fn limit_s(&self) -> Option<f64> {
        self.limit_s
    }

    /// Parts of the run in the order in which they are executed.
    pub(crate) fn parts(&self) -> &[ExpectedPart] {
        &self.parts
    }

    /// Sets the number of rounds of all parts for which the stopping rule decides it.
    pub(crate) fn set_rounds(&mut self, rounds: u32) {
        for part in &mut self.parts {
            if part.count == RoundCount::ByStoppingRule {
                part.rounds = rounds;
            }
        }
    }
}

/// Number of rounds that the stopping rule is expected to allow.
fn expected_rounds(part: &ExpectedPart, settings: &RunSettings) -> u32 {
    let StoppingRule::Budget { seconds, .. } = settings.stopping else { return settings.rounds };
    let mut left_s = ROUNDS_SHARE * seconds;
    let fits = |round: &u32| {
        left_s -= part.turns(*round).iter().sum::<f64>();
        left_s >= 0.0
    };
    let fitting = (1..=MAX_ROUNDS).take_while(fits).count();
    settings.rounds.max(u32::try_from(fitting).unwrap_or(MAX_ROUNDS))
}

/// Text of a rough duration, as `40 s`, `3 min` or `1.5 h`.
#[must_use]
pub fn rough_duration(seconds: f64) -> String {
    match seconds.max(0.0) {
        seconds if seconds < 100.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5_940.0 => format!("{:.0} min", (seconds / 60.0).ceil()),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(turns: Vec<Vec<f64>>) -> ExpectedPart {
        ExpectedPart::new(RunPart::Rounds(DataState::Drained), turns, 5, RoundCount::ByStoppingRule)
    }

    fn expected(stopping: StoppingRule) -> ExpectedTime {
        // The first round has loads: 20 s, the others take 10 s. Compaction takes 4 s.
        let turns = vec![vec![15.0, 5.0], vec![6.0, 4.0]];
        let settings = RunSettings { rounds: 3, stopping, ..RunSettings::default() };
        let compaction = ExpectedPart::once(RunPart::Compaction, vec![3.0, 1.0]);
        ExpectedTime::new(vec![part(turns), compaction], &settings)
    }

    #[test]
    fn all_parts_count_and_the_stopping_rule_decides_about_rounds() {
        assert!((expected(StoppingRule::Rounds).seconds() - 44.0).abs() < 1e-9);
        // 92 s hold eight rounds; a budget that is too small holds the planned ones.
        let budget = |seconds| expected(StoppingRule::Budget { seconds, strict: false });
        assert!((budget(100.0).seconds() - (20.0 + 7.0 * 10.0 + 4.0)).abs() < 1e-9);
        assert!((budget(5.0).seconds() - 44.0).abs() < 1e-9);
        assert_eq!(budget(1e9).parts()[0].rounds(), MAX_ROUNDS);
        let precise = expected(StoppingRule::Precision { share: 0.05, seconds: 600.0 });
        assert_eq!((precise.limit_s(), precise.parts()[0].rounds()), (Some(600.0), 3));
        let mut more = expected(StoppingRule::Rounds);
        more.set_rounds(4);
        assert!((more.seconds() - 54.0).abs() < 1e-9);
    }

    #[test]
    fn documents_are_known_beforehand_unless_they_come_through_a_pipe() {
        let settings = RunSettings::default();
        let documents = |source| {
            RunOutline::of_source(Vec::new(), &settings, &source).map(|outline| outline.typical_documents)
        };
        let generated = Source::Generated { seed: 1, start: 0, documents: 300, malformed: 0 };
        assert_eq!(documents(generated), Some(300.0));
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::write(folder.path().join("a/plain.ndjson"), vec![0; 482]).unwrap();
        std::fs::write(folder.path().join("packed.ndjson.gz"), vec![0; 482]).unwrap();
        assert_eq!(documents(Source::Path(folder.path().to_owned())), Some(9.0));
        assert_eq!(documents(Source::Path(folder.path().join("nowhere"))), None);
        assert_eq!(documents(Source::Stdin), None);
    }

    #[test]
    fn the_last_list_holds_for_further_rounds() {
        let part = part(vec![vec![2.0], vec![1.0]]);
        assert_eq!([part.turns(1), part.turns(2), part.turns(9)], [&[2.0], &[1.0], &[1.0]]);
        assert_eq!(ExpectedPart::once(RunPart::Survey, Vec::new()).turns(1), &[] as &[f64]);
    }

    #[test]
    fn durations_are_rounded_as_people_say_them() {
        for (seconds, text) in
            [(0.4, "0 s"), (42.3, "42 s"), (100.0, "2 min"), (601.0, "11 min"), (7_200.0, "2.0 h")]
        {
            assert_eq!(rough_duration(seconds), text);
        }
    }
}
