//! Answers about large documents: import, export, copy, lookup, index build, and stored size.

use jsonathlon_schema::metric::{FILES_BYTES, SOURCE_BYTES};
use jsonathlon_schema::record::{Cell, Phase, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::caveats::Caveats;
use super::contest::{Contest, Topic, count_caveats};
use super::context::{Context, Ranking};
use super::sentence::{
    MAX_LENGTH_WITH_PARTS, Wording, factor, first_fitting_within, list, percent, with_list,
};
use super::{Answer, AnswerCaveat, AnswerOutcome, AnswerSubject, correctness};
use crate::cell_summary::CellSummary;
use crate::document_size::{bytes_of, is_smaller, word};
use crate::number_format::bytes;
use crate::ratio_to_best::RankedCell;

/// Timed subjects with their tests, and what the leader did.
const TIMED: [(AnswerSubject, &[&str], &str); 5] = [
    (AnswerSubject::Copy, &["copy"], "copied"),
    (AnswerSubject::Import, &["import"], "imported"),
    (AnswerSubject::Export, &["export"], "exported"),
    (AnswerSubject::Lookup, &["extract", "filter", "order"], "looked numbers up"),
    (AnswerSubject::IndexBuild, &["index"], "built its index"),
];

pub(super) fn answers(context: &Context<'_>) -> Vec<Answer> {
    let tables = tables(context.parts.entries);
    let mut answers = Vec::new();
    for ranking in &context.rankings {
        for (data, sizes) in &tables {
            let tables =
                DocumentTables { context, ranking, data, sizes, is_only_data_set: tables.len() == 1 };
            answers.extend(tables.operations());
            for (subject, tests, deed) in TIMED {
                answers.extend(tables.fastest(subject, tests, deed));
            }
            answers.extend(tables.smallest());
        }
    }
    answers.extend(correctness::answers(context, WorkloadKind::Documents));
    answers
}

fn entries(entries: &[CellSummary]) -> impl Iterator<Item = &CellSummary> {
    entries
        .iter()
        .filter(|entry| entry.cell.workload == WorkloadKind::Documents && entry.cell.step.is_workload_step())
}

/// Data sets, each with its sizes of documents, the smallest first.
fn tables(all: &[CellSummary]) -> Vec<(String, Vec<String>)> {
    let mut tables: Vec<(String, Vec<String>)> = Vec::new();
    for entry in entries(all) {
        let (data, size) = (word(&entry.cell, "data"), word(&entry.cell, "size"));
        match tables.iter_mut().find(|(known, _)| known == data) {
            Some((_, sizes)) if sizes.iter().any(|known| known == size) => {}
            Some((_, sizes)) => sizes.push(size.to_owned()),
            None => tables.push((data.to_owned(), vec![size.to_owned()])),
        }
    }
    for (_, sizes) in &mut tables {
        sizes.sort_by_key(|size| bytes_of(size));
    }
    tables
}

/// Tables of one data set, with the members of a ranking.
struct DocumentTables<'c, 'a> {
    context: &'c Context<'a>,
    ranking: &'c Ranking,
    data: &'c str,
    sizes: &'c [String],
    is_only_data_set: bool,
}

/// Outcome for one or several sizes of documents.
struct SizeOutcome<'c> {
    sizes: Vec<&'c str>,
    outcome: AnswerOutcome,
    caveats: Caveats,
}

impl<'c> SizeOutcome<'c> {
    /// Returns `true` if the same configurations lead, or none does for the same reason.
    fn is_same(&self, other: &AnswerOutcome) -> bool {
        let named = |outcome: &AnswerOutcome| {
            let mut named = outcome.configurations();
            if let AnswerOutcome::Leader { first, .. } = outcome {
                named = vec![*first];
            }
            named.sort_unstable();
            (std::mem::discriminant(outcome), named)
        };
        named(&self.outcome) == named(other)
    }

    /// Adds another size with the same outcome. Of two ratios, the smaller one is kept.
    fn add(&mut self, other: Self) {
        self.sizes.extend(other.sizes);
        self.caveats.merge(other.caveats);
        if let (AnswerOutcome::Leader { ratio, .. }, AnswerOutcome::Leader { ratio: other_ratio, .. }) =
            (&self.outcome, &other.outcome)
            && other_ratio < ratio
        {
            self.outcome = other.outcome;
        }
    }
}

/// Operation in which a configuration leads.
struct LedOperation {
    subject: AnswerSubject,
    runner_up: usize,
    /// How many times as fast the leader is as the runner-up.
    ratio: f64,
}

/// How much a sentence says about operations.
#[derive(Clone, Copy)]
enum Detail {
    /// Their names, and the runner-up of each with its factor.
    Factors,
    /// Their names, without factors.
    Names,
    /// Only how many they are.
    Counts,
}

impl Detail {
    /// All degrees, the most detailed one first.
    const ALL: [Self; 3] = [Self::Factors, Self::Names, Self::Counts];
}

/// Who leads in which operations on documents of one or several sizes.
struct OperationLeaders<'c> {
    sizes: Vec<&'c str>,
    /// Configurations with the operations in which each leads, the one with the most first.
    leaders: Vec<(usize, Vec<LedOperation>)>,
    /// Operations in which no difference is shown.
    undecided: Vec<AnswerSubject>,
    caveats: Caveats,
}

impl OperationLeaders<'_> {
    fn total(&self) -> usize {
        self.leaders.iter().map(|(_, operations)| operations.len()).sum::<usize>() + self.undecided.len()
    }

    /// Largest number of operations in which one of them leads.
    fn most(&self) -> usize {
        self.leaders.iter().map(|(_, operations)| operations.len()).max().unwrap_or_default()
    }

    /// Returns `true` if the same configurations lead in the same operations.
    fn is_same(&self, other: &Self) -> bool {
        let leaders = |of: &Self| -> Vec<(usize, Vec<AnswerSubject>)> {
            of.leaders.iter().map(|(member, operations)| (*member, subjects(operations))).collect()
        };
        leaders(self) == leaders(other) && self.undecided == other.undecided
    }

    /// Adds further sizes with the same leaders. Of two ratios, the smaller one is kept.
    fn add(&mut self, other: Self) {
        self.sizes.extend(other.sizes);
        self.caveats.merge(other.caveats);
        let others = other.leaders.into_iter().flat_map(|(_, operations)| operations);
        for (known, other) in self.leaders.iter_mut().flat_map(|(_, operations)| operations).zip(others) {
            if other.ratio < known.ratio {
                *known = other;
            }
        }
    }

    /// Words behind the conditions: who leads in which operations, then those in which nobody leads.
    fn words(&self, context: &Context<'_>, detail: Detail) -> String {
        let total = self.total();
        let mut parts = Vec::new();
        for (member, operations) in &self.leaders {
            let count = operations.len();
            let verb = if parts.is_empty() { "fastest in" } else { "in" };
            let share = match detail {
                Detail::Factors => format!("{verb} {}", self.with_factors(context, operations)),
                Detail::Names => format!("{verb} {}", titles(&subjects(operations))),
                Detail::Counts if parts.is_empty() => format!("{verb} {count} of {total} operations"),
                Detail::Counts if count == self.most() => "in as many".to_owned(),
                Detail::Counts => format!("in {count}"),
            };
            parts.push(format!("{} {share}", context.name(*member)));
        }
        if !self.undecided.is_empty() {
            let operations = match detail {
                Detail::Factors | Detail::Names => titles(&self.undecided),
                Detail::Counts => self.undecided.len().to_string(),
            };
            parts.push(format!("no difference shown in {operations}"));
        }
        parts.join(", ")
    }

    /// Names of operations with the runners-up and the factors: `copy (1.7 × faster than MongoDB) and export (3.6 ×
    /// faster than PostgreSQL)`.
    fn with_factors(&self, context: &Context<'_>, operations: &[LedOperation]) -> String {
        let least = if self.sizes.len() > 1 { "at least " } else { "" };
        let factors: Vec<String> = operations.iter().map(|led| factor(led.ratio)).collect();
        let has_one_rival =
            |first: &&LedOperation| operations.iter().all(|led| led.runner_up == first.runner_up);
        if let Some(led) = operations.first().filter(has_one_rival) {
            let (titles, rival) = (titles(&subjects(operations)), context.name(led.runner_up));
            return format!("{titles} ({least}{} faster than {rival})", list(&factors, factors.len()));
        }
        let describe = |(led, factor): (&LedOperation, &String)| {
            let (title, rival) = (led.subject.title().to_lowercase(), context.name(led.runner_up));
            format!("{title} ({least}{factor} faster than {rival})")
        };
        let described: Vec<String> = operations.iter().zip(&factors).map(describe).collect();
        list(&described, described.len())
    }
}

fn subjects(operations: &[LedOperation]) -> Vec<AnswerSubject> {
    operations.iter().map(|led| led.subject).collect()
}

/// Titles of operations in a sentence.
fn titles(subjects: &[AnswerSubject]) -> String {
    let titles: Vec<String> = subjects.iter().map(|subject| subject.title().to_lowercase()).collect();
    list(&titles, titles.len())
}

/// Bytes on disk of one configuration, and their ratio to the documents' texts.
#[derive(Clone, Copy)]
struct StoredSize {
    member: usize,
    bytes: f64,
    share: f64,
}

impl<'c, 'a> DocumentTables<'c, 'a> {
    /// Who leads in which operations, one answer for all sizes with the same leaders. None for a single
    /// operation, and none if nobody can be compared.
    fn operations(&self) -> Vec<Answer> {
        let mut merged: Vec<OperationLeaders<'_>> = Vec::new();
        for size in self.sizes {
            let leaders = self.operation_leaders(size);
            match merged.iter_mut().find(|known| known.is_same(&leaders)) {
                _ if leaders.total() < 2 => {}
                Some(known) => known.add(leaders),
                None => merged.push(leaders),
            }
        }
        let answer = |leaders: OperationLeaders<'_>| {
            let conditions = self.conditions(&leaders.sizes);
            let sentence = |detail| format!("{conditions}: {}", leaders.words(self.context, detail));
            let count = leaders.most();
            let is_first =
                |(member, operations): &(usize, Vec<_>)| (operations.len() == count).then_some(*member);
            let first: Vec<usize> = leaders.leaders.iter().filter_map(is_first).collect();
            Answer {
                workload: WorkloadKind::Documents.into(),
                ranking: self.ranking.name.clone(),
                subject: AnswerSubject::Operations,
                sentence: first_fitting_within(MAX_LENGTH_WITH_PARTS, Detail::ALL.map(sentence)),
                conditions: conditions.clone(),
                outcome: AnswerOutcome::Counted {
                    first,
                    value: format!("{count} of {} operations", leaders.total()),
                },
                caveats: leaders.caveats.kinds(),
                caveat_texts: leaders.caveats.texts(self.context),
                severity: Severity::Good,
            }
        };
        merged.into_iter().map(answer).collect()
    }

    fn operation_leaders(&self, size: &'c str) -> OperationLeaders<'c> {
        let mut found = OperationLeaders {
            sizes: vec![size],
            leaders: Vec::new(),
            undecided: Vec::new(),
            caveats: Caveats::default(),
        };
        for (subject, tests, _) in TIMED {
            let Some((outcome, caveats)) = self.outcome(tests, size) else { continue };
            match outcome {
                AnswerOutcome::Leader { first, runner_up, ratio, .. } => {
                    let led = LedOperation { subject, runner_up, ratio };
                    match found.leaders.iter_mut().find(|(member, _)| *member == first) {
                        Some((_, operations)) => operations.push(led),
                        None => found.leaders.push((first, vec![led])),
                    }
                }
                AnswerOutcome::NoDifferenceShown { .. } => found.undecided.push(subject),
                // Nobody, or one alone, could be compared in this operation.
                _ => {
                    found.caveats.add(AnswerCaveat::Partial, []);
                    continue;
                }
            }
            found.caveats.merge(caveats);
        }
        found.leaders.sort_by_key(|(_, operations)| std::cmp::Reverse(operations.len()));
        found
    }

    /// Outcome of these tests for one size, with its caveats. `None` if nobody has results.
    fn outcome(&self, tests: &[&str], size: &str) -> Option<(AnswerOutcome, Caveats)> {
        let members = self.members(tests, size);
        let members: Vec<Vec<&RankedCell<'a>>> = members.iter().map(|cells| cells.iter().collect()).collect();
        let contest = Contest::over_several(self.context, &members)?;
        let outcome = contest.outcome(self.context)?;
        let caveats = contest.caveats(self.context, &outcome, false);
        Some((outcome, caveats))
    }

    /// Who is fastest in these tests, one answer for all sizes with the same outcome.
    fn fastest(&self, subject: AnswerSubject, tests: &[&str], deed: &str) -> Vec<Answer> {
        let mut merged: Vec<SizeOutcome<'_>> = Vec::new();
        for size in self.sizes {
            let Some((outcome, caveats)) = self.outcome(tests, size) else { continue };
            let new = SizeOutcome { sizes: vec![size.as_str()], outcome, caveats };
            match merged.iter_mut().find(|known| known.is_same(&new.outcome)) {
                Some(known) => known.add(new),
                None => merged.push(new),
            }
        }
        let answer = |result: SizeOutcome<'_>| {
            let conditions = self.conditions(&result.sizes);
            let wording = Wording {
                conditions: conditions.clone(),
                deed: deed.to_owned(),
                relation: "faster than",
                scope: format!("in {}", subject.title().to_lowercase()),
                is_minimum: result.sizes.len() > 1,
                exceptions: String::new(),
            };
            let (workload, ranking) = (WorkloadKind::Documents, self.ranking.name.as_str());
            let topic = Topic { workload, ranking, subject, conditions, wording };
            topic.answer(self.context, result.outcome, result.caveats)
        };
        merged.into_iter().map(answer).collect()
    }

    /// Cells of each member that has a verified time in all of these tests, in the order of the tests.
    fn members(&self, tests: &[&str], size: &str) -> Vec<Vec<RankedCell<'a>>> {
        let cells = |member: &usize| {
            let configuration = self.context.configuration(*member)?;
            let entries = self.entries(*member, size);
            let is_imported =
                |entry: &&CellSummary| entry.cell.step.word() == "import" && entry.verdict == Verdict::Exact;
            entries.iter().copied().find(is_imported)?;
            let cell = |test: &&str| {
                let entry = entry_of(&entries, test)?;
                Some(RankedCell { configuration, entry, comparable: true, can_be_best: true })
            };
            tests.iter().map(cell).collect::<Option<Vec<RankedCell<'a>>>>()
        };
        self.ranking.members.iter().filter_map(cells).collect()
    }

    /// Entries of a member for documents of exactly this size.
    fn entries(&self, member: usize, size: &str) -> Vec<&'a CellSummary> {
        let mut entries = self.context.entries_of(member, WorkloadKind::Documents);
        entries.retain(|entry| {
            let cell = &entry.cell;
            word(cell, "data") == self.data && word(cell, "size") == size && !is_smaller(cell)
        });
        entries
    }

    /// Conditions of a comparison for readers: `64 KiB and 1 MiB documents`.
    fn conditions(&self, sizes: &[&str]) -> String {
        let is_unit = |letter: char| letter.is_ascii_alphabetic();
        let spaced = |size: &&str| {
            let (number, unit) = size.split_at(size.find(is_unit).unwrap_or(size.len()));
            format!("{number} {unit}")
        };
        let sizes: Vec<String> = sizes.iter().map(spaced).collect();
        let documents = format!("{} documents", list(&sizes, sizes.len()));
        if self.is_only_data_set { documents } else { format!("{documents}, {}", self.data) }
    }

    /// Who stores the documents in the fewest bytes, one answer for all sizes with the same leader.
    fn smallest(&self) -> Vec<Answer> {
        let mut merged: Vec<(Vec<&str>, Vec<usize>, Vec<StoredSize>)> = Vec::new();
        for size in self.sizes {
            let stored = self.stored(size);
            let Some(smallest) = stored.first().copied() else { continue };
            let is_tied = |stored: &&StoredSize| stored.bytes <= smallest.bytes;
            let first: Vec<usize> = match stored.len() {
                1 => continue,
                _ => stored.iter().filter(is_tied).map(|stored| stored.member).collect(),
            };
            match merged.iter_mut().find(|(_, known, _)| *known == first) {
                Some((sizes, _, smallest_sizes)) => {
                    sizes.push(size);
                    smallest_sizes.push(smallest);
                }
                None => merged.push((vec![size.as_str()], first, vec![smallest])),
            }
        }
        merged
            .into_iter()
            .map(|(sizes, first, smallest)| self.smallest_answer(&sizes, first, &smallest))
            .collect()
    }

    fn smallest_answer(&self, sizes: &[&str], first: Vec<usize>, smallest: &[StoredSize]) -> Answer {
        let conditions = self.conditions(sizes);
        let shares = || smallest.iter().map(|stored| stored.share);
        let (least, most) = (shares().fold(f64::INFINITY, f64::min), shares().fold(0.0, f64::max));
        let value = match smallest {
            [only] => format!("{}, {} of the text", bytes(only.bytes), percent(only.share)),
            _ if percent(least) == percent(most) => format!("{} of the text", percent(least)),
            _ => format!("{} … {} of the text", percent(least), percent(most)),
        };
        let names = self.context.names(&first);
        let sentence = with_list(&names, |names| format!("{conditions}: smallest {names}, {value}"));
        let outcome = AnswerOutcome::Counted { first, value };
        let caveats = count_caveats(self.context, &outcome);
        Answer {
            workload: WorkloadKind::Documents.into(),
            ranking: self.ranking.name.clone(),
            subject: AnswerSubject::StoredSize,
            conditions,
            caveats: caveats.kinds(),
            caveat_texts: caveats.texts(self.context),
            outcome,
            sentence,
            severity: Severity::Good,
        }
    }

    /// Sizes of the members' files without copy and logs, the smallest first.
    fn stored(&self, size: &str) -> Vec<StoredSize> {
        let stored = |member: &usize| {
            let entries = self.entries(*member, size);
            let is_disk =
                |entry: &&CellSummary| entry.cell.step.word() == "disk" && entry.verdict == Verdict::Exact;
            let entry = entries.into_iter().find(is_disk)?;
            let (bytes, text) = (entry.metric(&FILES_BYTES)?, entry.metric(&SOURCE_BYTES)?);
            (bytes > 0.0 && text > 0.0).then(|| StoredSize { member: *member, bytes, share: bytes / text })
        };
        let mut sizes: Vec<StoredSize> = self.ranking.members.iter().filter_map(stored).collect();
        sizes.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
        sizes
    }
}

/// Verified and timed entry of a test. Of several indexes, the one with the most trials, then the fastest.
fn entry_of<'a>(entries: &[&'a CellSummary], test: &str) -> Option<&'a CellSummary> {
    let is_plain = |cell: &Cell| match test {
        "index" => !matches!(word(cell, "index"), "" | "none"),
        _ => word(cell, "index").is_empty(),
    };
    let is_of_test = |entry: &&&CellSummary| {
        let cell = &entry.cell;
        cell.step.word() == test
            && is_plain(cell)
            && word(cell, "form").is_empty()
            && matches!(cell.phase, Phase::Load | Phase::Hot)
            && entry.verdict == Verdict::Exact
            && entry.median_s.is_some()
    };
    let slowness = |entry: &CellSummary| entry.median_s.unwrap_or(f64::INFINITY);
    entries
        .iter()
        .filter(is_of_test)
        .copied()
        .max_by(|a, b| a.trials.cmp(&b.trials).then_with(|| slowness(b).total_cmp(&slowness(a))))
}
