//! `[profiles]` of `system.toml`: memory profiles, which decide how a system uses its memory budget.
//!
//! A memory profile decides memory settings and nothing else. Under [`MemoryProfile::Sized`] every system of
//! a run gets the same budget and uses it as its developers advise. Under [`MemoryProfile::Stock`] it keeps
//! the settings of its package.

use jsonathlon_schema::ranking::MemoryProfile;
use serde::Serialize;

use super::{
    definition::{BudgetResource, Definition, SettingDefinition, SettingTarget},
    did_you_mean::did_you_mean,
    error::CatalogueError,
    locate::TomlText,
    template::{self, Replacement},
};
use crate::bytes;

/// Placeholder in a setting's text for its share of the budget.
const AMOUNT: &str = "amount";
/// Other placeholders that a setting's text may hold; the run fills them.
const RUN_TIME: [&str; 2] = ["cores", "folder"];

/// Disk space for a system's redo log or WAL, as a share of the memory budget. The size of the log decides
/// how often pages are written back, so unequal logs would be unequal work.
const LOG_SHARE: f64 = 0.25;
/// Maximum size of a redo log or WAL, in bytes. Some systems allocate all of it when they start, for each
/// configuration of a run.
const MAX_LOG_BYTES: u64 = 2 << 30;

/// Memory settings of a system under both memory profiles, as its folder defines them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Profiles {
    least_bytes: u64,
    sized: Vec<SettingDefinition>,
    stock: Vec<SettingDefinition>,
}

/// One memory setting with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemorySetting {
    /// Name of the setting, as the system knows it.
    pub name: String,
    /// Value of the setting; the whole statement or argument if `target` says so.
    pub value: String,
    /// How the setting is passed to the system.
    pub target: SettingTarget,
    /// What the package does without this setting.
    pub stock: String,
    /// Where the system's developers advise the value.
    pub source: String,
}

impl Profiles {
    /// Returns the smallest budget with which the system works, in bytes; 0 if the folder states none.
    pub(crate) fn least_bytes(&self) -> u64 {
        self.least_bytes
    }

    /// Returns the settings of a memory profile. Shares are taken of `budget_bytes`.
    pub(crate) fn settings(&self, profile: MemoryProfile, budget_bytes: u64) -> Vec<MemorySetting> {
        let settings = match profile {
            MemoryProfile::Sized => &self.sized,
            MemoryProfile::Stock => &self.stock,
        };
        settings.iter().map(|setting| setting.resolved(budget_bytes)).collect()
    }
}

/// Disk space in bytes that every system with a memory budget gets for its redo log or WAL.
#[must_use]
pub fn log_bytes(budget_bytes: u64) -> u64 {
    ((budget_bytes as f64 * LOG_SHARE) as u64).min(MAX_LOG_BYTES)
}

impl SettingDefinition {
    fn resolved(&self, budget_bytes: u64) -> MemorySetting {
        let amount = self.amount(budget_bytes).unwrap_or_default().to_string();
        // Placeholders were checked when the folder was read; those of the run stay.
        let value = template::replace(&self.text, |name| match name {
            AMOUNT => Replacement::Text(amount.clone()),
            _ => Replacement::Keep,
        })
        .unwrap_or_else(|_| self.text.clone());
        MemorySetting {
            name: self.name.clone(),
            value,
            target: self.target,
            stock: self.stock.clone(),
            source: self.source.clone(),
        }
    }

    /// Returns the setting's share in whole units, at least 1. `None` if it has no share or no unit.
    fn amount(&self, budget_bytes: u64) -> Option<u64> {
        let unit = bytes::unit(self.unit.as_deref()?)?;
        let maximum = self.at_most.as_deref().and_then(bytes::parse).unwrap_or(u64::MAX);
        let budget = match self.resource {
            BudgetResource::Memory => budget_bytes,
            BudgetResource::Log => log_bytes(budget_bytes),
        };
        let share = (budget as f64 * self.share?) as u64;
        Some((share.min(maximum) / unit).max(1))
    }
}

/// Validates `[profiles]` and converts it.
pub(crate) fn profiles(definition: &Definition, text: &TomlText) -> Result<Profiles, CatalogueError> {
    let profiles = &definition.profiles;
    for (name, profile) in [("sized", &profiles.sized), ("stock", &profiles.stock)] {
        let error_at = |keys: &[&str], message: String| {
            let path: Vec<&str> = ["profiles", name].iter().chain(keys).copied().collect();
            text.error(&path, message)
        };
        if profile.min_budget.as_deref().is_some_and(|least| bytes::parse(least).is_none()) {
            return Err(error_at(
                &["least"],
                "is a number with a unit behind it, such as 512MB, or 512MiB in units of 1,024".to_owned(),
            ));
        }
        for (index, setting) in profile.settings.iter().enumerate() {
            let index = index.to_string();
            if let Some((key, message)) = invalid_key(setting, definition) {
                return Err(error_at(&["setting", &index, key], message));
            }
        }
    }
    Ok(Profiles {
        least_bytes: profiles.sized.min_budget.as_deref().and_then(bytes::parse).unwrap_or_default(),
        sized: profiles.sized.settings.clone(),
        stock: profiles.stock.settings.clone(),
    })
}

/// Returns the wrong key of a setting and what is wrong with it. `None` if the setting is valid.
fn invalid_key(setting: &SettingDefinition, definition: &Definition) -> Option<(&'static str, String)> {
    let names = match template::placeholders(&setting.text) {
        Ok(names) => names,
        Err(error) => return Some(("text", error.to_string())),
    };
    if let Some((_, name)) = names.iter().find(|(_, name)| *name != AMOUNT && !RUN_TIME.contains(name)) {
        let near = did_you_mean(name, RUN_TIME.into_iter().chain([AMOUNT]));
        return Some(("text", format!("`{{{{{name}}}}}` has no value here{near}")));
    }
    let uses_amount = names.iter().any(|(_, name)| *name == AMOUNT);
    match (uses_amount, setting.share, setting.unit.as_deref()) {
        (true, None, _) => return Some(("text", "`{{amount}}` needs a `share` of the budget".to_owned())),
        (false, Some(_), _) => {
            return Some(("share", "is of no use where the text has no `{{amount}}`".to_owned()));
        }
        (true, Some(share), _) if !(share > 0.0 && share <= 1.0) => {
            return Some(("share", "is a part of the budget: above 0, and 1 at most".to_owned()));
        }
        (true, _, unit) if unit.and_then(bytes::unit).is_none() => {
            return Some(("unit", "must be what the system counts in where the text has `{{amount}}`: B, kB, MB or GB of thousands, KiB, MiB or GiB of 1,024".to_owned()));
        }
        _ => {}
    }
    if setting.at_most.as_deref().is_some_and(|maximum| bytes::parse(maximum).is_none()) {
        return Some((
            "at_most",
            "is a number with a unit behind it, such as 31GB, or 31GiB in units of 1,024".to_owned(),
        ));
    }
    let needs_server = matches!(setting.target, SettingTarget::Environment | SettingTarget::Argument);
    if needs_server && definition.server.is_none() {
        return Some(("as", "belongs to a server, and there is no [server]".to_owned()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(share: f64, unit: &str, at_most: Option<&str>) -> SettingDefinition {
        SettingDefinition {
            name: "cache".into(),
            share: Some(share),
            resource: BudgetResource::Memory,
            unit: Some(unit.into()),
            at_most: at_most.map(str::to_owned),
            text: "{{amount}}MB of {{cores}}".into(),
            target: SettingTarget::Setting,
            stock: "128MB".into(),
            source: "the manual".into(),
        }
    }

    #[test]
    fn shares_are_whole_units_of_the_budget() {
        let value = |setting: SettingDefinition| setting.resolved(8 << 30).value;
        assert_eq!(value(setting(0.25, "MiB", None)), "2048MB of {{cores}}");
        assert_eq!(value(setting(0.5, "GiB", Some("3GiB"))), "3MB of {{cores}}");
        assert_eq!(value(setting(1e-12, "KiB", None)), "1MB of {{cores}}", "never nothing");
    }

    #[test]
    fn a_log_gets_a_quarter_of_the_budget_and_no_more_than_2_gib() {
        let log = SettingDefinition { resource: BudgetResource::Log, ..setting(1.0, "MiB", None) };
        let amounts: Vec<Option<u64>> =
            [512 << 20, 4 << 30, 12 << 30, 64 << 30].map(|budget| log.amount(budget)).into();
        assert_eq!(amounts, [Some(128), Some(1024), Some(2048), Some(2048)]);
    }
}
