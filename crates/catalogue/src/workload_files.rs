//! Statement files of one workload in a system's folder: those of the base, and those of each variant.

use std::collections::BTreeMap;

use crate::{
    defaults::{self, DefaultFile},
    definition::LoadMode,
    did_you_mean::did_you_mean,
    error::CatalogueError,
    folder::Folder,
    rules::{WorkloadRules, suggest_file},
    statement_file::{RawFile, StatementKind, StatementRule},
    template,
};

/// Name of the file that loads documents.
const LOAD: &str = "load";

/// Statement files of one workload: those of the base, and those of each variant.
#[derive(Debug, Default, Clone)]
pub(crate) struct WorkloadFiles {
    pub(crate) base: BTreeMap<&'static str, RawFile>,
    pub(crate) variants: BTreeMap<String, BTreeMap<&'static str, RawFile>>,
}

impl WorkloadFiles {
    /// Reads all files of the workload's folder inside the system's folder, and the protocol's default files
    /// that it does not override. Those in `omitted_files`, as `WORKLOAD/NAME`, are left out.
    pub(crate) fn read(
        folder: &Folder,
        rules: &'static dyn WorkloadRules,
        variants: &[&str],
        protocol: &str,
        omitted_files: &[String],
    ) -> Result<Self, CatalogueError> {
        let mut files = Self::default();
        for (path, text) in &folder.files {
            let relative = path.strip_prefix(rules.name()).and_then(|rest| rest.strip_prefix('/'));
            let Some(relative) = relative else { continue };
            let (variant, name) = match relative.split_once('/') {
                None => (None, relative),
                Some((variant, name)) if variants.contains(&variant) => (Some(variant), name),
                Some((variant, _)) => {
                    let near = did_you_mean(variant, variants.iter().copied());
                    return Err(folder.error(
                        path,
                        None,
                        format!(
                            "`{variant}` is no variant of {}: declare [variants.{variant}]{near}",
                            folder.name
                        ),
                    ));
                }
            };
            let (rule, kind) = find_rule(folder, path, name, rules)?;
            let file = RawFile::read(path.clone(), folder.display_path(path), text, kind)?;
            let target = match variant {
                None => &mut files.base,
                Some(variant) => files.variants.entry(variant.to_owned()).or_default(),
            };
            if let Some(duplicate) = target.insert(rule.name, file) {
                return Err(folder.error(
                    path,
                    None,
                    format!("says the same as {}: keep one of them", duplicate.path),
                ));
            }
        }
        // A workload that builds on another one has the shared files through that one.
        let mut defaults = match rules.foundation() {
            None => defaults::default_files(protocol, rules.name()),
            Some(_) => defaults::workload_default_files(protocol, rules.name()),
        };
        for rule in rules.files() {
            let Some(DefaultFile { path, text, kind }) = defaults.remove(rule.name) else { continue };
            let is_left_out = omitted_files.contains(&format!("{}/{}", rules.name(), rule.name));
            if !is_left_out && !files.base.contains_key(rule.name) {
                let display_path = format!("built-in {path}");
                files.base.insert(rule.name, RawFile::read(path, display_path, text, kind)?);
            }
        }
        Ok(files)
    }

    /// Returns the file of this name in the variant's own folder. `None` if the variant has none.
    pub(crate) fn variant_file(&self, variant: &str, name: &str) -> Option<&RawFile> {
        self.variants.get(variant).and_then(|files| files.get(name))
    }

    /// Returns the file of this name for `variant`: its own, otherwise the one of the base.
    pub(crate) fn get(&self, variant: &str, name: &str) -> Option<&RawFile> {
        self.variants.get(variant).and_then(|files| files.get(name)).or_else(|| self.base.get(name))
    }

    /// Checks the contents of the file for `rule`, or that it may be missing.
    pub(crate) fn check(
        &self,
        folder: &Folder,
        is_reference: bool,
        rules: &dyn WorkloadRules,
        rule: &StatementRule,
        variant: &str,
        load: LoadMode,
    ) -> Result<(), CatalogueError> {
        let workload = rules.name();
        let Some(file) = self.get(variant, rule.name) else {
            if rule.required && !(rule.unless_reference && is_reference) {
                let message = format!("is missing: the {workload} workload cannot do without it");
                return Err(folder.error(&format!("{workload}/{}.sql", rule.name), None, message));
            }
            return Ok(());
        };
        // With these load modes jsonathlon sends the documents, so the engine reads no file.
        let by_row = rule.name == LOAD && matches!(load, LoadMode::Rows | LoadMode::Stream);
        let checked = CheckedFile { rules, rule, file, by_row };
        checked.check_count()?;
        checked.check_placeholders()?;
        checked.check_usage(load)
    }
}

/// A statement file that is checked against its rule.
struct CheckedFile<'a> {
    rules: &'a dyn WorkloadRules,
    rule: &'a StatementRule,
    file: &'a RawFile,
    /// Whether jsonathlon sends the documents, so that the engine reads no file.
    by_row: bool,
}

impl CheckedFile<'_> {
    /// Builds an error about the whole file.
    fn error(&self, message: impl Into<String>) -> CatalogueError {
        self.file.error(None, message)
    }

    /// Returns the placeholder that only this file of the workload may hold. `None` if it has none.
    fn exclusive_placeholder(&self) -> Option<&'static str> {
        self.rule.exclusive_placeholder.filter(|_| !self.by_row)
    }

    /// Checks the number of statements in the file.
    fn check_count(&self) -> Result<(), CatalogueError> {
        match self.file.statements.len() {
            0 if self.rule.required => Err(self.error("holds no statement")),
            0 | 1 => Ok(()),
            count if self.rule.single || self.by_row => {
                Err(self.error(format!("holds {count} statements and must hold one")))
            }
            _ => Ok(()),
        }
    }

    /// Checks that every placeholder in the file has a value there.
    fn check_placeholders(&self) -> Result<(), CatalogueError> {
        let Self { rules, rule, file, by_row } = *self;
        let exclusive_placeholder = self.exclusive_placeholder();
        for statement in &file.statements {
            let names = template::placeholders(&statement.text)
                .map_err(|error| file.error(statement.line_at(error.offset()), error.to_string()))?;
            for (offset, name) in names {
                let is_own = Some(name) == exclusive_placeholder;
                let is_exclusive_to = |other: &&StatementRule| other.exclusive_placeholder == Some(name);
                let foreign = rules.files().iter().find(is_exclusive_to).filter(|_| !is_own);
                let unfilled = rules.placeholders().contains(&name)
                    && !is_own
                    && rule.allowed_placeholders.is_some_and(|allowed| !allowed.contains(&name));
                let message = match foreign {
                    None if unfilled => format!("`{{{{{name}}}}}` has no value in `{}`", rule.name),
                    None => continue,
                    Some(_) if by_row => format!("`{{{{{name}}}}}` has no value where rows are loaded"),
                    Some(other) => format!("`{{{{{name}}}}}` has a value only in `{}`", other.name),
                };
                return Err(file.error(statement.line_at(offset), message));
            }
        }
        Ok(())
    }

    /// Checks that the file uses the placeholders for which it exists.
    fn check_usage(&self, load: LoadMode) -> Result<(), CatalogueError> {
        let Self { rule, file, by_row, .. } = *self;
        let needed = match load {
            LoadMode::Rows if by_row => Some(":doc".to_owned()),
            LoadMode::Stream if by_row => None,
            _ => self.exclusive_placeholder().map(|placeholder| format!("{{{{{placeholder}}}}}")),
        };
        let is_used =
            |needed: &String| file.statements.iter().any(|statement| statement.text.contains(needed));
        let is_named = |name: &&str| is_used(&format!("{{{{{name}}}}}"));
        if !rule.needs_one_of.is_empty()
            && !file.statements.is_empty()
            && !rule.needs_one_of.iter().any(is_named)
        {
            let names: Vec<String> =
                rule.needs_one_of.iter().map(|name| format!("`{{{{{name}}}}}`")).collect();
            return Err(self.error(format!("does not use {}, which it is there for", names.join(" or "))));
        }
        match needed {
            Some(needed) if !file.statements.is_empty() && !is_used(&needed) => {
                Err(self.error(format!("does not use `{needed}`, which it is there for")))
            }
            _ => Ok(()),
        }
    }
}

fn find_rule(
    folder: &Folder,
    path: &str,
    name: &str,
    rules: &'static dyn WorkloadRules,
) -> Result<(&'static StatementRule, StatementKind), CatalogueError> {
    let Some((stem, kind)) = StatementKind::parse_file_name(name) else {
        return Err(folder.error(path, None, "is neither a .sql nor a .json file"));
    };
    match rules.files().iter().find(|rule| rule.name == stem) {
        Some(rule) => Ok((rule, kind)),
        None => {
            let names: Vec<&str> = rules.files().iter().map(|rule| rule.name).collect();
            let near = suggest_file(stem, rules);
            Err(folder.error(
                path,
                None,
                format!("is no statement file of {}{near}; there is {}", rules.name(), names.join(", ")),
            ))
        }
    }
}
