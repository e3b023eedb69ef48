//! `jsonathlon completions` and `jsonathlon man`, generated from the definitions of the command line.

use std::process::ExitCode;

use clap::CommandFactory;

use super::print;
use crate::cli::Cli;
use crate::exit::Failure;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    // Into memory first, because the library panics when it cannot write.
    clap_complete::generate(shell, &mut Cli::command(), "jsonathlon", &mut script);
    write(&script)
}

pub(crate) fn man() -> Result<ExitCode, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command())
        .render(&mut page)
        .map_err(|error| Failure::environment(format!("failed to write the man page: {error}")))?;
    write(&page)
}

fn write(text: &[u8]) -> Result<ExitCode, Failure> {
    print(&String::from_utf8_lossy(text))?;
    Ok(ExitCode::SUCCESS)
}
