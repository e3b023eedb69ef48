//! `jsonathlon choose new`: writes a file of needs from the profile of documents.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use jsonathlon_choose::needs::{DocumentsOverview, ProposedPath, template};
use jsonathlon_dataset::describe::{DescribeOptions, Profile, describe};
use jsonathlon_dataset::skipped_entries;
use jsonathlon_dataset::source::Source;
use jsonathlon_report::format;

use crate::cli::run_options::InputArguments;
use crate::commands::print;
use crate::commands::questions::shell_quoted;
use crate::exit::Failure;
use crate::interrupt::Interrupt;

pub(super) fn run(file: &Path, data: &str, input: InputArguments) -> Result<ExitCode, Failure> {
    let exists = || Failure::usage(format!("{} exists already: name a new file", file.display()));
    if file.exists() {
        return Err(exists());
    }
    let source = Source::from_argument(data).with_input(input.options());
    if *source.origin() == Source::Stdin {
        return Err(Failure::usage(
            "documents are read again when systems are measured: give a file, a folder or an address",
        ));
    }
    let interrupt = Interrupt::install()?;
    let profile = describe(&source, &DescribeOptions::default(), &mut |_| {}, &|| interrupt.is_requested())?;
    let overview = overview(&profile);
    let failed =
        |error: std::io::Error| Failure::environment(format!("failed to write {}: {error}", file.display()));
    // Anything that another program has written meanwhile is kept.
    let mut output = match OpenOptions::new().write(true).create_new(true).open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(exists()),
        opened => opened.map_err(failed)?,
    };
    output.write_all(template(&overview).as_bytes()).map_err(failed)?;
    print(&told(&profile, &overview, file, data, input))?;
    Ok(ExitCode::SUCCESS)
}

fn proposed(path: &str, reason: &str) -> ProposedPath {
    ProposedPath { path: path.to_owned(), reason: reason.to_owned() }
}

fn overview(profile: &Profile) -> DocumentsOverview {
    DocumentsOverview {
        source: profile.source.clone(),
        documents: profile.documents,
        bytes: profile.bytes,
        key: profile.key.as_ref().map(|key| proposed(key.name(), &key.reason)),
        update: profile.update.as_ref().map(|update| proposed(&update.pointer, &update.reason)),
    }
}

/// What is printed about the documents and the next command.
fn told(
    profile: &Profile,
    overview: &DocumentsOverview,
    file: &Path,
    data: &str,
    input: InputArguments,
) -> String {
    let mut text = format!(
        "{}: {} documents, {}\n",
        profile.source,
        format::integer(profile.documents as f64),
        format::bytes(profile.bytes as f64)
    );
    for (name, proposal) in [("key", &overview.key), ("update", &overview.update)] {
        match proposal {
            Some(ProposedPath { path, reason }) => text += &format!("  {name:<8} {path} ({reason})\n"),
            None => text += &format!("  {name:<8} none\n"),
        }
    }
    let left_out = skipped_entries::describe(&profile.left_out);
    for note in profile.input_notes.iter().chain(&left_out) {
        text += &format!("note: {note}\n");
    }
    let (file, data) = (shell_quoted(&file.display().to_string()), shell_quoted(data));
    text += &format!(
        "\nnext:  edit {file}, then run\n       jsonathlon choose --needs {file} --data {data}{}\n",
        input.command_line()
    );
    text
}
