//! Checks, before a run begins, whether servers can be started on this machine at all.

use std::io;
use std::path::Path;

use jsonathlon_schema::transport::Transport;
use rustix::fs::{StatVfsMountFlags, statvfs};

use crate::error::{Result, ServerError};
use crate::folder::ServerFolder;
use crate::port::loopback;
use crate::user::server_user;

/// Checks that servers with data folders below `folder`, which must exist, can be started and reached.
///
/// # Errors
/// If the server's user cannot enter the folder, or loopback connections fail for a TCP `transport`; the
/// message says what to do.
pub fn check_machine(folder: &Path, transport: Transport) -> Result<()> {
    ServerFolder::new(folder, server_user())?;
    match transport {
        Transport::Tcp | Transport::Tls => loopback(),
        Transport::Unix => Ok(()),
    }
}

/// Describes the obstacle if `path` is on a file system mounted `noexec`, where neither programs nor
/// libraries can be used; otherwise `None`.
///
/// # Errors
/// If the file system cannot be examined.
pub fn forbids_programs(path: &Path) -> io::Result<Option<String>> {
    let forbids = statvfs(path)?.f_flag.contains(StatVfsMountFlags::NOEXEC);
    Ok(forbids.then(|| {
        format!(
            "{} is on a file system that is mounted `noexec`: no program there can be run, nor a library be used",
            path.display()
        )
    }))
}

impl ServerError {
    /// Remedy for a program that could not be run because of its file system; empty if the file system allows
    /// programs.
    pub(crate) fn mount_remedy(program: &Path) -> String {
        match forbids_programs(program) {
            Ok(Some(obstacle)) => format!("; {obstacle}: mount it otherwise, or have the program elsewhere"),
            _ => String::new(),
        }
    }
}
