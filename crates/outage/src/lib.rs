//! A disk whose power can be cut at a moment of the caller's choosing.
//!
//! What a program wrote and did not sync is lost with the power; what it synced is kept. A killed process does not
//! show that, because the kernel still has the pages that it wrote. So a [`Disk`] is a file system of its own, ext4 in
//! a sparse file on a loop device, which is shut down without flushing its log and mounted anew.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! jsonathlon_outage::enter()?; // First of all: it may start the program again.
//! let mut disk = jsonathlon_outage::Disk::make("run/disk".as_ref(), 1 << 30)?;
//! std::fs::write(disk.path().join("begun"), "what clients may rely on")?;
//! disk.sync()?; // The state that the trial begins with.
//! // Clients write to a server whose data folder lies on it, until
//! let cut = disk.cut()?; // What was acknowledged before this instant must still be there.
//! // The server is killed here, with all its processes.
//! let took = disk.mount_again()?;
//! // The server is started again, and everything is read.
//! disk.close()?;
//! # let _ = (cut, took); Ok(())
//! # }
//! ```
//!
//! # What a cut does
//! [`Disk::cut`] is `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH` (`fs/ext4/ext4.h` of Linux, since 4.11). From
//! then on every write, sync and making of a file fails with an input/output error. Gone is what lay in memory only:
//! pages that were not written back, and changes of folders and files' sizes that were not committed to the log.
//! Kept is what had reached the loop device, even where no sync followed it: a write with `O_DIRECT` into blocks
//! that were there already survives, and a sync of one file takes along the folder entries of its neighbours that
//! are in the same commit of the log. So a disk that lies about its own cache is not shown, nor a torn block.
//!
//! Linux by itself commits the log every 5 s and writes pages back after 30 s. The former is put off to 60 s, so that
//! a program that syncs nothing does not keep most of what it wrote all the same.
//!
//! # Nothing is left over
//! [`enter`] puts the whole program into a mount namespace of its own, which is gone with the last process in it,
//! however that ended; with the namespace goes the mount, with the mount the loop device (it is there by `autoclear`),
//! and with that the image, a file that never had a name. All of this is the kernel's doing, so nothing has to
//! be alive for it. Every process that the program starts after `enter` sees the disk, as whichever user; others
//! on the machine do not. What may stay behind of a killed program is an empty folder where the disk was mounted.
//!
//! # What it needs
//! Linux, root with the right to mount, loop devices, `mkfs.ext4` of e2fsprogs, and `mount` and `unshare` of util-linux.
//! [`Disk::check`] says what is lacking, and what to do.

#![deny(unsafe_op_in_unsafe_fn)]

mod disk;
mod error;
mod holders;
mod namespace;
mod shutdown;
mod tools;

pub use disk::Disk;
pub use error::{OutageError, Result};
pub use namespace::enter;
