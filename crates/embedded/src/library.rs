//! Loads the shared library of an embedded engine.
#![expect(unsafe_code, reason = "loading a library runs its initialisers, and symbols carry no types")]

use std::path::{Path, PathBuf};

use jsonathlon_driver_api::driver::{DriverError, Result, SessionOptions};
use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

/// Library of an engine. It is never unloaded, because DuckDB and chDB leave threads behind that run its
/// code, and the process ends soon after its session anyway.
pub(crate) struct SharedLibrary {
    library: std::mem::ManuallyDrop<Library>,
    path: PathBuf,
}

impl SharedLibrary {
    /// Loads the library at the path in `options`.
    pub(crate) fn open(options: &SessionOptions) -> Result<Self> {
        let path = options.library.as_deref().ok_or_else(|| {
            DriverError::Unavailable(format!("protocol `{}` needs the path of a library", options.protocol))
        })?;
        Self::load(path)
    }

    fn load(path: &Path) -> Result<Self> {
        // RTLD_LOCAL: the libraries contain their own copies of common C++ symbols and must not see each
        // other's. RTLD_LAZY: only few functions of half a gigabyte of code are called, so few symbols need
        // resolving.
        // SAFETY: the initialisers are those of the engine whose path the caller gave.
        let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL) };
        let library = library.map_err(|error| {
            DriverError::Unavailable(format!("failed to load {}: {error}", path.display()))
        })?;
        Ok(Self { library: std::mem::ManuallyDrop::new(library), path: path.to_owned() })
    }

    /// Looks up the C function called `name`.
    ///
    /// # Safety
    /// `T` must be the type of that C function.
    pub(crate) unsafe fn function<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: the caller guarantees the type.
        let symbol = unsafe { self.library.get::<T>(name.as_bytes()) };
        symbol.map(|symbol| *symbol).map_err(|_| {
            DriverError::Unavailable(format!(
                "{} has no function `{name}`: is it this engine's library, and recent enough?",
                self.path.display()
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(library: Option<&str>) -> SessionOptions {
        SessionOptions {
            protocol: "duckdb".into(),
            library: library.map(PathBuf::from),
            ..SessionOptions::default()
        }
    }

    #[test]
    fn a_missing_path_and_a_missing_file_are_told_apart() {
        let Err(DriverError::Unavailable(text)) = SharedLibrary::open(&options(None)) else {
            panic!("loaded nothing")
        };
        assert!(text.contains("`duckdb` needs the path"), "{text}");
        let Err(DriverError::Unavailable(text)) = SharedLibrary::open(&options(Some("/nonexistent/lib.so")))
        else {
            panic!("loaded nothing")
        };
        assert!(text.contains("/nonexistent/lib.so"), "{text}");
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "not an object file").unwrap();
        let Err(DriverError::Unavailable(text)) = SharedLibrary::load(file.path()) else {
            panic!("loaded a text")
        };
        assert!(text.contains(file.path().to_str().unwrap()), "{text}");
    }
}
