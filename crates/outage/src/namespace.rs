//! A mount namespace of the program's own, which ends with its last process.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::error::{OutageError, Result, failed};
use crate::tools::UNSHARE;

/// In the environment of a program that was started again: its process id, and the namespace it came from.
const ORIGIN: &str = "JSONATHLON_OUTAGE_ORIGIN";
const OWN: &str = "/proc/self/ns/mnt";
/// What is unmounted outside disappears inside too, so that the program keeps nobody's disk busy; the other way
/// nothing travels.
const ALONE: [&str; 3] = ["--mount", "--propagation=slave", "--"];

/// Puts this program into a mount namespace of its own, in which a [`Disk`](crate::Disk) may be made. It starts the
/// program again in place of itself, with the same process id, arguments, environment and open streams, so it
/// must be called before anything else is begun, and it returns without doing anything when it is called in the program
/// that was started so.
///
/// # Errors
/// [`OutageError::Unavailable`] where this user may not have a namespace.
pub fn enter() -> Result<()> {
    if is_entered()? {
        return Ok(());
    }
    check()?;
    let program = std::env::current_exe().map_err(|error| OutageError::failed("find this program", error))?;
    let error = Command::new(UNSHARE.find()?)
        .args(ALONE)
        .arg(&program)
        .args(std::env::args_os().skip(1))
        .env(ORIGIN, format!("{} {}", std::process::id(), own()?))
        .exec();
    Err(failed("start again", &program)(error))
}

/// Whether this user may have a namespace; root may not everywhere.
pub(crate) fn check() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Err(OutageError::unavailable("only root may mount a disk", "start as root"));
    }
    let arguments: Vec<&str> = ALONE.into_iter().chain(["true"]).collect();
    UNSHARE.run("leave the mounts of others", &arguments, None).map_err(|error| {
        OutageError::unavailable(
            error.to_string(),
            "root may not mount here; a container needs the capability CAP_SYS_ADMIN for it",
        )
    })
}

/// Whether this process was started by [`enter`].
pub(crate) fn is_entered() -> Result<bool> {
    // The process that came from there is this one; what it starts inherits the variable.
    let origin = std::env::var(ORIGIN).unwrap_or_default();
    let Some(namespace) = origin.strip_prefix(&format!("{} ", std::process::id())) else { return Ok(false) };
    if namespace == own()? {
        return Err(OutageError::failed("leave the mounts of others", "unshare changed nothing"));
    }
    Ok(true)
}

fn own() -> Result<String> {
    let link = std::fs::read_link(OWN).map_err(failed("read", Path::new(OWN)))?;
    Ok(link.display().to_string())
}
