//! Synthetic run folders of any size, deterministic, with invented results.

#![allow(dead_code, reason = "each program that includes this uses its own part of it")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use jsonathlon_results::folder::answer_file;
use jsonathlon_results::test_fixtures;
use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::manifest::{Configuration, DataSetInfo, Manifest, SettingDeviation, TrialPlan};
use jsonathlon_schema::ranking::{MemoryProfile, MemorySetting, PreparationClass};
use jsonathlon_schema::record::{
    Bottleneck, Cell, Failure, FailureKind, JournalRecord, Metrics, Phase, PlanCheck, Reason, RecordBody,
    Rejects, RoundTripOutcome, RoundTripReport, Trial, Verdict,
};
use jsonathlon_schema::transport::Transport;
use jsonathlon_telemetry::activity::Activity;
use jsonathlon_telemetry::memory::Memory;
use jsonathlon_telemetry::series::{Sample, SubjectSample};

/// Start of every synthetic run: 2026-01-02T03:04:05Z, in milliseconds since 1970.
const BEGAN_MS: i64 = 1_767_323_045_000;

/// Parameters of a synthetic run.
pub(crate) struct Made {
    /// Number of systems without the yardstick.
    pub(crate) systems: usize,
    /// Number of documents per system.
    pub(crate) documents: u64,
    /// Number of rounds of the run.
    pub(crate) rounds: u32,
    /// Number of hot trials per round.
    pub(crate) hot: u32,
    /// Factor on all times of all systems.
    pub(crate) slower: f64,
    /// Whether names, reasons and answers contain HTML and scripts.
    pub(crate) hostile: bool,
    /// Length of the telemetry in seconds.
    pub(crate) seconds: usize,
    /// Whether systems are of several classes and profiles. Otherwise all are `as-is` and `sized`.
    pub(crate) classes: bool,
}

/// Memory budget of every sized system.
const MEMORY: u64 = 12 << 30;

/// An injection attempt in a name.
pub(crate) const HOSTILE_NAME: &str = "<img src=x onerror=alert(1)>";
/// An injection attempt in a document.
pub(crate) const HOSTILE_TEXT: &str = "</script><script>alert(1)</script>";

impl Default for Made {
    fn default() -> Self {
        Self {
            systems: 4,
            documents: 100_000,
            rounds: 3,
            hot: 3,
            slower: 1.0,
            hostile: false,
            seconds: 60,
            classes: false,
        }
    }
}

impl Made {
    /// Writes the run folder with all its files.
    pub(crate) fn write(&self, folder: &Path) {
        for inner in ["plans", "answers", "rejects", "logs"] {
            std::fs::create_dir_all(folder.join(inner)).unwrap();
        }
        let configurations: Vec<Configuration> =
            (0..=self.systems).map(|number| self.configuration(number)).collect();
        let mut records = Vec::new();
        for (number, configuration) in configurations.iter().enumerate() {
            Records { made: self, number, configuration, folder, all: &mut records }.make();
        }
        let mut journal = String::new();
        for record in &records {
            writeln!(journal, "{}", serde_json::to_string(record).unwrap()).unwrap();
        }
        std::fs::write(folder.join("journal.ndjson"), journal).unwrap();
        let mut series = String::new();
        for second in 0..self.seconds {
            writeln!(series, "{}", serde_json::to_string(&sample(second)).unwrap()).unwrap();
        }
        std::fs::write(folder.join("series.ndjson"), series).unwrap();
        let trials = records.iter().filter(|record| matches!(record.body, RecordBody::Trial(_)));
        let plan = TrialPlan { trials: trials.map(|record| record.key.clone()).collect() };
        let manifest = self.manifest(configurations, plan);
        std::fs::write(folder.join("manifest.json"), serde_json::to_vec(&manifest).unwrap()).unwrap();
    }

    fn configuration(&self, number: usize) -> Configuration {
        let reference = number == self.systems;
        let hostile = self.hostile && number == 1;
        let system = if reference { "yardstick".to_owned() } else { format!("system{number:02}") };
        let title = if reference { "Yardstick".to_owned() } else { format!("System {number:02}") };
        let ranks_with = if number % 7 == 3 { "generated columns" } else { "json-only" };
        Configuration {
            id: ConfigurationId::new(
                &system,
                &format!("{}.{}", 1 + number % 9, number % 4),
                if reference { "one-core" } else { "indexed" },
                "default",
            ),
            title: if hostile { HOSTILE_NAME.to_owned() } else { title },
            variant_title: "an index on five paths".to_owned(),
            embedded: number.is_multiple_of(3),
            transport: (!number.is_multiple_of(3)).then_some(Transport::Tcp),
            end_of_life: number % 11 == 5,
            outdated: (number % 11 == 7).then(|| "2026-07-15".to_owned()),
            preparation: self.preparation(number),
            profile: Some(self.profile(number)),
            memory_bytes: (self.profile(number) == MemoryProfile::Sized).then_some(MEMORY),
            memory_settings: if self.profile(number) == MemoryProfile::Sized {
                vec![MemorySetting {
                    name: "buffers".to_owned(),
                    value: "3GB".to_owned(),
                    stock: "128MB".to_owned(),
                    source: "its documentation".to_owned(),
                }]
            } else {
                Vec::new()
            },
            durability: None,
            not_made_for: None,
            parallel_unit: (self.classes && number == 0).then_some(self.documents),
            other_questions: if self.is_published(number) {
                [("q4".to_owned(), "It counts replies too.".to_owned())].into()
            } else {
                BTreeMap::new()
            },
            ranked: !self.is_published(number),
            ranks_with: match (self.classes, reference) {
                (false, true) => "reference",
                (false, false) => ranks_with,
                (true, _) => "",
            }
            .to_owned(),
            reference,
            configuration_digest: format!("blake3:{number:064x}"),
            artifact_digest: (!reference).then(|| format!("sha256:{number:064x}")),
            machine_libraries: vec![],
            exceptions: vec![SettingDeviation {
                what: format!("some_setting_{number} = 0"),
                why: "It keeps answers from one trial to the next.".to_owned(),
            }],
        }
    }

    /// Whether a system's class and profile depend on its number.
    fn varies(&self, number: usize) -> bool {
        self.classes && number < self.systems
    }

    /// Every second system is `as-is`, every tenth is `extracted`, all others are `prepared`.
    fn preparation(&self, number: usize) -> PreparationClass {
        match number {
            _ if !self.varies(number) => PreparationClass::AsIs,
            _ if number % 10 == 9 => PreparationClass::Extracted,
            _ if number.is_multiple_of(2) => PreparationClass::AsIs,
            _ => PreparationClass::Prepared,
        }
    }

    fn profile(&self, number: usize) -> MemoryProfile {
        let is_stock = self.varies(number) && number % 10 == 5;
        if is_stock { MemoryProfile::Stock } else { MemoryProfile::Sized }
    }

    /// The last system of a small run uses published statements.
    fn is_published(&self, number: usize) -> bool {
        self.classes && self.systems < 10 && number + 1 == self.systems
    }

    fn manifest(&self, configurations: Vec<Configuration>, plan: TrialPlan) -> Manifest {
        let bytes = self.documents * 480;
        let mut manifest = test_fixtures::manifest(configurations, plan);
        manifest.program = env!("CARGO_PKG_VERSION").to_owned();
        manifest.started = "2026-01-02T03:04:05Z".to_owned();
        manifest.command = vec!["jsonathlon".to_owned(), "run".to_owned()];
        manifest.disk_bytes_per_s = Some(1.5e9);
        manifest.settings.run.rounds = self.rounds;
        manifest.data = DataSetInfo {
            documents: self.documents,
            bytes,
            digest: format!("blake3:{:064x}", self.documents),
            source: format!("{} invented events", self.documents),
            staging_s: 1.25,
            reference_sizes: [("raw", 1.0), ("gzip-6", 0.28), ("lz4", 0.44), ("zstd-1", 0.26)]
                .map(|(format, share)| (format.to_owned(), (bytes as f64 * share) as u64))
                .into(),
            ..manifest.data
        };
        manifest
    }
}

/// Builds the journal records of one configuration.
struct Records<'a> {
    made: &'a Made,
    number: usize,
    configuration: &'a Configuration,
    folder: &'a Path,
    all: &'a mut Vec<JournalRecord>,
}

impl Records<'_> {
    fn make(&mut self) {
        // In small runs the third system answers wrongly and the fourth lacks documents, so that a page shows
        // both.
        let wrong = self.made.systems < 10 && self.number == 2;
        let partial = self.made.systems < 10 && self.number == 3;
        let offered = self.made.documents as f64;
        let loaded = if partial { (offered * 0.9).floor() } else { offered };
        let load_s = self.unit() * 40.0 * offered / 1e5;
        let verdict = if partial { Verdict::Partial } else { Verdict::Exact };
        for round in 1..=self.loads() {
            self.trial(
                "load",
                Phase::Load,
                round,
                0,
                Some(load_s * (1.0 + 0.02 * f64::from(round - 1))),
                verdict,
                &[
                    ("documents_offered", offered),
                    ("documents_loaded", loaded),
                    ("documents_rejected", offered - loaded),
                    ("documents_per_s", loaded / load_s),
                    ("bytes_per_s", loaded * 480.0 / load_s),
                    ("peak_pss_bytes", 1.2e8 + 3e7 * self.number as f64),
                    ("server_cpu_s", load_s * 0.9),
                    ("client_cpu_s", load_s * 0.1),
                    ("written_bytes", offered * 600.0),
                ],
            );
        }
        self.loaded(offered - loaded);
        let total = offered * (110.0 + 37.0 * self.number as f64);
        for (state, share) in [(DataState::Drained, 1.0), (DataState::Compacted, 0.8)] {
            // Only loads, and the drained sizes that follow them, are repeated.
            let loads = if state == DataState::Drained { self.loads() } else { 1 };
            for round in 1..=loads {
                self.trial_in(
                    state,
                    "size",
                    Phase::Steady,
                    round,
                    0,
                    None,
                    Verdict::Exact,
                    &[
                        ("total_bytes", (total * share * (1.0 + 0.01 * f64::from(round - 1))).floor()),
                        ("data_bytes", (total * share * 0.8).floor()),
                        ("index_bytes", (total * share * 0.2).floor()),
                        ("files_bytes", (total * share * 1.1).floor()),
                        (if state == DataState::Drained { "drained_s" } else { "compacted_s" }, 0.4),
                    ],
                );
            }
        }
        for question in 1..=6_u32 {
            let step = format!("q{question}");
            let verdict = match (wrong, self.number % 13 == 4 && question == 2) {
                (true, _) => Verdict::Wrong,
                (_, true) => Verdict::Approximate,
                _ if self.configuration.other_questions.contains_key(&step) => Verdict::Unverified,
                _ => Verdict::Exact,
            };
            for round in 1..=self.made.rounds {
                let seconds =
                    self.unit() * f64::from(question) * (1.0 + 0.01 * f64::from(round)) * offered / 1e5;
                if !self.configuration.reference {
                    self.question(&step, Phase::Cold, round, 0, seconds * 3.0, verdict);
                }
                for order in 0..self.made.hot {
                    let trial = seconds * (1.0 + 0.003 * f64::from(order));
                    let reads = self.configuration.profile == Some(MemoryProfile::Stock) && question > 1;
                    let phase = if reads { Phase::HotNotInMemory } else { Phase::Hot };
                    self.question(&step, phase, round, order, trial, verdict);
                }
            }
            self.planned(&step);
        }
    }

    fn loads(&self) -> u32 {
        if self.made.classes { self.made.rounds.min(3) } else { 1 }
    }

    /// Seconds of the first question over 100,000 documents.
    fn unit(&self) -> f64 {
        match self.configuration.reference {
            true => 1e-4,
            false => 4e-3 * 1.17_f64.powi(self.number as i32) * self.made.slower,
        }
    }

    fn cell(&self, step: &str, phase: Phase, state: Option<DataState>) -> Cell {
        let mut cell = test_fixtures::cell(self.configuration, step, phase);
        cell.parameters.insert("scale".to_owned(), self.made.documents.into());
        cell.state = state;
        cell
    }

    fn question(&mut self, step: &str, phase: Phase, round: u32, order: u32, seconds: f64, verdict: Verdict) {
        let seconds = verdict.has_time().then_some(seconds);
        let error = if verdict == Verdict::Approximate { 0.004 } else { 0.0 };
        self.trial_in(
            DataState::Drained,
            step,
            phase,
            round,
            order,
            seconds,
            verdict,
            &[
                ("held_pss_bytes", 2.2e8 + 2e7 * self.number as f64),
                ("held_anonymous_bytes", 1.2e8),
                ("open_s", 0.1234),
                ("server_cpu_s", seconds.unwrap_or_default() * 1.4),
                (
                    "read_bytes",
                    match phase {
                        Phase::Cold => 12_345_678.0,
                        Phase::HotNotInMemory => 5e8,
                        _ => 0.0,
                    },
                ),
                ("major_faults", 17.0),
                ("machine_load", 1.53),
                ("machine_steal_s", 0.010_000_000_000_000_009),
                ("resident_share", 0.000_123_4),
                ("relative_error", error),
            ],
        );
    }

    #[expect(clippy::too_many_arguments, reason = "a trial is all of these")]
    fn trial(
        &mut self,
        step: &str,
        phase: Phase,
        round: u32,
        order: u32,
        seconds: Option<f64>,
        verdict: Verdict,
        metrics: &[(&str, f64)],
    ) {
        let cell = self.cell(step, phase, None);
        self.record(cell, round, order, seconds, verdict, metrics);
    }

    #[expect(clippy::too_many_arguments, reason = "a trial is all of these")]
    fn trial_in(
        &mut self,
        state: DataState,
        step: &str,
        phase: Phase,
        round: u32,
        order: u32,
        seconds: Option<f64>,
        verdict: Verdict,
        metrics: &[(&str, f64)],
    ) {
        let cell = self.cell(step, phase, Some(state));
        self.record(cell, round, order, seconds, verdict, metrics);
    }

    fn record(
        &mut self,
        cell: Cell,
        round: u32,
        order: u32,
        seconds: Option<f64>,
        verdict: Verdict,
        metrics: &[(&str, f64)],
    ) {
        let key = cell.trial_key(round, order);
        let step = cell.step.word();
        let digest = cell
            .step
            .is_workload_step()
            .then(|| format!("blake3:{:016x}{:048x}", u64::from(step.as_bytes()[1]), 0));
        if let Some(digest) = &digest {
            let file = self.folder.join(answer_file(&self.configuration.file_name(), step, digest));
            let text = if self.made.hostile { HOSTILE_TEXT } else { "app.bsky.feed.post" };
            let answer = serde_json::json!({ "question": cell.step, "rows": [[text, 12_345]] });
            if !file.exists() {
                std::fs::write(file, answer.to_string()).unwrap();
            }
        }
        let failure = (!verdict.has_time())
            .then(|| Failure::new(FailureKind::Wrong, "row 1 of 1, count: 12345 expected, 12346 answered"));
        let trial = Trial {
            at_ms: BEGAN_MS + i64::try_from(self.all.len()).unwrap() * 40,
            verdict,
            seconds,
            server_seconds: seconds.filter(|_| self.number.is_multiple_of(2)).map(|seconds| seconds * 0.95),
            rows: digest.is_some().then_some(1),
            answer_digest: digest,
            metrics: metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect::<Metrics>(),
            bound_by: seconds.map(|_| match self.number.is_multiple_of(2) {
                true => Bottleneck::OneCore,
                false => Bottleneck::AllCores,
            }),
            failure,
            ..Trial::blank(cell, round, order)
        };
        self.all.push(JournalRecord::new(key, RecordBody::Trial(Box::new(trial))));
    }

    /// Adds the records that follow a load, such as the round-trip check.
    fn loaded(&mut self, rejected: f64) {
        let mut cell = self.cell("structure", Phase::Steady, None);
        let outcomes = [RoundTripOutcome::Bytes, RoundTripOutcome::Value, RoundTripOutcome::Changed];
        let retains = outcomes[self.number % 3];
        let changed = if retains == RoundTripOutcome::Changed { 1000 } else { 0 };
        let structure = RoundTripReport {
            cell: cell.clone(),
            retains,
            compared: 1000,
            equal_bytes: if retains == RoundTripOutcome::Bytes { 1000 } else { 0 },
            equal_value: 1000 - changed,
            changes: if changed > 0 {
                [("members removed".to_owned(), changed)].into()
            } else {
                BTreeMap::new()
            },
            notes: Vec::new(),
        };
        self.all
            .push(JournalRecord::new(format!("structure:{}", cell.key()), RecordBody::Structure(structure)));
        if rejected > 0.0 {
            cell.step = Step::Load;
            cell.phase = Phase::Load;
            let reason = if self.made.hostile { HOSTILE_TEXT } else { "duplicate key" };
            let rejects = Rejects {
                cell: cell.clone(),
                file: None,
                reasons: [(
                    reason.to_owned(),
                    Reason { documents: rejected as u64, first: None, remedy: None },
                )]
                .into(),
            };
            self.all
                .push(JournalRecord::new(format!("rejects:{}", cell.key()), RecordBody::Rejects(rejects)));
        }
    }

    fn planned(&mut self, step: &str) {
        let cell = self.cell(step, Phase::Hot, Some(DataState::Drained));
        let file = format!("plans/{}-{step}-drained.txt", self.configuration.file_name());
        let mut text = format!("SELECT event, count(*) FROM documents -- {step}\nGROUP BY event;\n\n");
        for line in 0..20 {
            writeln!(text, "{:width$}-> node {line} of {}", "", self.configuration.id.system, width = line)
                .unwrap();
        }
        std::fs::write(self.folder.join(&file), text).unwrap();
        let violations =
            if self.number % 17 == 6 { vec!["the plan lacks `index scan`".to_owned()] } else { Vec::new() };
        let key = format!("plan:{}", cell.key());
        self.all.push(JournalRecord::new(key, RecordBody::Plan(PlanCheck { cell, file, violations })));
    }
}

fn sample(second: usize) -> Sample {
    let wave = (second as f64 / 7.0).sin().abs();
    Sample {
        at_ms: BEGAN_MS + 1000 * i64::try_from(second).unwrap(),
        seconds: 1.0,
        machine: Activity {
            busy_cores: 2.0 * wave,
            waiting_cores: 0.1,
            stolen_cores: 0.0,
            runnable: 2,
            context_switches_per_s: 1234.5,
            available_memory_bytes: Some(20_000_000_000),
            megahertz: Some(2700.0),
            celsius: None,
            disk: None,
        },
        subject: (!second.is_multiple_of(20)).then(|| SubjectSample {
            activity: format!("system{:02} indexed q{}", second / 20 % 50, 1 + second % 6),
            memory: Some(Memory {
                pss_bytes: 100_000_000 + 1_000_000 * (second as u64 % 100),
                anonymous_bytes: 90_000_000,
                shared_bytes: 0,
                file_bytes: 10_000_000,
            }),
            busy_cores: Some(wave),
            read_bytes_per_s: Some(0.0),
            written_bytes_per_s: Some(1e6 * wave),
        }),
    }
}
