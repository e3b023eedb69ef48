//! Converts the arguments of `jsonathlon run fidelity` into settings.

use jsonathlon_dataset::fidelity::CorpusSelection;
use jsonathlon_dataset::source::Source;
use jsonathlon_workloads::fidelity::Fidelity;
use jsonathlon_workloads::fidelity::settings::FidelitySettings;
use jsonathlon_workloads::stopping::StoppingRule;

use super::run_request::{RunDefaults, RunRequest, UNTIMED_MEMORY};
use crate::cli::RunArguments;
use crate::cli::fidelity::FidelityArguments;
use crate::exit::Failure;

pub(super) fn asked(arguments: &FidelityArguments) -> Result<RunRequest<'_>, Failure> {
    let run = &arguments.run;
    not_of_fidelity(run)?;
    let folder = arguments
        .corpus
        .as_ref()
        .map(|folder| {
            std::path::absolute(folder)
                .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))
        })
        .transpose()?;
    let only = arguments.cases.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let corpus = CorpusSelection { folder, only: only.collect() };
    let source = Some(Source::Corpus(corpus.clone()));
    let usual = RunDefaults {
        systems: None,
        rounds: 1,
        enough: StoppingRule::Rounds,
        load_rounds: None,
        durability: None,
        memory: Some(UNTIMED_MEMORY),
        memory_limit_bytes: None,
    };
    let workload =
        Fidelity::new(FidelitySettings { corpus }).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(RunRequest { arguments: run, source, usual, workload: Box::new(workload), own: None })
}

/// Rejects shared options that do not apply to this workload, with the alternative or the reason.
fn not_of_fidelity(run: &RunArguments) -> Result<(), Failure> {
    let once = "each document is tried once by each way, and nothing is timed";
    let told = [
        ("--scale", run.scale.is_some(), "use --cases"),
        ("--data", run.data.is_some(), "use --corpus"),
        ("--malformed", run.malformed > 0, "its documents have their faults already"),
        ("--rounds", run.rounds.is_some(), once),
        ("--precision", run.precision.is_some(), once),
        ("--budget", run.budget.is_some(), once),
        ("--load-rounds", run.load_rounds.is_some(), once),
    ];
    match told.into_iter().find(|(_, is_told, _)| *is_told) {
        Some((option, _, why)) => Err(Failure::usage(format!("{option} is not for fidelity: {why}"))),
        None => Ok(()),
    }
}
