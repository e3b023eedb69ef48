//! Looks up packages of a Debian suite with their dependencies.

use crate::{
    ArtifactStore, InstallContext, InstallProgress,
    cache::TemporaryFolder,
    client::{self, ClientLookup, FetchJob},
    closure::PackageClosure,
    error::ArtifactError,
    lock::Lock,
};

impl ArtifactStore {
    /// Looks up packages of a Debian suite with all their dependencies, as if no package were installed. Uses
    /// the user's own apt-get and mirror, and downloads only the indexes of the suite and its updates.
    ///
    /// # Errors
    /// [`ArtifactError::UnusableClient`] if apt-get or the Debian keyring is missing,
    /// [`ArtifactError::NoMirror`] if apt-get has no Debian mirror, [`ArtifactError::ClientFailed`] if apt-get
    /// fails, for example because it does not know the suite or a package, [`ArtifactError::Cancelled`] if
    /// `is_cancelled` returns `true`.
    pub fn packages(
        &self,
        suite: &str,
        names: &[String],
        progress: &mut dyn FnMut(InstallProgress),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<PackageClosure, ArtifactError> {
        let requested = names.join(" ");
        let program = apt_get(self.clients()).map_err(|problem| ArtifactError::UnusableClient {
            system: requested.clone(),
            version: format!("of {suite}"),
            problems: vec![problem],
        })?;
        let mut context = InstallContext { progress, is_cancelled };
        let _lock = Lock::take(&self.root().join("locks/packages.lock"), &mut context)?;
        let folder = TemporaryFolder::new(self.root().join("packages"))?;
        let job = FetchJob {
            program,
            clients: self.clients(),
            system: &requested,
            command: String::new(),
            folder: folder.path(),
            cache: self.root(),
            bytes: 0,
        };
        client::resolve_dependencies(suite, names, &job, &mut context)
    }
}

fn apt_get(clients: &ClientLookup) -> Result<std::path::PathBuf, String> {
    let message = "`apt-get`, which knows the packages, is not on the search path";
    let program = clients.find("apt-get").ok_or(message)?;
    if clients.debian_keyring.is_file() {
        Ok(program)
    } else {
        Err(format!(
            "{}, by which packages are verified, is not there: install it (`apt-get install debian-archive-keyring`)",
            clients.debian_keyring.display()
        ))
    }
}
