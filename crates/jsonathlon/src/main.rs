//! The `jsonathlon` program: parses the command line, dispatches to the subcommands, and maps failures and
//! panics to exit codes.

#![forbid(unsafe_code)]

/// Prints a line on standard error. Write errors are ignored, because a lost message is no reason to end a
/// run.
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
mod parse;
mod progress;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use cli::{Cli, Command};
use exit::{Failure, INTERNAL};

/// Upper bound of the open-file limit that is requested. Enough for a run and its servers; not higher,
/// because some programs iterate over every descriptor that they may open.
const MAX_OPEN_FILES: u64 = 1 << 20;

/// Raises the open-file limit of this process and its children to what the system allows, at most
/// [`MAX_OPEN_FILES`]. Shells set 1,024, which a few hundred clients use up.
fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let limit = maximum.map_or(MAX_OPEN_FILES, |hard_limit| hard_limit.min(MAX_OPEN_FILES));
    if current.is_some_and(|current| current < limit) {
        // A failure is ignored: whatever needs more files reports its own error.
        setrlimit(Resource::Nofile, Rlimit { current: Some(limit), maximum }).ok();
    }
}

fn main() -> ExitCode {
    raise_open_files();
    // A panic gets its own exit code, which distinguishes a bug of the program from a reported failure.
    std::panic::catch_unwind(|| {
        let cli = Cli::try_parse().unwrap_or_else(|error| suggest_names(error).exit());
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

/// Adds the list of valid names to an error about an unknown command or workload; returns other errors
/// unchanged.
fn suggest_names(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::InvalidSubcommand {
        let root = Cli::command();
        let arguments = std::env::args().skip(1);
        let parent = arguments.fold(&root, |command, name| command.find_subcommand(&name).unwrap_or(command));
        let visible = parent.get_subcommands().filter(|command| !command.is_hide_set());
        let names: Vec<&str> = visible.map(clap::Command::get_name).collect();
        let tip = format!("there is {}", names.join(", "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn dispatch(cli: Cli) -> Result<ExitCode, Failure> {
    match cli.command {
        Command::Choose(command) => commands::choose::run(&command),
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
        Command::Worker => {
            Ok(jsonathlon_worker::main(Some(&mut jsonathlon_loadgen::load_generator::LoadGenerator::new())))
        }
        Command::ServerGuard => Ok(jsonathlon_servers::guard()),
        Command::ServerExec { arguments } => Ok(jsonathlon_servers::exec(&arguments)),
    }
}
