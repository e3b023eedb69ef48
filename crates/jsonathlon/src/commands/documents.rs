//! Converts the arguments of `jsonathlon run documents` into settings.

use jsonathlon_dataset::nested::InnerContent;
use jsonathlon_dataset::source::Source;
use jsonathlon_workloads::documents::Documents;
use jsonathlon_workloads::documents::settings::DocumentsSettings;
use jsonathlon_workloads::stopping::StoppingRule;

use super::run_request::{RunDefaults, RunRequest};
use crate::cli::RunArguments;
use crate::cli::documents::DocumentsArguments;
use crate::exit::Failure;

/// Default of `--systems` for this workload.
const SYSTEMS: &str = "postgresql,mongodb,sqlite";
/// Default of `--rounds`: the number of trials of imports, copies and indexes.
const ROUNDS: u32 = 3;
/// Default document sizes of a plain run, as ordinals (64 KiB and 1 MiB), and the bytes of each table.
const SIZES: [u32; 2] = [12, 16];
const TOTAL: u64 = 8 << 20;
/// Defaults with `--full`: document sizes as ordinals (64 KiB to 16 MiB), bytes of each table, reads per
/// round.
const FULL_SIZES: [u32; 5] = [12, 14, 16, 18, 20];
const FULL_TOTAL: u64 = 64 << 20;
const FULL_READS: u32 = 2;

pub(super) fn asked(arguments: &DocumentsArguments) -> Result<RunRequest<'_>, Failure> {
    let run = &arguments.run;
    not_of_documents(run)?;
    let full = arguments.full;
    let usual_sizes = if full { FULL_SIZES.to_vec() } else { SIZES.to_vec() };
    let sizes = ordered(arguments.sizes.as_deref().unwrap_or(&usual_sizes));
    let settings = DocumentsSettings {
        sizes,
        total: arguments.total.unwrap_or(if full { FULL_TOTAL } else { TOTAL }),
        data: data(run.data.as_deref(), full)?,
        seed: run.seed,
        reads: if full { FULL_READS } else { 1 },
        all_indexes: full,
        cold: full,
        update_path: arguments.update_path,
        history: arguments.history,
        limits: ordered(arguments.limits.as_deref().unwrap_or_default()),
    };
    let tables = settings.tables().map_err(Failure::usage)?;
    let usual = RunDefaults {
        systems: Some(SYSTEMS),
        rounds: ROUNDS,
        enough: StoppingRule::Rounds,
        load_rounds: None,
        durability: None,
        memory: None,
        memory_limit_bytes: None,
    };
    let workload = Documents::new(settings).map_err(Failure::usage)?;
    let source = Some(Source::Ordinals { tables });
    Ok(RunRequest { arguments: run, source, usual, workload: Box::new(workload), own: None })
}

/// Sorts ordinals in ascending order and removes duplicates.
fn ordered(ordinals: &[u32]) -> Vec<u32> {
    let mut ordered = ordinals.to_vec();
    ordered.sort_unstable();
    ordered.dedup();
    ordered
}

/// Parses `--data` into data sets. The default is `identical`, with `--full` both.
fn data(text: Option<&str>, full: bool) -> Result<Vec<InnerContent>, Failure> {
    let all = [InnerContent::Identical, InnerContent::Distinct];
    let Some(text) = text else {
        return Ok(if full { all.to_vec() } else { vec![InnerContent::Identical] });
    };
    let mut found = Vec::new();
    for word in text.split(',').map(str::trim) {
        match all.into_iter().find(|data| data.word() == word) {
            Some(data) if !found.contains(&data) => found.push(data),
            Some(_) => {}
            None => {
                return Err(Failure::usage(format!(
                    "--data of documents is identical, distinct, or both with a comma between them, and not `{word}`"
                )));
            }
        }
    }
    Ok(found)
}

/// Rejects shared options that do not apply to this workload, with the alternative.
fn not_of_documents(run: &RunArguments) -> Result<(), Failure> {
    let told = [
        ("--scale", run.scale.is_some(), "use --total and --sizes"),
        ("--malformed", run.malformed > 0, "documents are generated whole"),
        ("--precision", run.precision.is_some(), "use --rounds"),
        ("--budget", run.budget.is_some(), "use --rounds, --total and --sizes"),
        ("--load-rounds", run.load_rounds.is_some(), "each of --rounds imports the documents"),
    ];
    match told.into_iter().find(|(_, is_told, _)| *is_told) {
        Some((option, _, why)) => Err(Failure::usage(format!("{option} is not for documents: {why}"))),
        None => Ok(()),
    }
}
