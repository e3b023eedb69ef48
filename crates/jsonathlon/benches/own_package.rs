//! Times of the program, compared with each engine's own Python package: same statements and files, in the
//! order A B B A …, with the ratio of each pair and its interval.
//!
//!     cargo bench --bench own_package [-- DOCUMENTS [ROUNDS [ASKS]] [SYSTEM/VARIANT …]]
//!
//! Per engine: the usual variant and `as-published`, loaded once. Per round a worker, then `own_package.py`
//! with the vendor's package, opens the folder, warms up, asks and closes; timed from statement to last typed
//! row (or Python object). Needs installed engines; `pip` downloads packages into the target folder.

mod common;

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use common::{LIMIT, Problem, generate, numbers, request, worker};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{ANALYTICS, Catalogue, LoadMode, System, Variant, fill};
use jsonathlon_dataset::questions::Question;
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_stats::statistics::{median, paired_ratio};
use jsonathlon_worker::{
    Worker,
    protocol::{AskReply, LoadMethod, LoadReply, Op, OpenReply, PROTOCOL_VERSION, RunReply, SettleReply},
};
use jsonathlon_workloads::target::Target;

/// Unmeasured executions per question and round.
const WARM_UP: usize = 2;
/// Python package of each engine, by protocol. SQLite is part of Python.
const PACKAGES: [(&str, &str); 2] = [("duckdb", "duckdb==2.0.0"), ("chdb", "chdb-core==26.7.3")];
/// Variant with the published statements.
const PUBLISHED: &str = "as-published";
/// Ratios that count as equal. An interval that overlaps this range shows no difference; how much that means
/// depends on its width.
const SAME: (f64, f64) = (0.98, 1.02);

fn main() -> Result<(), Problem> {
    let numbers = numbers();
    let documents = numbers.first().copied().unwrap_or(100_000);
    let rounds = numbers.get(1).copied().unwrap_or(9) as usize;
    let asks = numbers.get(2).copied().unwrap_or(15) as usize;
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = scratch.path().join("events.ndjson");
    generate(&file, documents)?;
    println!("{documents} documents, {rounds} rounds of {asks} asks after {WARM_UP} to warm up; medians");

    let store = ArtifactStore::from_environment()?;
    let chosen: Vec<String> = std::env::args().skip(1).filter(|argument| argument.contains('/')).collect();
    let catalogue = Catalogue::load(&[])?;
    let embedded = catalogue.systems().iter().filter(|system| system.is_embedded() && !system.is_reference());
    for (system, variant) in
        embedded.flat_map(|system| variants(system).map(move |variant| (system, variant)))
    {
        let name = format!("{}/{}", system.name(), variant.name);
        if !chosen.is_empty() && !chosen.contains(&name) {
            continue;
        }
        let folder = scratch.path().join(format!("{}-{}", system.name(), variant.name));
        let engine = Engine::of(system, variant, &store, &file, &folder)?;
        let package = Package::of(&engine.open.protocol)?;
        match package.check()? {
            Checked { version: Some(version), .. } => {
                println!("{name} beside {version} of its package")
            }
            Checked { unusable, .. } => {
                println!("{name}: left out: {}", unusable.unwrap_or_default());
                continue;
            }
        }
        engine.load()?;
        compare(&name, &engine, &package, rounds, asks)?;
    }
    Ok(())
}

/// The variants of a system to measure: its usual one and `as-published`.
fn variants(system: &System) -> impl Iterator<Item = &Variant> {
    let usual = system.representative_variant().map(|variant| variant.name.clone());
    system
        .variants()
        .iter()
        .filter(move |variant| Some(&variant.name) == usual.as_ref() || variant.name == PUBLISHED)
}

/// Runs the rounds of one engine and prints the results.
fn compare(
    name: &str,
    engine: &Engine,
    package: &Package,
    rounds: usize,
    asks: usize,
) -> Result<(), Problem> {
    let questions = Question::ALL.len();
    let (mut harness, mut theirs) = (vec![Vec::new(); questions], vec![Vec::new(); questions]);
    for round in 0..=rounds {
        // Each side goes first in half of the rounds; round 0 only warms up.
        let (by_harness, by_package) = if round % 2 == 0 {
            let by_harness = engine.ask(asks)?;
            (by_harness, package.ask(engine, asks)?)
        } else {
            let by_package = package.ask(engine, asks)?;
            (engine.ask(asks)?, by_package)
        };
        if round == 0 {
            continue;
        }
        for (index, (ours, other)) in by_harness.into_iter().zip(by_package).enumerate() {
            if ours.rows != other.rows {
                return Err(format!("{name}: {} rows here, {} there", ours.rows, other.rows).into());
            }
            harness[index].push(ours.seconds);
            theirs[index].push(other.seconds);
        }
    }
    for (question, (ours, theirs)) in Question::ALL.iter().zip(harness.iter().zip(&theirs)) {
        let ratio = paired_ratio(ours, theirs).ok_or("no rounds")?;
        let (low, high) = (ratio.low.unwrap_or(f64::NAN), ratio.high.unwrap_or(f64::NAN));
        let middle = |rounds: &[Vec<f64>]| median(&rounds.concat()).map_or(f64::NAN, |seconds| seconds * 1e3);
        let verdict = if low <= SAME.1 && high >= SAME.0 { "overlaps" } else { "OUTSIDE" };
        println!(
            "{name:<24} {} harness {:>8.3} ms  own package {:>8.3} ms  ratio {:.3} (95 %: {low:.3} … {high:.3})  \
             {verdict} {} … {}",
            question.id(),
            middle(ours),
            middle(theirs),
            ratio.median,
            SAME.0,
            SAME.1,
        );
    }
    Ok(())
}

/// Times of one question in one round.
#[derive(Deserialize)]
struct Asked {
    seconds: Vec<f64>,
    rows: usize,
}

/// An engine in one configuration, with all placeholders filled in.
struct Engine {
    open: SessionOptions,
    create: Vec<String>,
    load: LoadMethod,
    settle: Op,
    questions: Vec<String>,
}

impl Engine {
    fn of(
        system: &System,
        variant: &Variant,
        store: &ArtifactStore,
        file: &Path,
        folder: &Path,
    ) -> Result<Self, Problem> {
        let configuration = system.configuration(system.default_version(), &variant.name, "default")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = store.install(artifact, &mut |_| {}, &|| false)?;
        let target = Target::new(configuration, ANALYTICS, installed).ok_or("no analytics")?;
        let analytics = &target.setup;
        let cores = std::thread::available_parallelism()?.get();
        let count = cores.to_string();
        let (from, at) = (file.display().to_string(), folder.display().to_string());
        let values = [("table", "documents"), ("file", &from), ("cores", &count), ("folder", &at)];
        let filled = |texts: &[String]| -> Result<Vec<String>, Problem> {
            Ok(texts.iter().map(|text| fill(text, &values)).collect::<Result<_, _>>()?)
        };
        let open = target.session_options(folder, cores)?;
        let mut statements = filled(analytics.statements("load"))?;
        let load = match analytics.load {
            LoadMode::Rows | LoadMode::Stream => {
                LoadMethod::Rows { statement: statements.remove(0), file: file.to_owned() }
            }
            LoadMode::File => LoadMethod::Statement { statements },
        };
        // All background work and the index must be finished before anything is compared.
        let mut settling = filled(analytics.statements("index"))?;
        settling.extend(filled(analytics.statements("drain"))?);
        let settle = Op::Settle {
            statements: settling,
            until_zero: filled(analytics.statements("drained"))?.into_iter().next(),
            limit_s: LIMIT.as_secs_f64(),
            sync: true,
        };
        let questions = Question::ALL
            .iter()
            .map(|question| {
                filled(analytics.statements(question.id()))?.into_iter().next().ok_or("no statement".into())
            })
            .collect::<Result<_, Problem>>()?;
        Ok(Self { open, create: filled(analytics.statements("create"))?, load, settle, questions })
    }

    fn worker(&self) -> Result<Worker, Problem> {
        let log = self.open.folder.with_extension("log");
        let mut worker = worker(&log)?;
        let _: OpenReply =
            request(&mut worker, &Op::Open { protocol: PROTOCOL_VERSION, open: self.open.clone() })?;
        Ok(worker)
    }

    fn load(&self) -> Result<(), Problem> {
        let mut worker = self.worker()?;
        let _: RunReply = request(&mut worker, &Op::Run { statements: self.create.clone() })?;
        let _: LoadReply = request(&mut worker, &Op::Load { load: self.load.clone(), sync: true })?;
        let _: SettleReply = request(&mut worker, &self.settle)?;
        worker.close(LIMIT)?;
        Ok(())
    }

    fn ask(&self, asks: usize) -> Result<Vec<Asked>, Problem> {
        let mut worker = self.worker()?;
        let mut answers = Vec::new();
        for statement in &self.questions {
            let mut asked = Asked { seconds: Vec::new(), rows: 0 };
            for execution in 0..WARM_UP + asks {
                let answered: AskReply = request(&mut worker, &Op::Ask { statement: statement.clone() })?;
                asked.rows = answered.outcome.rows.len();
                if execution >= WARM_UP {
                    asked.seconds.push(answered.seconds);
                }
            }
            answers.push(asked);
        }
        worker.close(LIMIT)?;
        Ok(answers)
    }
}

/// What `own_package.py` reports about an installed package.
#[derive(Deserialize)]
struct Checked {
    version: Option<String>,
    unusable: Option<String>,
}

/// The Python package of an engine.
struct Package {
    protocol: String,
    /// Installation folder; `None` if the package is part of Python.
    folder: Option<PathBuf>,
}

impl Package {
    /// The package of a protocol; installs it if it is missing.
    fn of(protocol: &str) -> Result<Self, Problem> {
        let Some((_, name)) = PACKAGES.iter().find(|(of, _)| *of == protocol) else {
            return Ok(Self { protocol: protocol.to_owned(), folder: None });
        };
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages").join(name);
        if !folder.exists() {
            // Installed into a temporary folder first, so that an existing folder is always complete.
            let part = folder.with_extension("part");
            let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--target"];
            let installed = Command::new("python3").args(pip).arg(&part).arg(name).status()?;
            if !installed.success() {
                return Err(format!("pip did not install {name}").into());
            }
            std::fs::rename(part, &folder)?;
        }
        Ok(Self { protocol: protocol.to_owned(), folder: Some(folder) })
    }

    fn check(&self) -> Result<Checked, Problem> {
        self.run(&json!({"what": "check", "protocol": self.protocol}))
    }

    fn ask(&self, engine: &Engine, asks: usize) -> Result<Vec<Asked>, Problem> {
        self.run(&json!({
            "what": "ask",
            "protocol": self.protocol,
            "folder": engine.open.folder,
            "settings": engine.open.settings,
            "session": engine.open.statements,
            "statements": engine.questions,
            "warm_up": WARM_UP,
            "asks": asks,
        }))
    }

    fn run<R: DeserializeOwned>(&self, plan: &serde_json::Value) -> Result<R, Problem> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/own_package.py");
        let mut command = Command::new("python3");
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(folder) = &self.folder {
            command.env("PYTHONPATH", folder);
        }
        let mut child = command.spawn()?;
        child.stdin.take().ok_or("no standard input")?.write_all(plan.to_string().as_bytes())?;
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("own_package.py failed for {}", self.protocol).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}
