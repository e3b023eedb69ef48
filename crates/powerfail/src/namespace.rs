//! Moves the program into its own mount namespace, which ends with its last process.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::error::{OutageError, Result, failed};
use crate::tools::UNSHARE;

/// Environment variable of the restarted program: its process id and the mount namespace that it left.
const ORIGIN: &str = "JSONATHLON_OUTAGE_ORIGIN";
const NAMESPACE_LINK: &str = "/proc/self/ns/mnt";
/// Arguments of `unshare`. Unmounts outside propagate into the namespace, so that the program keeps no other
/// disk busy; nothing propagates outwards.
const UNSHARE_ARGUMENTS: [&str; 3] = ["--mount", "--propagation=slave", "--"];

/// Moves this program into its own mount namespace, in which a [`Disk`](crate::Disk) may be created. It
/// replaces the process by a new start of the program with the same process id, arguments, environment and
/// open streams. It must therefore be called before any other work. In the restarted program it returns
/// without doing anything.
///
/// The namespace disappears with its last process, however that ended. The mount goes with it, then the loop
/// device (by `autoclear`), then the unnamed image. The kernel does all of this, so no process has to stay
/// alive for it. Every process started after `enter` sees the disk, as any user; other processes of the
/// machine do not. A killed program may leave an empty folder where the disk was mounted.
///
/// # Errors
/// [`OutageError::Unavailable`] if this user may not create a mount namespace or `unshare` is not installed.
/// [`OutageError::Failed`] if the program cannot be restarted.
pub fn enter() -> Result<()> {
    if is_entered()? {
        return Ok(());
    }
    check()?;
    let program = std::env::current_exe().map_err(|error| OutageError::failed("find this program", error))?;
    let error = Command::new(UNSHARE.find()?)
        .args(UNSHARE_ARGUMENTS)
        .arg(&program)
        .args(std::env::args_os().skip(1))
        .env(ORIGIN, format!("{} {}", std::process::id(), current_namespace()?))
        .exec();
    Err(failed("start again", &program)(error))
}

/// Checks that this user may create a mount namespace; some containers deny it even to root.
pub(crate) fn check() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Err(OutageError::unavailable("only root may mount a disk", "start as root"));
    }
    let arguments: Vec<&str> = UNSHARE_ARGUMENTS.into_iter().chain(["true"]).collect();
    UNSHARE.run("leave the mounts of others", &arguments, None).map_err(|error| {
        OutageError::unavailable(
            error.to_string(),
            "root may not mount here; a container needs the capability CAP_SYS_ADMIN for it",
        )
    })
}

/// Returns `true` if [`enter`] started this process itself, `false` for its children.
pub(crate) fn is_entered() -> Result<bool> {
    // Child processes inherit the variable, but their process id differs.
    let origin = std::env::var(ORIGIN).unwrap_or_default();
    let Some(namespace) = origin.strip_prefix(&format!("{} ", std::process::id())) else { return Ok(false) };
    if namespace == current_namespace()? {
        return Err(OutageError::failed("leave the mounts of others", "unshare changed nothing"));
    }
    Ok(true)
}

fn current_namespace() -> Result<String> {
    let link = std::fs::read_link(NAMESPACE_LINK).map_err(failed("read", Path::new(NAMESPACE_LINK)))?;
    Ok(link.display().to_string())
}
