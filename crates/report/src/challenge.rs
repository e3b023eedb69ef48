//! Tables of published results and of the published score, shown beside a run's own results and never ranked
//! with them.

use std::collections::BTreeSet;

use jsonathlon_results::challenge::PublishedScore;
use jsonathlon_results::challenge::jsonbench::{ResultFile, scale_name};
use jsonathlon_results::challenge::published::{MACHINE, PublishedResult};
use jsonathlon_results::challenge::score::{QUESTIONS, Score, ScoreInput, Times, scores};
use jsonathlon_results::summary::Summary;
use jsonathlon_schema::ranking::PreparationClass;

use crate::format;
use crate::render::TableStyle;
use crate::render::terminal::draw;
use crate::section::{Column, Section, configuration_columns, dash, numbers, optional, words};

/// Sort key of the rows, which also selects the times that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortKey {
    /// Hot score: the better time of runs 2 and 3.
    Hot,
    /// Cold score: the time of the first run.
    Cold,
    /// Size score: total bytes. Hot times are shown.
    Size,
}

/// A row of a table of results in the published format.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the system, with the tags that distinguish its configurations.
    pub name: String,
    /// Version of the system, as the result states it.
    pub version: String,
    /// Day of the measurement; `None` if the published result has none.
    pub date: Option<String>,
    /// Documents loaded ÷ documents offered, so 1 if all were loaded.
    pub loaded_share: f64,
    /// Times and size, from which the scores are computed.
    pub score_input: ScoreInput,
    /// Whether a published value is marked as a likely error; false for result files.
    pub has_suspected_errors: bool,
}

impl From<&PublishedResult> for Row {
    fn from(published: &PublishedResult) -> Self {
        Self {
            name: name_with_tags(&published.system, &published.tags),
            version: published.version.clone(),
            date: published.date.clone(),
            loaded_share: published.loaded_documents as f64 / published.scale as f64,
            score_input: published.score_input(),
            has_suspected_errors: !published.suspected_errors.is_empty(),
        }
    }
}

impl From<&ResultFile> for Row {
    fn from(file: &ResultFile) -> Self {
        Self {
            name: name_with_tags(&file.system, &file.tags),
            version: file.version.clone(),
            date: Some(file.date.clone()),
            loaded_share: file.num_loaded_documents as f64 / file.dataset_size as f64,
            score_input: file.score_input(),
            has_suspected_errors: false,
        }
    }
}

fn name_with_tags(system: &str, tags: &[String]) -> String {
    if tags.is_empty() { system.to_owned() } else { format!("{system} ({})", tags.join(", ")) }
}

/// Table of the given published results, with notes on values that are likely to be errors.
#[must_use]
pub fn published_table(results: &[&PublishedResult], sort_key: SortKey, style: TableStyle) -> String {
    let join = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(", ");
    let snapshots = join(results.iter().map(|result| result.snapshot.clone()).collect());
    let scales = join(results.iter().map(|result| scale_name(result.scale)).collect());
    let title = format!("published {snapshots}, {scales} documents, on {MACHINE}");
    let rows: Vec<Row> = results.iter().map(|result| Row::from(*result)).collect();
    let mut section = table(title, &rows, sort_key);
    section.notes.push(
        "results of the public benchmark JSONBench, as published; nothing of them was repeated or checked \
         here"
            .to_owned(),
    );
    for result in results {
        for error in &result.suspected_errors {
            section.notes.push(format!(
                "? {}: {}, suspected, not confirmed: {}",
                name_with_tags(&result.system, &result.tags),
                error.field,
                error.reason
            ));
        }
    }
    draw(&[section], style)
}

/// Table of result files, which are scored among themselves.
#[must_use]
pub fn result_files_table(title: &str, files: &[ResultFile], sort_key: SortKey, style: TableStyle) -> String {
    let machines: BTreeSet<&str> = files.iter().map(|file| file.machine.as_str()).collect();
    let machines = machines.into_iter().collect::<Vec<_>>().join("; ");
    let rows: Vec<Row> = files.iter().map(Row::from).collect();
    let mut section = table(format!("{title}, on {machines}"), &rows, sort_key);
    section.notes.push(
        "scored among themselves, all rankings and loads together, as the published benchmark does; the \
         tables above and below are of other machines or other runs"
            .to_owned(),
    );
    draw(&[section], style)
}

fn table(title: String, rows: &[Row], sort_key: SortKey) -> Section {
    let phase = if sort_key == SortKey::Cold { "cold" } else { "hot" };
    let questions: Vec<String> = (1..=QUESTIONS).map(|question| format!("Q{question} {phase}")).collect();
    let mut columns = words(&["system", "version", "measured"]);
    columns.extend(numbers(&["loaded", "hot score", "cold score", "total", "size score"]));
    columns.extend(questions.iter().map(|question| Column::number(question)));
    let mut section = Section::new(title, columns);
    let entrants: Vec<ScoreInput> = rows.iter().map(|row| row.score_input.clone()).collect();
    let mut scored: Vec<(&Row, Score)> =
        rows.iter().zip(scores(&entrants, &(0..QUESTIONS).collect::<Vec<_>>())).collect();
    let key = |score: &Score| match sort_key {
        SortKey::Hot => score.hot,
        SortKey::Cold => score.cold,
        SortKey::Size => score.size,
    };
    // Rows with a likely error come last, so that they do not head the table.
    let is_suspected = |row: &Row| match sort_key {
        SortKey::Hot | SortKey::Cold => row.score_input.suspected.times,
        SortKey::Size => row.score_input.suspected.size,
    };
    let sort_value = |score: &Score| key(score).unwrap_or(f64::INFINITY);
    scored.sort_by(|(row_a, a), (row_b, b)| {
        is_suspected(row_a).cmp(&is_suspected(row_b)).then(sort_value(a).total_cmp(&sort_value(b)))
    });
    for (row, score) in scored {
        let times: &Times =
            if sort_key == SortKey::Cold { &row.score_input.cold } else { &row.score_input.hot };
        let mark = if row.has_suspected_errors { " ?" } else { "" };
        let mut fields = vec![
            format!("{}{mark}", row.name),
            row.version.clone(),
            row.date.clone().unwrap_or_else(dash),
            if row.loaded_share.is_finite() { format::percent(row.loaded_share) } else { dash() },
            optional(score.hot, two_decimals),
            optional(score.cold, two_decimals),
            optional(row.score_input.total_bytes.map(|bytes| bytes as f64), format::bytes),
            optional(score.size, two_decimals),
        ];
        fields.extend(times.iter().map(|time| optional(*time, format::seconds)));
        section.rows.push(fields);
    }
    section.notes.push(DEFINITION.to_owned());
    if rows.iter().any(|row| row.has_suspected_errors) {
        section.notes.push(SUSPECTED.to_owned());
    }
    section
}

const DEFINITION: &str = "score: geometric mean over Q1 to Q5 of (10 ms + t) ÷ (10 ms + the best t of this table), \
     a missing t being 2 × the worst, 2 h at least; size score: total ÷ the smallest";

const SUSPECTED: &str =
    "what is marked ? is likely to be an error: it is shown, and no other score is measured by it";

/// Formats a score like the published benchmark, with two decimals whatever its size.
fn two_decimals(score: f64) -> String {
    format!("{score:.2} ×")
}

/// Published scores of a run's own configurations. `None` if no ranking has at least two of them with a hot
/// score.
pub(crate) fn score_section(summary: &Summary) -> Option<Section> {
    let scores = &summary.published_scores;
    let count_scored = |entry: &PublishedScore| {
        scores.iter().filter(|other| other.ranking == entry.ranking && other.score.hot.is_some()).count()
    };
    let mut rankings: Vec<&str> = Vec::new();
    for entry in scores.iter().filter(|entry| count_scored(entry) > 1) {
        if !rankings.contains(&entry.ranking.as_str()) {
            rankings.push(&entry.ranking);
        }
    }
    // Rankings come in the order of all other tables.
    let position =
        |ranking: &str| PreparationClass::ALL.iter().position(|class| ranking.starts_with(class.word()));
    rankings.sort_by_key(|ranking| position(ranking).unwrap_or(PreparationClass::ALL.len()));
    let mut columns = configuration_columns();
    columns.extend(numbers(&["hot score", "cold score", "size score"]));
    columns.push(Column::number("answered").main());
    let mut section = Section::new("published score, round 1 only".to_owned(), columns);
    for ranking in rankings {
        // In the order of the plan, because without an interval no configuration is shown to be first.
        for entry in scores.iter().filter(|entry| entry.ranking == ranking) {
            section.rows.push(vec![
                entry.ranking.clone(),
                format!("{} {}", entry.id.system, entry.id.version),
                entry.id.variant.clone(),
                entry.id.storage.clone(),
                optional(entry.score.hot, two_decimals),
                optional(entry.score.cold, two_decimals),
                optional(entry.score.size, two_decimals),
                format!("{} hot, {} cold of {QUESTIONS}", entry.hot_answered, entry.cold_answered),
            ]);
        }
    }
    section.notes.push(DEFINITION.to_owned());
    section.notes.push(
        "t is the cold trial, or the better of the first two hot ones: the statistic of the published \
         benchmark, without an interval, so that it names no leader; no score with fewer documents; published results are of another \
         machine and stand apart: `jsonathlon published`"
            .to_owned(),
    );
    (!section.rows.is_empty()).then_some(section)
}
