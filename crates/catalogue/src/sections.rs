//! The part of `system.toml` that belongs to one workload: its section, and the overrides of variants and
//! storage settings.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use toml::{
    Spanned, Table,
    de::{DeTable, DeValue, Deserializer},
};

use crate::{
    error::CatalogueError,
    locate::{TomlText, unknown_name},
};

/// Sections of one workload: that of the system, and the overrides of variants and storage settings.
#[derive(Debug, Clone)]
pub(crate) struct Sections {
    pub(crate) base: SectionTable,
    /// Overrides by table (`variants` or `storage`) and by the name of its entry.
    pub(crate) overlays: BTreeMap<(&'static str, String), SectionTable>,
}

/// A section, with the keys that lead to it.
#[derive(Debug, Clone)]
pub(crate) struct SectionTable {
    pub(crate) path: Vec<String>,
    /// Keys of the table that belong to the section, if the table does not name it. `None` if it does.
    pub(crate) selected_keys: Option<&'static [&'static str]>,
    pub(crate) table: Table,
}

/// One section of a workload as written: that of the system, or the overrides of a variant or a storage
/// setting.
#[derive(Debug)]
pub(crate) struct SectionReader<'a> {
    text: &'a TomlText,
    /// Keys that the section of each workload may have, by workload.
    keys: &'a [(&'static str, &'static [&'static str])],
    workload: &'static str,
    section: &'a SectionTable,
}

impl SectionReader<'_> {
    /// Reads the section as `T`, which must reject unknown keys.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`] if the section does not fit `T`; the error names file, line and key, and
    /// what is allowed.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, CatalogueError> {
        match T::deserialize(self.section.table.clone()) {
            Ok(section) => Ok(section),
            Err(error) => Err(self.located::<T>().unwrap_or_else(|| self.error(&[], error.message()))),
        }
    }

    /// Builds an error about the value to which these keys of the section lead.
    pub(crate) fn error(&self, keys: &[&str], message: impl Into<String>) -> CatalogueError {
        let path: Vec<&str> =
            self.section.path.iter().map(String::as_str).chain(keys.iter().copied()).collect();
        self.text.error(&path, message)
    }

    /// Returns `` (`x` is a rule of [other])`` if another workload's section has such a key; otherwise an
    /// empty text.
    fn owner_of_key(&self, key: &str) -> String {
        let owner = self.keys.iter().find(|(name, keys)| *name != self.workload && keys.contains(&key));
        owner.map(|(name, _)| format!(" (`{key}` is a rule of [{name}])")).unwrap_or_default()
    }

    /// Repeats a failed read on the file's text, so that the error has a line. `None` if it succeeds there.
    fn located<T: DeserializeOwned>(&self) -> Option<CatalogueError> {
        let root = DeTable::parse(&self.text.text).ok()?;
        let table = table_at(root.get_ref(), root.span(), &self.section.path, self.section.selected_keys)?;
        let error = T::deserialize(Deserializer::from(table)).err()?;
        let owner =
            unknown_name(error.message()).map(|(name, _)| self.owner_of_key(name)).unwrap_or_default();
        Some(self.text.reader_error_with(&error, &owner))
    }
}

impl Sections {
    /// Returns the section of the system, and the overrides of a variant and a storage setting, whose names
    /// are `overlays`.
    pub(crate) fn readers<'a>(
        &'a self,
        workload: &'static str,
        text: &'a TomlText,
        keys: &'a [(&'static str, &'static [&'static str])],
        overlays: Option<(&str, &str)>,
    ) -> (SectionReader<'a>, Vec<SectionReader<'a>>) {
        let names = overlays.map(|(variant, storage)| [("variants", variant), ("storage", storage)]);
        let names = names.into_iter().flatten();
        let overlays = names.filter_map(|(table, name)| self.overlays.get(&(table, name.to_owned())));
        let reader = |section| SectionReader { text, keys, workload, section };
        (reader(&self.base), overlays.map(reader).collect())
    }
}

/// Returns the table to which the keys lead, reduced to `selected_keys`. `None` if there is no such table.
pub(crate) fn table_at<'i>(
    root: &DeTable<'i>,
    span: std::ops::Range<usize>,
    path: &[String],
    selected_keys: Option<&[&str]>,
) -> Option<Spanned<DeTable<'i>>> {
    let (mut table, mut span) = (root, span);
    for key in path {
        let value = table.get(key.as_str())?;
        let DeValue::Table(subtable) = value.get_ref() else { return None };
        (table, span) = (subtable, value.span());
    }
    let is_wanted = |key: &str| selected_keys.is_none_or(|selected_keys| selected_keys.contains(&key));
    let mut section = DeTable::new();
    for (key, value) in table.iter().filter(|(key, _)| is_wanted(key.get_ref())) {
        section.insert(key.clone(), value.clone());
    }
    Some(Spanned::new(span, section))
}
