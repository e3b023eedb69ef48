//! How a server is made, started and stopped, as its system's folder says it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::error::{Result, ServerError};
use crate::need::Need;

/// How sessions reach a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// TCP on the loopback interface.
    #[default]
    Tcp,
    /// TCP on the loopback interface, encrypted.
    Tls,
    /// A Unix socket.
    Unix,
}

impl Transport {
    /// The word used in files and on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Unix => "unix",
        }
    }

    fn is_tcp(&self) -> bool {
        *self == Self::Tcp
    }
}

/// `[server]` of a system's folder.
///
/// In commands, files and the environment `{{data}}` is the folder of the server's data, `{{run}}` one for
/// what it writes beside them, `{{port}}` its TCP port on the loopback interface, `{{password}}` the
/// sessions' password, `{{password_file}}` a file that holds it while the data folder is being made,
/// `{{cores}}` the number of cores, `{{certificate}}`, `{{key}}` and `{{certificate_and_key}}` PEM files, which
/// are there where sessions encrypt, and every name of the artifact's files and of `needs` that program's path.
///
/// Written as JSON it is part of the digest of a configuration: what was added later is left out where a folder
/// does not have it, so that digests stay what they were.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The user as whom sessions log in; nobody where a server lets everybody in.
    #[serde(default)]
    pub user: String,
    /// The database that sessions use.
    #[serde(default)]
    pub database: String,
    /// Programs of the machine that the server cannot do without.
    #[serde(default, rename(deserialize = "need"), skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Commands that make a data folder, run once for each, in this order.
    #[serde(default)]
    pub init: Vec<Vec<String>>,
    /// Files written before every start: path to text.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Where the server runs, for one that looks for its own parts there; `{{run}}` unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The command that is the server; it stays in the foreground.
    pub start: Vec<String>,
    /// Added to it when sessions come over TCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<String>,
    /// Added to both when what comes over TCP is encrypted; none for a system that cannot, or is not told how. A run
    /// that encrypts keeps that as its transport.
    #[serde(default, skip_serializing)]
    pub tls: Vec<String>,
    /// Added to it when they come over a Unix socket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unix: Vec<String>,
    /// The path of that socket; none for a system that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// How sessions reach it, which is the run's choice.
    #[serde(skip_deserializing, skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// Added to the start command for each setting, with `{{name}}` and `{{value}}`.
    #[serde(default)]
    pub setting: Vec<String>,
    /// Added to the start command when it may use fewer cores than the machine has, with `{{cores}}`, for a
    /// server that looks for itself how many there are. How many it may use is the run's setting and is kept
    /// there.
    #[serde(default, skip_serializing)]
    pub fewer_cores: Vec<String>,
    /// Added to the environment of every command.
    #[serde(default, deserialize_with = "texts")]
    pub environment: BTreeMap<String, String>,
    /// The signal on which the server ends cleanly: `INT`, `TERM`, `QUIT`.
    pub stop: String,
    /// Exit statuses of a clean end, besides 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_status: Vec<i32>,
    /// The signal on which it ends at once, without saving but without leaving anything in the operating
    /// system either. It is killed when this does not help, or when there is none.
    #[serde(default)]
    pub abandon: Option<String>,
    /// Seconds that making the data folder and starting may take, each.
    #[serde(default = "start_limit_s")]
    pub start_limit_s: u64,
    /// Seconds that a clean end may take.
    #[serde(default = "stop_limit_s")]
    pub stop_limit_s: u64,
    /// The commands for the user's own programs, where those of the artifact name more than programs.
    #[serde(default, skip_serializing)]
    pub own: Option<OwnCommands>,
}

/// Commands for the user's own programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnCommands {
    /// Instead of the recipe's `init`.
    #[serde(default)]
    pub init: Vec<Vec<String>>,
    /// Instead of its `start`.
    pub start: Vec<String>,
}

fn start_limit_s() -> u64 {
    120
}

fn stop_limit_s() -> u64 {
    300
}

impl Recipe {
    /// The start command before its placeholders are replaced, without what the run's settings add.
    pub(crate) fn start_command(&self) -> impl Iterator<Item = &String> {
        let (over, encrypted): (_, &[String]) = match self.transport {
            Transport::Tcp => (&self.tcp, &[]),
            Transport::Tls => (&self.tcp, &self.tls),
            Transport::Unix => (&self.unix, &[]),
        };
        self.start.iter().chain(over).chain(encrypted)
    }

    /// Where sessions find the socket, when they come over one.
    pub(crate) fn listens_at(&self) -> Option<&str> {
        match self.transport {
            Transport::Tcp | Transport::Tls => None,
            Transport::Unix => self.socket.as_deref(),
        }
    }
}

/// A text, or a number or truth value taken as one: settings and variables are all three, and are handed over as
/// text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Plain;
        impl Visitor<'_> for Plain {
            type Value = Scalar;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string, a number or a boolean")
            }
            fn visit_str<E>(self, value: &str) -> std::result::Result<Scalar, E> {
                Ok(Scalar(value.to_owned()))
            }
            fn visit_bool<E>(self, value: bool) -> std::result::Result<Scalar, E> {
                Ok(Scalar(value.to_string()))
            }
            fn visit_i64<E>(self, value: i64) -> std::result::Result<Scalar, E> {
                Ok(Scalar(value.to_string()))
            }
            fn visit_u64<E>(self, value: u64) -> std::result::Result<Scalar, E> {
                Ok(Scalar(value.to_string()))
            }
            fn visit_f64<E>(self, value: f64) -> std::result::Result<Scalar, E> {
                Ok(Scalar(value.to_string()))
            }
        }
        deserializer.deserialize_any(Plain)
    }
}

fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    let table: BTreeMap<String, Scalar> = BTreeMap::deserialize(deserializer)?;
    Ok(table.into_iter().map(|(name, Scalar(value))| (name, value)).collect())
}

/// `text` with every `{{name}}` replaced by its value.
pub(crate) fn fill(text: &str, values: &BTreeMap<&str, String>) -> Result<String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let (before, after) = rest.split_at(at);
        filled.push_str(before);
        let name_and_rest = after.get(2..).and_then(|inside| inside.split_once("}}"));
        let Some((name, behind)) = name_and_rest else {
            return Err(ServerError::Unsupported(format!("`{text}` has `{{{{` without its end")));
        };
        let value = values.get(name).ok_or_else(|| {
            ServerError::Unsupported(format!("`{{{{{name}}}}}` has no value in the server's `{text}`"))
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

    #[test]
    fn what_a_folder_does_not_say_is_not_in_a_digest() {
        let least = r#"{"start": ["server"], "stop": "INT", "environment": {"N": 5, "ON": true}}"#;
        let recipe: Recipe = serde_json::from_str(least).unwrap();
        assert_eq!((recipe.start_limit_s, recipe.stop_limit_s), (120, 300));
        assert_eq!(
            serde_json::to_value(&recipe).unwrap(),
            serde_json::json!({
                "user": "", "database": "", "init": [], "files": {}, "start": ["server"], "setting": [],
                "environment": {"N": "5", "ON": "true"}, "stop": "INT", "abandon": null,
                "start_limit_s": 120, "stop_limit_s": 300
            })
        );
        for wrong in [r#"{"start": [], "stop": "INT", "transport": "unix"}"#, r#"{"stop": "INT"}"#] {
            assert!(serde_json::from_str::<Recipe>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sessions_come_over_what_the_run_has_chosen() {
        let mut recipe = Recipe {
            start: vec!["server".into()],
            tcp: vec!["--tcp".into()],
            unix: vec!["--unix".into()],
            socket: Some("{{run}}/s".into()),
            ..Recipe::default()
        };
        let command = |recipe: &Recipe| recipe.start_command().cloned().collect::<Vec<_>>();
        assert_eq!((command(&recipe), recipe.listens_at()), (vec!["server".into(), "--tcp".into()], None));
        recipe.transport = Transport::Unix;
        assert_eq!(
            (command(&recipe), recipe.listens_at()),
            (vec!["server".into(), "--unix".into()], Some("{{run}}/s"))
        );
    }
}
