//! Loading through the harness against loading by hand: the same statements, file, threads and
//! durability, side by side in one run, A B A B …, with the ratio of each pair and its interval.
//!
//!     cargo bench --bench loading [-- DOCUMENTS [ROUNDS]]
//!
//! *By hand* is `by_hand.c`, compiled here: a plain C program on the same engine library (and, for SQLite,
//! on the same amalgamation with the same options that is built into the program). Engines must be
//! installed (`jsonathlon systems install --all`); a C compiler is needed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_drivers::driver::Open;
use jsonathlon_drivers::worker::Worker;
use jsonathlon_drivers::worker::protocol::{Load, Loaded, Op, Opened, PROTOCOL, Ran};
use jsonathlon_measure::statistics::{median, paired_ratio};
use jsonathlon_systems::catalogue::fill;
use jsonathlon_systems::{Catalogue, Configuration, LoadMode, Store};

type Problem = Box<dyn std::error::Error>;

const TABLE: &str = "events";
const LIMIT: Duration = Duration::from_secs(1800);

fn main() -> Result<(), Problem> {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let documents = numbers.first().copied().unwrap_or(200_000);
    let rounds = numbers.get(1).copied().unwrap_or(9) as usize;
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = scratch.path().join("events.ndjson");
    let mut text = Vec::new();
    let mut generator = Generator::new(1, 0..documents);
    while generator.fill(&mut text, 1 << 20) {}
    std::fs::write(&file, &text)?;
    let megabytes = text.len() as f64 / 1e6;
    drop(text);
    println!("{documents} documents, {megabytes:.0} MB, {rounds} rounds; seconds are medians");

    let by_hand = compile()?;
    let catalogue = Catalogue::load(&[])?;
    let store = Store::from_environment()?;
    for system in catalogue.systems().iter().filter(|system| system.is_embedded() && !system.is_reference()) {
        let variant = system.variants().iter().find(|v| v.in_default).ok_or("no default variant")?;
        let configuration = system.configuration(system.default_version(), &variant.name, "default")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = store.install(artifact, &mut |_| {}, &|| false)?;
        let engine = Engine {
            configuration: &configuration,
            library: installed.library().map(Path::to_owned),
            file: &file,
            folder: scratch.path().join("data"),
        };
        let (mut harness, mut hand) = (Vec::new(), Vec::new());
        for round in 0..=rounds {
            // Each goes first in half of the rounds; round 0 only warms up.
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
    configuration: &'a Configuration,
    library: Option<PathBuf>,
    file: &'a Path,
    folder: PathBuf,
}

impl Engine<'_> {
    fn fresh_folder(&self) -> Result<(), Problem> {
        if self.folder.exists() {
            std::fs::remove_dir_all(&self.folder)?;
        }
        Ok(std::fs::create_dir_all(&self.folder)?)
    }

    fn filled(&self, text: &str) -> Result<String, Problem> {
        let cores = std::thread::available_parallelism()?.to_string();
        let (file, folder) = (self.file.display().to_string(), self.folder.display().to_string());
        let values = [("table", TABLE), ("file", &file), ("cores", &cores), ("folder", &folder)];
        Ok(fill(text, &values)?)
    }

    fn statements(&self, name: &str) -> Result<Vec<String>, Problem> {
        let analytics = self.configuration.analytics.as_ref().ok_or("no analytics")?;
        analytics.statements(name).iter().map(|text| self.filled(text)).collect()
    }

    fn session(&self) -> Result<Vec<String>, Problem> {
        self.configuration.open.statements.iter().map(|text| self.filled(text)).collect()
    }

    fn load_through_the_harness(&self) -> Result<f64, Problem> {
        self.fresh_folder()?;
        let log = self.folder.with_extension("log");
        let mut worker = Worker::spawn(Path::new(env!("CARGO_BIN_EXE_jsonathlon")), &["worker"], &log, &[])?;
        let settings = &self.configuration.open.settings;
        let open = Open {
            protocol: self.configuration.protocol.clone(),
            library: self.library.clone(),
            folder: self.folder.clone(),
            settings: settings
                .iter()
                .map(|(name, value)| Ok((name.clone(), self.filled(value)?)))
                .collect::<Result<_, Problem>>()?,
            statements: self.session()?,
            cores: 0,
            server: None,
        };
        let _: Opened =
            worker.request(&Op::Open { protocol: PROTOCOL, open }, LIMIT, &|| false, &mut |_| {})?;
        let create = Op::Run { statements: self.statements("create")? };
        let _: Ran = worker.request(&create, LIMIT, &|| false, &mut |_| {})?;
        let mut statements = self.statements("load")?;
        let rows = self.configuration.analytics.as_ref().is_some_and(|a| a.load == LoadMode::Rows);
        let load = if rows {
            Load::Rows { statement: statements.remove(0), file: self.file.to_owned() }
        } else {
            Load::Statement { statements }
        };
        let loaded: Loaded = worker.request(&Op::Load { load, sync: true }, LIMIT, &|| false, &mut |_| {})?;
        Ok(loaded.seconds)
    }

    fn load_by_hand(&self, program: &Path) -> Result<f64, Problem> {
        self.fresh_folder()?;
        let mut command = Command::new(program);
        command.arg(&self.configuration.protocol);
        command.arg(self.library.as_deref().unwrap_or(Path::new("-"))).arg(&self.folder);
        let settings = &self.configuration.open.settings;
        if self.configuration.protocol == "sqlite" {
            for (name, value) in settings {
                command.arg(format!("PRAGMA {name} = {}", self.filled(value)?));
            }
        } else if !settings.is_empty() {
            return Err("by_hand.c knows no start settings of this engine".into());
        }
        command.args(self.session()?).args(self.statements("create")?);
        let load = self.statements("load")?;
        command.args(load.iter().map(|text| text.replace(":doc", "?")));
        if self.configuration.protocol == "sqlite" {
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
    // The options of its bundled build, read from where they are given to the compiler.
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
