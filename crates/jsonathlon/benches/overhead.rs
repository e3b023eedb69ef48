//! What the harness adds to a statement: the client's time less the time that the engine itself reports.
//!
//!     cargo bench --bench overhead [-- DOCUMENTS [ASKS]]
//!
//! Only engines that report their own time can be asked. Engines must be installed.

use std::path::Path;
use std::time::Duration;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::questions::Question;
use jsonathlon_drivers::driver::Open;
use jsonathlon_drivers::worker::Worker;
use jsonathlon_drivers::worker::protocol::{Answered, Load, Loaded, Op, Opened, PROTOCOL, Ran};
use jsonathlon_measure::statistics::median;
use jsonathlon_systems::catalogue::fill;
use jsonathlon_systems::{Catalogue, LoadMode, Store};

type Problem = Box<dyn std::error::Error>;

const LIMIT: Duration = Duration::from_secs(600);

fn main() -> Result<(), Problem> {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let documents = numbers.first().copied().unwrap_or(100_000);
    let asks = numbers.get(1).copied().unwrap_or(50);
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let file = scratch.path().join("events.ndjson");
    let mut text = Vec::new();
    let mut generator = Generator::new(1, 0..documents);
    while generator.fill(&mut text, 1 << 20) {}
    std::fs::write(&file, text)?;
    let file = file.display().to_string();
    let store = Store::from_environment()?;
    for system in
        Catalogue::load(&[])?.systems().iter().filter(|system| system.is_embedded() && !system.is_reference())
    {
        let variant = system.variants().iter().find(|v| v.in_default).ok_or("no default variant")?;
        let configuration = system.configuration(system.default_version(), &variant.name, "default")?;
        let analytics = configuration.analytics.as_ref().ok_or("no analytics")?;
        let artifact = configuration.artifact.as_ref().ok_or("no artifact")?;
        let installed = store.install(artifact, &mut |_| {}, &|| false)?;
        let folder = scratch.path().join(system.name());
        let cores = std::thread::available_parallelism()?.to_string();
        let at = folder.display().to_string();
        let values = [("table", "documents"), ("file", &file), ("cores", &cores), ("folder", &at)];
        let filled = |name: &str| -> Result<Vec<String>, Problem> {
            Ok(analytics.statements(name).iter().map(|text| fill(text, &values)).collect::<Result<_, _>>()?)
        };
        let open = Open {
            protocol: configuration.protocol.clone(),
            library: installed.library().map(Path::to_owned),
            folder: folder.clone(),
            settings: configuration
                .open
                .settings
                .iter()
                .map(|(name, value)| Ok((name.clone(), fill(value, &values)?)))
                .collect::<Result<_, Problem>>()?,
            statements: configuration
                .open
                .statements
                .iter()
                .map(|text| fill(text, &values))
                .collect::<Result<_, _>>()?,
            cores: 0,
            server: None,
        };
        let log = scratch.path().join("worker.log");
        let mut worker = Worker::spawn(Path::new(env!("CARGO_BIN_EXE_jsonathlon")), &["worker"], &log, &[])?;
        let mut ask = |op: &Op| -> Result<serde_json::Value, Problem> {
            Ok(worker.request(op, LIMIT, &|| false, &mut |_| {})?)
        };
        let _: Opened = serde_json::from_value(ask(&Op::Open { protocol: PROTOCOL, open })?)?;
        let _: Ran = serde_json::from_value(ask(&Op::Run { statements: filled("create")? })?)?;
        let mut statements = filled("load")?;
        let load = match analytics.load {
            LoadMode::Rows | LoadMode::Stream => {
                Load::Rows { statement: statements.remove(0), file: (&file).into() }
            }
            LoadMode::File => Load::Statement { statements },
        };
        let _: Loaded = serde_json::from_value(ask(&Op::Load { load, sync: true })?)?;
        for question in Question::ALL {
            let statement = filled(question.id())?.remove(0);
            let (mut client, mut engine, mut added) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..asks {
                let answer = ask(&Op::Ask { statement: statement.clone() })?;
                let answered: Answered = serde_json::from_value(answer)?;
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
