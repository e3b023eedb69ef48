//! Tables of the questions workload: one per question, with notes on how far the answers agree.

use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::workload::WorkloadKind;
use serde::Deserialize;

use crate::agreement;
use crate::analytics::{loading, questions as question_tables, sizes};
use crate::section::{Section, printable};

/// The part of a questions run's settings that reports need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct QuestionRunSettings {
    pub(crate) title: String,
    pub(crate) questions: Vec<QuestionHeading>,
}

/// A question of the user's folder, with its description.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
pub(crate) struct QuestionHeading {
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) asks: String,
}

/// The user's questions of a run; `None` if the run is of another workload.
pub(crate) fn own(manifest: &Manifest) -> Option<QuestionRunSettings> {
    QuestionRunSettings::deserialize(manifest.settings.get(WorkloadKind::Questions.name())?).ok()
}

/// All tables of the workload: loads, sizes, and each question in each data state.
pub(crate) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = vec![loading::loading(run, summary), sizes::sizes(run, summary)];
    let questions = own(&run.manifest).map(|settings| settings.questions).unwrap_or_default();
    for state in question_tables::states(summary) {
        for QuestionHeading { name, title, asks } in &questions {
            let heading = format!("{}: {}", printable(name), printable(title));
            let Some(mut section) = question_tables::table(run, summary, name, &heading, state) else {
                continue;
            };
            if !asks.is_empty() {
                section.notes.push(printable(asks));
            }
            let agreement = summary.agreements.iter().find(|agreement| agreement.question == *name);
            if let Some(agreement) = agreement {
                section.notes.append(agreement::marked(agreement));
            }
            sections.push(section);
        }
    }
    sections
}

/// Line with the titles of all questions for the heading of a run; `None` for other workloads.
pub(crate) fn titles(run: &Run) -> Option<String> {
    let QuestionRunSettings { title, questions } = own(&run.manifest)?;
    let titles: Vec<String> = questions.iter().map(|question| printable(&question.title)).collect();
    Some(format!("asked    {}: {}", printable(&title), titles.join("; ")))
}

/// Notes on how to read the workload's tables.
pub(crate) fn reading() -> Vec<String> {
    [
        "agreed: a strict majority of the systems that answered, two at least, gave the same answer over documents that all of \
         them hold, against which every trial was compared; disputed: no such majority, so no answer counts as right and no \
         system is ranked; unverified: one system alone, or over other documents than those that were compared",
        "answers are compared by value: numbers with a fraction or beyond 2^53 within 1e-9, strings by their bytes, rows that \
         tie in the stated order as a set; all rules are in docs/own-questions.md",
    ]
    .map(str::to_owned)
    .to_vec()
}
