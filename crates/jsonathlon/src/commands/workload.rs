//! Workloads by their names: the one place in which they are told apart.

use jsonathlon_results::id::State;
use jsonathlon_results::manifest::Manifest;
use jsonathlon_systems::{ANALYTICS, DOCUMENTS, SERVING};
use jsonathlon_workloads::analytics::{Analytics, AnalyticsSettings};
use jsonathlon_workloads::documents::Documents;
use jsonathlon_workloads::documents::settings::DocumentsSettings;
use jsonathlon_workloads::pace::Enough;
use jsonathlon_workloads::serving::Serving;
use jsonathlon_workloads::serving::settings::ServingSettings;
use jsonathlon_workloads::settings::Settings;
use jsonathlon_workloads::workload::Workload;
use serde_json::Value;

use super::run::{Asked, Usual, enough};
use super::{documents, serving};
use crate::cli::{AnalyticsArguments, RunCommand, RunWorkload, States};
use crate::exit::Failure;

/// What the command line asks for.
pub(super) fn asked(command: &RunCommand) -> Result<Asked<'_>, Failure> {
    match &command.workload {
        None => Ok(analytics(&command.analytics)),
        Some(RunWorkload::Analytics(arguments)) => Ok(analytics(arguments)),
        Some(RunWorkload::Serving(arguments)) => serving::asked(arguments),
        Some(RunWorkload::Documents(arguments)) => documents::asked(arguments),
    }
}

/// Seconds that hot trials of one question may take in one round of a plain run, between the least and the most of them.
const SHORT_HOT_S: f64 = 0.06;
/// Rounds in which a plain run asks cold, as many as begin with a load.
const COLD_ROUNDS: u32 = 3;

fn analytics(arguments: &AnalyticsArguments) -> Asked<'_> {
    let usual = AnalyticsSettings::default();
    let is_plain = matches!(enough(&arguments.run), Enough::Budget { strict: false, .. });
    let settings = AnalyticsSettings {
        states: match arguments.state {
            States::Drained => vec![State::Drained],
            States::Compacted => vec![State::Compacted],
            States::Both => State::ALL.to_vec(),
        },
        hot_trials: arguments.trials.unwrap_or(usual.hot_trials),
        most_hot_trials: arguments.trials.unwrap_or(usual.most_hot_trials),
        // More rounds tell more than more trials of one: rounds are what intervals are made of. What the gate tests
        // are hot trials and loads, so that cold ones need no more rounds than loads.
        hot_duration_s: if is_plain { SHORT_HOT_S } else { usual.hot_duration_s },
        cold_rounds: is_plain.then_some(COLD_ROUNDS),
        cold_os: arguments.cold_os,
        ..usual
    };
    let usual = Usual {
        systems: None,
        rounds: Settings::default().rounds,
        enough: enough(&arguments.run),
        load_rounds: arguments.run.load_rounds,
        durability: None,
    };
    Asked { arguments: &arguments.run, source: None, usual, workload: Box::new(Analytics::new(settings)) }
}

/// The workload of a run that goes on, with the settings that it had.
pub(super) fn again(manifest: &Manifest) -> Result<Box<dyn Workload>, Failure> {
    let [name] = manifest.workloads.as_slice() else {
        return Err(Failure::usage(format!(
            "the run is of {} workloads, and one at a time is resumed",
            manifest.workloads.len()
        )));
    };
    // In runs of version 0.1.0 the settings of the only workload stood among the others.
    let own = manifest.settings.get(name).unwrap_or(&manifest.settings).clone();
    let read = |own: Value| -> Result<Option<Box<dyn Workload>>, serde_json::Error> {
        Ok(match name.as_str() {
            ANALYTICS => Some(Box::new(Analytics::new(serde_json::from_value(own)?))),
            SERVING => {
                let settings: ServingSettings = serde_json::from_value(own)?;
                let workload = Serving::new(settings).map_err(serde::de::Error::custom)?;
                Some(Box::new(workload))
            }
            DOCUMENTS => {
                let settings: DocumentsSettings = serde_json::from_value(own)?;
                let workload = Documents::new(settings).map_err(serde::de::Error::custom)?;
                Some(Box::new(workload))
            }
            _ => None,
        })
    };
    match read(own) {
        Ok(Some(workload)) => Ok(workload),
        Ok(None) => Err(Failure::usage(format!(
            "this version of the program has no workload `{name}`: resume the run with the version that began it"
        ))),
        Err(error) => {
            Err(Failure::usage(format!("the manifest's settings of {name} cannot be understood: {error}")))
        }
    }
}

/// The durability tier of a run that goes on.
pub(super) fn durability(manifest: &Manifest) -> Option<String> {
    let own = manifest.settings.get(SERVING)?;
    Some(own.get("durability")?.as_str()?.to_owned())
}
