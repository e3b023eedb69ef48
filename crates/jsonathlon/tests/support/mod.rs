//! Helpers of the tests: temporary folders, the program as a process with a time limit, scripted systems, and
//! access to run folders.

#![allow(dead_code, unused_imports, reason = "each test program uses its own part of this")]

pub(crate) mod archives;
pub(crate) mod disk;
pub(crate) mod killed;
pub(crate) mod made_choice;
pub(crate) mod made_runs;
pub(crate) mod process;
pub(crate) mod real;
#[path = "../../../artifacts/tests/support/script.rs"]
pub(crate) mod script;
pub(crate) mod systems;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jsonathlon_results::control::CONTROL;
use jsonathlon_results::summary::{CellSummary, FailureSummary, Summary};
use jsonathlon_schema::manifest::Manifest;
use jsonathlon_schema::record::{JournalRecord, Phase, RecordBody, Trial, Verdict};

use process::marked_processes;
pub(crate) use process::{Ended, Running};
pub(crate) use systems::{System, mock};

/// Path of the program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_jsonathlon");

/// Environment variable that every process of a test carries, so that remaining processes can be found.
pub(crate) const MARK: &str = "JSONATHLON_TEST_MARK";

/// Environment variable that sets whether a run looks for other programs on the machine. Tests are such programs
/// for each other, so their runs do not look.
pub(crate) const WAIT_QUIET: &str = "JSONATHLON_WAIT_QUIET";

/// Timeout that no test reaches even on a busy machine, unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(900);

/// Names of the built-in questions.
pub(crate) const QUESTIONS: [&str; 6] = ["q1", "q2", "q3", "q4", "q5", "q6"];

/// A temporary folder for one test.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        // Servers do not run as root, and their user must be able to access the data.
        let open = std::fs::Permissions::from_mode(0o755);
        let world = Self { folder: tempfile::Builder::new().permissions(open).tempdir().unwrap() };
        std::fs::create_dir(world.path("systems")).unwrap();
        world
    }

    /// Creates a world with these systems.
    pub(crate) fn with(systems: &[System]) -> Self {
        let world = Self::new();
        for system in systems {
            system.write(&world.path("systems"));
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A path in this world as a command-line argument.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns its path as a command-line argument.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.text(name)
    }

    /// Generates events with the program. Returns the path of the file.
    pub(crate) fn events(&self, name: &str, arguments: &[&str]) -> String {
        let out = self.text(name);
        let mut all = vec!["data", "generate", "-o", &out];
        all.extend(arguments);
        self.run(&all).expect(0);
        out
    }

    /// The program with arguments, in this folder, with empty standard input.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env(MARK, self.folder.path())
            .env(WAIT_QUIET, "0")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null());
        command
    }

    /// Starts the program with these arguments.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments), self.folder.path())
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).end(LIMIT)
    }

    /// Arguments of a run of systems of this world into `out`, with the summary printed as JSON.
    pub(crate) fn arguments<'a>(&'a self, out: &'a str, names: &'a str, more: &[&'a str]) -> Vec<String> {
        let folder = self.text("systems");
        let mut all =
            vec!["run", "--systems-dir", &folder, "-s", names, "--json", "--no-yardstick", "-o", out];
        all.extend(more);
        // By default a run takes as many rounds as fit into its time budget, which is too long for tests.
        let chooses = |one: &&str| ["-r", "--rounds", "--budget", "--precision"].contains(one);
        if !more.iter().any(chooses) {
            all.extend(["-r", "5"]);
        }
        // One load, unless the test sets the number of loads.
        if !more.contains(&"--load-rounds") {
            all.extend(["--load-rounds", "1"]);
        }
        all.into_iter().map(str::to_owned).collect()
    }

    /// Starts a serving run of systems of this world into its folder `out`: short trials of mix a.
    pub(crate) fn start_serving(&self, out: &str, names: &str, more: &[&str]) -> Running {
        let (folder, out) = (self.text("systems"), self.text(out));
        let mut all = vec!["run", "serving", "--systems-dir", &folder, "-s", names, "--json", "-o", &out];
        all.extend(more);
        let usual = [
            ("--mixes", "a"),
            ("-n", "200"),
            ("-r", "2"),
            ("--clients", "3"),
            ("--warmup", "50ms"),
            ("--duration", "200ms"),
        ];
        for (option, value) in usual {
            // A user's documents are as many as there are.
            let is_left_out = option == "-n" && more.contains(&"--data");
            if !more.contains(&option) && !is_left_out {
                all.extend([option, value]);
            }
        }
        self.start(&all)
    }

    /// Starts a mixed run of systems of this world into its folder `out`: short phases over few documents.
    pub(crate) fn start_mixed(&self, out: &str, names: &str, more: &[&str]) -> Running {
        let (folder, out) = (self.text("systems"), self.text(out));
        let mut all = vec!["run", "mixed", "--systems-dir", &folder, "-s", names, "--json", "-o", &out];
        all.extend(more);
        let usual = [
            ("-n", "200"),
            ("-r", "1"),
            ("--growth", "100%"),
            ("--rate", "350"),
            ("--batch", "10"),
            ("--measure", "500ms"),
        ];
        let is_still = more.windows(2).any(|pair| pair == ["--rate", "0"]);
        for (option, value) in usual {
            let is_left_out = option == "-n" && more.contains(&"--data")
                || is_still && ["--growth", "--batch"].contains(&option);
            if !more.contains(&option) && !is_left_out {
                all.extend([option, value]);
            }
        }
        self.start(&all)
    }

    pub(crate) fn mix(&self, names: &str, more: &[&str]) -> Ended {
        self.start_mixed("out", names, more).end(LIMIT)
    }

    pub(crate) fn serve(&self, names: &str, more: &[&str]) -> Ended {
        self.start_serving("out", names, more).end(LIMIT)
    }

    /// Runs systems of this world into its folder `out`.
    pub(crate) fn measure(&self, names: &str, more: &[&str]) -> Ended {
        self.measure_into("out", names, more)
    }

    pub(crate) fn measure_into(&self, out: &str, names: &str, more: &[&str]) -> Ended {
        self.start_measuring(out, names, more).end(LIMIT)
    }

    pub(crate) fn start_measuring(&self, out: &str, names: &str, more: &[&str]) -> Running {
        let out = self.text(out);
        let arguments = self.arguments(&out, names, more);
        self.start(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts to resume the run in the folder `out`.
    pub(crate) fn start_resuming(&self, out: &str) -> Running {
        let (folder, out) = (self.text("systems"), self.text(out));
        self.start(&["run", "--systems-dir", &folder, "--json", "--resume", &out])
    }

    pub(crate) fn resume(&self, out: &str) -> Ended {
        self.start_resuming(out).end(LIMIT)
    }

    /// Access to the run folder `out`.
    pub(crate) fn kept(&self, out: &str) -> Kept {
        Kept { folder: self.path(out) }
    }

    /// Live processes of this test, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        marked_processes(self.folder.path())
    }

    /// Process ids of the live workers of this test.
    pub(crate) fn workers(&self) -> Vec<u32> {
        let is_worker = |command: &str| command.split(' ').nth(1) == Some("worker");
        self.processes().into_iter().filter(|(_, command)| is_worker(command)).map(|(pid, _)| pid).collect()
    }

    /// Asserts that every process of this test ends soon.
    pub(crate) fn nothing_left(&self) {
        eventually("no process of this run is left", || self.processes().is_empty());
    }
}

/// Access to the files of a run.
pub(crate) struct Kept {
    pub(crate) folder: PathBuf,
}

impl Kept {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The bytes of the journal; empty if it does not exist yet.
    pub(crate) fn journal(&self) -> Vec<u8> {
        std::fs::read(self.path("journal.ndjson")).unwrap_or_default()
    }

    /// The journal up to its last complete line.
    pub(crate) fn whole_lines(&self) -> Vec<u8> {
        let mut bytes = self.journal();
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1));
        bytes
    }

    /// Number of complete lines of the journal.
    pub(crate) fn recorded(&self) -> usize {
        self.journal().iter().filter(|byte| **byte == b'\n').count()
    }

    /// The records of all complete lines; a running program may be writing the last line.
    pub(crate) fn records(&self) -> Vec<JournalRecord> {
        let text = String::from_utf8(self.whole_lines()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The trials of all systems, without the control.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        self.all_trials().into_iter().filter(|trial| trial.cell.id.system != CONTROL).collect()
    }

    /// The trials of the control, which runs before each system's turn.
    pub(crate) fn control(&self) -> Vec<Trial> {
        self.all_trials().into_iter().filter(|trial| trial.cell.id.system == CONTROL).collect()
    }

    fn all_trials(&self) -> Vec<Trial> {
        self.records()
            .into_iter()
            .filter_map(|record| match record.body {
                RecordBody::Trial(trial) => Some(*trial),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn manifest(&self) -> Manifest {
        serde_json::from_slice(&std::fs::read(self.path("manifest.json")).unwrap()).unwrap()
    }

    /// Edits the manifest as JSON.
    pub(crate) fn edit_manifest(&self, edit: impl FnOnce(&mut serde_json::Value)) {
        let path = self.path("manifest.json");
        let mut value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        edit(&mut value);
        std::fs::write(path, value.to_string()).unwrap();
    }

    /// Asserts that every planned trial is recorded, and no key twice.
    pub(crate) fn is_complete(&self) {
        assert_eq!(self.whole_lines(), self.journal(), "the last line is cut short");
        let records = self.records();
        let keys: BTreeSet<&str> = records.iter().map(|record| record.key.as_str()).collect();
        assert_eq!(keys.len(), records.len(), "a key is there twice");
        for key in self.manifest().plan.trials {
            assert!(keys.contains(key.as_str()), "{key} is planned and has no record");
        }
    }

    /// Names of the entries in `work/`.
    pub(crate) fn work(&self) -> Vec<String> {
        names_in(&self.path("work"))
    }

    /// The documents that a system rejected, with reasons, in the order of the file.
    pub(crate) fn rejects(&self, system: &str) -> Vec<(u64, String)> {
        let folder = self.path("rejects");
        let file = names_in(&folder).into_iter().find(|name| name.starts_with(&format!("{system}@")));
        let Some(file) = file else { return Vec::new() };
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        text.lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| (line["ordinal"].as_u64().unwrap(), line["reason"].as_str().unwrap().to_owned()))
            .collect()
    }
}

/// The names in a folder, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Lookup functions for summaries.
pub(crate) trait Look {
    fn entries(&self, system: &str, step: &str) -> Vec<&CellSummary>;
    fn entry(&self, system: &str, step: &str) -> &CellSummary;
    fn hot(&self, system: &str, step: &str) -> &CellSummary;
    fn cold(&self, system: &str, step: &str) -> &CellSummary;
    fn failures_of(&self, system: &str) -> Vec<&FailureSummary>;
    /// Asserts that this system loaded all documents and answered every question exactly and with a time.
    fn is_right(&self, system: &str);
    /// Asserts the same with the exception of one question.
    fn is_right_but_for(&self, system: &str, question: &str);
}

impl Look for Summary {
    fn entries(&self, system: &str, step: &str) -> Vec<&CellSummary> {
        self.results
            .iter()
            .filter(|entry| entry.cell.id.system == system && entry.cell.step.word() == step)
            .collect()
    }

    fn entry(&self, system: &str, step: &str) -> &CellSummary {
        match self.entries(system, step).as_slice() {
            [one] => one,
            several => panic!("{} entries of {system} {step}", several.len()),
        }
    }

    fn hot(&self, system: &str, step: &str) -> &CellSummary {
        let entries = self.entries(system, step);
        entries.into_iter().find(|entry| entry.cell.phase == Phase::Hot).unwrap()
    }

    /// If the kernel cannot confirm it, as on in-memory file systems, the phase is `cold-unverified`.
    fn cold(&self, system: &str, step: &str) -> &CellSummary {
        let phases = [Phase::Cold, Phase::ColdUnverified];
        let entries = self.entries(system, step);
        entries.into_iter().find(|entry| phases.contains(&entry.cell.phase)).unwrap()
    }

    fn failures_of(&self, system: &str) -> Vec<&FailureSummary> {
        self.failures.iter().filter(|failure| failure.cell.id.system == system).collect()
    }

    fn is_right(&self, system: &str) {
        self.is_right_but_for(system, "");
        assert!(self.failures_of(system).is_empty(), "{:?}", self.failures_of(system));
    }

    fn is_right_but_for(&self, system: &str, question: &str) {
        let load = self.entry(system, "load");
        assert_eq!(load.verdict, Verdict::Exact, "{system} load");
        assert_eq!(load.metrics["documents_loaded"] + load.metrics["documents_rejected"], {
            self.data.documents as f64
        });
        for step in QUESTIONS.into_iter().filter(|step| *step != question) {
            for entry in [self.cold(system, step), self.hot(system, step)] {
                assert_eq!(entry.verdict, Verdict::Exact, "{system} {step} {}", entry.cell.phase.word());
                assert!(entry.median_s.is_some(), "{system} {step} {}", entry.cell.phase.word());
            }
        }
    }
}

/// Waits until a condition is true; fails after one minute.
pub(crate) fn eventually(what: &str, condition: impl FnMut() -> bool) {
    eventually_within(Duration::from_secs(60), what, condition);
}

/// Waits until a condition is true; fails after the limit.
pub(crate) fn eventually_within(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
