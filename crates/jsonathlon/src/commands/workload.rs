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
    run_request::{RunRequest, asking, question_defaults},
    serving,
};
use crate::{
    cli::{AnalyticsArguments, RunCommand, RunWorkload},
    exit::Failure,
};

/// Converts the arguments of `jsonathlon run` into the request of a run.
pub(super) fn asked(command: &RunCommand) -> Result<RunRequest<'_>, Failure> {
    match &command.workload {
        None => Ok(analytics(&command.analytics)),
        Some(RunWorkload::Analytics(arguments)) => Ok(analytics(arguments)),
        Some(RunWorkload::Serving(arguments)) => serving::asked(arguments),
        Some(RunWorkload::Documents(arguments)) => documents::asked(arguments),
        Some(RunWorkload::Questions(arguments)) => questions::asked(arguments),
        Some(RunWorkload::Fidelity(arguments)) => fidelity::asked(arguments),
        Some(RunWorkload::Durability(arguments)) => durable::asked(arguments),
    }
}

fn analytics(arguments: &AnalyticsArguments) -> RunRequest<'_> {
    let settings = asking(&arguments.run, &arguments.asking);
    let workload = Analytics::new(settings);
    let workload = Box::new(if arguments.force { workload.of_any_documents() } else { workload });
    RunRequest {
        arguments: &arguments.run,
        source: None,
        usual: question_defaults(&arguments.run),
        workload,
        own: None,
    }
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
            "this version of the program has no workload `{name}`: resume the run with the version that began it"
        )));
    };
    // Manifests of version 0.1.0 hold the settings of the only workload among the shared ones.
    let own = manifest.settings.get(name.as_str()).unwrap_or(&manifest.settings).clone();
    let read = |own: Value| -> Result<Box<dyn Workload>, serde_json::Error> {
        Ok(match kind {
            // The documents were checked when the run began.
            WorkloadKind::Analytics => {
                Box::new(Analytics::new(serde_json::from_value(own)?).of_any_documents())
            }
            WorkloadKind::Serving => {
                let settings: ServingSettings = serde_json::from_value(own)?;
                let workload = Serving::new(settings).map_err(serde::de::Error::custom)?;
                Box::new(workload)
            }
            WorkloadKind::Documents => {
                let settings: DocumentsSettings = serde_json::from_value(own)?;
                let workload = Documents::new(settings).map_err(serde::de::Error::custom)?;
                Box::new(workload)
            }
            WorkloadKind::Questions => Box::new(Questions::new(serde_json::from_value(own)?)),
            WorkloadKind::Fidelity => {
                let settings: FidelitySettings = serde_json::from_value(own)?;
                let workload = Fidelity::new(settings).map_err(serde::de::Error::custom)?;
                Box::new(workload)
            }
            WorkloadKind::Durability => {
                let settings: DurabilitySettings = serde_json::from_value(own)?;
                settings.enter().map_err(serde::de::Error::custom)?;
                Box::new(Durability::new(settings).map_err(serde::de::Error::custom)?)
            }
        })
    };
    read(own).map_err(|error| {
        Failure::usage(format!("the manifest's settings of {name} cannot be understood: {error}"))
    })
}

/// Durability tier of a serving run that is resumed; `None` for other workloads.
pub(super) fn durability(manifest: &Manifest) -> Option<String> {
    let own = manifest.settings.get(SERVING)?;
    Some(own.get("durability")?.as_str()?.to_owned())
}

/// Reads the user's folder of questions again for a run that is resumed; `None` for other workloads. Fails if
/// the questions were changed since the run began.
pub(super) fn own_questions(manifest: &Manifest) -> Result<Option<UserQuestions>, Failure> {
    let Some(own) = manifest.settings.get(QUESTIONS) else { return Ok(None) };
    let then: QuestionsSettings = serde_json::from_value(own.clone()).map_err(|error| {
        Failure::usage(format!("the manifest's settings of {QUESTIONS} cannot be understood: {error}"))
    })?;
    let now = UserQuestions::read(&then.folder)?;
    if QuestionsSettings::of(&now, then.asking.clone()) != then {
        return Err(Failure::usage(format!(
            "the questions of {} were changed since the run began: start a new run",
            then.folder.display()
        )));
    }
    Ok(Some(now))
}
