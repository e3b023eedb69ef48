//! `jsonathlon questions`, and the arguments of `jsonathlon run questions`.

mod check;
mod definition;
mod new;

pub(in crate::commands) use new::{LIMITS, shell_quoted, write_first_questions};

use std::process::ExitCode;

use jsonathlon_catalogue::UserQuestions;
use jsonathlon_schema::settings::questions::QuestionsSettings;
use jsonathlon_workloads::questions::{Questions, build_settings};

use super::run_request::{RunRequest, document_source, question_defaults, question_settings, read_as};
use crate::{
    cli::{
        questions::{QuestionsAction, QuestionsArguments, RunQuestions},
        run_options::DEFAULT_SEED,
    },
    exit::Failure,
};

pub(crate) fn run(arguments: &QuestionsArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        QuestionsAction::New { folder, data, input, catalogue } => new::run(folder, data, *input, catalogue),
        QuestionsAction::Check { folder, data, input, systems, install, catalogue } => {
            check::run(&check::CheckRequest {
                folder,
                data: data.as_deref(),
                input: *input,
                systems: systems.as_deref(),
                install,
                catalogue,
            })
        }
    }
}

/// Converts the arguments of `jsonathlon run questions` into the request of a run.
pub(super) fn build_request(arguments: &RunQuestions) -> Result<RunRequest<'_>, Failure> {
    let settings = question_settings(&arguments.pace, &arguments.question_options);
    let (settings, questions) = match &arguments.questions {
        Some(folder) => {
            let questions = UserQuestions::read(folder)?;
            (build_settings(&questions, settings), Some(questions))
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
        source: arguments
            .data
            .as_deref()
            .map(document_source)
            .transpose()?
            .map(|source| read_as(source, arguments.input, &arguments.common))
            .transpose()?,
        seed: DEFAULT_SEED,
        has_yardstick: true,
        defaults: question_defaults(&arguments.pace),
        workload: Box::new(Questions::new(settings)),
        user_questions: questions,
        reports: None,
    })
}
