//! A user's own questions: a folder with `questions.toml`, and a folder of statements for each system.
//!
//! It is read as strictly as a system's folder: a misspelling is an error that names file, line and what is
//! allowed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jsonathlon_schema::ranking::PreparationClass;
use jsonathlon_schema::settings::questions::{
    AnswerColumn, ColumnType, ExpectedRows, ScaleColumns, UserQuestion,
};
use serde::Deserialize;

use super::{
    Catalogue,
    configuration::{Configuration, digest},
    definition::is_name,
    did_you_mean::did_you_mean,
    error::{CatalogueError, join_names},
    folder::{file_name, is_ignored, read_error, sorted_entries},
    locate::TomlText,
    preparation::StatedClass,
    rules::questions::{QUESTIONS, question_file},
    statement_file::StatementFile,
    system::System,
};

mod reports;
mod system_folder;

use system_folder::{inherit, read_folder};

const DEFINITION: &str = "questions.toml";
const EXPECTED: &str = "expected.json";
const README: &str = "README.md";

/// Names that a question cannot have, because they are steps of a run or files with another meaning.
const RESERVED: [&str; 7] = ["load", "size", "structure", "control", "schema", "index", "expected"];

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

#[derive(Debug, Clone, Deserialize)]
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
    preparation: Option<StatedClass>,
}

impl UserQuestions {
    /// Reads the folder. Whether its systems exist is not checked; see [`Self::check_systems`].
    ///
    /// # Errors
    /// [`CatalogueError::Read`] if a file cannot be read, [`CatalogueError::Invalid`] if something is missing
    /// or misspelt; the error names file, line and what is allowed.
    pub fn read(path: &Path) -> Result<Self, CatalogueError> {
        let file = path.join(DEFINITION);
        if !path.is_dir() {
            return Err(invalid(path, "is no folder of questions".to_owned()));
        }
        if !file.is_file() {
            let message =
                "is missing: `jsonathlon questions new DIR --data FOLDER` writes a first version".to_owned();
            return Err(invalid(&file, message));
        }
        let text = std::fs::read_to_string(&file).map_err(|source| read_error(&file, source))?;
        let text = TomlText { file: file.display().to_string(), text };
        let contents: QuestionsFile =
            toml::from_str(&text.text).map_err(|error| text.reader_error(&error))?;
        let questions = questions(&text, contents.question)?;
        let (mut folders, expected) = read_entries(path, &questions)?;
        describe_folders(&mut folders, contents.folder, &text)?;
        inherit(&mut folders);
        check_reference(contents.reference.as_deref(), &folders, &text)?;
        let title = contents
            .title
            .unwrap_or_else(|| file_name(&std::path::absolute(path).unwrap_or(path.to_owned())));
        Ok(Self {
            path: path.to_owned(),
            title,
            reference: contents.reference,
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
            let running = catalogue.systems().iter().filter(|system| system.supports_workload(QUESTIONS));
            let supported: Vec<&str> = running.map(System::name).collect();
            if !supported.contains(&folder.system.as_str()) {
                let reason = match catalogue.get(&folder.system) {
                    Ok(system) => system.unsupported_reason(QUESTIONS).unwrap_or_default(),
                    Err(_) => format!("there is no system `{}`", folder.system),
                };
                let near = did_you_mean(&folder.system, supported.iter().copied());
                return Err(CatalogueError::Invalid {
                    file: self.path.join(&folder.name).display().to_string(),
                    line: None,
                    key: None,
                    message: format!(
                        "{reason}{near}; a folder is called SYSTEM or SYSTEM+VARIANT, of {}",
                        supported.join(", ")
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
        let named_variant = variants
            .iter()
            .find(|variant| folder.variant.as_deref().is_some_and(|name| variant.has_name(name)));
        let default_variant = || variants.iter().find(|variant| variant.is_default);
        let variant = named_variant.or_else(default_variant);
        variant.map(|variant| variant.name.as_str()).ok_or_else(|| CatalogueError::NotRun {
            workload: QUESTIONS.to_owned(),
            reasons: system.unsupported_reason(QUESTIONS).into_iter().collect(),
            supported_by: Vec::new(),
        })
    }

    /// Returns the configuration with the folder's statements in place of the catalogue's. If the folder
    /// names a variant that the catalogue does not have, the configuration's variant gets that name.
    #[must_use]
    pub fn apply_folder(&self, folder: &UserSystemFolder, mut configuration: Configuration) -> Configuration {
        if let Some(setup) = configuration.setups.remove(QUESTIONS) {
            let mut setup = setup.without_templates();
            setup.files.extend(folder.files.clone());
            configuration.setups.insert(QUESTIONS.to_owned(), setup);
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
        configuration.preparation = PreparationClass::UserDefined;
        configuration.ranks_with = String::new();
        configuration.ranked = true;
        configuration.digest = digest(&configuration);
        configuration
    }

    /// Builds an error about the question of this name, with its line.
    pub fn error(&self, question: &str, message: impl Into<String>) -> CatalogueError {
        let index = self.questions.iter().position(|known| known.name == question).unwrap_or_default();
        self.text.error(&["question", &index.to_string()], message)
    }
}

impl UserSystemFolder {
    /// Returns `true` if the folder has a statement for a question.
    #[must_use]
    pub fn asks(&self, question: &str) -> bool {
        self.files.contains_key(&question_file(question))
    }
}

fn questions(
    text: &TomlText,
    definitions: Vec<QuestionDefinition>,
) -> Result<Vec<UserQuestion>, CatalogueError> {
    if definitions.is_empty() {
        return Err(text.error(&[], "asks nothing: add a [[question]] with name, title and columns"));
    }
    let mut questions: Vec<UserQuestion> = Vec::new();
    for (index, definition) in definitions.into_iter().enumerate() {
        let location = QuestionLocation { text, index: index.to_string() };
        check_question(&definition, &questions, &location)?;
        let columns = location.columns(&definition)?;
        let order = location.order(&definition)?;
        if definition.limit.is_some() && order.is_empty() {
            let message = "has no order: which rows a limit cuts is anybody's choice without one";
            return Err(location.error("limit", message.to_owned()));
        }
        let QuestionDefinition { name, title, asks, limit, .. } = definition;
        questions.push(UserQuestion { name, title, asks, columns, order, limit });
    }
    Ok(questions)
}

/// Checks what a question states, apart from its columns and its order.
fn check_question(
    definition: &QuestionDefinition,
    earlier: &[UserQuestion],
    location: &QuestionLocation<'_>,
) -> Result<(), CatalogueError> {
    let name = &definition.name;
    let (key, message) = if !is_name(name) {
        ("name", format!("`{name}` is no name: a name is a-z, 0-9, `-` and `_`, and starts with a letter"))
    } else if RESERVED.contains(&name.as_str()) {
        ("name", format!("`{name}` means something else: choose another name"))
    } else if earlier.iter().any(|other| other.name == *name) {
        ("name", format!("there are two questions called `{name}`"))
    } else if definition.title.trim().is_empty() {
        ("title", "is empty".to_owned())
    } else if definition.columns.is_empty() {
        ("columns", "is empty: say what the answer's columns are".to_owned())
    } else if definition.limit == Some(0) {
        ("limit", "is 0: leave it out, or say how many rows there are at most".to_owned())
    } else {
        return Ok(());
    };
    Err(location.error(key, message))
}

/// Location of a question in `questions.toml`, for errors.
struct QuestionLocation<'a> {
    text: &'a TomlText,
    index: String,
}

impl QuestionLocation<'_> {
    fn error(&self, key: &str, message: String) -> CatalogueError {
        self.text.error(&["question", &self.index, key], message)
    }

    /// Returns the index of the column that `key` names.
    fn column(&self, question: &QuestionDefinition, key: &str, name: &str) -> Result<usize, CatalogueError> {
        question.columns.iter().position(|column| column.name == name).ok_or_else(|| {
            let names: Vec<String> = question.columns.iter().map(|column| column.name.clone()).collect();
            let near = did_you_mean(name, names.iter().map(String::as_str));
            self.error(key, format!("`{name}` is no column{near}; there is {}", join_names(&names)))
        })
    }

    /// Returns the columns with what `approximate` and `scale` state about them.
    fn columns(&self, question: &QuestionDefinition) -> Result<Vec<AnswerColumn>, CatalogueError> {
        let mut columns: Vec<AnswerColumn> = Vec::new();
        for ColumnDefinition { name, column_type } in question.columns.clone() {
            if columns.iter().any(|other| other.name == name) {
                return Err(self.error("columns", format!("there are two columns called `{name}`")));
            }
            columns.push(AnswerColumn { name, column_type, approximate: false, scale: None });
        }
        let is_number = |columns: &[AnswerColumn], index: usize| {
            columns.get(index).is_some_and(|column| column.column_type == ColumnType::Number)
        };
        for name in &question.approximate {
            let index = self.column(question, "approximate", name)?;
            if !is_number(&columns, index) {
                let message = format!("`{name}` is no number: only numbers are approximate");
                return Err(self.error("approximate", message));
            }
            columns.iter_mut().skip(index).take(1).for_each(|column| column.approximate = true);
        }
        for (name, written) in &question.scale {
            let (size, per) = match written.split_once('/') {
                Some((size, per)) => (size.trim(), Some(per.trim())),
                None => (written.trim(), None),
            };
            let index = self.column(question, "scale", name)?;
            let size = self.column(question, "scale", size)?;
            let per = per.map(|per| self.column(question, "scale", per)).transpose()?;
            if ![Some(index), Some(size), per].into_iter().flatten().all(|index| is_number(&columns, index)) {
                let message =
                    format!("`{name}` and its scale `{written}` are numbers, and only numbers have one");
                return Err(self.error("scale", message));
            }
            columns
                .iter_mut()
                .skip(index)
                .take(1)
                .for_each(|column| column.scale = Some(ScaleColumns { magnitude: size, divisor: per }));
        }
        Ok(columns)
    }

    /// Returns the columns that order the answer, each with whether it descends.
    fn order(&self, question: &QuestionDefinition) -> Result<Vec<(usize, bool)>, CatalogueError> {
        let column = |written: &String| {
            let (name, descends) = match written.rsplit_once(' ') {
                Some((name, "desc")) => (name, true),
                Some((name, "asc")) => (name, false),
                _ => (written.as_str(), false),
            };
            Ok((self.column(question, "order", name.trim())?, descends))
        };
        question.order.iter().map(column).collect()
    }
}

/// Builds an error about a whole file or folder.
fn invalid(file: &Path, message: String) -> CatalogueError {
    CatalogueError::Invalid { file: file.display().to_string(), line: None, key: None, message }
}

/// Reads the folders of statements and the expected answers, which lie beside `questions.toml`.
fn read_entries(
    path: &Path,
    questions: &[UserQuestion],
) -> Result<(Vec<UserSystemFolder>, BTreeMap<String, ExpectedRows>), CatalogueError> {
    let mut folders = Vec::new();
    let mut expected = BTreeMap::new();
    for entry in sorted_entries(path)?.into_iter().filter(|entry| !is_ignored(entry)) {
        let name = file_name(&entry);
        match name.as_str() {
            DEFINITION | README => {}
            EXPECTED => expected = expected_rows(&entry, questions)?,
            _ if entry.is_dir() => folders.push(read_folder(&entry, &name, questions)?),
            _ => {
                let known = [DEFINITION, EXPECTED, README];
                let near = did_you_mean(&name, known);
                let message = format!(
                    "belongs to nothing{near}: next to folders of systems there is {}",
                    known.join(", ")
                );
                return Err(invalid(&entry, message));
            }
        }
    }
    Ok((folders, expected))
}

/// Adds titles and preparation classes from `questions.toml`, whose text is `text`, to the folders.
fn describe_folders(
    folders: &mut [UserSystemFolder],
    definitions: BTreeMap<String, FolderDefinition>,
    text: &TomlText,
) -> Result<(), CatalogueError> {
    for (name, definition) in definitions {
        let Some(folder) = folders.iter_mut().find(|folder| folder.name == name) else {
            let near = did_you_mean(&name, folders.iter().map(|folder| folder.name.as_str()));
            return Err(text.error(&["folder", &name], format!("there is no folder {name}/{near}")));
        };
        folder.title = definition.title;
        folder.preparation = definition.preparation.map(PreparationClass::from);
    }
    Ok(())
}

/// Checks that the folder whose answers are the expected ones exists.
fn check_reference(
    reference: Option<&str>,
    folders: &[UserSystemFolder],
    text: &TomlText,
) -> Result<(), CatalogueError> {
    if let Some(reference) = reference
        && !folders.iter().any(|folder| folder.name == *reference)
    {
        let names: Vec<String> = folders.iter().map(|folder| folder.name.clone()).collect();
        let near = did_you_mean(reference, names.iter().map(String::as_str));
        let message = format!("there is no folder {reference}/{near}; there is {}", join_names(&names));
        return Err(text.error(&["reference"], message));
    }
    Ok(())
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
    let text = std::fs::read_to_string(path).map_err(|source| read_error(path, source))?;
    let rows: BTreeMap<String, ExpectedRows> = serde_json::from_str(&text).map_err(|error| {
        let message =
            format!("is no object of questions with their rows, as {{\"NAME\": [[1, \"a\"]]}}: {error}");
        invalid(Some(error.line()), None, message)
    })?;
    for (name, rows) in &rows {
        let line = text.lines().position(|line| line.contains(&format!("\"{name}\""))).map(|line| line + 1);
        let Some(question) = questions.iter().find(|question| question.name == *name) else {
            let names: Vec<String> = questions.iter().map(|question| question.name.clone()).collect();
            let near = did_you_mean(name, names.iter().map(String::as_str));
            return Err(invalid(
                line,
                Some(name),
                format!("is no question{near}; there is {}", join_names(&names)),
            ));
        };
        if let Some(row) = rows.iter().find(|row| row.len() != question.columns.len()) {
            let width = question.columns.len();
            return Err(invalid(
                line,
                Some(name),
                format!("a row has {} cells, the question {width} columns", row.len()),
            ));
        }
    }
    Ok(rows)
}
