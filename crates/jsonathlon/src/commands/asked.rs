//! What the command line asks a run for, and what is usual where it does not say.

use jsonathlon_dataset::source::Source;
use jsonathlon_results::id::State;
use jsonathlon_systems::OwnQuestions;
use jsonathlon_workloads::asking::AskSettings;
use jsonathlon_workloads::pace::Enough;
use jsonathlon_workloads::settings::Settings;
use jsonathlon_workloads::workload::Workload;

use crate::cli::{AskArguments, RunArguments, States};

/// What the command line asks for: the arguments that all workloads share, and the workload.
pub(super) struct Asked<'a> {
    pub(super) arguments: &'a RunArguments,
    /// Documents that the workload makes for itself.
    pub(super) source: Option<Source>,
    pub(super) usual: Usual,
    pub(super) workload: Box<dyn Workload>,
    /// A user's own folder of questions, which says how systems are set up.
    pub(super) own: Option<OwnQuestions>,
}

/// What a workload takes that was not told.
pub(super) struct Usual {
    /// Systems; the embedded engines where none are named.
    pub(super) systems: Option<&'static str>,
    /// Rounds.
    pub(super) rounds: u32,
    /// When there are enough of them.
    pub(super) enough: Enough,
    /// Rounds that begin with a load.
    pub(super) load_rounds: Option<u32>,
    /// The durability tier, of a workload that has one.
    pub(super) durability: Option<String>,
    /// Bytes of memory that each system may use; half of the machine's where this is none.
    pub(super) memory: Option<u64>,
    /// Bytes to which each system is held together with the page cache, where that is asked for.
    pub(super) most_memory: Option<u64>,
}

/// Bytes of memory of systems whose speed is not measured. Servers that set less up start sooner, and such a workload
/// starts many.
pub(super) const UNTIMED_MEMORY: u64 = 4_000_000_000;

/// What a run may take that is told nothing about that.
const USUAL_BUDGET_S: f64 = 85.0;
/// What one may take that is to be precise, and is told no more.
const PRECISION_BUDGET_S: f64 = 1800.0;

/// Seconds that hot trials of one question may take in one round of a plain run, between the least and the most of
/// them.
const SHORT_HOT_S: f64 = 0.06;
/// Hot trials of a slow question in one round of a plain run: as many as the published score looks at.
const FEW_HOT: u32 = 2;
/// Rounds in which a plain run asks cold, as many as begin with a load.
const COLD_ROUNDS: u32 = 3;

/// When there are enough rounds, as it was asked for.
pub(super) fn enough(arguments: &RunArguments) -> Enough {
    match (arguments.rounds, arguments.precision, arguments.budget) {
        (Some(_), _, _) => Enough::Rounds,
        (None, Some(share), budget) => {
            Enough::Precision { share, seconds: budget.unwrap_or(PRECISION_BUDGET_S) }
        }
        (None, None, Some(seconds)) => Enough::Budget { seconds, strict: true },
        (None, None, None) => Enough::Budget { seconds: USUAL_BUDGET_S, strict: false },
    }
}

/// How questions are asked.
pub(super) fn asking(run: &RunArguments, arguments: &AskArguments) -> AskSettings {
    let usual = AskSettings::default();
    let is_plain = matches!(enough(run), Enough::Budget { strict: false, .. });
    AskSettings {
        states: match arguments.state {
            States::Drained => vec![State::Drained],
            States::Compacted => vec![State::Compacted],
            States::Both => State::ALL.to_vec(),
        },
        hot_trials: arguments.trials.unwrap_or(if is_plain { FEW_HOT } else { usual.hot_trials }),
        most_hot_trials: arguments.trials.unwrap_or(usual.most_hot_trials),
        // More rounds tell more than more trials of one: rounds are what intervals are made of. What the gate tests
        // are hot trials and loads, so that cold ones need no more rounds than loads.
        hot_duration_s: if is_plain { SHORT_HOT_S } else { usual.hot_duration_s },
        cold_rounds: is_plain.then_some(COLD_ROUNDS),
        cold_os: arguments.cold_os,
        ..usual
    }
}

/// What a run that asks questions takes where it is told nothing.
pub(super) fn usual(run: &RunArguments) -> Usual {
    Usual {
        systems: None,
        rounds: Settings::default().rounds,
        enough: enough(run),
        load_rounds: run.load_rounds,
        durability: None,
        memory: None,
        most_memory: None,
    }
}
