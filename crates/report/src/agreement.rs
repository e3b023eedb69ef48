//! Describes in sentences how far systems agree on the answer to a question, which differ, and in which rows.

use jsonathlon_schema::record::{
    Agreement, AnswerStatus, ConfigurationAnswer, ExpectedAnswerSource, FirstRows, RowDifference, Verdict,
};
use jsonathlon_schema::severity::Severity;

use crate::marked::Marked;
use crate::section::printable;

/// Maximum characters of a row, and of a statement. Fewer than `printable` keeps, so that a cut is marked.
const ROW: usize = 120;
const STATEMENT: usize = 280;
/// Maximum rows that are shown of an answer, and of a difference.
const ANSWER_ROWS: usize = 5;
const DIFFERENT_ROWS: usize = 3;

/// Lines that describe the agreement. A line that belongs to the one before begins with spaces.
#[must_use]
pub fn notes(one: &Agreement) -> Vec<String> {
    marked(one).iter().cloned().collect()
}

/// Like [`notes`], with the severity of each line.
pub(crate) fn marked(one: &Agreement) -> Marked<String> {
    let mut notes = Marked::default();
    let in_doubt = matches!(one.basis, ExpectedAnswerSource::Disputed | ExpectedAnswerSource::OtherDocuments);
    notes.mark(if in_doubt { Severity::Warning } else { Severity::Good }, describe_basis(one));
    notes.extend(one.first.as_ref().map(|first| answer(one, first)));
    let asked = standings_with(one, AnswerStatus::Same)
        .chain(&one.standings)
        .find(|standing| standing.statement.is_some());
    notes.extend(asked.and_then(statement));
    notes.extend(one.addend.map(|addend| {
        format!(
            "numbers are compared within 1e-9 of {addend}, the largest that one of the other sign may have cancelled; `scale` in \
             questions.toml names a column that says how large they are"
        )
    }));
    if one.is_empty() {
        notes.mark(
            Severity::Warning,
            "THE ANSWER IS EMPTY: no rows, or nothing but null and 0, in whoever agrees; look whether the statements name what \
             the documents have"
                .to_owned(),
        );
    }
    for standing in standings_with(one, AnswerStatus::Different) {
        notes.extend(different(standing));
        notes.extend(statement(standing));
    }
    if one.basis != ExpectedAnswerSource::OtherDocuments {
        for standing in standings_with(one, AnswerStatus::OtherDocuments) {
            let told = format!(
                "unverified: {}, and could not be asked over the {} that were compared; it has no vote, and is neither right \
                 nor wrong",
                holding(standing),
                one.documents
            );
            notes.mark(Severity::Warning, told);
        }
    }
    for standing in one.standings.iter().filter(|standing| is_disputed_over_its_own(one, standing)) {
        let told = format!(
            "DISPUTED over all that it holds: {}, and those that hold the same ones answer differently over these",
            holding(standing)
        );
        notes.mark(Severity::Warning, told);
    }
    for standing in standings_with(one, AnswerStatus::Failed) {
        let why = standing.why.as_deref().unwrap_or_default();
        notes.mark(Severity::Failed, format!("failed: {}: {}", called(standing), shortened(why, STATEMENT)));
    }
    let not = join_names(one, AnswerStatus::NotAsked);
    if !not.is_empty() {
        notes.push(format!("not asked, for want of a statement: {not}"));
    }
    notes
}

/// Configurations whose answers have the given status, in the order of the agreement.
fn standings_with(one: &Agreement, given: AnswerStatus) -> impl Iterator<Item = &ConfigurationAnswer> {
    one.standings.iter().filter(move |standing| standing.answer == given)
}

/// Names of the configurations whose answers have the given status.
fn join_names(one: &Agreement, given: AnswerStatus) -> String {
    standings_with(one, given).map(called).collect::<Vec<_>>().join(", ")
}

/// Sentence on what the answers were compared with, and how many of them are the same.
fn describe_basis(one: &Agreement) -> String {
    let same = standings_with(one, AnswerStatus::Same).count();
    let answered = same + standings_with(one, AnswerStatus::Different).count();
    match one.basis {
        ExpectedAnswerSource::Agreed => format!(
            "agreed: {same} of {answered} configurations gave the same answer{}: {}",
            over(one),
            join_names(one, AnswerStatus::Same)
        ),
        ExpectedAnswerSource::Disputed => format!(
            "DISPUTED: {answered} configurations answered{} and no majority of their systems agrees; nobody is right. The most \
             frequent answer is that of {}",
            over(one),
            join_names(one, AnswerStatus::Same)
        ),
        ExpectedAnswerSource::Unverified => {
            "UNVERIFIED: one system alone answered, or the reference did not".to_owned()
        }
        ExpectedAnswerSource::OtherDocuments => format!(
            "UNVERIFIED: they hold other documents than each other, and could not be asked over the same ones: {}",
            standings_with(one, AnswerStatus::OtherDocuments).map(holding).collect::<Vec<_>>().join(", ")
        ),
        ExpectedAnswerSource::Expected => {
            format!("compared with expected.json: {same} of {answered} configurations answer the same")
        }
        ExpectedAnswerSource::Reference => format!(
            "compared with the reference{}: {same} of {answered} configurations answer the same",
            over(one)
        ),
        ExpectedAnswerSource::Unanswered => "UNVERIFIED: nobody answered".to_owned(),
    }
}

/// Returns `true` if the answer is settled over the documents that all systems hold, but disputed over the
/// further documents that this configuration holds.
#[must_use]
pub fn is_disputed_over_its_own(one: &Agreement, standing: &ConfigurationAnswer) -> bool {
    one.basis.is_settled() && standing.verdict == Some(Verdict::Disputed)
}

/// Text on the documents that the answers were compared over; empty if no system holds more than these.
fn over(one: &Agreement) -> String {
    let hold_more = |standing: &ConfigurationAnswer| {
        matches!(standing.answer, AnswerStatus::Same | AnswerStatus::Different)
            && standing.documents != one.documents
    };
    let more: Vec<String> = one.standings.iter().filter(|one| hold_more(one)).map(holding).collect();
    match more.is_empty() {
        true => String::new(),
        false => format!(
            " over the {} documents that all of them hold ({}; each is held against its own answer over these)",
            one.documents,
            more.join(", ")
        ),
    }
}

fn called(standing: &ConfigurationAnswer) -> String {
    format!("{} {} {}", standing.id.system, standing.id.version, standing.id.variant)
}

fn holding(standing: &ConfigurationAnswer) -> String {
    format!("{} holds {} documents", called(standing), standing.documents)
}

/// Text with the answer that the others are compared with.
fn answer(one: &Agreement, first: &FirstRows) -> String {
    let columns: Vec<String> = one.columns.iter().map(|column| printable(column)).collect();
    let rows: Vec<String> = first.rows.iter().take(ANSWER_ROWS).map(|row| shown(row)).collect();
    let more = first.count.saturating_sub(rows.len() as u64);
    let more = if more > 0 { format!(" and {more} more rows") } else { String::new() };
    let rows = if rows.is_empty() { "no rows".to_owned() } else { rows.join(" ") };
    format!("  answer ({}): {rows}{more}", columns.join(", "))
}

fn statement(standing: &ConfigurationAnswer) -> Option<String> {
    let text = standing.statement.as_ref()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!("  asked of {}: {}", standing.id.system, shortened(&line, STATEMENT)))
}

/// Lines on a different answer: rows that it lacks, rows that it has instead, and the rule that explains the
/// difference.
fn different(standing: &ConfigurationAnswer) -> Vec<String> {
    let mut notes = vec![format!(
        "differs: {}: {}",
        called(standing),
        printable(standing.why.as_deref().unwrap_or_default())
    )];
    if let Some(RowDifference { missing_rows, missing_count, extra_rows, extra_count }) = &standing.rows {
        for (rows, count, word) in
            [(missing_rows, missing_count, "lacks"), (extra_rows, extra_count, "has instead")]
        {
            for row in rows.iter().take(DIFFERENT_ROWS) {
                notes.push(format!("  {word} {}", shown(row)));
            }
            let more = count.saturating_sub(rows.len().min(DIFFERENT_ROWS) as u64);
            if more > 0 {
                notes.push(format!("  {word} {more} more rows"));
            }
        }
    }
    notes.extend(standing.rule.as_ref().map(|rule| format!("  which explains it: {}", printable(rule))));
    notes
}

fn shown(row: &[serde_json::Value]) -> String {
    let cells: Vec<String> = row.iter().map(cell).collect();
    shortened(&format!("[{}]", cells.join(",")), ROW)
}

/// Text of a stored cell. A number that JSON does not have, such as NaN, is stored as an object.
fn cell(kept: &serde_json::Value) -> String {
    let named = kept.get("float").and_then(serde_json::Value::as_str);
    named.map_or_else(|| kept.to_string(), str::to_owned)
}

/// Cuts text to `most` characters, marks the cut, and makes the text safe for a terminal.
fn shortened(text: &str, most: usize) -> String {
    let short: String = text.chars().take(most).collect();
    printable(&if short.len() < text.len() { short + " …" } else { short })
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::id::ConfigurationId;
    use serde_json::json;

    use super::*;

    fn standing(system: &str, answer: AnswerStatus, documents: u64) -> ConfigurationAnswer {
        ConfigurationAnswer {
            id: ConfigurationId::new(system, "1", "own", ""),
            profile: None,
            answer,
            why: None,
            rows: None,
            rule: None,
            statement: Some(format!("SELECT x\nFROM {system}")),
            documents,
            holding: String::new(),
            file: None,
            verdict: None,
        }
    }

    fn agreement(
        basis: ExpectedAnswerSource,
        rows: &[serde_json::Value],
        standings: Vec<ConfigurationAnswer>,
    ) -> Agreement {
        let rows: Vec<Vec<serde_json::Value>> = rows.iter().map(|cell| vec![cell.clone()]).collect();
        Agreement {
            workload: "questions".into(),
            question: "sum".into(),
            basis,
            documents: 99,
            holding: String::new(),
            addend: None,
            columns: vec!["total".into()],
            first: Some(FirstRows { count: rows.len() as u64, rows }),
            file: None,
            standings,
        }
    }

    #[test]
    fn the_answer_and_the_statement_are_said() {
        let all = vec![standing("a", AnswerStatus::Same, 99), standing("b", AnswerStatus::Same, 100)];
        let told = notes(&agreement(
            ExpectedAnswerSource::Agreed,
            &[json!({"float": "Infinity"}), json!("x\u{1b}")],
            all,
        ))
        .join("\n");
        assert!(told.contains("answer (total): [Infinity] [\"x\\u001b\"]"), "{told}");
        assert!(told.contains("asked of a: SELECT x FROM a"), "{told}");
        assert!(
            told.contains("over the 99 documents that all of them hold (b 1 own holds 100 documents"),
            "{told}"
        );
        assert!(!told.contains("EMPTY"), "{told}");
    }

    #[test]
    fn an_answer_that_is_empty_in_all_is_said_to_be() {
        for (rows, is_empty) in [
            (vec![], true),
            (vec![json!(null)], true),
            (vec![json!(0), json!(0.0)], true),
            (vec![json!(0), json!(1)], false),
            (vec![json!("")], false),
            (vec![json!({"float": "NaN"})], false),
        ] {
            let all = vec![standing("a", AnswerStatus::Same, 99), standing("b", AnswerStatus::Same, 99)];
            let told = notes(&agreement(ExpectedAnswerSource::Agreed, &rows, all)).join("\n");
            assert_eq!(told.contains("THE ANSWER IS EMPTY"), is_empty, "{told}");
        }
    }

    #[test]
    fn who_holds_other_documents_is_named_with_how_many() {
        let all = vec![
            standing("a", AnswerStatus::OtherDocuments, 50),
            standing("b", AnswerStatus::OtherDocuments, 60),
        ];
        let mut none = agreement(ExpectedAnswerSource::OtherDocuments, &[], all.clone());
        none.first = None;
        let told = notes(&none).join("\n");
        assert!(told.contains("a 1 own holds 50 documents, b 1 own holds 60 documents"), "{told}");
        let mut all = all;
        all.extend([standing("c", AnswerStatus::Same, 99), standing("d", AnswerStatus::Same, 99)]);
        let told = notes(&agreement(ExpectedAnswerSource::Agreed, &[json!(1)], all)).join("\n");
        assert!(
            told.contains("agreed: 2 of 2") && told.contains("unverified: a 1 own holds 50 documents"),
            "{told}"
        );
    }

    #[test]
    fn what_is_disputed_over_more_than_all_hold_is_said() {
        let all = || vec![standing("a", AnswerStatus::Same, 99), standing("b", AnswerStatus::Same, 100)];
        let mut disputed = all();
        disputed[1].verdict = Some(Verdict::Disputed);
        let words = "DISPUTED over all that it holds: b 1 own holds 100 documents";
        let told = |basis, all| notes(&agreement(basis, &[json!(1)], all)).join("\n");
        assert!(told(ExpectedAnswerSource::Agreed, disputed.clone()).contains(words));
        assert!(
            !told(ExpectedAnswerSource::Agreed, all()).contains(words)
                && !told(ExpectedAnswerSource::Disputed, disputed).contains(words)
        );
    }

    #[test]
    fn long_words_are_cut() {
        let mut one = standing("a", AnswerStatus::Failed, 99);
        one.why = Some(format!("\"1{}\" is out of range", "0".repeat(400)));
        let told = notes(&agreement(ExpectedAnswerSource::Unanswered, &[], vec![one])).join("\n");
        assert!(told.contains(" …") && told.lines().all(|line| line.len() < 600), "{told}");
    }
}
