//! Tests with a workload that is registered only here: it runs, is killed and resumed, summarised, compared,
//! printed, exported and charted like the built-in ones.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod support;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::json;
use support::{World, eventually, mock};

use jsonathlon_catalogue::{
    Catalogue, CatalogueError, Installed, LoadMode, Said, Section, StatementRule, WorkloadRules,
};
use jsonathlon_dataset::source::Source;
use jsonathlon_report::{draw::Look, page};
use jsonathlon_results::{compare::compare, export, summary::Run};
use jsonathlon_schema::{
    id::State,
    record::{Cell, Phase, Verdict},
};
use jsonathlon_worker::protocol::{Answered, Op};
use jsonathlon_workloads::{
    RunError,
    bench::{Bench, TABLE, UnderTest},
    engine::WorkerCommand,
    observer::Silent,
    recorder::{Recorder, blank},
    run::{Plan, resume, start},
    session::Ended,
    settings::Settings,
    target::Target,
    workload::Workload,
};

/// A workload that loads the documents and executes one statement per round.
struct Fetch;

const FETCH: &str = "fetch";
const ROUNDS: u32 = 4;
const DOCUMENTS: u64 = 200;

/// Rules of the workload's section in a system's folder.
#[derive(Debug)]
struct Rules;

impl WorkloadRules for Rules {
    fn name(&self) -> &'static str {
        FETCH
    }

    fn files(&self) -> &'static [StatementRule] {
        const FILES: [StatementRule; 7] = [
            StatementRule::required("create"),
            StatementRule::required("load"),
            StatementRule::required("drain"),
            StatementRule::required("count").single(),
            StatementRule::required("sizes").single(),
            StatementRule::required("drop"),
            StatementRule::required("fetch").single(),
        ];
        &FILES
    }

    fn keys(&self) -> &'static [&'static str] {
        &[]
    }

    fn read(&self, _: &[Section<'_>]) -> Result<Said, CatalogueError> {
        Ok(Said { load: Some(LoadMode::Rows), ..Said::default() })
    }
}

static RULES: Rules = Rules;

impl Fetch {
    fn cell(one: &UnderTest<'_>) -> Cell {
        one.cells.cell(FETCH, Phase::Hot, Some(State::Drained))
    }

    fn fetch(one: &mut UnderTest<'_>, round: u32, recorder: &mut Recorder<'_>) -> Result<(), Ended> {
        let cell = Self::cell(one);
        let key = cell.trial_key(round, 0);
        if recorder.has(&key) {
            return Ok(());
        }
        one.session.open()?;
        let statement = one.session.statement(FETCH, &[("table", TABLE)])?;
        let limit = Duration::from_secs(60);
        let answered: Answered = one.session.request(&Op::Ask { statement }, limit, &mut |_| {})?;
        let mut trial = blank(&cell, round, 0);
        trial.seconds = Some(answered.seconds);
        trial.verdict = Verdict::Exact;
        recorder.trial(key, trial)?;
        one.session.close()
    }
}

impl Workload for Fetch {
    fn name(&self) -> &'static str {
        FETCH
    }

    fn settings(&self) -> serde_json::Value {
        json!({ "once": true })
    }

    fn refuses(&self, _: &Target) -> Option<String> {
        None
    }

    fn keys(&self, bench: &Bench<'_>) -> Vec<String> {
        let of = |one: UnderTest<'_>| {
            let own = (1..=ROUNDS).map(|round| Self::cell(&one).trial_key(round, 0));
            one.cells.load_keys(1).into_iter().chain(own).collect::<Vec<String>>()
        };
        bench.all_under_test().into_iter().flat_map(of).collect()
    }

    fn run(&self, bench: &Bench<'_>, recorder: &mut Recorder<'_>) -> Result<(), RunError> {
        let mut all = bench.all_under_test();
        for round in 1..=ROUNDS {
            for one in &mut all {
                if one.holds.is_err() {
                    bench.load(1, one, recorder)?;
                }
                Ended::split(Self::fetch(one, round, recorder))?.unwrap();
            }
        }
        bench.leave(&mut all, recorder);
        Ok(())
    }
}

/// A world with two systems that support the workload.
fn world() -> World {
    let slow = |milliseconds: u64| json!({ "delay_ms": { "count": milliseconds } });
    let world = World::with(&[mock("ma", slow(30)), mock("mb", slow(30))]);
    for name in ["ma", "mb"] {
        let folder = world.path("systems").join(name);
        let definition = std::fs::read_to_string(folder.join("system.toml")).unwrap();
        std::fs::write(folder.join("system.toml"), definition + "\n[fetch]\n").unwrap();
        std::fs::create_dir(folder.join(FETCH)).unwrap();
        for statement in ["create", "load", "drain", "count", "sizes", "drop"] {
            let file = format!("{statement}.sql");
            std::fs::copy(folder.join("analytics").join(&file), folder.join(FETCH).join(&file)).unwrap();
        }
        std::fs::write(folder.join(FETCH).join("fetch.sql"), "count {{table}};\n").unwrap();
    }
    world
}

fn plan(systems: &Path) -> Plan {
    let catalogue = Catalogue::load_with(&[systems.to_owned()], &[&RULES]).unwrap();
    let target = |name: &str| {
        let configuration = catalogue.get(name).unwrap().configuration("1.0", "plain", "default").unwrap();
        let installed = Installed {
            version: "1.0".into(),
            reports: "mock 1.0".into(),
            folder: None,
            sha256: None,
            source: "bundled".into(),
            files: [].into(),
        };
        Target::new(configuration, FETCH, installed).unwrap()
    };
    Plan {
        source: Source::Generated { seed: 1, start: 0, documents: DOCUMENTS, malformed: 0 },
        settings: Settings { rounds: ROUNDS, load_rounds: Some(1), ..Settings::default() },
        targets: vec![target("ma"), target("mb")],
        worker: WorkerCommand {
            program: PathBuf::from(env!("CARGO_BIN_EXE_jsonathlon")),
            arguments: vec!["worker".into()],
        },
        command: vec!["a test".into()],
    }
}

/// Environment variables of the program to be killed: the folder of the systems, and the run folder.
const SYSTEMS: &str = "JSONATHLON_TEST_OWN_SYSTEMS";
const OUT: &str = "JSONATHLON_TEST_OWN_OUT";

/// The program that is killed: this test executable, started again with only this test.
#[test]
#[ignore = "a part of the test of killing, which starts it"]
fn a_run_that_will_be_killed() {
    let (Some(systems), Some(out)) = (std::env::var_os(SYSTEMS), std::env::var_os(OUT)) else { return };
    start(&plan(Path::new(&systems)), &mut Fetch, Path::new(&out), &mut Silent, &|| false).unwrap();
}

#[test]
fn a_workload_of_ones_own_runs_is_killed_and_goes_on() {
    let world = world();
    let (systems, out) = (world.path("systems"), world.path("out"));
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_run_that_will_be_killed", "--ignored"])
        .env(SYSTEMS, &systems)
        .env(OUT, &out)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let kept = world.kept("out");
    eventually("some trials have a record", || kept.recorded() >= 3);
    program.kill().unwrap();
    program.wait().unwrap();
    let before = kept.whole_lines();
    let killed = Run::read(&out).unwrap();
    assert!(!killed.open_trials().is_empty(), "it was killed in the middle");

    resume(&plan(&systems), &mut Fetch, &out, &mut Silent, &|| false).unwrap();
    let run = Run::read(&out).unwrap();
    assert!(kept.journal().starts_with(&before), "what was recorded stays");
    let summary = run.summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    for system in ["ma", "mb"] {
        let entry = |step: &str| {
            let mut of = summary.results.iter().filter(|entry| entry.cell.id.system == system);
            of.find(|entry| entry.cell.step.word() == step).unwrap()
        };
        assert!(entry(FETCH).trials == u64::from(ROUNDS) && entry(FETCH).low_s.is_some());
        assert_eq!(entry("load").metrics["documents_loaded"], DOCUMENTS as f64);
        assert!(entry("size").metrics.contains_key("total_bytes"));
    }
    assert_eq!(run.manifest.workloads, [FETCH]);
    assert_eq!(run.manifest.settings[FETCH], json!({ "once": true }));
}

#[test]
fn it_is_compared_printed_exported_and_drawn() {
    let world = world();
    let [a, b] = ["a", "b"].map(|name| {
        let out = world.path(name);
        start(&plan(&world.path("systems")), &mut Fetch, &out, &mut Silent, &|| false).unwrap();
        Run::read(&out).unwrap()
    });
    let compared = compare(&a, &b, false).unwrap();
    let cells: Vec<String> = compared.cells.iter().map(|cell| cell.name()).collect();
    assert!(cells.iter().filter(|name| *name == "fetch hot").count() == 2, "{cells:?}");
    let plain = Look { colour: false };
    assert!(jsonathlon_report::compare::tables(&compared, plain).contains("fetch hot"));
    let tables = jsonathlon_report::run::summed_up(&a, &a.summary(), plain);
    for text in ["fetch", "ma 1.0", "mb 1.0"] {
        assert!(tables.contains(text), "{text}: {tables}");
    }
    let csv = export::csv(&a.summary());
    assert_eq!(
        csv.lines().filter(|line| line.starts_with("fetch,ma,1.0,plain,fetch,hot")).count(),
        1,
        "{csv}"
    );
    let page = page::write_own(a).unwrap();
    assert!(std::fs::metadata(page).unwrap().len() > 100_000);
}

#[test]
fn another_workloads_run_is_not_resumed_as_this_one() {
    let world = world();
    let out = world.path("out");
    start(&plan(&world.path("systems")), &mut Fetch, &out, &mut Silent, &|| false).unwrap();
    // The real program does not have this workload and reports that.
    let said = world.run(&["run", "--resume", &world.text("out")]).expect(2);
    assert!(said.stderr.contains("no workload `fetch`"), "{}", said.stderr);
}
