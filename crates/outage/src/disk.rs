//! The disk: made, cut, mounted again, and gone.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::error::{OutageError, Result, failed};
use crate::tools::{MKFS, MOUNT, UNSHARE};
use crate::{holders, namespace, shutdown};

/// The smallest disk, bytes: on a smaller one ext4 has no log, and nothing would be kept in order.
const SMALLEST: u64 = 32 << 20;
/// Of a block of the file system, bytes.
const BLOCK: u64 = 4096;
/// How long killed processes may take to let go of the disk, unless told otherwise.
const LIMIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);
const LOOP_CONTROL: &str = "/dev/loop-control";
/// The image, as a tool sees that has it as its standard input: it has no name.
const IMAGE: &str = "/proc/self/fd/0";
/// How it is mounted. `loop` makes a loop device that is gone with the mount; `commit` is the time between commits of
/// the log that nobody asked for, s.
const OPTIONS: &str = "loop,nosuid,nodev,commit=60";

/// A file system whose power can be cut: ext4 in a nameless sparse file, mounted on a folder. It is gone when this is
/// dropped, or when the program ends.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    /// Whether the folder was made for it, and is to go with it.
    folder_is_own: bool,
    image: File,
    /// The device number of the mounted file system; none while it is not mounted.
    device: Option<u64>,
    patience: Duration,
}

impl Disk {
    /// Looks whether a disk of this many bytes can be mounted at `folder`, which need not be there yet. It makes
    /// nothing, and may be called before [`enter`](crate::enter). What only shows when it is done, a machine that refuses
    /// loop devices, for one, is said by [`Disk::make`] at once.
    ///
    /// # Errors
    /// [`OutageError::Unavailable`]: what is lacking, and what to do.
    pub fn check(folder: &Path, bytes: u64) -> Result<()> {
        namespace::check()?;
        for tool in [MKFS, MOUNT, UNSHARE] {
            tool.find()?;
        }
        if !Path::new(LOOP_CONTROL).exists() {
            return Err(OutageError::unavailable(
                format!("there is no {LOOP_CONTROL}"),
                "load the kernel's module `loop`; a container must be given the machine's loop devices",
            ));
        }
        if bytes < SMALLEST {
            return Err(OutageError::unavailable(
                format!("{bytes} bytes are too few for a file system with a log"),
                format!("make it {SMALLEST} bytes or more"),
            ));
        }
        let above = above(folder)?;
        let room = rustix::fs::statvfs(&above).map_err(failed("look at", &above))?;
        let free = room.f_bavail.saturating_mul(room.f_frsize);
        if free < bytes {
            return Err(OutageError::unavailable(
                format!("{free} bytes are free at {}, and {bytes} are needed", above.display()),
                "make room, or choose another folder",
            ));
        }
        Ok(())
    }

    /// Makes a disk of this many bytes (rounded down to 4096) and mounts it at `folder`, which must be empty if it is
    /// there. The image takes room on the file system above the folder, as much as is written.
    ///
    /// It is proven before it is given away: a file that was synced is still there after a cut, and one that was
    /// not is gone. That, the making and the mounting take some tens of milliseconds.
    ///
    /// # Errors
    /// As of [`Disk::check`]; and [`OutageError::Failed`] with the words of the kernel or of the tool.
    pub fn make(folder: &Path, bytes: u64) -> Result<Self> {
        if !namespace::is_entered()? {
            return Err(OutageError::failed(
                "make a disk",
                "the program is not in a mount namespace of its own",
            ));
        }
        Self::check(folder, bytes)?;
        let folder_is_own = !folder.exists();
        fs::create_dir_all(folder).map_err(failed("make", folder))?;
        let folder = folder.canonicalize().map_err(failed("find", folder))?;
        if fs::read_dir(&folder).map_err(failed("read", &folder))?.next().is_some() {
            return Err(failed("mount a disk at", &folder)("the folder is not empty"));
        }
        let above = folder.parent().unwrap_or(&folder);
        let image = tempfile::tempfile_in(above).map_err(failed("make an image in", above))?;
        let mut disk = Self { folder, folder_is_own, image, device: None, patience: LIMIT };
        disk.format(bytes / BLOCK * BLOCK)?;
        disk.mount()?;
        disk.prove()?;
        Ok(disk)
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Syncs everything that was written on it so far, by whomever: the state that a trial begins with.
    ///
    /// # Errors
    /// [`OutageError::Failed`], which it does after a cut.
    pub fn sync(&self) -> Result<()> {
        let root = File::open(&self.folder).map_err(failed("open", &self.folder))?;
        rustix::fs::syncfs(&root).map_err(failed("sync", &self.folder))
    }

    /// Cuts the power. The instant is read after the call: what was acknowledged before the call, and only that, was
    /// promised while there was power. Reads may still be answered out of memory until [`Disk::mount_again`].
    ///
    /// # Errors
    /// [`OutageError::Failed`] when the kernel refuses it; the power is on then.
    pub fn cut(&self) -> Result<Instant> {
        let failed = |error: io::Error| failed("cut the power of", &self.folder)(error);
        let device = self.device.ok_or_else(|| failed(io::Error::other("it is not mounted")))?;
        let root = File::open(&self.folder).map_err(failed)?;
        shutdown::shut_down(&root, device).map_err(failed)
    }

    /// Unmounts it and mounts it anew, as after a cut; how long that took. Whoever used it must have been killed before;
    /// for processes that are about to end it waits at most 10 s.
    ///
    /// # Errors
    /// [`OutageError::Held`] names those who still use it; [`OutageError::Failed`]. It may be tried again.
    pub fn mount_again(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        self.unmount()?;
        self.mount()?;
        Ok(begun.elapsed())
    }

    /// Unmounts it and lets everything on it go. Dropping does the same without a word.
    ///
    /// # Errors
    /// [`OutageError::Held`] as of [`Disk::mount_again`]; it is then gone as soon as those have ended.
    pub fn close(mut self) -> Result<()> {
        self.unmount()
    }

    fn format(&self, bytes: u64) -> Result<()> {
        self.image.set_len(bytes).map_err(|error| OutageError::failed("make an image", error))?;
        // Everything now, so that the kernel does nothing in the background of a trial later; nothing is kept back
        // for root, because servers are not root.
        let block = BLOCK.to_string();
        let later = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        let arguments = ["-q", "-F", "-b", &block, "-m", "0", "-O", "has_journal", "-E", later, IMAGE];
        MKFS.run("make a file system", &arguments, Some(&self.image))
    }

    fn mount(&mut self) -> Result<()> {
        let folder = self.folder.as_os_str().to_str();
        let folder =
            folder.ok_or_else(|| failed("mount a disk at", &self.folder)("its name is not UTF-8"))?;
        let arguments = ["--no-mtab", "--types", "ext4", "--options", OPTIONS, IMAGE, folder];
        MOUNT.run("mount a disk", &arguments, Some(&self.image)).map_err(|error| {
            OutageError::unavailable(
                error.to_string(),
                "root must be allowed to use loop devices and to mount ext4; a container is not, unless told so",
            )
        })?;
        self.device = Some(fs::metadata(&self.folder).map_err(failed("look at", &self.folder))?.dev());
        // Whoever still had the former one mounted, in a namespace of his own, would have brought that one back.
        self.sync()
    }

    /// Tries whether a cut does what it should do, on this kernel.
    fn prove(&mut self) -> Result<()> {
        let [kept, lost] = ["kept", "lost"].map(|name| self.folder.join(name));
        fs::write(&kept, "kept").map_err(failed("write", &kept))?;
        self.sync()?;
        fs::write(&lost, "lost").map_err(failed("write", &lost))?;
        self.cut()?;
        self.mount_again()?;
        if fs::read(&kept).ok().as_deref() != Some(b"kept") {
            return Err(failed("keep", &kept)("it was synced, and is gone after a cut"));
        }
        if lost.exists() {
            return Err(failed("lose", &lost)("it was not synced, and is there after a cut"));
        }
        fs::remove_file(&kept).map_err(failed("remove", &kept))?;
        self.sync()
    }

    /// How long to wait for those who still use the disk before it is unmounted: ten seconds unless told otherwise.
    pub fn wait_at_most(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Does nothing when it is not mounted.
    fn unmount(&mut self) -> Result<()> {
        let Some(device) = self.device else { return Ok(()) };
        let begun = Instant::now();
        loop {
            match unmount(&self.folder, UnmountFlags::NOFOLLOW) {
                Ok(()) => break,
                Err(Errno::BUSY) if begun.elapsed() < self.patience => std::thread::sleep(PAUSE),
                Err(Errno::BUSY) => {
                    let folder = self.folder.clone();
                    return Err(OutageError::Held {
                        folder,
                        waited_s: self.patience.as_secs(),
                        holders: holders::of(device),
                    });
                }
                Err(error) => return Err(failed("unmount", &self.folder)(error)),
            }
        }
        self.device = None;
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Whoever still uses it loses it when he ends. Nobody is there to be told of an error.
        if self.device.is_some() {
            unmount(&self.folder, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW).ok();
        }
        if self.folder_is_own {
            fs::remove_dir(&self.folder).ok();
        }
    }
}

/// The nearest folder above that is there.
fn above(folder: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(folder).map_err(failed("find", folder))?;
    let above = folder.ancestors().skip(1).find(|above| above.is_dir());
    Ok(above.unwrap_or(&folder).to_owned())
}
