//! How the program ends: exit codes, and errors as people read them.

use std::error::Error;

use anstyle::{AnsiColor, Style};
use jsonathlon_dataset::DataError;
use jsonathlon_report::page::PageError;
use jsonathlon_results::ResultsError;
use jsonathlon_studies::definition::StudyError;
use jsonathlon_systems::{ArtifactError, CatalogueError};
use jsonathlon_workloads::RunError;

/// A cell failed, or is slower than it may be.
pub(crate) const FAILED_CELL: u8 = 1;
/// Wrong usage or input.
pub(crate) const USAGE: u8 = 2;
/// The environment lacks something.
pub(crate) const ENVIRONMENT: u8 = 3;
/// Interrupted; can be resumed.
pub(crate) const INTERRUPTED: u8 = 4;
/// A fault of the program (`EX_SOFTWARE` of sysexits).
pub(crate) const INTERNAL: u8 = 70;

/// What a command can fail with.
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
        /// What to do next, on a line of its own.
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

    /// The exit code.
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
            Self::Run(RunError::Changed(_) | RunError::Catalogue(_) | RunError::Budget { .. }) => USAGE,
            Self::Run(_) => ENVIRONMENT,
            Self::Plain { code, .. } => *code,
        }
    }

    /// Says on standard error what went wrong, with its causes.
    pub(crate) fn print(&self) {
        let style = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        let mut said = self.printable(&self.to_string());
        crate::say!("{style}error:{style:#} {said}");
        let mut cause = self.source();
        while let Some(error) = cause {
            let reason = self.printable(&error.to_string());
            // Most messages end with the words of their cause.
            if !said.contains(&reason) {
                crate::say!("  because: {reason}");
            }
            said = reason;
            cause = error.source();
        }
        if let Self::Plain { advice: Some(advice), .. } = self {
            crate::say!("{}", self.printable(advice));
        }
    }

    /// A message without what moves a cursor or changes colours: names and sources in it may come from anybody's
    /// run folder. What is said of such a folder has no lines either, which could be taken for the program's own.
    fn printable(&self, message: &str) -> String {
        let lines = !matches!(
            self,
            Self::Results(_) | Self::Run(RunError::Results(_)) | Self::Page(PageError::Results(_))
        );
        let harmless = |c: char| !c.is_control() || (lines && c == '\n');
        message.chars().map(|c| if harmless(c) { c } else { ' ' }).collect()
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
        let told = |failure: &Failure| failure.printable(&failure.to_string());
        let foreign = Failure::Results(ResultsError::Incomparable("a\u{1b}[2Jb\u{9b}1mc\nPASSED".to_owned()));
        assert_eq!(told(&foreign), "a [2Jb 1mc PASSED");
        assert_eq!(told(&Failure::usage("this lacks\n    that\r\u{7}")), "this lacks\n    that  ");
    }

    #[test]
    fn without_a_folder_for_baselines_the_environment_lacks_something() {
        assert_eq!(Failure::from(ResultsError::NoDataFolder).code(), ENVIRONMENT);
    }
}
