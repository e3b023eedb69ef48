//! Creates, power-cuts, remounts and removes the loop-mounted ext4 file system of a crash test.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::error::{OutageError, Result, failed};
use crate::tools::{MKFS, MOUNT, UNSHARE};
use crate::{namespace, open_files, shutdown};

/// Minimum size in bytes: `mkfs.ext4` gives a smaller file system no journal, so nothing would be written in
/// order.
const SMALLEST: u64 = 32 << 20;
/// Block size of the file system in bytes; image sizes are rounded down to a multiple.
const BLOCK: u64 = 4096;
/// Default time to wait for killed processes to release the file system before an unmount fails.
const UNMOUNT_TIMEOUT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);
const LOOP_CONTROL: &str = "/dev/loop-control";
/// Path by which a tool opens the image given to it as standard input, because the image has no name.
const IMAGE: &str = "/proc/self/fd/0";
/// Mount options. `loop` creates a loop device that disappears with the mount; `commit` is the interval in
/// seconds between journal commits that no sync requested.
const OPTIONS: &str = "loop,nosuid,nodev,commit=60";

/// File system whose power can be cut: ext4 in an unnamed sparse file, mounted on a folder. It disappears
/// when the value is dropped or the program ends.
///
/// What a program wrote and did not sync is lost with the power; what it synced is kept. Killing a process
/// does not show the difference, because the kernel still has the pages that the process wrote. A `Disk` is
/// therefore a separate file system on a loop device, which is shut down without flushing its journal and
/// mounted again.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// jsonathlon_powerfail::enter()?; // Must come first: it may restart the program.
/// let mut disk = jsonathlon_powerfail::Disk::create("run/disk".as_ref(), 1 << 30)?;
/// std::fs::write(disk.path().join("begun"), "what clients may rely on")?;
/// disk.sync()?; // The state in which the trial starts.
/// // Clients write to a server whose data folder is on the disk.
/// let cut = disk.cut_power()?; // Everything acknowledged before the cut must survive.
/// // Kill the server with all its processes here.
/// let took = disk.remount()?;
/// // Start the server again and read everything.
/// disk.close()?;
/// # let _ = (cut, took); Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    /// Whether [`Disk::create`] created the folder; `drop` then removes it.
    owns_folder: bool,
    image: File,
    /// Device number of the mounted file system. `None` while it is not mounted.
    device: Option<u64>,
    timeout: Duration,
}

impl Disk {
    /// Checks that a disk of `bytes` bytes can be mounted at `folder`, which need not exist yet. Creates
    /// nothing, and may be called before [`enter`](crate::enter).
    ///
    /// Needed are Linux, root with the right to mount, loop devices, `mkfs.ext4` of e2fsprogs, and `mount`
    /// and `unshare` of util-linux. Some causes appear only on use, such as a machine that denies loop
    /// devices; [`Disk::create`] reports those.
    ///
    /// # Errors
    /// [`OutageError::Unavailable`] with the missing prerequisite and its remedy. [`OutageError::Failed`] if
    /// the free space above `folder` cannot be read.
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
        let ancestor = existing_ancestor(folder)?;
        let statistics = rustix::fs::statvfs(&ancestor).map_err(failed("look at", &ancestor))?;
        let free = statistics.f_bavail.saturating_mul(statistics.f_frsize);
        if free < bytes {
            return Err(OutageError::unavailable(
                format!("{free} bytes are free at {}, and {bytes} are needed", ancestor.display()),
                "make room, or choose another folder",
            ));
        }
        Ok(())
    }

    /// Creates a disk of `bytes` bytes (rounded down to a multiple of 4096) and mounts it at `folder`, which
    /// must be empty if it exists. The image is sparse and takes space on the file system above the folder as
    /// data is written.
    ///
    /// Verifies the disk with one power cut before returning it: a synced file must survive and an unsynced
    /// one must be lost. Formatting, mounting and this test take some tens of milliseconds.
    ///
    /// # Errors
    /// Those of [`Disk::check`]. [`OutageError::Unavailable`] if the mount is denied. [`OutageError::Failed`]
    /// with the message of the kernel or of the tool otherwise, also if [`enter`](crate::enter) was not
    /// called or the folder is not empty.
    pub fn create(folder: &Path, bytes: u64) -> Result<Self> {
        if !namespace::is_entered()? {
            return Err(OutageError::failed(
                "make a disk",
                "the program is not in a mount namespace of its own",
            ));
        }
        Self::check(folder, bytes)?;
        let owns_folder = !folder.exists();
        fs::create_dir_all(folder).map_err(failed("make", folder))?;
        let folder = folder.canonicalize().map_err(failed("find", folder))?;
        if fs::read_dir(&folder).map_err(failed("read", &folder))?.next().is_some() {
            return Err(failed("mount a disk at", &folder)("the folder is not empty"));
        }
        let parent = folder.parent().unwrap_or(&folder);
        let image = tempfile::tempfile_in(parent).map_err(failed("make an image in", parent))?;
        let mut disk = Self { folder, owns_folder, image, device: None, timeout: UNMOUNT_TIMEOUT };
        disk.format(bytes / BLOCK * BLOCK)?;
        disk.mount()?;
        disk.verify()?;
        Ok(disk)
    }

    /// Folder on which the file system is mounted, as a canonical absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Syncs everything written to the file system so far, by any process. A trial starts from this state.
    ///
    /// # Errors
    /// [`OutageError::Failed`] if the kernel reports an error, as it does after a power cut.
    pub fn sync(&self) -> Result<()> {
        let root = File::open(&self.folder).map_err(failed("open", &self.folder))?;
        rustix::fs::syncfs(&root).map_err(failed("sync", &self.folder))
    }

    /// Cuts the power and returns the time read just after the call. Writes acknowledged before the call were
    /// promised while the power was on and must survive; later ones were not. Reads may still be answered
    /// from memory until [`Disk::remount`].
    ///
    /// The call is `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH` (`fs/ext4/ext4.h` of Linux, since
    /// 4.11). From then on every write, sync and file creation fails with an input/output error. Lost is what
    /// was in memory only: pages not written back, and changes of folders and file sizes not committed to the
    /// journal.
    ///
    /// Kept is what had reached the loop device, even without a sync. A write with `O_DIRECT` into already
    /// allocated blocks survives, and a sync of one file also keeps folder entries of neighbours in the same
    /// journal commit. A disk that lies about its own cache is therefore not simulated, nor is a torn block.
    ///
    /// Linux by default commits the journal every 5 s and writes pages back after 30 s. The former is set to
    /// 60 s, so that a program that never syncs does not keep most of what it wrote.
    ///
    /// # Errors
    /// [`OutageError::Failed`] if the disk is not mounted or the kernel denies the call; the power is still
    /// on then.
    pub fn cut_power(&self) -> Result<Instant> {
        let failed = |error: io::Error| failed("cut the power of", &self.folder)(error);
        let device = self.device.ok_or_else(|| failed(io::Error::other("it is not mounted")))?;
        let root = File::open(&self.folder).map_err(failed)?;
        shutdown::shut_down(&root, device).map_err(failed)
    }

    /// Unmounts and mounts the file system again, as after a power cut, and returns how long that took. All
    /// processes that use it must have been killed before; their exit is awaited for up to 10 s, or the time
    /// set with [`Disk::set_unmount_timeout`].
    ///
    /// # Errors
    /// [`OutageError::Held`] with the processes that still use the file system, [`OutageError::Unavailable`]
    /// if the mount is denied, [`OutageError::Failed`] for other errors. The call may be repeated.
    pub fn remount(&mut self) -> Result<Duration> {
        let started = Instant::now();
        self.unmount()?;
        self.mount()?;
        Ok(started.elapsed())
    }

    /// Unmounts the file system and discards its data. Dropping a `Disk` does the same but ignores errors.
    ///
    /// # Errors
    /// [`OutageError::Held`] as in [`Disk::remount`]; the file system then disappears when those
    /// processes end.
    pub fn close(mut self) -> Result<()> {
        self.unmount()
    }

    fn format(&self, bytes: u64) -> Result<()> {
        self.image.set_len(bytes).map_err(|error| OutageError::failed("make an image", error))?;
        // No lazy initialisation, so that the kernel has no background work during a later trial. No blocks
        // are reserved for root, because servers do not run as root.
        let block_size = BLOCK.to_string();
        let extended_options = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        let arguments =
            ["-q", "-F", "-b", &block_size, "-m", "0", "-O", "has_journal", "-E", extended_options, IMAGE];
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
                "root must be allowed to use loop devices and to mount ext4; a container is not, unless configured so",
            )
        })?;
        self.device = Some(fs::metadata(&self.folder).map_err(failed("look at", &self.folder))?.dev());
        // If another mount namespace still holds the previous mount, the same shut-down file system is
        // mounted again; `sync` then fails.
        self.sync()
    }

    /// Verifies on this kernel that a power cut keeps a synced file and loses an unsynced one.
    fn verify(&mut self) -> Result<()> {
        let [kept_file, lost_file] = ["kept", "lost"].map(|name| self.folder.join(name));
        fs::write(&kept_file, "kept").map_err(failed("write", &kept_file))?;
        self.sync()?;
        fs::write(&lost_file, "lost").map_err(failed("write", &lost_file))?;
        self.cut_power()?;
        self.remount()?;
        if fs::read(&kept_file).ok().as_deref() != Some(b"kept") {
            return Err(failed("keep", &kept_file)("it was synced, and is lost after a power cut"));
        }
        if lost_file.exists() {
            return Err(failed("lose", &lost_file)("it was not synced, and is there after a power cut"));
        }
        fs::remove_file(&kept_file).map_err(failed("remove", &kept_file))?;
        self.sync()
    }

    /// Sets how long an unmount waits for processes that still use the disk. Defaults to 10 s.
    pub fn set_unmount_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Unmounts the file system, retrying while it is busy. Does nothing if it is not mounted.
    fn unmount(&mut self) -> Result<()> {
        let Some(device) = self.device else { return Ok(()) };
        let started = Instant::now();
        loop {
            match unmount(&self.folder, UnmountFlags::NOFOLLOW) {
                Ok(()) => break,
                Err(Errno::BUSY) if started.elapsed() < self.timeout => std::thread::sleep(PAUSE),
                Err(Errno::BUSY) => {
                    let folder = self.folder.clone();
                    return Err(OutageError::Held {
                        folder,
                        waited_s: self.timeout.as_secs(),
                        holders: open_files::holders(device),
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
        // A detached mount stays visible to its users until they end. Errors cannot be reported from `drop`.
        if self.device.is_some() {
            unmount(&self.folder, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW).ok();
        }
        if self.owns_folder {
            fs::remove_dir(&self.folder).ok();
        }
    }
}

/// Nearest existing ancestor of `folder`, not `folder` itself.
fn existing_ancestor(folder: &Path) -> Result<PathBuf> {
    let folder = std::path::absolute(folder).map_err(failed("find", folder))?;
    let ancestor = folder.ancestors().skip(1).find(|ancestor| ancestor.is_dir());
    Ok(ancestor.unwrap_or(&folder).to_owned())
}
