//! Renders a study: its sentence, its table, the published results beside it, and a page with its chart.

mod chart;
mod page;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use jsonathlon_results::summary::Run;
use jsonathlon_studies::clause::Sentence;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::observations::StudyObservations;
use jsonathlon_studies::published::PublishedResult;
use jsonathlon_studies::runs::StudyRun;

use crate::answer::ClosingAnswer;
use crate::render::markdown;
use crate::render::terminal::{TableStyle, draw};

pub use page::FILE;

/// A study with the results of its runs, ready to be rendered.
pub struct StudyResult<'a> {
    /// Definition of the study that was run.
    pub study: &'a Study,
    /// Runs, each with the part of the study that it measures.
    pub runs: &'a [(StudyRun, Run)],
    /// Points that the runs measured, with their failures.
    pub observations: StudyObservations,
    /// Answer to the study's question, derived from `observations`.
    pub sentence: Sentence,
    /// Published results of the study's experiments.
    pub published: Vec<PublishedResult>,
}

impl<'a> StudyResult<'a> {
    /// Evaluates the runs of a study. Keeps only those `published` results that belong to its experiments.
    #[must_use]
    pub fn new(study: &'a Study, runs: &'a [(StudyRun, Run)], published: &[PublishedResult]) -> Self {
        let observations = study.observe(runs);
        let sentence = study.sentence(&observations);
        let is_relevant = |result: &&PublishedResult| study.experiments.contains(&result.experiment);
        let published = published.iter().filter(is_relevant).cloned().collect();
        Self { study, runs, observations, sentence, published }
    }

    /// Tables of the study for the terminal, without its answer.
    #[must_use]
    pub fn tables(&self, style: TableStyle) -> String {
        draw(&table::sections(self), style)
    }

    /// Answer of the study for the terminal: a few lines, the last of which is the path of its page.
    #[must_use]
    pub fn closing_answer(&self, page: &Path, style: TableStyle) -> String {
        let statements = table::statements(self);
        ClosingAnswer { statements, page: Some(page), remainder: "the page", ..ClosingAnswer::default() }
            .draw(style)
    }

    /// Tables of the study as Markdown, with its answer.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut sections = table::sections(self);
        sections.push(table::answer(self));
        markdown::write(&sections, 2)
    }

    /// Page of the study: one HTML file that needs no JavaScript and no network.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }
}
