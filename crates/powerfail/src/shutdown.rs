//! The `ioctl` that cuts the power of an ext4 file system.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

/// `EXT4_IOC_SHUTDOWN`: `_IOR('X', 125, __u32)`, 0x8004587d. ext4 took the number from XFS.
const SHUTDOWN: Opcode = opcode::read::<u32>(b'X', 125);
/// `EXT4_GOING_FLAGS_NOLOGFLUSH`: journal contents that are only in memory are lost.
const NO_LOG_FLUSH: u32 = 2;

/// Shuts down the file system that contains `root`, which must be on `device`. Returns the time read after
/// the call.
pub(crate) fn shut_down(root: &File, device: u64) -> io::Result<Instant> {
    // If the disk is not mounted, `root` is on the machine's own file system, which must not be shut down.
    if root.metadata()?.dev() != device {
        return Err(io::Error::other("another file system is mounted there"));
    }
    // SAFETY: the kernel reads one `u32` for this number, which is what `Setter` points to. The call is made
    // on an open file and writes to no memory of this process.
    #[expect(unsafe_code, reason = "rustix has no form of its own for this number")]
    unsafe {
        ioctl(root, Setter::<SHUTDOWN, u32>::new(NO_LOG_FLUSH))?;
    }
    Ok(Instant::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_that_of_the_kernel() {
        assert_eq!(SHUTDOWN, 0x8004_587d);
    }

    /// Uses `/proc`, where the call would be denied anyway.
    #[test]
    fn another_file_system_is_left_alone() {
        let proc_folder = File::open("/proc").unwrap();
        let error = shut_down(&proc_folder, proc_folder.metadata().unwrap().dev() + 1).unwrap_err();
        assert!(error.to_string().contains("another file system"), "{error}");
    }
}
