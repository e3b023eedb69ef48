//! Answers about large documents: one for each operation and stored size, each with the sizes of documents for which it
//! holds, and how many operations each system leads in.

use std::collections::BTreeMap;

use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{FILES_BYTES, SOURCE_BYTES};
use jsonathlon_schema::record::{Cell, Phase, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::caveats::Caveats;
use super::contest::{Contest, Topic};
use super::context::{Context, Ranking};
use super::draft::AnswerDraft;
use super::sentence::{MAX_LENGTH, Wording, list, percent, with_list};
use super::{Answer, AnswerOutcome, AnswerSubject, correctness};
use crate::cell_summary::CellSummary;
use crate::document_size::{bytes_of, is_smaller, word};
use crate::number_format::bytes;
use crate::ratio_to_best::RankedCell;

/// Operation on documents that is timed.
struct Operation {
    subject: AnswerSubject,
    /// Step of its cells.
    test: &'static str,
    /// What is done, in words.
    title: &'static str,
    /// The title in as few words as tell it from other operations.
    short_title: &'static str,
}

/// Timed operations, in the order in which they are shown.
const OPERATIONS: [Operation; 9] = [
    Operation { subject: AnswerSubject::Import, test: "import", title: "Import", short_title: "Import" },
    Operation {
        subject: AnswerSubject::Export,
        test: "export",
        title: "Export as JSON text",
        short_title: "Export",
    },
    Operation {
        subject: AnswerSubject::Copy,
        test: "copy",
        title: "Copy with a change",
        short_title: "Copy",
    },
    Operation {
        subject: AnswerSubject::Extract,
        test: "extract",
        title: "Extract a number, no index",
        short_title: "Extract",
    },
    Operation {
        subject: AnswerSubject::Filter,
        test: "filter",
        title: "Filter by a number, no index",
        short_title: "Filter",
    },
    Operation {
        subject: AnswerSubject::Order,
        test: "order",
        title: "Order by a number, no index",
        short_title: "Order",
    },
    Operation {
        subject: AnswerSubject::IndexBuild,
        test: "index",
        title: "Index build",
        short_title: "Index",
    },
    Operation {
        subject: AnswerSubject::Update,
        test: "update_path",
        title: "Update of one number",
        short_title: "Update",
    },
    Operation {
        subject: AnswerSubject::Version,
        test: "version",
        title: "Next version of a document",
        short_title: "Version",
    },
];

pub(super) fn answers(context: &Context<'_>) -> Vec<Answer> {
    let tables = tables(context.parts.entries);
    let mut answers = Vec::new();
    for ranking in &context.rankings {
        for (data, sizes) in &tables {
            let tables =
                DocumentTables { context, ranking, data, sizes, is_only_data_set: tables.len() == 1 };
            let results: Vec<(&Operation, Vec<SizeOutcome<'_>>)> =
                OPERATIONS.iter().map(|operation| (operation, tables.outcomes(operation))).collect();
            if let Some(alone) = tables.alone(&results) {
                answers.push(alone);
                continue;
            }
            answers.extend(tables.operations(&results));
            answers.extend(tables.smallest());
            for (operation, outcomes) in results {
                answers.extend(tables.fastest(operation, outcomes));
            }
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

    /// Adds another size with the same outcome. Of two ratios, the smaller one is kept; of two intervals without a
    /// leader, the lowest and the highest limit.
    fn add(&mut self, other: Self) {
        self.sizes.extend(other.sizes);
        self.caveats.merge(other.caveats);
        match (&mut self.outcome, other.outcome) {
            (AnswerOutcome::Leader { ratio, .. }, new @ AnswerOutcome::Leader { ratio: new_ratio, .. })
                if new_ratio < *ratio =>
            {
                self.outcome = new;
            }
            (
                AnswerOutcome::NoDifferenceShown { interval: Some([low, high]), .. },
                AnswerOutcome::NoDifferenceShown { interval: Some([new_low, new_high]), .. },
            ) => (*low, *high) = (low.min(new_low), high.max(new_high)),
            (AnswerOutcome::NoDifferenceShown { interval, .. }, AnswerOutcome::NoDifferenceShown { .. }) => {
                *interval = None;
            }
            _ => {}
        }
    }
}

/// Number of comparisons in which each configuration leads, and in which none does.
#[derive(Default)]
struct LeadCounts {
    /// Configurations with their numbers, the largest one first.
    leaders: Vec<(usize, usize)>,
    undecided: usize,
}

impl LeadCounts {
    fn new<'o>(outcomes: impl Iterator<Item = &'o SizeOutcome<'o>>) -> Self {
        let mut counts = Self::default();
        for SizeOutcome { sizes, outcome, .. } in outcomes {
            match outcome {
                AnswerOutcome::Leader { first, .. } => {
                    match counts.leaders.iter_mut().find(|(member, _)| member == first) {
                        Some((_, count)) => *count += sizes.len(),
                        None => counts.leaders.push((*first, sizes.len())),
                    }
                }
                AnswerOutcome::NoDifferenceShown { .. } => counts.undecided += sizes.len(),
                // Nobody, or one alone, could be compared.
                _ => {}
            }
        }
        counts.leaders.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    fn total(&self) -> usize {
        self.leaders.iter().map(|(_, count)| count).sum::<usize>() + self.undecided
    }

    /// Largest number of comparisons in which one of them leads.
    fn most(&self) -> usize {
        self.leaders.first().map_or(0, |(_, count)| *count)
    }

    /// Who is fastest in how many comparisons: `Fastest: A in 5 of 8 operations, B in 2, no difference shown in 1`.
    /// `unit` is what is counted.
    fn sentence(&self, unit: &str, name: impl Fn(usize) -> String) -> String {
        let (total, undecided) = (self.total(), self.undecided);
        let describe = |(place, (member, count)): (usize, &(usize, usize))| match place {
            0 => format!("{} in {count} of {total} {unit}", name(*member)),
            _ => format!("{} in {count}", name(*member)),
        };
        let parts: Vec<String> = self.leaders.iter().enumerate().map(describe).collect();
        if parts.is_empty() {
            return format!("No difference shown in any of {total} {unit}");
        }
        let ending =
            if undecided > 0 { format!(", no difference shown in {undecided}") } else { String::new() };
        let shown = |limit: usize| {
            let others = parts.len() - limit;
            let more = match others {
                0 => String::new(),
                1 => ", 1 more system in others".to_owned(),
                _ => format!(", {others} more systems in others"),
            };
            let parts: Vec<&str> = parts.iter().take(limit).map(String::as_str).collect();
            format!("Fastest: {}{more}{ending}", parts.join(", "))
        };
        let fits = |text: &String| text.chars().count() <= MAX_LENGTH;
        (1..=parts.len()).rev().map(shown).find(fits).unwrap_or_else(|| shown(1))
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
    /// The answer of a ranking with a single member, which is the same for all operations. `None` if there are several
    /// members, or if there are no results.
    fn alone(&self, results: &[(&Operation, Vec<SizeOutcome<'_>>)]) -> Option<Answer> {
        let has_others = self.ranking.members.len() > 1;
        let result = results.iter().flat_map(|(_, outcomes)| outcomes).find(|_| !has_others)?;
        let conditions = self.conditions(&self.sizes.iter().map(String::as_str).collect::<Vec<_>>());
        let wording = Wording {
            conditions: format!("Operations, {conditions}"),
            relation: "faster than",
            ..Wording::default()
        };
        let (workload, ranking) = (WorkloadKind::Documents, self.ranking.name.as_str());
        let topic = Topic { workload, ranking, subject: AnswerSubject::Operations, conditions, wording };
        Some(topic.answer(self.context, result.outcome.clone(), result.caveats.clone()))
    }

    /// Who leads in how many comparisons of an operation over one size. `None` if there are fewer than two.
    fn operations(&self, results: &[(&Operation, Vec<SizeOutcome<'_>>)]) -> Option<Answer> {
        let counts = LeadCounts::new(results.iter().flat_map(|(_, outcomes)| outcomes));
        if counts.total() < 2 {
            return None;
        }
        let conditions = if self.is_only_data_set { String::new() } else { format!("{} data", self.data) };
        let unit = match self.sizes.len() {
            1 => "operations".to_owned(),
            sizes => format!("comparisons (operations × {sizes} sizes)"),
        };
        let sentence = counts.sentence(&unit, |member| self.context.name(member));
        let sentence = match conditions.is_empty() {
            true => sentence,
            false => format!("{sentence} ({conditions})"),
        };
        let most = counts.most();
        let is_first = |(member, count): &(usize, usize)| (*count == most).then_some(*member);
        let first: Vec<usize> = counts.leaders.iter().filter_map(is_first).collect();
        let value = format!("{most} of {} {unit}", counts.total());
        let outcome = AnswerOutcome::Counted { first, value };
        Some(
            AnswerDraft {
                workload: WorkloadKind::Documents.into(),
                ranking: self.ranking.name.clone(),
                subject: AnswerSubject::Operations,
                conditions,
                outcome,
                sentence,
                severity: Severity::Good,
            }
            .counted(self.context),
        )
    }

    /// Outcomes of an operation, one for all sizes with the same one.
    fn outcomes(&self, operation: &Operation) -> Vec<SizeOutcome<'c>> {
        let mut merged: Vec<SizeOutcome<'c>> = Vec::new();
        for size in self.sizes {
            let Some((outcome, caveats)) = self.outcome(operation.test, size) else { continue };
            let new = SizeOutcome { sizes: vec![size.as_str()], outcome, caveats };
            match merged.iter_mut().find(|known| known.is_same(&new.outcome)) {
                Some(known) => known.add(new),
                None => merged.push(new),
            }
        }
        merged
    }

    /// Outcome of a test for one size, with its caveats. `None` if nobody has results.
    fn outcome(&self, test: &str, size: &str) -> Option<(AnswerOutcome, Caveats)> {
        let members = self.members(test, size);
        let members: Vec<Vec<&RankedCell<'a>>> = members.iter().map(|cells| cells.iter().collect()).collect();
        let contest = Contest::over_several(self.context, &members)?;
        let outcome = contest.outcome(self.context)?;
        let caveats = contest.caveats(self.context, &outcome, false);
        Some((outcome, caveats))
    }

    /// Who is fastest in an operation, one answer for each of its outcomes.
    fn fastest(&self, operation: &Operation, outcomes: Vec<SizeOutcome<'_>>) -> Vec<Answer> {
        let answer = |result: SizeOutcome<'_>| {
            let conditions = self.conditions(&result.sizes);
            let wording = Wording {
                conditions: format!("{}, {conditions}", operation.title),
                short_conditions: format!("{}, {conditions}", operation.short_title),
                relation: "faster than",
                is_minimum: result.sizes.len() > 1,
                ..Wording::default()
            };
            let (workload, ranking) = (WorkloadKind::Documents, self.ranking.name.as_str());
            let topic = Topic { workload, ranking, subject: operation.subject, conditions, wording };
            topic.answer(self.context, result.outcome, result.caveats)
        };
        outcomes.into_iter().map(answer).collect()
    }

    /// Cells of each member that has verified times of a test, over the depths of updates that all of them have.
    fn members(&self, test: &str, size: &str) -> Vec<Vec<RankedCell<'a>>> {
        let cells = |member: &usize| {
            let configuration = self.context.configuration(*member)?;
            let entries = self.entries(*member, size);
            let is_imported =
                |entry: &&CellSummary| entry.cell.step.word() == "import" && entry.verdict == Verdict::Exact;
            entries.iter().copied().find(is_imported)?;
            let cells = cells_of(&entries, test);
            (!cells.is_empty()).then_some((configuration, cells))
        };
        let members: Vec<(&'a Configuration, BTreeMap<String, &'a CellSummary>)> =
            self.ranking.members.iter().filter_map(cells).collect();
        let common = |(configuration, cells): &(&'a Configuration, BTreeMap<String, &'a CellSummary>)| {
            let is_common = |depth: &String| members.iter().all(|(_, cells)| cells.contains_key(depth));
            let cells = cells.iter().filter(|(depth, _)| is_common(depth));
            let cell = |(_, entry): (&String, &&'a CellSummary)| RankedCell {
                configuration,
                entry,
                comparable: true,
                can_be_best: true,
            };
            cells.map(cell).collect::<Vec<RankedCell<'a>>>()
        };
        members.iter().map(common).filter(|cells| !cells.is_empty()).collect()
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

    /// Conditions of a comparison for readers: `64 KiB and 1 MiB`, or `all sizes` if there are several and it holds for
    /// all of them.
    fn conditions(&self, sizes: &[&str]) -> String {
        let is_unit = |letter: char| letter.is_ascii_alphabetic();
        let spaced = |size: &&str| {
            let (number, unit) = size.split_at(size.find(is_unit).unwrap_or(size.len()));
            format!("{number} {unit}")
        };
        let shown: Vec<String> = sizes.iter().map(spaced).collect();
        let shown = match sizes.len() > 1 && sizes.len() == self.sizes.len() {
            true => "all sizes".to_owned(),
            false => list(&shown, shown.len()),
        };
        if self.is_only_data_set { shown } else { format!("{shown}, {}", self.data) }
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
        let sentence =
            with_list(&names, |names| format!("Stored size, {conditions}: smallest {names}, {value}"));
        let outcome = AnswerOutcome::Counted { first, value };
        AnswerDraft {
            workload: WorkloadKind::Documents.into(),
            ranking: self.ranking.name.clone(),
            subject: AnswerSubject::StoredSize,
            conditions,
            outcome,
            sentence,
            severity: Severity::Good,
        }
        .counted(self.context)
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

/// Verified and timed entries of a test by depth of the update, which only updates have. Of several indexes, the one
/// with the most trials, then the fastest.
fn cells_of<'a>(entries: &[&'a CellSummary], test: &str) -> BTreeMap<String, &'a CellSummary> {
    let is_plain = |cell: &Cell| match test {
        "index" => !matches!(word(cell, "index"), "" | "none"),
        _ => word(cell, "index").is_empty(),
    };
    let is_of_test = |entry: &&&CellSummary| {
        let cell = &entry.cell;
        cell.step.word() == test
            && is_plain(cell)
            && word(cell, "form").is_empty()
            // With a commit after each version, more is done.
            && word(cell, "history") != "commit"
            && matches!(cell.phase, Phase::Load | Phase::Hot)
            && entry.verdict == Verdict::Exact
            && entry.median_s.is_some()
    };
    let slowness = |entry: &CellSummary| entry.median_s.unwrap_or(f64::INFINITY);
    let is_better = |new: &CellSummary, known: &CellSummary| {
        new.trials.cmp(&known.trials).then_with(|| slowness(known).total_cmp(&slowness(new))).is_gt()
    };
    let mut cells: BTreeMap<String, &CellSummary> = BTreeMap::new();
    for entry in entries.iter().filter(is_of_test).copied() {
        let depth = entry.cell.parameters.get("depth").map(ToString::to_string).unwrap_or_default();
        if cells.get(&depth).is_none_or(|known| is_better(entry, known)) {
            cells.insert(depth, entry);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_are_counted_and_what_shows_no_difference_is_not_hidden() {
        let name = |member: usize| ["PostgreSQL", "SQLite", "MongoDB"][member].to_owned();
        let counts = LeadCounts { leaders: vec![(0, 5), (1, 2)], undecided: 1 };
        assert_eq!(
            counts.sentence("operations", name),
            "Fastest: PostgreSQL in 5 of 8 operations, SQLite in 2, no difference shown in 1"
        );
        let none = LeadCounts { leaders: Vec::new(), undecided: 3 };
        assert_eq!(none.sentence("operations", name), "No difference shown in any of 3 operations");
        let many = LeadCounts { leaders: vec![(0, 3), (1, 2), (2, 1)], undecided: 2 };
        let long = |member: usize| format!("{} {}", name(member), "x".repeat(24));
        let sentence = many.sentence("operations", long);
        assert!(sentence.ends_with(", 2 more systems in others, no difference shown in 2"), "{sentence}");
    }
}
