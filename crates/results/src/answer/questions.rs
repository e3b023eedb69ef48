//! Answers about questions, for analytics and for the user's own: hot and cold times, load, size.

use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::metric::{
    BACKGROUND_WORK_LEFT, FILES_BYTES, LEAST_TOTAL_BYTES, MOST_TOTAL_BYTES, TOTAL_BYTES,
};
use jsonathlon_schema::record::{Phase, Verdict};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::caveats::count_caveats;
use super::contest::{Contest, Topic};
use super::context::{Context, Ranking};
use super::draft::AnswerDraft;
use super::sentence::{Wording, factor, first_fitting, largest_factor, list, percent, with_list};
use super::step_names::ranges;
use super::{Answer, AnswerOutcome, AnswerSubject, correctness};
use crate::cell_summary::CellSummary;
use crate::challenge::score::{QUESTIONS, step_word};
use crate::number_format::bytes;
use crate::ratio_to_best::RankedCell;

/// Number of characters of a question's title that a sentence repeats.
const TITLE_LENGTH: usize = 30;

pub(super) fn answers(context: &Context<'_>, workload: WorkloadKind) -> Vec<Answer> {
    let mut answers = Vec::new();
    for ranking in &context.rankings {
        let questions = Questions { context, workload, ranking };
        for state in DataState::ALL {
            answers.extend(questions.fastest(AnswerSubject::Hot, state));
            answers.extend(questions.fastest(AnswerSubject::Cold, state));
        }
        answers.extend(questions.load());
        answers.extend(questions.smallest());
    }
    answers.extend(correctness::answers(context, workload));
    answers
}

/// Results of the members of one ranking in a workload that asks questions.
struct Questions<'c, 'a> {
    context: &'c Context<'a>,
    workload: WorkloadKind,
    ranking: &'c Ranking,
}

/// Question in which one of two configurations is faster.
struct PartialResult {
    question: String,
    /// How many times as fast one of them is as the other one.
    ratio: f64,
}

/// Result of one configuration for one question.
enum Standing<'c, 'a> {
    Verified(&'c RankedCell<'a>),
    /// The question was not asked, or the system does not have the tested feature.
    Missing,
    /// The answer is wrong, late, unverified or partial, or its time must not be ranked.
    Excluded,
}

impl<'c, 'a> Questions<'c, 'a> {
    /// Entries of a member in a data state that were planned for a phase.
    fn entries(&self, member: usize, phase: Phase, state: DataState) -> Vec<&'a CellSummary> {
        let mut entries = self.context.entries_of(member, self.workload);
        entries.retain(|entry| {
            let cell = &entry.cell;
            cell.step.is_workload_step() && cell.phase.planned() == phase && cell.state == Some(state)
        });
        entries
    }

    /// Names of all questions that were asked, in the order of the plan.
    fn asked(&self, phase: Phase, state: DataState) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for member in &self.ranking.members {
            for entry in self.entries(*member, phase, state) {
                let name = entry.cell.step.word();
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        let planned = self.context.run.manifest.user_questions();
        let place = |name: &String| planned.iter().position(|question| question.name == *name);
        names.sort_by_key(|name| (place(name), name.len(), name.clone()));
        names
    }

    fn standing(&self, entries: &[&'a CellSummary], question: &str) -> Standing<'c, 'a> {
        let mut own = entries.iter().filter(|entry| entry.cell.step.word() == question).peekable();
        if own.peek().is_none() {
            return Standing::Missing;
        }
        let mut standing = Standing::Missing;
        for entry in own {
            let is_entry = |cell: &&RankedCell<'a>| std::ptr::eq(cell.entry, *entry);
            let ranked =
                self.context.cells.iter().find(is_entry).filter(|cell| cell.entry.median_s.is_some());
            match (ranked, entry.verdict) {
                (Some(cell), _) => standing = Standing::Verified(cell),
                (None, Verdict::NotApplicable) => {}
                (None, _) => return Standing::Excluded,
            }
        }
        standing
    }

    /// Who answers the questions fastest, hot or cold. `None` if none was asked.
    fn fastest(&self, subject: AnswerSubject, state: DataState) -> Option<Answer> {
        let phase = if subject == AnswerSubject::Cold { Phase::Cold } else { Phase::Hot };
        let asked = self.asked(phase, state);
        if asked.is_empty() {
            return None;
        }
        let compared = self.compared_together(&asked);
        let (questions, members) = self.comparable(&compared, phase, state);
        let is_part = questions.len() < compared.len();
        let topic = |questions: &[String]| {
            self.topic(subject, state, &self.describe(questions, compared.len()), String::new())
        };
        let contest = Contest::over_several(self.context, &members);
        let Some((contest, outcome)) =
            contest.and_then(|contest| contest.outcome(self.context).map(|outcome| (contest, outcome)))
        else {
            let phase = phase_suffix(subject);
            let described = self.describe(&compared, compared.len());
            let reason = format!("no system has verified answers to {described}{phase}");
            let outcome = AnswerOutcome::Nobody { reason };
            let caveats = count_caveats(self.context, &outcome);
            return Some(topic(&compared).answer(self.context, outcome, caveats));
        };
        let caveats = contest.caveats(self.context, &outcome, is_part);
        let exceptions = self.exceptions(&outcome, &asked, phase, state);
        let described = self.describe(&questions, compared.len());
        let topic = self.topic(subject, state, &described, exceptions);
        Some(topic.answer(self.context, outcome, caveats))
    }

    /// Questions over which systems are compared: all that were asked, in analytics those of the challenge. Q6
    /// was added by this program: it asks for a path that no prepared system has prepared, and stands beside them.
    fn compared_together(&self, asked: &[String]) -> Vec<String> {
        let published: Vec<String> = match self.workload {
            WorkloadKind::Analytics => {
                (0..QUESTIONS).map(step_word).filter(|name| asked.contains(name)).collect()
            }
            _ => Vec::new(),
        };
        if published.is_empty() { asked.to_vec() } else { published }
    }

    /// Words for the questions in which the outcome does not hold, each with its factor. A mean over questions would
    /// hide them. Of a leader, these are all questions in which it is shown to be slower than the best of its ranking,
    /// whichever that is. Of two without a difference, they are those in which one of the two is faster. Empty if there
    /// are none.
    fn exceptions(
        &self,
        outcome: &AnswerOutcome,
        questions: &[String],
        phase: Phase,
        state: DataState,
    ) -> String {
        let describe = |some: &[PartialResult]| self.describe_with_factors(some, questions.len());
        match outcome {
            AnswerOutcome::Leader { first, .. } => {
                let slower = self.slower_than_best(*first, questions, phase, state);
                if slower.is_empty() { String::new() } else { format!("but loses {}", describe(&slower)) }
            }
            AnswerOutcome::NoDifferenceShown { tied, .. } => {
                let [first, second] = tied[..] else { return String::new() };
                let [of_first, of_second] = self.faster_in([first, second], questions, phase, state);
                let [first, second] = [first, second].map(|index| self.context.name(index));
                match (of_first.as_slice(), of_second.as_slice()) {
                    ([], []) => String::new(),
                    (some, []) => format!("{first} faster than {second} in {}", describe(some)),
                    ([], some) => format!("{second} faster than {first} in {}", describe(some)),
                    (some, others) => {
                        let (some, others) = (describe(some), describe(others));
                        format!("{first} faster than {second} in {some}, {second} faster in {others}")
                    }
                }
            }
            _ => String::new(),
        }
    }

    /// Questions with their factors: `Q2 (1.4 ×) and Q6 (31 ×)`. Several questions of the user are counted, with the
    /// largest of their factors, because their titles would be long.
    fn describe_with_factors(&self, some: &[PartialResult], total: usize) -> String {
        if self.workload == WorkloadKind::Analytics {
            let one = |result: &PartialResult| {
                format!("{} ({})", ranges(std::slice::from_ref(&result.question)), factor(result.ratio))
            };
            let each: Vec<String> = some.iter().map(one).collect();
            return list(&each, each.len());
        }
        let names: Vec<String> = some.iter().map(|result| result.question.clone()).collect();
        let ratios: Vec<f64> = some.iter().map(|result| result.ratio).collect();
        format!("{} ({})", self.describe(&names, total), largest_factor(&ratios))
    }

    /// Questions in which a configuration is shown to be slower than the best of its ranking.
    fn slower_than_best(
        &self,
        configuration: usize,
        questions: &[String],
        phase: Phase,
        state: DataState,
    ) -> Vec<PartialResult> {
        let entries: Vec<Vec<&CellSummary>> =
            self.ranking.members.iter().map(|member| self.entries(*member, phase, state)).collect();
        let slower = |question: &String| {
            let cell = |entries: &Vec<&'a CellSummary>| match self.standing(entries, question) {
                Standing::Verified(cell) => Some(cell),
                Standing::Missing | Standing::Excluded => None,
            };
            let cells: Vec<&RankedCell<'_>> = entries.iter().filter_map(cell).collect();
            let contest = Contest::of_cells(self.context, &cells)?;
            let ratio = contest.deficit(self.context, configuration)?;
            Some(PartialResult { question: question.clone(), ratio })
        };
        questions.iter().filter_map(slower).collect()
    }

    /// Questions in which the first, and in which the second of two is shown to be faster than the other one.
    fn faster_in(
        &self,
        [first, second]: [usize; 2],
        questions: &[String],
        phase: Phase,
        state: DataState,
    ) -> [Vec<PartialResult>; 2] {
        let entries = [first, second].map(|member| self.entries(member, phase, state));
        let [mut of_first, mut of_second] = [Vec::new(), Vec::new()];
        for question in questions {
            let [a, b] = [&entries[0], &entries[1]].map(|entries| self.standing(entries, question));
            let (Standing::Verified(a), Standing::Verified(b)) = (a, b) else { continue };
            let contest = Contest::of_cells(self.context, &[a, b]);
            let outcome = contest.and_then(|contest| contest.outcome(self.context));
            let Some(AnswerOutcome::Leader { first: leader, ratio, .. }) = outcome else { continue };
            let found = PartialResult { question: question.clone(), ratio };
            if leader == first { of_first.push(found) } else { of_second.push(found) }
        }
        [of_first, of_second]
    }

    /// Questions that all compared configurations answered and that were verified, and the cells of each
    /// configuration in their order.
    ///
    /// A configuration is compared if none of its answers is excluded, and if it answered at least half of
    /// the questions.
    fn comparable(
        &self,
        asked: &[String],
        phase: Phase,
        state: DataState,
    ) -> (Vec<String>, Vec<Vec<&'c RankedCell<'a>>>) {
        let standings = |member: &usize| {
            let entries = self.entries(*member, phase, state);
            asked.iter().map(|question| self.standing(&entries, question)).collect::<Vec<Standing<'_, '_>>>()
        };
        let is_compared = |standings: &Vec<Standing<'_, '_>>| {
            let is_excluded = standings.iter().any(|standing| matches!(standing, Standing::Excluded));
            let answered = standings.iter().filter(|standing| matches!(standing, Standing::Verified(_)));
            !is_excluded && 2 * answered.count() >= asked.len()
        };
        let compared: Vec<Vec<Standing<'_, '_>>> =
            self.ranking.members.iter().map(standings).filter(is_compared).collect();
        let is_answered_by_all = |question: &usize| {
            compared.iter().all(|standings| matches!(standings.get(*question), Some(Standing::Verified(_))))
        };
        let common: Vec<usize> = (0..asked.len()).filter(is_answered_by_all).collect();
        let cells = |standings: &Vec<Standing<'c, 'a>>| {
            let cell = |question: &usize| match standings.get(*question) {
                Some(Standing::Verified(cell)) => Some(*cell),
                _ => None,
            };
            common.iter().filter_map(cell).collect::<Vec<_>>()
        };
        let members = if common.is_empty() { Vec::new() } else { compared.iter().map(cells).collect() };
        (common.iter().filter_map(|question| asked.get(*question).cloned()).collect(), members)
    }

    fn topic(
        &self,
        subject: AnswerSubject,
        state: DataState,
        questions: &str,
        exceptions: String,
    ) -> Topic<'c> {
        let phase = phase_suffix(subject);
        let conditions = if state == DataState::Drained { "" } else { state.word() };
        Topic {
            workload: self.workload,
            ranking: &self.ranking.name,
            subject,
            conditions: conditions.to_owned(),
            wording: Wording {
                conditions: conditions.to_owned(),
                deed: format!("ran {questions}{phase}"),
                relation: "faster than",
                scope: format!("over {questions}{phase}"),
                exceptions,
                ..Wording::default()
            },
        }
    }

    /// Some of `total` questions in a few words: `Q1–Q5`, `“Top users”`, `3 of 8 questions`.
    fn describe(&self, questions: &[String], total: usize) -> String {
        if self.workload == WorkloadKind::Analytics {
            return ranges(questions);
        }
        match questions {
            [only] => {
                let mut planned = self.context.run.manifest.user_questions().iter();
                let title = planned.find(|question| question.name == *only);
                let title = title.map_or(only.as_str(), |question| question.title.as_str());
                match title.chars().count() > TITLE_LENGTH {
                    true => format!("“{}…”", title.chars().take(TITLE_LENGTH).collect::<String>()),
                    false => format!("“{title}”"),
                }
            }
            several if several.len() == total => format!("all {total} questions"),
            several => format!("{} of {total} questions", several.len()),
        }
    }

    /// Who loads the documents fastest. `None` if there is no load.
    fn load(&self) -> Option<Answer> {
        let is_load = |entry: &&CellSummary| entry.cell.step == Step::Load;
        let mut entries =
            self.ranking.members.iter().flat_map(|member| self.context.entries_of(*member, self.workload));
        entries.find(is_load)?;
        let mut cells = self.context.cells_of(self.ranking, self.workload);
        cells.retain(|cell| cell.entry.cell.phase == Phase::Load);
        let topic = Topic {
            workload: self.workload,
            ranking: &self.ranking.name,
            subject: AnswerSubject::Load,
            conditions: String::new(),
            wording: Wording {
                deed: "loaded".to_owned(),
                relation: "faster than",
                scope: "in loading".to_owned(),
                ..Wording::default()
            },
        };
        let contest = Contest::of_cells(self.context, &cells);
        let (outcome, caveats) = match &contest {
            Some(contest) => {
                let outcome = contest.outcome(self.context)?;
                let caveats = contest.caveats(self.context, &outcome, false);
                (outcome, caveats)
            }
            None => {
                let reason = "no load is complete and verified".to_owned();
                let outcome = AnswerOutcome::Nobody { reason };
                let caveats = count_caveats(self.context, &outcome);
                (outcome, caveats)
            }
        };
        Some(topic.answer(self.context, outcome, caveats))
    }

    /// Who stores the documents in the fewest bytes: compacted if that was measured, otherwise drained.
    /// `None` if no size was measured.
    fn smallest(&self) -> Option<Answer> {
        let by_state =
            |state: DataState| Some((state, self.sizes(state))).filter(|(_, sizes)| !sizes.is_empty());
        let (state, sizes) = DataState::ALL.into_iter().rev().find_map(by_state)?;
        let smallest = sizes.first()?;
        let share = smallest.total / self.context.run.manifest.data.bytes as f64;
        let of_text =
            if share.is_finite() { format!(", {} of the text", percent(share)) } else { String::new() };
        let value = format!("{}{of_text}", bytes(smallest.total));
        let is_tied = |size: &&Size| size.least <= smallest.most;
        let first: Vec<usize> = sizes.iter().filter(is_tied).map(|size| size.member).collect();
        let names = self.context.names(&first);
        let (outcome, sentence) = match sizes.as_slice() {
            [only] => {
                let sentence = format!("Only {} has a comparable size: {value}", list(&names, 1));
                (AnswerOutcome::OnlyOne { only: only.member }, first_fitting([sentence]))
            }
            _ => {
                let sentence = with_list(&names, |names| format!("Smallest: {names}, {value}"));
                (AnswerOutcome::Counted { first, value }, sentence)
            }
        };
        Some(
            AnswerDraft {
                workload: self.workload.into(),
                ranking: self.ranking.name.clone(),
                subject: AnswerSubject::Size,
                conditions: state.word().to_owned(),
                outcome,
                sentence,
                severity: Severity::Good,
            }
            .counted(self.context),
        )
    }

    /// Sizes of the members in a data state, the smallest first.
    fn sizes(&self, state: DataState) -> Vec<Size> {
        let size = |member: &usize| {
            let entries = self.context.entries_of(*member, self.workload);
            let entry = entries.into_iter().find(|entry| {
                entry.cell.step == Step::Size
                    && entry.cell.state == Some(state)
                    && entry.verdict == Verdict::Exact
                    && entry.metric(&BACKGROUND_WORK_LEFT).unwrap_or_default() <= 0.0
            })?;
            let total = entry.metric(&TOTAL_BYTES).or_else(|| entry.metric(&FILES_BYTES))?;
            let [least, most] =
                [LEAST_TOTAL_BYTES, MOST_TOTAL_BYTES].map(|metric| entry.metric(&metric).unwrap_or(total));
            Some(Size { member: *member, total, least, most }).filter(|size| size.total > 0.0)
        };
        let mut sizes: Vec<Size> = self.ranking.members.iter().filter_map(size).collect();
        sizes.sort_by(|a, b| a.total.total_cmp(&b.total));
        sizes
    }
}

/// Size of one configuration in bytes, with its range over loads.
struct Size {
    member: usize,
    total: f64,
    least: f64,
    most: f64,
}

/// Ending of a sentence that tells questions asked cold from those asked hot.
fn phase_suffix(subject: AnswerSubject) -> &'static str {
    if subject == AnswerSubject::Cold { " cold" } else { " hot" }
}
