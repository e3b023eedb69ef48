//! Validates `[server]` of `system.toml`.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_servers::{Recipe, Scalar};

use super::{
    definition::{ArtifactDefinition, Definition},
    did_you_mean::did_you_mean,
    error::CatalogueError,
    locate::TomlText,
    template,
};

/// Placeholders that files of the server may hold. Names of the artifact's files and of needed programs are
/// known here and in all lists below.
const OF_FILES: [&str; 8] =
    ["data", "run", "port", "password", "cores", "certificate", "key", "certificate_and_key"];
/// Placeholders of commands. The password is missing, because command lines are visible to every user.
pub(super) const OF_START: [&str; 4] = ["data", "run", "port", "cores"];
/// Placeholders of the arguments for TLS; the files of the certificate exist if sessions encrypt.
const OF_TLS: [&str; 7] = ["data", "run", "port", "cores", "certificate", "key", "certificate_and_key"];
/// Placeholders of commands that initialise the data folder; the password file exists only meanwhile.
const OF_INIT: [&str; 4] = ["data", "run", "cores", "password_file"];
const OF_ENVIRONMENT: [&str; 3] = ["data", "run", "cores"];
const OF_SOCKET: [&str; 3] = ["data", "run", "port"];
const OF_SETTING: [&str; 2] = ["name", "value"];
const SIGNALS: [&str; 3] = ["INT", "TERM", "QUIT"];

/// Converts numbers and truth values to the texts that they are written as.
pub(super) fn plain(table: &BTreeMap<String, Scalar>) -> BTreeMap<String, String> {
    table.iter().map(|(name, Scalar(value))| (name.clone(), value.clone())).collect()
}

/// Validates the table and returns it. `None` if the folder has none.
pub(crate) fn server(definition: &Definition, text: &TomlText) -> Result<Option<Recipe>, CatalogueError> {
    let Some(written) = &definition.server else {
        let with = definition.artifacts.iter().position(|artifact| !artifact.environment.is_empty());
        return match with {
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
    check(definition, written, text)?;
    Ok(Some(written.clone()))
}

fn check(definition: &Definition, written: &Recipe, text: &TomlText) -> Result<(), CatalogueError> {
    check_signals(written, text)?;
    if written.start.is_empty() {
        return Err(error(text, &["start"], "is empty: it is the command that is the server".to_owned()));
    }
    let programs = check_programs(definition, written, text)?;
    let placeholders = ServerPlaceholders { text, programs: &programs };
    placeholders.check_init(written)?;
    placeholders.check_commands(written)?;
    placeholders.check_files(written)?;
    for (index, artifact) in definition.artifacts.iter().enumerate() {
        let programs: BTreeSet<&str> = roles(artifact).union(&programs).copied().collect();
        for (name, Scalar(value)) in &artifact.environment {
            if let Some(message) = unknown(value, &OF_ENVIRONMENT, &programs) {
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
fn check_signals(written: &Recipe, text: &TomlText) -> Result<(), CatalogueError> {
    for (key, name) in [("stop", Some(&written.stop)), ("abandon", written.abandon.as_ref())] {
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
    written: &'a Recipe,
    text: &TomlText,
) -> Result<BTreeSet<&'a str>, CatalogueError> {
    let mut programs = common(definition.artifacts.iter().map(roles));
    for (index, need) in written.needs.iter().enumerate() {
        let error = |key: &str, message: String| error(text, &["need", &index.to_string(), key], message);
        if !template::is_name(&need.name) {
            return Err(error(
                "name",
                "a program here is a-z, 0-9 and `_`, and starts with a letter".to_owned(),
            ));
        }
        if need.at_least > need.at_most {
            let message = format!("no version is {} or later and {} or earlier", need.at_least, need.at_most);
            return Err(error("at_least", message));
        }
        if !programs.insert(&need.name) {
            return Err(error("name", format!("there is another program `{}`", need.name)));
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
    fn check(&self, key: &[&str], part: &str, fixed: &[&str]) -> Result<(), CatalogueError> {
        unknown(part, fixed, self.programs).map_or(Ok(()), |message| Err(error(self.text, key, message)))
    }

    /// Checks the commands that initialise the data folder.
    fn check_init(&self, written: &Recipe) -> Result<(), CatalogueError> {
        let own = written.own.iter().flat_map(|own| &own.init).enumerate();
        let all = written.init.iter().enumerate().map(|one| (&[][..], one));
        for (keys, (index, command)) in all.chain(own.map(|one| (&["own"][..], one))) {
            let index = index.to_string();
            let key: Vec<&str> = keys.iter().copied().chain(["init", &index]).collect();
            if command.is_empty() {
                return Err(error(self.text, &key, "is an empty command".to_owned()));
            }
            for part in command {
                self.check(&key, part, &OF_INIT)?;
            }
        }
        Ok(())
    }

    /// Checks the start command and everything that may be added to it.
    fn check_commands(&self, written: &Recipe) -> Result<(), CatalogueError> {
        for part in written.own.iter().flat_map(|own| &own.start) {
            self.check(&["own", "start"], part, &OF_START)?;
        }
        if let Some(folder) = &written.folder {
            self.check(&["folder"], folder, &OF_ENVIRONMENT)?;
        }
        for (key, parts) in [("start", &written.start), ("tcp", &written.tcp), ("unix", &written.unix)] {
            for part in parts {
                self.check(&[key], part, &OF_START)?;
            }
        }
        for part in &written.tls {
            self.check(&["tls"], part, &OF_TLS)?;
        }
        match &written.socket {
            Some(socket) => self.check(&["socket"], socket, &OF_SOCKET)?,
            None if !written.unix.is_empty() => {
                return Err(error(
                    self.text,
                    &["unix"],
                    "needs `socket`: the path on which the server then listens".to_owned(),
                ));
            }
            None => {}
        }
        for part in &written.setting {
            self.check(&["setting"], part, &OF_SETTING)?;
        }
        for part in &written.fewer_cores {
            self.check(&["fewer_cores"], part, &OF_START)?;
        }
        Ok(())
    }

    /// Checks the files that are written before a start, and the variables of all commands.
    fn check_files(&self, written: &Recipe) -> Result<(), CatalogueError> {
        for (path, contents) in &written.files {
            self.check(&["files", path], path, &OF_START)?;
            self.check(&["files", path], contents, &OF_FILES)?;
        }
        for (name, value) in &written.environment {
            self.check(&["environment", name], value, &OF_ENVIRONMENT)?;
        }
        Ok(())
    }
}

/// Returns the names that all these sets contain.
fn common<'a>(all: impl Iterator<Item = BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    all.reduce(|before, names| before.intersection(&names).copied().collect()).unwrap_or_default()
}

/// Returns the names of an artifact's files. Sources may name theirs differently; only names that all sources
/// have are returned.
fn roles(artifact: &ArtifactDefinition) -> BTreeSet<&str> {
    let files = artifact.sources.iter().map(|source| source.files.as_ref().unwrap_or(&artifact.files));
    common(files.map(|files| files.keys().map(String::as_str).collect()))
}

/// Returns what is wrong with the placeholders of a text, which must be in `fixed` or `programs`. `None` if
/// nothing is wrong.
fn unknown(text: &str, fixed: &[&str], programs: &BTreeSet<&str>) -> Option<String> {
    let names = match template::placeholders(text) {
        Ok(names) => names,
        Err(problem) => return Some(problem.to_string()),
    };
    let (_, name) = names.into_iter().find(|(_, name)| !fixed.contains(name) && !programs.contains(name))?;
    let near = did_you_mean(name, fixed.iter().chain(programs).copied());
    Some(format!("`{{{{{name}}}}}` has no value here{near}"))
}
