//! Maps names to workloads; the only place that distinguishes them.

use serde_json::Value;

use jsonathlon_catalogue::{QUESTIONS, SERVING, UserQuestions};
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::workload::{WorkloadKind, WorkloadName};
use jsonathlon_workloads::{
    analytics::Analytics,
    documents::{Documents, settings::DocumentsSettings},
    durability::{Durability, settings::DurabilitySettings},
    fidelity::{Fidelity, settings::FidelitySettings},
    questions::{Questions, QuestionsSettings},
    serving::{Serving, settings::ServingSettings},
    workload::Workload,
};

use super::{
    documents, durability as durable, fidelity, questions,
    run_request::{RunRequest, asking, events, question_defaults},
    serving,
};
use crate::{
    cli::run::{AnalyticsArguments, RunCommand, RunWorkload},
    exit::Failure,
};

/// Converts the arguments of `jsonathlon run` into the request of a run.
pub(super) fn asked(command: &RunCommand) -> Result<RunRequest<'_>, Failure> {
    match &command.workload {
        None => analytics(&command.analytics),
        Some(RunWorkload::Analytics(arguments)) => analytics(arguments),
        Some(RunWorkload::Serving(arguments)) => serving::asked(arguments),
        Some(RunWorkload::Documents(arguments)) => documents::asked(arguments),
        Some(RunWorkload::Questions(arguments)) => questions::asked(arguments),
        Some(RunWorkload::Fidelity(arguments)) => fidelity::asked(arguments),
        Some(RunWorkload::Durability(arguments)) => durable::asked(arguments),
    }
}

fn analytics(arguments: &AnalyticsArguments) -> Result<RunRequest<'_>, Failure> {
    let settings = asking(&arguments.pace, &arguments.asking);
    let workload = Analytics::new(settings);
    let workload = Box::new(if arguments.force { workload.of_any_documents() } else { workload });
    Ok(RunRequest {
        common: &arguments.common,
        external: Some(&arguments.external),
        source: Some(events(&arguments.events)?),
        seed: arguments.events.seed,
        has_yardstick: !arguments.no_yardstick,
        usual: question_defaults(&arguments.pace),
        workload,
        own: None,
    })
}

/// Workload of a run that is resumed, with the settings from its manifest.
pub(super) fn restore_workload(manifest: &Manifest) -> Result<Box<dyn Workload>, Failure> {
    let [name] = manifest.workloads.as_slice() else {
        return Err(Failure::usage(format!(
            "the run is of {} workloads, and one at a time is resumed",
            manifest.workloads.len()
        )));
    };
    let WorkloadName::Known(kind) = name else {
        return Err(Failure::usage(format!(
            "this version of the program has no workload `{name}`: resume the run with the version that \
             began it"
        )));
    };
    // Manifests of version 0.1.0 hold the settings of the only workload among the shared ones.
    let section = manifest.settings.get(name.as_str()).unwrap_or(&manifest.settings).clone();
    let build = |section: Value| -> Result<Box<dyn Workload>, serde_json::Error> {
        Ok(match kind {
            // The documents were checked when the run began.
            WorkloadKind::Analytics => {
                Box::new(Analytics::new(serde_json::from_value(section)?).of_any_documents())
            }
            WorkloadKind::Serving => {
                let settings: ServingSettings = serde_json::from_value(section)?;
                let workload = Serving::new(settings).map_err(serde::de::Error::custom)?;
                Box::new(workload)
            }
            WorkloadKind::Documents => {
                let settings: DocumentsSettings = serde_json::from_value(section)?;
                let workload = Documents::new(settings).map_err(serde::de::Error::custom)?;
                Box::new(workload)
            }
            WorkloadKind::Questions => Box::new(Questions::new(serde_json::from_value(section)?)),
            WorkloadKind::Fidelity => {
                let settings: FidelitySettings = serde_json::from_value(section)?;
                let workload = Fidelity::new(settings).map_err(serde::de::Error::custom)?;
                Box::new(workload)
            }
            WorkloadKind::Durability => {
                let settings: DurabilitySettings = serde_json::from_value(section)?;
                settings.enter().map_err(serde::de::Error::custom)?;
                Box::new(Durability::new(settings).map_err(serde::de::Error::custom)?)
            }
        })
    };
    build(section).map_err(|error| {
        Failure::usage(format!("the manifest's settings of {name} cannot be understood: {error}"))
    })
}

/// Durability tier of a serving run that is resumed; `None` for other workloads.
pub(super) fn durability(manifest: &Manifest) -> Option<String> {
    let section = manifest.settings.get(SERVING)?;
    Some(section.get("durability")?.as_str()?.to_owned())
}

/// Reads the user's folder of questions again for a run that is resumed; `None` for other workloads. Fails if
/// the questions were changed since the run began.
pub(super) fn own_questions(manifest: &Manifest) -> Result<Option<UserQuestions>, Failure> {
    let Some(section) = manifest.settings.get(QUESTIONS) else { return Ok(None) };
    let recorded: QuestionsSettings = serde_json::from_value(section.clone()).map_err(|error| {
        Failure::usage(format!("the manifest's settings of {QUESTIONS} cannot be understood: {error}"))
    })?;
    let questions = UserQuestions::read(&recorded.folder)?;
    if QuestionsSettings::of(&questions, recorded.asking.clone()) != recorded {
        return Err(Failure::usage(format!(
            "the questions of {} were changed since the run began: start a new run",
            recorded.folder.display()
        )));
    }
    Ok(Some(questions))
}
