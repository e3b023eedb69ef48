//! How a server is set up, started and stopped: what a system's folder says of it, and where its programs are.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::driver::{DriverError, Result};

/// A server to be started for a session.
///
/// In commands, files and the environment `{{data}}` is the folder of the server's data, `{{run}}` one for
/// what it writes beside them, `{{port}}` its TCP port on the loopback interface, `{{password}}` the
/// session's password, `{{password_file}}` a file that holds it while the data folder is being set up,
/// `{{cores}}` the number of cores, and every name of `programs` and of `needs` that program's path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Programs by the names that the commands use.
    pub programs: BTreeMap<String, PathBuf>,
    /// The folder in which the programs were unpacked. It is copied when an unprivileged server cannot get
    /// at it where it is.
    #[serde(default)]
    pub installed: Option<PathBuf>,
    /// Where the server's own log goes; it is appended to.
    pub log: PathBuf,
    /// The port to listen on; any free one unless set.
    #[serde(default)]
    pub port: Option<u16>,
    /// What the system's folder says.
    pub recipe: Recipe,
}

/// What a system's folder says of its server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The user as whom sessions log in.
    #[serde(default)]
    pub user: String,
    /// The database that sessions use.
    #[serde(default)]
    pub database: String,
    /// Programs of the machine that the server cannot do without.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Commands that make a data folder, run once for each, in this order.
    #[serde(default)]
    pub init: Vec<Vec<String>>,
    /// Files written before every start: path to text.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Where the server runs, for one that looks for its own parts there; `{{run}}` unless set.
    #[serde(default)]
    pub folder: Option<String>,
    /// The command that is the server; it stays in the foreground.
    pub start: Vec<String>,
    /// The Unix socket on which the server listens for sessions, with `{{data}}`, `{{run}}` and `{{port}}`; TCP on the
    /// loopback interface unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// What is added to the start command for each setting, with `{{name}}` and `{{value}}`.
    #[serde(default)]
    pub setting: Vec<String>,
    /// Added to the environment of every command.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The signal on which the server ends cleanly: `INT`, `TERM`, `QUIT`.
    pub stop: String,
    /// Exit statuses of a clean end, besides 0.
    #[serde(default)]
    pub stop_status: Vec<i32>,
    /// The signal on which it ends at once, without saving but without leaving anything in the operating
    /// system either. It is killed when this does not help, or when there is none.
    #[serde(default)]
    pub abandon: Option<String>,
    /// Seconds that setting up and starting may take, each.
    pub start_limit_s: u64,
    /// Seconds that a clean end may take.
    pub stop_limit_s: u64,
}

/// A program of the machine, found by the environment or on the search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The program's name, and that of its path in commands.
    pub name: String,
    /// Variables of the environment that may name a folder with the program in its `bin`.
    #[serde(default)]
    pub homes: Vec<String>,
    /// The lowest version that will do: the first number in what the program says to `-version`.
    pub at_least: u32,
    /// The highest.
    pub at_most: u32,
    /// What to do when there is none.
    pub remedy: String,
}

/// `text` with every `{{name}}` replaced by its value.
pub(super) fn fill(text: &str, values: &BTreeMap<&str, String>) -> Result<String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, after) = rest.split_at(at);
        filled.push_str(before);
        let name_and_rest = after.get(2..).and_then(|inside| inside.split_once("}}"));
        let Some((name, behind)) = name_and_rest else {
            return Err(DriverError::Unsupported(format!("`{text}` has `{{{{` without its end")));
        };
        let value = values.get(name).ok_or_else(|| {
            DriverError::Unsupported(format!("`{{{{{name}}}}}` has no value in the server's `{text}`"))
        })?;
        filled.push_str(value);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_once_and_unknown_ones_are_refused() {
        let values = BTreeMap::from([("port", "5".to_owned()), ("data", "{{port}}".to_owned())]);
        assert_eq!(fill("-p{{port}} {{data}}", &values).unwrap(), "-p5 {{port}}");
        assert_eq!(fill("plain", &values).unwrap(), "plain");
        for (text, words) in [("{{prt}}", "{{prt}}"), ("{{port", "without its end")] {
            let error = fill(text, &values).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
