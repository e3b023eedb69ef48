//! Catalogue of systems, described by folders of TOML and statements.
//!
//! [`Catalogue`] reads the folders, built in and from `--systems-dir`. It turns a system, version, variant
//! and storage setting into a [`Configuration`], whose statements have every value in place. No code here
//! depends on a particular system or interprets statements. It only knows which statement files a workload
//! requires.
//!
//! A folder is read strictly. Every unknown key, file or placeholder is an error that names file, line and
//! the nearest known name. Otherwise a misspelt setting would be measured as if it were set.

#![forbid(unsafe_code)]

pub mod artifact;
pub mod bytes;

mod basis;
mod by_address;
mod configuration;
mod defaults;
mod definition;
#[cfg(test)]
mod documented_keys;
mod durability;
mod error;
mod external;
mod folder;
mod locate;
mod package_sources;
mod preparation;
mod profile;
mod read;
mod resolve;
mod rules;
mod sections;
mod selection;
mod server;
mod session_setup;
mod sources;
mod statement_file;
mod system;
mod system_toml;
mod template;
mod user_questions;
mod variants;
mod well_formed;
mod workload_files;

use std::path::PathBuf;

use include_dir::{Dir, include_dir};
use jsonathlon_schema::did_you_mean;

pub use artifact::{Artifact, DebianPackage, InstalledArtifact, Source, SourceKind};
pub use by_address::RemoteSetup;
pub use configuration::{Configuration, Properties, Remedy};
pub use definition::{LoadMode, SettingDeviation, SettingTarget};
pub use durability::{Durability, NO_LOSS, Tier};
pub use error::{CatalogueError, join_names};
pub use external::{ExternalKind, base_name};
pub use folder::Origin;
pub use package_sources::{is_package_name, pinned_inputs_digest};
pub use profile::{MemorySetting, log_bytes};
pub use rules::{
    Section, WorkloadSetup,
    analytics::{ANALYTICS, AnalyticsSetup, QuestionRules},
    documents::{DOCUMENTS, DocumentsSetup, Index, IndexQuery, IndexUse, Operation, QueryAnswer, SizeLimit},
    fidelity::{ExtractedForm, FIDELITY, FidelitySetup},
    first_question::{FirstQuestion, FirstQuestionError, KnownPath},
    mixed::{MIXED, MixedSetup},
    operation_rules::OperationRules,
    path_notation::{PathStep, path_values},
    questions::{QUESTIONS, question_file},
    reports::Reports,
    serving::{SERVING, ServingSetup},
};
pub use selection::{SelectedSystem, TargetKind, select_variants, select_variants_of};
pub use session_setup::SessionSetup;
pub use sources::is_member;
pub use statement_file::{StatementFile, StatementKind, StatementRule};
pub use system::System;
pub use template::{PlaceholderError, RUN_TIME, fill, fill_known, sql_text};
pub use user_questions::{UserQuestions, UserSystemFolder};
pub use variants::{Storage, Variant};
pub use well_formed::is_plain_word;

pub use jsonathlon_schema::ranking::{MemoryProfile, PreparationClass};
pub use jsonathlon_schema::transport::Transport;
pub use jsonathlon_servers::Recipe;

use folder::Folder;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/systems");

/// All systems, built in and from the user's folders.
#[derive(Debug)]
pub struct Catalogue {
    systems: Vec<System>,
}

impl Catalogue {
    /// Reads the built-in systems, then the systems in each of the folders. A system replaces an earlier one
    /// of the same name.
    ///
    /// # Errors
    /// [`CatalogueError::Read`] if a folder cannot be read, [`CatalogueError::Selection`] if one is a
    /// system's folder itself, [`CatalogueError::Invalid`] if a system is not well formed. Mistakes in a
    /// replaced built-in system are ignored.
    pub fn load(extra_folders: &[PathBuf]) -> Result<Self, CatalogueError> {
        let mut folders: Vec<Folder> = Vec::new();
        for directory in BUILT_IN.dirs() {
            folders.push(Folder::from_embedded(directory)?);
        }
        for extra in extra_folders {
            if extra.join("system.toml").is_file() {
                return Err(CatalogueError::Selection {
                    text: extra.display().to_string(),
                    message: "it is a system itself; give the folder that holds it".to_owned(),
                });
            }
            for path in folder::subfolders(extra)? {
                let folder = Folder::from_disk(&path)?;
                folders.retain(|earlier| earlier.name != folder.name);
                folders.push(folder);
            }
        }
        let mut systems = folders.into_iter().map(System::read).collect::<Result<Vec<_>, _>>()?;
        systems.sort_by(|left, right| left.name().cmp(right.name()));
        Ok(Self { systems })
    }

    /// Returns all systems, in name order.
    pub fn systems(&self) -> &[System] {
        &self.systems
    }

    /// Returns the names of the workloads that folders may have sections for.
    pub fn workloads(&self) -> Vec<&'static str> {
        rules::names()
    }

    /// Returns those of the chosen systems that run a workload.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownWorkload`] if there is no such workload, [`CatalogueError::NotRun`] if no
    /// chosen system runs it; the error holds the reasons and the systems that run it.
    pub fn supporting_systems<'a>(
        &self,
        workload: &str,
        chosen: &[&'a System],
    ) -> Result<Vec<&'a System>, CatalogueError> {
        if !self.workloads().contains(&workload) {
            return Err(CatalogueError::UnknownWorkload {
                name: workload.to_owned(),
                known: self.workloads().into_iter().map(str::to_owned).collect(),
            });
        }
        let supporting: Vec<&System> =
            chosen.iter().copied().filter(|system| system.supports_workload(workload)).collect();
        if supporting.is_empty() {
            let alternatives = self.systems.iter().filter(|system| system.supports_workload(workload));
            return Err(CatalogueError::NotRun {
                workload: workload.to_owned(),
                reasons: chosen.iter().filter_map(|system| system.unsupported_reason(workload)).collect(),
                supported_by: alternatives.map(|system| system.name().to_owned()).collect(),
            });
        }
        Ok(supporting)
    }

    /// Returns the system of this name.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownSystem`] if there is none; the error lists all names.
    pub fn get(&self, name: &str) -> Result<&System, CatalogueError> {
        self.systems.iter().find(|system| system.name() == name).ok_or_else(|| {
            CatalogueError::UnknownSystem {
                name: name.to_owned(),
                known: self.systems.iter().map(|system| system.name().to_owned()).collect(),
            }
        })
    }
}
