//! The workloads of `jsonathlon run`, each with its own options. What a workload does not have is unknown to
//! its parser.

use clap::{Args, Subcommand};

use super::run_options::{ASKING, EventRunArguments, PaceOptions, QuestionOptions};
use super::{documents, durability, fidelity, mixed, questions, serving};

/// A workload with its own arguments; without a name it is analytics.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "WORKLOAD",
    subcommand_help_heading = "Workloads"
)]
pub(crate) struct RunCommand {
    #[command(subcommand)]
    pub(crate) workload: Option<RunWorkload>,
    #[command(flatten)]
    pub(crate) analytics: AnalyticsArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunWorkload {
    /// The billion-document JSON challenge: load, five questions and one more [default]
    Analytics(Box<AnalyticsArguments>),
    /// OLTP on JSON documents: YCSB mixes (reads, updates, inserts, scans) with many concurrent clients
    Serving(Box<serving::ServingArguments>),
    /// Questions while documents come in: streams of Q1 to Q5 beside writers, every answer checked exactly
    Mixed(Box<mixed::MixedArguments>),
    /// Large documents (64 KiB to 16 MiB): import, export, copy with a small edit, point lookups, indexes
    Documents(Box<documents::DocumentsArguments>),
    /// Your own questions about your own documents: `jsonathlon questions new` writes first ones
    Questions(Box<questions::RunQuestions>),
    /// Round-trip tests: store and read back hundreds of JSON edge cases from the RFCs
    Fidelity(Box<fidelity::FidelityArguments>),
    /// Crash tests: kill the system or cut its power at a random moment and check that acknowledged writes survive
    Durability(Box<durability::DurabilityArguments>),
}

#[derive(Debug, Args)]
pub(crate) struct AnalyticsArguments {
    #[command(flatten)]
    pub(crate) run: EventRunArguments,
    #[command(flatten)]
    pub(crate) pace: PaceOptions,
    #[command(flatten)]
    pub(crate) question_options: QuestionOptions,
    /// Skip the yardstick (hand-written reference program shown next to every time)
    #[arg(long, conflicts_with = "resume")]
    pub(crate) no_yardstick: bool,
    /// Ask the challenge's questions even if the documents of --data are not its events
    #[arg(long, requires = "data", help_heading = ASKING)]
    pub(crate) force: bool,
}
