//! Splits `system.toml` into the general definition and the sections of workloads.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{
    Spanned, Table,
    de::{DeTable, DeValue, Deserializer},
};

use crate::{
    definition::Definition,
    did_you_mean::did_you_mean,
    error::CatalogueError,
    locate::{TomlText, unknown_name},
    rules::{self, ALL_RULES, WorkloadRules},
    sections::{SectionTable, Sections, table_at},
};

/// Tables whose entries may hold sections of workloads, too.
const OVERLAYS: [&str; 2] = ["variants", "storage"];

/// Contents of `system.toml`, split.
pub(crate) struct ParsedSystemToml {
    pub(crate) definition: Definition,
    /// Sections of the workloads that the system runs, by workload.
    pub(crate) sections: BTreeMap<&'static str, Sections>,
}

/// Parses the text and splits it.
pub(crate) fn read(text: &TomlText) -> Result<ParsedSystemToml, CatalogueError> {
    let parsed = DeTable::parse(&text.text).map_err(|error| text.reader_error(&error))?;
    let span = parsed.span();
    let mut root = parsed.into_inner();
    let mut sections = BTreeMap::new();
    for rules in ALL_RULES {
        let workload_sections = sections_of(rules, &root, text)?;
        sections.extend(workload_sections.map(|sections| (rules.name(), sections)));
    }
    for rules in ALL_RULES {
        root.remove(rules.name());
        for table in OVERLAYS {
            let Some(DeValue::Table(entries)) = root.get_mut(table).map(Spanned::get_mut) else { continue };
            for (_, entry) in entries.iter_mut() {
                let DeValue::Table(entry) = entry.get_mut() else { continue };
                for key in rules.unprefixed_keys().iter().chain([&rules.name()]) {
                    entry.remove(*key);
                }
            }
        }
    }
    let tables: Vec<String> = root
        .iter()
        .filter(|(_, value)| value.get_ref().is_table())
        .map(|(key, _)| key.get_ref().to_string())
        .collect();
    let definition = Definition::deserialize(Deserializer::from(Spanned::new(span, root)));
    let definition = definition.map_err(|error| {
        let unknown = unknown_name(error.message()).filter(|(name, _)| {
            tables.iter().any(|table| table == name) && error.message().starts_with("unknown field")
        });
        match unknown {
            // A key of that name inside another table is not a section.
            Some((name, known)) if text.is_top_level(&error, name) => {
                let near = did_you_mean(name, known.iter().copied().chain(rules::names()));
                let message = format!(
                    "there is no such table and no workload of this name{near}; workloads are {}",
                    rules::names().join(", ")
                );
                text.error(&[name], message)
            }
            _ => text.reader_error(&error),
        }
    })?;
    for (name, unsupported) in &definition.unsupported {
        if !rules::names().contains(&name.as_str()) {
            let near = did_you_mean(name, rules::names());
            let message =
                format!("there is no such workload{near}; workloads are {}", rules::names().join(", "));
            return Err(text.error(&["not", name], message));
        }
        if sections.contains_key(name.as_str()) {
            return Err(text.error(&["not", name], format!("there is a [{name}]: keep one of them")));
        }
        if unsupported.why.trim().is_empty() {
            return Err(text.error(&["not", name, "why"], "is empty"));
        }
    }
    Ok(ParsedSystemToml { definition, sections })
}

/// Returns the sections of one workload. `None` if the system does not run it.
fn sections_of(
    rules: &'static dyn WorkloadRules,
    root: &DeTable<'_>,
    text: &TomlText,
) -> Result<Option<Sections>, CatalogueError> {
    let section_at = |path: &[&str],
                      selected_keys: Option<&'static [&'static str]>|
     -> Result<Option<SectionTable>, CatalogueError> {
        let path: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        let Some(table) = table_at(root, 0..0, &path, selected_keys)
            .filter(|table| selected_keys.is_none() || !table.get_ref().is_empty())
        else {
            return Ok(None);
        };
        let table =
            Table::deserialize(Deserializer::from(table)).map_err(|error| text.reader_error(&error))?;
        Ok(Some(SectionTable { path, selected_keys, table }))
    };
    let name = rules.name();
    if root.get(name).is_some_and(|section| !section.get_ref().is_table()) {
        return Err(text.error(&[name], format!("is a table: [{name}]")));
    }
    let base = section_at(&[name], None)?;
    let mut overlays = BTreeMap::new();
    for table in OVERLAYS.into_iter().filter(|_| rules.has_overlays()) {
        let Some(DeValue::Table(entries)) = root.get(table).map(Spanned::get_ref) else { continue };
        for entry in entries.keys().map(|key| key.get_ref().to_string()) {
            let path = [table, entry.as_str()];
            let named = section_at(&[table, &entry, name], None)?;
            let unprefixed = section_at(&path, Some(rules.unprefixed_keys()))?;
            let section = match (named, unprefixed) {
                (Some(_), Some(unprefixed)) => {
                    let key = unprefixed.table.keys().next().cloned().unwrap_or_default();
                    let message = format!("there is a [{table}.{entry}.{name}]: put it there");
                    return Err(text.error(&[table, &entry, &key], message));
                }
                (named, unprefixed) => named.or(unprefixed),
            };
            let Some(section) = section else { continue };
            if base.is_none() {
                let last = section.selected_keys.and_then(|_| section.table.keys().next());
                let path: Vec<&str> = section.path.iter().chain(last).map(String::as_str).collect();
                return Err(text.error(&path, format!("there is no [{name}] to which this could belong")));
            }
            overlays.insert((table, entry), section);
        }
    }
    Ok(base.map(|base| Sections { base, overlays }))
}
