//! `system.toml` as written, without the sections of workloads. Every unknown key is an error.

use std::collections::BTreeMap;

use jsonathlon_servers::{Recipe, Scalar};
use serde::{Deserialize, Serialize};

use super::preparation::StatedClass;
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
    /// Whether the system is a yardstick for reading other results: never ranked, part of every run unless
    /// excluded.
    #[serde(default)]
    pub(crate) reference: bool,
    /// Whether all data is held in memory once open, so that no trial can be cold.
    #[serde(default)]
    pub(crate) in_memory: bool,
    #[serde(default, rename = "artifact")]
    pub(crate) artifacts: Vec<ArtifactDefinition>,
    pub(crate) server: Option<Recipe>,
    pub(crate) address: Option<AddressDefinition>,
    #[serde(default)]
    pub(crate) open: OpenDefinition,
    #[serde(default, rename = "exception")]
    pub(crate) exceptions: Vec<SettingDeviation>,
    #[serde(default)]
    pub(crate) properties: PropertiesDefinition,
    #[serde(default)]
    pub(crate) profiles: ProfilesDefinition,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, Scalar>,
    /// Workloads that the system does not run, with reasons.
    #[serde(default, rename = "not")]
    pub(crate) unsupported: BTreeMap<String, UnsupportedDefinition>,
    /// Default statement files that the system does without, as `WORKLOAD/NAME`.
    #[serde(default, rename = "without")]
    pub(crate) omitted_files: Vec<String>,
    #[serde(default)]
    pub(crate) variants: BTreeMap<String, VariantDefinition>,
    #[serde(default)]
    pub(crate) storage: BTreeMap<String, StorageDefinition>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArtifactDefinition {
    pub(crate) version: String,
    #[serde(rename = "reports")]
    pub(crate) version_text: String,
    pub(crate) platform: String,
    pub(crate) licence: Option<String>,
    #[serde(default)]
    pub(crate) end_of_life: bool,
    pub(crate) outdated: Option<String>,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Variables added to the environment of this version's server alone.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, Scalar>,
    #[serde(rename = "source")]
    pub(crate) sources: Vec<SourceDefinition>,
}

/// A source as written. Which keys it needs depends on its kind; that is checked later, where the error can
/// name the line.
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
    /// Name of the suite, for Debian only.
    pub(crate) suite: Option<String>,
    #[serde(default)]
    pub(crate) packages: Vec<DebianPackage>,
    /// Folder of the Go module, inside the system's folder.
    pub(crate) module: Option<String>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) members: Vec<String>,
    #[serde(default)]
    pub(crate) folders: Vec<String>,
    /// Replaces the artifact's files, for a source whose archive is laid out differently.
    pub(crate) files: Option<BTreeMap<String, String>>,
    /// Further parts, unpacked into the same folder.
    #[serde(default, rename = "with")]
    pub(crate) further_parts: Vec<SourceDefinition>,
}

/// `[address]`: how a run works on a remote server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddressDefinition {
    /// Protocol of remote servers, if it differs from that of the installed system.
    pub(crate) protocol: Option<String>,
    /// Load mode on remote servers, if it differs.
    pub(crate) load: Option<LoadMode>,
    /// User of the sessions, if the address names none.
    #[serde(default)]
    pub(crate) user: String,
    /// Database from which the run's own one is created, if the address names none.
    #[serde(default)]
    pub(crate) database: String,
    /// Statements that create the run's own database, `{{database}}`. Empty if it is created implicitly, or
    /// if the system has no databases.
    #[serde(default)]
    pub(crate) create: Vec<String>,
    /// Statements that remove the run's own database, whether it exists or not.
    pub(crate) drop: Vec<String>,
    /// Statement whose rows are statements that end what the run's own sessions still execute. Needed if a
    /// server continues a statement after its client has disconnected.
    pub(crate) end: Option<String>,
    /// Statement that returns the version, if the protocol reports the version of something else.
    pub(crate) version: Option<String>,
    /// Whether the names of tables are all that keeps runs apart; they then begin with the run's name.
    #[serde(default)]
    pub(crate) prefix: bool,
    /// Variants of a plain run on remote servers, if the usual ones need settings with which a server is
    /// started.
    #[serde(default)]
    pub(crate) variants: Vec<String>,
    /// Whether the statements of `[open]` change nothing but the session, so that they are also run on remote
    /// servers.
    #[serde(default)]
    pub(crate) statements: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OpenDefinition {
    pub(crate) settings: BTreeMap<String, Scalar>,
    /// Further arguments of the server's command.
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

/// Advice about documents that the system rejects for a certain reason.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemedyDefinition {
    /// Text in the system's error message by which the reason is recognised.
    #[serde(rename = "says")]
    pub(crate) error_text: String,
    #[serde(rename = "do")]
    pub(crate) advice: String,
}

/// Why the system does not run a workload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnsupportedDefinition {
    pub(crate) why: String,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantDefinition {
    pub(crate) title: String,
    /// Workloads that the variant belongs to. `None`: all workloads without variants of their own.
    pub(crate) workloads: Option<Vec<String>>,
    pub(crate) preparation: Option<StatedClass>,
    /// Variant whose settings, values, statement files and preparation class apply below those of this one.
    pub(crate) based_on: Option<String>,
    /// Whether the variant represents the system in its preparation class.
    #[serde(default)]
    pub(crate) default: bool,
    /// Further division of the preparation class; usually empty.
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
    pub(crate) exceptions: Vec<SettingDeviation>,
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
    pub(crate) exceptions: Vec<SettingDeviation>,
}

/// Load mode: how documents are loaded into a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadMode {
    /// The engine reads the file itself; the statement in `load` names it as `{{file}}`.
    File,
    /// One document per row, bound as `:doc` to the one prepared statement in `load`.
    Rows,
    /// All documents through the one statement in `load`, which reads them from the connection.
    Stream,
}

/// A deviation from the system's defaults, shown in reports.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SettingDeviation {
    /// What is set differently.
    pub what: String,
    /// Reason for the deviation, for readers of a report.
    pub why: String,
}

/// Returns `true` if a text can be the name of a system, variant, storage setting or question.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

/// How a setting of a memory profile is passed to the system.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingTarget {
    /// A setting that the engine starts with, like those of `[open.settings]`.
    #[default]
    Setting,
    /// A statement that is run after connecting; the setting's text is the whole statement.
    Statement,
    /// A variable of the server's environment.
    Environment,
    /// A further argument of the server's command; the setting's text is the whole argument.
    Argument,
}

/// Resource of which a setting of a memory profile gets a share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BudgetResource {
    /// The memory budget of the system.
    #[default]
    Memory,
    /// The disk space that every system gets for its redo log or WAL.
    Log,
}

/// One setting of a memory profile, as written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingDefinition {
    pub(crate) name: String,
    /// Share of `resource` that the setting gets, above 0 and at most 1. `None` if the text holds no
    /// `{{amount}}`.
    pub(crate) share: Option<f64>,
    #[serde(default, rename = "of")]
    pub(crate) resource: BudgetResource,
    /// Unit of `{{amount}}`: `B`, `kB`, `MB` or `GB` (powers of 1,000), `KiB`, `MiB` or `GiB` (powers of
    /// 1,024).
    pub(crate) unit: Option<String>,
    /// Maximum amount, whatever the budget: `31GB`. `None`: no limit.
    pub(crate) at_most: Option<String>,
    pub(crate) text: String,
    #[serde(default, rename = "as")]
    pub(crate) target: SettingTarget,
    /// What the package does without this setting.
    pub(crate) stock: String,
    /// Where the system's developers advise the value.
    pub(crate) source: String,
}

/// One memory profile, as written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProfileDefinition {
    /// Smallest budget with which the system works, such as `512MB`. `None`: any.
    #[serde(rename = "least")]
    pub(crate) min_budget: Option<String>,
    #[serde(rename = "setting")]
    pub(crate) settings: Vec<SettingDefinition>,
}

/// Both memory profiles, as written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProfilesDefinition {
    pub(crate) sized: ProfileDefinition,
    pub(crate) stock: ProfileDefinition,
}
