//! Converts the arguments of `jsonathlon run fidelity` into settings.

use jsonathlon_dataset::source::Source;
use jsonathlon_schema::settings::{StoppingRule, fidelity::CorpusSelection};
use jsonathlon_workloads::fidelity::Fidelity;

use super::run_request::{DEFAULT_VARIANTS, RunDefaults, RunRequest, UNTIMED_MEMORY};
use crate::cli::fidelity::FidelityArguments;
use crate::cli::run_options::DEFAULT_SEED;
use crate::exit::Failure;

pub(super) fn build_request(arguments: &FidelityArguments) -> Result<RunRequest<'_>, Failure> {
    let options = &arguments.options;
    let folder = options
        .corpus
        .as_ref()
        .map(|folder| {
            std::path::absolute(folder)
                .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))
        })
        .transpose()?;
    let names = options.cases.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let corpus = CorpusSelection { folder, only: names.collect() };
    let source = Some(Source::Corpus(corpus.clone()));
    let defaults = RunDefaults {
        systems: None,
        variants: DEFAULT_VARIANTS,
        rounds: 1,
        stopping: StoppingRule::Rounds,
        load_rounds: None,
        durability: None,
        memory: Some(UNTIMED_MEMORY),
        memory_limit_bytes: None,
    };
    let workload = Fidelity::new(corpus).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(RunRequest {
        common: &arguments.common,
        external: Some(&arguments.external),
        source,
        seed: DEFAULT_SEED,
        has_yardstick: true,
        defaults,
        workload: Box::new(workload),
        user_questions: None,
        reports: None,
    })
}
