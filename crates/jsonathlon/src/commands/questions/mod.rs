//! `jsonathlon questions`, and the arguments of `jsonathlon run questions`.

mod check;
mod new;

use std::process::ExitCode;

use jsonathlon_catalogue::UserQuestions;
use jsonathlon_schema::settings::questions::QuestionsSettings;
use jsonathlon_workloads::questions::{Questions, settings_of};

use super::run_request::{RunRequest, asking, documents, question_defaults};
use crate::{
    cli::{
        questions::{QuestionsAction, QuestionsArguments, RunQuestions},
        run::DEFAULT_SEED,
    },
    exit::Failure,
};

pub(crate) fn run(arguments: &QuestionsArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        QuestionsAction::New { folder, data, catalogue } => new::run(folder, data, catalogue),
        QuestionsAction::Check { folder, data, systems, newer, catalogue } => {
            check::run(&check::CheckRequest {
                folder,
                data: data.as_deref(),
                systems: systems.as_deref(),
                newer,
                catalogue,
            })
        }
    }
}

/// Converts the arguments of `jsonathlon run questions` into the request of a run.
pub(super) fn asked(arguments: &RunQuestions) -> Result<RunRequest<'_>, Failure> {
    let settings = asking(&arguments.pace, &arguments.asking);
    let (settings, questions) = match &arguments.questions {
        Some(folder) => {
            let questions = UserQuestions::read(folder)?;
            (settings_of(&questions, settings), Some(questions))
        }
        // A resumed run takes its questions from its manifest; these are placeholders.
        None => {
            let placeholder = QuestionsSettings {
                asking: settings,
                folder: std::path::PathBuf::new(),
                title: String::new(),
                reference: None,
                questions: Vec::new(),
                expected: std::collections::BTreeMap::new(),
            };
            (placeholder, None)
        }
    };
    Ok(RunRequest {
        common: &arguments.common,
        external: Some(&arguments.external),
        source: arguments.data.as_deref().map(documents).transpose()?,
        seed: DEFAULT_SEED,
        has_yardstick: true,
        usual: question_defaults(&arguments.pace),
        workload: Box::new(Questions::new(settings)),
        own: questions,
    })
}
