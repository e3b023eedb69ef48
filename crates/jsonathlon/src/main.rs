//! `jsonathlon`: which database should hold my JSON, on my hardware, for my load?

#![forbid(unsafe_code)]

/// Says something on standard error, as far as that can be written to: what is said there is no reason to end a run.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        writeln!(anstream::stderr(), $($words)*).ok();
    }};
}
pub(crate) use say;

mod cli;
mod commands;
mod exit;
mod interrupt;
mod progress;
mod size;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use exit::{Failure, INTERNAL};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are enough for whatever a run has, its servers' too; some programs look at each that they may open.
const ENOUGH_FILES: u64 = 1 << 20;

/// Lets this process and all that it starts open as many files as the system allows: shells give 1,024, which some hundred
/// clients use up.
fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(ENOUGH_FILES, |most| most.min(ENOUGH_FILES));
    if current.is_some_and(|current| current < wanted) {
        // Where it cannot be raised, those who need more say so.
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).ok();
    }
}

fn main() -> ExitCode {
    raise_open_files();
    // A fault of the program is told apart from everything that it reports in an orderly way.
    std::panic::catch_unwind(|| {
        let cli = Cli::try_parse().unwrap_or_else(|error| with_names(error).exit());
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

/// An error of arguments; where a command's or a workload's name is unknown, with the names that there are.
fn with_names(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::InvalidSubcommand {
        let all = Cli::command();
        let asked = std::env::args().skip(1);
        let within = asked.fold(&all, |command, name| command.find_subcommand(&name).unwrap_or(command));
        let shown = within.get_subcommands().filter(|command| !command.is_hide_set());
        let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let tip = format!("there is {}", names.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Study(arguments) => commands::study::run(&arguments),
        Command::Systems(arguments) => commands::systems::run(&arguments),
        Command::Data(arguments) => commands::data::run(&arguments),
        Command::Questions(arguments) => commands::questions::run(&arguments),
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
