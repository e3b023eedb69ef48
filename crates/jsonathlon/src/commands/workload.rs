//! Workloads by their names: the one place in which they are told apart.

use jsonathlon_results::manifest::Manifest;
use jsonathlon_systems::ANALYTICS;
use jsonathlon_workloads::analytics::Analytics;
use jsonathlon_workloads::workload::Workload;
use serde_json::Value;

use crate::cli::{RunCommand, RunWorkload};
use crate::commands::run::Asked;
use crate::exit::Failure;

/// What the command line asks for.
pub(super) fn asked(command: &RunCommand) -> Asked<'_> {
    match &command.workload {
        None => Asked::analytics(&command.analytics),
        Some(RunWorkload::Analytics(arguments)) => Asked::analytics(arguments),
    }
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
