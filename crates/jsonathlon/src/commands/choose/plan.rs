//! Plans the parts of a choice: which runs there are, their commands, and how long they take.

use std::path::PathBuf;

use jsonathlon_catalogue::{Catalogue, bytes};
use jsonathlon_choose::facts::Part;
use jsonathlon_choose::needs::{Need, NeedsFile};
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_workloads::expected_time::rough_duration;

use super::extent::{Extent, FittedExtent};
use super::saved::{Choice, Load, SavedChoice};
use crate::cli::run::RunCommand;
use crate::commands::part_run::{PassedOnOptions, describe_error, parse_command};
use crate::commands::run::{DocumentCount, expected_seconds};
use crate::exit::Failure;

/// Durability tier of the runs if the user needs none.
const DEFAULT_TIER: DurabilityTier = DurabilityTier::Synced;
/// Name of the mix, which its cells have as their step.
const MIX: &str = "own-mix";
/// Number of rounds that find out which rate can be offered to all systems.
const CAPACITY_ROUNDS: u32 = 2;
/// Warm-up before a measurement window, in seconds; shorter before windows of less than twice of it.
const MAX_WARMUP_S: f64 = 0.75;
/// Number of crashes of each kind.
const CRASHES: u32 = 3;
/// Rate of commands that are only looked at before the rate is known; it changes no expected duration.
const ANY_RATE: f64 = 1_000.0;

/// What earlier parts have found out for later ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SettledLoad {
    /// Rate in operations per second. `None` if none is known, so that clients work without a rate.
    pub(super) rate: Option<f64>,
    /// Key of the documents.
    pub(super) key: Option<String>,
    /// Path that updates set. `None` if there is none, or none is known yet.
    pub(super) update: Option<String>,
}

impl SettledLoad {
    /// What the user states.
    pub(super) fn stated(load: &Load) -> Self {
        Self { rate: load.rate, key: load.key.clone(), update: load.update.clone() }
    }
}

/// Durability tier in which systems are measured: the one that the user needs.
pub(super) fn tier(needs: &NeedsFile) -> DurabilityTier {
    let needed = needs.needs.iter().find_map(|need| match need {
        Need::Durability(tier) => Some(*tier),
        _ => None,
    });
    needed.unwrap_or(DEFAULT_TIER)
}

/// Number of documents between those that a part loads: 1 if it loads all of them.
pub(super) fn step(part: Part) -> u64 {
    match part {
        Part::Quarter => 4,
        Part::Half => 2,
        Part::Capacity | Part::Serving | Part::Questions | Part::Durability => 1,
    }
}

impl SavedChoice {
    /// Parts in the order in which they are run.
    pub(super) fn parts(&self, extent: Extent) -> Vec<Part> {
        let is_planned = |part: &Part| match part {
            Part::Capacity => self.load.rate.is_none(),
            Part::Serving | Part::Questions => true,
            Part::Quarter | Part::Half => extent.smaller_loads,
            Part::Durability => self.prove,
        };
        let has_systems = |part: &Part| !self.systems(*part).is_empty();
        Part::ALL.into_iter().filter(is_planned).filter(has_systems).collect()
    }

    /// Systems that take part in a part, each as NAME@VERSION.
    pub(super) fn systems(&self, part: Part) -> &[String] {
        match part {
            Part::Questions if self.questions.is_none() => &[],
            Part::Questions => &self.participants.questions,
            Part::Capacity | Part::Serving | Part::Quarter | Part::Half | Part::Durability => {
                &self.participants.serving
            }
        }
    }
}

impl Choice {
    /// File of the mix of operations.
    pub(super) fn mix_file(&self) -> PathBuf {
        self.folder.join(format!("{MIX}.toml"))
    }

    /// Content of the mix file.
    pub(super) fn mix_text(&self) -> String {
        let shares = self.saved.load.shares.iter();
        let lines: String = shares.map(|(operation, share)| format!("{operation} = {share:?}\n")).collect();
        format!(
            "# The operations of the load, and how records are drawn.\nrequests = \"zipfian\"\n\n[operations]\n{lines}"
        )
    }

    /// File with the documents of a part that does not load all of them.
    pub(super) fn subset_file(&self, part: Part) -> PathBuf {
        self.folder.join(format!("{}.ndjson", part.folder()))
    }

    /// Command of a part, as a user would type it.
    ///
    /// # Errors
    /// If an option is invalid; the text has the command's own message.
    pub(super) fn command(
        &self,
        part: Part,
        extent: Extent,
        settled: &SettledLoad,
        passed_on: &PassedOnOptions,
    ) -> Result<RunCommand, Failure> {
        parse_command(&self.arguments(part, extent, settled, passed_on))
            .map_err(|error| Failure::usage(format!("{}: {}", part.folder(), describe_error(&error).1)))
    }

    /// Words of the command of a part.
    pub(super) fn arguments(
        &self,
        part: Part,
        extent: Extent,
        settled: &SettledLoad,
        passed_on: &PassedOnOptions,
    ) -> Vec<String> {
        let mut arguments = words("jsonathlon run");
        arguments.push(match part {
            Part::Questions => "questions".to_owned(),
            Part::Durability => "durability".to_owned(),
            Part::Capacity | Part::Serving | Part::Quarter | Part::Half => "serving".to_owned(),
        });
        let out = self.folder.join(part.folder());
        arguments.extend(option("--systems", self.saved.systems(part).join(",")));
        arguments.extend(option("--out", out.display()));
        arguments.extend(self.saved.memory.iter().flat_map(|size| option("--memory", bytes::to_text(*size))));
        arguments.extend(match part {
            Part::Questions => self.questions_options(extent),
            Part::Durability => self.durability_options(),
            Part::Capacity | Part::Serving | Part::Quarter | Part::Half => {
                self.serving_options(part, extent, settled)
            }
        });
        arguments.extend(passed_on.arguments());
        arguments
    }

    /// Options that name the documents of a part.
    fn data_options(&self, part: Part) -> Vec<String> {
        if step(part) > 1 {
            let file = option("--data", self.subset_file(part).display());
            return file.into_iter().chain(option("--input", "lines")).collect();
        }
        let input = self.saved.input;
        let mut options: Vec<String> = option("--data", self.saved.data.display()).into();
        options.extend(input.form.iter().flat_map(|form| option("--input", form)));
        if input.skip_bulk_actions {
            options.extend(option("--bulk-actions", "skip"));
        }
        options
    }

    fn serving_options(&self, part: Part, extent: Extent, settled: &SettledLoad) -> Vec<String> {
        let mut options = self.data_options(part);
        options.extend(option("--variants", &self.saved.variants));
        options.extend(option("--durability", tier(&self.needs).word()));
        options.extend(settled.key.iter().flat_map(|key| option("--key", key)));
        options.extend(settled.update.iter().flat_map(|update| option("--update", update)));
        let load = &self.saved.load;
        options.extend(match part {
            // One read: only the loads count.
            Part::Quarter | Part::Half => {
                words("--mixes c --clients 1 --rounds 1 --operation-count 1 --duration 100ms --warmup 10ms")
            }
            _ => {
                let mix = option("--mixes", self.mix_file().display());
                mix.into_iter().chain(option("--clients", load.clients)).collect()
            }
        });
        if step(part) == 1 {
            let window_s = if part == Part::Serving { self.window_s(extent) } else { load.duration_s };
            options.extend(option("--duration", format!("{window_s}s")));
            options.extend(option("--warmup", format!("{}s", MAX_WARMUP_S.min(window_s / 2.0))));
        }
        if part == Part::Capacity {
            options.extend(option("--rounds", extent.rounds.min(CAPACITY_ROUNDS)));
        }
        if part == Part::Serving {
            options.extend(option("--rounds", extent.rounds));
            options.extend(option("--load-rounds", extent.loads));
            let rates = settled.rate.map(|rate| match extent.further_rates {
                true => format!("{rate},{},{}", rate / 2.0, rate * 2.0),
                false => rate.to_string(),
            });
            options.extend(rates.iter().flat_map(|rates| option("--rates", rates)));
            if let (Some(streams), Some(questions)) = (load.streams, &self.saved.questions) {
                options.extend(option("--reports", questions.display()));
                options.extend(option("--streams", streams));
            }
        }
        options
    }

    fn questions_options(&self, extent: Extent) -> Vec<String> {
        let mut options = self.data_options(Part::Questions);
        options
            .extend(self.saved.questions.iter().flat_map(|folder| option("--questions", folder.display())));
        options.extend(option("--rounds", extent.rounds));
        options.extend(option("--load-rounds", 1));
        options.extend(option("--cold-rounds", if extent.cold { extent.rounds } else { 0 }));
        options
    }

    fn durability_options(&self) -> Vec<String> {
        let mut options: Vec<String> = option("--variants", &self.saved.variants).into();
        options.extend(option("--durability", tier(&self.needs).word()));
        options.extend(option("--crash", "process,power"));
        options.extend(option("--crashes", CRASHES));
        options
    }

    /// Expected seconds of a part, without installation.
    ///
    /// # Errors
    /// Those of [`Self::command`], and if the part's systems cannot be set up so.
    pub(super) fn part_seconds(
        &self,
        part: Part,
        extent: Extent,
        catalogue: &Catalogue,
        passed_on: &PassedOnOptions,
    ) -> Result<f64, Failure> {
        let stated = SettledLoad::stated(&self.saved.load);
        let settled = SettledLoad { rate: self.known_rate().or(Some(ANY_RATE)), ..stated };
        let command = self.command(part, extent, &settled, passed_on)?;
        let DocumentCount { documents, bytes } = self.saved.document_count();
        let count = DocumentCount { documents: documents / step(part), bytes: bytes / step(part) };
        expected_seconds(&command, catalogue, count)
    }

    /// Expected seconds of one load of all documents into all systems that serve them, with their starts.
    ///
    /// # Errors
    /// Those of [`Self::part_seconds`].
    pub(super) fn load_seconds(
        &self,
        catalogue: &Catalogue,
        passed_on: &PassedOnOptions,
    ) -> Result<f64, Failure> {
        let settled = SettledLoad::stated(&self.saved.load);
        let command = self.command(Part::Half, self.saved.extent, &settled, passed_on)?;
        expected_seconds(&command, catalogue, self.saved.document_count())
    }

    /// Fits what is measured from a part on into `left_s` seconds, if these parts take `pace` times as long as is
    /// expected. Without an earlier part it is [`Part::Capacity`] for everything.
    ///
    /// # Errors
    /// Those of [`Self::part_seconds`].
    pub(super) fn fitted(
        &self,
        from: Part,
        left_s: f64,
        pace: f64,
        catalogue: &Catalogue,
        passed_on: &PassedOnOptions,
    ) -> Result<FittedExtent, Failure> {
        let seconds = |extent| {
            let parts = self.saved.parts(extent).into_iter().filter(|part| *part >= from);
            let seconds = parts.map(|part| self.part_seconds(part, extent, catalogue, passed_on));
            Ok(pace * seconds.sum::<Result<f64, Failure>>()?)
        };
        self.saved.whole.fitted(left_s, self.saved.max_rounds, seconds)
    }

    /// What the budget leaves out of what is wanted, in words; empty if that is nothing. Of parts that have begun it
    /// is what they were begun without.
    pub(super) fn left_out(&self) -> Vec<String> {
        let SavedChoice { whole, extent, begun, .. } = &self.saved;
        let of_part = |part: Part| begun.get(part.folder()).map_or(extent, |begun| &begun.extent);
        let (serving, questions) = (of_part(Part::Serving), of_part(Part::Questions));
        let has_part = |part: &Part| !self.saved.systems(*part).is_empty();
        let rounds = [(Part::Serving, serving), (Part::Questions, questions)];
        let rounds = rounds.into_iter().filter(|(part, _)| has_part(part)).map(|(_, extent)| extent.rounds);
        let measured = Extent {
            rounds: rounds.min().unwrap_or(extent.rounds),
            loads: serving.loads,
            cold: questions.cold,
            further_rates: serving.further_rates,
            smaller_loads: of_part(Part::Half).smaller_loads,
            long_windows: serving.long_windows,
        };
        measured.left_out(*whole)
    }

    /// What a part measures, in a few words for readers.
    pub(super) fn describe(&self, part: Part) -> String {
        let begun = self.saved.begun.get(part.folder());
        let planned = begun.map_or(self.saved.extent, |begun| begun.extent);
        let Extent { rounds, loads, cold, further_rates, .. } = planned;
        let clients = self.saved.load.clients;
        match part {
            Part::Capacity => {
                format!("what {clients} clients reach without a rate, from which the rate is derived")
            }
            Part::Serving => {
                let rate = match self.known_rate() {
                    Some(rate) => format!("at {rate} operations/s"),
                    None => "at the rate".to_owned(),
                };
                let windows = self.describe_windows(planned);
                let further = if further_rates { " and at half and twice of it" } else { "" };
                let reports =
                    if self.saved.load.streams.is_some() { ", with questions beside them" } else { "" };
                format!(
                    "{clients} clients without a rate, {rate}{further}{reports}{windows}; {rounds} rounds, {loads} of them with \
                     a load"
                )
            }
            Part::Questions => {
                format!("questions {}; {rounds} rounds", if cold { "hot and after a restart" } else { "hot" })
            }
            Part::Quarter => "load of every fourth document, for sizes".to_owned(),
            Part::Half => "load of every second document, for sizes".to_owned(),
            Part::Durability => format!("{CRASHES} crashes of each kind that this user may cause"),
        }
    }
}

/// Expected seconds from a part on, at a pace as in [`Choice::fitted`], with a line for each part and one for what is
/// left out.
///
/// # Errors
/// Those of [`Choice::part_seconds`].
pub(super) fn outline(
    choice: &Choice,
    from: Part,
    pace: f64,
    catalogue: &Catalogue,
    passed_on: &PassedOnOptions,
) -> Result<(f64, Vec<String>), Failure> {
    let extent = choice.saved.extent;
    let (mut total_s, mut lines) = (0.0, Vec::new());
    for part in choice.saved.parts(extent).into_iter().filter(|part| *part >= from) {
        let seconds = pace * choice.part_seconds(part, extent, catalogue, passed_on)?;
        total_s += seconds;
        let systems = choice.saved.systems(part).len();
        let plural = if systems == 1 { "" } else { "s" };
        let (name, duration) = (part.folder(), rough_duration(seconds));
        lines
            .push(format!("  {name:<10} {duration:>6}  {systems} system{plural}: {}", choice.describe(part)));
    }
    let left_out = choice.left_out();
    if !left_out.is_empty() {
        let budget = rough_duration(choice.saved.budget_s);
        lines.push(format!("note: left out for a budget of {budget}: {}", left_out.join("; ")));
    }
    Ok((total_s, lines))
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn option(name: &str, value: impl std::fmt::Display) -> [String; 2] {
    [name.to_owned(), value.to_string()]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use jsonathlon_dataset::source::InputOptions;

    use super::super::participants::Participants;
    use super::super::saved::{BegunPart, SCHEMA};
    use super::*;

    const SERVING: [&str; 5] = ["sqlite", "duckdb", "clickhouse", "postgresql", "mongodb"];

    /// Folder of as many questions as are usually proposed, with a statement for each of the systems.
    fn questions(folder: &Path) -> PathBuf {
        let folder = folder.join("q");
        let question = |n: u32| {
            format!(
                "[[question]]\nname = \"q{n}\"\ntitle = \"Sum\"\ncolumns = [{{ name = \"n\", type = \"number\" }}]\n"
            )
        };
        for system in SERVING {
            std::fs::create_dir_all(folder.join(system)).unwrap();
            for n in 0..8 {
                let (file, text) = match system {
                    "mongodb" => (format!("q{n}.json"), "{\"aggregate\": \"{{table}}\", \"pipeline\": []}"),
                    _ => (format!("q{n}.sql"), "SELECT count(*) AS n FROM {{table}};"),
                };
                std::fs::write(folder.join(system).join(file), text).unwrap();
            }
        }
        std::fs::write(folder.join("questions.toml"), (0..8).map(question).collect::<String>()).unwrap();
        folder
    }

    /// A choice of these systems over this many documents of 1 kB.
    fn choice(folder: &Path, systems: &[&str], documents: u64, whole: Extent) -> Choice {
        let catalogue = Catalogue::load(&[]).unwrap();
        let names: Vec<String> = systems
            .iter()
            .map(|name| format!("{name}@{}", catalogue.get(name).unwrap().default_version()))
            .collect();
        let participants = Participants { serving: names.clone(), questions: names, absences: Vec::new() };
        let saved = SavedChoice {
            schema: SCHEMA,
            program: String::new(),
            data: folder.join("data"),
            input: InputOptions::default(),
            is_copy: false,
            source_state: None,
            documents,
            bytes: 1_000 * documents,
            participants,
            variants: "default".to_owned(),
            memory: Some(2_000_000_000),
            budget_s: 600.0,
            prove: false,
            questions: Some(questions(folder)),
            load: Load {
                shares: vec![("read".to_owned(), 0.75), ("insert".to_owned(), 0.25)],
                clients: 4,
                rate: None,
                duration_s: 2.0,
                is_duration_stated: false,
                key: None,
                update: None,
                streams: None,
            },
            whole,
            derived_rate: None,
            max_rounds: 5,
            extent: whole,
            begun: BTreeMap::new(),
            notes: Vec::new(),
            systems_dir: Vec::new(),
        };
        let choice = Choice { folder: folder.to_owned(), needs: NeedsFile::default(), saved };
        std::fs::write(choice.mix_file(), choice.mix_text()).unwrap();
        choice
    }

    fn fitted(choice: &Choice, seconds: f64) -> FittedExtent {
        let catalogue = Catalogue::load(&[]).unwrap();
        choice.fitted(Part::Capacity, seconds, 1.0, &catalogue, &PassedOnOptions::default()).unwrap()
    }

    #[test]
    fn parts_are_planned_for_those_who_take_part() {
        let folder = tempfile::tempdir().unwrap();
        let whole = Extent::whole(true, true, true);
        let mut choice = choice(folder.path(), &["sqlite"], 1_000, whole);
        let all = [Part::Capacity, Part::Serving, Part::Questions, Part::Quarter, Part::Half];
        assert_eq!(choice.saved.parts(whole), all);
        choice.saved.load.rate = Some(50.0);
        choice.saved.prove = true;
        let extent = Extent { smaller_loads: false, ..whole };
        assert_eq!(choice.saved.parts(extent), [Part::Serving, Part::Questions, Part::Durability]);
        choice.saved.questions = None;
        assert_eq!(choice.saved.parts(extent), [Part::Serving, Part::Durability]);
        choice.saved.participants.serving.clear();
        assert!(choice.saved.parts(whole).is_empty());
    }

    #[test]
    fn commands_are_those_that_a_user_would_type() {
        let folder = tempfile::tempdir().unwrap();
        let whole = Extent::whole(true, true, true);
        let choice = choice(folder.path(), &["sqlite"], 1_000, whole);
        let settled = SettledLoad { rate: Some(50.0), key: Some("/id".into()), update: None };
        let text = |part| {
            let passed_on = PassedOnOptions::default();
            choice.command(part, whole, &settled, &passed_on).unwrap();
            choice.arguments(part, whole, &settled, &passed_on).join(" ")
        };
        let serving = text(Part::Serving);
        for words in
            ["run serving --systems sqlite@", "--key /id", "--rounds 3 --load-rounds 3 --rates 50,25,100"]
        {
            assert!(serving.contains(words), "{words}: {serving}");
        }
        assert!(!serving.contains("--update") && !text(Part::Capacity).contains("--rates"));
        assert!(text(Part::Questions).contains("--cold-rounds 3"));
        assert!(text(Part::Half).contains("half.ndjson --input lines"), "{}", text(Part::Half));
        assert!(text(Part::Durability).contains("--crashes 3"));
        assert_eq!(
            choice.mix_text().lines().skip(2).collect::<Vec<_>>().join(";"),
            ";[operations];read = 0.75;insert = 0.25"
        );
    }

    #[test]
    fn the_default_budget_has_room_for_five_systems() {
        let folder = tempfile::tempdir().unwrap();
        let whole = Extent::whole(true, true, false);
        let five = choice(folder.path(), &SERVING, 100_000, whole);
        let FittedExtent { extent, fits, .. } = fitted(&five, 600.0);
        assert!(fits && extent.rounds >= 2, "{extent:?}");
        let one = choice(folder.path(), &["sqlite"], 100_000, whole);
        assert_eq!(fitted(&one, 600.0).extent, Extent { rounds: 5, ..whole });
        let many = choice(folder.path(), &SERVING, 100_000_000, whole);
        let least = fitted(&many, 600.0);
        assert!(!least.fits && least.seconds > 3_600.0 && least.extent.rounds == 1, "{least:?}");
    }

    #[test]
    fn windows_are_as_long_as_the_quantile_needs_at_the_rate() {
        let folder = tempfile::tempdir().unwrap();
        let mut choice = choice(folder.path(), &["sqlite"], 1_000, Extent::whole(false, true, false));
        let needs = "[load]\nreads = 1.0\n[needs]\nresponse = \"p99 < 10ms\"\n";
        choice.needs = NeedsFile::parse(needs, "needs.toml").unwrap();
        let share = |name: &str, share: f64| (name.to_owned(), share);
        choice.saved.load.shares = vec![share("read", 0.7), share("update", 0.2), share("insert", 0.1)];
        assert_eq!(
            (choice.settle_windows(), choice.saved.extent.long_windows),
            (None, false),
            "no rate is known"
        );
        choice.saved.derived_rate = Some(2_000.0);
        // 1,000 operations are needed, and a fifth of 2,000 are updates.
        let said = choice.settle_windows().unwrap();
        assert_eq!(said, "windows of 3.3 s, so that p99 has an interval");
        let extent = choice.saved.extent;
        assert_eq!(choice.window_s(extent), 3.3);
        let settled = SettledLoad { rate: Some(2_000.0), ..SettledLoad::default() };
        let passed_on = PassedOnOptions::default();
        let text = |choice: &Choice, part| choice.arguments(part, extent, &settled, &passed_on).join(" ");
        assert!(text(&choice, Part::Serving).contains("--duration 3.3s --warmup 0.75s"));
        assert!(text(&choice, Part::Capacity).contains("--duration 2s"));
        assert!(choice.describe(Part::Serving).contains("in windows of 3.3 s for p99"));
        let catalogue = Catalogue::load(&[]).unwrap();
        let seconds = |choice: &Choice, extent| {
            choice.part_seconds(Part::Serving, extent, &catalogue, &passed_on).unwrap()
        };
        let short = Extent { long_windows: false, ..extent };
        assert!(seconds(&choice, extent) > seconds(&choice, short) + 1.0, "the plan counts them");
        // Too long to be chosen, or shorter than the user says: it is told.
        choice.saved.derived_rate = Some(20.0);
        let said = choice.settle_windows().unwrap();
        assert!(said.contains("p99 has no interval") && said.contains("--duration 325s"), "{said}");
        assert!(!choice.saved.whole.long_windows && choice.window_s(choice.saved.extent) == 2.0);
        choice.saved.derived_rate = Some(2_000.0);
        choice.saved.load.is_duration_stated = true;
        assert!(choice.settle_windows().unwrap().contains("--duration 3.3s"));
        assert_eq!(choice.window_s(choice.saved.extent), 2.0);
        choice.saved.load.rate = Some(100_000.0);
        assert_eq!(choice.settle_windows(), None, "usual windows are long enough");
    }

    #[test]
    fn what_has_begun_counts_as_it_was_begun() {
        let folder = tempfile::tempdir().unwrap();
        let whole = Extent::whole(true, true, false);
        let mut choice = choice(folder.path(), &["sqlite"], 1_000, whole);
        assert!(choice.left_out().is_empty());
        let extent = Extent { further_rates: false, ..whole };
        let begun = BegunPart { extent, command: String::new() };
        choice.saved.begun.insert(Part::Serving.folder().to_owned(), begun);
        assert_eq!(choice.left_out(), ["half and twice the rate"]);
        choice.saved.extent = Extent { cold: false, ..whole };
        assert_eq!(choice.left_out(), ["half and twice the rate", "questions after a restart"]);
    }
}
