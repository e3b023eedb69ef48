//! Folders of statements in a user's folder of questions, one for each system.

use std::collections::BTreeMap;
use std::path::Path;

use super::{DEFINITION, README, UserQuestion, UserSystemFolder, invalid};
use crate::{
    definition::is_name,
    did_you_mean::did_you_mean,
    error::CatalogueError,
    folder::Folder,
    rules::questions::{SETUP_FILES, question_file},
    statement_file::{RawStatement, StatementFile, StatementKind, split_user_statements},
    template::{self, RUN_TIME},
};

/// Reads a folder of statements for one system.
pub(super) fn read_folder(
    path: &Path,
    name: &str,
    questions: &[UserQuestion],
) -> Result<UserSystemFolder, CatalogueError> {
    let folder = Folder::from_disk(path)?;
    let (system, variant) = match name.split_once('+') {
        Some((system, variant)) => (system, Some(variant)),
        None => (name, None),
    };
    if !is_name(system) || variant.is_some_and(|variant| !is_name(variant)) {
        let message = "a folder is called SYSTEM or SYSTEM+VARIANT, of a-z, 0-9, `-` and `_`".to_owned();
        return Err(invalid(path, message));
    }
    let mut files: BTreeMap<String, StatementFile> = BTreeMap::new();
    for (file, text) in &folder.files {
        if file == README {
            continue;
        }
        let (key, file) = read_file(&folder, file, text, questions)?;
        if let Some(duplicate) = files.insert(key, file.clone()) {
            let message = format!("{} says the same: keep one of them", duplicate.path);
            return Err(CatalogueError::Invalid { file: file.path, line: None, key: None, message });
        }
    }
    Ok(UserSystemFolder {
        name: name.to_owned(),
        system: system.to_owned(),
        variant: variant.map(str::to_owned),
        title: None,
        preparation: None,
        files,
    })
}

/// Reads one statement file, with the name that it has in a workload setup.
fn read_file(
    folder: &Folder,
    file: &str,
    text: &str,
    questions: &[UserQuestion],
) -> Result<(String, StatementFile), CatalogueError> {
    let Some((stem, kind)) = StatementKind::parse_file_name(file) else {
        return Err(folder.error(file, None, "is neither a .sql nor a .json file"));
    };
    let set_up = SETUP_FILES.iter().find(|(name, _)| *name == stem);
    let question = questions.iter().find(|question| question.name == stem);
    let (key, must_be_single) = match (set_up, question) {
        (Some((_, key)), _) => ((*key).to_owned(), false),
        (None, Some(question)) => (question_file(&question.name), true),
        (None, None) => {
            let names = questions.iter().map(|question| question.name.as_str());
            let known: Vec<&str> = names.chain(SETUP_FILES.map(|(name, _)| name)).collect();
            let near = did_you_mean(stem, known.iter().copied());
            let message = format!("is no question of {DEFINITION}{near}; there is {}", known.join(", "));
            return Err(folder.error(file, None, message));
        }
    };
    let raw =
        split_user_statements(text, kind).map_err(|fault| fault.into_error(&folder.display_path(file)))?;
    if must_be_single && raw.len() != 1 {
        let message = format!("holds {} statements and must hold one", raw.len());
        return Err(folder.error(file, None, message));
    }
    check_placeholders(folder, file, stem, &raw)?;
    let statements = raw.into_iter().map(|statement| statement.text).collect();
    Ok((key, StatementFile { path: folder.display_path(file), kind, statements }))
}

/// Checks that all placeholders have values, and that the file names the table if it holds a statement.
/// `stem` is the file's name without its ending.
fn check_placeholders(
    folder: &Folder,
    file: &str,
    stem: &str,
    raw: &[RawStatement],
) -> Result<(), CatalogueError> {
    let mut names_the_table = false;
    for statement in raw {
        let names = template::placeholders(&statement.text)
            .map_err(|error| folder.error(file, statement.line_at(error.offset()), error.to_string()))?;
        for (offset, name) in names {
            names_the_table |= name == "table";
            if !RUN_TIME.contains(&name) || (name == "file" && stem != "load") {
                let known: Vec<&str> = RUN_TIME.into_iter().filter(|name| *name != "file").collect();
                let near = did_you_mean(name, known.iter().copied());
                let message = format!("`{{{{{name}}}}}` has no value{near}; there is {}", known.join(", "));
                return Err(folder.error(file, statement.line_at(offset), message));
            }
        }
    }
    if !names_the_table && !raw.is_empty() {
        let message =
            "does not use `{{table}}`, the name of the table or collection that holds the documents";
        return Err(folder.error(file, Some(1), message));
    }
    Ok(())
}

/// Gives each folder with a variant the files that it lacks, from the folder of the same system without a
/// variant.
pub(super) fn inherit(folders: &mut [UserSystemFolder]) {
    let bases: Vec<UserSystemFolder> =
        folders.iter().filter(|folder| folder.variant.is_none()).cloned().collect();
    for folder in folders.iter_mut().filter(|folder| folder.variant.is_some()) {
        let Some(base) = bases.iter().find(|base| base.system == folder.system) else { continue };
        for (name, file) in &base.files {
            folder.files.entry(name.clone()).or_insert_with(|| file.clone());
        }
    }
}
