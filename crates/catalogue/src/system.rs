//! One system of the catalogue: its folder, read and validated as a whole.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_servers::Recipe;

use super::{
    configuration::{self, Configuration},
    definition::{Definition, is_name},
    elsewhere::{self, ByAddress},
    error::CatalogueError,
    folder::{Folder, Origin},
    locate::TomlText,
    near::did_you_mean,
    preparation::Preparation,
    profile::{self, Profiles},
    rules::{WorkloadRules, Workloads},
    sections::{self, Sections, Written},
    server, sources,
    statements::WorkloadFiles,
    variants::{self, Storage, Variant},
};
use crate::artifact::{Artifact, platform};

const DEFINITION: &str = "system.toml";

/// A workload's part of a system's folder, as written.
#[derive(Debug)]
pub(crate) struct WorkloadPart {
    pub(crate) rules: &'static dyn WorkloadRules,
    pub(crate) sections: Sections,
    pub(crate) files: WorkloadFiles,
}

/// One system of the catalogue. Reading it resolves every variant with every storage setting once, so that a
/// mistake in a folder is reported at once and not in the middle of a run.
#[derive(Debug)]
pub struct System {
    pub(crate) definition: Definition,
    pub(crate) text: TomlText,
    pub(crate) folder: Folder,
    /// Parts of the folder for the workloads that the system runs.
    pub(crate) parts: Vec<WorkloadPart>,
    /// All workloads that folders may have sections for.
    pub(crate) workloads: Workloads,
    artifacts: Vec<Artifact>,
    pub(crate) server: Option<Recipe>,
    pub(crate) elsewhere: Option<ByAddress>,
    pub(crate) profiles: Profiles,
    variants: Vec<Variant>,
    /// Variants of the workloads that have their own, by workload.
    own_variants: BTreeMap<&'static str, Vec<Variant>>,
    storages: Vec<Storage>,
}

impl System {
    pub(crate) fn read(folder: Folder, workloads: &Workloads) -> Result<Self, CatalogueError> {
        let Some(text) = folder.files.get(DEFINITION) else {
            return Err(folder.error(DEFINITION, None, "is missing: a system's folder has one"));
        };
        let text = TomlText { file: folder.shown(DEFINITION), text: text.clone() };
        let Written { definition, mut sections } = sections::read(&text, workloads)?;
        check_names(&folder, &definition, &text)?;
        let artifacts = sources::artifacts(&definition, &text, &folder)?;
        let server = server::server(&definition, &text)?;
        let elsewhere = elsewhere::elsewhere(&definition, &text)?;
        let profiles = profile::profiles(&definition, &text)?;
        let (variants, own_variants) = variants::variants(&definition, &sections, workloads, &text)?;
        let storages = variants::storages(&definition);
        let by_address = definition.address.as_ref().map(|_| elsewhere::BY_ADDRESS);
        let mut parts = Vec::new();
        for rules in workloads.iter() {
            let Some(sections) = sections.remove(rules.name()) else { continue };
            let of_workload = own_variants.get(rules.name()).unwrap_or(&variants);
            let names = of_workload.iter().map(|variant| variant.name.as_str());
            // The implicit variant of a system without variants has no files of its own.
            let declared = names.filter(|name| definition.variants.contains_key(*name));
            let names: Vec<&str> = declared.chain(by_address).collect();
            let files = WorkloadFiles::read(&folder, rules, workloads, &names)?;
            parts.push(WorkloadPart { rules, sections, files });
        }
        let system = Self {
            definition,
            text,
            folder,
            parts,
            workloads: workloads.clone(),
            artifacts,
            server,
            elsewhere,
            profiles,
            variants,
            own_variants,
            storages,
        };
        system.check_files()?;
        system.check_values()?;
        Ok(system)
    }

    /// Returns the name of the system, which is that of its folder.
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

    /// Returns the name of the driver for the system.
    pub fn protocol(&self) -> &str {
        &self.definition.protocol
    }

    /// Returns the licence as an SPDX expression; an artifact may have its own.
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

    /// Returns `true` if the system is a yardstick for reading other results: never ranked, part of every run
    /// unless excluded.
    pub fn is_reference(&self) -> bool {
        self.definition.reference
    }

    /// Returns `true` if all data is held in memory once open, so that no trial can be cold.
    pub fn is_in_memory(&self) -> bool {
        self.definition.in_memory
    }

    /// Returns where the folder comes from: built in or from disk.
    pub fn origin(&self) -> &Origin {
        &self.folder.origin
    }

    /// Returns the version that is used if a selection names none.
    pub fn default_version(&self) -> &str {
        &self.definition.default_version
    }

    /// Returns all versions for all platforms, in the folder's order; without artifacts only the default
    /// version.
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
    pub fn runs(&self, workload: &str) -> bool {
        self.parts.iter().any(|part| part.rules.name() == workload)
    }

    /// Returns the workloads that the system does not run, each with the reason.
    pub fn does_not_run(&self) -> BTreeMap<String, String> {
        let others = self.workloads.names().into_iter().filter(|name| !self.runs(name));
        let why = |name: &str| match self.definition.not.get(name) {
            Some(not) => not.why.clone(),
            None => format!("its folder has no [{name}]"),
        };
        others.map(|name| (name.to_owned(), why(name))).collect()
    }

    /// Returns the place in `system.toml` with the reason why the system does not run this workload, or that
    /// the file has no section for it. `None` if the system runs it.
    pub(crate) fn why_not(&self, workload: &str) -> Option<String> {
        let why = self.does_not_run().remove(workload)?;
        Some(match self.definition.not.get(workload) {
            Some(_) => format!("{}: {why}", self.text.place(&["not", workload, "why"])),
            None => format!("{} has no [{workload}]", self.text.file),
        })
    }

    /// Returns the artifacts of all versions and platforms.
    pub fn artifacts(&self) -> &[Artifact] {
        &self.artifacts
    }

    /// Returns the variants that workloads share, in name order, without those of workloads that have their
    /// own. A system that declares no variant has one called `default`.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Returns the variants on which a workload can be run, in name order.
    pub fn variants_of(&self, workload: &str) -> &[Variant] {
        self.own_variants.get(workload).unwrap_or(&self.variants)
    }

    pub(crate) fn all_variants(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().chain(self.own_variants.values().flatten())
    }

    /// Returns the variant for a single check of the system: the default of the most prepared class that
    /// keeps documents whole, otherwise of the extracted class, otherwise the first variant. `None` if
    /// workloads share no variant.
    pub fn usual_variant(&self) -> Option<&Variant> {
        let order = [Preparation::Prepared, Preparation::AsIs, Preparation::Extracted];
        let default =
            |class| self.variants.iter().find(move |one| one.is_default && one.preparation == class);
        order.into_iter().find_map(default).or(self.variants.first())
    }

    /// Returns the storage settings; `default` always exists and comes first.
    pub fn storages(&self) -> &[Storage] {
        &self.storages
    }

    /// Returns the variant of this name or alias.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownVariant`] if there is none; the error lists all names.
    pub fn variant(&self, name: &str) -> Result<&Variant, CatalogueError> {
        self.all_variants().find(|variant| variant.is_called(name)).ok_or_else(|| {
            CatalogueError::UnknownVariant {
                system: self.name().to_owned(),
                variant: name.to_owned(),
                known: self.all_variants().flat_map(Variant::names).map(str::to_owned).collect(),
            }
        })
    }

    /// Returns the storage setting of this name.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownStorage`] if there is none; the error lists all names.
    pub fn storage(&self, name: &str) -> Result<&Storage, CatalogueError> {
        self.storages.iter().find(|known| known.name == name).ok_or_else(|| CatalogueError::UnknownStorage {
            system: self.name().to_owned(),
            storage: name.to_owned(),
            known: self.storages.iter().map(|known| known.name.clone()).collect(),
        })
    }

    /// Returns the artifact of `version` for this platform. `None` for a system without artifacts, which runs
    /// only on remote servers.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownVersion`] if there is no such version, [`CatalogueError::Platform`] if it is
    /// for other platforms.
    pub fn artifact(&self, version: &str) -> Result<Option<&Artifact>, CatalogueError> {
        if !self.versions().contains(&version) {
            return Err(CatalogueError::UnknownVersion {
                system: self.name().to_owned(),
                version: version.to_owned(),
                known: self.versions().into_iter().map(str::to_owned).collect(),
            });
        }
        let of_version = || self.artifacts.iter().filter(|artifact| artifact.version == version);
        match of_version().find(|artifact| artifact.fits_here()) {
            None if of_version().next().is_some() => Err(CatalogueError::Platform {
                system: self.name().to_owned(),
                version: version.to_owned(),
                platform: platform(),
                known: of_version().map(|artifact| artifact.platform.clone()).collect(),
            }),
            found => Ok(found),
        }
    }

    /// Returns the configuration of a version in a variant (or alias) with a storage setting.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownVersion`], [`CatalogueError::UnknownVariant`] or
    /// [`CatalogueError::UnknownStorage`] if a name is unknown, [`CatalogueError::Platform`] if the version
    /// is for other platforms.
    pub fn configuration(
        &self,
        version: &str,
        variant: &str,
        storage: &str,
    ) -> Result<Configuration, CatalogueError> {
        let artifact = self.artifact(version)?;
        let variant = self.variant(variant)?;
        let storage = self.storage(storage)?;
        let mut configuration = configuration::resolve(self, variant, storage, false, &mut BTreeSet::new())?;
        configuration.version = version.to_owned();
        configuration.artifact = artifact.cloned();
        configuration.reports = artifact.map(|artifact| artifact.reports.clone());
        configuration.end_of_life = artifact.is_some_and(|artifact| artifact.end_of_life);
        configuration.outdated = artifact.and_then(|artifact| artifact.outdated.clone());
        if let (Some(server), Some(artifact)) = (&mut configuration.server, artifact) {
            take_environment(server, artifact);
        }
        configuration.digest = configuration::digest(&configuration);
        Ok(configuration)
    }

    /// Returns the recipe by which this version of the server is started. `None` if the folder has no
    /// `[server]`.
    pub fn server_of(&self, artifact: &Artifact) -> Option<Recipe> {
        let mut server = self.server.clone()?;
        take_environment(&mut server, artifact);
        Some(server)
    }

    /// Finds files that belong to nothing, and files that are missing.
    fn check_files(&self) -> Result<(), CatalogueError> {
        let known = self.workloads.names();
        for path in self.folder.files.keys() {
            if sources::is_of_a_module(&self.definition, path) {
                continue;
            }
            let (top, inside) = path.split_once('/').unwrap_or((path, ""));
            match (top, inside) {
                (DEFINITION | "README.md", "") => {}
                (workload, inside) if !inside.is_empty() && known.contains(&workload) => {
                    if !self.runs(workload) {
                        let message = format!("is there, but system.toml has no [{workload}]");
                        return Err(self.folder.error(path, None, message));
                    }
                }
                _ => {
                    let near = did_you_mean(top, [DEFINITION, "README.md"].into_iter().chain(known.clone()));
                    let message = format!(
                        "belongs to nothing: a system has system.toml and a folder for each workload that it runs, \
                         of {}{near}",
                        known.join(", ")
                    );
                    return Err(self.folder.error(path, None, message));
                }
            }
        }
        let by_address = self.definition.address.as_ref().and_then(|address| address.load);
        for WorkloadPart { rules, sections, files } in &self.parts {
            let load = rules.read(&sections.of(rules.name(), &self.text, &self.workloads, None))?.load;
            for rule in rules.files() {
                for variant in self.variants_of(rules.name()) {
                    files.check(self, *rules, rule, &variant.name, load)?;
                }
                if by_address.is_some() {
                    files.check(self, *rules, rule, elsewhere::BY_ADDRESS, load.and(by_address))?;
                }
            }
        }
        Ok(())
    }

    /// Resolves every combination once, and finds values that no text uses: a variant with a misspelt value
    /// would silently measure something else than it states.
    fn check_values(&self) -> Result<(), CatalogueError> {
        let mut used = BTreeSet::new();
        let mut tiers = Vec::new();
        for variant in self.all_variants() {
            for storage in &self.storages {
                tiers.extend(configuration::resolve(self, variant, storage, false, &mut used)?.tiers);
                if self.elsewhere.is_some() {
                    configuration::resolve(self, variant, storage, true, &mut used)?;
                }
            }
        }
        let unused = |name: &str| {
            let near = did_you_mean(name, used.iter().map(String::as_str));
            format!("no statement or setting uses `{{{{{name}}}}}`{near}")
        };
        for tier in tiers {
            if let Some(name) = tier.values.keys().find(|name| !used.contains(*name)) {
                let workload = tier.files.keys().next().map_or("", String::as_str);
                let path = [workload, "durability", &tier.durability.name, "values", name];
                return Err(self.text.error(&path, unused(name)));
            }
        }
        let base = &self.definition;
        let places = [(vec!["values"], &base.values)]
            .into_iter()
            .chain(base.variants.iter().map(|(name, over)| (vec!["variants", name, "values"], &over.values)))
            .chain(base.storage.iter().map(|(name, over)| (vec!["storage", name, "values"], &over.values)));
        for (mut path, values) in places {
            if let Some(name) = values.keys().find(|name| !used.contains(*name)) {
                path.push(name);
                return Err(self.text.error(&path, unused(name)));
            }
        }
        Ok(())
    }
}

/// Adds the variables that a version of the server needs in its environment.
fn take_environment(server: &mut Recipe, artifact: &Artifact) {
    let own = artifact.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
    server.environment.extend(own);
}

fn check_names(folder: &Folder, definition: &Definition, text: &TomlText) -> Result<(), CatalogueError> {
    const RULE: &str = "a name is a-z, 0-9, `-` and `_`, and starts with a letter";
    if definition.name != folder.name {
        return Err(text.error(&["name"], format!("must be the folder's name, `{}`", folder.name)));
    }
    if !is_name(&definition.name) {
        return Err(text.error(&["name"], RULE));
    }
    // In a selection of systems, `all` means every system.
    if definition.name == "all" {
        return Err(text.error(&["name"], "`all` stands for every system: choose another name"));
    }
    if definition.reference && definition.default {
        let message = "a reference is part of every run already: leave `default` out";
        return Err(text.error(&["default"], message));
    }
    for (key, value) in [
        ("title", &definition.title),
        ("protocol", &definition.protocol),
        ("licence", &definition.licence),
        ("default_version", &definition.default_version),
    ] {
        if value.trim().is_empty() {
            return Err(text.error(&[key], "is empty"));
        }
    }
    for name in definition.variants.keys() {
        if !is_name(name) {
            return Err(text.error(&["variants", name], RULE));
        }
    }
    for name in definition.storage.keys() {
        if !is_name(name) {
            return Err(text.error(&["storage", name], RULE));
        }
    }
    Ok(())
}
