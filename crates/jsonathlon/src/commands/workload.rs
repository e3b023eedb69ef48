//! Maps names to workloads; the only place that distinguishes them.

use serde::de::Error as _;

use jsonathlon_catalogue::UserQuestions;
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::settings::WorkloadSettings;
use jsonathlon_schema::workload::{WorkloadKind, WorkloadName};
use jsonathlon_workloads::{
    analytics::Analytics,
    documents::{Documents, settings::DocumentsSettings},
    durability::{Durability, settings::DurabilitySettings},
    fidelity::Fidelity,
    mixed::Mixed,
    questions::{Questions, build_settings},
    serving::{Serving, settings::ServingSettings},
    workload::Workload,
};

use super::{
    documents, durability as durable, fidelity, mixed, questions,
    run_request::{RunRequest, events_of, question_defaults, question_settings},
    serving,
};
use crate::{
    cli::run::{AnalyticsArguments, RunCommand, RunWorkload},
    cli::run_options::EventRunArguments,
    exit::Failure,
};

/// Converts the arguments of `jsonathlon run` into the request of a run.
pub(super) fn build_request(command: &RunCommand) -> Result<RunRequest<'_>, Failure> {
    match &command.workload {
        None => analytics(&command.analytics),
        Some(RunWorkload::Analytics(arguments)) => analytics(arguments),
        Some(RunWorkload::Serving(arguments)) => serving::build_request(arguments),
        Some(RunWorkload::Mixed(arguments)) => mixed::build_request(arguments),
        Some(RunWorkload::Documents(arguments)) => documents::build_request(arguments),
        Some(RunWorkload::Questions(arguments)) => questions::build_request(arguments),
        Some(RunWorkload::Fidelity(arguments)) => fidelity::build_request(arguments),
        Some(RunWorkload::Durability(arguments)) => durable::build_request(arguments),
    }
}

fn analytics(arguments: &AnalyticsArguments) -> Result<RunRequest<'_>, Failure> {
    let settings = question_settings(&arguments.pace, &arguments.question_options);
    let workload = Analytics::new(settings);
    let workload = Box::new(if arguments.force { workload.with_any_documents() } else { workload });
    let EventRunArguments { common, external, events, .. } = &arguments.run;
    Ok(RunRequest {
        common,
        external: Some(external),
        source: Some(events_of(&arguments.run)?),
        seed: events.seed,
        has_yardstick: !arguments.no_yardstick,
        defaults: question_defaults(&arguments.pace),
        workload,
        user_questions: None,
        reports: None,
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
    build_workload(*kind, &manifest.settings.workload).map_err(|error| {
        Failure::usage(format!("the manifest's settings of {name} cannot be understood: {error}"))
    })
}

/// Builds a workload from the settings that a manifest holds of it.
fn build_workload(
    kind: WorkloadKind,
    settings: &WorkloadSettings,
) -> Result<Box<dyn Workload>, serde_json::Error> {
    let missing = || serde_json::Error::custom("there are none");
    Ok(match kind {
        // The documents were checked when the run began.
        WorkloadKind::Analytics => {
            let settings = settings.analytics.clone().ok_or_else(missing)?;
            Box::new(Analytics::new(settings).with_any_documents())
        }
        WorkloadKind::Serving => {
            let questions = settings.questions.clone();
            let mut settings: ServingSettings = settings.read(kind)?;
            if let Some(reports) = &mut settings.reports {
                reports.questions = questions.ok_or_else(missing)?;
            }
            Box::new(Serving::new(settings).map_err(serde_json::Error::custom)?)
        }
        WorkloadKind::Mixed => {
            let settings = settings.mixed.clone().ok_or_else(missing)?;
            Box::new(Mixed::new(settings).map_err(serde_json::Error::custom)?)
        }
        WorkloadKind::Documents => {
            let settings: DocumentsSettings = settings.read(kind)?;
            Box::new(Documents::new(settings).map_err(serde_json::Error::custom)?)
        }
        WorkloadKind::Questions => {
            let settings = settings.questions.clone().ok_or_else(missing)?;
            Box::new(Questions::new(settings))
        }
        WorkloadKind::Fidelity => {
            let settings = settings.fidelity.as_ref().ok_or_else(missing)?;
            Box::new(Fidelity::new(settings.corpus.clone()).map_err(serde_json::Error::custom)?)
        }
        WorkloadKind::Durability => {
            let settings: DurabilitySettings = settings.read(kind)?;
            settings.enter_namespace().map_err(serde_json::Error::custom)?;
            Box::new(Durability::new(settings).map_err(serde_json::Error::custom)?)
        }
    })
}

/// Durability tier of a run that is resumed; `None` for workloads without one.
pub(super) fn durability(manifest: &Manifest) -> Option<DurabilityTier> {
    if manifest.workloads.contains(&WorkloadName::Known(WorkloadKind::Mixed)) {
        return Some(mixed::DURABILITY);
    }
    let settings = manifest.settings.workload.read::<ServingSettings>(WorkloadKind::Serving);
    settings.ok().map(|settings| settings.durability)
}

/// Reads the user's folder of questions again for a run that is resumed; `None` for other workloads. Fails if
/// the questions were changed since the run began.
pub(super) fn own_questions(manifest: &Manifest) -> Result<Option<UserQuestions>, Failure> {
    read_again(manifest, WorkloadKind::Questions)
}

/// Reads the questions that are asked beside the load of serving again, for a run that is resumed; `None` if there
/// are none. Fails if they were changed since the run began.
pub(super) fn reports(manifest: &Manifest) -> Result<Option<UserQuestions>, Failure> {
    read_again(manifest, WorkloadKind::Serving)
}

/// Reads the folder of the questions in the manifest of a workload of this kind; `None` for others. Fails if the
/// questions are not those of the run any more.
fn read_again(manifest: &Manifest, kind: WorkloadKind) -> Result<Option<UserQuestions>, Failure> {
    let is_of_kind = manifest.workloads.contains(&WorkloadName::Known(kind));
    let Some(recorded) = manifest.settings.workload.questions.as_ref().filter(|_| is_of_kind) else {
        return Ok(None);
    };
    let questions = UserQuestions::read(&recorded.folder)?;
    if build_settings(&questions, recorded.asking.clone()) != *recorded {
        return Err(Failure::usage(format!(
            "the questions of {} were changed since the run began: start a new run",
            recorded.folder.display()
        )));
    }
    Ok(Some(questions))
}
