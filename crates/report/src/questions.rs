//! Tables of the questions workload: one per question, with notes on how far the answers agree.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::settings::questions::UserQuestion;
use serde::Serialize;

use crate::agreement;
use crate::analytics::{loading, questions as question_tables, sizes};
use crate::section::{Section, printable};
use crate::shown_text::{ALWAYS, Explanation, ShownText};

/// A question of the user's folder, with its description, as the page shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct QuestionHeading {
    /// Name of the question, which is the step of its cells.
    name: String,
    /// Heading of the question for readers.
    title: String,
    /// Description of what is asked; may be empty.
    asks: String,
}

/// Headings of the user's questions; empty for other workloads.
pub(crate) fn headings(manifest: &Manifest) -> Vec<QuestionHeading> {
    let heading = |question: &UserQuestion| QuestionHeading {
        name: question.name.clone(),
        title: question.title.clone(),
        asks: question.asks.clone(),
    };
    manifest.user_questions().iter().map(heading).collect()
}

/// All tables of the workload: loads, sizes, and each question in each data state.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![loading::loading(run, summary), sizes::sizes(run, summary)];
    for state in question_tables::states(summary) {
        for UserQuestion { name, title, asks, .. } in run.manifest.user_questions() {
            let heading = format!("{}: {}", printable(name), printable(title));
            let Some(mut section) = question_tables::table(run, summary, name, &heading, state) else {
                continue;
            };
            if !asks.is_empty() {
                section.notes.push(printable(asks));
            }
            let agreement = summary.agreements.iter().find(|agreement| agreement.question == *name);
            if let Some(agreement) = agreement {
                section.notes.append(agreement::notes_with_severity(agreement));
            }
            sections.push(section);
        }
    }
    sections
}

/// Line with the titles of all questions for the heading of a run; `None` for other workloads.
pub(crate) fn titles(run: &Run) -> Option<String> {
    let settings = run.manifest.settings.workload.questions.as_ref()?;
    let titles: Vec<String> = settings.questions.iter().map(|question| printable(&question.title)).collect();
    Some(format!("asked    {}: {}", printable(&settings.title), titles.join("; ")))
}

/// Notes on how to read the workload's tables.
const READING_NOTES: [Explanation; 2] = [
    (
        &["agreed", "disputed", "unverified", "UNVERIFIED"],
        "agreed: a strict majority of the systems that answered, two at least, gave the same answer over documents \
         that all of them hold, against which every trial was compared; disputed: no such majority, so no answer \
         counts as right and no system is ranked; unverified: one system alone, or over other documents than \
         those that were compared",
    ),
    (
        ALWAYS,
        "answers are compared by value: numbers with a fraction or beyond 2^53 within 1e-9, strings by their \
         bytes, rows that tie in the stated order as a set; all rules are in docs/own-questions.md",
    ),
];

/// Notes on how to read the workload's tables, those that are needed.
pub(crate) fn reading_notes(shown: &ShownText) -> Vec<String> {
    shown.explain(&READING_NOTES)
}
