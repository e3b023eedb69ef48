//! Answers about large documents: import, export, copy, lookup, index build, and stored size.

use jsonathlon_schema::metric::{FILES_BYTES, SOURCE_BYTES};
use jsonathlon_schema::record::{Cell, Phase, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::contest::{Contest, Topic, count_caveats};
use super::context::{Context, Ranking};
use super::sentence::{Wording, first_fitting, list, percent, with_list};
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

/// Adds those caveats that are not known yet.
fn add_caveats(known: &mut Vec<AnswerCaveat>, caveats: impl IntoIterator<Item = AnswerCaveat>) {
    for caveat in caveats {
        if !known.contains(&caveat) {
            known.push(caveat);
        }
    }
}

/// Outcome for one or several sizes of documents.
struct SizeOutcome<'c> {
    sizes: Vec<&'c str>,
    outcome: AnswerOutcome,
    caveats: Vec<AnswerCaveat>,
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
        add_caveats(&mut self.caveats, other.caveats);
        if let (AnswerOutcome::Leader { ratio, .. }, AnswerOutcome::Leader { ratio: other_ratio, .. }) =
            (&self.outcome, &other.outcome)
            && other_ratio < ratio
        {
            self.outcome = other.outcome;
        }
    }
}

/// Who leads in which operations on documents of one or several sizes.
struct OperationLeaders<'c> {
    sizes: Vec<&'c str>,
    /// Configurations with the operations in which each leads, the one with the most first.
    leaders: Vec<(usize, Vec<AnswerSubject>)>,
    /// Operations in which no difference is shown.
    undecided: Vec<AnswerSubject>,
    caveats: Vec<AnswerCaveat>,
}

impl OperationLeaders<'_> {
    fn total(&self) -> usize {
        self.leaders.iter().map(|(_, operations)| operations.len()).sum::<usize>() + self.undecided.len()
    }

    /// Largest number of operations in which one of them leads.
    fn most(&self) -> usize {
        self.leaders.iter().map(|(_, operations)| operations.len()).max().unwrap_or_default()
    }

    fn is_same(&self, other: &Self) -> bool {
        self.leaders == other.leaders && self.undecided == other.undecided
    }

    /// Words behind the conditions. Operations are named or counted, those in which nobody leads apart.
    fn words(&self, context: &Context<'_>, [names_led, names_undecided]: [bool; 2]) -> String {
        let total = self.total();
        let names = |operations: &[AnswerSubject]| {
            let names: Vec<String> = operations.iter().map(|one| one.title().to_lowercase()).collect();
            list(&names, names.len())
        };
        let mut parts = Vec::new();
        for (member, operations) in &self.leaders {
            let count = operations.len();
            let share = match parts.is_empty() {
                true => format!("fastest in {count} of {total} operations"),
                false if count == self.most() => "in as many".to_owned(),
                false => format!("in {count}"),
            };
            let name = context.name(*member);
            parts.push(match names_led {
                true => format!("{name} {share} ({})", names(operations)),
                false => format!("{name} {share}"),
            });
        }
        if !self.undecided.is_empty() {
            let operations = match names_undecided {
                true => names(&self.undecided),
                false => self.undecided.len().to_string(),
            };
            parts.push(format!("no difference shown in {operations}"));
        }
        parts.join(", ")
    }
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
                Some(known) => {
                    known.sizes.push(size);
                    add_caveats(&mut known.caveats, leaders.caveats);
                }
                None => merged.push(leaders),
            }
        }
        let answer = |leaders: OperationLeaders<'_>| {
            let conditions = self.conditions(&leaders.sizes);
            let sentence = |named| format!("{conditions}: {}", leaders.words(self.context, named));
            let count = leaders.most();
            let is_first =
                |(member, operations): &(usize, Vec<_>)| (operations.len() == count).then_some(*member);
            let first: Vec<usize> = leaders.leaders.iter().filter_map(is_first).collect();
            Answer {
                workload: WorkloadKind::Documents.into(),
                ranking: self.ranking.name.clone(),
                subject: AnswerSubject::Operations,
                sentence: first_fitting([[true, true], [true, false], [false, false]].map(sentence)),
                conditions: conditions.clone(),
                outcome: AnswerOutcome::Counted {
                    first,
                    value: format!("{count} of {} operations", leaders.total()),
                },
                caveats: leaders.caveats.clone(),
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
            caveats: Vec::new(),
        };
        for (subject, tests, _) in TIMED {
            let Some((outcome, caveats)) = self.outcome(tests, size) else { continue };
            match outcome {
                AnswerOutcome::Leader { first, .. } => {
                    match found.leaders.iter_mut().find(|(member, _)| *member == first) {
                        Some((_, operations)) => operations.push(subject),
                        None => found.leaders.push((first, vec![subject])),
                    }
                }
                AnswerOutcome::NoDifferenceShown { .. } => found.undecided.push(subject),
                // Nobody, or one alone, could be compared in this operation.
                _ => {
                    add_caveats(&mut found.caveats, [AnswerCaveat::Partial]);
                    continue;
                }
            }
            add_caveats(&mut found.caveats, caveats);
        }
        found.leaders.sort_by_key(|(_, operations)| std::cmp::Reverse(operations.len()));
        found
    }

    /// Outcome of these tests for one size, with its caveats. `None` if nobody has results.
    fn outcome(&self, tests: &[&str], size: &str) -> Option<(AnswerOutcome, Vec<AnswerCaveat>)> {
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
        Answer {
            workload: WorkloadKind::Documents.into(),
            ranking: self.ranking.name.clone(),
            subject: AnswerSubject::StoredSize,
            conditions,
            caveats: count_caveats(self.context, &outcome),
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
