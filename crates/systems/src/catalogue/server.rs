//! `[server]` of `system.toml`: how a server's data folder is made, and how it
//! is started and stopped.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    definition::{ArtifactDefinition, Definition, Need, Scalar, ServerDefinition},
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
const OF_SOCKET: [&str; 3] = ["data", "run", "port"];
const OF_SETTING: [&str; 2] = ["name", "value"];
const SIGNALS: [&str; 3] = ["INT", "TERM", "QUIT"];
const START_LIMIT_S: u64 = 120;
const STOP_LIMIT_S: u64 = 300;

/// How sessions reach a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// TCP on the loopback interface.
    #[default]
    Tcp,
    /// A Unix socket.
    Unix,
}

impl Transport {
    /// The word used in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Unix => "unix",
        }
    }

    fn is_tcp(&self) -> bool {
        *self == Self::Tcp
    }
}

/// A server, as the system's folder describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Server {
    /// The user as whom sessions log in.
    pub user: String,
    /// The database that sessions use.
    pub database: String,
    /// Programs of the machine that it cannot do without.
    // What was written before there were any stays as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Commands that make a data folder, in this order.
    pub init: Vec<Vec<String>>,
    /// Files written before every start: path to text.
    pub files: BTreeMap<String, String>,
    /// Where it runs, unless in the folder for what it writes beside its data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The command that is the server.
    pub start: Vec<String>,
    /// What is added to it when sessions come over TCP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<String>,
    /// What is added to it when they come over a Unix socket.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unix: Vec<String>,
    /// The socket's path; none for a system that has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// How sessions reach it.
    #[serde(skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// What is added to it for each setting.
    pub setting: Vec<String>,
    /// Added to the environment.
    pub environment: BTreeMap<String, String>,
    /// The signal on which it ends cleanly.
    pub stop: String,
    /// Exit statuses of a clean end, besides 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_status: Vec<i32>,
    /// The signal on which it ends at once.
    pub abandon: Option<String>,
    /// Seconds that making the data folder and starting may take, each.
    pub start_limit_s: u64,
    /// Seconds that a clean end may take.
    pub stop_limit_s: u64,
    /// Commands that make a data folder and the one that is the server, for the
    /// user's own programs.
    #[serde(skip)]
    pub own: Option<(Vec<Vec<String>>, Vec<String>)>,
}

/// The values as they are written.
pub(super) fn plain(table: &BTreeMap<String, Scalar>) -> BTreeMap<String, String> {
    table.iter().map(|(name, Scalar(value))| (name.clone(), value.clone())).collect()
}

/// Checks and turns over the table.
pub(crate) fn server(definition: &Definition, text: &TomlText) -> Result<Option<Server>, CatalogueError> {
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
    Ok(Some(Server {
        user: written.user.clone(),
        database: written.database.clone(),
        needs: written.needs.clone(),
        init: written.init.clone(),
        files: written.files.clone(),
        folder: written.folder.clone(),
        start: written.start.clone(),
        tcp: written.tcp.clone(),
        unix: written.unix.clone(),
        socket: written.socket.clone(),
        transport: Transport::default(),
        setting: written.setting.clone(),
        environment: plain(&written.environment),
        stop: written.stop.clone(),
        stop_status: written.stop_status.clone(),
        abandon: written.abandon.clone(),
        start_limit_s: written.start_limit_s.unwrap_or(START_LIMIT_S),
        stop_limit_s: written.stop_limit_s.unwrap_or(STOP_LIMIT_S),
        own: written.own.clone().map(|own| (own.init, own.start)),
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
            let message = format!("unknown signal `{name}`: expected INT, TERM or QUIT{near}");
            return Err(error(&[key], message));
        }
    }
    if written.start.is_empty() {
        return Err(error(&["start"], "is empty: it is the command that is the server".to_owned()));
    }
    let mut programs = common(definition.artifacts.iter().map(roles));
    for (index, need) in written.needs.iter().enumerate() {
        let error = |key: &str, message: String| error(&["need", &index.to_string(), key], message);
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
    let look = |key: &[&str], part: &str, fixed: &[&str]| {
        unknown(part, fixed, &programs).map_or(Ok(()), |message| Err(error(key, message)))
    };
    let own = written.own.iter().flat_map(|own| &own.init).enumerate();
    let all = written.init.iter().enumerate().map(|one| (&[][..], one));
    for (keys, (index, command)) in all.chain(own.map(|one| (&["own"][..], one))) {
        let index = index.to_string();
        let key: Vec<&str> = keys.iter().copied().chain(["init", &index]).collect();
        if command.is_empty() {
            return Err(error(&key, "is an empty command".to_owned()));
        }
        for part in command {
            look(&key, part, &OF_INIT)?;
        }
    }
    for part in written.own.iter().flat_map(|own| &own.start) {
        look(&["own", "start"], part, &OF_START)?;
    }
    if let Some(folder) = &written.folder {
        look(&["folder"], folder, &OF_ENVIRONMENT)?;
    }
    for (key, parts) in [("start", &written.start), ("tcp", &written.tcp), ("unix", &written.unix)] {
        for part in parts {
            look(&[key], part, &OF_START)?;
        }
    }
    match &written.socket {
        Some(socket) => look(&["socket"], socket, &OF_SOCKET)?,
        None if !written.unix.is_empty() => {
            return Err(error(
                &["unix"],
                "needs `socket`: the path on which the server then listens".to_owned(),
            ));
        }
        None => {}
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

/// Names that are in all of these.
fn common<'a>(all: impl Iterator<Item = BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    all.reduce(|before, names| before.intersection(&names).copied().collect()).unwrap_or_default()
}

/// The names of an artifact's files. Sources may name theirs differently; a name
/// must be in all of them.
fn roles(artifact: &ArtifactDefinition) -> BTreeSet<&str> {
    let files = artifact.sources.iter().map(|source| source.files.as_ref().unwrap_or(&artifact.files));
    common(files.map(|files| files.keys().map(String::as_str).collect()))
}

/// What is wrong with the placeholders of a text, which may be these.
fn unknown(text: &str, fixed: &[&str], programs: &BTreeSet<&str>) -> Option<String> {
    let names = match template::placeholders(text) {
        Ok(names) => names,
        Err(problem) => return Some(problem.to_string()),
    };
    let (_, name) = names.into_iter().find(|(_, name)| !fixed.contains(name) && !programs.contains(name))?;
    let near = did_you_mean(name, fixed.iter().chain(programs).copied());
    Some(format!("`{{{{{name}}}}}` has no value here{near}"))
}
