//! Splits `system.toml` into the general definition and the sections of workloads.

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use toml::{
    Spanned, Table,
    de::{DeTable, DeValue, Deserializer},
};

use super::{
    definition::Definition,
    error::CatalogueError,
    locate::{TomlText, unknown_name},
    near::did_you_mean,
    rules::{WorkloadRules, Workloads},
    variants::{Storage, Variant},
};

/// Tables whose entries may hold sections of workloads, too.
const OVERLAYS: [&str; 2] = ["variants", "storage"];

/// Contents of `system.toml`, split.
pub(crate) struct Written {
    pub(crate) definition: Definition,
    /// Sections of the workloads that the system runs, by workload.
    pub(crate) sections: BTreeMap<&'static str, Sections>,
}

/// Sections of one workload: that of the system, and the overrides of variants and storage settings.
#[derive(Debug, Clone)]
pub(crate) struct Sections {
    base: Place,
    /// Overrides by table (`variants` or `storage`) and by the name of its entry.
    over: BTreeMap<(&'static str, String), Place>,
}

/// A section, with the keys that lead to it.
#[derive(Debug, Clone)]
struct Place {
    path: Vec<String>,
    /// Keys of the table that belong to the section, if the table does not name it. `None` if it does.
    only: Option<&'static [&'static str]>,
    table: Table,
}

/// One section of a workload: that of the system, or the overrides of a variant or a storage setting.
#[derive(Debug)]
pub struct Section<'a> {
    text: &'a TomlText,
    workloads: &'a Workloads,
    workload: &'static str,
    place: &'a Place,
}

impl Section<'_> {
    /// Reads the section as `T`, which must reject unknown keys.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`] if the section does not fit `T`; the error names file, line and key, and
    /// what is allowed.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, CatalogueError> {
        match T::deserialize(self.place.table.clone()) {
            Ok(read) => Ok(read),
            Err(error) => Err(self.located::<T>().unwrap_or_else(|| self.error(&[], error.message()))),
        }
    }

    /// Builds an error about the value to which these keys of the section lead.
    pub fn error(&self, keys: &[&str], message: impl Into<String>) -> CatalogueError {
        let path: Vec<&str> =
            self.place.path.iter().map(String::as_str).chain(keys.iter().copied()).collect();
        self.text.error(&path, message)
    }

    /// Repeats a failed read on the file's text, so that the error has a line. `None` if it succeeds there.
    fn located<T: DeserializeOwned>(&self) -> Option<CatalogueError> {
        let root = DeTable::parse(&self.text.text).ok()?;
        let table = at(root.get_ref(), root.span(), &self.place.path, self.place.only)?;
        let error = T::deserialize(Deserializer::from(table)).err()?;
        let owner = unknown_name(error.message())
            .map(|(name, _)| self.workloads.owner_of_key(name, self.workload))
            .unwrap_or_default();
        Some(self.text.reader_error_with(&error, &owner))
    }
}

impl Sections {
    /// Returns the sections that apply to a variant with a storage setting, the base first; without
    /// `overlays` the base alone.
    pub(crate) fn of<'a>(
        &'a self,
        workload: &'static str,
        text: &'a TomlText,
        workloads: &'a Workloads,
        overlays: Option<(&Variant, &Storage)>,
    ) -> Vec<Section<'a>> {
        let over =
            overlays.map(|(variant, storage)| [("variants", &variant.name), ("storage", &storage.name)]);
        let over =
            over.into_iter().flatten().filter_map(|(table, name)| self.over.get(&(table, name.clone())));
        let section = |place| Section { text, workloads, workload, place };
        std::iter::once(&self.base).chain(over).map(section).collect()
    }
}

/// Parses the text and splits it.
pub(crate) fn read(text: &TomlText, workloads: &Workloads) -> Result<Written, CatalogueError> {
    let parsed = DeTable::parse(&text.text).map_err(|error| text.reader_error(&error))?;
    let span = parsed.span();
    let mut root = parsed.into_inner();
    let mut sections = BTreeMap::new();
    for rules in workloads.iter() {
        sections.extend(sections_of(rules, &root, text)?.map(|found| (rules.name(), found)));
    }
    for rules in workloads.iter() {
        root.remove(rules.name());
        for table in OVERLAYS {
            let Some(DeValue::Table(entries)) = root.get_mut(table).map(Spanned::get_mut) else { continue };
            for (_, entry) in entries.iter_mut() {
                let DeValue::Table(entry) = entry.get_mut() else { continue };
                for key in rules.short_keys().iter().chain([&rules.name()]) {
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
                let near = did_you_mean(name, known.iter().copied().chain(workloads.names()));
                let message = format!(
                    "there is no such table and no workload of this name{near}; workloads are {}",
                    workloads.names().join(", ")
                );
                text.error(&[name], message)
            }
            _ => text.reader_error(&error),
        }
    })?;
    for (name, not) in &definition.not {
        if !workloads.names().contains(&name.as_str()) {
            let near = did_you_mean(name, workloads.names());
            let message =
                format!("there is no such workload{near}; workloads are {}", workloads.names().join(", "));
            return Err(text.error(&["not", name], message));
        }
        if sections.contains_key(name.as_str()) {
            return Err(text.error(&["not", name], format!("there is a [{name}]: keep one of them")));
        }
        if not.why.trim().is_empty() {
            return Err(text.error(&["not", name, "why"], "is empty"));
        }
    }
    Ok(Written { definition, sections })
}

/// Returns the sections of one workload. `None` if the system does not run it.
fn sections_of(
    rules: &'static dyn WorkloadRules,
    root: &DeTable<'_>,
    text: &TomlText,
) -> Result<Option<Sections>, CatalogueError> {
    let place =
        |path: &[&str], only: Option<&'static [&'static str]>| -> Result<Option<Place>, CatalogueError> {
            let path: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
            let Some(table) =
                at(root, 0..0, &path, only).filter(|table| only.is_none() || !table.get_ref().is_empty())
            else {
                return Ok(None);
            };
            let table =
                Table::deserialize(Deserializer::from(table)).map_err(|error| text.reader_error(&error))?;
            Ok(Some(Place { path, only, table }))
        };
    let name = rules.name();
    if root.get(name).is_some_and(|section| !section.get_ref().is_table()) {
        return Err(text.error(&[name], format!("is a table: [{name}]")));
    }
    let base = place(&[name], None)?;
    let mut over = BTreeMap::new();
    for table in OVERLAYS.into_iter().filter(|_| rules.has_overlays()) {
        let Some(DeValue::Table(entries)) = root.get(table).map(Spanned::get_ref) else { continue };
        for entry in entries.keys().map(|key| key.get_ref().to_string()) {
            let path = [table, entry.as_str()];
            let found = match (place(&[table, &entry, name], None)?, place(&path, Some(rules.short_keys()))?)
            {
                (Some(_), Some(short)) => {
                    let key = short.table.keys().next().cloned().unwrap_or_default();
                    let message = format!("there is a [{table}.{entry}.{name}]: put it there");
                    return Err(text.error(&[table, &entry, &key], message));
                }
                (found, short) => found.or(short),
            };
            let Some(found) = found else { continue };
            if base.is_none() {
                let last = found.only.and_then(|_| found.table.keys().next());
                let path: Vec<&str> = found.path.iter().chain(last).map(String::as_str).collect();
                return Err(text.error(&path, format!("there is no [{name}] to which this could belong")));
            }
            over.insert((table, entry), found);
        }
    }
    Ok(base.map(|base| Sections { base, over }))
}

/// Returns the table to which the keys lead, reduced to the keys in `only`. `None` if there is no such table.
fn at<'i>(
    root: &DeTable<'i>,
    span: std::ops::Range<usize>,
    path: &[String],
    only: Option<&[&str]>,
) -> Option<Spanned<DeTable<'i>>> {
    let (mut table, mut span) = (root, span);
    for key in path {
        let value = table.get(key.as_str())?;
        let DeValue::Table(below) = value.get_ref() else { return None };
        (table, span) = (below, value.span());
    }
    let wanted = |key: &str| only.is_none_or(|only| only.contains(&key));
    let mut found = DeTable::new();
    for (key, value) in table.iter().filter(|(key, _)| wanted(key.get_ref())) {
        found.insert(key.clone(), value.clone());
    }
    Some(Spanned::new(span, found))
}
