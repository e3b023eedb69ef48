//! What is started, and where sessions reach it then.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::recipe::Recipe;

/// A server to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// The program that is the guard when it is given [`GUARD`](crate::GUARD): this one, usually.
    pub guard: PathBuf,
    /// Programs by the names that the recipe's commands use.
    pub programs: BTreeMap<String, PathBuf>,
    /// The folder in which the programs were unpacked. An unprivileged server that cannot get at it where it is finds its
    /// files beside its own folder: linked, or copied where that is on another file system.
    pub installed: Option<PathBuf>,
    /// The folder of the server's data and of what it writes beside them; made when it is not there. What is in
    /// it survives the server.
    pub folder: PathBuf,
    /// Where made data folders are kept for the next sessions that begin in the same way, in this run or another; each
    /// session makes its own unless set.
    pub beginnings: Option<PathBuf>,
    /// Where the server's own log goes; it is appended to.
    pub log: PathBuf,
    /// The port to listen on; any free one unless set.
    pub port: Option<u16>,
    /// Settings of the start, in the system's own names.
    pub settings: BTreeMap<String, String>,
    /// The file that moves processes into a control group when their numbers are written to it; the server's are in none of
    /// their own unless set.
    pub group: Option<PathBuf>,
    /// Cores the server may use; 0 is all that there are.
    pub cores: usize,
    /// What the system's folder says.
    pub recipe: Recipe,
}

/// Where sessions reach a server, and as whom they log in.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The host, by its IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// Instead of the port, where sessions come over a Unix socket.
    pub socket: Option<PathBuf>,
    /// The certificate to believe, a PEM file, where sessions encrypt.
    pub certificate: Option<PathBuf>,
    /// The user; nobody where the server lets everybody in.
    pub user: String,
    /// The database that sessions use.
    pub database: String,
    /// The user's password.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}
