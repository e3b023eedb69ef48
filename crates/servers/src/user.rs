//! The user that servers run as, and the folders that this user may not enter.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// User and group id of `nobody` (65534 on every Linux), who owns nothing: servers refuse to run as root, and
/// need not.
const NOBODY: (u32, u32) = (65534, 65534);

/// User and group id for servers: [`NOBODY`] if this program runs as root, else `None` for this program's
/// user.
pub(crate) fn server_user() -> Option<(u32, u32)> {
    rustix::process::geteuid().is_root().then_some(NOBODY)
}

/// The topmost folder on the path to `path` that `user` may not enter; `None` if all can be entered, or
/// `user` is `None`.
pub(crate) fn first_inaccessible_parent(path: &Path, user: Option<(u32, u32)>) -> Option<PathBuf> {
    let (uid, gid) = user?;
    let mut ancestors: Vec<&Path> = path.ancestors().collect();
    ancestors.reverse();
    ancestors
        .into_iter()
        .find(|folder| {
            fs::metadata(folder).is_ok_and(|metadata| {
                let mode = metadata.permissions().mode();
                let enter_bit = if metadata.uid() == uid {
                    0o100
                } else if metadata.gid() == gid {
                    0o010
                } else {
                    0o001
                };
                mode & enter_bit == 0
            })
        })
        .map(Path::to_path_buf)
}
