//! Describes differences between answers in sentences.

use jsonathlon_dataset::agreement::Mismatch;
use jsonathlon_schema::record::ConfigurationAnswer;
use jsonathlon_schema::value::{Row, Value};

/// Describes a difference, with the first row of each side.
pub(super) fn describe(difference: &Mismatch) -> String {
    let Mismatch { summary, missing_rows, extra_rows, rule, .. } = difference;
    sentence(summary, missing_rows.first(), extra_rows.first(), rule.map(|rule| rule.to_string()))
}

fn sentence(
    summary: &str,
    missing_row: Option<&Row>,
    extra_row: Option<&Row>,
    rule: Option<String>,
) -> String {
    let mut text = summary.to_owned();
    if let Some(row) = missing_row {
        text.push_str(&format!("; missing {}", Value::show_row(row)));
    }
    if let Some(row) = extra_row {
        text.push_str(&format!("; has {}", Value::show_row(row)));
    }
    if let Some(rule) = rule {
        text.push_str(&format!(" ({rule})"));
    }
    text
}

/// Describes the difference of a recorded answer, with the number of common documents.
pub(super) fn describe_recorded(standing: &ConfigurationAnswer, documents: u64) -> String {
    let first_row = |rows: &[Vec<serde_json::Value>]| -> Option<Row> {
        rows.first()?.iter().map(|cell| serde_json::from_value(cell.clone()).ok()).collect()
    };
    let rows = standing.rows.as_ref();
    let difference = sentence(
        standing.why.as_deref().unwrap_or_default(),
        rows.and_then(|rows| first_row(&rows.missing_rows)).as_ref(),
        rows.and_then(|rows| first_row(&rows.extra_rows)).as_ref(),
        standing.rule.clone(),
    );
    format!("over the {documents} documents that all hold: {difference}")
}
