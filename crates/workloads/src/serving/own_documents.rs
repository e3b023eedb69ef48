//! Prepares a user's documents for serving: chooses key and updated path, and gives every document its key.

use std::{collections::BTreeSet, path::Path};

use jsonathlon_catalogue::ServingSetup;
use jsonathlon_dataset::{
    DataError,
    describe::{
        NamedPaths,
        key_proposal::{LINE, MIN_UPDATED_BYTES},
        propose_for_staged,
    },
    keying::{KeyChoice, KeyedDocuments, KeyingOptions, key_documents},
    own_records::{OwnRecords, Pointer},
    records::KeyType,
    stage::StagedDocuments,
};
use jsonathlon_loadgen::{mix::Mix, operation::Operation};

use super::settings::OwnDocuments;
use crate::{
    RunError,
    observer::{Activity, Observer, RunEvent},
    target::Target,
    workload::Preparation,
};

/// Name of the folder of the keyed documents, in the work folder of the run.
const FOLDER: &str = "keyed";

/// Rejects a mix that cannot run over a user's own documents.
///
/// # Errors
/// If an operation of the mix needs the shapes of generated documents; the text names mix and operation.
pub(super) fn check_mix(mix: &Mix) -> Result<(), String> {
    let obstacle = |operation: &Operation| Some((*operation, operation.own_documents_obstacle()?));
    match mix.shares.iter().find_map(|(operation, _)| obstacle(operation)) {
        Some((operation, reason)) => Err(format!(
            "--mixes {}: {operation} cannot run over --data: {reason}; leave the mix or --data out",
            mix.name
        )),
        None => Ok(()),
    }
}

/// Checks the notation of the paths that the user named.
///
/// # Errors
/// If one of them is no JSON pointer; the text names the option.
pub(super) fn check_paths(own: &OwnDocuments) -> Result<(), String> {
    key_choice(own.key.as_deref().unwrap_or(LINE))?;
    own.update.as_deref().map_or(Ok(None), update_choice).map(drop)
}

fn key_choice(text: &str) -> Result<KeyChoice, String> {
    if text == LINE {
        return Ok(KeyChoice::Line);
    }
    let invalid =
        |reason| format!("--key {text}: {reason}; write `line` or a JSON pointer such as /order/id");
    Pointer::parse(text).map(KeyChoice::Path).map_err(invalid)
}

fn update_choice(text: &str) -> Result<Option<Pointer>, String> {
    let invalid = |reason| format!("--update {text}: {reason}; write a JSON pointer such as /status");
    Pointer::parse(text).map(Some).map_err(invalid)
}

/// Chooses what the user left open, says so, and writes the documents with their keys.
///
/// # Errors
/// If the documents cannot be keyed as requested, or a mix updates documents that have nothing to update.
pub(super) fn prepare(
    own: &mut OwnDocuments,
    mixes: &[Mix],
    staged: StagedDocuments,
    preparation: &mut Preparation<'_>,
) -> Result<KeyedDocuments, RunError> {
    let observer = &mut *preparation.observer;
    observer.event(&RunEvent::Began { activity: Activity::Staging, description: "keying documents" });
    choose_paths(own, &staged, observer, preparation.cancelled)?;
    let key = own.key.clone().unwrap_or_else(|| LINE.to_owned());
    let options = KeyingOptions {
        key: key_choice(&key).map_err(RunError::Catalogue)?,
        update: own.update.as_deref().map_or(Ok(None), update_choice).map_err(RunError::Catalogue)?,
        key_members: reserved_members(preparation.targets),
        seed: preparation.seed,
    };
    let keyed = key_in(&preparation.folder.join(FOLDER), &staged, &options, observer, preparation.cancelled)?;
    let updates = |operation: Operation| {
        matches!(
            operation,
            Operation::Update | Operation::UpdatePath | Operation::UpdateAll | Operation::ReadModifyWrite
        )
    };
    let updating = mixes.iter().find(|mix| mix.shares.iter().any(|(operation, _)| updates(*operation)));
    if let (Some(mix), None) = (updating, &keyed.records.update) {
        return Err(RunError::Catalogue(format!(
            "the mix {} updates documents, and they have no text and no integer besides the key: use --mixes c",
            mix.name
        )));
    }
    Ok(keyed)
}

/// Names of the members that mean something to targets, each once: those in which they keep the key, and
/// those that they add to documents.
fn reserved_members(targets: &[Target]) -> Vec<String> {
    let setups = targets.iter().filter_map(|target| target.configuration.serving());
    let members = setups.flat_map(|setup| [setup.key_member, setup.added_member]).flatten();
    members.collect::<BTreeSet<String>>().into_iter().collect()
}

/// Fills in what the user left open, and says which paths were chosen and why.
fn choose_paths(
    own: &mut OwnDocuments,
    staged: &StagedDocuments,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let named = NamedPaths { key: own.key.as_deref(), update: own.update.as_deref() };
    let proposals = propose_for_staged(staged, named, cancelled).map_err(data_error)?;
    if let Some(key) = proposals.key {
        own.key = Some(key.name().to_owned());
        own.key_reason = Some(key.reason);
    }
    if let Some(update) = proposals.update {
        own.update = Some(update.pointer);
        own.update_reason = Some(update.reason);
    } else if own.update.is_none() {
        own.update_reason =
            Some(format!("no text of at least {MIN_UPDATED_BYTES} bytes and no integer besides the key"));
    }
    observer.event(&RunEvent::Schedule(&own.to_string()));
    Ok(())
}

fn key_in(
    folder: &Path,
    staged: &StagedDocuments,
    options: &KeyingOptions,
    observer: &mut dyn Observer,
    cancelled: &dyn Fn() -> bool,
) -> Result<KeyedDocuments, RunError> {
    let total = Some(staged.documents);
    let mut progress = |progress: jsonathlon_dataset::stage::Progress| {
        observer.event(&RunEvent::Progress { done: progress.documents, total, unit: "documents" });
    };
    key_documents(staged, folder, options, &mut progress, cancelled).map_err(data_error)
}

fn data_error(error: DataError) -> RunError {
    match error {
        DataError::Cancelled => RunError::Interrupted,
        error => RunError::Data(error),
    }
}

/// Why a configuration cannot hold a user's documents; `None` if it can. `records` are `None` before the
/// documents were read.
pub(super) fn unsupported_reason(
    system: &str,
    setup: &ServingSetup,
    records: Option<&OwnRecords>,
) -> Option<String> {
    if let Some(reason) = &setup.generated_only {
        return Some(format!("{system} cannot hold the documents of --data here: {reason}"));
    }
    let records = records?;
    if records.key_type == KeyType::Bigint && setup.bigint_key.is_none() {
        return Some(format!("{system} has no keys of 64-bit integers here"));
    }
    if let Some(member) = setup.added_member.as_ref().filter(|member| records.uses_member(member)) {
        return Some(format!(
            "{system} cannot hold the documents of --data here: it leaves the member `{member}` out of its answers, \
             and documents have it; choose another of its --variants, or rename the member"
        ));
    }
    let conflict = setup.key_member.as_deref().and_then(|member| records.member_conflict(member))?;
    Some(format!("{system} cannot hold the documents of --data: {conflict}"))
}

/// Records as one configuration stores them, with the system's name for the key member.
pub(super) fn records_of(records: &OwnRecords, setup: &ServingSetup) -> OwnRecords {
    OwnRecords { key_member: setup.key_member.clone(), ..records.clone() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::serving::mixes::built_in;

    use jsonathlon_dataset::source::Source;
    use jsonathlon_dataset::stage::{IgnoreDocuments, StageOptions, stage};

    const DOCUMENTS: &str =
        "{\"id\":\"a\",\"status\":\"new order\"}\n{\"id\":\"b\",\"status\":\"paid in full\"}\n";

    /// Keeps what is said to the user.
    #[derive(Default)]
    struct Said(Vec<String>);

    impl Observer for Said {
        fn event(&mut self, event: &RunEvent<'_>) {
            if let RunEvent::Schedule(text) = event {
                self.0.push((*text).to_owned());
            }
        }
    }

    /// A folder with a staged file of documents.
    struct World {
        folder: tempfile::TempDir,
        staged: StagedDocuments,
    }

    impl World {
        fn new(documents: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("data.ndjson");
            std::fs::write(&file, documents).unwrap();
            let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
            let staged = stage(
                &Source::Path(file),
                &folder.path().join("work"),
                options,
                &mut IgnoreDocuments,
                &mut |_| {},
                &|| false,
            );
            Self { folder, staged: staged.unwrap() }
        }

        fn data(&self) -> PathBuf {
            self.folder.path().join("data.ndjson")
        }

        /// Prepares the documents for a mix. Returns what was said, too.
        fn prepare(&self, own: &mut OwnDocuments, mix: &str) -> (Result<KeyedDocuments, RunError>, String) {
            let mut said = Said::default();
            let mut preparation = Preparation {
                targets: &[],
                folder: &self.folder.path().join("work"),
                seed: 1,
                observer: &mut said,
                cancelled: &|| false,
            };
            let keyed = prepare(own, &[built_in(mix).unwrap()], self.staged.clone(), &mut preparation);
            (keyed, said.0.join("\n"))
        }
    }

    #[test]
    fn what_the_user_leaves_open_is_chosen_and_said() {
        let world = World::new(DOCUMENTS);
        let mut own = OwnDocuments::default();
        let (keyed, said) = world.prepare(&mut own, "a");
        let keyed = keyed.unwrap();
        assert_eq!((own.key.as_deref(), own.update.as_deref()), (Some("/id"), Some("/status")));
        assert!(
            said.contains("key /id (in every document, unique; named like a key), update /status ("),
            "{said}"
        );
        assert_eq!((keyed.staged.documents, keyed.records.key_type), (2, KeyType::Text));
        assert!(keyed.staged.clean_file != world.staged.clean_file);
        let mut again = OwnDocuments { key: own.key, update: own.update, ..OwnDocuments::default() };
        let (resumed, said) = world.prepare(&mut again, "a");
        assert_eq!(
            resumed.unwrap().staged.digest,
            keyed.staged.digest,
            "a resumed run finds the same documents"
        );
        assert_eq!(said, "key /id, update /status", "what the user names has no reason");
    }

    #[test]
    fn documents_that_were_changed_after_staging_are_refused() {
        let world = World::new(DOCUMENTS);
        std::fs::write(world.data(), DOCUMENTS.replace("paid", "owed")).unwrap();
        let named =
            || OwnDocuments { key: Some("/id".into()), update: Some("/status".into()), ..Default::default() };
        let error = world.prepare(&mut named(), "a").0.unwrap_err().to_string();
        assert!(error.contains("data.ndjson") && error.contains("staged"), "{error}");
    }

    #[test]
    fn mixes_that_update_need_a_path_and_mixes_that_search_are_refused() {
        let world = World::new("{\"id\":1}\n{\"id\":2}\n");
        let error = world.prepare(&mut OwnDocuments::default(), "a").0.unwrap_err().to_string();
        assert!(error.contains("the mix a updates documents"), "{error}");
        assert!(world.prepare(&mut OwnDocuments::default(), "c").0.is_ok());
        let refused = |mix: &str| check_mix(&built_in(mix).unwrap()).unwrap_err();
        assert!(refused("find").contains("--mixes find: find cannot run over --data"), "{}", refused("find"));
        assert!(refused("unwrap-all").contains("elements of arrays"));
        for mix in ["a", "b", "c", "d", "e", "f", "insert", "update", "update-path", "paths", "churn"] {
            assert_eq!(check_mix(&built_in(mix).unwrap()), Ok(()), "{mix}");
        }
    }

    #[test]
    fn paths_are_json_pointers() {
        let named =
            |key: &str| check_paths(&OwnDocuments { key: Some(key.to_owned()), ..Default::default() });
        assert!(named("/a.b//c").is_ok() && named(LINE).is_ok());
        let error = named("id").unwrap_err();
        assert!(error.starts_with("--key id: ") && error.contains("JSON pointer"), "{error}");
    }
}
