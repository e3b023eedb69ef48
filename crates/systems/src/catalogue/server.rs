//! `[server]` of `system.toml`: how a server's data folder is made, and how it
//! is started and stopped.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    definition::{Definition, Scalar, ServerDefinition},
    error::CatalogueError,
    locate::TomlText,
    near::did_you_mean,
    template,
};

/// Placeholders that whoever starts the server replaces. Besides them there are
/// the names of the artifact's files.
const OF_FILES: [&str; 5] = ["data", "run", "port", "password", "cores"];
/// Without the password: command lines are seen by everybody.
const OF_START: [&str; 4] = ["data", "run", "port", "cores"];
/// Only while the data folder is made.
const OF_INIT: [&str; 4] = ["data", "run", "cores", "password_file"];
const OF_ENVIRONMENT: [&str; 3] = ["data", "run", "cores"];
const OF_SETTING: [&str; 2] = ["name", "value"];
const SIGNALS: [&str; 3] = ["INT", "TERM", "QUIT"];
const START_LIMIT_S: u64 = 120;
const STOP_LIMIT_S: u64 = 300;

/// A server, as the system's folder describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Server {
    /// The user as whom sessions log in.
    pub user: String,
    /// The database that sessions use.
    pub database: String,
    /// Commands that make a data folder, in this order.
    pub init: Vec<Vec<String>>,
    /// Files written before every start: path to text.
    pub files: BTreeMap<String, String>,
    /// The command that is the server.
    pub start: Vec<String>,
    /// What is added to it for each setting.
    pub setting: Vec<String>,
    /// Added to the environment.
    pub environment: BTreeMap<String, String>,
    /// The signal on which it ends cleanly.
    pub stop: String,
    /// The signal on which it ends at once.
    pub abandon: Option<String>,
    /// Seconds that making the data folder and starting may take, each.
    pub start_limit_s: u64,
    /// Seconds that a clean end may take.
    pub stop_limit_s: u64,
}

/// Checks and turns over the table.
pub(crate) fn server(definition: &Definition, text: &TomlText) -> Result<Option<Server>, CatalogueError> {
    let Some(written) = &definition.server else { return Ok(None) };
    if definition.embedded {
        return Err(
            text.error(&["server"], "an embedded engine has no server: remove the table, or `embedded`")
        );
    }
    check(definition, written, text)?;
    let plain = |table: &BTreeMap<String, Scalar>| {
        table.iter().map(|(name, Scalar(value))| (name.clone(), value.clone())).collect()
    };
    Ok(Some(Server {
        user: written.user.clone(),
        database: written.database.clone(),
        init: written.init.clone(),
        files: written.files.clone(),
        start: written.start.clone(),
        setting: written.setting.clone(),
        environment: plain(&written.environment),
        stop: written.stop.clone(),
        abandon: written.abandon.clone(),
        start_limit_s: written.start_limit_s.unwrap_or(START_LIMIT_S),
        stop_limit_s: written.stop_limit_s.unwrap_or(STOP_LIMIT_S),
    }))
}

fn check(definition: &Definition, written: &ServerDefinition, text: &TomlText) -> Result<(), CatalogueError> {
    let error = |key: &[&str], message: String| {
        let path: Vec<&str> = ["server"].iter().chain(key).copied().collect();
        text.error(&path, message)
    };
    for (key, name) in [("stop", Some(&written.stop)), ("abandon", written.abandon.as_ref())] {
        if let Some(name) = name.filter(|name| !SIGNALS.contains(&name.as_str())) {
            let near = did_you_mean(name, SIGNALS);
            let message = format!("`{name}` is no signal{near}; there is {}", SIGNALS.join(", "));
            return Err(error(&[key], message));
        }
    }
    if written.start.is_empty() {
        return Err(error(&["start"], "is empty: it is the command that is the server".to_owned()));
    }
    // Sources may name their files differently; a name must be in all of them.
    let mut programs: Option<BTreeSet<&str>> = None;
    for artifact in &definition.artifacts {
        for source in &artifact.sources {
            let files = source.files.as_ref().unwrap_or(&artifact.files);
            let names: BTreeSet<&str> = files.keys().map(String::as_str).collect();
            programs = Some(match programs {
                Some(before) => before.intersection(&names).copied().collect(),
                None => names,
            });
        }
    }
    let programs = programs.unwrap_or_default();
    let known = |name: &str, fixed: &[&str]| fixed.contains(&name) || programs.contains(name);
    let look = |key: &[&str], part: &str, fixed: &[&str]| {
        let names = template::placeholders(part).map_err(|problem| error(key, problem.to_string()))?;
        match names.into_iter().find(|(_, name)| !known(name, fixed)) {
            Some((_, name)) => {
                let near = did_you_mean(name, fixed.iter().chain(programs.iter()).copied());
                Err(error(key, format!("`{{{{{name}}}}}` has no value here{near}")))
            }
            None => Ok(()),
        }
    };
    for (index, command) in written.init.iter().enumerate() {
        let index = index.to_string();
        if command.is_empty() {
            return Err(error(&["init", &index], "is an empty command".to_owned()));
        }
        for part in command {
            look(&["init", &index], part, &OF_INIT)?;
        }
    }
    for part in &written.start {
        look(&["start"], part, &OF_START)?;
    }
    for part in &written.setting {
        look(&["setting"], part, &OF_SETTING)?;
    }
    for (path, contents) in &written.files {
        look(&["files", path], path, &OF_START)?;
        look(&["files", path], contents, &OF_FILES)?;
    }
    for (name, Scalar(value)) in &written.environment {
        look(&["environment", name], value, &OF_ENVIRONMENT)?;
    }
    Ok(())
}
