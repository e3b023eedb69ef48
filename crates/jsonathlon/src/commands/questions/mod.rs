//! `jsonathlon questions`, and the arguments of `jsonathlon run questions`.

mod check;
mod new;

use std::process::ExitCode;

use jsonathlon_catalogue::{QUESTIONS, UserQuestions};
use jsonathlon_workloads::questions::{Questions, QuestionsSettings};

use super::run_request::{RunRequest, asking, question_defaults};
use crate::{
    cli::{
        RunArguments,
        questions::{QuestionsAction, QuestionsArguments, RunQuestions},
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
    let run = &arguments.run;
    let settings = asking(run, &arguments.asking);
    let Some(folder) = &arguments.questions else {
        // A resumed run takes its questions from its manifest; these are placeholders.
        let none = QuestionsSettings {
            asking: settings,
            folder: std::path::PathBuf::new(),
            title: String::new(),
            reference: None,
            questions: Vec::new(),
            expected: std::collections::BTreeMap::new(),
        };
        let workload = Box::new(Questions::new(none));
        return Ok(RunRequest {
            arguments: run,
            source: None,
            usual: question_defaults(run),
            workload,
            own: None,
        });
    };
    not_of_questions(run)?;
    let own = UserQuestions::read(folder)?;
    let workload = Box::new(Questions::new(QuestionsSettings::of(&own, settings)));
    Ok(RunRequest { arguments: run, source: None, usual: question_defaults(run), workload, own: Some(own) })
}

/// Requires `--data`, and rejects shared options that do not apply to this workload.
fn not_of_questions(run: &RunArguments) -> Result<(), Failure> {
    if run.data.is_none() {
        return Err(Failure::usage(format!(
            "run {QUESTIONS} needs your documents: add --data FOLDER (a file, a folder, `-` or an address)"
        )));
    }
    let told = [("--scale", run.scale.is_some()), ("--malformed", run.malformed > 0)];
    match told.into_iter().find(|(_, is_told)| *is_told) {
        Some((option, _)) => {
            Err(Failure::usage(format!("{option} is not for {QUESTIONS}: documents are your own")))
        }
        None => Ok(()),
    }
}
