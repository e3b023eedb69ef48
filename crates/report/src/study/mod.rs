//! A study as people read it: its sentence, its table, the published figures beside it, and a page with its chart.

mod chart;
mod page;
mod table;
#[cfg(test)]
mod tests;

use jsonathlon_results::summary::Run;
use jsonathlon_studies::definition::Study;
use jsonathlon_studies::parts::Part;
use jsonathlon_studies::published::Published;
use jsonathlon_studies::seen::Seen;
use jsonathlon_studies::verdict::Sentence;

use crate::draw::markdown;
use crate::draw::terminal::{Look, draw};

pub use page::FILE;

/// A study with what its runs have shown.
pub struct Finding<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its runs.
    pub runs: &'a [(Part, Run)],
    /// What they have shown.
    pub seen: Seen,
    /// The sentence that they end in.
    pub sentence: Sentence,
    /// The published figures that it stands beside.
    pub published: Vec<Published>,
}

impl<'a> Finding<'a> {
    /// What the runs of a study have shown, beside what was published of its experiments.
    #[must_use]
    pub fn of(study: &'a Study, runs: &'a [(Part, Run)], published: &[Published]) -> Self {
        let seen = study.see(runs);
        let sentence = study.sentence(&seen);
        let shows = |one: &&Published| study.experiments.contains(&one.experiment);
        Self { study, runs, seen, sentence, published: published.iter().filter(shows).cloned().collect() }
    }

    /// Its tables, for a terminal.
    #[must_use]
    pub fn tables(&self, look: Look) -> String {
        draw(&table::sections(self), look)
    }

    /// The same as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::write(&table::sections(self), 2)
    }

    /// Its page: one file of HTML that needs no program and no network.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }
}
