//! Random interleavings of writers and streams in a model of systems that do nothing wrong: no false alarm.

use std::collections::BTreeMap;

use jsonathlon_dataset::questions::Question;
use jsonathlon_mixed::{
    AskedQuestion, Declared, QuestionVerdict, SeenCount, SeenDocuments, VerdictCounts, Visibility,
    WriterHistory, check_end, first_wrong, judge,
};
use jsonathlon_schema::value::Row;

use crate::support::{Random, World, odd_events, seen_counts};

/// How a modelled system shows its documents to a question.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reading {
    /// All of one moment.
    Snapshot,
    /// All of the last refresh before.
    Refreshed,
    /// Each document at a moment of its own.
    DocumentByDocument,
    /// Two shards that are refreshed and asked each on its own.
    TwoShards,
}

impl Reading {
    fn declared(self) -> Declared {
        let is_refreshed = matches!(self, Reading::Refreshed | Reading::TwoShards);
        Declared {
            snapshot: matches!(self, Reading::Snapshot | Reading::Refreshed),
            visible: if is_refreshed { Visibility::Refresh } else { Visibility::Commit },
            approximate: BTreeMap::new(),
        }
    }
}

/// What writers have done in a model: when each document was committed, and what the client knows.
struct Writing {
    histories: Vec<WriterHistory>,
    /// Moment of commit by writer and number; a document without one was never committed.
    commits: Vec<Vec<u64>>,
}

fn write(random: &mut Random, world: &World) -> Writing {
    let batch = random.up_to(5);
    let mut writing = Writing { histories: Vec::new(), commits: Vec::new() };
    for writer in 0..world.pool.writers() {
        let (mut history, mut commits) = (WriterHistory::default(), Vec::new());
        let (mut now, mut end) = (random.below(50), 0);
        while end < world.pool.documents_of(writer) {
            let first = end;
            end = (end + batch).min(world.pool.documents_of(writer));
            history.sent(end, now);
            let committed = now + random.up_to(20);
            // Sometimes nothing comes back, and the writer asks later how far it has come.
            let acknowledged = committed + random.below(20) + if random.below(10) == 0 { 60 } else { 0 };
            history.acknowledged(end, acknowledged);
            commits.extend((first..end).map(|_| committed));
            now = acknowledged + random.below(10);
        }
        writing.histories.push(history);
        writing.commits.push(commits);
    }
    writing
}

struct Asked {
    stream: u32,
    question: Question,
    start_ns: u64,
    end_ns: u64,
    floors: Vec<u64>,
    seen: Vec<SeenCount>,
    rows: Vec<Row>,
}

impl Asked {
    fn borrowed(&self) -> AskedQuestion<'_> {
        AskedQuestion {
            stream: self.stream,
            question: self.question,
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            floors: &self.floors,
            seen: &self.seen,
            unreadable: None,
            rows: &self.rows,
        }
    }
}

/// Documents (writer, number) that a question sees which is under way from `start` to `end`.
fn visible(
    random: &mut Random,
    commits: &[Vec<u64>],
    reading: Reading,
    refresh: [u64; 2],
    (start, end): (u64, u64),
) -> Vec<(usize, u64)> {
    let mut moment = || start + random.below(end - start + 1);
    let (first, second) = (moment(), moment());
    let last_refresh = |moment: u64, every: u64| moment / every * every;
    let mut seen = Vec::new();
    for (writer, commits) in commits.iter().enumerate() {
        for (number, &commit) in (0_u64..).zip(commits) {
            let looked_at = match reading {
                Reading::Snapshot => first,
                Reading::Refreshed => last_refresh(first, refresh[0]),
                Reading::DocumentByDocument => moment(),
                Reading::TwoShards if number % 2 == 0 => last_refresh(first, refresh[0]),
                Reading::TwoShards => last_refresh(second, refresh[1]),
            };
            if commit <= looked_at {
                seen.push((writer, number));
            }
        }
    }
    seen
}

fn count_from(floors: &[u64], seen: &[(usize, u64)]) -> Vec<SeenCount> {
    let count = |(writer, &floor): (usize, &u64)| {
        let numbers = seen.iter().filter(|(of, number)| *of == writer && *number >= floor);
        let numbers: Vec<u64> = numbers.map(|(_, number)| *number).collect();
        let highest = numbers.iter().copied().max()?;
        Some(SeenCount { writer, count: numbers.len() as u64, highest })
    };
    floors.iter().enumerate().filter_map(count).collect()
}

/// Lets one stream ask until it has asked `count` questions.
fn ask(
    random: &mut Random,
    world: &World,
    commits: &[Vec<u64>],
    reading: Reading,
    stream: u32,
    count: u64,
) -> Vec<Asked> {
    let refresh = [random.up_to(60), random.up_to(60)];
    let (mut floors, mut now, mut asked) = (vec![0; world.pool.writers()], 0, Vec::new());
    for _ in 0..count {
        let start = now + random.below(40);
        let end = start + random.below(40);
        let documents = visible(random, commits, reading, refresh, (start, end));
        let seen = count_from(&floors, &documents);
        let indexes: Vec<usize> =
            documents.iter().map(|(writer, number)| world.pool.document(*writer, *number).unwrap()).collect();
        let question = random.one_of(&Question::ALL);
        let rows = world.answers_over(&indexes).rows(question).to_vec();
        let next_floors = SeenDocuments::new(&floors, &seen).unwrap().next_floors();
        asked.push(Asked { stream, question, start_ns: start, end_ns: end, floors, seen, rows });
        (floors, now) = (next_floors, end);
    }
    asked
}

/// Judges one random interleaving. Only what the reading allows may be reported.
fn interleave(seed: u64, reading: Reading) -> VerdictCounts {
    let mut random = Random::new(seed);
    let count = 10 + random.below(30);
    let events = odd_events(&mut random, count);
    let (pool_size, writers) = (random.below(count) as usize, random.up_to(3) as usize);
    let world = World::new(events, pool_size, writers);
    let Writing { histories, commits } = write(&mut random, &world);
    let mut asked = Vec::new();
    for stream in 0..2 {
        asked.extend(ask(&mut random, &world, &commits, reading, stream, 4));
    }
    let borrowed: Vec<AskedQuestion<'_>> = asked.iter().map(Asked::borrowed).collect();
    let declared = reading.declared();
    let judgements = judge(&mut world.sweep(), &declared, &histories, &borrowed).unwrap();
    assert_eq!(judgements.len(), borrowed.len());
    assert_eq!(first_wrong(&judgements), None, "seed {seed}, {reading:?}");
    let expected = if declared.snapshot { QuestionVerdict::Exact } else { QuestionVerdict::Bounded };
    for judgement in &judgements {
        assert_eq!(judgement.verdict, expected, "seed {seed}, {reading:?}");
        assert!(!judgement.went_back, "seed {seed}, {reading:?}");
        let peculiar = judgement.has_holes || judgement.is_torn;
        assert!(!(declared.snapshot && peculiar), "seed {seed}, {reading:?}: {judgement:?}");
        let is_stale = judgement.stale_ns > 0;
        assert!(!(declared.visible == Visibility::Commit && declared.snapshot && is_stale), "seed {seed}");
    }
    let all: Vec<u64> = commits.iter().map(|commits| commits.len() as u64).collect();
    let zero = vec![0; all.len()];
    let end = SeenDocuments::new(&zero, &seen_counts(&zero, &all)).unwrap();
    assert_eq!(check_end(&histories, &end), Ok(()), "seed {seed}");
    VerdictCounts::of(&judgements)
}

fn interleave_all(seeds: std::ops::Range<u64>, reading: Reading) -> VerdictCounts {
    let mut total = VerdictCounts::default();
    for seed in seeds {
        let counts = interleave(seed, reading);
        total.asked += counts.asked;
        total.exact += counts.exact;
        total.bounded += counts.bounded;
        total.holes += counts.holes;
        total.stale += counts.stale;
    }
    total
}

#[test]
fn snapshots_are_exact_in_any_interleaving() {
    let counts = interleave_all(0..10_000, Reading::Snapshot);
    assert_eq!((counts.exact, counts.stale), (counts.asked, 0));
}

#[test]
fn refreshed_snapshots_are_exact_and_stale() {
    let counts = interleave_all(0..1_000, Reading::Refreshed);
    assert_eq!(counts.exact, counts.asked);
    assert!(counts.stale > counts.asked / 100, "{counts:?}: the model shows what a refresh does");
}

#[test]
fn answers_of_no_single_moment_are_within_bounds() {
    for reading in [Reading::DocumentByDocument, Reading::TwoShards] {
        let counts = interleave_all(0..2_000, reading);
        assert_eq!(counts.bounded, counts.asked, "{reading:?}");
        assert!(counts.holes > counts.asked / 100, "{counts:?}: the model shows what no snapshot does");
    }
}
