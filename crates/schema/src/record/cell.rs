//! Identity of a trial's cell, and its form in files, record keys and for readers.

use serde::{Deserialize, Serialize};

use super::{Parameters, Phase};
use crate::id::{ConfigurationId, DataState, Step};
use crate::ranking::MemoryProfile;
use crate::workload::{WorkloadKind, WorkloadName};

/// Cell: everything that identifies a trial except its round and repetition.
///
/// Serialised flat: storage setting, memory profile and data state are written among the parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenCell", into = "WrittenCell")]
pub struct Cell {
    /// Workload that the trial is part of.
    pub workload: WorkloadName,
    /// Configuration that was measured.
    pub id: ConfigurationId,
    /// Memory profile of the configuration. `None` for remote servers and for cells that belong to no system.
    pub profile: Option<MemoryProfile>,
    /// Step of the workload, such as a question.
    pub step: Step,
    /// Phase of the measurement, see [`Phase`].
    pub phase: Phase,
    /// Data state at the trial. `None` before there is one, as for loads.
    pub state: Option<DataState>,
    /// Further dimensions, such as the number of clients.
    pub parameters: Parameters,
}

/// Serialised form of a cell.
#[derive(Serialize, Deserialize)]
struct WrittenCell {
    workload: WorkloadName,
    system: String,
    version: String,
    variant: String,
    step: Step,
    phase: Phase,
    parameters: Parameters,
}

impl From<WrittenCell> for Cell {
    fn from(written: WrittenCell) -> Self {
        let WrittenCell { workload, system, version, variant, step, phase, mut parameters } = written;
        let mut state = None;
        let mut profile = None;
        let mut storage = String::new();
        // A value that is not known stays among the parameters and is written back unchanged.
        parameters.retain(|name, value| match (name.as_str(), value.as_str()) {
            (STORAGE, Some(word)) => {
                word.clone_into(&mut storage);
                word.is_empty()
            }
            (STATE, Some(word)) => {
                state = DataState::from_word(word);
                state.is_none()
            }
            (PROFILE, Some(word)) => {
                profile = MemoryProfile::from_word(word);
                profile.is_none()
            }
            _ => true,
        });
        Self {
            workload,
            id: ConfigurationId { system, version, variant, storage },
            profile,
            step,
            phase,
            state,
            parameters,
        }
    }
}

impl From<Cell> for WrittenCell {
    fn from(cell: Cell) -> Self {
        let parameters = cell.dimensions();
        let Cell { workload, id: ConfigurationId { system, version, variant, .. }, step, phase, .. } = cell;
        Self { workload, system, version, variant, step, phase, parameters }
    }
}

/// Words for one dimension. `None` for dimensions of the configuration and for default values.
fn dimension(name: &str, value: &serde_json::Value) -> Option<String> {
    // JSON may contain an integer as a float, such as 8.0.
    let number = value.as_f64();
    let integer = number.filter(|number| number.fract() == 0.0).map(|number| format!("{number:.0}"));
    let value = integer.or_else(|| value.as_str().map(str::to_owned)).unwrap_or_else(|| value.to_string());
    match (name, value.as_str()) {
        ("scale" | "preparation" | "memory" | STORAGE | PROFILE | STATE, _) => None,
        (ARRIVAL, CLOSED) | ("documents", "flat") | ("values", "text") => None,
        (CLIENTS, "1") => Some("1 client".to_owned()),
        (CLIENTS | "documents" | "values", _) => Some(format!("{value} {name}")),
        (OPERATION | ARRIVAL | DURABILITY, _) => Some(value),
        (RATE_SHARE, _) => {
            let percent = number.map_or_else(|| value.clone(), |share| format!("{:.0} %", 100.0 * share));
            Some(format!("{percent} of capacity"))
        }
        (SLO, _) => Some(value),
        ("paths", "1") => Some("1 path".to_owned()),
        ("paths", _) => Some(format!("{value} paths")),
        ("position", _) => Some(value),
        (RATE_PER_S, _) => Some(format!("{value}/s")),
        (RATE, FULL_SPEED) => Some("full speed".to_owned()),
        (RATE, _) => Some(format!("{value} documents/s")),
        (WRITERS, _) => Some(counted(&value, "writer")),
        (STREAMS, _) => Some(counted(&value, "stream")),
        _ => Some(format!("{} {value}", name.replace('_', " "))),
    }
}

/// Number with a noun in singular or plural: `1 stream`, `2 streams`.
fn counted(number: &str, noun: &str) -> String {
    format!("{number} {noun}{}", if number == "1" { "" } else { "s" })
}

/// Names of the cell's own fields among the serialised parameters.
const STORAGE: &str = "storage";
const PROFILE: &str = "profile";
const STATE: &str = "state";

/// Parameter that says when operations begin: [`CLOSED`] or the name of a schedule.
pub const ARRIVAL: &str = "arrival";
/// Value of [`ARRIVAL`] for a closed loop.
pub const CLOSED: &str = "closed";
/// Parameter with the number of connections that send operations.
pub const CLIENTS: &str = "clients";
/// Parameter with the service-level objective, such as `p99<5ms`, that the highest rate had to meet.
pub const SLO: &str = "slo";
/// Parameter with the durability tier, which says what a crash may lose.
pub const DURABILITY: &str = "durability";
/// Parameter with the rate of arrivals in operations per second.
pub const RATE_PER_S: &str = "rate_per_s";
/// Parameter with the rate of arrivals as a share of the configuration's own capacity.
pub const RATE_SHARE: &str = "rate_share";
/// Parameter with the operation of a mix, if the cell is about a single one.
pub const OPERATION: &str = "operation";
/// Parameter with the number of connections that insert documents while questions are asked.
pub const WRITERS: &str = "writers";
/// Parameter with the number of connections that ask questions.
pub const STREAMS: &str = "streams";
/// Parameter with the mix of the clients beside whose load a question was asked.
pub const MIX: &str = "mix";
/// Parameter with the number of documents that a writer inserts at once.
pub const BATCH: &str = "batch";
/// Parameter with the documents per second of all writers together, or [`FULL_SPEED`].
pub const RATE: &str = "rate";
/// Value of [`RATE`] for writers that send a batch as soon as the previous one is acknowledged.
pub const FULL_SPEED: &str = "max";

/// Step of the documents that writers insert.
pub const INGEST: &str = "ingest";
/// Subject of the finding that a phase was too short for its results to be compared.
pub const TOO_SHORT: &str = "too short";
/// Why rates that are shares of the writers' peak, and the share of a frontier, do not exist if that peak is
/// [`TOO_SHORT`].
pub const PEAK_TOO_SHORT: &str = "the peak of the writers is too short";
/// Subject of the finding that not all questions were asked beside a load, so that it is not compared with loads
/// beside which they were.
pub const FEWER_REPORTS: &str = "fewer reports";
/// Subject of the finding that operations of the load beside a report failed or were answered wrongly, so that the
/// report is not compared with those beside a whole load.
pub const FAULTY_LOAD: &str = "faulty load";
/// Subjects of findings that keep a cell out of its ranking, although it has results.
pub const UNRANKED_FINDINGS: [&str; 3] = [TOO_SHORT, FEWER_REPORTS, FAULTY_LOAD];
/// Subject of the finding that a verdict is the one of the same statement before the trials, because clients changed
/// the documents and no common answer exists.
pub const JUDGED_AT_REST: &str = "judged at rest";
/// Step of all questions of a phase together.
pub const ALL_QUESTIONS: &str = "all";

impl Cell {
    /// All serialised parameters: the further dimensions plus storage setting, memory profile and data state.
    #[must_use]
    pub fn dimensions(&self) -> Parameters {
        let mut parameters = self.parameters.clone();
        if !self.id.storage.is_empty() {
            parameters.insert(STORAGE.to_owned(), self.id.storage.clone().into());
        }
        if let Some(profile) = self.profile {
            parameters.insert(PROFILE.to_owned(), profile.word().into());
        }
        if let Some(state) = self.state {
            parameters.insert(STATE.to_owned(), state.word().into());
        }
        parameters
    }

    /// Returns `true` if the cells are equal in everything except the phase.
    #[must_use]
    pub fn equals_except_phase(&self, other: &Self) -> bool {
        let identity = (&self.workload, &self.id, self.profile, &self.step, self.state, &self.parameters);
        identity == (&other.workload, &other.id, other.profile, &other.step, other.state, &other.parameters)
    }

    /// Returns `true` if operations were started by a schedule instead of after the previous answer.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.parameters.get(ARRIVAL).and_then(serde_json::Value::as_str).is_some_and(|word| word != CLOSED)
    }

    /// Returns `true` if the cell is about a single operation of a mix.
    #[must_use]
    pub fn is_single_operation(&self) -> bool {
        self.parameters.contains_key(OPERATION)
    }

    /// Returns `true` if the cell was measured on the data of `load`: same configuration and workload, and
    /// equal values of all parameters that both have.
    #[must_use]
    pub fn belongs_to_load(&self, load: &Self) -> bool {
        let (parameters, load_parameters) = (&self.parameters, &load.parameters);
        (&self.workload, &self.id, self.profile) == (&load.workload, &load.id, load.profile)
            && load_parameters
                .iter()
                .all(|(name, value)| parameters.get(name).is_none_or(|other| other == value))
    }

    /// Words for the cell's step: `all questions` and `writers` in the mixed workload, whose steps tables do not name;
    /// the step itself in others.
    #[must_use]
    pub fn step_title(&self) -> String {
        match self.step.word() {
            ALL_QUESTIONS if self.workload == WorkloadKind::Mixed => "all questions".to_owned(),
            INGEST if self.workload == WorkloadKind::Mixed => "writers".to_owned(),
            _ => self.step.to_string(),
        }
    }

    /// Name of the cell within its configuration, for readers: `load`, `q1 hot`, `q1 hot, compacted`,
    /// `size, drained`, `a, 8 clients, synced`.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = self.step_title();
        if !matches!(self.phase, Phase::Load | Phase::Steady | Phase::Measured) {
            name.push(' ');
            name.push_str(self.phase.word());
        }
        // Drained is the default state for questions and is omitted; a size always names its state.
        let state = self.state.filter(|state| self.phase == Phase::Steady || *state != DataState::Drained);
        for word in state.map(|state| state.word().to_owned()).into_iter().chain(self.dimension_labels()) {
            name.push_str(", ");
            name.push_str(&word);
        }
        name
    }

    /// Words for the further dimensions, without those of the configuration and those with default values.
    #[must_use]
    pub fn dimension_labels(&self) -> Vec<String> {
        const LEADING: [&str; 4] = [OPERATION, CLIENTS, DURABILITY, ARRIVAL];
        let leading = LEADING.iter().filter_map(|name| self.parameters.get_key_value(*name));
        let others = self.parameters.iter().filter(|(name, _)| !LEADING.contains(&name.as_str()));
        leading.chain(others).filter_map(|(name, value)| dimension(name, value)).collect()
    }

    /// Text that is equal for two cells only if the cells are equal. Stable between program versions.
    #[must_use]
    pub fn key(&self) -> String {
        let ConfigurationId { system, version, variant, .. } = &self.id;
        let mut key =
            format!("{}/{system}@{version}/{variant}/{}/{}", self.workload, self.step, self.phase.word());
        for (name, value) in self.dimensions() {
            key.push(';');
            key.push_str(&name);
            key.push('=');
            match value {
                serde_json::Value::String(text) => key.push_str(&text),
                other => key.push_str(&other.to_string()),
            }
        }
        key
    }

    /// Key of one trial of this cell, as used in the plan and the journal.
    #[must_use]
    pub fn trial_key(&self, round: u32, order: u32) -> String {
        format!("{}#{round}.{order}", self.key())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn cell() -> Cell {
        Cell {
            workload: "analytics".into(),
            id: ConfigurationId::new("mock", "1", "plain", "default"),
            profile: None,
            step: "q1".into(),
            phase: Phase::Hot,
            state: None,
            parameters: [("scale".into(), 100.into())].into(),
        }
    }

    #[test]
    fn keys_tell_every_dimension_apart() {
        let cell = cell();
        assert_eq!(cell.key(), "analytics/mock@1/plain/q1/hot;scale=100;storage=default");
        let mut other = cell.clone();
        other.id.storage = "best".into();
        assert_ne!(cell.key(), other.key());
        assert_ne!(cell.trial_key(1, 0), cell.trial_key(0, 1));
    }

    #[test]
    fn names_say_what_does_not_go_without_saying() {
        let mut cell = cell();
        assert_eq!(cell.name(), "q1 hot");
        cell.state = Some(DataState::Compacted);
        assert_eq!(cell.name(), "q1 hot, compacted");
        cell.state = Some(DataState::Drained);
        cell.phase = Phase::Measured;
        cell.step = "a".into();
        cell.parameters = serde_json::from_str(
            r#"{"scale": 9, "clients": 8, "durability": "synced", "arrival": "closed", "documents": "flat", "values": "text"}"#,
        )
        .unwrap();
        assert_eq!((cell.name().as_str(), cell.is_open_loop()), ("a, 8 clients, synced", false));
        for (name, value) in
            [("arrival", "poisson".into()), ("rate_per_s", 1000.into()), ("operation", "read".into())]
        {
            cell.parameters.insert(name.to_owned(), value);
        }
        assert_eq!(cell.name(), "a, read, 8 clients, synced, poisson, 1000/s");
        assert!(cell.is_open_loop() && cell.is_single_operation());
    }

    #[test]
    fn steps_of_mixed_loads_are_named_in_words() {
        let mixed = |step: &str| Cell { workload: "mixed".into(), step: step.into(), ..cell() };
        let titles = [ALL_QUESTIONS, INGEST, "q1"].map(|step| mixed(step).step_title());
        assert_eq!(titles, ["all questions", "writers", "q1"]);
        let other = Cell { step: ALL_QUESTIONS.into(), ..cell() };
        assert_eq!(other.step_title(), "all", "a question or a mix may have any name");
    }

    #[test]
    fn a_cell_is_over_the_load_that_is_like_it() {
        let hot = cell();
        let mut load = Cell { step: Step::Load, phase: Phase::Load, ..cell() };
        assert!(hot.belongs_to_load(&load));
        load.parameters.insert("documents".into(), "large".into());
        assert!(hot.belongs_to_load(&load), "nothing else is said");
        let mut other = hot.clone();
        other.parameters.insert("documents".into(), "flat".into());
        assert!(!other.belongs_to_load(&load));
        assert!(!Cell { workload: "serving".into(), ..cell() }.belongs_to_load(&load));
    }
}
