//! Free space and read bandwidth of the disk under a folder.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use rustix::fs::{Mode, OFlags, open};

/// Size of the probe file: larger than a drive's own read-ahead, small enough to be read in little time.
const PROBE_BYTES: usize = 96 << 20;
/// Bytes per read request; engines that read sequentially ask for about this much.
const BLOCK: usize = 1 << 20;
/// Alignment of the read buffer: `O_DIRECT` needs memory and offsets aligned to the device's logical block,
/// at most a page.
const ALIGNMENT: usize = 4096;

/// Bytes free for an unprivileged user on the file system of `folder`.
///
/// # Errors
/// If the folder does not exist.
pub fn free_bytes(folder: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(folder)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Sequential read bandwidth of the file system that holds `folder`, bytes per second.
///
/// Measured by `O_DIRECT` reads, past the page cache, of a probe file that is created and removed there.
/// `None` if the file system does not support direct reads (tmpfs, some overlays).
///
/// # Errors
/// If the probe file cannot be written or removed.
pub fn read_bandwidth(folder: &Path) -> io::Result<Option<f64>> {
    let path = folder.join(".bandwidth-probe");
    let measured = probe(&path);
    match std::fs::remove_file(&path) {
        Ok(()) => measured,
        Err(error) if error.kind() == io::ErrorKind::NotFound => measured,
        Err(error) => measured.and(Err(error)),
    }
}

fn probe(path: &Path) -> io::Result<Option<f64>> {
    let mut file = File::create(path)?;
    // Random bytes, because some storage does not store runs of zeros.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let block: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .take(BLOCK / 8)
    .flatten()
    .collect();
    for _ in 0..PROBE_BYTES / BLOCK {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    drop(file);
    let Ok(descriptor) = open(path, OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()) else {
        return Ok(None);
    };
    let file = File::from(descriptor);
    let mut buffer = vec![0_u8; BLOCK + ALIGNMENT];
    let padding = buffer.as_ptr().align_offset(ALIGNMENT);
    let Some(aligned) = buffer.get_mut(padding..padding + BLOCK) else { return Ok(None) };
    let start = Instant::now();
    let mut offset = 0_u64;
    while offset < PROBE_BYTES as u64 {
        let Ok(length) = file.read_at(aligned, offset) else { return Ok(None) };
        if length == 0 {
            break;
        }
        offset += length as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok((offset > 0 && seconds > 0.0).then(|| offset as f64 / seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidth_is_positive_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        if let Some(bytes_per_s) = read_bandwidth(folder.path()).unwrap() {
            assert!(bytes_per_s > 1e6, "{bytes_per_s}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(free_bytes(folder.path()).unwrap() > 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        assert!(read_bandwidth(Path::new("/nonexistent-folder")).is_err());
        assert!(free_bytes(Path::new("/nonexistent-folder")).is_err());
    }
}
