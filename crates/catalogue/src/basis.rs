//! Digest of what decides the durability of a configuration, so that the result of a crash test applies to
//! every configuration with the same digest.

use super::configuration::Configuration;
use super::definition::SettingTarget;
use super::rules::serving::SERVING;

/// Statement files that write, or that set how data is written. Statements that only read do not affect what
/// a crash may lose.
const WRITES: [&str; 4] = ["create", "insert", "insert_batch", "update"];

impl Configuration {
    /// Returns a digest over everything that decides what a crash may lose: programs, durability tier,
    /// settings and the statements that write. `artifact` is the digest of the installed artifact.
    /// The amount of memory and the transport do not affect it, so runs that differ only in these have the
    /// same digest.
    #[must_use]
    pub fn durability_basis(&self, artifact: Option<&str>) -> String {
        let is_placed =
            |target: SettingTarget| move |setting: &&super::profile::MemorySetting| setting.target == target;
        let names = |target| {
            let settings = self.memory_settings.iter().filter(is_placed(target));
            settings.map(|setting| setting.name.as_str()).collect::<Vec<_>>()
        };
        let values = |target| {
            let settings = self.memory_settings.iter().filter(is_placed(target));
            settings.map(|setting| setting.value.as_str()).collect::<Vec<_>>()
        };
        let mut open = self.open.clone();
        let (setting_names, statements) = (names(SettingTarget::Setting), values(SettingTarget::Statement));
        open.settings.retain(|name, _| !setting_names.contains(&name.as_str()));
        open.statements.retain(|statement| !statements.contains(&statement.as_str()));
        let server = self.server.as_ref().map(|server| {
            let (variables, arguments) = (names(SettingTarget::Environment), values(SettingTarget::Argument));
            let start = server.start.iter().filter(|argument| !arguments.contains(&argument.as_str()));
            let environment =
                server.environment.iter().filter(|(name, _)| !variables.contains(&name.as_str()));
            serde_json::json!({
                "init": server.init,
                "files": server.files,
                "start": start.collect::<Vec<_>>(),
                "environment": environment.collect::<Vec<_>>(),
            })
        });
        let files = self.setups.get(SERVING).map(|part| &part.files);
        let writes = WRITES.map(|name| Some((name, &files?.get(name)?.statements)));
        let basis = serde_json::json!({
            "system": self.system,
            "version": self.version,
            "artifact": artifact,
            "storage": self.storage,
            "tier": self.durability.as_ref().map(|durability| durability.tier),
            "open": open,
            "server": server,
            // The key is older than the field's name, and another key would change every digest.
            "elsewhere": self.remote_setup,
            "writes": writes,
        });
        format!("blake3:{}", blake3::hash(basis.to_string().as_bytes()).to_hex())
    }
}
