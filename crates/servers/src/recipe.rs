//! The recipe by which a server is initialised, started and stopped, as declared in its system's folder.

use std::collections::BTreeMap;
use std::fmt;

use jsonathlon_schema::transport::Transport;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use crate::error::{Result, ServerError};
use crate::required_program::RequiredProgram;

/// `[server]` section of a system's folder.
///
/// Placeholders in commands, files and environment: `{{data}}` is the server's data folder, `{{run}}` the
/// folder for its other files, `{{port}}` its TCP port on the loopback interface, `{{password}}` the password
/// of sessions. `{{password_file}}` is a file with the password that exists during `init`, `{{cores}}` the
/// number of cores. `{{certificate}}`, `{{key}}` and `{{certificate_and_key}}` are PEM files that exist for
/// TLS. Each name of the artifact's files and of `needs` is the path of that program.
///
/// The JSON form is part of a configuration's digest. Fields added later must be skipped if they are not set,
/// so that existing digests stay the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// User that sessions log in as; empty if the server does not authenticate sessions.
    #[serde(default)]
    pub user: String,
    /// Database that sessions use; empty if the folder names none.
    #[serde(default)]
    pub database: String,
    /// Programs of the machine that the server depends on.
    #[serde(default, rename(deserialize = "need"), skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<RequiredProgram>,
    /// Commands that initialise the data folder, run once per folder in this order.
    #[serde(default)]
    pub init: Vec<Vec<String>>,
    /// Files written before every start, as path and content.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Working directory of the server, for servers that look for their own files there; `{{run}}` if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Start command of the server, which must stay in the foreground.
    pub start: Vec<String>,
    /// Arguments added to `start` if sessions use TCP, with or without TLS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<String>,
    /// Arguments added to `start` and `tcp` for TLS; empty if the system does not support it. Not part of
    /// digests, because the transport of a run records its use.
    #[serde(default, skip_serializing)]
    pub tls: Vec<String>,
    /// Arguments added to `start` if sessions use a Unix socket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unix: Vec<String>,
    /// Path of the Unix socket; `None` if the system does not support one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// Transport chosen by the run; it cannot be set in the folder.
    #[serde(skip_deserializing, skip_serializing_if = "is_tcp")]
    pub transport: Transport,
    /// Arguments added to the start command for each setting, with `{{name}}` and `{{value}}`.
    #[serde(default)]
    pub setting: Vec<String>,
    /// Arguments added to the start command if it may use fewer cores than the machine has, with `{{cores}}`,
    /// for servers that detect the number of cores themselves. Not part of digests, because the run records
    /// its number of cores.
    #[serde(default, skip_serializing)]
    pub fewer_cores: Vec<String>,
    /// Variables added to the environment of every command.
    #[serde(default, deserialize_with = "texts")]
    pub environment: BTreeMap<String, String>,
    /// Name of the signal on which the server stops cleanly: `INT`, `TERM` or `QUIT`.
    pub stop: String,
    /// Exit statuses of a clean stop, besides 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop_status: Vec<i32>,
    /// Name of the signal on which the server ends at once, without saving, but also without leaving
    /// resources of the operating system behind. If it has no effect, or is `None`, the server is killed.
    #[serde(default)]
    pub abandon: Option<String>,
    /// Seconds that each command of `init` may take, and that the server may take to become ready. Default:
    /// 120.
    #[serde(default = "start_limit_s")]
    pub start_limit_s: u64,
    /// Seconds that a clean stop may take before the server is killed. Default: 300.
    #[serde(default = "stop_limit_s")]
    pub stop_limit_s: u64,
    /// Commands for user-supplied programs, needed if the artifact's commands refer to files other than
    /// programs.
    #[serde(default, rename = "own", skip_serializing)]
    pub external_commands: Option<ExternalBinaryCommands>,
}

/// Commands that replace those of a [`Recipe`] for user-supplied programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalBinaryCommands {
    /// Replaces the `init` commands of the recipe.
    #[serde(default)]
    pub init: Vec<Vec<String>>,
    /// Replaces the `start` command of the recipe.
    pub start: Vec<String>,
}

/// Digests are older than the choice of a transport, so that the default one is left out of them.
fn is_tcp(transport: &Transport) -> bool {
    *transport == Transport::Tcp
}

fn start_limit_s() -> u64 {
    120
}

fn stop_limit_s() -> u64 {
    300
}

impl Recipe {
    /// Parts of the start command before placeholders are replaced, without what settings and cores add.
    pub(crate) fn start_command(&self) -> impl Iterator<Item = &String> {
        let (transport_arguments, tls_arguments): (_, &[String]) = match self.transport {
            Transport::Tcp => (&self.tcp, &[]),
            Transport::Tls => (&self.tcp, &self.tls),
            Transport::Unix => (&self.unix, &[]),
        };
        self.start.iter().chain(transport_arguments).chain(tls_arguments)
    }

    /// Path of the socket, with placeholders; `None` if sessions use TCP.
    pub(crate) fn socket_template(&self) -> Option<&str> {
        match self.transport {
            Transport::Tcp | Transport::Tls => None,
            Transport::Unix => self.socket.as_deref(),
        }
    }
}

/// Text, number or boolean, read as text: settings and environment variables may be written as any of them,
/// but are passed on as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct ScalarVisitor;
        impl Visitor<'_> for ScalarVisitor {
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
        deserializer.deserialize_any(ScalarVisitor)
    }
}

fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    let table: BTreeMap<String, Scalar> = BTreeMap::deserialize(deserializer)?;
    Ok(table.into_iter().map(|(name, Scalar(value))| (name, value)).collect())
}

/// Replaces each `{{name}}` in `text` by its value.
///
/// # Errors
/// [`ServerError::Unsupported`] if a name has no value, or `{{` is not closed.
pub(crate) fn fill(text: &str, values: &BTreeMap<&str, String>) -> Result<String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find("{{") {
        let (before, after) = rest.split_at(position);
        filled.push_str(before);
        let name_and_rest = after.get(2..).and_then(|inner| inner.split_once("}}"));
        let Some((name, remaining)) = name_and_rest else {
            return Err(ServerError::Unsupported(format!("`{text}` has `{{{{` without its end")));
        };
        let value = values.get(name).ok_or_else(|| {
            ServerError::Unsupported(format!("`{{{{{name}}}}}` has no value in the server's `{text}`"))
        })?;
        filled.push_str(value);
        rest = remaining;
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
        for (text, expected) in [("{{prt}}", "{{prt}}"), ("{{port", "without its end")] {
            let error = fill(text, &values).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_a_folder_does_not_say_is_not_in_a_digest() {
        let minimal = r#"{"start": ["server"], "stop": "INT", "environment": {"N": 5, "ON": true}}"#;
        let recipe: Recipe = serde_json::from_str(minimal).unwrap();
        assert_eq!((recipe.start_limit_s, recipe.stop_limit_s), (120, 300));
        assert_eq!(
            serde_json::to_value(&recipe).unwrap(),
            serde_json::json!({
                "user": "", "database": "", "init": [], "files": {}, "start": ["server"], "setting": [],
                "environment": {"N": "5", "ON": "true"}, "stop": "INT", "abandon": null,
                "start_limit_s": 120, "stop_limit_s": 300
            })
        );
        for invalid in [r#"{"start": [], "stop": "INT", "transport": "unix"}"#, r#"{"stop": "INT"}"#] {
            assert!(serde_json::from_str::<Recipe>(invalid).is_err(), "{invalid}");
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
        assert_eq!(
            (command(&recipe), recipe.socket_template()),
            (vec!["server".into(), "--tcp".into()], None)
        );
        recipe.transport = Transport::Unix;
        assert_eq!(
            (command(&recipe), recipe.socket_template()),
            (vec!["server".into(), "--unix".into()], Some("{{run}}/s"))
        );
    }
}
