//! Tables of the analytics workload: loading, sizes, one per question, and the published score.

pub(crate) mod loading;
pub(crate) mod questions;
pub(crate) mod sizes;

use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::manifest::Configuration;

use crate::challenge;
use crate::section::Section;

/// All tables of the workload.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![loading::loading(run, summary), sizes::sizes(run, summary)];
    sections.extend(questions::sections(run, summary));
    sections.extend(challenge::score_section(summary));
    sections
}

fn find<'a>(
    summary: &'a Summary,
    configuration: &Configuration,
    step: &Step,
    state: Option<DataState>,
) -> Option<&'a CellSummary> {
    summary.results.iter().find(|entry| {
        configuration.contains_cell(&entry.cell)
            && entry.cell.step == *step
            && (state.is_none() || entry.cell.state == state)
    })
}
