//! How archives are packed.

/// How an archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `.tgz`
    TarGz,
    /// `.zip`, `.jar`, `.whl`
    Zip,
    /// A folder of `.deb`s.
    Debian,
    /// No archive, but the one file itself.
    Program,
}

impl Format {
    /// The format that a name tells.
    pub(crate) fn of(name: &str) -> Option<Self> {
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
