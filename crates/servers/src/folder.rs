//! Contents of a session's folder if its system is a server.
//!
//! `data` and `run` belong to the user that the server runs as; all other files belong to this program's
//! user. Nothing outside of the folder is ever changed.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, lchown, symlink};
use std::path::{Path, PathBuf};

use crate::error::{Result, ServerError};
use crate::launch::LaunchSpec;
use crate::user::first_inaccessible_parent;

/// Lock file that the guard of the folder's server holds.
pub(crate) const LOCK: &str = "lock";
/// Marker file that exists while the data folder is being initialised.
const INITIALISING: &str = "initialising";
/// Marker file that exists once the data folder has been initialised.
const INITIALISED: &str = "initialised";
const PASSWORD: &str = "password";
const DATA: &str = "data";
const RUN: &str = "run";

/// A session's folder, and the user that its server runs as (`None`: this program's user).
#[derive(Debug, Clone)]
pub(crate) struct ServerFolder {
    pub(crate) root: PathBuf,
    pub(crate) user: Option<(u32, u32)>,
}

impl ServerFolder {
    /// Entries that exist when a data folder has been initialised and no server has run on it.
    pub(crate) const INITIALISED_ENTRIES: [&str; 3] = [DATA, RUN, PASSWORD];

    pub(crate) fn new(root: &Path, user: Option<(u32, u32)>) -> Result<Self> {
        fs::create_dir_all(root).map_err(folder_error("make the folder", root))?;
        let root = fs::canonicalize(root).map_err(folder_error("find", root))?;
        if let (Some((uid, _)), Some(inaccessible)) = (user, first_inaccessible_parent(&root, user)) {
            return Err(ServerError::Unavailable(format!(
                "a server does not run as root but as user {uid}, who may not enter {}: choose a folder for \
                 the run that everybody may enter (--out), or start as an ordinary user",
                inaccessible.display()
            )));
        }
        Ok(Self { root, user })
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.root.join(DATA)
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.root.join(RUN)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join(LOCK)
    }

    /// Copy of the password file for the `init` commands, which is deleted after them.
    pub(crate) fn password_file(&self) -> PathBuf {
        self.run().join(PASSWORD)
    }

    /// Returns `true` if the data folder must be initialised, and then removes what an interrupted attempt
    /// left. Data that this program did not create is an error.
    pub(crate) fn is_new(&self) -> Result<bool> {
        if self.root.join(INITIALISED).exists() {
            return Ok(false);
        }
        if self.root.join(INITIALISING).exists() {
            for folder in [self.data(), self.run()] {
                match fs::remove_dir_all(&folder) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(folder_error("remove", &folder)(error));
                    }
                    _ => {}
                }
            }
        } else if self.data().exists() {
            return Err(ServerError::Unavailable(format!(
                "{} was not made by this program, which leaves it alone: choose another folder",
                self.data().display()
            )));
        }
        Ok(true)
    }

    /// Marks the folder: all data in it from now on was created by this program.
    pub(crate) fn mark_initialising(&self) -> Result<()> {
        let marker = self.root.join(INITIALISING);
        File::create(&marker).map(drop).map_err(folder_error("write", &marker))
    }

    /// Creates the server's folders and the password of its sessions, which is returned.
    pub(crate) fn create(&self) -> Result<String> {
        for folder in [self.data(), self.run()] {
            fs::DirBuilder::new().mode(0o700).create(&folder).map_err(folder_error("make", &folder))?;
            self.change_owner(&folder)?;
        }
        let password = random_password().map_err(folder_error("read", Path::new("/dev/urandom")))?;
        for (path, is_for_server) in [(self.root.join(PASSWORD), false), (self.password_file(), true)] {
            write_private(&path, &password)?;
            if is_for_server {
                self.change_owner(&path)?;
            }
        }
        Ok(password)
    }

    /// Deletes the password copy of the server's user, because the `init` commands no longer need it.
    pub(crate) fn revoke_password_file(&self) -> Result<()> {
        let copy = self.password_file();
        fs::remove_file(&copy).map_err(folder_error("remove", &copy))
    }

    /// Marks the data folder as initialised.
    pub(crate) fn mark_initialised(&self) -> Result<()> {
        let marker = self.root.join(INITIALISED);
        fs::rename(self.root.join(INITIALISING), &marker).map_err(folder_error("write", &marker))
    }

    pub(crate) fn password(&self) -> Result<String> {
        let path = self.root.join(PASSWORD);
        fs::read_to_string(&path).map_err(folder_error("read", &path))
    }

    /// Writes a configuration file of the server, which must be inside `data` or `run`, and gives it to the
    /// server's user.
    pub(crate) fn write(&self, path: &Path, text: &str) -> Result<()> {
        // Resolves links, because the server may have replaced one of its folders by a link.
        let real = |path: &Path| path.canonicalize().map_err(folder_error("find", path));
        let parent = real(path.parent().unwrap_or(path))?;
        let is_inside = parent.starts_with(real(&self.data())?) || parent.starts_with(real(&self.run())?);
        if !is_inside {
            return Err(ServerError::Unsupported(format!(
                "a server's file lies in {{{{data}}}} or {{{{run}}}}, not at {}",
                path.display()
            )));
        }
        write_private(path, text)?;
        self.change_owner(path)
    }

    /// Path of the second name of the programs that the server's user can reach; sessions with the same
    /// programs share it.
    fn reachable_programs(&self, launch: &LaunchSpec) -> PathBuf {
        let name = launch.installed.as_deref().and_then(Path::file_name).unwrap_or_default();
        let parent = self.root.parent().unwrap_or(&self.root);
        parent.join(format!("programs-{}", name.to_string_lossy().replace('.', "_")))
    }

    fn change_owner(&self, path: &Path) -> Result<()> {
        match self.user {
            Some((uid, gid)) => {
                // Changes the owner of a link itself, because its target does not belong to the server.
                lchown(path, Some(uid), Some(gid)).map_err(folder_error("give to the server's user", path))
            }
            None => Ok(()),
        }
    }

    /// Paths of the programs that the server's user can reach. If that user cannot reach the original ones,
    /// they get second names beside this folder, which may only contain data to be measured.
    pub(crate) fn programs(&self, launch: &LaunchSpec) -> Result<BTreeMap<String, PathBuf>> {
        let inaccessible =
            launch.programs.values().find_map(|path| first_inaccessible_parent(path.parent()?, self.user));
        let Some(inaccessible) = inaccessible else { return Ok(launch.programs.clone()) };
        let reachable = self.reachable_programs(launch);
        let relative_path = |path: &PathBuf| {
            let installed = launch.installed.as_deref()?;
            Some(path.strip_prefix(installed).ok()?.to_path_buf())
        };
        let mut programs = BTreeMap::new();
        for (name, path) in &launch.programs {
            let Some(relative_path) = relative_path(path) else {
                return Err(ServerError::Unavailable(format!(
                    "{} cannot be run by the server's user, who may not enter {}",
                    path.display(),
                    inaccessible.display()
                )));
            };
            programs.insert(name.clone(), reachable.join(relative_path));
        }
        if !reachable.exists()
            && let Some(installed) = launch.installed.as_deref()
        {
            // Renamed to its final name only when it is complete.
            let part = reachable.with_extension("part");
            fs::remove_dir_all(&part).ok();
            link_tree(installed, &part).map_err(folder_error("link the programs to", &part))?;
            fs::rename(&part, &reachable).map_err(folder_error("make", &reachable))?;
        }
        Ok(programs)
    }
}

pub(crate) fn folder_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ServerError {
    let path = path.to_owned();
    move |error| ServerError::Unavailable(format!("failed to {action} {}: {error}", path.display()))
}

fn write_private(path: &Path, text: &str) -> Result<()> {
    // Removed and created anew, because the server may have put a link there.
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(folder_error("write", path)(error));
        }
        _ => {}
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(folder_error("write", path))
}

fn random_password() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Recreates a tree with hard links to the same files, or with copies if it is on another file system.
fn link_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o755).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            link_tree(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::hard_link(entry.path(), &target).or_else(|_| fs::copy(entry.path(), &target).map(drop))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn folder() -> (tempfile::TempDir, ServerFolder) {
        let root = tempfile::tempdir().unwrap();
        let folder = ServerFolder::new(root.path(), None).unwrap();
        (root, folder)
    }

    #[test]
    fn a_folder_is_made_once_and_an_interrupted_attempt_is_begun_anew() {
        let (_root, folder) = folder();
        assert!(folder.is_new().unwrap());
        folder.mark_initialising().unwrap();
        let first = folder.create().unwrap();
        fs::write(folder.data().join("half"), "").unwrap();
        assert!(folder.is_new().unwrap());
        assert!(!folder.data().exists());
        folder.mark_initialising().unwrap();
        let password = folder.create().unwrap();
        assert_ne!(password, first);
        assert_eq!(folder.password().unwrap(), password);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.root.join(PASSWORD)), 0o600);
        assert_eq!(mode(&folder.data()), 0o700);
        folder.revoke_password_file().unwrap();
        folder.mark_initialised().unwrap();
        assert!(!folder.is_new().unwrap());
        assert!(!folder.password_file().exists());
    }

    #[test]
    fn data_that_somebody_else_made_is_left_alone() {
        let (_root, folder) = folder();
        fs::create_dir(folder.data()).unwrap();
        let error = folder.is_new().unwrap_err().to_string();
        assert!(error.contains("not made by this program"), "{error}");
    }

    #[test]
    fn files_are_written_into_the_servers_folders_only() {
        let (_root, folder) = folder();
        folder.create().unwrap();
        folder.write(&folder.run().join("a.conf"), "x").unwrap();
        for outside in [folder.root.join("a.conf"), folder.run().join("../a.conf"), "/tmp/a.conf".into()] {
            assert!(folder.write(&outside, "x").is_err(), "{}", outside.display());
        }
    }

    #[test]
    fn a_folder_that_the_servers_user_cannot_enter_is_found() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(first_inaccessible_parent(&inner, Some((1, 1))), Some(root.path().to_owned()));
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o711)).unwrap();
        assert_eq!(first_inaccessible_parent(&inner, Some((1, 1))), None);
        assert_eq!(first_inaccessible_parent(&inner, None), None);
    }

    #[test]
    fn programs_have_a_second_name_and_not_a_second_copy() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("installed"), root.path().join("reachable"));
        fs::create_dir_all(from.join("bin")).unwrap();
        fs::write(from.join("bin/server"), "program").unwrap();
        fs::set_permissions(from.join("bin/server"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("server", from.join("bin/other")).unwrap();
        link_tree(&from, &to).unwrap();
        let stat = |root: &Path| fs::metadata(root.join("bin/server")).unwrap();
        assert_eq!((stat(&from).ino(), stat(&from).mode()), (stat(&to).ino(), stat(&to).mode()));
        assert_eq!(fs::read_link(to.join("bin/other")).unwrap(), Path::new("server"));
        // Removing the tree removes the second name only.
        fs::remove_dir_all(&to).unwrap();
        assert_eq!(fs::read_to_string(from.join("bin/server")).unwrap(), "program");
    }
}
