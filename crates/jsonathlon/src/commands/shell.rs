//! `jsonathlon completions` and `jsonathlon man`, from the definitions of the command line.

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::Failure;

pub(crate) fn completions(shell: clap_complete::Shell) -> ExitCode {
    clap_complete::generate(shell, &mut Cli::command(), "jsonathlon", &mut std::io::stdout());
    ExitCode::SUCCESS
}

pub(crate) fn man() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut page)
        .and_then(|()| std::io::stdout().write_all(&page))
        .map_err(|error| Failure::environment(format!("failed to write the man page: {error}")))?;
    Ok(ExitCode::SUCCESS)
}
