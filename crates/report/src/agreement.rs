//! Describes in sentences how far systems agree on the answer to a question, which differ, and in which rows.

use jsonathlon_schema::record::{
    Agreement, AnswerStatus, ConfigurationAnswer, ExpectedAnswerSource, FirstRows, RowDifference, Verdict,
};
use jsonathlon_schema::severity::Severity;

use crate::section::printable;
use crate::severity_list::SeverityList;

/// Maximum characters of a row, and of a statement. Fewer than `printable` keeps, so that a cut is marked.
const ROW_LENGTH: usize = 120;
const STATEMENT_LENGTH: usize = 280;
/// Maximum rows that are shown of an answer, and of a difference.
const ANSWER_ROWS: usize = 5;
const DIFFERENT_ROWS: usize = 3;

/// Lines that describe the agreement. A line that belongs to the one before begins with spaces.
#[must_use]
pub fn notes(agreement: &Agreement) -> Vec<String> {
    notes_with_severity(agreement).iter().cloned().collect()
}

/// Like [`notes`], with the severity of each line.
pub(crate) fn notes_with_severity(agreement: &Agreement) -> SeverityList<String> {
    let mut notes = SeverityList::default();
    let is_in_doubt =
        matches!(agreement.basis, ExpectedAnswerSource::Disputed | ExpectedAnswerSource::OtherDocuments);
    notes.mark(if is_in_doubt { Severity::Warning } else { Severity::Good }, describe_basis(agreement));
    notes.extend(agreement.first.as_ref().map(|first| describe_answer(agreement, first)));
    let standing_with_statement = standings_with(agreement, AnswerStatus::Same)
        .chain(&agreement.answers)
        .find(|standing| standing.statement.is_some());
    notes.extend(standing_with_statement.and_then(statement));
    notes.extend(agreement.addend.map(|addend| {
        format!(
            "numbers are compared within 1e-9 of {addend}, the largest that one of the other sign may have cancelled; `scale` in \
             questions.toml names a column that says how large they are"
        )
    }));
    if agreement.is_empty() {
        notes.mark(
            Severity::Warning,
            "THE ANSWER IS EMPTY: no rows, or nothing but null and 0, in every answer that agrees; check that the statements \
             name what the documents have"
                .to_owned(),
        );
    }
    for standing in standings_with(agreement, AnswerStatus::Different) {
        notes.extend(describe_difference(standing));
        notes.extend(statement(standing));
    }
    if agreement.basis != ExpectedAnswerSource::OtherDocuments {
        for standing in standings_with(agreement, AnswerStatus::OtherDocuments) {
            let note = format!(
                "unverified: {}, and could not be asked over the {} that were compared; it has no vote, and is neither right \
                 nor wrong",
                describe_documents(standing),
                agreement.documents
            );
            notes.mark(Severity::Warning, note);
        }
    }
    let disputed =
        agreement.answers.iter().filter(|standing| is_disputed_over_further_documents(agreement, standing));
    for standing in disputed {
        let note = format!(
            "DISPUTED over all that it holds: {}, and those that hold the same ones answer differently over these",
            describe_documents(standing)
        );
        notes.mark(Severity::Warning, note);
    }
    for standing in standings_with(agreement, AnswerStatus::Failed) {
        let error = shorten(standing.why.as_deref().unwrap_or_default(), STATEMENT_LENGTH);
        notes.mark(Severity::Failed, format!("failed: {}: {error}", configuration_name(standing)));
    }
    let names = join_names(agreement, AnswerStatus::NotAsked);
    if !names.is_empty() {
        notes.push(format!("not asked (no statement): {names}"));
    }
    notes
}

/// Configurations whose answers have the given status, in the order of the agreement.
fn standings_with(agreement: &Agreement, status: AnswerStatus) -> impl Iterator<Item = &ConfigurationAnswer> {
    agreement.answers.iter().filter(move |standing| standing.answer == status)
}

/// Names of the configurations whose answers have the given status.
fn join_names(agreement: &Agreement, status: AnswerStatus) -> String {
    standings_with(agreement, status).map(configuration_name).collect::<Vec<_>>().join(", ")
}

/// Sentence on what the answers were compared with, and how many of them are the same.
fn describe_basis(agreement: &Agreement) -> String {
    let same = standings_with(agreement, AnswerStatus::Same).count();
    let answered = same + standings_with(agreement, AnswerStatus::Different).count();
    match agreement.basis {
        ExpectedAnswerSource::Agreed => format!(
            "agreed: {same} of {answered} configurations gave the same answer{}: {}",
            describe_scope(agreement),
            join_names(agreement, AnswerStatus::Same)
        ),
        ExpectedAnswerSource::Disputed => format!(
            "DISPUTED: {answered} configurations answered{} and no majority of their systems agrees; no answer counts as right. \
             The most frequent answer is that of {}",
            describe_scope(agreement),
            join_names(agreement, AnswerStatus::Same)
        ),
        ExpectedAnswerSource::Unverified => {
            "UNVERIFIED: one system alone answered, or the reference did not".to_owned()
        }
        ExpectedAnswerSource::OtherDocuments => {
            let documents: Vec<String> =
                standings_with(agreement, AnswerStatus::OtherDocuments).map(describe_documents).collect();
            format!(
                "UNVERIFIED: they hold other documents than each other, and could not be asked over the same ones: {}",
                documents.join(", ")
            )
        }
        ExpectedAnswerSource::Expected => {
            format!("compared with expected.json: {same} of {answered} configurations answer the same")
        }
        ExpectedAnswerSource::Reference => format!(
            "compared with the reference{}: {same} of {answered} configurations answer the same",
            describe_scope(agreement)
        ),
        ExpectedAnswerSource::Unanswered => "UNVERIFIED: no system answered".to_owned(),
    }
}

/// Returns `true` if the answer is settled over the documents that all systems hold, but disputed over the
/// further documents that this configuration holds.
#[must_use]
pub fn is_disputed_over_further_documents(agreement: &Agreement, standing: &ConfigurationAnswer) -> bool {
    agreement.basis.is_settled() && standing.verdict == Some(Verdict::Disputed)
}

/// Text on the documents that the answers were compared over; empty if no system holds more than these.
fn describe_scope(agreement: &Agreement) -> String {
    let holds_more = |standing: &ConfigurationAnswer| {
        matches!(standing.answer, AnswerStatus::Same | AnswerStatus::Different)
            && standing.documents != agreement.documents
    };
    let larger: Vec<String> =
        agreement.answers.iter().filter(|standing| holds_more(standing)).map(describe_documents).collect();
    match larger.is_empty() {
        true => String::new(),
        false => format!(
            " over the {} documents that all of them hold ({}; each is compared with its own answer over these)",
            agreement.documents,
            larger.join(", ")
        ),
    }
}

fn configuration_name(standing: &ConfigurationAnswer) -> String {
    format!("{} {} {}", standing.id.system, standing.id.version, standing.id.variant)
}

fn describe_documents(standing: &ConfigurationAnswer) -> String {
    format!("{} holds {} documents", configuration_name(standing), standing.documents)
}

/// Text with the answer that the others are compared with.
fn describe_answer(agreement: &Agreement, first: &FirstRows) -> String {
    let columns: Vec<String> = agreement.columns.iter().map(|column| printable(column)).collect();
    let rows: Vec<String> = first.rows.iter().take(ANSWER_ROWS).map(|row| format_row(row)).collect();
    let more = first.count.saturating_sub(rows.len() as u64);
    let more = if more > 0 { format!(" and {more} more rows") } else { String::new() };
    let rows = if rows.is_empty() { "no rows".to_owned() } else { rows.join(" ") };
    format!("  answer ({}): {rows}{more}", columns.join(", "))
}

fn statement(standing: &ConfigurationAnswer) -> Option<String> {
    let text = standing.statement.as_ref()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!("  asked of {}: {}", standing.id.system, shorten(&line, STATEMENT_LENGTH)))
}

/// Lines on a different answer: rows that it lacks, rows that it has instead, and the rule that explains the
/// difference.
fn describe_difference(standing: &ConfigurationAnswer) -> Vec<String> {
    let mut notes = vec![format!(
        "differs: {}: {}",
        configuration_name(standing),
        printable(standing.why.as_deref().unwrap_or_default())
    )];
    if let Some(RowDifference { missing_rows, missing_count, extra_rows, extra_count }) = &standing.rows {
        for (rows, count, label) in
            [(missing_rows, missing_count, "is missing"), (extra_rows, extra_count, "has instead")]
        {
            for row in rows.iter().take(DIFFERENT_ROWS) {
                notes.push(format!("  {label} {}", format_row(row)));
            }
            let more = count.saturating_sub(rows.len().min(DIFFERENT_ROWS) as u64);
            if more > 0 {
                notes.push(format!("  {label} {more} more rows"));
            }
        }
    }
    notes.extend(standing.rule.as_ref().map(|rule| format!("  which explains it: {}", printable(rule))));
    notes
}

fn format_row(row: &[serde_json::Value]) -> String {
    let cells: Vec<String> = row.iter().map(format_cell).collect();
    shorten(&format!("[{}]", cells.join(",")), ROW_LENGTH)
}

/// Text of a stored cell. A number that JSON does not have, such as NaN, is stored as an object.
fn format_cell(value: &serde_json::Value) -> String {
    let name = value.get("float").and_then(serde_json::Value::as_str);
    name.map_or_else(|| value.to_string(), str::to_owned)
}

/// Cuts text to `limit` characters, marks the cut, and makes the text safe for a terminal.
fn shorten(text: &str, limit: usize) -> String {
    let start: String = text.chars().take(limit).collect();
    printable(&if start.len() < text.len() { start + " …" } else { start })
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
            documents_digest: String::new(),
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
            documents_digest: String::new(),
            addend: None,
            columns: vec!["total".into()],
            first: Some(FirstRows { count: rows.len() as u64, rows }),
            file: None,
            answers: standings,
        }
    }

    #[test]
    fn the_answer_and_the_statement_are_said() {
        let standings = vec![standing("a", AnswerStatus::Same, 99), standing("b", AnswerStatus::Same, 100)];
        let text = notes(&agreement(
            ExpectedAnswerSource::Agreed,
            &[json!({"float": "Infinity"}), json!("x\u{1b}")],
            standings,
        ))
        .join("\n");
        assert!(text.contains("answer (total): [Infinity] [\"x\\u001b\"]"), "{text}");
        assert!(text.contains("asked of a: SELECT x FROM a"), "{text}");
        assert!(
            text.contains("over the 99 documents that all of them hold (b 1 own holds 100 documents"),
            "{text}"
        );
        assert!(!text.contains("EMPTY"), "{text}");
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
            let standings =
                vec![standing("a", AnswerStatus::Same, 99), standing("b", AnswerStatus::Same, 99)];
            let text = notes(&agreement(ExpectedAnswerSource::Agreed, &rows, standings)).join("\n");
            assert_eq!(text.contains("THE ANSWER IS EMPTY"), is_empty, "{text}");
        }
    }

    #[test]
    fn who_holds_other_documents_is_named_with_how_many() {
        let standings = vec![
            standing("a", AnswerStatus::OtherDocuments, 50),
            standing("b", AnswerStatus::OtherDocuments, 60),
        ];
        let mut undecided = agreement(ExpectedAnswerSource::OtherDocuments, &[], standings.clone());
        undecided.first = None;
        let text = notes(&undecided).join("\n");
        assert!(text.contains("a 1 own holds 50 documents, b 1 own holds 60 documents"), "{text}");
        let mut standings = standings;
        standings.extend([standing("c", AnswerStatus::Same, 99), standing("d", AnswerStatus::Same, 99)]);
        let text = notes(&agreement(ExpectedAnswerSource::Agreed, &[json!(1)], standings)).join("\n");
        assert!(
            text.contains("agreed: 2 of 2") && text.contains("unverified: a 1 own holds 50 documents"),
            "{text}"
        );
    }

    #[test]
    fn what_is_disputed_over_more_than_all_hold_is_said() {
        let standings =
            || vec![standing("a", AnswerStatus::Same, 99), standing("b", AnswerStatus::Same, 100)];
        let mut disputed = standings();
        disputed[1].verdict = Some(Verdict::Disputed);
        let message = "DISPUTED over all that it holds: b 1 own holds 100 documents";
        let describe = |basis, standings| notes(&agreement(basis, &[json!(1)], standings)).join("\n");
        assert!(describe(ExpectedAnswerSource::Agreed, disputed.clone()).contains(message));
        assert!(
            !describe(ExpectedAnswerSource::Agreed, standings()).contains(message)
                && !describe(ExpectedAnswerSource::Disputed, disputed).contains(message)
        );
    }

    #[test]
    fn long_words_are_cut() {
        let mut failed = standing("a", AnswerStatus::Failed, 99);
        failed.why = Some(format!("\"1{}\" is out of range", "0".repeat(400)));
        let text = notes(&agreement(ExpectedAnswerSource::Unanswered, &[], vec![failed])).join("\n");
        assert!(text.contains(" …") && text.lines().all(|line| line.len() < 600), "{text}");
    }
}
