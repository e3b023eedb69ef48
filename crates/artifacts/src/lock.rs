//! Lock files, so that only one process at a time works on one version of one system.

use std::{
    fs::{self, File, TryLockError},
    path::Path,
    thread,
    time::Duration,
};

use crate::{InstallContext, InstallStep, error::ArtifactError};

/// Interval between attempts to take a lock: short compared with a download, long compared with a system
/// call.
const PAUSE: Duration = Duration::from_millis(50);

/// Lock on a file, released by the operating system when the holder ends for any reason. The file itself is
/// never removed, because then two processes could lock two files of the same name.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    pub(crate) fn take(path: &Path, context: &mut InstallContext<'_>) -> Result<Self, ArtifactError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(ArtifactError::cache(folder))?;
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(ArtifactError::cache(path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => {
                    context.report_progress(InstallStep::Waiting, 0, 0);
                    context.check_cancelled()?;
                    thread::sleep(PAUSE);
                }
                Err(TryLockError::Error(source)) => return Err(ArtifactError::cache(path)(source)),
            }
        }
    }
}
