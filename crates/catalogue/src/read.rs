//! Reads the folder of a system, and validates it as a whole.

use std::collections::BTreeSet;

use crate::{
    by_address::{BY_ADDRESS, by_address},
    defaults,
    definition::{Definition, is_name},
    did_you_mean::did_you_mean,
    error::CatalogueError,
    folder::Folder,
    locate::TomlText,
    profile,
    resolve::resolve,
    rules::{self, ALL_RULES},
    server, sources,
    system::{System, WorkloadPart},
    system_toml::{self, ParsedSystemToml},
    variants::{self, Variants},
    workload_files::WorkloadFiles,
};

const DEFINITION: &str = "system.toml";

impl System {
    /// Reads a folder. Every variant is resolved with every storage setting once, so that a mistake in a
    /// folder is reported at once and not in the middle of a run.
    pub(crate) fn read(folder: Folder) -> Result<Self, CatalogueError> {
        let Some(text) = folder.files.get(DEFINITION) else {
            return Err(folder.error(DEFINITION, None, "is missing: a system's folder has one"));
        };
        let text = TomlText { file: folder.display_path(DEFINITION), text: text.clone() };
        let ParsedSystemToml { definition, mut sections } = system_toml::read(&text)?;
        check_names(&folder, &definition, &text)?;
        check_omitted_files(&definition, &text)?;
        let artifacts = sources::artifacts(&definition, &text, &folder)?;
        let server = server::server(&definition, &text)?;
        let remote_setup = by_address(&definition, &text)?;
        let profiles = profile::profiles(&definition, &text)?;
        let Variants { shared: variants, by_workload: workload_variants, ranked_shared } =
            variants::variants(&definition, &sections, &text)?;
        let storages = variants::storages(&definition);
        let address_folder = definition.address.as_ref().map(|_| BY_ADDRESS);
        let mut parts = Vec::new();
        for rules in ALL_RULES {
            let Some(sections) = sections.remove(rules.name()) else { continue };
            let own_variants = workload_variants.get(rules.name());
            let part_variants = own_variants.or(ranked_shared.get(rules.name())).unwrap_or(&variants);
            let names = part_variants.iter().map(|variant| variant.name.as_str());
            // The implicit variant of a system without variants has no files of its own.
            let declared = names.filter(|name| definition.variants.contains_key(*name));
            let names: Vec<&str> = declared.chain(address_folder).collect();
            let Definition { protocol, omitted_files, .. } = &definition;
            let files = WorkloadFiles::read(&folder, rules, &names, protocol, omitted_files)?;
            parts.push(WorkloadPart { rules, sections, files });
        }
        let system = Self {
            definition,
            text,
            folder,
            parts,
            artifacts,
            server,
            remote_setup,
            profiles,
            variants,
            workload_variants,
            ranked_shared_variants: ranked_shared,
            storages,
        };
        system.check_files()?;
        system.check_values()?;
        Ok(system)
    }

    /// Finds files that belong to nothing, and files that are missing.
    fn check_files(&self) -> Result<(), CatalogueError> {
        let known = rules::names();
        for path in self.folder.files.keys() {
            if sources::is_module_file(&self.definition, path) {
                continue;
            }
            let (top, rest) = path.split_once('/').unwrap_or((path, ""));
            match (top, rest) {
                (DEFINITION | "README.md", "") => {}
                (workload, rest) if !rest.is_empty() && known.contains(&workload) => {
                    if !self.supports_workload(workload) {
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
        let address_load = self.definition.address.as_ref().and_then(|address| address.load);
        for part in &self.parts {
            let load = self.read_section(part, None)?.load;
            let WorkloadPart { rules, files, .. } = part;
            for rule in rules.files() {
                for variant in self.variants_of(rules.name()) {
                    files.check(&self.folder, self.is_reference(), *rules, rule, &variant.name, load)?;
                }
                if let Some(load) = address_load {
                    files.check(&self.folder, self.is_reference(), *rules, rule, BY_ADDRESS, load)?;
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
                tiers.extend(resolve(self, variant, storage, false, &mut used)?.tiers);
                if self.remote_setup.is_some() {
                    resolve(self, variant, storage, true, &mut used)?;
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
                let path = [workload, "durability", tier.durability.tier.word(), "values", name];
                return Err(self.text.error(&path, unused(name)));
            }
        }
        let Definition { values, variants, storage, .. } = &self.definition;
        let tables = [(vec!["values"], values)]
            .into_iter()
            .chain(variants.iter().map(|(name, overlay)| (vec!["variants", name, "values"], &overlay.values)))
            .chain(storage.iter().map(|(name, overlay)| (vec!["storage", name, "values"], &overlay.values)));
        for (mut path, values) in tables {
            if let Some(name) = values.keys().find(|name| !used.contains(*name)) {
                path.push(name);
                return Err(self.text.error(&path, unused(name)));
            }
        }
        Ok(())
    }
}

/// Checks that everything in `without` is a default file of the protocol.
fn check_omitted_files(definition: &Definition, text: &TomlText) -> Result<(), CatalogueError> {
    for (index, name) in definition.omitted_files.iter().enumerate() {
        let is_default = name.split_once('/').is_some_and(|(workload, file)| {
            defaults::default_files(&definition.protocol, workload).contains_key(file)
        });
        if !is_default {
            let message =
                format!("there is no default file `{name}` for the protocol {}", definition.protocol);
            return Err(text.error(&["without", &index.to_string()], message));
        }
    }
    Ok(())
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
