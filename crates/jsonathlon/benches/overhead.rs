//! Overhead of the program per statement: client time minus the time that the engine itself reports.
//!
//!     cargo bench --bench overhead [-- DOCUMENTS [ASKS]]
//!
//! Covers only engines that report their own time. Engines must be installed.

mod common;

use common::{LIMIT, Problem, generate, numbers, worker};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{ANALYTICS, Catalogue, LoadMode, fill};
use jsonathlon_dataset::questions::Question;
use jsonathlon_stats::statistics::median;
use jsonathlon_worker::protocol::{
    AskReply, LoadMethod, LoadReply, Op, OpenReply, PROTOCOL_VERSION, RunReply,
};
use jsonathlon_workloads::target::Target;

fn main() -> Result<(), Problem> {
    let numbers = numbers();
    let documents = numbers.first().copied().unwrap_or(100_000);
    let asks = numbers.get(1).copied().unwrap_or(50);
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = scratch.path().join("events.ndjson");
    generate(&file, documents)?;
    let file = file.display().to_string();
    let store = ArtifactStore::from_environment()?;
    for system in
        Catalogue::load(&[])?.systems().iter().filter(|system| system.is_embedded() && !system.is_reference())
    {
        let variant = system.representative_variant().ok_or("no variant")?;
        let configuration = system.configuration(system.default_version(), &variant.name, "default")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = store.install(artifact, &mut |_| {}, &|| false)?;
        let target = Target::new(configuration, ANALYTICS, installed).ok_or("no analytics")?;
        let analytics = &target.setup;
        let folder = scratch.path().join(system.name());
        let cores = std::thread::available_parallelism()?.get();
        let (count, at) = (cores.to_string(), folder.display().to_string());
        let values = [("table", "documents"), ("file", &file), ("cores", &count), ("folder", &at)];
        let filled = |name: &str| -> Result<Vec<String>, Problem> {
            Ok(analytics.statements(name).iter().map(|text| fill(text, &values)).collect::<Result<_, _>>()?)
        };
        let log = scratch.path().join("worker.log");
        let open = target.session_options(&folder, cores)?;
        let mut worker = worker(&log)?;
        let mut ask = |op: &Op| -> Result<serde_json::Value, Problem> {
            Ok(worker.request(op, LIMIT, &|| false, &mut |_| {})?)
        };
        let _: OpenReply = serde_json::from_value(ask(&Op::Open { protocol: PROTOCOL_VERSION, open })?)?;
        let _: RunReply = serde_json::from_value(ask(&Op::Run { statements: filled("create")? })?)?;
        let mut statements = filled("load")?;
        let load = match analytics.load {
            LoadMode::Rows | LoadMode::Stream => {
                LoadMethod::Rows { statement: statements.remove(0), file: (&file).into() }
            }
            LoadMode::File => LoadMethod::Statement { statements },
        };
        let _: LoadReply = serde_json::from_value(ask(&Op::Load { load, sync: true })?)?;
        for question in Question::ALL {
            let statement = filled(question.id())?.remove(0);
            let (mut client, mut engine, mut added) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..asks {
                let answer = ask(&Op::Ask { statement: statement.clone() })?;
                let answered: AskReply = serde_json::from_value(answer)?;
                client.push(answered.seconds);
                if let Some(seconds) = answered.outcome.server_seconds {
                    engine.push(seconds);
                    added.push(answered.seconds - seconds);
                }
            }
            let micros = |times: &[f64]| median(times).map_or(f64::NAN, |seconds| seconds * 1e6);
            if engine.is_empty() {
                println!(
                    "{:<11} {} client {:.0} µs; reports no time of its own",
                    system.name(),
                    question.id(),
                    micros(&client)
                );
            } else {
                println!(
                    "{:<11} {} client {:.0} µs  engine {:.0} µs  added, median of {asks}: {:.0} µs",
                    system.name(),
                    question.id(),
                    micros(&client),
                    micros(&engine),
                    micros(&added)
                );
            }
        }
    }
    Ok(())
}
