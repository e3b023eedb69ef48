//! The answer that closes a run or a study on the terminal: a few short lines, what went wrong first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anstyle::Style;
use jsonathlon_results::answer::{Answer, AnswerCaveat, AnswerOutcome, AnswerSubject};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::severity::Severity;

use crate::render::terminal::paint;
use crate::render::{TableStyle, TableWidth, wrap};

/// Maximum number of lines, with the title and the path of the page.
const MAX_LINES: usize = 12;
/// Maximum width of a line. Only the path of the page may be wider, because a broken path cannot be opened.
const MAX_WIDTH: usize = 80;
/// Maximum number of lines of a statement; a longer one is cut.
const MAX_STATEMENT_LINES: usize = 3;
/// Number of measured answers from which on a caveat that they have in common is said once.
const MANY_ANSWERS: usize = 3;
/// What statements are called that have no other name.
pub(crate) const ANSWERS: &str = "answers";

/// The closing answer of a run. `page` is the path of the run's page, which comes last; `None` if there is
/// none.
#[must_use]
pub fn closing_answer(run: &Run, summary: &Summary, page: Option<&Path>, style: TableStyle) -> String {
    let shared = shared_caveats(&summary.answers);
    let closing = ClosingAnswer {
        statements: incomplete(run, summary).into_iter().chain(statements(summary, &shared)).collect(),
        cautions: shared.iter().map(|caveat| shared_text(&summary.answers, *caveat)).collect(),
        page,
        remainder: if page.is_some() { "the page" } else { "--tables full" },
    };
    closing.draw(style)
}

/// All answers of a run, one statement each, with their caveats.
pub(crate) fn all_statements(summary: &Summary) -> Vec<Statement> {
    statements(summary, &BTreeSet::new())
}

/// A statement of a closing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// How strongly the statement is marked.
    pub(crate) severity: Severity,
    /// Plain text without a sign and without a full stop.
    pub(crate) text: String,
    /// What several such statements are called where they are counted, in the plural.
    pub(crate) noun: &'static str,
}

/// What is said at the end of a run or of a study.
#[derive(Debug, Default)]
pub(crate) struct ClosingAnswer<'a> {
    /// Statements, the most important ones first. Failures come before all others.
    pub(crate) statements: Vec<Statement>,
    /// Reasons to be careful with most statements.
    pub(crate) cautions: Vec<String>,
    /// Path of the page, said last; `None` if there is no page.
    pub(crate) page: Option<&'a Path>,
    /// Where statements are found that have no room here.
    pub(crate) remainder: &'static str,
}

impl ClosingAnswer<'_> {
    /// Lines for the terminal: the title, statements as far as there is room for them, cautions, and the page.
    pub(crate) fn draw(&self, style: TableStyle) -> String {
        let width = match style.width {
            TableWidth::Full => MAX_WIDTH,
            TableWidth::Compact(width) => width.min(MAX_WIDTH),
        };
        let bold = if style.colour { Style::new().bold() } else { Style::new() };
        let footer = self.footer(width, style);
        let blocks: Vec<Block> = self.blocks(width);
        let shown = fitting(&blocks, MAX_LINES.saturating_sub(1 + footer.len()));
        let mut lines = vec![format!("{bold}answer{bold:#}")];
        for block in &shown {
            lines.extend(block.lines.iter().map(|line| paint(line, block.severity, style)));
        }
        lines.extend(self.left_out(&blocks, &shown));
        lines.extend(footer);
        lines.join("\n") + "\n"
    }

    /// Line with the number of statements that have no room; `None` if all have.
    fn left_out(&self, blocks: &[Block], shown: &[&Block]) -> Option<String> {
        let hidden: Vec<&Block> =
            blocks.iter().filter(|block| !shown.iter().any(|shown| std::ptr::eq(*shown, *block))).collect();
        if hidden.is_empty() {
            return None;
        }
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for block in &hidden {
            match counts.iter_mut().find(|(nouns, _)| *nouns == block.noun) {
                Some((_, count)) => *count += 1,
                None => counts.push((block.noun, 1)),
            }
        }
        let describe = |(nouns, count): &(&str, usize)| {
            let noun = if *count == 1 { nouns.trim_end_matches('s') } else { nouns };
            format!("{count} more {noun}")
        };
        let counts: Vec<String> = counts.iter().map(describe).collect();
        Some(format!("  … {}: see {}", counts.join(" and "), self.remainder))
    }

    fn blocks(&self, width: usize) -> Vec<Block> {
        let nothing = Statement {
            severity: Severity::Warning,
            text: "nothing could be compared: the tables above say why".to_owned(),
            noun: ANSWERS,
        };
        let mut blocks: Vec<Block> = match self.statements.as_slice() {
            [] => vec![Block::new(&nothing, width)],
            statements => statements.iter().map(|statement| Block::new(statement, width)).collect(),
        };
        blocks.sort_by_key(|block| block.severity != Severity::Failed);
        blocks
    }

    fn footer(&self, width: usize, style: TableStyle) -> Vec<String> {
        let mut lines = Vec::new();
        for caution in &self.cautions {
            let text = format!("careful: {caution}");
            let statement = Statement { severity: Severity::Warning, text, noun: ANSWERS };
            let block = Block::new(&statement, width);
            lines.extend(block.lines.iter().map(|line| paint(line, block.severity, style)));
        }
        let page = self.page.map(|page| wrap::remove_controls(&page.display().to_string()));
        lines.extend(page.map(|page| format!("  page: {page}")));
        lines
    }
}

/// Lines of a statement.
struct Block {
    severity: Severity,
    lines: Vec<String>,
    noun: &'static str,
}

impl Block {
    fn new(statement: &Statement, width: usize) -> Self {
        let Statement { severity, text, noun } = statement;
        let noun = *noun;
        // A sign besides the colour, for those who do not see colours.
        let sign = if *severity == Severity::Failed { "✖ " } else { "  " };
        let width = width.saturating_sub(wrap::width(sign)).max(1);
        let paragraph = wrap::paragraph(&wrap::remove_controls(text), width, 2);
        let mut lines: Vec<String> = paragraph.iter().flat_map(|line| wrap::pieces(line, width)).collect();
        if lines.len() > MAX_STATEMENT_LINES {
            lines.truncate(MAX_STATEMENT_LINES);
            if let Some(last) = lines.last_mut() {
                let start = wrap::pieces(last, width.saturating_sub(2).max(1)).into_iter().next();
                *last = start.unwrap_or_default() + " …";
            }
        }
        let indent = |(index, line): (usize, &String)| {
            if index == 0 { format!("{sign}{line}") } else { format!("  {line}") }
        };
        Self { severity: *severity, lines: lines.iter().enumerate().map(indent).collect(), noun }
    }
}

/// Blocks that fit into `room` lines. If not all do, a line stays free for the number of the others, and
/// failures leave up to half of the lines to what did not fail.
fn fitting(blocks: &[Block], room: usize) -> Vec<&Block> {
    let height = |blocks: &[&Block]| blocks.iter().map(|block| block.lines.len()).sum::<usize>();
    let all: Vec<&Block> = blocks.iter().collect();
    if height(&all) <= room {
        return all;
    }
    let room = room.saturating_sub(1);
    let (failed, others): (Vec<&Block>, Vec<&Block>) =
        all.into_iter().partition(|block| block.severity == Severity::Failed);
    let mut shown = first_fitting(failed, room - height(&others).min(room / 2));
    let room = room - height(&shown);
    shown.extend(first_fitting(others, room));
    shown
}

/// The first blocks that fit into `room` lines together.
fn first_fitting(blocks: Vec<&Block>, mut room: usize) -> Vec<&Block> {
    let fits = |block: &&Block| {
        let rest = room.checked_sub(block.lines.len());
        room = rest.unwrap_or_default();
        rest.is_some()
    };
    blocks.into_iter().take_while(fits).collect()
}

/// Statement that planned trials have not run; `None` if all have.
fn incomplete(run: &Run, summary: &Summary) -> Option<Statement> {
    if summary.complete {
        return None;
    }
    let open = run.open_trials().len();
    let trials =
        if open == 1 { "1 planned trial has".to_owned() } else { format!("{open} planned trials have") };
    let text = format!("INCOMPLETE: {trials} not run");
    Some(Statement { severity: Severity::Failed, text, noun: ANSWERS })
}

/// Answers as statements: the first of each ranking, then the second of each, so that no ranking is left out
/// where there is little room. Operations without a difference come after those with one. Answers about a single
/// configuration come last, because they compare nothing.
fn statements(summary: &Summary, shared: &BTreeSet<AnswerCaveat>) -> Vec<Statement> {
    let rankings: BTreeSet<&str> = summary.answers.iter().map(|answer| answer.ranking.as_str()).collect();
    let is_alone = |answer: &&Answer| matches!(answer.outcome, AnswerOutcome::OnlyOne { .. });
    let (alone, mut compared): (Vec<&Answer>, Vec<&Answer>) = summary.answers.iter().partition(is_alone);
    let has_leader = |answer: &Answer| matches!(answer.outcome, AnswerOutcome::Leader { .. });
    compared.sort_by_key(|answer| is_operation(answer.subject) && !has_leader(answer));
    let answers = in_turns(compared).into_iter().chain(alone);
    let mut statements: Vec<Statement> =
        answers.map(|answer| statement(answer, rankings.len() > 1, shared)).collect();
    let says_failures = statements.iter().any(|statement| statement.severity == Severity::Failed);
    if !summary.failures.is_empty() && !says_failures {
        let text = match summary.failures.len() {
            1 => "1 trial failed: see what went wrong above".to_owned(),
            trials => format!("{trials} trials failed: see what went wrong above"),
        };
        statements.insert(0, Statement { severity: Severity::Failed, text, noun: ANSWERS });
    }
    statements
}

/// Orders answers so that rankings take turns. Answers of one ranking keep their order.
fn in_turns(answers: Vec<&Answer>) -> Vec<&Answer> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut placed: Vec<(usize, &Answer)> = Vec::with_capacity(answers.len());
    for answer in answers {
        let count = counts.entry(answer.ranking.as_str()).or_default();
        placed.push((*count, answer));
        *count += 1;
    }
    placed.sort_by_key(|(turn, _)| *turn);
    placed.into_iter().map(|(_, answer)| answer).collect()
}

/// The sentence of an answer, after its ranking if there are several, and before its caveats.
fn statement(answer: &Answer, has_rankings: bool, shared: &BTreeSet<AnswerCaveat>) -> Statement {
    let sentence = answer.sentence.trim_start_matches(['✖', ' ']);
    let mut text = match has_rankings && !answer.ranking.is_empty() {
        // One colon is enough: conditions at the start of the sentence have their own.
        true if begins_with_conditions(answer, sentence) => {
            let mut letters = sentence.chars();
            let first = letters.next().into_iter().flat_map(char::to_lowercase);
            format!("{}, {}", answer.ranking, first.chain(letters).collect::<String>())
        }
        true => format!("{}: {sentence}", answer.ranking),
        false => sentence.to_owned(),
    };
    let own = answer.caveats.iter().zip(&answer.caveat_labels);
    let labels = own.filter(|(caveat, _)| !shared.contains(caveat)).map(|(_, label)| label.as_str());
    let labels: Vec<&str> = labels.collect();
    add_labels(&mut text, &labels.join(", "));
    let noun = if is_operation(answer.subject) { "operations" } else { ANSWERS };
    Statement { severity: answer.severity, text, noun }
}

/// Adds labels of caveats to a sentence in parentheses, in those of an interval if it ends with one.
fn add_labels(text: &mut String, labels: &str) {
    if labels.is_empty() {
        return;
    }
    let last = text.rsplit_once('(').map(|(_, last)| last);
    if last.is_some_and(|last| last.contains(" … ") && last.ends_with(')')) {
        text.pop();
        text.push_str(&format!("; {labels})"));
    } else {
        text.push_str(&format!(" ({labels})"));
    }
}

/// Whether the words before the first colon are the conditions of the answer, or a part of them.
fn begins_with_conditions(answer: &Answer, sentence: &str) -> bool {
    let head = sentence.split_once(": ").map_or("", |(head, _)| head);
    let conditions = answer.conditions.as_str();
    !conditions.is_empty() && !head.is_empty() && (head.ends_with(conditions) || conditions.starts_with(head))
}

/// Whether an answer is about one of the operations on large documents.
fn is_operation(subject: AnswerSubject) -> bool {
    matches!(
        subject,
        AnswerSubject::Import
            | AnswerSubject::Export
            | AnswerSubject::Copy
            | AnswerSubject::Extract
            | AnswerSubject::Filter
            | AnswerSubject::Order
            | AnswerSubject::IndexBuild
            | AnswerSubject::Update
            | AnswerSubject::Version
    )
}

/// Words of a caveat that many answers have, those that name systems once each.
fn shared_text(answers: &[Answer], caveat: AnswerCaveat) -> String {
    match caveat {
        AnswerCaveat::OneRound => "one round only, repeat with more".to_owned(),
        AnswerCaveat::FewRounds => "few rounds, more of them may show a difference".to_owned(),
        AnswerCaveat::BusyMachine => "busy machine, repeat on a quiet one".to_owned(),
        AnswerCaveat::EndOfLife
        | AnswerCaveat::Embedded
        | AnswerCaveat::Approximate
        | AnswerCaveat::Partial => {
            let all = answers.iter().flat_map(|answer| answer.caveats.iter().zip(&answer.caveat_labels));
            let labels: BTreeSet<&str> =
                all.filter(|(known, _)| **known == caveat).map(|(_, label)| label.as_str()).collect();
            labels.into_iter().collect::<Vec<_>>().join("; ")
        }
    }
}

/// Caveats that are said once for all answers, if many have them: those of all measured answers, those that name what they
/// are about, and too few rounds of all answers without a difference. Counts, such as sizes, are the same in whatever
/// conditions.
fn shared_caveats(answers: &[Answer]) -> BTreeSet<AnswerCaveat> {
    let is_measured = |answer: &&Answer| {
        !matches!(answer.outcome, AnswerOutcome::Counted { .. } | AnswerOutcome::Nobody { .. })
    };
    let measured: Vec<&Answer> = answers.iter().filter(is_measured).collect();
    let is_undecided = |answer: &&&Answer| matches!(answer.outcome, AnswerOutcome::NoDifferenceShown { .. });
    let is_shared = |caveat: &&AnswerCaveat| {
        let has_caveat = |answer: &&Answer| answer.caveats.contains(caveat);
        let is_in_many = measured.iter().filter(|answer| has_caveat(answer)).count() >= MANY_ANSWERS;
        is_in_many
            && match caveat {
                AnswerCaveat::EndOfLife | AnswerCaveat::Embedded | AnswerCaveat::Approximate => true,
                AnswerCaveat::FewRounds => measured.iter().filter(is_undecided).all(has_caveat),
                AnswerCaveat::OneRound | AnswerCaveat::BusyMachine | AnswerCaveat::Partial => {
                    measured.iter().all(has_caveat)
                }
            }
    };
    measured.iter().flat_map(|answer| &answer.caveats).filter(is_shared).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(severity: Severity, text: &str) -> Statement {
        Statement { severity, text: text.to_owned(), noun: ANSWERS }
    }

    fn closing(statements: Vec<Statement>) -> ClosingAnswer<'static> {
        ClosingAnswer {
            statements,
            cautions: Vec::new(),
            page: Some(Path::new("runs/one/report.html")),
            remainder: "the page",
        }
    }

    const LEADER: &str = "SQLite ran Q1–Q6 1.5 × faster than DuckDB (1.3 … 1.7)";

    #[test]
    fn what_failed_comes_first_and_the_page_last() {
        let answer = closing(vec![
            statement(Severity::Good, LEADER),
            statement(Severity::Failed, "mb lost 135 of 1,449 acknowledged writes after a process crash"),
        ]);
        let lines = [
            "answer",
            "✖ mb lost 135 of 1,449 acknowledged writes after a process crash",
            "  SQLite ran Q1–Q6 1.5 × faster than DuckDB (1.3 … 1.7)",
            "  page: runs/one/report.html",
            "",
        ];
        assert_eq!(answer.draw(TableStyle::PLAIN), lines.join("\n"));
        let coloured = answer.draw(TableStyle::COLOURED);
        assert!(
            coloured.contains("\u{1b}[31m✖ mb lost") && coloured.contains("\u{1b}[1manswer"),
            "{coloured}"
        );
    }

    #[test]
    fn it_is_never_longer_or_wider_than_a_small_terminal() {
        let long = format!("{LEADER}, {LEADER}, {LEADER}, {}, {LEADER}", "x".repeat(90));
        for (failed, good) in [(0, 40), (40, 0), (40, 40), (1, 9), (3, 2)] {
            for text in [LEADER, long.as_str()] {
                let mut statements = vec![statement(Severity::Good, text); good];
                statements.extend(vec![statement(Severity::Failed, text); failed]);
                let mut answer = closing(statements);
                answer.cautions = vec![
                    "other programs or virtual machines were running: repeat on a quiet machine".to_owned(),
                ];
                for (style, limit) in [(TableStyle::PLAIN, 80), (TableStyle::PLAIN.compact(60), 60)] {
                    let drawn = answer.draw(style);
                    assert!(drawn.lines().count() <= MAX_LINES, "{drawn}");
                    assert!(drawn.lines().all(|line| wrap::width(line) <= limit), "{drawn}");
                    assert!(drawn.ends_with("  page: runs/one/report.html\n"), "{drawn}");
                    assert_eq!(drawn.contains('✖'), failed > 0, "{drawn}");
                    let says_good = drawn.lines().any(|line| line.starts_with("  SQLite"));
                    assert!(says_good || good == 0, "{drawn}");
                }
            }
        }
    }

    #[test]
    fn a_caveat_of_all_is_said_once() {
        let answer = |outcome: AnswerOutcome, caveats: Vec<AnswerCaveat>| Answer {
            workload: "serving".into(),
            ranking: "as-is".to_owned(),
            subject: AnswerSubject::Throughput,
            conditions: String::new(),
            outcome,
            caveat_texts: caveats.iter().map(|caveat| caveat.text().to_owned()).collect(),
            caveat_labels: caveats.iter().map(|caveat| caveat.label().to_owned()).collect(),
            caveats,
            sentence: "✖ one".to_owned(),
            severity: Severity::Good,
        };
        let tied = || AnswerOutcome::NoDifferenceShown { tied: vec![0, 1], interval: None };
        let counted = AnswerOutcome::Counted { first: vec![0], value: "1 MB".to_owned() };
        let busy = || vec![AnswerCaveat::BusyMachine];
        let both = || vec![AnswerCaveat::EndOfLife, AnswerCaveat::BusyMachine];
        let mut answers = vec![answer(tied(), both()), answer(tied(), busy()), answer(counted, Vec::new())];
        assert!(shared_caveats(&answers).is_empty(), "two are few");
        answers.push(answer(tied(), busy()));
        let shared = shared_caveats(&answers);
        assert_eq!(shared, BTreeSet::from([AnswerCaveat::BusyMachine]));
        let ended = "a version: end of life";
        assert_eq!(shared_text(&answers, AnswerCaveat::EndOfLife), ended);
        assert_eq!(super::statement(&answers[0], false, &shared).text, format!("one ({ended})"));
        let own = super::statement(&answers[0], true, &BTreeSet::new());
        assert_eq!(own.text, format!("as-is: one ({ended}, busy machine)"));
        let mix = Answer {
            conditions: "mix a".to_owned(),
            sentence: "mix a: no difference shown".to_owned(),
            ..answers[1].clone()
        };
        let mix = super::statement(&mix, true, &shared);
        assert_eq!(mix.text, "as-is, mix a: no difference shown", "one colon");
        let size = Answer {
            conditions: "1 MiB".to_owned(),
            sentence: "Import, 1 MiB: A leads".to_owned(),
            ..answers[1].clone()
        };
        assert_eq!(super::statement(&size, true, &shared).text, "as-is, import, 1 MiB: A leads");
    }

    #[test]
    fn a_caveat_that_names_its_systems_is_said_once_even_if_not_all_have_it() {
        let answer = |caveats: Vec<AnswerCaveat>, outcome: AnswerOutcome| Answer {
            workload: "documents".into(),
            ranking: "as-is".to_owned(),
            subject: AnswerSubject::Import,
            conditions: String::new(),
            outcome,
            caveat_texts: vec![
                "MongoDB 6.0.5 is no longer supported by its vendor".to_owned();
                caveats.len()
            ],
            caveat_labels: vec!["MongoDB 6.0.5: end of life".to_owned(); caveats.len()],
            caveats,
            sentence: LEADER.to_owned(),
            severity: Severity::Good,
        };
        let leader = || AnswerOutcome::Leader { first: 0, runner_up: 1, ratio: 1.5, low: 1.3, high: 1.7 };
        let tied = || AnswerOutcome::NoDifferenceShown { tied: vec![0, 1], interval: Some([0.9, 1.4]) };
        let mut answers = vec![answer(vec![AnswerCaveat::EndOfLife], leader()); 3];
        answers.push(answer(Vec::new(), leader()));
        assert_eq!(shared_caveats(&answers), BTreeSet::from([AnswerCaveat::EndOfLife]));
        assert_eq!(shared_text(&answers, AnswerCaveat::EndOfLife), "MongoDB 6.0.5: end of life");
        // Few rounds matter where no difference is shown.
        answers = vec![answer(vec![AnswerCaveat::FewRounds], tied()); 3];
        answers.push(answer(Vec::new(), leader()));
        assert_eq!(shared_caveats(&answers), BTreeSet::from([AnswerCaveat::FewRounds]));
        answers.push(answer(Vec::new(), tied()));
        assert!(shared_caveats(&answers).is_empty(), "one of them has many rounds");
    }

    #[test]
    fn caveats_stand_in_the_parentheses_of_an_interval() {
        let with_label = |text: &str| {
            let mut text = text.to_owned();
            add_labels(&mut text, "few rounds");
            text
        };
        assert_eq!(with_label("A leads (95 %: 1.3 … 1.7)"), "A leads (95 %: 1.3 … 1.7; few rounds)");
        assert_eq!(with_label("slower in Q6 (31 ×)"), "slower in Q6 (31 ×) (few rounds)");
        assert_eq!(with_label("A leads"), "A leads (few rounds)");
    }

    #[test]
    fn rankings_take_turns_so_that_none_is_left_out() {
        let answer = |ranking: &str, sentence: &str| Answer {
            workload: "analytics".into(),
            ranking: ranking.to_owned(),
            subject: AnswerSubject::Hot,
            conditions: String::new(),
            outcome: AnswerOutcome::NoDifferenceShown { tied: vec![0, 1], interval: None },
            caveats: Vec::new(),
            caveat_texts: Vec::new(),
            caveat_labels: Vec::new(),
            sentence: sentence.to_owned(),
            severity: Severity::Good,
        };
        let answers =
            [answer("as-is", "1"), answer("as-is", "2"), answer("as-is", "3"), answer("prepared", "4")];
        let ordered: Vec<&str> =
            in_turns(answers.iter().collect()).iter().map(|answer| answer.sentence.as_str()).collect();
        assert_eq!(ordered, ["1", "4", "2", "3"]);
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let drawn = closing(vec![statement(Severity::Good, LEADER); 20]).draw(TableStyle::PLAIN);
        assert!(drawn.contains("\n  … 11 more answers: see the page\n"), "{drawn}");
        assert_eq!(drawn.lines().count(), MAX_LINES);
        let operation = Statement { noun: "operations", ..statement(Severity::Good, LEADER) };
        let drawn = closing(vec![operation.clone(); 11]).draw(TableStyle::PLAIN);
        assert!(drawn.contains("\n  … 2 more operations: see the page\n"), "{drawn}");
        let mut mixed = vec![operation; 10];
        mixed.push(statement(Severity::Good, LEADER));
        let drawn = closing(mixed).draw(TableStyle::PLAIN);
        assert!(drawn.contains("\n  … 1 more operation and 1 more answer: see the page\n"), "{drawn}");
        let all = closing(vec![statement(Severity::Good, LEADER); 10]).draw(TableStyle::PLAIN);
        assert!(!all.contains(" more ") && all.lines().count() == MAX_LINES, "{all}");
    }

    #[test]
    fn without_any_answer_that_is_said() {
        let drawn = closing(Vec::new()).draw(TableStyle::PLAIN);
        assert!(drawn.contains("  nothing could be compared: the tables above say why\n"), "{drawn}");
    }
}
