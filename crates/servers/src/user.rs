//! As whom a server runs, and what that user may not see.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A user that owns nothing (`nobody`, 65534 on every Linux): servers refuse to run as root, and need not.
const NOBODY: (u32, u32) = (65534, 65534);

/// As whom a server runs, unless as the user of this program.
pub(crate) fn server_user() -> Option<(u32, u32)> {
    rustix::process::geteuid().is_root().then_some(NOBODY)
}

/// The first folder on the way to `path` that `user` may not enter.
pub(crate) fn closed(path: &Path, user: Option<(u32, u32)>) -> Option<PathBuf> {
    let (uid, gid) = user?;
    let mut way: Vec<&Path> = path.ancestors().collect();
    way.reverse();
    way.into_iter()
        .find(|folder| {
            fs::metadata(folder).is_ok_and(|facts| {
                let mode = facts.permissions().mode();
                let enter = if facts.uid() == uid {
                    0o100
                } else if facts.gid() == gid {
                    0o010
                } else {
                    0o001
                };
                mode & enter == 0
            })
        })
        .map(Path::to_path_buf)
}
