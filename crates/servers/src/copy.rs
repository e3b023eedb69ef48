//! Copies folder trees, preserving owners, modes and sparse-file holes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, lchown, symlink};
use std::path::Path;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Copies files, folders and symbolic links with their modes and owners. Skips sockets and named pipes,
/// which a stopped server may leave behind.
///
/// Unwritten ranges of a file become holes in the copy, because some logs are preallocated at their maximum
/// size.
///
/// # Errors
/// Fails if an entry cannot be read or created, or is of another type. Entries already copied stay.
pub fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(from)?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
        fs::set_permissions(to, metadata.permissions())?;
    } else if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_file() {
        copy_file(from, to, &metadata)?;
    } else if kind.is_socket() || kind.is_fifo() {
        return Ok(());
    } else {
        return Err(io::Error::other(format!(
            "{} is not a file, folder, symbolic link, socket or pipe",
            from.display()
        )));
    }
    let copied = fs::symlink_metadata(to)?;
    if (copied.uid(), copied.gid()) != (metadata.uid(), metadata.gid()) {
        lchown(to, Some(metadata.uid()), Some(metadata.gid()))?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    let source = File::open(from)?;
    let length = metadata.len();
    if next_boundary(&source, length, SeekFrom::Hole(0))? == length {
        return fs::copy(from, to).map(drop);
    }
    let mut copy = OpenOptions::new().write(true).create(true).truncate(true).open(to)?;
    copy.set_len(length)?;
    let mut offset = 0;
    loop {
        let begin = next_boundary(&source, length, SeekFrom::Data(offset))?;
        if begin == length {
            break;
        }
        let end = next_boundary(&source, length, SeekFrom::Hole(begin))?;
        seek(&source, SeekFrom::Start(begin))?;
        seek(&copy, SeekFrom::Start(begin))?;
        io::copy(&mut (&source).take(end - begin), &mut copy)?;
        offset = end;
    }
    fs::set_permissions(to, metadata.permissions())
}

/// Returns the offset of the first hole or data at or after the offset in `target`. Returns `length` if
/// there is none, or if the file system does not report holes.
fn next_boundary(file: &File, length: u64, target: SeekFrom) -> io::Result<u64> {
    match seek(file, target) {
        Ok(offset) => Ok(offset),
        Err(Errno::NXIO) => Ok(length),
        Err(Errno::INVAL) if matches!(target, SeekFrom::Hole(0)) => Ok(length),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, PermissionsExt};

    use rustix::fs::{FallocateFlags, fallocate};

    use super::*;

    #[test]
    fn unwritten_ranges_take_no_disk_space_in_the_copy() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        // A file with preallocated space, as some logs have, and a sparse file.
        for (name, is_preallocated) in [("preallocated", true), ("sparse", false)] {
            let source = File::create_new(file(name)).unwrap();
            source.set_len(9 << 20).unwrap();
            if is_preallocated {
                fallocate(&source, FallocateFlags::empty(), 0, 9 << 20).unwrap();
            }
            source.write_all_at(b"first", 0).unwrap();
            source.write_all_at(b"in the middle", (4 << 20) + 7).unwrap();
            source.set_permissions(fs::Permissions::from_mode(0o640)).unwrap();
            // Some file systems report only data that is already on the disk.
            source.sync_all().unwrap();
        }
        fs::write(file("empty"), b"").unwrap();
        fs::write(file("full"), vec![7; 1 << 20]).unwrap();
        for name in ["preallocated", "sparse", "empty", "full"] {
            let to = file(&format!("{name}.copy"));
            copy_all(&file(name), &to).unwrap();
            assert!(fs::read(file(name)).unwrap() == fs::read(&to).unwrap(), "{name}");
            assert_eq!(fs::metadata(file(name)).unwrap().mode(), fs::metadata(&to).unwrap().mode(), "{name}");
        }
        for name in ["preallocated", "sparse"] {
            let copy = File::open(file(&format!("{name}.copy"))).unwrap();
            copy.sync_all().unwrap();
            assert!(
                copy.metadata().unwrap().blocks() * 512 < 1 << 20,
                "{name}: unwritten ranges take disk space"
            );
        }
    }
}
