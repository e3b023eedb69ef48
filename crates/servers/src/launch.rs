//! What is needed to start a server, and the endpoint at which sessions then reach it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::recipe::Recipe;

/// Options for starting a server, from its recipe and the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchSpec {
    /// Program that acts as the guard if called with [`GUARD`](crate::GUARD); usually this one.
    pub guard: PathBuf,
    /// Paths of the programs by the names that the recipe's commands use.
    pub programs: BTreeMap<String, PathBuf>,
    /// Folder in which the programs were unpacked. If the server's user cannot reach it, the programs are
    /// hard-linked beside `folder`, or copied if that is on another file system. `None` if there is no such
    /// folder.
    pub installed: Option<PathBuf>,
    /// Folder of the server's data and of its other files; created if missing. Its contents survive the
    /// server.
    pub folder: PathBuf,
    /// Folder of data templates, shared by sessions and runs with the same initialisation. If `None`, each
    /// session runs `init` itself.
    pub template_dir: Option<PathBuf>,
    /// Log file to which the server's output is appended.
    pub log: PathBuf,
    /// TCP port to listen on; any free one if `None`.
    pub port: Option<u16>,
    /// Settings passed to the start command, in the system's own names.
    pub settings: BTreeMap<String, String>,
    /// `cgroup.procs` file of the cgroup that the server's processes join. If `None`, they stay in the cgroup
    /// of the guard.
    pub group: Option<PathBuf>,
    /// Number of cores the server may use; 0 means all.
    pub cores: usize,
    /// The `[server]` section of the system's folder.
    pub recipe: Recipe,
}

/// Endpoint of a server, and the credentials of its sessions.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// IP address of the host, as text.
    pub host: String,
    /// TCP port of the server.
    pub port: u16,
    /// Path of the Unix socket, which is used instead of the port; `None` for TCP.
    pub socket: Option<PathBuf>,
    /// PEM file of the certificate to trust; `None` for unencrypted sessions.
    pub certificate: Option<PathBuf>,
    /// User name; empty if the server does not authenticate sessions.
    pub user: String,
    /// Database that sessions use; empty if the recipe names none.
    pub database: String,
    /// Password of the user, created with the data folder.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}
