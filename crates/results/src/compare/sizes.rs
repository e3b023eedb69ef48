//! Compares sizes and memory of two sides. Sizes are also compared among the cells; memory only here. Values
//! that only one side has are listed too.

use jsonathlon_schema::id::{ConfigurationId, DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{self, MetricDef};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::is_correct;
use crate::cell_summary::CellSummary;

/// One size of a configuration that both sides have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeComparison {
    /// Configuration in A, and in B.
    #[serde(flatten, serialize_with = "both")]
    pub ids: [ConfigurationId; 2],
    /// Ranking of the configuration in B.
    pub class: String,
    /// What was measured, such as `size, drained`.
    pub quantity: &'static str,
    /// Whether the size is also compared among the cells.
    #[serde(skip)]
    pub is_cell: bool,
    /// Bytes in A. `None` if A does not have the value.
    pub a_bytes: Option<f64>,
    /// Bytes in B. `None` if B does not have the value.
    pub b_bytes: Option<f64>,
    /// B ÷ A. `None` if A has no bytes, or if a side does not have the value.
    pub ratio: Option<f64>,
}

fn both<S: Serializer>([a, b]: &[ConfigurationId; 2], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(7))?;
    for (name, value) in [
        ("system_a", &a.system),
        ("system", &b.system),
        ("version_a", &a.version),
        ("version_b", &b.version),
        ("variant_a", &a.variant),
        ("variant", &b.variant),
        ("storage", &b.storage),
    ] {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// Finds one value among a configuration's entries. `None` if it is missing.
type Find = fn(&[&CellSummary]) -> Option<f64>;

const QUANTITIES: [(&str, Option<DataState>, Find); 5] = [
    ("size, drained", Some(DataState::Drained), |entries| size(entries, DataState::Drained)),
    ("size, compacted", Some(DataState::Compacted), |entries| size(entries, DataState::Compacted)),
    ("peak memory, loading", None, |entries| {
        peak(entries, &metric::PEAK_PSS_BYTES, |step| *step == Step::Load)
    }),
    ("peak memory, asking", None, |entries| peak(entries, &metric::PEAK_PSS_BYTES, Step::is_workload_step)),
    // Short questions have no peak; the memory held is sampled between questions.
    ("memory held, asking", None, |entries| peak(entries, &metric::HELD_PSS_BYTES, Step::is_workload_step)),
];

pub(super) fn sizes(
    configurations: &[[&Configuration; 2]],
    a: &[CellSummary],
    b: &[CellSummary],
) -> Vec<SizeComparison> {
    let mut comparisons = Vec::new();
    for [configuration_a, configuration_b] in configurations {
        let (entries_a, entries_b) = (right_entries(configuration_a, a), right_entries(configuration_b, b));
        for (quantity, state, find) in QUANTITIES {
            let (a_bytes, b_bytes) = (find(&entries_a), find(&entries_b));
            if a_bytes.is_none() && b_bytes.is_none() {
                continue;
            }
            let ratio = a_bytes.filter(|a| *a > 0.0).zip(b_bytes).map(|(a, b)| b / a);
            comparisons.push(SizeComparison {
                ids: [configuration_a.id.clone(), configuration_b.id.clone()],
                class: configuration_b.ranking(),
                quantity,
                is_cell: state.is_some() && a_bytes.is_some() && b_bytes.is_some(),
                a_bytes,
                b_bytes,
                ratio,
            });
        }
    }
    comparisons
}

/// Entries of a configuration that are right over all documents that were offered.
fn right_entries<'a>(configuration: &Configuration, entries: &'a [CellSummary]) -> Vec<&'a CellSummary> {
    entries
        .iter()
        .filter(|entry| configuration.contains_cell(&entry.cell) && is_correct(entry.verdict))
        .collect()
}

fn size(entries: &[&CellSummary], state: DataState) -> Option<f64> {
    let entry =
        entries.iter().find(|entry| entry.cell.step == Step::Size && entry.cell.state == Some(state))?;
    [metric::TOTAL_BYTES, metric::FILES_BYTES].iter().find_map(|metric| entry.metric(metric))
}

fn peak(entries: &[&CellSummary], metric: &MetricDef, is_included: impl Fn(&Step) -> bool) -> Option<f64> {
    let included = entries.iter().filter(|entry| is_included(&entry.cell.step));
    included.filter_map(|entry| entry.metric(metric)).reduce(f64::max)
}
