//! Processes with a time limit that leave nothing behind.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jsonathlon_results::summary::Summary;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A process that is killed with its process group when this is dropped.
pub(crate) struct Running {
    child: Child,
    shown: String,
    stdout: PathBuf,
    stderr: PathBuf,
    /// Folder of the output files; deleted when this is dropped.
    _output: tempfile::TempDir,
    /// Copies a terminal into the file of standard output; `None` if the process writes the file itself.
    copier: Option<JoinHandle<()>>,
    ended: bool,
}

impl Running {
    /// Starts a command in its own process group. Output goes to files, so the process never blocks on unread
    /// output.
    pub(crate) fn start(command: Command, folder: &Path) -> Self {
        Self::start_writing(command, folder, |file| (Stdio::from(file), None))
    }

    /// Starts a command like [`Self::start`], but with a terminal of so many columns as standard output.
    pub(crate) fn start_on_terminal(mut command: Command, folder: &Path, columns: u16) -> Self {
        command.env("TERM", "xterm");
        Self::start_writing(command, folder, |file| {
            let (controller, terminal) = open_terminal(columns);
            (Stdio::from(terminal), Some(std::thread::spawn(move || copy_terminal(controller, file))))
        })
    }

    /// Starts a command whose standard output goes where `write` says, and ends in the file that it gets.
    fn start_writing(
        mut command: Command,
        folder: &Path,
        write: impl FnOnce(File) -> (Stdio, Option<JoinHandle<()>>),
    ) -> Self {
        let output = tempfile::tempdir().unwrap();
        let (stdout, stderr) = (output.path().join("stdout"), output.path().join("stderr"));
        let (destination, copier) = write(File::create(&stdout).unwrap());
        command.stdout(destination).stderr(File::create(&stderr).unwrap());
        let shown = format!("{command:?} in {}", folder.display());
        let child = command.process_group(0).spawn().unwrap();
        // The terminal ends when nobody holds it any more, this command included.
        drop(command);
        Self { child, shown, stdout, stderr, _output: output, copier, ended: false }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The content of standard error so far.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.stderr).unwrap()).into_owned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Kills the process by SIGKILL and reaps it.
    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
        self.ended = true;
    }

    /// Waits for the end of the process; fails if the limit is exceeded.
    pub(crate) fn end(mut self, limit: Duration) -> Ended {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < limit, "hangs: {}\n{}", self.shown, self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        };
        self.ended = true;
        if let Some(copier) = self.copier.take() {
            copier.join().unwrap();
        }
        let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        Ended {
            status,
            shown: std::mem::take(&mut self.shown),
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
        }
    }
}

/// Both ends of a new terminal: the one that reads what is printed, and the one that programs get.
fn open_terminal(columns: u16) -> (OwnedFd, OwnedFd) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let controller = openpt(flags).unwrap();
    unlockpt(&controller).unwrap();
    let terminal = ioctl_tiocgptpeer(&controller, flags).unwrap();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&controller, size).unwrap();
    (controller, terminal)
}

/// Copies what is printed on a terminal, until no program holds it. Reading fails then (EIO).
fn copy_terminal(controller: OwnedFd, mut file: File) {
    let mut controller = File::from(controller);
    let mut buffer = [0; 4096];
    while let Ok(bytes @ 1..) = controller.read(&mut buffer) {
        file.write_all(&buffer[..bytes]).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            // The test has already failed; an error means that the process has ended.
            kill_process_group(self.pid(), Signal::KILL).ok();
            self.child.wait().ok();
        }
    }
}

/// Exit status and output of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    status: ExitStatus,
    shown: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Asserts that the process exited with this code and did not panic.
    pub(crate) fn expect(self, code: i32) -> Self {
        let Self { status, shown, stdout, stderr } = &self;
        assert_eq!(status.code(), Some(code), "{shown}: {:?}\n{stderr}\n{stdout}", status.signal());
        assert!(!stderr.contains("panicked"), "{shown}\n{stderr}");
        self
    }

    /// The exit code; fails if the process was ended by a signal.
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("{}: {:?}", self.shown, self.status.signal()))
    }

    /// Asserts that standard error contains each of `words`.
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in\n{}", self.stderr);
        }
        self
    }

    /// Standard output with one blank in place of each line end and of several blanks, because the program breaks
    /// lines where the terminal ends.
    pub(crate) fn unbroken(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Parses standard output, which must be exactly one summary.
    pub(crate) fn summary(&self) -> Summary {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("{error} in {}\n{}", self.stdout, self.stderr))
    }
}

/// Live processes with this mark, and their command lines.
pub(crate) fn marked_processes(mark: &Path) -> Vec<(u32, String)> {
    let wanted = format!("{}={}", super::MARK, mark.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        // Processes may end during the iteration.
        let Ok(entry) = entry else { continue };
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(environment) = std::fs::read(entry.path().join("environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}
