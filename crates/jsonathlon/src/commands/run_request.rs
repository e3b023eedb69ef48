//! Request of a run as the command line describes it, and the defaults of options that are not given.

use jsonathlon_catalogue::UserQuestions;
use jsonathlon_dataset::source::{InputOptions, Source};
use jsonathlon_schema::settings::{RunSettings, StoppingRule, questions::QuestionSettings};
use jsonathlon_schema::{durability::DurabilityTier, id::DataState};
use jsonathlon_workloads::workload::Workload;

use crate::cli::run_options::{
    CommonArguments, DEFAULT_SCALE, DataStates, EventOptions, EventRunArguments, ExternalOptions,
    InputArguments, PaceOptions, QuestionOptions, SystemOptions,
};
use crate::exit::Failure;

/// Request of the command line: the options that all workloads share, and the workload.
pub(super) struct RunRequest<'a> {
    pub(super) common: &'a CommonArguments,
    /// External systems of the request. `None` if the workload must not touch systems that others operate.
    pub(super) external: Option<&'a ExternalOptions>,
    /// Documents of the run. `None` if the run is resumed, so that its manifest names them.
    pub(super) source: Option<Source>,
    /// Seed of whatever the run draws at random.
    pub(super) seed: u64,
    /// Whether the yardstick is measured next to the systems, if the workload has one.
    pub(super) has_yardstick: bool,
    pub(super) defaults: RunDefaults,
    pub(super) workload: Box<dyn Workload>,
    /// The user's own folder of questions, which defines how systems are set up. `None` for other workloads
    /// and for resumed runs.
    pub(super) user_questions: Option<UserQuestions>,
    /// The user's own questions that are asked beside the load of serving. `None` without such, and for resumed
    /// runs.
    pub(super) reports: Option<UserQuestions>,
}

/// What a workload makes of the options that several workloads have, and its defaults for those not given.
pub(super) struct RunDefaults {
    /// Value in place of `--systems`, separated by commas. `None` if the embedded engines are the default.
    pub(super) systems: Option<&'static str>,
    /// Value in place of `--variants`.
    pub(super) variants: &'static str,
    /// Number of rounds, from `--rounds` or the workload's default.
    pub(super) rounds: u32,
    /// Stopping rule of the run, as the options say or as the workload fixes it.
    pub(super) stopping: StoppingRule,
    /// Number of rounds that begin with a load. `None` if the duration of a load decides.
    pub(super) load_rounds: Option<u32>,
    /// Durability tier of the whole run. `None` if the workload sets none.
    pub(super) durability: Option<DurabilityTier>,
    /// Default of `--memory` in bytes; half of the machine's memory is the upper limit. `None` means that
    /// half.
    pub(super) memory: Option<u64>,
    /// Limit in bytes of each system's memory together with its page cache. `None` if there is no such limit.
    pub(super) memory_limit_bytes: Option<u64>,
}

impl RunDefaults {
    /// Variants that the options select, or those of the workload.
    pub(super) fn variants_of<'o>(&self, options: &'o SystemOptions) -> &'o str {
        options.variants.as_deref().unwrap_or(self.variants)
    }
}

/// Default of `--variants`: the default variant of every class of preparation.
pub(super) const DEFAULT_VARIANTS: &str = "default";
/// Default of `--memory`, in bytes, of a workload that measures no speed. Such a workload starts many
/// servers, and servers with less memory to set up start sooner.
pub(super) const UNTIMED_MEMORY: u64 = 4_000_000_000;

/// Default time budget of a run without `--rounds`, `--precision` and `--budget`, in seconds. The planned
/// rounds are finished even if they take longer.
const DEFAULT_BUDGET_S: f64 = 85.0;
/// Default time budget of a run with `--precision`, in seconds.
const PRECISION_BUDGET_S: f64 = 1800.0;

/// Time of the hot trials of one question in one round of a plain run, in seconds. It applies within the
/// minimum and the maximum number of trials.
const PLAIN_HOT_S: f64 = 0.06;
/// Minimum number of hot trials per question and round of a plain run: as many as the published score uses.
const MIN_HOT_TRIALS: u32 = 2;
/// Number of rounds with cold trials in a plain run: as many as begin with a load.
const COLD_ROUNDS: u32 = 3;

/// Stopping rule that the options ask for: `--rounds` comes first, then `--precision`, then `--budget`.
pub(super) fn stopping_rule(pace: &PaceOptions) -> StoppingRule {
    match (pace.rounds, pace.precision, pace.budget) {
        (Some(_), _, _) => StoppingRule::Rounds,
        (None, Some(share), budget) => {
            StoppingRule::Precision { share, seconds: budget.unwrap_or(PRECISION_BUDGET_S) }
        }
        (None, None, Some(seconds)) => StoppingRule::Budget { seconds, strict: true },
        (None, None, None) => StoppingRule::Budget { seconds: DEFAULT_BUDGET_S, strict: false },
    }
}

/// Settings of a workload that asks questions. A plain run, i.e. one with the default budget, has fewer hot
/// trials, and cold ones only in the first [`COLD_ROUNDS`] rounds.
pub(super) fn question_settings(pace: &PaceOptions, arguments: &QuestionOptions) -> QuestionSettings {
    let defaults = QuestionSettings::default();
    let is_plain = matches!(stopping_rule(pace), StoppingRule::Budget { strict: false, .. });
    QuestionSettings {
        states: match arguments.data_state {
            DataStates::Drained => vec![DataState::Drained],
            DataStates::Compacted => vec![DataState::Compacted],
            DataStates::Both => DataState::ALL.to_vec(),
        },
        hot_trials: arguments.trials.unwrap_or(if is_plain { MIN_HOT_TRIALS } else { defaults.hot_trials }),
        max_hot_trials: arguments.trials.unwrap_or(defaults.max_hot_trials),
        // Intervals are computed over rounds, so more rounds are worth more than more trials in a round. The
        // regression gate tests hot trials and loads, so cold trials need no more rounds than loads.
        hot_duration_s: if is_plain { PLAIN_HOT_S } else { defaults.hot_duration_s },
        cold_rounds: arguments.cold_rounds.or(is_plain.then_some(COLD_ROUNDS)),
        cold_os: arguments.cold_page_cache,
        ..defaults
    }
}

/// Defaults of a workload that asks questions: analytics and questions.
pub(super) fn question_defaults(pace: &PaceOptions) -> RunDefaults {
    RunDefaults {
        systems: None,
        variants: DEFAULT_VARIANTS,
        rounds: pace.rounds.unwrap_or_else(|| RunSettings::default().rounds),
        stopping: stopping_rule(pace),
        load_rounds: pace.load_rounds,
        durability: None,
        memory: None,
        memory_limit_bytes: None,
    }
}

/// The source as the run's arguments say that it is read.
///
/// # Errors
/// If generated documents are to be read in some way, or those of a resumed run, which it has already. The parser
/// does not refuse either: other commands share these arguments and cannot resume, and what an argument requires
/// is not asked for if another argument excludes it.
pub(super) fn read_as(
    source: Source,
    input: InputArguments,
    common: &CommonArguments,
) -> Result<Source, Failure> {
    let options = input.options();
    if options == InputOptions::default() {
        return Ok(source);
    }
    let reason = match (common.resume.is_some(), source.is_generated()) {
        (true, _) => "and a resumed run has read its documents: leave them out",
        (false, true) => "and there is none: name your documents with --data, or leave them out",
        (false, false) => return Ok(source.with_input(options)),
    };
    Err(Failure::usage(format!("--input and --bulk-actions say how --data is read, {reason}")))
}

/// Source of the events that the arguments of a run describe, as they say that it is read.
///
/// # Errors
/// As those of [`read_as`], and if malformed lines exceed the documents.
pub(super) fn events_of(arguments: &EventRunArguments) -> Result<Source, Failure> {
    let EventRunArguments { common, events, input, .. } = arguments;
    read_as(event_source(events)?, *input, common)
}

/// Source of the events that the options describe: `--data`, otherwise generated ones.
fn event_source(options: &EventOptions) -> Result<Source, Failure> {
    let EventOptions { scale, data, malformed, seed } = options;
    if let Some(text) = data {
        return document_source(text);
    }
    let documents = scale.unwrap_or(DEFAULT_SCALE);
    if *malformed > documents {
        return Err(Failure::usage(format!(
            "{malformed} malformed lines cannot be planted among {documents} documents"
        )));
    }
    Ok(Source::Generated { seed: *seed, start: 0, documents, malformed: *malformed })
}

/// Source of the documents that `--data` names. A path becomes absolute, because a resumed run may be started
/// in another directory.
pub(super) fn document_source(text: &str) -> Result<Source, Failure> {
    match Source::from_argument(text) {
        Source::Path(path) => std::path::absolute(&path)
            .map(Source::Path)
            .map_err(|error| Failure::usage(format!("{}: {error}", path.display()))),
        other => Ok(other),
    }
}
