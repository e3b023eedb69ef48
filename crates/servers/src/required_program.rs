//! Programs of the machine that a server depends on, such as a language runtime.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::error::{Result, ServerError};
use crate::user::{first_inaccessible_parent, server_user};

/// A program of the machine without which a server does not run, searched in environment variables and on
/// the search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequiredProgram {
    /// Name of the program; commands refer to its path by this name.
    pub name: String,
    /// Environment variables that may contain a folder with the program in its `bin`; searched before the
    /// search path.
    #[serde(default)]
    pub homes: Vec<String>,
    /// Lowest accepted version, compared with the first number in the output of `-version`.
    pub at_least: u32,
    /// Highest accepted version, inclusive.
    pub at_most: u32,
    /// Text that tells users how to get the program; not part of any digest.
    #[serde(skip_serializing)]
    pub remedy: String,
}

impl RequiredProgram {
    /// Finds the first suitable program: in the environment variables, then on the search path. The server's
    /// user must be able to reach it.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`] if this machine has none; the message says what was found and what to do.
    pub fn find(&self) -> Result<PathBuf> {
        choose(self, &candidates(self, |name| std::env::var_os(name)), server_user())
    }
}

fn candidates(required: &RequiredProgram, variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let homes =
        required.homes.iter().filter_map(|name| variable(name)).map(|home| PathBuf::from(home).join("bin"));
    let path = variable("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = homes.chain(std::env::split_paths(&path)).collect();
    folders.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(&required.name)).collect()
}

fn choose(required: &RequiredProgram, candidates: &[PathBuf], user: Option<(u32, u32)>) -> Result<PathBuf> {
    let accepted = required.at_least..=required.at_most;
    let mut unusable: Vec<String> = Vec::new();
    for candidate in candidates {
        // Links are resolved, because runtimes look for their own files relative to their real path.
        let Ok(path) = candidate.canonicalize() else { continue };
        let is_executable = path
            .metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0);
        if !is_executable {
            continue;
        }
        let problem = match (first_inaccessible_parent(&path, user), version(&path)) {
            (Some(folder), _) => format!("lies where the server's user may not enter ({})", folder.display()),
            (None, None) => "does not say its version".to_owned(),
            (None, Some(version)) if accepted.contains(&version) => return Ok(path),
            (None, Some(version)) => format!("is version {version}"),
        };
        let text = format!("{} {problem}", path.display());
        if !unusable.contains(&text) {
            unusable.push(text);
        }
    }
    let summary = if unusable.is_empty() { "none was found".to_owned() } else { unusable.join("; ") };
    Err(ServerError::Unavailable(format!(
        "the server needs `{}` of version {} to {}, and {summary}: {}",
        required.name, required.at_least, required.at_most, required.remedy
    )))
}

fn version(program: &Path) -> Option<u32> {
    // Without the environment, because some runtimes print options from it first, which may contain numbers.
    let output = Command::new(program).arg("-version").env_clear().stdin(Stdio::null()).output().ok()?;
    let printed = [output.stderr, output.stdout].concat();
    let digits: String = String::from_utf8_lossy(&printed)
        .chars()
        .skip_while(|letter| !letter.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required() -> RequiredProgram {
        RequiredProgram {
            name: "engine".into(),
            homes: vec!["ENGINE_HOME".into()],
            at_least: 17,
            at_most: 25,
            remedy: "install engine 17".into(),
        }
    }

    fn program(folder: &Path, output: &str) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join("engine");
        std::fs::write(&path, format!("#!/bin/sh\necho '{output}' >&2\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_environment_comes_before_the_search_path() {
        let variable = |name: &str| match name {
            "ENGINE_HOME" => Some("/home".into()),
            "PATH" => Some("/one:relative:/two".into()),
            _ => None,
        };
        let expected = ["/home/bin/engine", "/one/engine", "/two/engine"].map(PathBuf::from);
        assert_eq!(candidates(&required(), variable), expected);
    }

    #[test]
    fn the_first_of_a_fitting_version_is_taken_and_the_lack_of_one_explained() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let old = program(&root.join("old"), "engine version \"1.8.0\"");
        let mute = program(&root.join("mute"), "hello");
        let good = program(&root.join("good"), "openengine version \"21.0.2\" 2024");
        let missing = root.join("missing/engine");
        let all = [missing.clone(), old.clone(), mute, good.clone()];
        assert_eq!(choose(&required(), &all, None).unwrap(), good);
        let error = choose(&required(), &all[..3], None).unwrap_err().to_string();
        assert!(error.contains("17 to 25") && error.contains("is version 1;"), "{error}");
        assert!(error.contains("does not say") && error.ends_with("install engine 17"), "{error}");
        let error = choose(&required(), &[missing], None).unwrap_err().to_string();
        assert!(error.contains("none was found: install engine 17"), "{error}");
    }
}
