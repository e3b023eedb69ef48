//! `jsonathlon`: which database should hold my JSON, on my hardware, for my load?

#![forbid(unsafe_code)]

mod cli;
mod commands;
mod exit;
mod interrupt;
mod progress;
mod size;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};
use exit::{Failure, INTERNAL};

fn main() -> ExitCode {
    // A fault of the program is told apart from everything that it reports in an orderly way.
    std::panic::catch_unwind(|| {
        let cli = Cli::parse();
        match dispatch(cli) {
            Ok(code) => code,
            Err(failure) => {
                failure.print();
                ExitCode::from(failure.code())
            }
        }
    })
    .unwrap_or(ExitCode::from(INTERNAL))
}

fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Systems(arguments) => commands::systems::run(&arguments),
        Command::Data(arguments) => commands::data::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Published(arguments) => commands::published::run(&arguments),
        Command::Completions { shell } => commands::shell::completions(shell),
        Command::Man => commands::shell::man(),
        Command::Worker => Ok(jsonathlon_worker::main(Some(&mut jsonathlon_drive::worker::Clients::new()))),
        Command::ServerGuard => Ok(jsonathlon_servers::guard()),
        Command::ServerExec { arguments } => Ok(jsonathlon_servers::exec(&arguments)),
    }
}
