//! Durability tiers: what a configuration may lose in a crash of its process, and in a loss of power.

use std::collections::BTreeMap;

use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_servers::Scalar;
use serde::{Deserialize, Serialize};

use super::{
    definition::{OpenDefinition, SettingDeviation},
    did_you_mean::did_you_mean,
    error::CatalogueError,
    sections::SectionReader,
    server::to_texts,
    session_setup::SessionSetup,
    statement_file::StatementFile,
    template,
};

/// Run-time placeholders that the settings and statements of a tier may hold.
const RUN_TIME: [&str; 2] = ["cores", "folder"];

/// Text of [`Durability::process_crash`] and [`Durability::power_loss`] if nothing may be lost.
pub const NO_LOSS: &str = "nothing";

/// What a configuration may lose under a durability tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// Tier that the system's folder defines.
    pub tier: DurabilityTier,
    /// What a crash of the system's process may lose, in words.
    pub process_crash: String,
    /// What a loss of power may lose, in words.
    pub power_loss: String,
    /// Longest time before a crash of the process whose writes may be lost, in milliseconds. `None` if the
    /// loss is not a matter of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_crash_ms: Option<u32>,
    /// Longest time before a loss of power whose writes may be lost, in milliseconds. `None` if the loss is
    /// not a matter of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_loss_ms: Option<u32>,
    /// Whether results are ranked beside those of the same tier.
    pub ranked: bool,
}

/// A durability tier with the settings and statements that establish it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    pub(crate) durability: Durability,
    pub(crate) open: SessionSetup,
    /// Values that replace those of the folder, by name.
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) exceptions: Vec<SettingDeviation>,
    /// Statement files by workload, with the tier's values in place.
    pub(crate) files: BTreeMap<String, BTreeMap<String, StatementFile>>,
}

/// `[serving.durability]` as written: at most one definition for each tier.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DurabilityDefinition {
    pub(crate) synced: Option<TierDefinition>,
    pub(crate) process: Option<TierDefinition>,
    pub(crate) window: Option<TierDefinition>,
}

/// One durability tier, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TierDefinition {
    process_crash: String,
    power_loss: String,
    process_crash_ms: Option<u32>,
    power_loss_ms: Option<u32>,
    #[serde(default = "yes")]
    ranked: bool,
    #[serde(default)]
    open: OpenDefinition,
    #[serde(default)]
    values: BTreeMap<String, Scalar>,
    #[serde(default, rename = "exception")]
    exceptions: Vec<SettingDeviation>,
}

fn yes() -> bool {
    true
}

impl DurabilityDefinition {
    /// Validates the tiers and returns them, the safest first. The first one is the default.
    pub(crate) fn tiers(self, section: &SectionReader<'_>) -> Result<Vec<Tier>, CatalogueError> {
        let definitions = [
            (DurabilityTier::Synced, self.synced),
            (DurabilityTier::Process, self.process),
            (DurabilityTier::Window, self.window),
        ];
        let stated = definitions.into_iter().filter_map(|(tier, definition)| Some((tier, definition?)));
        let tiers = stated
            .map(|(tier, definition)| definition.checked(tier, section))
            .collect::<Result<Vec<_>, _>>()?;
        if tiers.is_empty() {
            return Err(section.error(&["durability"], "states no tier: synced, process or window"));
        }
        Ok(tiers)
    }
}

impl TierDefinition {
    fn checked(self, tier: DurabilityTier, section: &SectionReader<'_>) -> Result<Tier, CatalogueError> {
        let error = |keys: &[&str], message: String| {
            let path: Vec<&str> =
                ["durability", tier.word()].into_iter().chain(keys.iter().copied()).collect();
            section.error(&path, message)
        };
        self.check_losses(&error)?;
        let settings = to_texts(&self.open.settings);
        self.check_open(&settings, &error)?;
        let values = to_texts(&self.values);
        for (name, value) in &values {
            if value.contains("{{") {
                return Err(error(
                    &["values", name],
                    "holds a placeholder: values are put in once".to_owned(),
                ));
            }
        }
        Ok(Tier {
            durability: Durability {
                tier,
                process_crash: self.process_crash,
                power_loss: self.power_loss,
                process_crash_ms: self.process_crash_ms,
                power_loss_ms: self.power_loss_ms,
                ranked: self.ranked,
            },
            open: SessionSetup { settings, statements: self.open.statements },
            values,
            exceptions: self.exceptions,
            files: BTreeMap::new(),
        })
    }

    /// Checks the texts on what may be lost, and the times that belong to them. `error` builds the error at
    /// keys of the tier.
    fn check_losses(&self, error: &dyn Fn(&[&str], String) -> CatalogueError) -> Result<(), CatalogueError> {
        for (key, loss) in [("process_crash", &self.process_crash), ("power_loss", &self.power_loss)] {
            if loss.trim().is_empty() {
                return Err(error(
                    &[key],
                    "is empty: say what may be lost, or that it is nothing".to_owned(),
                ));
            }
        }
        for (key, loss, ms) in [
            ("process_crash_ms", &self.process_crash, self.process_crash_ms),
            ("power_loss_ms", &self.power_loss, self.power_loss_ms),
        ] {
            if ms.is_some() && loss == NO_LOSS {
                return Err(error(&[key], "is the time of a window, and nothing may be lost".to_owned()));
            }
        }
        Ok(())
    }

    /// Checks what the tier states for opening a session; `settings` are its settings as texts. `error`
    /// builds the error at keys of the tier.
    fn check_open(
        &self,
        settings: &BTreeMap<String, String>,
        error: &dyn Fn(&[&str], String) -> CatalogueError,
    ) -> Result<(), CatalogueError> {
        if !self.open.arguments.is_empty() {
            let message = "arguments of the server's command belong to a variant or a storage setting";
            return Err(error(&["open", "arguments"], message.to_owned()));
        }
        let texts = settings
            .iter()
            .map(|(name, text)| (["open", "settings", name.as_str()], text))
            .chain(self.open.statements.iter().map(|text| (["open", "statements", ""], text)));
        for (keys, text) in texts {
            let keys: Vec<&str> = keys.into_iter().filter(|key| !key.is_empty()).collect();
            let names = template::placeholders(text).map_err(|problem| error(&keys, problem.to_string()))?;
            if let Some((_, name)) = names.iter().find(|(_, name)| !RUN_TIME.contains(name)) {
                let near = did_you_mean(name, RUN_TIME);
                return Err(error(&keys, format!("`{{{{{name}}}}}` has no value here{near}")));
            }
        }
        Ok(())
    }
}

impl Tier {
    /// Adds what another workload defines for the same tier.
    pub(crate) fn join(&mut self, other: Self) {
        self.open.settings.extend(other.open.settings);
        self.open.statements.extend(other.open.statements);
        self.exceptions.extend(other.exceptions);
        self.files.extend(other.files);
    }

    /// Removes what only the operator of a server can set; the tier is then not ranked and gets an exception
    /// that names it. `statements` tells whether statements change nothing but a session, in which case they
    /// stay.
    pub(crate) fn strip_server_settings(&mut self, statements: bool) {
        let SessionSetup { settings, statements: open_statements } = &mut self.open;
        let mut not_set: Vec<String> =
            std::mem::take(settings).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !statements {
            not_set.append(open_statements);
        }
        if !not_set.is_empty() {
            self.exceptions.push(SettingDeviation {
                what: format!("durability {}, not set: {}", self.durability.tier, not_set.join(", ")),
                why: "A server by address has the settings that its owner gave it: what it may lose is not known."
                    .to_owned(),
            });
            self.durability.ranked = false;
        }
    }
}
