//! Settings of a run, as its manifest keeps them: those that all workloads share, and those of its workload.

pub mod fidelity;
pub mod mixed;
pub mod questions;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::transport::Transport;
use crate::workload::{WorkloadKind, WorkloadName};

use fidelity::FidelitySettings;
use mixed::MixedSettings;
use questions::{QuestionSettings, QuestionsSettings};

/// All settings of a run, so that `--resume` plans the same trials. In JSON, settings that workloads share
/// are on the top level, and those of a workload are under its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ManifestSettings {
    /// Settings that all workloads share.
    #[serde(flatten)]
    pub run: RunSettings,
    /// Settings of the run's workload.
    #[serde(flatten)]
    pub workload: WorkloadSettings,
}

/// Settings that all workloads share, such as rounds and limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Minimum number of rounds; their trials are planned in the manifest.
    pub rounds: u32,
    /// Stopping rule; defaults to exactly `rounds` rounds.
    pub stopping: StoppingRule,
    /// Number of rounds that begin with a load into a fresh folder. `None` if the duration of each system's
    /// first load decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_rounds: Option<u32>,
    /// Timeout of one trial in seconds; defaults to 3600.
    pub timeout_s: f64,
    /// Timeout of a load or a settle in seconds; defaults to 12 hours.
    pub load_timeout_s: f64,
    /// Whether data folders and the run's databases on remote servers are kept after the run.
    pub keep_data: bool,
    /// Seed of generated documents; defaults to 1.
    pub seed: u64,
    /// Transport by which clients connect to servers.
    pub transport: Transport,
    /// External systems of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub external_systems: Vec<ExternalSystem>,
    /// Whether a memory limit of the systems includes the page cache.
    #[serde(default, skip_serializing_if = "PageCachePolicy::is_free")]
    pub page_cache: PageCachePolicy,
    /// Number of cores that systems may use; defaults to all cores that this process may use.
    pub cores: usize,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            rounds: 5,
            stopping: StoppingRule::Rounds,
            load_rounds: None,
            timeout_s: 3600.0,
            load_timeout_s: 12.0 * 3600.0,
            keep_data: false,
            seed: 1,
            transport: Transport::default(),
            external_systems: Vec::new(),
            page_cache: PageCachePolicy::Free,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// When a run stops: after a fixed number of rounds, when its time budget is spent, or when intervals are
/// narrow enough.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum StoppingRule {
    /// After the planned number of rounds.
    #[default]
    Rounds,
    /// When no further round fits into the time budget of the whole run, which includes loads.
    Budget {
        /// Time budget of the whole run.
        seconds: f64,
        /// Whether the run fails after the first round if the planned rounds do not fit.
        strict: bool,
    },
    /// When the interval of every ranked cell is within this share of its median, or the time is spent.
    Precision {
        /// Maximum half-width of an interval, as a share of the median.
        share: f64,
        /// Time budget of the whole run.
        seconds: f64,
    },
}

/// A system that jsonathlon does not install: a remote server, or user-supplied binaries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalSystem {
    /// Name of the catalogue system that describes it.
    pub system: String,
    /// Address of the remote server, without password, or path of the binaries.
    pub location: String,
    /// Number among several external systems of the same catalogue system, from 1; `None` if there is only
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Version that the system reported when the run began.
    pub reported_version: String,
    /// Prefix of the names of the run's databases on the remote server; a number follows.
    pub database_prefix: String,
    /// User-supplied command that restarts the server; `None` if the server must not be restarted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

/// Page cache that systems may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageCachePolicy {
    /// All free memory of the machine.
    #[default]
    Free,
    /// Memory limit in bytes for each system, page cache and process memory together.
    Capped(u64),
    /// A limit was requested but cannot be enforced; the text is the reason.
    Uncapped(String),
}

impl PageCachePolicy {
    fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

/// Settings of a run's workload. Workloads whose settings reports read have a field; the others convert
/// theirs to JSON and back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadSettings {
    /// Settings of the analytics workload; `None` for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analytics: Option<QuestionSettings>,
    /// Settings of the questions workload, or the questions that are asked beside the load of serving; `None` for
    /// other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<QuestionsSettings>,
    /// Settings of the mixed workload; `None` for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<MixedSettings>,
    /// Settings of the fidelity workload; `None` for other workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<FidelitySettings>,
    /// Settings that only the workload itself reads, by its name. Settings that nothing knows are read into
    /// this, too; [`Manifest::unknown_setting`](crate::manifest::Manifest::unknown_setting) finds them.
    #[serde(flatten)]
    pub other_workloads: BTreeMap<WorkloadName, Value>,
}

impl WorkloadSettings {
    /// Converts settings that only `workload` itself reads.
    ///
    /// # Errors
    /// If the settings have no form as JSON.
    pub fn for_workload<T: Serialize>(
        workload: WorkloadKind,
        settings: &T,
    ) -> Result<Self, serde_json::Error> {
        let other_workloads = BTreeMap::from([(workload.into(), serde_json::to_value(settings)?)]);
        Ok(Self { other_workloads, ..Self::default() })
    }

    /// Reads settings that only `workload` itself reads.
    ///
    /// # Errors
    /// If there are none, or they have another form.
    pub fn read<T: DeserializeOwned>(&self, workload: WorkloadKind) -> Result<T, serde_json::Error> {
        T::deserialize(self.other_workloads.get(&WorkloadName::from(workload)).unwrap_or(&Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::fidelity::{CorpusSelection, KnownCase, RfcRequirement};
    use super::*;

    #[test]
    fn settings_of_all_workloads_are_on_the_top_level() {
        let external = ExternalSystem {
            system: "postgresql".to_owned(),
            location: "postgres://me@one/x".to_owned(),
            number: None,
            reported_version: "18.6".to_owned(),
            database_prefix: "jsonathlon".to_owned(),
            restart: None,
        };
        let case = KnownCase {
            name: "key-empty".to_owned(),
            requirement: RfcRequirement::Accept,
            source: "RFC 8259 §4".to_owned(),
            probes: "an empty key".to_owned(),
            decides_i_json: true,
            bytes: 7,
            document: r#"{"":1}"#.to_owned(),
        };
        let settings = ManifestSettings {
            run: RunSettings {
                stopping: StoppingRule::Precision { share: 0.05, seconds: 60.0 },
                transport: Transport::Unix,
                external_systems: vec![external],
                page_cache: PageCachePolicy::Capped(1 << 30),
                ..RunSettings::default()
            },
            workload: WorkloadSettings {
                fidelity: Some(FidelitySettings { corpus: CorpusSelection::default(), cases: vec![case] }),
                ..WorkloadSettings::for_workload(WorkloadKind::Serving, &[1, 2]).unwrap()
            },
        };
        let json = serde_json::to_value(&settings).unwrap();
        let names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let of_run = ["rounds", "stopping", "transport", "external_systems", "page_cache"];
        for name in of_run.into_iter().chain(["fidelity", "serving"]) {
            assert!(names.contains(&name), "{name} in {names:?}");
        }
        assert_eq!(json["stopping"]["by"], "precision");
        assert_eq!(json["page_cache"]["capped"], 1 << 30);
        assert_eq!(serde_json::from_value::<ManifestSettings>(json).unwrap(), settings);
    }

    #[test]
    fn what_a_workload_wrote_it_reads_again() {
        let settings = WorkloadSettings::for_workload(WorkloadKind::Serving, &[1, 2]).unwrap();
        assert_eq!(settings.read::<Vec<u32>>(WorkloadKind::Serving).unwrap(), [1, 2]);
        assert!(settings.read::<Vec<u32>>(WorkloadKind::Documents).is_err());
        assert!(settings.read::<String>(WorkloadKind::Serving).is_err());
        let other = serde_json::json!({"fetch": {"clients": 3}});
        let read: WorkloadSettings = serde_json::from_value(other.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), other, "this version does not know the workload");
    }
}
