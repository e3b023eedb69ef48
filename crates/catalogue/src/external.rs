//! Configurations of external systems, which jsonathlon does not install: remote servers, and binaries that
//! the user supplies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{
    artifact::Artifact,
    by_address::RemoteSetup,
    configuration::{self, Configuration},
    definition::SettingDeviation,
    error::CatalogueError,
    resolve::resolve,
    session_setup::SessionSetup,
    system::System,
    variants::Variant,
};

/// Separates a system's name from its number, if one run has several of it.
const NUMBER: char = '#';

/// Returns a system's name without the number that it has if one run has several of it.
#[must_use]
pub fn base_name(system: &str) -> &str {
    system.split_once(NUMBER).map_or(system, |(name, _)| name)
}

/// Origin of an external system, which jsonathlon does not install.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExternalKind {
    /// A remote server, which the user operates.
    Address,
    /// Binaries that the user supplies and the run starts.
    Binaries,
}

impl ExternalKind {
    /// Returns the word used in versions: `18.6+address`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Binaries => "own",
        }
    }
}

impl System {
    /// Returns how runs work on remote servers of this system. `None` if the folder has no `[address]`.
    pub fn remote_setup(&self) -> Option<&RemoteSetup> {
        self.remote_setup.as_ref()
    }

    /// Returns the protocol of remote servers of this system.
    pub fn protocol_by_address(&self) -> &str {
        let protocol = self.definition.address.as_ref().and_then(|address| address.protocol.as_deref());
        protocol.unwrap_or(self.protocol())
    }

    /// Returns `true` if a variant is part of a plain run on a remote server.
    pub fn is_default_by_address(&self, variant: &Variant) -> bool {
        match &self.definition.address {
            Some(address) if !address.variants.is_empty() => {
                // Variants named there replace the usual default of their class.
                let is_named = |candidate: &&Variant| address.variants.contains(&candidate.name);
                let is_same_class = |candidate: &Variant| {
                    candidate.preparation == variant.preparation && candidate.workloads == variant.workloads
                };
                let is_replaced = self.all_variants().filter(is_named).any(is_same_class);
                if is_replaced { is_named(&variant) } else { variant.is_default }
            }
            _ => variant.is_default,
        }
    }

    /// Returns the configuration of a variant with a storage setting on an external system that reports
    /// version `reported`. The configuration's version is `reported` with the origin, as `18.6+address`. If
    /// one run has several of the system, `number` counts them from 1, and they are named `postgresql#1`,
    /// `postgresql#2`.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownVariant`] or [`CatalogueError::UnknownStorage`] if a name is unknown,
    /// [`CatalogueError::NoAddress`] if a remote server is used and the folder has no `[address]`.
    pub fn external_configuration(
        &self,
        kind: ExternalKind,
        reported: &str,
        number: Option<usize>,
        variant: &str,
        storage: &str,
    ) -> Result<Configuration, CatalogueError> {
        let variant = self.variant(variant)?;
        let storage = self.storage(storage)?;
        let is_address = kind == ExternalKind::Address;
        let mut configuration = resolve(self, variant, storage, is_address, &mut BTreeSet::new())?;
        configuration.version_statement =
            self.definition.address.as_ref().and_then(|address| address.version.clone());
        // The version that the protocol reports may be that of something else.
        configuration.version_text = configuration.version_statement.is_none().then(|| reported.to_owned());
        let version = plain_version(reported);
        configuration.version = format!("{version}+{}", kind.word());
        configuration.end_of_life = self.has_ended(&version);
        configuration.outdated = self.outdated(&version);
        if let Some(number) = number {
            configuration.system = format!("{}{NUMBER}{number}", self.name());
        }
        if let Some(server) = &mut configuration.server
            && let Some(commands) = server.external_commands.take()
        {
            (server.init, server.start) = (commands.init, commands.start);
        }
        if is_address {
            self.make_remote(&mut configuration)?;
        }
        if !self.is_tested_version(&version) {
            configuration.exceptions.push(SettingDeviation {
                what: format!("version {version}, untried"),
                why: format!("The folder was tried with {}.", self.versions().join(", ")),
            });
        }
        configuration.digest = configuration::digest(&configuration);
        Ok(configuration)
    }

    /// Changes a configuration so that it describes a remote server: nothing of it is started or set, and
    /// exceptions say so.
    fn make_remote(&self, configuration: &mut Configuration) -> Result<(), CatalogueError> {
        let (Some(remote_setup), Some(address)) = (&self.remote_setup, &self.definition.address) else {
            return Err(CatalogueError::NoAddress { system: self.name().to_owned() });
        };
        configuration.exceptions.push(SettingDeviation {
            what: "a server by address".to_owned(),
            why: "Somebody else runs it: it is not started, set up or stopped, nothing is known of its \
                  files and of what it spends, and what else it does is in its times."
                .to_owned(),
        });
        configuration.remote_setup = Some(remote_setup.clone());
        configuration.server = None;
        configuration.embedded = false;
        configuration.protocol = self.protocol_by_address().to_owned();
        if let Some(load) = address.load {
            configuration.setups.values_mut().for_each(|part| part.load = load);
        }
        // Settings can be set only when a server is started.
        let SessionSetup { settings, statements } = &mut configuration.open;
        let mut not_set: Vec<String> = std::mem::take(settings).into_keys().collect();
        if !address.statements {
            not_set.append(statements);
        }
        for tier in &mut configuration.tiers {
            tier.strip_server_settings(address.statements);
        }
        if !not_set.is_empty() {
            configuration.exceptions.push(SettingDeviation {
                what: format!("not set: {}", not_set.join(", ")),
                why: "A server by address has the settings that its owner gave it; the exceptions above \
                      that name these do not hold here."
                    .to_owned(),
            });
        }
        Ok(())
    }

    /// Finds user-supplied binaries at `location`, which is a folder or the only binary itself. Returns their
    /// paths by the names that commands use.
    ///
    /// # Errors
    /// [`CatalogueError::MissingPrograms`] if a binary that the system needs is missing; the error says where it
    /// was looked for.
    pub fn external_programs(&self, location: &Path) -> Result<BTreeMap<String, PathBuf>, CatalogueError> {
        let fail = |message: String| CatalogueError::MissingPrograms {
            system: self.name().to_owned(),
            path: location.display().to_string(),
            message,
        };
        let is_default_version =
            |artifact: &&Artifact| artifact.version == self.default_version() && artifact.matches_platform();
        let artifact = self.artifacts().iter().find(is_default_version);
        let source = artifact.and_then(|artifact| artifact.sources.first());
        let Some(source) = source.filter(|source| !source.files.is_empty()) else {
            return Err(fail("it has no program of its own that could be another's".to_owned()));
        };
        if !location.exists() {
            return Err(fail("there is no such file or folder".to_owned()));
        }
        let is_used = |role: &str| match &self.server {
            None => true,
            Some(server) => {
                let placeholder = format!("{{{{{role}}}}}");
                let (init, start) = match &server.external_commands {
                    Some(commands) => (&commands.init, &commands.start),
                    None => (&server.init, &server.start),
                };
                let mut arguments = init.iter().flatten().chain(start).chain(&server.folder);
                arguments.any(|argument| argument.contains(&placeholder))
            }
        };
        let needed: Vec<(&String, &String)> = source.files.iter().filter(|(role, _)| is_used(role)).collect();
        let mut programs = BTreeMap::new();
        for (role, path) in &needed {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let candidates = if location.is_dir() && path.ends_with('/') {
                vec![location.to_owned()]
            } else if location.is_dir() {
                ["", "bin", "sbin", "lib", "libexec"].map(|folder| location.join(folder).join(name)).to_vec()
            } else if needed.len() == 1 {
                vec![location.to_owned()]
            } else {
                location.parent().map(|folder| folder.join(name)).into_iter().collect()
            };
            let Some(candidate) = candidates.iter().find(|candidate| candidate.exists()) else {
                return Err(fail(format!(
                    "there is no `{name}` in it, nor in its bin, sbin, lib or libexec"
                )));
            };
            let candidate = std::path::absolute(candidate).map_err(|error| fail(error.to_string()))?;
            programs.insert((*role).clone(), candidate);
        }
        Ok(programs)
    }

    /// Returns `true` if a version belongs to a series, such as 6.0, that the folder marks as no longer
    /// supported.
    fn has_ended(&self, version: &str) -> bool {
        let series = |version: &str| version.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
        let mut ended = self.artifacts().iter().filter(|artifact| artifact.end_of_life);
        ended.any(|artifact| series(&artifact.version) == series(version))
    }

    /// Returns the release date of a version that the folder marks as outdated. `None` for other versions.
    fn outdated(&self, version: &str) -> Option<String> {
        self.artifacts().iter().find(|artifact| artifact.version == version)?.outdated.clone()
    }

    /// Returns `true` if the folder was tried with a version of the same major number.
    pub fn is_tested_version(&self, version: &str) -> bool {
        let major = |version: &str| {
            version
                .trim_start_matches('v')
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        self.versions().into_iter().any(|known| major(known) == major(version))
    }
}

/// Returns the first word of a reported version, up to the first character that is unsafe in a file name:
/// `8.19.8` of `8.19.8, Lucene 9`. Returns `unknown` if nothing is left.
fn plain_version(reported: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_".contains(*c);
    let word = reported.split_whitespace().next().unwrap_or_default();
    // A leading `v` is not part of the version: `v2.0.0` is 2.0.0.
    let word =
        word.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(word);
    let plain: String = word.chars().take_while(is_plain).collect();
    if plain.is_empty() { "unknown".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_word_that_files_can_be_named_by() {
        for (reported, version) in [
            ("8.19.8, Lucene 9.12, Java 17", "8.19.8"),
            ("18.6 (Debian 18.6-1)", "18.6"),
            ("10.11.14-MariaDB-log", "10.11.14-MariaDB-log"),
            ("v2.0.0", "2.0.0"),
            ("vanilla", "vanilla"),
            ("/etc", "unknown"),
            ("", "unknown"),
        ] {
            assert_eq!(plain_version(reported), version);
        }
    }
}
