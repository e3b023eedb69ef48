//! Data templates: initialised data folders that are kept for later sessions with the same initialisation.
//!
//! MySQL needs two to three seconds to initialise a data folder, a copy a few tenths of a second. A study
//! starts the same servers dozens of times, each in its own folder. A template contains only what the
//! commands of `init` created, before a server has run on it. A session with a copy thus starts like one that
//! ran `init`.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::syncfs;

use crate::copy::copy_all;
use crate::folder::ServerFolder;
use crate::guard::ZONE;
use crate::launch::LaunchSpec;

/// Path under which a template is kept, whether or not it exists yet.
pub(crate) struct DataTemplate {
    path: PathBuf,
}

impl DataTemplate {
    /// Selects the template for sessions with the same initialisation. `None` if the recipe has no `init`
    /// commands, or templates are disabled.
    pub(crate) fn for_launch(launch: &LaunchSpec, folder: &ServerFolder) -> Option<Self> {
        let recipe = &launch.recipe;
        let template_dir = launch.template_dir.as_ref().filter(|_| !recipe.init.is_empty())?;
        let mut hasher = DefaultHasher::new();
        // All values that the commands are filled with, except the paths they write to; the user who owns the
        // result; and the time zone, which some systems write into their data folder.
        (&recipe.init, &recipe.environment, &launch.programs, launch.cores, folder.user, ZONE)
            .hash(&mut hasher);
        Some(Self { path: template_dir.join(format!("{:016x}", hasher.finish())) })
    }

    /// Copies the template into `folder`; returns `false` if there is no template yet.
    pub(crate) fn copy_to(&self, folder: &ServerFolder) -> io::Result<bool> {
        if !self.path.exists() {
            return Ok(false);
        }
        for entry in ServerFolder::INITIALISED_ENTRIES {
            copy_all(&self.path.join(entry), &folder.root.join(entry))?;
        }
        // As after the commands themselves: nothing may be left to write while clients are at work.
        syncfs(File::open(&folder.root)?)?;
        Ok(true)
    }

    /// Saves the initialised `folder` as the template. On failure (disk full, cache not writable), or if
    /// another process is saving one, nothing is kept and the next session runs `init` itself.
    pub(crate) fn store(&self, folder: &ServerFolder) {
        let Ok(_lock) = self.lock() else { return };
        let part = self.path.with_extension("part");
        if self.store_through(&part, folder).is_err() {
            fs::remove_dir_all(&part).ok();
        }
    }

    /// Locks the folder of all templates, so that only one process at a time writes to it.
    fn lock(&self) -> io::Result<File> {
        let parent = self.path.parent().unwrap_or(&self.path);
        fs::create_dir_all(parent)?;
        let parent = File::open(parent)?;
        parent.try_lock()?;
        Ok(parent)
    }

    fn store_through(&self, part: &Path, folder: &ServerFolder) -> io::Result<()> {
        if self.path.exists() {
            return Ok(());
        }
        // Removes what a killed process left behind.
        match fs::remove_dir_all(part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(part)?,
        }
        for entry in ServerFolder::INITIALISED_ENTRIES {
            copy_all(&folder.root.join(entry), &part.join(entry))?;
        }
        syncfs(File::open(part)?)?;
        // Renamed to its final name only when it is complete.
        fs::rename(part, &self.path)
    }
}
