//! SHA-256 of files.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, Read},
    path::Path,
};

use sha2::{Digest, Sha256};

use crate::{InstallContext, InstallStep, error::ArtifactError};

/// Bytes read at a time; large enough that the cancellation check after each block costs nothing.
pub(crate) const BLOCK_BYTES: usize = 1 << 20;

/// SHA-256 computation that is fed block by block.
#[derive(Debug, Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest in lower-case hexadecimal.
    pub(crate) fn finish(self) -> String {
        self.0.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// Returns the SHA-256 of a file and its size in bytes. Reports progress as [`InstallStep::Verifying`],
/// starting at `done` of `total` bytes.
pub(crate) fn file_digest(
    path: &Path,
    done: u64,
    total: u64,
    context: &mut InstallContext<'_>,
) -> Result<(String, u64), ArtifactError> {
    let mut file = File::open(path).map_err(ArtifactError::cache(path))?;
    let mut block = vec![0; BLOCK_BYTES];
    let mut hasher = Hasher::default();
    let mut bytes = 0;
    loop {
        let count = match file.read(&mut block) {
            Ok(0) => return Ok((hasher.finish(), bytes)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ArtifactError::cache(path)(error)),
        };
        hasher.update(&block[..count]);
        bytes += count as u64;
        context.report_progress(InstallStep::Verifying, done + bytes, total);
        context.check_cancelled()?;
    }
}
