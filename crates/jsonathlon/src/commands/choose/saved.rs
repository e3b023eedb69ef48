//! What was asked and planned, saved in the folder of a choice, so that an interrupted one can be resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonathlon_choose::needs::NeedsFile;
use jsonathlon_dataset::source::{InputOptions, Source};
use jsonathlon_results::ResultsError;
use jsonathlon_results::folder::{CHOICE, write_atomic};
use serde::{Deserialize, Serialize};

use super::extent::Extent;
use super::participants::Participants;
use crate::commands::run::DocumentCount;
use crate::exit::Failure;

/// File with a copy of the needs, as the user wrote them.
const NEEDS: &str = "needs.toml";
/// File with the user's choices and the plan.
const PLAN: &str = CHOICE;
/// Format version of [`PLAN`]; a file of any other version is refused.
pub(super) const SCHEMA: u32 = 1;

/// The user's arguments and the plan made from them: the content of [`PLAN`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedChoice {
    pub(super) schema: u32,
    /// Version of the program that made the plan.
    pub(super) program: String,
    /// File or folder of the documents, as an absolute path.
    pub(super) data: PathBuf,
    /// How its files are read.
    pub(super) input: InputOptions,
    /// Whether the documents are a copy in the folder, made because they could be read only once.
    pub(super) is_copy: bool,
    /// What [`super::documents::source_state`] says of them, so that no part has other ones. `None` in choices of
    /// earlier versions.
    #[serde(default)]
    pub(super) source_state: Option<String>,
    /// Number of documents and their size in bytes: estimates, unless all were looked at.
    pub(super) documents: u64,
    pub(super) bytes: u64,
    pub(super) participants: Participants,
    /// Variants in which systems serve documents, as `--variants` takes them.
    pub(super) variants: String,
    /// Memory of each system in bytes. `None` for the default of each workload.
    pub(super) memory: Option<u64>,
    /// Time for all runs in seconds.
    pub(super) budget_s: f64,
    /// Whether crash tests are made.
    pub(super) prove: bool,
    /// Folder of questions, as an absolute path. `None` if nothing is asked.
    pub(super) questions: Option<PathBuf>,
    /// Operations of the clients while the load goes on.
    pub(super) load: Load,
    /// Everything that is wanted, whatever the budget is.
    pub(super) whole: Extent,
    /// Rate in operations per second that was derived from what systems reach. `None` as long as it is not known, and
    /// if the user states one.
    #[serde(default)]
    pub(super) derived_rate: Option<f64>,
    /// Most rounds that the budget may be used for.
    pub(super) max_rounds: u32,
    /// What is planned for the parts that have not begun.
    pub(super) extent: Extent,
    /// The parts that have begun, by their folders.
    pub(super) begun: BTreeMap<String, BegunPart>,
    /// Remarks that readers of the decision get.
    pub(super) notes: Vec<String>,
    /// Folders with more system folders (`--systems-dir`), as absolute paths.
    pub(super) systems_dir: Vec<PathBuf>,
}

/// A part that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BegunPart {
    pub(super) extent: Extent,
    /// Its command as a user would type it. Empty until it is known.
    pub(super) command: String,
}

/// What clients do: the load that the user states, with what the user left open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Load {
    /// Names of operations in mix files with their shares, which are above 0 and add up to 1.
    pub(super) shares: Vec<(String, f64)>,
    pub(super) clients: u32,
    /// Operations per second. `None` if the rate is derived from what systems reach.
    pub(super) rate: Option<f64>,
    /// Length of each measurement window in seconds, unless response times need a longer one.
    pub(super) duration_s: f64,
    /// Whether the user states it, so that no window is longer.
    #[serde(default)]
    pub(super) is_duration_stated: bool,
    /// Key of the documents, if the user names it.
    pub(super) key: Option<String>,
    /// Path that updates set, if the user names it.
    pub(super) update: Option<String>,
    /// Number of streams that ask the questions beside the load. `None` if questions are asked at rest alone.
    pub(super) streams: Option<u32>,
}

impl SavedChoice {
    pub(super) fn document_count(&self) -> DocumentCount {
        DocumentCount { documents: self.documents, bytes: self.bytes }
    }

    pub(super) fn source(&self) -> Source {
        Source::Path(self.data.clone()).with_input(self.input)
    }
}

/// A choice with its folder and needs.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) folder: PathBuf,
    pub(super) needs: NeedsFile,
    pub(super) saved: SavedChoice,
}

/// Text of a needs file and its name in messages. `None` for a choice without needs.
pub(super) type NeedsText = Option<(String, PathBuf)>;

/// Parses the needs; without a text there are none.
///
/// # Errors
/// If the text is no valid file of needs.
pub(super) fn parse_needs(text: &NeedsText) -> Result<NeedsFile, Failure> {
    let Some((text, file)) = text else { return Ok(NeedsFile::default()) };
    NeedsFile::parse(text, &file.display().to_string()).map_err(|error| Failure::usage(error.to_string()))
}

/// Writes the user's needs into the folder of a choice.
///
/// # Errors
/// If the file cannot be written.
pub(super) fn write_needs(text: &NeedsText, folder: &Path) -> Result<(), Failure> {
    if let Some((text, _)) = text {
        write_atomic(&folder.join(NEEDS), text.as_bytes())?;
    }
    Ok(())
}

impl Choice {
    /// Writes the plan into the folder.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn save(&self) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(&self.saved)
            .map_err(|error| Failure::environment(format!("failed to write {PLAN}: {error}")))?;
        Ok(write_atomic(&self.folder.join(PLAN), (text + "\n").as_bytes())?)
    }

    /// Reads plan and needs from a folder.
    ///
    /// # Errors
    /// If a file is missing or invalid, or has another format.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let no_choice =
            |why: String| Failure::usage(format!("{} is no folder of a choice: {why}", folder.display()));
        let text =
            std::fs::read_to_string(folder.join(PLAN)).map_err(|error| no_choice(error.to_string()))?;
        let not_understood =
            |error: serde_json::Error| no_choice(format!("{PLAN} cannot be understood: {error}"));
        let Format { schema } = serde_json::from_str(&text).map_err(not_understood)?;
        ResultsError::check_format(folder, schema, SCHEMA)?;
        let saved = serde_json::from_str(&text).map_err(not_understood)?;
        let file = folder.join(NEEDS);
        let needs_text = match std::fs::read_to_string(&file) {
            Ok(text) => Some((text, file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(no_choice(error.to_string())),
        };
        Ok(Self { folder: folder.to_owned(), needs: parse_needs(&needs_text)?, saved })
    }
}

/// Format version of a choice's folder, read before anything else in it.
#[derive(Deserialize)]
struct Format {
    schema: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_other_versions_are_refused_in_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |text: &str| {
            std::fs::write(folder.path().join(PLAN), text).unwrap();
            Choice::read(folder.path()).unwrap_err().to_string()
        };
        let new = refused(r#"{"schema": 99}"#);
        assert!(new.contains("a newer version") && new.ends_with("use a newer jsonathlon"), "{new}");
        assert!(refused("{}").contains("choose.json cannot be understood"));
        let nowhere = Choice::read(&folder.path().join("nowhere")).unwrap_err().to_string();
        assert!(nowhere.contains("is no folder of a choice"), "{nowhere}");
    }
}
