//! Digest of what decides the durability of a configuration, so that the result of a crash test applies to
//! every configuration with the same digest.

use super::configuration::Configuration;
use super::definition::SettingTarget;
use super::rules::serving::SERVING;

/// Statement files that write, or that set how data is written. Statements that only read do not affect what
/// a crash may lose.
const WRITES: [&str; 4] = ["create", "insert", "insert_batch", "update"];

impl Configuration {
    /// Returns a digest over everything that decides what a crash may lose: the programs (`artifact` is the
    /// digest of the installed artifact), the durability tier, the settings and the statements that write.
    /// The amount of memory and the transport do not affect it, so runs that differ only in these have the
    /// same digest.
    #[must_use]
    pub fn durability_basis(&self, artifact: Option<&str>) -> String {
        let of_memory =
            |place: SettingTarget| move |setting: &&super::profile::MemorySetting| setting.place == place;
        let names = |place| {
            let settings = self.memory_settings.iter().filter(of_memory(place));
            settings.map(|setting| setting.name.as_str()).collect::<Vec<_>>()
        };
        let values = |place| {
            let settings = self.memory_settings.iter().filter(of_memory(place));
            settings.map(|setting| setting.value.as_str()).collect::<Vec<_>>()
        };
        let mut open = self.open.clone();
        let (set, said) = (names(SettingTarget::Setting), values(SettingTarget::Statement));
        open.settings.retain(|name, _| !set.contains(&name.as_str()));
        open.statements.retain(|statement| !said.contains(&statement.as_str()));
        let server = self.server.as_ref().map(|server| {
            let (variables, words) = (names(SettingTarget::Environment), values(SettingTarget::Argument));
            let start = server.start.iter().filter(|word| !words.contains(&word.as_str()));
            let environment =
                server.environment.iter().filter(|(name, _)| !variables.contains(&name.as_str()));
            serde_json::json!({
                "init": server.init,
                "files": server.files,
                "start": start.collect::<Vec<_>>(),
                "environment": environment.collect::<Vec<_>>(),
            })
        });
        let files = self.parts.get(SERVING).map(|part| &part.files);
        let writes = WRITES.map(|name| Some((name, &files?.get(name)?.statements)));
        let basis = serde_json::json!({
            "system": self.system,
            "version": self.version,
            "artifact": artifact,
            "storage": self.storage,
            "tier": self.durability.as_ref().map(|tier| tier.name.as_str()),
            "open": open,
            "server": server,
            "elsewhere": self.elsewhere,
            "writes": writes,
        });
        format!("blake3:{}", blake3::hash(basis.to_string().as_bytes()).to_hex())
    }
}
