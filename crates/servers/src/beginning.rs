//! What making a data folder gave, kept for the next sessions that begin in the same way.
//!
//! MySQL takes two or three seconds to make one that a copy gives in a few tenths, and a study starts the same servers
//! dozens of times, each in a folder of its own. Only what the commands of `init` made is kept, before a server has run
//! on it, so that a session with a copy begins as one that made its own.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::syncfs;

use crate::copy::copy_all;
use crate::folder::Folder;
use crate::guard::ZONE;
use crate::launch::Launch;

/// A made data folder that is kept, or will be.
pub(crate) struct Beginning {
    kept: PathBuf,
}

impl Beginning {
    /// That of sessions that begin like this one; none where nothing is made before the server starts, or nothing is to
    /// be kept.
    pub(crate) fn of(launch: &Launch, folder: &Folder) -> Option<Self> {
        let recipe = &launch.recipe;
        let kept = launch.beginnings.as_ref().filter(|_| !recipe.init.is_empty())?;
        let mut hasher = DefaultHasher::new();
        // All that the commands are filled with, but for where they write, and the user who owns what they make; and the
        // time zone, which some write into what they make.
        (&recipe.init, &recipe.environment, &launch.programs, launch.cores, folder.user, ZONE)
            .hash(&mut hasher);
        Some(Self { kept: kept.join(format!("{:016x}", hasher.finish())) })
    }

    /// Makes the folder by a copy; false where nothing is kept yet.
    pub(crate) fn copy_to(&self, folder: &Folder) -> io::Result<bool> {
        if !self.kept.exists() {
            return Ok(false);
        }
        for part in Folder::MADE {
            copy_all(&self.kept.join(part), &folder.root.join(part))?;
        }
        // As the commands themselves do: nothing is left to be written while clients are at work.
        syncfs(File::open(&folder.root)?)?;
        Ok(true)
    }

    /// Keeps what was made in the folder. Where that cannot be done (the disk is full, the cache cannot be written to), or
    /// another process is doing it, the next session makes its own.
    pub(crate) fn keep(&self, folder: &Folder) {
        let Ok(_lock) = self.lock() else { return };
        let part = self.kept.with_extension("part");
        if self.keep_by_way_of(&part, folder).is_err() {
            fs::remove_dir_all(&part).ok();
        }
    }

    /// One process at a time writes to the folder of all that is kept.
    fn lock(&self) -> io::Result<File> {
        let above = self.kept.parent().unwrap_or(&self.kept);
        fs::create_dir_all(above)?;
        let above = File::open(above)?;
        above.try_lock()?;
        Ok(above)
    }

    fn keep_by_way_of(&self, part: &Path, folder: &Folder) -> io::Result<()> {
        if self.kept.exists() {
            return Ok(());
        }
        // What a process left that was killed.
        match fs::remove_dir_all(part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(part)?,
        }
        for made in Folder::MADE {
            copy_all(&folder.root.join(made), &part.join(made))?;
        }
        syncfs(File::open(part)?)?;
        // Under its final name only when it is whole.
        fs::rename(part, &self.kept)
    }
}
