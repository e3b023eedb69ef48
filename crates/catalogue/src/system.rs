//! One system of the catalogue.

use std::collections::BTreeMap;

use jsonathlon_servers::Recipe;

use crate::{
    artifact::{Artifact, platform},
    by_address::RemoteSetup,
    definition::Definition,
    error::CatalogueError,
    folder::{Folder, Origin},
    locate::TomlText,
    profile::Profiles,
    rules::{self, ParsedSection, SECTION_KEYS, WorkloadRules},
    sections::Sections,
    variants::{Storage, Variant, main_variant},
    workload_files::WorkloadFiles,
};

/// Part of a system's folder that concerns one workload: its sections of `system.toml` and its files, before
/// they are resolved for a variant and a storage setting.
#[derive(Debug)]
pub(crate) struct WorkloadPart {
    pub(crate) rules: &'static dyn WorkloadRules,
    pub(crate) sections: Sections,
    pub(crate) files: WorkloadFiles,
}

/// One system of the catalogue: its folder, read and validated as a whole.
#[derive(Debug)]
pub struct System {
    pub(crate) definition: Definition,
    /// Text of `system.toml`, from which error messages find lines.
    pub(crate) text: TomlText,
    pub(crate) folder: Folder,
    /// Parts of the folder for the workloads that the system runs.
    pub(crate) parts: Vec<WorkloadPart>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) server: Option<Recipe>,
    /// How a run works on a remote server. `None` if `system.toml` has no `[address]`.
    pub(crate) remote_setup: Option<RemoteSetup>,
    pub(crate) profiles: Profiles,
    /// Variants shared by all workloads without variants of their own.
    pub(crate) variants: Vec<Variant>,
    /// Variants of the workloads that have their own, by name of the workload.
    pub(crate) workload_variants: BTreeMap<&'static str, Vec<Variant>>,
    /// Shared variants that are ranked, for each workload that builds on another one and has none of its own.
    pub(crate) ranked_shared_variants: BTreeMap<&'static str, Vec<Variant>>,
    pub(crate) storages: Vec<Storage>,
}

impl System {
    /// Returns the name of the system, which is also the name of its folder.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Returns the display name of the system.
    pub fn title(&self) -> &str {
        &self.definition.title
    }

    /// Returns a description of the system in one sentence.
    pub fn summary(&self) -> &str {
        &self.definition.summary
    }

    /// Returns the name of the driver for the system, `protocol` in `system.toml`.
    pub fn protocol(&self) -> &str {
        &self.definition.protocol
    }

    /// Returns the licence as an SPDX expression. It applies to artifacts that state no licence.
    pub fn licence(&self) -> &str {
        &self.definition.licence
    }

    /// Returns `true` if the engine runs inside the worker process.
    pub fn is_embedded(&self) -> bool {
        self.definition.embedded
    }

    /// Returns how the server is initialised, started and stopped. `None` if the folder has no `[server]`, as
    /// for an embedded engine.
    pub fn server(&self) -> Option<&Recipe> {
        self.server.as_ref()
    }

    /// Returns `true` if a run that names no systems includes this one.
    pub fn is_default(&self) -> bool {
        self.definition.default
    }

    /// Returns `true` if the system is a reference with which other results are compared: never ranked, part
    /// of every run unless excluded.
    pub fn is_reference(&self) -> bool {
        self.definition.reference
    }

    /// Returns `true` if the system keeps all data in memory while it is open, so that no trial can be cold.
    pub fn is_in_memory(&self) -> bool {
        self.definition.in_memory
    }

    /// Returns the origin of the folder: built in or on disk.
    pub fn origin(&self) -> &Origin {
        &self.folder.origin
    }

    /// Returns the version that is used if a selection names none.
    pub fn default_version(&self) -> &str {
        &self.definition.default_version
    }

    /// Returns the versions of all artifacts, for all platforms, in the order of `system.toml`. For a system
    /// without artifacts, returns only the default version.
    pub fn versions(&self) -> Vec<&str> {
        let mut versions: Vec<&str> = Vec::new();
        for artifact in &self.artifacts {
            if !versions.contains(&artifact.version.as_str()) {
                versions.push(&artifact.version);
            }
        }
        if versions.is_empty() {
            versions.push(self.default_version());
        }
        versions
    }

    /// Returns the names of the workloads that the system runs.
    pub fn workloads(&self) -> Vec<&'static str> {
        self.parts.iter().map(|part| part.rules.name()).collect()
    }

    /// Returns `true` if the system runs this workload.
    pub fn supports_workload(&self, workload: &str) -> bool {
        self.parts.iter().any(|part| part.rules.name() == workload)
    }

    /// Returns the workloads that the system does not run, each with the reason.
    pub fn unsupported_workloads(&self) -> BTreeMap<String, String> {
        let unsupported = rules::names().into_iter().filter(|name| !self.supports_workload(name));
        let reason = |name: &str| match self.definition.unsupported.get(name) {
            Some(stated) => stated.why.clone(),
            None => format!("its folder has no [{name}]"),
        };
        unsupported.map(|name| (name.to_owned(), reason(name))).collect()
    }

    /// Returns the reason why the system does not run this workload, as part of an error message: the reason
    /// that `system.toml` states, with its line, or that the file has no section for the workload. `None` if
    /// the system runs it.
    pub(crate) fn unsupported_reason(&self, workload: &str) -> Option<String> {
        let reason = self.unsupported_workloads().remove(workload)?;
        Some(match self.definition.unsupported.get(workload) {
            Some(_) => format!("{}: {reason}", self.text.location(&["not", workload, "why"])),
            None => format!("{} has no [{workload}]", self.text.file),
        })
    }

    /// Returns the artifacts of all versions and platforms.
    pub fn artifacts(&self) -> &[Artifact] {
        &self.artifacts
    }

    /// Returns the variants shared by all workloads without variants of their own, in name order. A system
    /// that declares no variant has one, called `default`.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Returns the variants on which a workload can be run, in name order.
    pub fn variants_of(&self, workload: &str) -> &[Variant] {
        let own_or_ranked = self.workload_variants.get(workload);
        own_or_ranked.or_else(|| self.ranked_shared_variants.get(workload)).unwrap_or(&self.variants)
    }

    /// Returns `true` if a workload can be run on the variant.
    pub(crate) fn runs_on(&self, workload: &str, variant: &Variant) -> bool {
        self.variants_of(workload).iter().any(|known| known.name == variant.name)
    }

    /// Returns the part of the workload on which the one of `part` builds. `None` if there is none.
    pub(crate) fn foundation_of(&self, part: &WorkloadPart) -> Option<&WorkloadPart> {
        let foundation = part.rules.foundation()?.name();
        self.parts.iter().find(|part| part.rules.name() == foundation)
    }

    /// Reads the sections of a workload: those of the system, with the overrides of a variant and a storage
    /// setting if `overlays` names them.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`] if one of them holds something that is not allowed.
    pub(crate) fn read_section(
        &self,
        part: &WorkloadPart,
        overlays: Option<(&Variant, &Storage)>,
    ) -> Result<ParsedSection, CatalogueError> {
        let read = |part: &WorkloadPart, variant: Option<&str>, foundation| {
            let names = variant.zip(overlays.map(|(_, storage)| storage.name.as_str()));
            let (base, overlays) = part.sections.readers(part.rules.name(), &self.text, &SECTION_KEYS, names);
            part.rules.read(&base, &overlays, foundation)
        };
        let foundation_variant = overlays.map(|(variant, _)| variant.foundation_name());
        let foundation = self.foundation_of(part).map(|below| read(below, foundation_variant, None));
        read(part, overlays.map(|(variant, _)| variant.name.as_str()), foundation.transpose()?)
    }

    /// Returns the shared variants, then those of the workloads with variants of their own.
    pub(crate) fn all_variants(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().chain(self.workload_variants.values().flatten())
    }

    /// Returns the shared variant that represents the system if it is checked only once: the default of the
    /// class `prepared`, otherwise of `as-is`, otherwise of `extracted`, otherwise the first shared variant.
    /// `None` if there is no shared variant.
    pub fn representative_variant(&self) -> Option<&Variant> {
        main_variant(&self.variants, |variant| variant.is_default).or(self.variants.first())
    }

    /// Returns the storage settings. The first is `default`, which always exists.
    pub fn storages(&self) -> &[Storage] {
        &self.storages
    }

    /// Returns the variant with this name or alias.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownVariant`] if there is none; the error lists all names.
    pub fn variant(&self, name: &str) -> Result<&Variant, CatalogueError> {
        self.all_variants().find(|variant| variant.has_name(name)).ok_or_else(|| {
            CatalogueError::UnknownVariant {
                system: self.name().to_owned(),
                variant: name.to_owned(),
                known: self.all_variants().flat_map(Variant::names).map(str::to_owned).collect(),
            }
        })
    }

    /// Returns the storage setting with this name.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownStorage`] if there is none; the error lists all names.
    pub fn storage(&self, name: &str) -> Result<&Storage, CatalogueError> {
        self.storages.iter().find(|storage| storage.name == name).ok_or_else(|| {
            CatalogueError::UnknownStorage {
                system: self.name().to_owned(),
                storage: name.to_owned(),
                known: self.storages.iter().map(|storage| storage.name.clone()).collect(),
            }
        })
    }

    /// Returns the artifact of `version` for this machine's platform. `None` for a system without artifacts,
    /// which runs only on remote servers.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownVersion`] if there is no such version, [`CatalogueError::Platform`] if its
    /// artifacts are only for other platforms.
    pub fn artifact(&self, version: &str) -> Result<Option<&Artifact>, CatalogueError> {
        if !self.versions().contains(&version) {
            return Err(CatalogueError::UnknownVersion {
                system: self.name().to_owned(),
                version: version.to_owned(),
                known: self.versions().into_iter().map(str::to_owned).collect(),
            });
        }
        let candidates = || self.artifacts.iter().filter(|artifact| artifact.version == version);
        match candidates().find(|artifact| artifact.matches_platform()) {
            None if candidates().next().is_some() => Err(CatalogueError::Platform {
                system: self.name().to_owned(),
                version: version.to_owned(),
                platform: platform(),
                known: candidates().map(|artifact| artifact.platform.clone()).collect(),
            }),
            artifact => Ok(artifact),
        }
    }
}
