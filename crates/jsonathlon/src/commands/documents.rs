//! Converts the arguments of `jsonathlon run documents` into settings.

use jsonathlon_dataset::nested::InnerContent;
use jsonathlon_dataset::source::Source;
use jsonathlon_schema::settings::StoppingRule;
use jsonathlon_workloads::documents::Documents;
use jsonathlon_workloads::documents::settings::DocumentsSettings;

use super::run_request::{DEFAULT_VARIANTS, RunDefaults, RunRequest};
use crate::cli::documents::{ContentChoice, DocumentsArguments};
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

pub(super) fn build_request(arguments: &DocumentsArguments) -> Result<RunRequest<'_>, Failure> {
    let options = &arguments.options;
    let full = options.full;
    let default_sizes = if full { FULL_SIZES.to_vec() } else { SIZES.to_vec() };
    let document_sizes = sorted(options.sizes.as_deref().unwrap_or(&default_sizes));
    let settings = DocumentsSettings {
        document_sizes,
        table_size: options.table_size.unwrap_or(if full { FULL_TOTAL } else { TOTAL }),
        content: contents(&options.content, full),
        seed: options.seed,
        reads: if full { FULL_READS } else { 1 },
        all_indexes: full,
        cold: full,
        update_path: options.update_path,
        versions: options.versions,
        max_size_search: sorted(options.max_size_search.as_deref().unwrap_or_default()),
    };
    let tables = settings.tables().map_err(Failure::usage)?;
    let defaults = RunDefaults {
        systems: Some(SYSTEMS),
        variants: DEFAULT_VARIANTS,
        rounds: options.rounds.unwrap_or(ROUNDS),
        stopping: StoppingRule::Rounds,
        load_rounds: None,
        durability: None,
        memory: None,
        memory_limit_bytes: None,
    };
    let workload = Documents::new(settings).map_err(Failure::usage)?;
    let source = Some(Source::Ordinals { tables });
    Ok(RunRequest {
        common: &arguments.common,
        external: Some(&arguments.external),
        source,
        seed: options.seed,
        has_yardstick: true,
        defaults,
        workload: Box::new(workload),
        user_questions: None,
        reports: None,
    })
}

/// Sorts ordinals in ascending order and removes duplicates.
fn sorted(ordinals: &[u32]) -> Vec<u32> {
    let mut sorted = ordinals.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

/// Contents that `--content` names, in the order of [`InnerContent`] and without duplicates. The default is
/// `identical`, with `--full` both.
fn contents(choices: &[ContentChoice], full: bool) -> Vec<InnerContent> {
    let is_wanted = |content: &InnerContent| match (content, choices) {
        (InnerContent::Identical, []) => true,
        (InnerContent::Distinct, []) => full,
        (InnerContent::Identical, choices) => choices.contains(&ContentChoice::Identical),
        (InnerContent::Distinct, choices) => choices.contains(&ContentChoice::Distinct),
    };
    [InnerContent::Identical, InnerContent::Distinct].into_iter().filter(is_wanted).collect()
}
