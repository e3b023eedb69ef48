//! Configurations: a system at a version, in a variant, with a storage setting, with all layers merged and
//! every value in place.

use std::collections::BTreeMap;

use jsonathlon_schema::{
    durability::DurabilityTier,
    ranking::{MemoryProfile, PreparationClass},
    transport::Transport,
};
use jsonathlon_servers::Recipe;
use serde::Serialize;

use crate::{
    artifact::{Artifact, InstalledArtifact},
    by_address::RemoteSetup,
    definition::{SettingDeviation, SettingTarget},
    durability::{Durability, Tier},
    error::CatalogueError,
    profile::{MemorySetting, Profiles},
    rules::{
        WorkloadSetup,
        analytics::{ANALYTICS, AnalyticsSetup},
        documents::{DOCUMENTS, DocumentsSetup},
        fidelity::{FIDELITY, FidelitySetup},
        mixed::{MIXED, MixedSetup},
        serving::{SERVING, ServingSetup},
    },
    session_setup::SessionSetup,
};

/// Everything that a workload and a driver need to know about one configuration. Placeholders of [`RUN_TIME`]
/// are left for the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Configuration {
    /// Name of the system, which is that of its folder; followed by `#1`, `#2` … if one run has several of
    /// it.
    pub system: String,
    /// Display name of the system.
    pub title: String,
    /// Name of the driver, such as `postgres`.
    pub protocol: String,
    /// Whether the engine runs inside the worker process.
    pub embedded: bool,
    /// Whether the version is no longer supported by its developers.
    pub end_of_life: bool,
    /// Release date (`YYYY-MM-DD`) of this version if newer versions exist that no source has or that cannot
    /// be used; otherwise `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Whether the system is a yardstick for reading other results: never ranked, part of every run unless
    /// excluded.
    pub reference: bool,
    /// Whether all data is held in memory once open, so that no trial can be cold.
    pub in_memory: bool,
    /// Version of the system; for an external system with its origin, as `18.6+address`.
    pub version: String,
    /// Artifact to install. `None` for an external system and for a system without artifacts.
    pub artifact: Option<Artifact>,
    /// Text that the version reported by the engine must contain. `None` if the system has no artifact, or if
    /// [`Self::version_statement`] is set.
    pub version_text: Option<String>,
    /// Statement that returns the version of an external system whose protocol reports the version of
    /// something else. `None` if the protocol's version applies.
    pub version_statement: Option<String>,
    /// Name of the variant; for a user's own questions, that of the user's folder if it states one.
    pub variant: String,
    /// Description of the variant in a few words.
    pub variant_title: String,
    /// Preparation class: what is configured about the documents before they are loaded.
    pub preparation: PreparationClass,
    /// Further division of the preparation class: only configurations with the same text are ranked together.
    /// Usually empty.
    pub ranks_with: String,
    /// Whether the configuration takes part in a ranking.
    pub ranked: bool,
    /// Memory profile. `None` on a remote server, whose owner sets the memory, and while no profile has been
    /// chosen.
    pub profile: Option<MemoryProfile>,
    /// Memory budget in bytes. `None` unless the memory profile is [`MemoryProfile::Sized`].
    pub memory_bytes: Option<u64>,
    /// Memory settings of the chosen memory profile.
    pub memory_settings: Vec<MemorySetting>,
    /// Memory settings of both memory profiles, to choose from.
    #[serde(skip)]
    pub(crate) profiles: Profiles,
    /// Name of the storage setting, such as `default`.
    pub storage: String,
    /// Durability tier, which says what a crash may lose. `None` while no tier has been chosen, and for
    /// workloads without tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<Durability>,
    /// Durability tiers to choose from, the default first.
    #[serde(skip)]
    pub(crate) tiers: Vec<Tier>,
    /// How the server is initialised, started and stopped. `None` for an embedded engine and for a remote
    /// server.
    pub server: Option<Recipe>,
    /// How the run works on a remote server. `None` if it does not use one.
    pub remote_setup: Option<RemoteSetup>,
    /// Settings and statements with which a session is opened.
    pub open: SessionSetup,
    /// All deviations from the system's defaults, shown in reports.
    pub exceptions: Vec<SettingDeviation>,
    /// What the system's folder declares about the configuration.
    pub properties: Properties,
    /// Setups of the workloads that the system runs in this variant, by name of the workload.
    pub setups: BTreeMap<String, WorkloadSetup>,
    /// `blake3:…` over everything that decides what is measured: version, settings, and the statements and
    /// rules of the workloads in [`Self::setups`]. Descriptions and sources are left out.
    pub digest: String,
}

impl Configuration {
    /// Returns the setup of the analytics workload. `None` if the system does not run it.
    pub fn analytics(&self) -> Option<AnalyticsSetup> {
        AnalyticsSetup::from_setup(self.setups.get(ANALYTICS)?)
    }

    /// Returns the setup of the serving workload. `None` if the system does not run it in this variant.
    pub fn serving(&self) -> Option<ServingSetup> {
        ServingSetup::from_setup(self.setups.get(SERVING)?)
    }

    /// Returns the setup of the mixed workload. `None` if the system does not run it in this variant.
    pub fn mixed(&self) -> Option<MixedSetup> {
        MixedSetup::from_setup(self.setups.get(MIXED)?, &self.protocol)
    }

    /// Returns the setup of the documents workload. `None` if the system does not run it in this variant.
    pub fn documents(&self) -> Option<DocumentsSetup> {
        DocumentsSetup::from_setup(self.setups.get(DOCUMENTS)?)
    }

    /// Returns the setup of the fidelity workload. `None` if the system does not run it in this variant.
    pub fn fidelity(&self) -> Option<FidelitySetup> {
        FidelitySetup::from_setup(self.setups.get(FIDELITY)?)
    }

    /// Returns the folder's advice for documents that are rejected with this message. `None` if it has none.
    #[must_use]
    pub fn remedy(&self, message: &str) -> Option<&str> {
        let matching = self.properties.remedies.iter().find(|remedy| message.contains(&remedy.error_text));
        matching.map(|remedy| remedy.advice.as_str())
    }

    /// Replaces the version by the installed one, which may be a newer version that was accepted in place of
    /// the pinned one, and updates the digest.
    #[must_use]
    pub fn with_installed_version(mut self, installed: &InstalledArtifact) -> Self {
        if installed.version != self.version {
            self.version.clone_from(&installed.version);
            self.outdated = None;
            self.version_text = Some(installed.version_text.clone());
            if let Some(artifact) = &mut self.artifact {
                artifact.version.clone_from(&installed.version);
                artifact.version_text.clone_from(&installed.version_text);
            }
            self.digest = digest(&self);
        }
        self
    }

    /// Keeps only the setups of these workloads, so that the others neither run nor count in the digest.
    #[must_use]
    pub fn for_workloads(mut self, workloads: &[&str]) -> Self {
        self.setups.retain(|name, _| workloads.contains(&name.as_str()));
        self.digest = digest(&self);
        self
    }

    /// Returns the durability tiers, the default first. Empty for workloads without tiers.
    pub fn durabilities(&self) -> impl Iterator<Item = &Durability> {
        self.tiers.iter().map(|tier| &tier.durability)
    }

    /// Applies a durability tier: adds its settings, and replaces the statements of the default tier by its
    /// own. A remote server keeps the settings of its owner. Must be called only once, on a configuration
    /// without a tier.
    ///
    /// # Errors
    /// [`CatalogueError::UnknownDurability`] if the system has no such tier; the error lists those it has.
    pub fn with_durability(mut self, tier: DurabilityTier) -> Result<Self, CatalogueError> {
        let Some(chosen) = self.tiers.iter().find(|known| known.durability.tier == tier).cloned() else {
            return Err(CatalogueError::UnknownDurability {
                system: self.system,
                tier,
                known: self.tiers.iter().map(|known| known.durability.tier).collect(),
            });
        };
        self.open.settings.extend(chosen.open.settings);
        self.open.statements.extend(chosen.open.statements);
        self.exceptions.extend(chosen.exceptions);
        for (workload, files) in chosen.files {
            if let Some(part) = self.setups.get_mut(&workload) {
                part.files = files;
            }
        }
        self.durability = Some(chosen.durability);
        self.digest = digest(&self);
        Ok(self)
    }

    /// Builds the message for an engine that reports version `reported`, which does not contain
    /// [`Self::version_text`]: what was expected where, and what to do about it.
    pub fn unexpected_version(&self, reported: &str) -> String {
        let Self { system, version, version_text, artifact, .. } = self;
        let expected = version_text.as_deref().unwrap_or_default();
        let Some(artifact) = artifact else {
            return format!(
                "the engine says that it is version {reported:?}, but {system} {version} reports \
                 {expected:?}; it was changed since the run began; start a new run"
            );
        };
        let location = &artifact.location.version_text;
        let advice = if artifact.is_bundled() {
            String::new()
        } else {
            format!(
                "; if this is another engine than you want, correct the source and install that: `{}`",
                artifact.reinstall_command()
            )
        };
        format!(
            "the engine says that it is version {reported:?}, but {location} is {expected:?}, which is no \
             part of that: correct the key{advice}"
        )
    }

    /// Sets the transport by which sessions reach the server. A configuration without a server is not
    /// changed.
    ///
    /// # Errors
    /// [`CatalogueError::NoTransport`] if the system's folder does not define this transport.
    pub fn with_transport(mut self, transport: Transport) -> Result<Self, CatalogueError> {
        let Some(server) = &mut self.server else { return Ok(self) };
        let missing_key = match transport {
            Transport::Tcp => None,
            Transport::Tls => server.tls.is_empty().then_some("`tls`, the words that make it encrypt"),
            Transport::Unix => server.socket.is_none().then_some("`socket`, the path of a Unix socket"),
        };
        if let Some(missing_key) = missing_key {
            return Err(CatalogueError::NoTransport { system: self.system, transport, missing_key });
        }
        server.transport = transport;
        self.digest = digest(&self);
        Ok(self)
    }

    /// Applies a memory profile; `budget_bytes` is the budget of [`MemoryProfile::Sized`]. A remote server
    /// keeps the settings of its owner.
    ///
    /// # Errors
    /// [`CatalogueError::TooLittleMemory`] if the budget is smaller than the system needs.
    pub fn with_memory(mut self, profile: MemoryProfile, budget_bytes: u64) -> Result<Self, CatalogueError> {
        if self.remote_setup.is_some() {
            return Ok(self);
        }
        let least_bytes = self.profiles.least_bytes();
        if profile == MemoryProfile::Sized && budget_bytes < least_bytes {
            return Err(CatalogueError::TooLittleMemory { system: self.system, budget_bytes, least_bytes });
        }
        self.memory_settings = self.profiles.settings(profile, budget_bytes);
        for setting in &self.memory_settings {
            let value = setting.value.clone();
            match (setting.target, &mut self.server) {
                (SettingTarget::Setting, _) => {
                    self.open.settings.insert(setting.name.clone(), value);
                }
                (SettingTarget::Statement, _) => self.open.statements.push(value),
                (SettingTarget::Environment, Some(server)) => {
                    server.environment.insert(setting.name.clone(), value);
                }
                (SettingTarget::Argument, Some(server)) => server.start.push(value),
                // Folders with such a setting and without a server are rejected when they are read.
                (SettingTarget::Environment | SettingTarget::Argument, None) => {}
            }
        }
        self.profile = Some(profile);
        self.memory_bytes = (profile == MemoryProfile::Sized).then_some(budget_bytes);
        self.digest = digest(&self);
        Ok(self)
    }
}

/// What a system's folder declares about a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// Documents in the unit that the engine assigns to one core as a whole; fewer documents leave cores
    /// idle. `None` if not stated.
    pub parallel_unit: Option<u64>,
    /// Whether the engine reports how long a statement took.
    pub server_time: bool,
    /// Remarks for readers of a report.
    pub notes: Vec<String>,
    /// Advice about documents that the system rejects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
}

/// Advice about documents that a system rejects for a certain reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// Text in the system's error message by which the reason is recognised.
    pub error_text: String,
    /// What the user can do about these documents.
    pub advice: String,
}

/// Computes the digest of a configuration. Descriptions and sources are left out on purpose: neither a better
/// wording nor a second registry for the same version makes measurements incomparable.
pub(crate) fn digest(configuration: &Configuration) -> String {
    let mut input = serde_json::json!({
        "system": configuration.system,
        "protocol": configuration.protocol,
        "version": configuration.version,
        "reports": configuration.version_text,
        "variant": configuration.variant,
        "preparation": configuration.preparation,
        "ranks_with": configuration.ranks_with,
        "profile": configuration.profile,
        "storage": configuration.storage,
        "open": configuration.open,
        // The key is present even without this workload, because digests are older than the other workloads.
        ANALYTICS: null,
    });
    for (name, part) in &configuration.setups {
        input[name.as_str()] = part.digest_input();
    }
    if let Some(durability) = &configuration.durability {
        input["durability"] = serde_json::json!(durability.tier);
    }
    // Present only with a server, because digests of embedded engines are older than servers.
    if let Some(server) = &configuration.server {
        input["server"] = serde_json::json!(server);
    }
    if let Some(remote_setup) = &configuration.remote_setup {
        // The key is older than the field's name, and another key would change the digest.
        input["elsewhere"] = serde_json::json!(remote_setup);
    }
    format!("blake3:{}", blake3::hash(input.to_string().as_bytes()).to_hex())
}
