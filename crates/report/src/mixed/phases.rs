//! Tables of questions in the phases of a round.

use jsonathlon_results::mixed::cell_of;
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{ALL_QUESTIONS, INGEST, Phase};
use jsonathlon_schema::workload::WorkloadKind;

use super::cells::{plain, with_limits};
use crate::section::{Column, Section, configuration_columns, name_columns, sorted_configurations};

/// Phases in which questions are asked, in their order within a round.
const PHASES: [Phase; 4] = [Phase::Still, Phase::Both, Phase::Left, Phase::Drained];

/// Table of questions per hour in every phase, and the three factors between them.
pub(super) fn questions_per_hour(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::number("still"),
        Column::number("both"),
        Column::number("left").main(),
        Column::number("drained").main(),
        Column::number("interference"),
        Column::number("debt"),
        Column::number("disorder"),
        Column::number("cost of seen").useful(),
        Column::words("verdict"),
    ];
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("questions per hour while documents come in".to_owned(), columns);
    for configuration in sorted_configurations(run) {
        let cells = PHASES.map(|phase| cell_of(summary, configuration, phase, ALL_QUESTIONS));
        let [still, both, left, drained] = cells;
        let Some(worst) = cells.into_iter().flatten().max_by_key(|entry| entry.verdict) else { continue };
        let mut row = name_columns(configuration);
        row.extend(cells.map(|entry| plain(entry, &metric::QUESTIONS_PER_H)));
        row.extend([
            with_limits(both, &metric::INTERFERENCE),
            with_limits(left, &metric::DEBT),
            with_limits(drained, &metric::DISORDER),
            with_limits(still, &metric::SEEN_COST),
            worst.verdict.word().to_owned(),
        ]);
        section.rows.mark(worst.severity(), row);
    }
    section
}

/// Table of the times of each question in every phase.
pub(super) fn times(run: &Run, summary: &Summary) -> Section {
    let own = vec![
        Column::words("question"),
        Column::number("still p50"),
        Column::number("both p50"),
        Column::number("both p95"),
        Column::number("left p50").main(),
        Column::number("drained p50").main(),
    ];
    let columns = [configuration_columns(), own].concat();
    let mut section = Section::new("times of questions, growth taken out".to_owned(), columns);
    for configuration in sorted_configurations(run) {
        for question in questions(summary, configuration) {
            let cells = PHASES.map(|phase| cell_of(summary, configuration, phase, question));
            let [still, both, left, drained] = cells;
            let Some(worst) = cells.into_iter().flatten().max_by_key(|entry| entry.verdict) else { continue };
            let mut row = name_columns(configuration);
            row.push(question.to_uppercase());
            row.extend([
                plain(still, &metric::QUESTION_P50_US),
                with_limits(both, &metric::QUESTION_P50_US),
                plain(both, &metric::QUESTION_P95_US),
                plain(left, &metric::QUESTION_P50_US),
                plain(drained, &metric::QUESTION_P50_US),
            ]);
            section.rows.mark(worst.severity(), row);
        }
    }
    section
}

/// Names of the questions of a configuration, each once, in the order in which they were recorded.
fn questions<'a>(summary: &'a Summary, configuration: &Configuration) -> Vec<&'a str> {
    let is_question = |entry: &&CellSummary| {
        entry.cell.workload == WorkloadKind::Mixed
            && PHASES.contains(&entry.cell.phase)
            && ![ALL_QUESTIONS, INGEST].contains(&entry.cell.step.word())
            && configuration.contains_cell(&entry.cell)
    };
    let mut names: Vec<&str> = Vec::new();
    for entry in summary.results.iter().filter(is_question) {
        let name = entry.cell.step.word();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
