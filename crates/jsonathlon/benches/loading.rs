//! Loading by the program, compared with hand-written loading: same statements, file, threads and durability,
//! in the order A B B A …, with the ratio of each pair and its interval.
//!
//!     cargo bench --bench loading [-- DOCUMENTS [ROUNDS]]
//!
//! The hand-written loader is `by_hand.c`, a plain C program that is compiled here against the same engine
//! library (for SQLite, the amalgamation that is built into the program, with the same options). Engines must
//! be installed (`jsonathlon systems install --all`); a C compiler is needed.

mod common;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use common::{LIMIT, Problem, generate, numbers, worker};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{ANALYTICS, Catalogue, LoadMode, fill};
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_stats::statistics::{median, paired_ratio};
use jsonathlon_worker::protocol::{LoadMethod, LoadReply, Op, OpenReply, PROTOCOL_VERSION, RunReply};
use jsonathlon_workloads::target::Target;

const TABLE: &str = "events";

fn main() -> Result<(), Problem> {
    let numbers = numbers();
    let documents = numbers.first().copied().unwrap_or(200_000);
    let rounds = numbers.get(1).copied().unwrap_or(9) as usize;
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = scratch.path().join("events.ndjson");
    let megabytes = generate(&file, documents)? as f64 / 1e6;
    println!("{documents} documents, {megabytes:.0} MB, {rounds} rounds; seconds are medians");

    let by_hand = compile()?;
    let catalogue = Catalogue::load(&[])?;
    let store = ArtifactStore::from_environment()?;
    for system in catalogue.systems().iter().filter(|system| system.is_embedded() && !system.is_reference()) {
        let variant = system.representative_variant().ok_or("no variant")?;
        let configuration = system.configuration(system.default_version(), &variant.name, "default")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = store.install(artifact, &mut |_| {}, &|| false)?;
        let target = Target::new(configuration, ANALYTICS, installed).ok_or("no analytics")?;
        let folder = scratch.path().join("data");
        let cores = std::thread::available_parallelism()?.get();
        let open = target.session_options(&folder, cores)?;
        let engine = Engine { target: &target, open, file: &file };
        let (mut harness, mut hand) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            // Each side goes first in half of the rounds; round 0 only warms up.
            let (ours, theirs) = if round % 2 == 0 {
                let ours = engine.load_through_the_harness()?;
                (ours, engine.load_by_hand(&by_hand)?)
            } else {
                let theirs = engine.load_by_hand(&by_hand)?;
                (engine.load_through_the_harness()?, theirs)
            };
            if round > 0 {
                harness.push(vec![ours]);
                hand.push(vec![theirs]);
            }
        }
        let ratio = paired_ratio(&harness, &hand).ok_or("no rounds")?;
        let middle = |times: &[Vec<f64>]| median(&times.concat()).unwrap_or(f64::NAN);
        println!(
            "{:<11} harness {:.3} s ({:.0} MB/s)  by hand {:.3} s  ratio {:.3} (95 %: {:.3} … {:.3})",
            system.name(),
            middle(&harness),
            megabytes / middle(&harness),
            middle(&hand),
            ratio.median,
            ratio.low.unwrap_or(f64::NAN),
            ratio.high.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}

struct Engine<'a> {
    target: &'a Target,
    open: SessionOptions,
    file: &'a Path,
}

impl Engine<'_> {
    fn fresh_folder(&self) -> Result<(), Problem> {
        let folder = &self.open.folder;
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        Ok(std::fs::create_dir_all(folder)?)
    }

    fn statements(&self, name: &str) -> Result<Vec<String>, Problem> {
        let cores = self.open.cores.to_string();
        let (file, folder) = (self.file.display().to_string(), self.open.folder.display().to_string());
        let values = [("table", TABLE), ("file", &file), ("cores", &cores), ("folder", &folder)];
        let texts = self.target.setup.statements(name);
        Ok(texts.iter().map(|text| fill(text, &values)).collect::<Result<_, _>>()?)
    }

    fn load_through_the_harness(&self) -> Result<f64, Problem> {
        self.fresh_folder()?;
        let log = self.open.folder.with_extension("log");
        let mut worker = worker(&log)?;
        let open = self.open.clone();
        let _: OpenReply =
            worker.request(&Op::Open { protocol: PROTOCOL_VERSION, open }, LIMIT, &|| false, &mut |_| {})?;
        let create = Op::Run { statements: self.statements("create")? };
        let _: RunReply = worker.request(&create, LIMIT, &|| false, &mut |_| {})?;
        let mut statements = self.statements("load")?;
        let load = if self.target.setup.load == LoadMode::Rows {
            LoadMethod::Rows { statement: statements.remove(0), file: self.file.to_owned() }
        } else {
            LoadMethod::Statement { statements }
        };
        let loaded: LoadReply =
            worker.request(&Op::Load { load, sync: true }, LIMIT, &|| false, &mut |_| {})?;
        Ok(loaded.seconds)
    }

    fn load_by_hand(&self, program: &Path) -> Result<f64, Problem> {
        self.fresh_folder()?;
        let mut command = Command::new(program);
        let SessionOptions { protocol, library, folder, settings, statements, .. } = &self.open;
        command.arg(protocol).arg(library.as_deref().unwrap_or(Path::new("-"))).arg(folder);
        if protocol == "sqlite" {
            for (name, value) in settings {
                command.arg(format!("PRAGMA {name} = {value}"));
            }
        } else if !settings.is_empty() {
            return Err("by_hand.c knows no start settings of this engine".into());
        }
        command.args(statements).args(self.statements("create")?);
        let load = self.statements("load")?;
        command.args(load.iter().map(|text| text.replace(":doc", "?")));
        if protocol == "sqlite" {
            command.arg(self.file);
        }
        let output = command.output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().parse()?)
    }
}

/// Compiles `by_hand.c` with the SQLite sources and options that the program is built with.
fn compile() -> Result<PathBuf, Problem> {
    let metadata = Command::new(env!("CARGO")).args(["metadata", "--format-version", "1"]).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|package| package["name"] == "libsqlite3-sys"))
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("libsqlite3-sys is not among the dependencies")?;
    let folder = Path::new(manifest).parent().ok_or("no folder")?;
    // The options of the bundled build, read from the crate's build script.
    let build = std::fs::read_to_string(folder.join("build.rs"))?;
    let bundled = build.split("\"-DSQLITE_CORE\"").nth(1).and_then(|rest| rest.split(';').next());
    let options: Vec<&str> = bundled
        .unwrap_or_default()
        .split('"')
        .filter(|text| text.starts_with("-D") && !text.contains("POSIX_THREAD"))
        .collect();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("by_hand");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/by_hand.c");
    let amalgamation = folder.join("sqlite3");
    let status = Command::new("cc")
        .args(["-O2", "-w", "-DWITH_SQLITE", "-DSQLITE_CORE"])
        .args(options)
        .arg("-I")
        .arg(&amalgamation)
        .args([&source, &amalgamation.join("sqlite3.c")])
        .args(["-o".as_ref(), program.as_os_str()])
        .args(["-lpthread", "-ldl", "-lm"])
        .status()?;
    if status.success() { Ok(program) } else { Err("cc failed".into()) }
}
