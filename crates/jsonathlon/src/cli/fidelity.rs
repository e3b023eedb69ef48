//! Command-line options of `jsonathlon run fidelity`.

use std::path::PathBuf;

use clap::Args;

use super::run_options::{CommonArguments, ExternalOptions};

/// Help heading of the options that only this workload has.
const FIDELITY: &str = "Options of fidelity";

/// Without any option: every document made from the RFCs, through the embedded engines and each of their ways to
/// store JSON.
#[derive(Debug, Args)]
pub(crate) struct FidelityArguments {
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) external: ExternalOptions,
    #[command(flatten)]
    pub(crate) options: FidelityOptions,
}

/// Options that only this workload has.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct FidelityOptions {
    /// Folder of your own documents instead, one a file, whatever bytes it has. A name that begins with y_, n_ or i_
    /// says that its document must be accepted, must be rejected, or is the implementation's choice; of others the
    /// grammar says it
    #[arg(long, value_name = "FOLDER", help_heading = FIDELITY)]
    pub(crate) corpus: Option<PathBuf>,
    /// Cases to try, by their names or how these begin, separated by commas, such as `number-,duplicate-key`
    /// [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = FIDELITY)]
    pub(crate) cases: Vec<String>,
}
