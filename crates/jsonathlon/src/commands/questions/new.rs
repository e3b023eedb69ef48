//! `jsonathlon questions new`: writes first questions about documents, with the statements of every system.

use std::{collections::BTreeSet, path::Path, process::ExitCode, time::Duration};

use jsonathlon_catalogue::{
    Catalogue, FirstQuestion, KnownPath, QUESTIONS, StatementKind, System, UserQuestions, WorkloadSetup,
};
use jsonathlon_dataset::{
    describe::{
        PathProfile, Profile, SampleLimits, SampleProfile, Steps, SuggestedQuestion, sample,
        suggest_questions,
    },
    skipped_entries,
    source::Source,
};
use jsonathlon_report::format;

use super::definition::{
    InexactQuestion, NamedQuestion, UnaskedQuestion, definition, describe_sample, name_questions, title,
};
use crate::{
    cli::{CatalogueArguments, run_options::InputArguments},
    commands::{load_catalogue, print},
    exit::Failure,
    interrupt::Interrupt,
};

/// Limits of the sample: large enough for any path that matters, and read within seconds.
pub(in crate::commands) const LIMITS: SampleLimits =
    SampleLimits { max_bytes: 256 << 20, max_time: Duration::from_secs(6), max_documents: 5_000 };

/// Trait in a data profile that counts JSON documents that are no objects.
const NOT_OBJECT: &str = "not_object";
/// Maximum number of kinds of faults that are listed with the first line of each.
const MAX_FAULTS: usize = 3;

pub(super) fn run(
    folder: &Path,
    data: &str,
    input: InputArguments,
    folders: &CatalogueArguments,
) -> Result<ExitCode, Failure> {
    let source = Source::from_argument(data).with_input(input.options());
    check_arguments(folder, &source)?;
    let catalogue = load_catalogue(&folders.systems_dir)?;
    let interrupt = Interrupt::install()?;
    let sampled = sample(&source, LIMITS, &|| interrupt.is_requested())?;
    let written = write_first_questions(folder, &sampled, &catalogue)?;
    let mut text = format!("{}\n", describe_sample(&sampled));
    for (name, title) in &written.questions {
        text += &format!("  {name:<24} {title}\n");
    }
    text += &format!("statements for {}\n", written.systems.join(", "));
    for note in written.notes {
        text += &format!("note: {note}\n");
    }
    text += &format!("\nnext:  {}\n", next_command(folder, data, input, folders));
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// First questions that were written to a folder.
pub(in crate::commands) struct FirstQuestions {
    /// Name and heading of each question.
    pub(in crate::commands) questions: Vec<(String, String)>,
    /// Systems that have statements.
    systems: Vec<String>,
    /// Notes on how documents were read, on what systems are not asked, and on what they alter.
    notes: Vec<String>,
}

/// Writes first questions about sampled documents, with the statements of every system that can be asked.
///
/// # Errors
/// A usage error, without a folder, if the documents have nothing that could be asked about.
pub(in crate::commands) fn write_first_questions(
    folder: &Path,
    sampled: &SampleProfile,
    catalogue: &Catalogue,
) -> Result<FirstQuestions, Failure> {
    let suggestions = suggest_questions(sampled);
    if suggestions.is_empty() {
        return Err(nothing_to_ask(&sampled.profile));
    }
    let mut questions = name_questions(&suggestions);
    let mut notes = sampled.profile.input_notes.clone();
    notes.extend(skipped_entries::describe(&sampled.profile.left_out));
    notes.extend(invalid_lines_note(&sampled.profile));
    let Statements { files_by_system, unasked, inexact, alterations } =
        statement_files(&questions, sampled, catalogue);
    notes.extend(unasked.iter().map(|UnaskedQuestion { question, system, reason }| {
        format!("{system} is not asked `{question}`: {reason}")
    }));
    notes.extend(inexact_notes(&inexact));
    notes.extend(alterations);
    let is_asked = |question: &NamedQuestion<'_>| {
        files_by_system.iter().any(|(_, files)| files.iter().any(|file| file.question == question.name))
    };
    questions.retain(is_asked);
    if questions.is_empty() {
        return Err(Failure::usage(format!(
            "no system can be asked a first question about {}:\n{}",
            sampled.profile.source,
            notes.join("\n")
        )));
    }
    write(&folder.join("questions.toml"), &definition(&questions, &unasked, &inexact, sampled))?;
    for (system, files) in &files_by_system {
        for QuestionStatement { file, text, .. } in files {
            write(&folder.join(system).join(file), text)?;
        }
    }
    // Verifies that the written folder can be read.
    UserQuestions::read(folder)?.check_systems(catalogue)?;
    Ok(FirstQuestions {
        questions: questions.iter().map(|named| (named.name.clone(), title(named))).collect(),
        systems: files_by_system.into_iter().map(|(system, _)| system).collect(),
        notes,
    })
}

/// Rejects documents that cannot be read twice, and a folder that is in use.
fn check_arguments(folder: &Path, source: &Source) -> Result<(), Failure> {
    if *source.origin() == Source::Stdin {
        return Err(Failure::usage(
            "documents are read again when questions are asked: give a file, a folder or an address",
        ));
    }
    if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) || folder.is_file() {
        return Err(Failure::usage(format!("{} is there already: name a new folder", folder.display())));
    }
    Ok(())
}

/// Command line that asks the written questions.
fn next_command(folder: &Path, data: &str, input: InputArguments, folders: &CatalogueArguments) -> String {
    let (folder, data) = (shell_quoted(&folder.display().to_string()), shell_quoted(data));
    // A folder with statements for a system of the user's own is rejected without its `--systems-dir`.
    let options: String = folders
        .systems_dir
        .iter()
        .map(|folder| format!(" --systems-dir {}", shell_quoted(&folder.display().to_string())))
        .collect();
    format!("jsonathlon run questions --questions {folder} --data {data}{}{options}", input.command_line())
}

/// Error about documents without a path that a first question could ask about, with what is said of their files:
/// read otherwise, they may have one.
fn nothing_to_ask(profile: &Profile) -> Failure {
    let notes: Vec<String> = profile.input_notes.iter().map(|note| format!("\nnote: {note}")).collect();
    Failure::usage(format!(
        "{} has no path of strings or numbers that a first question could ask about: {}; write questions.toml \
         yourself (docs/own-questions.md){}",
        profile.source,
        describe_lines(profile),
        notes.concat()
    ))
}

/// Text on how many lines were sampled, and how many of them are no objects or no JSON.
fn describe_lines(profile: &Profile) -> String {
    let no_documents: u64 = profile.no_documents.values().map(|fault| fault.lines).sum();
    let not_objects = profile.traits.get(NOT_OBJECT).copied().unwrap_or_default();
    let mut parts =
        vec![format!("of {} lines looked at", format::integer((profile.documents + no_documents) as f64))];
    if not_objects > 0 {
        parts.push(format!("{} are JSON and no objects", format::integer(not_objects as f64)));
    }
    parts.extend(invalid_lines(profile));
    if parts.len() == 1 {
        parts.push("all are objects".to_owned());
    }
    parts.join(", ")
}

/// Text on the lines that are no JSON, with the first line of up to [`MAX_FAULTS`] reasons. `None` if there
/// are no such lines.
fn invalid_lines(profile: &Profile) -> Option<String> {
    let lines: u64 = profile.no_documents.values().map(|fault| fault.lines).sum();
    let reasons = profile.no_documents.iter().map(|(reason, fault)| format!("{}: {reason}", fault.first));
    let reasons: Vec<String> = reasons.take(MAX_FAULTS).collect();
    let verb = if lines == 1 { "is" } else { "are" };
    (lines > 0).then(|| format!("{} {verb} no JSON ({})", format::integer(lines as f64), reasons.join("; ")))
}

/// Note on sampled lines that are no JSON and do not count as documents. `None` if there are no such lines.
fn invalid_lines_note(profile: &Profile) -> Option<String> {
    invalid_lines(profile).map(|words| format!("of the lines looked at, {words}: no documents"))
}

/// Quotes a text as one word of a shell, if it needs quotes.
pub(in crate::commands) fn shell_quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=+,@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Statement file of a question: the question's name, the file's name and its content.
struct QuestionStatement {
    question: String,
    file: String,
    text: String,
}

/// Statements of first questions in the languages of all systems.
#[derive(Default)]
struct Statements {
    /// Names of systems, each with its statement files.
    files_by_system: Vec<(String, Vec<QuestionStatement>)>,
    /// Questions that a system cannot be asked.
    unasked: Vec<UnaskedQuestion>,
    /// Questions that a system answers exactly only if documents beyond the sample have the same types. Empty if
    /// there are none.
    inexact: Vec<InexactQuestion>,
    /// Notes on documents that a system alters.
    alterations: Vec<String>,
}

/// Paths of the sampled documents, in the form that statement templates take.
fn paths(sampled: &SampleProfile) -> Vec<KnownPath> {
    let steps = sampled.profile.paths.iter().filter_map(PathProfile::steps);
    steps.map(|Steps { keys, is_in_array }| KnownPath { keys, is_in_array }).collect()
}

/// Writes the statements of every system that has templates.
fn statement_files(
    questions: &[NamedQuestion<'_>],
    sampled: &SampleProfile,
    catalogue: &Catalogue,
) -> Statements {
    let paths = paths(sampled);
    let mut statements = Statements::default();
    for system in catalogue.systems().iter().filter(|system| system.supports_workload(QUESTIONS)) {
        let Some(setup) = default_setup(system) else { continue };
        let mut files = Vec::new();
        for named in questions {
            let question = first_question(named, &paths);
            match setup.first_question(&question) {
                Ok(statement) => files.push(statement_file(&setup, named, &statement)),
                Err(reason) => statements.unasked.push(UnaskedQuestion {
                    question: named.name.clone(),
                    system: system.name().to_owned(),
                    reason: reason.to_string(),
                }),
            }
            if let Some(caveat) = setup.type_caveat(&question).filter(|_| !sampled.is_whole) {
                let (question, system) = (named.name.clone(), system.name().to_owned());
                statements.inexact.push(InexactQuestion { question, system, caveat: caveat.to_owned() });
            }
            let SuggestedQuestion { keys, second_keys, path, second_path, .. } = named.question;
            let second_path = if second_path.is_empty() { path } else { second_path };
            for (keys, path) in [(keys, path), (second_keys, second_path)] {
                statements.alterations.extend(
                    setup
                        .alterations(keys)
                        .into_iter()
                        .map(|reason| format!("{} alters documents with {path}: {reason}", system.name())),
                );
            }
        }
        if !files.is_empty() {
            statements.files_by_system.push((system.name().to_owned(), files));
        }
    }
    let mut seen = BTreeSet::new();
    statements.alterations.retain(|note| seen.insert(note.clone()));
    statements
}

/// Notes on questions whose answers may count values that the sample did not have, one for each system.
fn inexact_notes(inexact: &[InexactQuestion]) -> Vec<String> {
    let note = |questions: &[InexactQuestion]| {
        let first = questions.first()?;
        let names: Vec<String> =
            questions.iter().map(|question| format!("`{}`", question.question)).collect();
        Some(format!(
            "{}: {}; at the paths of {} the sample has values of one type only, but further documents may have \
             others, which it would count",
            first.system,
            first.caveat,
            names.join(", ")
        ))
    };
    let is_same = |a: &InexactQuestion, b: &InexactQuestion| (&a.system, &a.caveat) == (&b.system, &b.caveat);
    inexact.chunk_by(is_same).filter_map(note).collect()
}

/// Returns a question in the form that statement templates take.
fn first_question<'q>(named: &NamedQuestion<'q>, paths: &'q [KnownPath]) -> FirstQuestion<'q> {
    let SuggestedQuestion { keys, second_keys, value, bucket, other_values, .. } = named.question;
    FirstQuestion {
        kind: named.question.kind,
        keys,
        second_keys,
        value,
        bucket: *bucket,
        is_mixed: *other_values > 0,
        paths,
    }
}

fn default_setup(system: &System) -> Option<WorkloadSetup> {
    let variant = system.variants_of(QUESTIONS).iter().find(|variant| variant.is_default)?;
    let storage = system.storages().first()?;
    let mut configuration =
        system.configuration(system.default_version(), &variant.name, &storage.name).ok()?;
    configuration.setups.remove(QUESTIONS)
}

fn statement_file(setup: &WorkloadSetup, named: &NamedQuestion<'_>, statement: &str) -> QuestionStatement {
    let name = named.name.clone();
    match setup.files.get("load").map(|file| file.kind) {
        Some(StatementKind::Json) => {
            QuestionStatement { file: format!("{name}.json"), text: format!("{statement}\n"), question: name }
        }
        _ => {
            QuestionStatement { file: format!("{name}.sql"), text: format!("{statement};\n"), question: name }
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let write_error =
        |error: std::io::Error| Failure::environment(format!("failed to write {}: {error}", path.display()));
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(write_error)?;
    }
    std::fs::write(path, text).map_err(write_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(text: &str, max_bytes: u64) -> SampleProfile {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.ndjson");
        std::fs::write(&file, text).unwrap();
        sample(&Source::Path(file), SampleLimits { max_bytes, ..LIMITS }, &|| false).unwrap()
    }

    #[test]
    fn what_only_the_sample_shows_is_said() {
        let catalogue = Catalogue::load(&[]).unwrap();
        let line =
            |n: u64| format!("{{\"day\":\"2026-02-{:02}\",\"ms\":{}}}\n", n % 28 + 1, 1_770_000_000_000 + n);
        // Several blocks, the first of which is the sample.
        let text: String = (0..50_000).map(line).collect();
        for (max_bytes, is_whole) in [(u64::MAX, true), (1, false)] {
            let sampled = sampled(&text, max_bytes);
            assert_eq!(sampled.is_whole, is_whole);
            let suggestions = suggest_questions(&sampled);
            let questions = name_questions(&suggestions);
            let Statements { unasked, inexact, .. } = statement_files(&questions, &sampled, &catalogue);
            let notes = inexact_notes(&inexact);
            let toml = definition(&questions, &unasked, &inexact, &sampled);
            if is_whole {
                assert!(notes.is_empty() && !toml.contains("beyond the sample"), "{notes:?}\n{toml}");
                continue;
            }
            let [note] = &notes[..] else { panic!("{notes:?}") };
            for word in ["elasticsearch: ", "elements of arrays", "`dates-day`", "`epochs-ms`"] {
                assert!(note.contains(word), "{word}: {note}");
            }
            assert!(
                toml.contains("# elasticsearch may count values of other types beyond the sample"),
                "{toml}"
            );
        }
    }
}
