//! A user's own questions: a folder with `questions.toml`, and a folder of statements for each system.
//!
//! It is read as strictly as a system's folder: a misspelling is an error that names file, line and what is
//! allowed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    Catalogue,
    configuration::{Configuration, digest},
    definition::is_name,
    did_you_mean::did_you_mean,
    error::{CatalogueError, listed},
    folder::{Folder, entries, ignored, name_of, unreadable},
    locate::TomlText,
    preparation::PreparationClass,
    rules::questions::{QUESTIONS, SET_UP, question_file},
    statement_file::{self, StatementFile},
    system::System,
    template::{self, RUN_TIME},
};

const DEFINITION: &str = "questions.toml";
const EXPECTED: &str = "expected.json";
const README: &str = "README.md";

/// Names that a question cannot have, because they are steps of a run or files with another meaning.
const RESERVED: [&str; 7] = ["load", "size", "structure", "control", "schema", "index", "expected"];

/// Declared type of a column; decides how its cells are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// A truth value: `true` or `false`.
    Boolean,
    /// A number, whole or not.
    Number,
    /// A string of characters.
    String,
    /// Any JSON value, objects and arrays included.
    Json,
    /// A point in time.
    Time,
}

/// A column of a question's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerColumn {
    /// Column name, unique within the question; `order`, `approximate` and `scale` refer to it.
    pub name: String,
    /// Declared type of the cells.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Whether numbers of this column may deviate from the expected ones. Only columns of numbers may be
    /// approximate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// Columns with the magnitude of the numbers that were added up in this column. `None` if not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<OwnScale>,
}

/// Magnitude of the addends of a column: another column, or the quotient of two, by their indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnScale {
    /// Index of the column with the sum of the absolute values of all addends.
    pub size: usize,
    /// Index of the column by which that sum is divided. `None`: it is not divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<usize>,
}

/// A question, independent of the systems that are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    /// Name of the question, and of its statement files.
    pub name: String,
    /// Heading of the question in reports.
    pub title: String,
    /// Description of what is asked; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asks: String,
    /// Columns of the answer, in order.
    pub columns: Vec<AnswerColumn>,
    /// Columns by which rows are ordered: index, and whether the order descends. Empty if rows have no order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<(usize, bool)>,
    /// Maximum number of rows. `None` if the answer has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}

/// Statements for one system, or for a variant of it that the user sets up.
#[derive(Debug, Clone, PartialEq)]
pub struct UserSystemFolder {
    /// Name of the folder: `SYSTEM` or `SYSTEM+VARIANT`.
    pub name: String,
    /// Name of the system, before the `+`.
    pub system: String,
    /// Name after the `+`. `None` if the folder belongs to the system as the catalogue sets it up.
    pub variant: Option<String>,
    /// Description in a few words. `None` if the user gave none.
    pub title: Option<String>,
    /// Preparation class that the user states; it is displayed only. `None` if the user states none.
    pub preparation: Option<PreparationClass>,
    /// Statement files, by their names in a workload setup.
    files: BTreeMap<String, StatementFile>,
}

/// Rows of an expected answer, as in `expected.json`.
pub type ExpectedRows = Vec<Vec<serde_json::Value>>;

/// A user's folder of questions, with all statements and expected answers.
#[derive(Debug, Clone)]
pub struct UserQuestions {
    /// Path of the folder, as the user gave it.
    pub path: PathBuf,
    /// Title that the user gave; otherwise the name of the folder.
    pub title: String,
    /// Name of the folder whose answers are the expected answers. `None` if the user states none.
    pub reference: Option<String>,
    /// Questions, in the order in which they are asked.
    pub questions: Vec<UserQuestion>,
    /// Folders of statements, in name order.
    pub folders: Vec<UserSystemFolder>,
    /// Expected answers that the user gave, by question.
    pub expected: BTreeMap<String, ExpectedRows>,
    text: TomlText,
}

/// `questions.toml` as written by the user.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionsFile {
    title: Option<String>,
    reference: Option<String>,
    #[serde(default)]
    question: Vec<QuestionDefinition>,
    #[serde(default)]
    folder: BTreeMap<String, FolderDefinition>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionDefinition {
    name: String,
    title: String,
    #[serde(default)]
    asks: String,
    columns: Vec<ColumnDefinition>,
    #[serde(default)]
    order: Vec<String>,
    limit: Option<usize>,
    #[serde(default)]
    approximate: Vec<String>,
    /// By column: the column with the magnitude of its addends, or `ONE / OTHER` for a quotient.
    #[serde(default)]
    scale: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnDefinition {
    name: String,
    #[serde(rename = "type")]
    column_type: ColumnType,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FolderDefinition {
    title: Option<String>,
    preparation: Option<PreparationClass>,
}

impl UserQuestions {
    /// Reads the folder. Whether its systems exist is not checked; see [`Self::check_systems`].
    ///
    /// # Errors
    /// [`CatalogueError::Read`] if a file cannot be read, [`CatalogueError::Invalid`] if something is missing
    /// or misspelt; the error names file, line and what is allowed.
    pub fn read(path: &Path) -> Result<Self, CatalogueError> {
        let file = path.join(DEFINITION);
        let invalid = |file: &Path, message: String| CatalogueError::Invalid {
            file: file.display().to_string(),
            line: None,
            key: None,
            message,
        };
        if !path.is_dir() {
            return Err(invalid(path, "is no folder of questions".to_owned()));
        }
        if !file.is_file() {
            let message =
                "is missing: `jsonathlon questions new DIR --data FOLDER` writes a first version".to_owned();
            return Err(invalid(&file, message));
        }
        let text = std::fs::read_to_string(&file).map_err(|source| unreadable(&file, source))?;
        let text = TomlText { file: file.display().to_string(), text };
        let written: QuestionsFile = toml::from_str(&text.text).map_err(|error| text.reader_error(&error))?;
        let questions = questions(&text, written.question)?;
        let mut folders = Vec::new();
        let mut expected = BTreeMap::new();
        for entry in entries(path)?.into_iter().filter(|entry| !ignored(entry)) {
            let name = name_of(&entry);
            match name.as_str() {
                DEFINITION | README => {}
                EXPECTED => expected = expected_rows(&entry, &questions)?,
                _ if entry.is_dir() => folders.push(folder(&entry, &name, &questions)?),
                _ => {
                    let known = [DEFINITION, EXPECTED, README];
                    let near = did_you_mean(&name, known);
                    let message = format!(
                        "belongs to nothing{near}: beside folders of systems there is {}",
                        known.join(", ")
                    );
                    return Err(invalid(&entry, message));
                }
            }
        }
        for (name, definition) in written.folder {
            let Some(folder) = folders.iter_mut().find(|folder: &&mut UserSystemFolder| folder.name == name)
            else {
                let near = did_you_mean(&name, folders.iter().map(|folder| folder.name.as_str()));
                return Err(text.error(&["folder", &name], format!("there is no folder {name}/{near}")));
            };
            folder.title = definition.title;
            folder.preparation = definition.preparation;
        }
        inherit(&mut folders);
        if let Some(reference) = &written.reference
            && !folders.iter().any(|folder| folder.name == *reference)
        {
            let names: Vec<String> = folders.iter().map(|folder| folder.name.clone()).collect();
            let near = did_you_mean(reference, names.iter().map(String::as_str));
            let message = format!("there is no folder {reference}/{near}; there is {}", listed(&names));
            return Err(text.error(&["reference"], message));
        }
        let title =
            written.title.unwrap_or_else(|| name_of(&std::path::absolute(path).unwrap_or(path.to_owned())));
        Ok(Self {
            path: path.to_owned(),
            title,
            reference: written.reference,
            questions,
            folders,
            expected,
            text,
        })
    }

    /// Checks that every folder belongs to a system that exists and that runs the questions workload.
    ///
    /// # Errors
    /// [`CatalogueError::Invalid`] if one does not; the error lists the systems that do.
    pub fn check_systems(&self, catalogue: &Catalogue) -> Result<(), CatalogueError> {
        for folder in &self.folders {
            let able: Vec<&str> =
                catalogue.systems().iter().filter(|one| one.runs(QUESTIONS)).map(System::name).collect();
            if !able.contains(&folder.system.as_str()) {
                let why = match catalogue.get(&folder.system) {
                    Ok(system) => system.unsupported_reason(QUESTIONS).unwrap_or_default(),
                    Err(_) => format!("there is no system `{}`", folder.system),
                };
                let near = did_you_mean(&folder.system, able.iter().copied());
                return Err(CatalogueError::Invalid {
                    file: self.path.join(&folder.name).display().to_string(),
                    line: None,
                    key: None,
                    message: format!(
                        "{why}{near}; a folder is called SYSTEM or SYSTEM+VARIANT, of {}",
                        able.join(", ")
                    ),
                });
            }
        }
        Ok(())
    }

    /// Returns the name of the catalogue's variant on which a folder builds: the one that the folder names,
    /// otherwise the default for questions.
    ///
    /// # Errors
    /// [`CatalogueError::NotRun`] if the system has no variant for questions.
    pub fn base_variant<'a>(
        folder: &UserSystemFolder,
        system: &'a System,
    ) -> Result<&'a str, CatalogueError> {
        let variants = system.variants_of(QUESTIONS);
        let named =
            variants.iter().find(|one| folder.variant.as_deref().is_some_and(|name| one.is_called(name)));
        let usual = || variants.iter().find(|one| one.is_default);
        named.or_else(usual).map(|one| one.name.as_str()).ok_or_else(|| CatalogueError::NotRun {
            workload: QUESTIONS.to_owned(),
            reasons: system.unsupported_reason(QUESTIONS).into_iter().collect(),
            by: Vec::new(),
        })
    }

    /// Returns the configuration with the folder's statements in place of the catalogue's. If the folder
    /// names a variant that the catalogue does not have, the configuration's variant gets that name.
    #[must_use]
    pub fn applied(&self, folder: &UserSystemFolder, mut configuration: Configuration) -> Configuration {
        if let Some(part) = configuration.parts.remove(QUESTIONS) {
            let mut part = part.without_templates();
            part.files.extend(folder.files.clone());
            configuration.parts.insert(QUESTIONS.to_owned(), part);
        }
        if let Some(variant) = &folder.variant
            && *variant != configuration.variant
        {
            configuration.variant.clone_from(variant);
            configuration.variant_title = format!("{}, set up by the user", configuration.variant_title);
        }
        if let Some(title) = &folder.title {
            configuration.variant_title.clone_from(title);
        }
        if let Some(class) = folder.preparation {
            configuration.variant_title.push_str(&format!(" (stated as {class})"));
        }
        configuration.preparation = PreparationClass::Own;
        configuration.ranks_with = String::new();
        configuration.ranked = true;
        configuration.digest = digest(&configuration);
        configuration
    }

    /// Builds an error about the question of this name, with its line.
    pub fn error(&self, question: &str, message: impl Into<String>) -> CatalogueError {
        let place =
            self.questions.iter().position(|one| one.name == question).unwrap_or_default().to_string();
        self.text.error(&["question", &place], message)
    }
}

impl UserSystemFolder {
    /// Returns `true` if the folder has a statement for a question.
    #[must_use]
    pub fn asks(&self, question: &str) -> bool {
        self.files.contains_key(&question_file(question))
    }
}

fn questions(text: &TomlText, written: Vec<QuestionDefinition>) -> Result<Vec<UserQuestion>, CatalogueError> {
    if written.is_empty() {
        return Err(text.error(&[], "asks nothing: add a [[question]] with name, title and columns"));
    }
    let mut questions: Vec<UserQuestion> = Vec::new();
    for (place, mut one) in written.into_iter().enumerate() {
        let place = place.to_string();
        let error = |key: &str, message: String| text.error(&["question", &place, key], message);
        if !is_name(&one.name) {
            let message = format!(
                "`{}` is no name: a name is a-z, 0-9, `-` and `_`, and starts with a letter",
                one.name
            );
            return Err(error("name", message));
        }
        if RESERVED.contains(&one.name.as_str()) {
            return Err(error("name", format!("`{}` means something else: choose another name", one.name)));
        }
        if questions.iter().any(|other| other.name == one.name) {
            return Err(error("name", format!("there are two questions called `{}`", one.name)));
        }
        if one.title.trim().is_empty() {
            return Err(error("title", "is empty".to_owned()));
        }
        if one.columns.is_empty() {
            return Err(error("columns", "is empty: say what the answer's columns are".to_owned()));
        }
        let names: Vec<String> = one.columns.iter().map(|column| column.name.clone()).collect();
        let column = |key: &str, name: &str| {
            names.iter().position(|known| known == name).ok_or_else(|| {
                let near = did_you_mean(name, names.iter().map(String::as_str));
                error(key, format!("`{name}` is no column{near}; there is {}", listed(&names)))
            })
        };
        let mut columns: Vec<AnswerColumn> = Vec::new();
        for ColumnDefinition { name, column_type } in std::mem::take(&mut one.columns) {
            if columns.iter().any(|other| other.name == name) {
                return Err(error("columns", format!("there are two columns called `{name}`")));
            }
            columns.push(AnswerColumn { name, column_type, approximate: false, scale: None });
        }
        for name in &one.approximate {
            let place = column("approximate", name)?;
            if let Some(column) = columns.get_mut(place) {
                if column.column_type != ColumnType::Number {
                    return Err(error(
                        "approximate",
                        format!("`{name}` is no number: only numbers are approximate"),
                    ));
                }
                column.approximate = true;
            }
        }
        for (name, written) in &one.scale {
            let (size, per) = match written.split_once('/') {
                Some((size, per)) => (size.trim(), Some(per.trim())),
                None => (written.trim(), None),
            };
            let place = column("scale", name)?;
            let scale = OwnScale {
                size: column("scale", size)?,
                per: per.map(|per| column("scale", per)).transpose()?,
            };
            let is_number = |place: usize| {
                columns.get(place).is_some_and(|column| column.column_type == ColumnType::Number)
            };
            if ![Some(place), Some(scale.size), scale.per].into_iter().flatten().all(is_number) {
                let message =
                    format!("`{name}` and its scale `{written}` are numbers, and only numbers have one");
                return Err(error("scale", message));
            }
            if let Some(column) = columns.get_mut(place) {
                column.scale = Some(scale);
            }
        }
        let mut order = Vec::new();
        for written in &one.order {
            let (name, descends) = match written.rsplit_once(' ') {
                Some((name, "desc")) => (name, true),
                Some((name, "asc")) => (name, false),
                _ => (written.as_str(), false),
            };
            order.push((column("order", name.trim())?, descends));
        }
        if one.limit == Some(0) {
            return Err(error(
                "limit",
                "is 0: leave it out, or say how many rows there are at most".to_owned(),
            ));
        }
        if one.limit.is_some() && order.is_empty() {
            return Err(error(
                "limit",
                "has no order: which rows a limit cuts is anybody's choice without one".to_owned(),
            ));
        }
        let QuestionDefinition { name, title, asks, limit, .. } = one;
        questions.push(UserQuestion { name, title, asks, columns, order, limit });
    }
    Ok(questions)
}

/// Reads a folder of statements for one system.
fn folder(path: &Path, name: &str, questions: &[UserQuestion]) -> Result<UserSystemFolder, CatalogueError> {
    let folder = Folder::on_disk(path)?;
    let (system, variant) = match name.split_once('+') {
        Some((system, variant)) => (system, Some(variant)),
        None => (name, None),
    };
    if !is_name(system) || variant.is_some_and(|variant| !is_name(variant)) {
        return Err(CatalogueError::Invalid {
            file: path.display().to_string(),
            line: None,
            key: None,
            message: "a folder is called SYSTEM or SYSTEM+VARIANT, of a-z, 0-9, `-` and `_`".to_owned(),
        });
    }
    let mut files = BTreeMap::new();
    for (file, text) in &folder.files {
        if file == README {
            continue;
        }
        let (stem, kind) = match file.rsplit_once('.') {
            Some((stem, "sql")) => (stem, statement_file::StatementKind::Sql),
            Some((stem, "json")) => (stem, statement_file::StatementKind::Json),
            _ => return Err(folder.error(file, None, "is neither a .sql nor a .json file")),
        };
        let set_up = SET_UP.iter().find(|(name, _)| *name == stem);
        let question = questions.iter().find(|one| one.name == stem);
        let (key, must_be_single) = match (set_up, question) {
            (Some((_, key)), _) => ((*key).to_owned(), false),
            (None, Some(question)) => (question_file(&question.name), true),
            (None, None) => {
                let known: Vec<&str> = questions
                    .iter()
                    .map(|one| one.name.as_str())
                    .chain(SET_UP.map(|(name, _)| name))
                    .collect();
                let near = did_you_mean(stem, known.iter().copied());
                let message = format!("is no question of {DEFINITION}{near}; there is {}", known.join(", "));
                return Err(folder.error(file, None, message));
            }
        };
        let raw = statement_file::split_own(&folder, file, text, kind)?;
        if must_be_single && raw.len() != 1 {
            let message = format!("holds {} statements and must hold one", raw.len());
            return Err(folder.error(file, None, message));
        }
        let mut names_the_table = false;
        for statement in &raw {
            let names = template::placeholders(&statement.text)
                .map_err(|error| folder.error(file, statement.line_at(error.offset()), error.to_string()))?;
            for (offset, name) in names {
                names_the_table |= name == "table";
                if !RUN_TIME.contains(&name) || (name == "file" && stem != "load") {
                    let known: Vec<&str> = RUN_TIME.into_iter().filter(|name| *name != "file").collect();
                    let near = did_you_mean(name, known.iter().copied());
                    let message =
                        format!("`{{{{{name}}}}}` has no value{near}; there is {}", known.join(", "));
                    return Err(folder.error(file, statement.line_at(offset), message));
                }
            }
        }
        if !names_the_table && !raw.is_empty() {
            let message =
                "does not use `{{table}}`, the name of the table or collection that holds the documents";
            return Err(folder.error(file, Some(1), message));
        }
        let statements = raw.into_iter().map(|statement| statement.text).collect();
        let file = StatementFile { path: folder.shown(file), kind, statements };
        if let Some(other) = files.insert(key, file.clone()) {
            let message = format!("{} says the same: keep one of them", other.path);
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

/// Gives each folder with a variant the files that it lacks, from the folder of the same system without a
/// variant.
fn inherit(folders: &mut [UserSystemFolder]) {
    let plain: Vec<UserSystemFolder> =
        folders.iter().filter(|folder| folder.variant.is_none()).cloned().collect();
    for folder in folders.iter_mut().filter(|folder| folder.variant.is_some()) {
        let Some(below) = plain.iter().find(|one| one.system == folder.system) else { continue };
        for (name, file) in &below.files {
            folder.files.entry(name.clone()).or_insert_with(|| file.clone());
        }
    }
}

fn expected_rows(
    path: &Path,
    questions: &[UserQuestion],
) -> Result<BTreeMap<String, ExpectedRows>, CatalogueError> {
    let invalid = |line: Option<usize>, key: Option<&String>, message: String| CatalogueError::Invalid {
        file: path.display().to_string(),
        line,
        key: key.cloned(),
        message,
    };
    let text = std::fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
    let rows: BTreeMap<String, ExpectedRows> = serde_json::from_str(&text).map_err(|error| {
        let message =
            format!("is no object of questions with their rows, as {{\"NAME\": [[1, \"a\"]]}}: {error}");
        invalid(Some(error.line()), None, message)
    })?;
    for (name, rows) in &rows {
        let line = text.lines().position(|line| line.contains(&format!("\"{name}\""))).map(|line| line + 1);
        let Some(question) = questions.iter().find(|one| one.name == *name) else {
            let names: Vec<String> = questions.iter().map(|one| one.name.clone()).collect();
            let near = did_you_mean(name, names.iter().map(String::as_str));
            return Err(invalid(
                line,
                Some(name),
                format!("is no question{near}; there is {}", listed(&names)),
            ));
        };
        if let Some(row) = rows.iter().find(|row| row.len() != question.columns.len()) {
            let wide = question.columns.len();
            return Err(invalid(
                line,
                Some(name),
                format!("a row has {} cells, the question {wide} columns", row.len()),
            ));
        }
    }
    Ok(rows)
}
