//! Copies of a server's folders.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, lchown, symlink};
use std::path::Path;

/// Copies files, folders and links with their modes and owners; sockets and pipes of a server that has ended are left
/// out.
///
/// # Errors
/// Something cannot be read or made, or is no file, folder or link; what was copied until then stays.
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
        fs::copy(from, to)?;
    } else if kind.is_socket() || kind.is_fifo() {
        return Ok(());
    } else {
        return Err(io::Error::other(format!("{} is no file, folder or link", from.display())));
    }
    let own = fs::symlink_metadata(to)?;
    if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
        lchown(to, Some(metadata.uid()), Some(metadata.gid()))?;
    }
    Ok(())
}
