//! Judges all questions of a trial in one walk.

use std::collections::BTreeMap;

use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::{Comparison, compare};
use jsonathlon_schema::value::Row;
use jsonathlon_schema::visibility::Visibility;

use crate::bounds::{check_at_least, check_at_most};
use crate::history::{WriterHistory, acknowledged_before, sent_before, stale_ns};
use crate::prefixes::Prefixes;
use crate::seen::{SeenCount, SeenDocuments, SeenError};
use crate::sweep::{Sweep, SweepError};
use crate::verdict::{Judgement, QuestionVerdict, WrongReason};

/// What a configuration declares about its answers while documents come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Whether an answer and what it has seen are of one moment.
    pub snapshot: bool,
    /// When acknowledged documents are shown. With `Commit`, a question that misses one is a finding.
    pub visible: Visibility,
    /// Indexes of the columns that may differ numerically, by question. A question without any is absent.
    pub approximate: BTreeMap<Question, Vec<usize>>,
}

impl Declared {
    fn approximate_columns(&self, question: Question) -> &[usize] {
        self.approximate.get(&question).map(Vec::as_slice).unwrap_or_default()
    }
}

/// A question with its answer. Equal rows need to be kept only once.
#[derive(Clone, Copy, Debug)]
pub struct AskedQuestion<'a> {
    /// Number of the stream that asked.
    pub stream: u32,
    /// Question of the challenge that was asked.
    pub question: Question,
    /// Nanoseconds of the clock of the writers' histories: before the first byte of the question was sent.
    pub start_ns: u64,
    /// Nanoseconds of the same clock: after the last row was decoded.
    pub end_ns: u64,
    /// Floors that the question was asked with, one for each writer.
    pub floors: &'a [u64],
    /// What was seen at or above the floors.
    pub seen: &'a [SeenCount],
    /// Why the answer does not tell what was seen, or contradicts itself in it. `None` if it tells.
    pub unreadable: Option<&'a str>,
    /// Rows of the answer, without what was seen.
    pub rows: &'a [Row],
}

impl AskedQuestion<'_> {
    fn seen_documents(&self) -> Result<SeenDocuments, SeenError> {
        match self.unreadable {
            Some(message) => Err(SeenError::Unreadable(message.to_owned())),
            None => SeenDocuments::new(self.floors, self.seen),
        }
    }
}

/// How an answer is compared at the prefixes where the walk stops for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Check {
    Equal,
    AtLeast,
    AtMost,
}

/// A stop of the walk. The order of the fields is that of the walk: prefixes that are a chain are visited
/// from the shortest to the longest, without a step back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stop {
    documents: u64,
    prefixes: Prefixes,
    /// Position among the questions.
    position: usize,
    check: Check,
}

impl Stop {
    fn new(prefixes: Prefixes, position: usize, check: Check) -> Self {
        Self { documents: prefixes.documents(), prefixes, position, check }
    }
}

/// Judges questions; the judgements have their order. The questions of a stream must be in the order in which
/// they were asked. Questions of all phases of a round can be judged together, also those asked without
/// writers, whose floors and seen documents are empty; the histories are then those of the whole round.
///
/// * Closed (n = h for every writer) and equal to the right answer over these prefixes: exact, or approximate
///   where columns are declared so. An answer of an earlier moment is not wrong: its freshness says how early.
/// * Closed and different, more seen than sent before the end, or seen twice: wrong.
/// * With holes, or of a configuration that declares no snapshot: bounded if all values lie between those
///   over L and U, else wrong. U is what was sent before the end. L is what was acknowledged before the
///   start; a system that shows documents later need only show what the stream has already seen, the floors.
///
/// # Errors
/// If prefixes are longer than what the sweep's pool has, i.e. histories or floors are those of another pool.
pub fn judge(
    sweep: &mut Sweep<'_>,
    declared: &Declared,
    writers: &[WriterHistory],
    asked: &[AskedQuestion<'_>],
) -> Result<Vec<Judgement>, SweepError> {
    let mut judgements = Vec::with_capacity(asked.len());
    let mut stops = Vec::new();
    let mut seen_by_stream: BTreeMap<u32, Prefixes> = BTreeMap::new();
    for (position, question) in asked.iter().enumerate() {
        let seen = match question.seen_documents() {
            Ok(seen) => seen,
            Err(error) => {
                judgements.push(contradiction(error));
                continue;
            }
        };
        let before = seen_by_stream.entry(question.stream).or_default();
        let verdict = match impossible(&seen, writers, question.end_ns) {
            Some(reason) => QuestionVerdict::Wrong(reason),
            None => plan(declared, writers, question, &seen, position, &mut stops),
        };
        let prefixes = seen.prefixes();
        judgements.push(Judgement {
            verdict,
            has_holes: !seen.is_closed(),
            is_torn: seen.is_closed() && is_torn(writers, &prefixes),
            went_back: before.raise(&prefixes),
            stale_ns: stale_ns(writers, &prefixes, question.start_ns),
            seen_documents: seen.documents(),
        });
    }
    stops.sort_unstable();
    for stop in &stops {
        let (Some(question), Some(judgement)) = (asked.get(stop.position), judgements.get_mut(stop.position))
        else {
            continue;
        };
        if matches!(judgement.verdict, QuestionVerdict::Wrong(_)) {
            continue;
        }
        sweep.move_to(&stop.prefixes)?;
        let right = sweep.rows(question.question);
        if let Some(verdict) = compare_at(stop.check, declared, question, &right) {
            judgement.verdict = verdict;
        }
    }
    Ok(judgements)
}

fn contradiction(error: SeenError) -> Judgement {
    Judgement {
        verdict: QuestionVerdict::Wrong(WrongReason::Contradiction(error)),
        has_holes: false,
        is_torn: false,
        went_back: false,
        stale_ns: 0,
        seen_documents: 0,
    }
}

/// Finds what no state of the table could have shown, whatever the answer is.
fn impossible(seen: &SeenDocuments, writers: &[WriterHistory], end_ns: u64) -> Option<WrongReason> {
    seen.writers().iter().enumerate().find_map(|(writer, seen)| {
        let (documents, numbers) = (seen.documents, seen.end);
        if documents > numbers {
            return Some(WrongReason::Repeated { writer, documents, numbers });
        }
        let sent = writers.get(writer).map_or(0, |history| history.sent_before(end_ns));
        (numbers > sent).then_some(WrongReason::BeyondSent { writer, seen: numbers, sent })
    })
}

/// Plans where the walk has to stop for a question. Returns the verdict if all stops find nothing wrong.
fn plan(
    declared: &Declared,
    writers: &[WriterHistory],
    question: &AskedQuestion<'_>,
    seen: &SeenDocuments,
    position: usize,
    stops: &mut Vec<Stop>,
) -> QuestionVerdict {
    if declared.snapshot && seen.is_closed() {
        stops.push(Stop::new(seen.prefixes(), position, Check::Equal));
        return QuestionVerdict::Exact;
    }
    let lower = match declared.visible {
        Visibility::Commit => acknowledged_before(writers, question.start_ns),
        Visibility::Refresh => question.floors.to_vec().into(),
    };
    let upper = sent_before(writers, question.end_ns);
    stops.push(Stop::new(lower, position, Check::AtLeast));
    stops.push(Stop::new(upper, position, Check::AtMost));
    QuestionVerdict::Bounded
}

fn is_torn(writers: &[WriterHistory], prefixes: &Prefixes) -> bool {
    writers.iter().enumerate().any(|(writer, history)| !history.is_boundary(prefixes.of(writer)))
}

/// Compares an answer with the right one at a stop. `None` if the planned verdict holds.
fn compare_at(
    check: Check,
    declared: &Declared,
    asked: &AskedQuestion<'_>,
    right: &[Row],
) -> Option<QuestionVerdict> {
    let (question, answer) = (asked.question, asked.rows);
    let approximate = declared.approximate_columns(question);
    let bounds = match check {
        Check::Equal => {
            return match compare(question, right, answer, approximate) {
                Comparison::Equal => None,
                Comparison::Approximate { error } => Some(QuestionVerdict::Approximate { error }),
                Comparison::Different(difference) => {
                    Some(QuestionVerdict::Wrong(different(asked, difference)))
                }
            };
        }
        Check::AtLeast => check_at_least(question, right, answer, approximate),
        Check::AtMost => check_at_most(question, right, answer, approximate),
    };
    bounds.err().map(|outside| QuestionVerdict::Wrong(WrongReason::OutOfBounds(outside)))
}

/// Reason why an answer differs from the right one. What lies below the floors is not counted again, so an answer
/// of an earlier moment than the floors looks like a wrong one if nothing was seen above some of them.
fn different(asked: &AskedQuestion<'_>, difference: String) -> WrongReason {
    let is_seen = |writer: usize| asked.seen.iter().any(|count| count.writer == writer);
    let may_have_gone_back =
        asked.floors.iter().enumerate().any(|(writer, floor)| *floor > 0 && !is_seen(writer));
    match may_have_gone_back {
        true => WrongReason::DifferentOrEarlier(difference),
        false => WrongReason::Different(difference),
    }
}
