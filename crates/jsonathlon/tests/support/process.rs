//! Processes with a time limit that leave nothing behind.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use jsonathlon_results::summary::Summary;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// A process that is killed with its process group when this is dropped.
pub(crate) struct Running {
    child: Child,
    shown: String,
    stdout: PathBuf,
    stderr: PathBuf,
    /// Folder of the output files; deleted when this is dropped.
    _output: tempfile::TempDir,
    ended: bool,
}

impl Running {
    /// Starts a command in its own process group. Output goes to files, so the process never blocks on unread
    /// output.
    pub(crate) fn start(mut command: Command, folder: &Path) -> Self {
        let output = tempfile::tempdir().unwrap();
        let (stdout, stderr) = (output.path().join("stdout"), output.path().join("stderr"));
        command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
        let shown = format!("{command:?} in {}", folder.display());
        let child = command.process_group(0).spawn().unwrap();
        Self { child, shown, stdout, stderr, _output: output, ended: false }
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
        let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        Ended {
            status,
            shown: std::mem::take(&mut self.shown),
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
        }
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
