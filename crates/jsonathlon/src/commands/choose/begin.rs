//! Turns the arguments of a new choice into a plan: looks at the documents, proposes what the user left open, and
//! fits what is measured into the time budget.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{Catalogue, SelectedSystem, UserQuestions};
use jsonathlon_choose::Dimension;
use jsonathlon_choose::facts::Part;
use jsonathlon_choose::needs::{LoadSection, Need, NeedsFile, RoundTripLevel};
use jsonathlon_dataset::describe::{SampleProfile, sample};
use jsonathlon_dataset::source::{InputOptions, Source};
use jsonathlon_report::format;
use jsonathlon_results::folder::write_atomic;
use jsonathlon_schema::settings::RunSettings;
use jsonathlon_workloads::expected_time::{RunOutline, TYPICAL_DOCUMENT_BYTES, rough_duration};

use super::documents::{copy_documents, source_state};
use super::extent::{DEFAULT_MAX_ROUNDS, Extent, FittedExtent, MAX_ROUNDS};
use super::new_folder::NewFolder;
use super::participants::{Participants, installed, participants, select};
use super::plan::tier;
use super::saved::{Choice, Load, NeedsText, SCHEMA, SavedChoice, parse_needs, write_needs};
use super::window::DURATION_S;
use crate::cli::choose::ChooseArguments;
use crate::commands::load_catalogue;
use crate::commands::part_run::PassedOnOptions;
use crate::commands::questions::{LIMITS, write_first_questions};
use crate::commands::run::DocumentCount;
use crate::commands::run_request::document_source;
use crate::exit::{Failure, USAGE};
use crate::interrupt::Interrupt;

/// Default of `--budget`, in seconds.
const BUDGET_S: f64 = 600.0;
/// Clients of a load that the user does not state.
const CLIENTS: u32 = 16;
/// Operations of such a load over documents with a value that can be updated.
const SHARES: [(&str, f64); 3] = [("read", 0.7), ("update", 0.2), ("insert", 0.1)];
/// Operations of such a load over documents without one.
const SHARES_WITHOUT_UPDATES: [(&str, f64); 2] = [("read", 0.9), ("insert", 0.1)];
/// Folder of the proposed questions in the folder of a choice.
const QUESTIONS: &str = "my-questions";
/// Copy of documents that can be read only once, in the folder of a choice.
pub(super) const COPY: &str = "documents.ndjson";

/// Plans a new choice and writes its folder, which is removed again unless it is kept.
///
/// # Errors
/// If an argument, the needs or the documents cannot be used, or no system can take part.
pub(super) fn begin(
    arguments: &ChooseArguments,
    passed_on: &PassedOnOptions,
    interrupt: &Interrupt,
) -> Result<(Choice, NewFolder), Failure> {
    let needs_text = read_needs(arguments.needs.as_deref())?;
    let needs = parse_needs(&needs_text)?;
    let stated_questions = questions_of(&needs, arguments.needs.as_deref())?;
    let catalogue = load_catalogue(&passed_on.systems_dir)?;
    let selected = select(&catalogue, arguments.systems.as_deref())?;
    let source = document_source(arguments.data.as_deref().unwrap_or_default())?;
    let folder = NewFolder::create(arguments.out.as_deref())?;
    let documents = readable_again(source, arguments.input.options(), folder.path(), interrupt)?;
    let sampled = sample(&documents.source(), LIMITS, &|| interrupt.is_requested())?;
    let load = load(&needs, &sampled, arguments.duration)?;
    let mut notes = Vec::new();
    let questions = match stated_questions {
        Some(folder) => Some(folder),
        None => propose_questions(folder.path(), &sampled, &catalogue, &mut notes)?,
    };
    let variants = arguments.variants.clone().unwrap_or_else(|| "default".to_owned());
    let user_questions = questions.as_deref().map(UserQuestions::read).transpose()?;
    let find = |selected: &[_]| participants(selected, &variants, tier(&needs), user_questions.as_ref());
    // What no system can take part in is refused before anything is installed.
    find(&selected)?;
    let participants = find(&install_all(arguments, selected, &mut notes, interrupt)?)?;
    notes.extend(absence_notes(&participants));
    let DocumentCount { documents: count, bytes } = documents.count(&sampled);
    let whole = whole(&needs, &participants, count);
    let is_stated = arguments.budget.is_some();
    let saved = SavedChoice {
        schema: SCHEMA,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        source_state: Some(source_state(&documents.path)?),
        data: documents.path,
        input: documents.input,
        is_copy: documents.is_copy,
        documents: count,
        bytes,
        participants,
        variants,
        memory: arguments.memory,
        budget_s: arguments.budget.unwrap_or(BUDGET_S),
        prove: arguments.prove,
        questions,
        load,
        whole,
        derived_rate: None,
        max_rounds: if is_stated { MAX_ROUNDS } else { DEFAULT_MAX_ROUNDS },
        extent: whole,
        begun: BTreeMap::new(),
        notes,
        systems_dir: passed_on.systems_dir.clone(),
    };
    let mut choice = Choice { folder: folder.path().to_owned(), needs, saved };
    plan(&mut choice, is_stated, &catalogue, passed_on)?;
    write_needs(&needs_text, &choice.folder)?;
    Ok((choice, folder))
}

/// Plans windows and everything else, adds notes on needs that they may not be enough for, and writes the plan.
///
/// # Errors
/// Those of [`fit`], and if a file cannot be written.
fn plan(
    choice: &mut Choice,
    is_stated: bool,
    catalogue: &Catalogue,
    passed_on: &PassedOnOptions,
) -> Result<(), Failure> {
    // What windows there are is told with the part; that they would be too long is told apart.
    let remark = choice.settle_windows().filter(|_| !choice.saved.whole.long_windows);
    let remarks = remark.into_iter().chain(bytes_note(choice));
    choice.saved.notes.extend(remarks.collect::<Vec<_>>());
    write_atomic(&choice.mix_file(), choice.mix_text().as_bytes())?;
    fit(choice, is_stated, catalogue, passed_on)?;
    choice.save()
}

fn read_needs(file: Option<&Path>) -> Result<NeedsText, Failure> {
    let Some(file) = file else { return Ok(None) };
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    Ok(Some((text, file.to_owned())))
}

/// Folder of the questions that the needs name, as an absolute path: relative ones start at the file of needs.
///
/// # Errors
/// If the folder is no folder of questions.
fn questions_of(needs: &NeedsFile, file: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let stated = needs.reports.as_ref().and_then(|reports| reports.questions.as_ref());
    let Some(questions) = stated else { return Ok(None) };
    let parent = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let folder = parent.join(questions);
    let folder = std::path::absolute(&folder)
        .map_err(|error| Failure::usage(format!("{}: {error}", folder.display())))?;
    UserQuestions::read(&folder)?;
    Ok(Some(folder))
}

/// Documents that every run can read.
struct ReadableDocuments {
    path: PathBuf,
    input: InputOptions,
    is_copy: bool,
    /// Number of documents, if they were counted when they were copied.
    counted: Option<DocumentCount>,
}

impl ReadableDocuments {
    fn source(&self) -> Source {
        Source::Path(self.path.clone()).with_input(self.input)
    }

    /// Number of documents: an estimate, unless they were counted or all of them are in the sample.
    fn count(&self, sampled: &SampleProfile) -> DocumentCount {
        let profile = &sampled.profile;
        let looked_at = DocumentCount { documents: profile.documents, bytes: profile.bytes };
        if let Some(count) = self.counted.or(sampled.is_whole.then_some(looked_at)) {
            return count;
        }
        let settings = RunSettings::default();
        let outline = RunOutline::of_source(Vec::new(), &settings, &self.source());
        let typical = outline.map_or(0.0, |outline| outline.typical_documents);
        let bytes = (typical as u64).saturating_mul(TYPICAL_DOCUMENT_BYTES).max(profile.bytes);
        let documents = bytes / (profile.bytes / profile.documents.max(1)).max(1);
        DocumentCount { documents: documents.max(profile.documents), bytes }
    }
}

/// Copies documents that can be read only once, or are far away, because several runs read them.
fn readable_again(
    source: Source,
    input: InputOptions,
    folder: &Path,
    interrupt: &Interrupt,
) -> Result<ReadableDocuments, Failure> {
    if let Source::Path(path) = source {
        return Ok(ReadableDocuments { path, input, is_copy: false, counted: None });
    }
    let file = folder.join(COPY);
    let count = copy_documents(&source.with_input(input), 1, &file, &|| interrupt.is_requested())?;
    crate::say!(
        "note: the documents ({}) are copied to {} until the end, because several runs read them",
        format::bytes(count.bytes as f64),
        file.display()
    );
    let lines = Source::lines_of(file.clone());
    let input = match lines {
        Source::WithInput { input, .. } => input,
        _ => InputOptions::default(),
    };
    Ok(ReadableDocuments { path: file, input, is_copy: true, counted: Some(count) })
}

/// What clients do: the load of the needs, or else mostly reads.
///
/// # Errors
/// If the load updates documents that have nothing to update.
fn load(needs: &NeedsFile, sampled: &SampleProfile, duration_s: Option<f64>) -> Result<Load, Failure> {
    let owned = |shares: &[(&str, f64)]| {
        let stated = shares.iter().filter(|(_, share)| *share > 0.0);
        stated.map(|(operation, share)| ((*operation).to_owned(), *share)).collect()
    };
    let can_update = sampled.profile.update.is_some();
    let (shares, load) = match &needs.load {
        Some(load) => {
            let LoadSection { reads, updates, inserts, scans, update, .. } = load;
            if *updates > 0.0 && update.is_none() && !can_update && sampled.is_whole {
                return Err(Failure::usage(
                    "[load] has updates, and the documents have no text and no integer besides the key that \
                     updates could set: set `updates` to 0",
                ));
            }
            (
                owned(&[("read", *reads), ("update", *updates), ("insert", *inserts), ("scan", *scans)]),
                Some(load),
            )
        }
        None => (owned(if can_update { &SHARES } else { &SHARES_WITHOUT_UPDATES }), None),
    };
    Ok(Load {
        shares,
        clients: load.map_or(CLIENTS, |load| load.clients),
        rate: load.and_then(|load| load.rate),
        duration_s: duration_s.unwrap_or(DURATION_S),
        is_duration_stated: duration_s.is_some(),
        key: needs.documents.key.clone(),
        update: load.and_then(|load| load.update.clone()),
        streams: load.and(needs.reports.as_ref()).map(|reports| reports.streams),
    })
}

/// Writes first questions about the documents into the folder. `None`, with a note, if there is nothing to ask.
fn propose_questions(
    folder: &Path,
    sampled: &SampleProfile,
    catalogue: &Catalogue,
    notes: &mut Vec<String>,
) -> Result<Option<PathBuf>, Failure> {
    let folder = folder.join(QUESTIONS);
    match write_first_questions(&folder, sampled, catalogue) {
        Ok(_) => Ok(Some(folder)),
        Err(failure) if failure.code() == USAGE => {
            notes.push(format!("no questions are asked: {failure}"));
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// Says what is known of bytes, if the user needs the same ones: clients compare documents by value.
fn bytes_note(choice: &Choice) -> Option<String> {
    let need = choice.needs.need(Dimension::RoundTrip)?;
    if *need != Need::RoundTrip(RoundTripLevel::SameBytes) {
        return None;
    }
    let what = match &choice.saved.questions {
        Some(_) => {
            "documents are compared byte by byte only when questions are asked, no more than the first 1,000, and that \
             counts for systems that keep them in the same variant for clients"
        }
        None => "documents are compared byte by byte only when questions are asked, and none are asked",
    };
    Some(format!("round_trip = \"same bytes\" may not be tested: {what}"))
}

fn absence_notes(participants: &Participants) -> impl Iterator<Item = String> {
    participants.absences.iter().map(|absence| {
        let (what, reason) = (absence.from.words(), &absence.reason);
        format!("{} takes no part in {what}: {reason}", absence.system)
    })
}

/// Installs the systems, if necessary, and returns those that can be used.
fn install_all<'c>(
    arguments: &ChooseArguments,
    selected: Vec<SelectedSystem<'c>>,
    notes: &mut Vec<String>,
    interrupt: &Interrupt,
) -> Result<Vec<SelectedSystem<'c>>, Failure> {
    let store = ArtifactStore::from_environment()?.with_newer_versions(arguments.install.allow_newer);
    installed(selected, arguments.systems.is_some(), &store, notes, interrupt)
}

/// Everything that is wanted of these participants.
fn whole(needs: &NeedsFile, participants: &Participants, documents: u64) -> Extent {
    let (has_questions, has_clients) = (!participants.questions.is_empty(), !participants.serving.is_empty());
    Extent::whole(has_questions, has_clients, has_clients && estimates_sizes(needs, documents))
}

/// Whether sizes are estimated for a number of documents that is not that of the data.
fn estimates_sizes(needs: &NeedsFile, documents: u64) -> bool {
    let stated = [needs.documents.now, needs.documents.later];
    stated.into_iter().flatten().any(|number| number != documents)
}

/// Plans as much as fits into the budget.
///
/// # Errors
/// If the user's own budget is too small for the least.
fn fit(
    choice: &mut Choice,
    is_stated: bool,
    catalogue: &Catalogue,
    passed_on: &PassedOnOptions,
) -> Result<(), Failure> {
    let budget_s = choice.saved.budget_s;
    let FittedExtent { extent, seconds, fits } =
        choice.fitted(Part::Capacity, budget_s, 1.0, catalogue, passed_on)?;
    choice.saved.extent = extent;
    let budget = rough_duration(budget_s);
    if fits {
        return Ok(());
    }
    let mut text = format!(
        "the least that says something takes about {}, and the budget is {budget}",
        rough_duration(seconds)
    );
    if !choice.saved.participants.serving.is_empty() {
        let load = rough_duration(choice.load_seconds(catalogue, passed_on)?);
        let size = format::bytes(choice.saved.bytes as f64);
        text += &format!(": one load of all documents ({size}) into all systems takes about {load}");
    }
    if is_stated {
        let enough = match seconds < 100.0 {
            true => format!("{:.0}s", seconds.ceil()),
            false => format!("{:.0}m", (seconds / 60.0).ceil()),
        };
        return Err(Failure::usage(format!(
            "{text}; give --budget {enough}, name fewer --systems, or give fewer documents"
        )));
    }
    choice.saved.notes.push(text);
    Ok(())
}
