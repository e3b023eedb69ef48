//! `system.toml` as it is written, but for the sections of workloads. Every unknown key is an error.

use std::collections::BTreeMap;

use jsonathlon_servers::{Recipe, Scalar};
use serde::{Deserialize, Serialize};

use super::preparation::Preparation;
use crate::artifact::DebianPackage;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) protocol: String,
    pub(crate) default_version: String,
    pub(crate) licence: String,
    #[serde(default)]
    pub(crate) embedded: bool,
    #[serde(default)]
    pub(crate) default: bool,
    /// A row to read others by, never ranked, part of every run unless left out.
    #[serde(default)]
    pub(crate) reference: bool,
    /// The data is held in memory whole once open, so no trial can be cold.
    #[serde(default)]
    pub(crate) in_memory: bool,
    #[serde(default, rename = "artifact")]
    pub(crate) artifacts: Vec<ArtifactDefinition>,
    pub(crate) server: Option<Recipe>,
    pub(crate) address: Option<AddressDefinition>,
    #[serde(default)]
    pub(crate) open: OpenDefinition,
    #[serde(default, rename = "exception")]
    pub(crate) exceptions: Vec<Exception>,
    #[serde(default)]
    pub(crate) properties: PropertiesDefinition,
    #[serde(default)]
    pub(crate) profiles: ProfilesDefinition,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, Scalar>,
    /// Workloads that the system does not run.
    #[serde(default)]
    pub(crate) not: BTreeMap<String, NotDefinition>,
    #[serde(default)]
    pub(crate) variants: BTreeMap<String, VariantDefinition>,
    #[serde(default)]
    pub(crate) storage: BTreeMap<String, StorageDefinition>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArtifactDefinition {
    pub(crate) version: String,
    pub(crate) reports: String,
    pub(crate) platform: String,
    pub(crate) licence: Option<String>,
    #[serde(default)]
    pub(crate) end_of_life: bool,
    pub(crate) outdated: Option<String>,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// What only this version's server needs in its environment.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, Scalar>,
    #[serde(rename = "source")]
    pub(crate) sources: Vec<SourceDefinition>,
}

/// Which keys a source needs depends on its kind; that is checked afterwards,
/// where the error can name the line.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceDefinition {
    pub(crate) kind: String,
    pub(crate) package: Option<String>,
    pub(crate) coordinates: Option<String>,
    pub(crate) sha256: Option<String>,
    pub(crate) bytes: Option<u64>,
    pub(crate) unpacked_bytes: Option<u64>,
    pub(crate) inner: Option<String>,
    /// Of Debian.
    pub(crate) suite: Option<String>,
    #[serde(default)]
    pub(crate) packages: Vec<DebianPackage>,
    /// The folder of a Go module, in the system's own.
    pub(crate) module: Option<String>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) members: Vec<String>,
    #[serde(default)]
    pub(crate) folders: Vec<String>,
    /// For a source whose archive is laid out unlike the others'.
    pub(crate) files: Option<BTreeMap<String, String>>,
    /// Further parts, unpacked into the same folder.
    #[serde(default)]
    pub(crate) with: Vec<SourceDefinition>,
}

/// How a run makes itself at home on a server that somebody else runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddressDefinition {
    /// Where servers speak another protocol than what is installed.
    pub(crate) protocol: Option<String>,
    /// Where documents get in another way.
    pub(crate) load: Option<LoadMode>,
    /// The user as whom sessions log in, where the address names none.
    #[serde(default)]
    pub(crate) user: String,
    /// The database from which the run's own is made, where the address names
    /// none.
    #[serde(default)]
    pub(crate) database: String,
    /// Statements that make the run's own database, `{{database}}`; none where
    /// it comes to be by itself, or there is no such thing.
    #[serde(default)]
    pub(crate) create: Vec<String>,
    /// Statements that remove it, whether it is there or not.
    pub(crate) drop: Vec<String>,
    /// A statement whose rows are statements that end what the run's own
    /// sessions still do there; needed where servers go on when nobody listens
    /// any more.
    pub(crate) end: Option<String>,
    /// A statement that tells the version, where the protocol tells another's.
    pub(crate) version: Option<String>,
    /// Tables' names are all that keeps runs apart: they get the run's name.
    #[serde(default)]
    pub(crate) prefix: bool,
    /// The variants of a plain run, where those of the system itself need
    /// settings with which a server is started.
    #[serde(default)]
    pub(crate) variants: Vec<String>,
    /// The statements of `[open]` change nothing but the session: they are run
    /// by address, too.
    #[serde(default)]
    pub(crate) statements: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OpenDefinition {
    pub(crate) settings: BTreeMap<String, Scalar>,
    /// Further words of the server's command.
    pub(crate) arguments: Vec<String>,
    pub(crate) statements: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PropertiesDefinition {
    pub(crate) parallel_unit: Option<u64>,
    pub(crate) server_time: Option<bool>,
    pub(crate) notes: Vec<String>,
    #[serde(rename = "remedy")]
    pub(crate) remedies: Vec<RemedyDefinition>,
}

/// What to do about documents that the system refuses.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemedyDefinition {
    /// Words of its own by which the reason is known.
    pub(crate) says: String,
    #[serde(rename = "do")]
    pub(crate) advice: String,
}

/// Why the system does not run a workload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotDefinition {
    pub(crate) why: String,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantDefinition {
    pub(crate) title: String,
    /// Workloads to which it belongs; those that keep to no variants of their own, without it.
    pub(crate) workloads: Option<Vec<String>>,
    pub(crate) preparation: Option<Preparation>,
    /// The variant that stands for its class.
    #[serde(default)]
    pub(crate) default: bool,
    /// What sets it apart within its class; nothing for most.
    #[serde(default)]
    pub(crate) ranks_with: String,
    #[serde(default = "yes")]
    pub(crate) ranked: bool,
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub(crate) open: OpenDefinition,
    #[serde(default)]
    pub(crate) properties: PropertiesDefinition,
    #[serde(default, rename = "exception")]
    pub(crate) exceptions: Vec<Exception>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StorageDefinition {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, Scalar>,
    #[serde(default)]
    pub(crate) open: OpenDefinition,
    #[serde(default)]
    pub(crate) properties: PropertiesDefinition,
    #[serde(default, rename = "exception")]
    pub(crate) exceptions: Vec<Exception>,
}

/// How documents get into a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadMode {
    /// The engine reads the file itself; `load` names it as `{{file}}`.
    File,
    /// One document a row through the one prepared statement in `load`, bound
    /// as `:doc`.
    Rows,
    /// All documents through the one statement in `load`, which reads them from
    /// the connection.
    Stream,
}

/// A deviation from the system's defaults, shown in reports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// What is set.
    pub what: String,
    /// Why.
    pub why: String,
}

/// Whether a text can be the name of a system or of something that it has.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

/// Where a setting of a profile goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A setting that the engine starts with, as those of `[open.settings]`.
    #[default]
    Setting,
    /// A statement that is run after connecting; its text is the whole statement.
    Statement,
    /// A variable of the server's environment.
    Environment,
    /// A further argument of the server's command; its text is the whole argument.
    Argument,
}

/// What a setting of a profile spends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Spends {
    /// The budget of memory.
    #[default]
    Memory,
    /// The room that every system's log gets on the disk.
    Log,
}

/// One setting of a profile as it is written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingDefinition {
    pub(crate) name: String,
    /// Of what it spends.
    pub(crate) share: Option<f64>,
    #[serde(default, rename = "of")]
    pub(crate) spends: Spends,
    /// What `{{amount}}` counts: B, kB, MB or GB, each 1024 of the one before.
    pub(crate) unit: Option<String>,
    /// The largest amount, whatever the budget: `31GB`.
    pub(crate) at_most: Option<String>,
    pub(crate) text: String,
    #[serde(default, rename = "as")]
    pub(crate) place: Place,
    /// What the package does by itself.
    pub(crate) stock: String,
    /// Where the makers advise it.
    pub(crate) source: String,
}

/// One profile as it is written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProfileDefinition {
    /// The smallest budget with which the system works.
    pub(crate) least: Option<String>,
    #[serde(rename = "setting")]
    pub(crate) settings: Vec<SettingDefinition>,
}

/// Both profiles as they are written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProfilesDefinition {
    pub(crate) sized: ProfileDefinition,
    pub(crate) stock: ProfileDefinition,
}
