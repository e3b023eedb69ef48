//! Exit codes of the program, and how errors are printed for users.

use std::error::Error;

use anstyle::{AnsiColor, Style};

use jsonathlon_artifacts::ArtifactError;
use jsonathlon_catalogue::CatalogueError;
use jsonathlon_dataset::DataError;
use jsonathlon_report::page::PageError;
use jsonathlon_results::ResultsError;
use jsonathlon_studies::definition::StudyError;
use jsonathlon_workloads::RunError;

/// Exit code if a cell failed or is disputed, a run is incomplete, a durability promise was broken, a check
/// failed, or the regression gate did not pass.
pub(crate) const FAILED_CELL: u8 = 1;
/// Exit code for wrong arguments or wrong input.
pub(crate) const USAGE: u8 = 2;
/// Exit code if the environment lacks something, such as a client, disk space or memory.
pub(crate) const ENVIRONMENT: u8 = 3;
/// Exit code after an interrupt; the run can be resumed.
pub(crate) const INTERRUPTED: u8 = 4;
/// Exit code after a panic, i.e. a bug of the program (`EX_SOFTWARE` of sysexits).
pub(crate) const INTERNAL: u8 = 70;

/// Error of a subcommand. Determines the exit code and the message on standard error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{message}")]
    Plain {
        code: u8,
        message: String,
        /// What the user can do next, printed on its own line. `None` if there is nothing to advise.
        advice: Option<String>,
    },
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Plain { code: USAGE, message: message.into(), advice: None }
    }

    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self::Plain { code: ENVIRONMENT, message: message.into(), advice: None }
    }

    pub(crate) fn interrupted(advice: impl Into<String>) -> Self {
        Self::Plain { code: INTERRUPTED, message: "interrupted".to_owned(), advice: Some(advice.into()) }
    }

    /// Exit code of the program for this error: one of the constants of this module.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Data(error) | Self::Run(RunError::Data(error)) => data_code(error),
            Self::Results(error)
            | Self::Run(RunError::Results(error))
            | Self::Page(PageError::Results(error)) => match error {
                ResultsError::Io { .. } | ResultsError::Locked { .. } | ResultsError::NoDataFolder => {
                    ENVIRONMENT
                }
                _ => USAGE,
            },
            Self::Page(_) => ENVIRONMENT,
            Self::Catalogue(CatalogueError::Platform { .. }) => ENVIRONMENT,
            Self::Catalogue(_) | Self::Study(_) => USAGE,
            Self::Artifact(ArtifactError::Cancelled) | Self::Run(RunError::Interrupted) => INTERRUPTED,
            Self::Artifact(_) => ENVIRONMENT,
            Self::Run(
                RunError::Changed(_)
                | RunError::Catalogue(_)
                | RunError::Unsupported { .. }
                | RunError::Budget { .. },
            ) => USAGE,
            Self::Run(_) => ENVIRONMENT,
            Self::Plain { code, .. } => *code,
        }
    }

    /// Prints the error, its causes and the advice on standard error.
    pub(crate) fn print(&self) {
        let style = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        let mut message = self.printable(&self.to_string());
        crate::say!("{style}error:{style:#} {message}");
        let mut cause = self.source();
        while let Some(error) = cause {
            let reason = self.printable(&error.to_string());
            // Skips a cause that the message before already contains, as most messages end with their cause.
            if !message.contains(&reason) {
                crate::say!("  because: {reason}");
            }
            message = reason;
            cause = error.source();
        }
        if let Self::Plain { advice: Some(advice), .. } = self {
            crate::say!("{}", self.printable(advice));
        }
    }

    /// Replaces control characters with spaces, so that a message cannot move the cursor or change colours:
    /// names and sources in it may come from an untrusted run folder. Line breaks are replaced only in errors
    /// about run folders, where a line could be taken for the program's own.
    fn printable(&self, message: &str) -> String {
        let allows_newlines = !matches!(
            self,
            Self::Results(_) | Self::Run(RunError::Results(_)) | Self::Page(PageError::Results(_))
        );
        let is_harmless = |c: char| !c.is_control() || (allows_newlines && c == '\n');
        message.chars().map(|c| if is_harmless(c) { c } else { ' ' }).collect()
    }
}

fn data_code(error: &DataError) -> u8 {
    match error {
        DataError::Cancelled => INTERRUPTED,
        DataError::DiskFull { .. } => ENVIRONMENT,
        _ => USAGE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_move_no_cursor() {
        let printed = |failure: &Failure| failure.printable(&failure.to_string());
        let foreign = Failure::Results(ResultsError::Incomparable("a\u{1b}[2Jb\u{9b}1mc\nPASSED".to_owned()));
        assert_eq!(printed(&foreign), "a [2Jb 1mc PASSED");
        assert_eq!(printed(&Failure::usage("this lacks\n    that\r\u{7}")), "this lacks\n    that  ");
    }

    #[test]
    fn without_a_folder_for_baselines_the_environment_lacks_something() {
        assert_eq!(Failure::from(ResultsError::NoDataFolder).code(), ENVIRONMENT);
    }
}
