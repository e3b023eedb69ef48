//! Runs system programs for actions that have no system call.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{OutageError, Result};

/// Folders of administrators' programs, searched after `PATH` because few users' paths contain them.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Program of the operating system and the package that provides it.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    package: &'static str,
}

pub(crate) const MKFS: Tool = Tool { name: "mkfs.ext4", package: "e2fsprogs" };
pub(crate) const MOUNT: Tool = Tool { name: "mount", package: "util-linux (on Debian: mount)" };
pub(crate) const UNSHARE: Tool = Tool { name: "unshare", package: "util-linux" };

impl Tool {
    /// Finds the program in `PATH`, then in [`SYSTEM_FOLDERS`]; [`OutageError::Unavailable`] if it is in
    /// neither.
    pub(crate) fn find(&self) -> Result<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
        folders.find_map(|folder| Some(folder.join(self.name)).filter(|file| is_program(file))).ok_or_else(
            || {
                OutageError::unavailable(
                    format!("there is no {}", self.name),
                    format!("install {}", self.package),
                )
            },
        )
    }

    /// Runs the program to its end with `input` as standard input. If it fails, its standard error is the
    /// reason.
    pub(crate) fn run(&self, action: &str, arguments: &[&str], input: Option<&File>) -> Result<()> {
        let failed = |error: std::io::Error| OutageError::failed(action, format!("{}: {error}", self.name));
        let input = input.map(File::try_clone).transpose().map_err(failed)?;
        let output = Command::new(self.find()?)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::null())
            // A separate process group, so that Ctrl-C reaches only the coordinator, which then cleans up in
            // order.
            .process_group(0)
            .output()
            .map_err(failed)?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let message: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let message = if message.is_empty() { output.status.to_string() } else { message.join("; ") };
        // Most tools begin their message with their own name.
        let message = message.strip_prefix(&format!("{}: ", self.name)).unwrap_or(&message);
        Err(OutageError::failed(action, format!("{}: {message}", self.name)))
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_there_says_what_to_install() {
        let tool = Tool { name: "mkfs.nothing", package: "nothing" };
        let error = tool.run("make a file system", &[], None).unwrap_err().to_string();
        assert!(error.contains("there is no mkfs.nothing: install nothing"), "{error}");
    }

    #[test]
    fn a_tool_that_fails_is_quoted() {
        let tool = Tool { name: "sh", package: "" };
        let script = "echo said; echo 'sh: one' >&2; echo two >&2; exit 3";
        let error = tool.run("do it", &["-c", script], None).unwrap_err().to_string();
        assert_eq!(error, "failed to do it: sh: one; two");
        let error = tool.run("do it", &["-c", "exit 3"], None).unwrap_err().to_string();
        assert_eq!(error, "failed to do it: sh: exit status: 3");
        tool.run("do it", &["-c", "test -f /proc/self/fd/0"], Some(&tempfile::tempfile().unwrap())).unwrap();
    }
}
