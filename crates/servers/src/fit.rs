//! What keeps servers from being started here at all, found out before anything is begun.

use std::io;
use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};

use crate::error::{Result, ServerError};
use crate::folder::Folder;
use crate::port::loopback;
use crate::recipe::Transport;
use crate::user::server_user;

/// Proves that servers whose folders lie in `folder`, which is there, can be started and reached.
///
/// # Errors
/// Their user may not enter the folder, or nobody can be reached over `transport`; the words say what to do.
pub fn fit(folder: &Path, transport: Transport) -> Result<()> {
    Folder::new(folder, server_user())?;
    match transport {
        Transport::Tcp | Transport::Tls => loopback(),
        Transport::Unix => Ok(()),
    }
}

/// What to say of a file system on which no program may be run, nor a library be used.
///
/// # Errors
/// It cannot be asked.
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
    /// What a program's file system says of it where it could not be run.
    pub(crate) fn of_program(program: &Path) -> String {
        match forbids_programs(program) {
            Ok(Some(words)) => format!("; {words}: mount it otherwise, or have the program elsewhere"),
            _ => String::new(),
        }
    }
}
