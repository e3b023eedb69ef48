//! Request of a run as the command line describes it, and the defaults of options that are not given.

use jsonathlon_catalogue::UserQuestions;
use jsonathlon_dataset::source::Source;
use jsonathlon_schema::id::DataState;
use jsonathlon_workloads::{
    asking::QuestionSettings, settings::Settings, stopping::StoppingRule, workload::Workload,
};

use crate::cli::{DataStates, QuestionOptions, RunArguments};

/// Request of the command line: the options that all workloads share, and the workload.
pub(super) struct RunRequest<'a> {
    pub(super) arguments: &'a RunArguments,
    /// Documents that the workload generates itself. `None` if they come from `--data` or the event
    /// generator.
    pub(super) source: Option<Source>,
    pub(super) usual: RunDefaults,
    pub(super) workload: Box<dyn Workload>,
    /// The user's own folder of questions, which defines how systems are set up. `None` for other workloads
    /// and for resumed runs.
    pub(super) own: Option<UserQuestions>,
}

/// Defaults of a workload for options that are not given.
pub(super) struct RunDefaults {
    /// Value in place of `--systems`, separated by commas. `None` if the embedded engines are the default.
    pub(super) systems: Option<&'static str>,
    /// Number of rounds in place of `--rounds`.
    pub(super) rounds: u32,
    /// Stopping rule of the run, as the options say or as the workload fixes it.
    pub(super) enough: StoppingRule,
    /// Number of rounds that begin with a load. `None` if the run decides it by how long a load takes.
    pub(super) load_rounds: Option<u32>,
    /// Durability tier of the whole run. `None` if the workload sets none.
    pub(super) durability: Option<String>,
    /// Default of `--memory` in bytes; half of the machine's memory is the upper limit. `None` means that
    /// half.
    pub(super) memory: Option<u64>,
    /// Limit in bytes of each system's memory together with its page cache. `None` if there is no such limit.
    pub(super) memory_limit_bytes: Option<u64>,
}

/// Default of `--memory`, in bytes, of a workload that measures no speed. Such a workload starts many
/// servers, and servers with less memory to set up start sooner.
pub(super) const UNTIMED_MEMORY: u64 = 4_000_000_000;

/// Default time budget of a run without `--rounds`, `--precision` and `--budget`, in seconds. The planned
/// rounds are finished even if they take longer.
const USUAL_BUDGET_S: f64 = 85.0;
/// Default time budget of a run with `--precision`, in seconds.
const PRECISION_BUDGET_S: f64 = 1800.0;

/// Time of the hot trials of one question in one round of a plain run, in seconds. It applies within the
/// minimum and the maximum number of trials.
const SHORT_HOT_S: f64 = 0.06;
/// Minimum number of hot trials per question and round of a plain run: as many as the published score uses.
const FEW_HOT: u32 = 2;
/// Number of rounds with cold trials in a plain run: as many as begin with a load.
const COLD_ROUNDS: u32 = 3;

/// Stopping rule that the options ask for: `--rounds` comes first, then `--precision`, then `--budget`.
pub(super) fn stopping_rule(arguments: &RunArguments) -> StoppingRule {
    match (arguments.rounds, arguments.precision, arguments.budget) {
        (Some(_), _, _) => StoppingRule::Rounds,
        (None, Some(share), budget) => {
            StoppingRule::Precision { share, seconds: budget.unwrap_or(PRECISION_BUDGET_S) }
        }
        (None, None, Some(seconds)) => StoppingRule::Budget { seconds, strict: true },
        (None, None, None) => StoppingRule::Budget { seconds: USUAL_BUDGET_S, strict: false },
    }
}

/// Settings of a workload that asks questions. A plain run, i.e. one with the default budget, has fewer hot
/// trials, and cold ones only in the first [`COLD_ROUNDS`] rounds.
pub(super) fn asking(run: &RunArguments, arguments: &QuestionOptions) -> QuestionSettings {
    let usual = QuestionSettings::default();
    let is_plain = matches!(stopping_rule(run), StoppingRule::Budget { strict: false, .. });
    QuestionSettings {
        states: match arguments.state {
            DataStates::Drained => vec![DataState::Drained],
            DataStates::Compacted => vec![DataState::Compacted],
            DataStates::Both => DataState::ALL.to_vec(),
        },
        hot_trials: arguments.trials.unwrap_or(if is_plain { FEW_HOT } else { usual.hot_trials }),
        most_hot_trials: arguments.trials.unwrap_or(usual.most_hot_trials),
        // Intervals are computed over rounds, so more rounds are worth more than more trials in a round. The
        // regression gate tests hot trials and loads, so cold trials need no more rounds than loads.
        hot_duration_s: if is_plain { SHORT_HOT_S } else { usual.hot_duration_s },
        cold_rounds: is_plain.then_some(COLD_ROUNDS),
        cold_os: arguments.cold_os,
        ..usual
    }
}

/// Defaults of a workload that asks questions: analytics and questions.
pub(super) fn question_defaults(run: &RunArguments) -> RunDefaults {
    RunDefaults {
        systems: None,
        rounds: Settings::default().rounds,
        enough: stopping_rule(run),
        load_rounds: run.load_rounds,
        durability: None,
        memory: None,
        memory_limit_bytes: None,
    }
}
