//! Archive formats, recognised by file name.

/// Format of a downloaded archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// A tar compressed by gzip: `.tar.gz` or `.tgz`.
    TarGz,
    /// A ZIP archive: `.zip`, `.jar` or `.whl`.
    Zip,
    /// A folder of `.deb` files, as apt-get downloads them.
    Debian,
    /// No archive: a single executable file, which a build has produced.
    Program,
}

impl Format {
    /// Returns the format that a file name indicates, in any letter case. `None` if the ending is unknown.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if ends(&[".tar.gz", ".tgz"]) {
            Some(Self::TarGz)
        } else if ends(&[".zip", ".jar", ".whl"]) {
            Some(Self::Zip)
        } else {
            None
        }
    }
}
