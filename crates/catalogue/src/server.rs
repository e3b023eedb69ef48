//! Validates `[server]` of `system.toml`.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_servers::{Recipe, RequiredProgram, Scalar};

use super::{
    definition::{ArtifactDefinition, Definition},
    did_you_mean::did_you_mean,
    error::CatalogueError,
    locate::TomlText,
    template,
};

/// Placeholders that files of the server may hold. Names of the artifact's files and of needed programs are
/// known here and in all lists below.
const FILE_PLACEHOLDERS: [&str; 8] =
    ["data", "run", "port", "password", "cores", "certificate", "key", "certificate_and_key"];
/// Placeholders of commands. The password is missing, because command lines are visible to every user.
pub(super) const START_PLACEHOLDERS: [&str; 4] = ["data", "run", "port", "cores"];
/// Placeholders of the arguments for TLS; the files of the certificate exist if sessions encrypt.
const TLS_PLACEHOLDERS: [&str; 7] =
    ["data", "run", "port", "cores", "certificate", "key", "certificate_and_key"];
/// Placeholders of commands that initialise the data folder; the password file exists only meanwhile.
const INIT_PLACEHOLDERS: [&str; 4] = ["data", "run", "cores", "password_file"];
const ENVIRONMENT_PLACEHOLDERS: [&str; 3] = ["data", "run", "cores"];
const SOCKET_PLACEHOLDERS: [&str; 3] = ["data", "run", "port"];
const SETTING_PLACEHOLDERS: [&str; 2] = ["name", "value"];
const SIGNALS: [&str; 3] = ["INT", "TERM", "QUIT"];

/// Converts numbers and truth values to the texts that they are written as.
pub(super) fn to_texts(table: &BTreeMap<String, Scalar>) -> BTreeMap<String, String> {
    table.iter().map(|(name, Scalar(value))| (name.clone(), value.clone())).collect()
}

/// Validates the table and returns it. `None` if the folder has none.
pub(crate) fn server(definition: &Definition, text: &TomlText) -> Result<Option<Recipe>, CatalogueError> {
    let Some(recipe) = &definition.server else {
        let index = definition.artifacts.iter().position(|artifact| !artifact.environment.is_empty());
        return match index {
            Some(index) => Err(text.error(
                &["artifact", &index.to_string(), "environment"],
                "is a server's, and there is no [server]",
            )),
            None => Ok(None),
        };
    };
    if definition.embedded {
        return Err(
            text.error(&["server"], "an embedded engine has no server: remove the table, or `embedded`")
        );
    }
    check(definition, recipe, text)?;
    Ok(Some(recipe.clone()))
}

fn check(definition: &Definition, recipe: &Recipe, text: &TomlText) -> Result<(), CatalogueError> {
    check_signals(recipe, text)?;
    if recipe.start.is_empty() {
        return Err(error(text, &["start"], "is empty: it is the command that is the server".to_owned()));
    }
    let programs = check_programs(definition, recipe, text)?;
    let placeholders = ServerPlaceholders { text, programs: &programs };
    placeholders.check_init(recipe)?;
    placeholders.check_commands(recipe)?;
    placeholders.check_files(recipe)?;
    for (index, artifact) in definition.artifacts.iter().enumerate() {
        let programs: BTreeSet<&str> = roles(artifact).union(&programs).copied().collect();
        for (name, Scalar(value)) in &artifact.environment {
            if let Some(message) = placeholder_fault(value, &ENVIRONMENT_PLACEHOLDERS, &programs) {
                return Err(text.error(&["artifact", &index.to_string(), "environment", name], message));
            }
        }
    }
    Ok(())
}

/// Builds an error at a key of `[server]`.
fn error(text: &TomlText, key: &[&str], message: String) -> CatalogueError {
    let path: Vec<&str> = ["server"].iter().chain(key).copied().collect();
    text.error(&path, message)
}

/// Checks the names of the signals that stop the server.
fn check_signals(recipe: &Recipe, text: &TomlText) -> Result<(), CatalogueError> {
    for (key, name) in [("stop", Some(&recipe.stop)), ("abandon", recipe.abandon.as_ref())] {
        if let Some(name) = name.filter(|name| !SIGNALS.contains(&name.as_str())) {
            let near = did_you_mean(name, SIGNALS);
            let message = format!("unknown signal `{name}`: expected INT, TERM or QUIT{near}");
            return Err(error(text, &[key], message));
        }
    }
    Ok(())
}

/// Checks the programs that the server needs. Returns all names that stand for programs in commands,
/// including those of the files that all artifacts have.
fn check_programs<'a>(
    definition: &'a Definition,
    recipe: &'a Recipe,
    text: &TomlText,
) -> Result<BTreeSet<&'a str>, CatalogueError> {
    let mut programs = common(definition.artifacts.iter().map(roles));
    for (index, program) in recipe.needs.iter().enumerate() {
        let error = |key: &str, message: String| error(text, &["need", &index.to_string(), key], message);
        if !template::is_name(&program.name) {
            return Err(error(
                "name",
                "a program here is a-z, 0-9 and `_`, and starts with a letter".to_owned(),
            ));
        }
        if program.at_least > program.at_most {
            let RequiredProgram { at_least, at_most, .. } = program;
            let message = format!("no version is {at_least} or later and {at_most} or earlier");
            return Err(error("at_least", message));
        }
        if !programs.insert(&program.name) {
            return Err(error("name", format!("there is another program `{}`", program.name)));
        }
    }
    Ok(programs)
}

/// Checks that the placeholders of `[server]` have values.
struct ServerPlaceholders<'a> {
    text: &'a TomlText,
    /// Names that stand for programs in commands.
    programs: &'a BTreeSet<&'a str>,
}

impl ServerPlaceholders<'_> {
    /// Checks the text at `key`, whose placeholders must be in `fixed` or name programs.
    fn check(&self, key: &[&str], text: &str, fixed: &[&str]) -> Result<(), CatalogueError> {
        match placeholder_fault(text, fixed, self.programs) {
            Some(message) => Err(error(self.text, key, message)),
            None => Ok(()),
        }
    }

    /// Checks the commands that initialise the data folder.
    fn check_init(&self, recipe: &Recipe) -> Result<(), CatalogueError> {
        let external = recipe.external_commands.iter().flat_map(|external| &external.init).enumerate();
        let usual = recipe.init.iter().enumerate().map(|numbered| (&[][..], numbered));
        for (keys, (index, command)) in usual.chain(external.map(|numbered| (&["own"][..], numbered))) {
            let index = index.to_string();
            let key: Vec<&str> = keys.iter().copied().chain(["init", &index]).collect();
            if command.is_empty() {
                return Err(error(self.text, &key, "is an empty command".to_owned()));
            }
            for argument in command {
                self.check(&key, argument, &INIT_PLACEHOLDERS)?;
            }
        }
        Ok(())
    }

    /// Checks the start command and everything that may be added to it.
    fn check_commands(&self, recipe: &Recipe) -> Result<(), CatalogueError> {
        for argument in recipe.external_commands.iter().flat_map(|external| &external.start) {
            self.check(&["own", "start"], argument, &START_PLACEHOLDERS)?;
        }
        if let Some(folder) = &recipe.folder {
            self.check(&["folder"], folder, &ENVIRONMENT_PLACEHOLDERS)?;
        }
        for (key, arguments) in [("start", &recipe.start), ("tcp", &recipe.tcp), ("unix", &recipe.unix)] {
            for argument in arguments {
                self.check(&[key], argument, &START_PLACEHOLDERS)?;
            }
        }
        for argument in &recipe.tls {
            self.check(&["tls"], argument, &TLS_PLACEHOLDERS)?;
        }
        match &recipe.socket {
            Some(socket) => self.check(&["socket"], socket, &SOCKET_PLACEHOLDERS)?,
            None if !recipe.unix.is_empty() => {
                return Err(error(
                    self.text,
                    &["unix"],
                    "needs `socket`: the path on which the server then listens".to_owned(),
                ));
            }
            None => {}
        }
        for argument in &recipe.setting {
            self.check(&["setting"], argument, &SETTING_PLACEHOLDERS)?;
        }
        for argument in &recipe.fewer_cores {
            self.check(&["fewer_cores"], argument, &START_PLACEHOLDERS)?;
        }
        Ok(())
    }

    /// Checks the files that are written before a start, and the variables of all commands.
    fn check_files(&self, recipe: &Recipe) -> Result<(), CatalogueError> {
        for (path, contents) in &recipe.files {
            self.check(&["files", path], path, &START_PLACEHOLDERS)?;
            self.check(&["files", path], contents, &FILE_PLACEHOLDERS)?;
        }
        for (name, value) in &recipe.environment {
            self.check(&["environment", name], value, &ENVIRONMENT_PLACEHOLDERS)?;
        }
        Ok(())
    }
}

/// Returns the names that all these sets contain.
fn common<'a>(sets: impl Iterator<Item = BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    sets.reduce(|common, names| common.intersection(&names).copied().collect()).unwrap_or_default()
}

/// Returns the names of an artifact's files. Sources may name theirs differently; only names that all sources
/// have are returned.
fn roles(artifact: &ArtifactDefinition) -> BTreeSet<&str> {
    let files = artifact.sources.iter().map(|source| source.files.as_ref().unwrap_or(&artifact.files));
    common(files.map(|files| files.keys().map(String::as_str).collect()))
}

/// Returns what is wrong with the placeholders of a text, which must be in `fixed` or `programs`. `None` if
/// nothing is wrong.
fn placeholder_fault(text: &str, fixed: &[&str], programs: &BTreeSet<&str>) -> Option<String> {
    let names = match template::placeholders(text) {
        Ok(names) => names,
        Err(problem) => return Some(problem.to_string()),
    };
    let (_, name) = names.into_iter().find(|(_, name)| !fixed.contains(name) && !programs.contains(name))?;
    let near = did_you_mean(name, fixed.iter().chain(programs).copied());
    Some(format!("`{{{{{name}}}}}` has no value here{near}"))
}
