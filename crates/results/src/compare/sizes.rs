//! Sizes and peaks of memory of two runs. They have a ratio and no interval yet. A figure
//! that one of the runs alone has is told of too.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::is_right;
use crate::id::{Id, State, Step};
use crate::manifest::Configuration;
use crate::summary::Entry;

/// One size of a configuration that both runs have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeComparison {
    /// The configuration in A, and in B.
    #[serde(flatten, serialize_with = "both")]
    pub ids: [Id; 2],
    /// The ranking in which it stands in B.
    pub class: String,
    /// What the size is of.
    pub what: &'static str,
    /// Bytes in A; none where A has no such figure.
    pub a_bytes: Option<f64>,
    /// Bytes in B; none where B has no such figure.
    pub b_bytes: Option<f64>,
    /// B ÷ A; none where A has no bytes, or one of the two no figure.
    pub ratio: Option<f64>,
}

fn both<S: Serializer>([a, b]: &[Id; 2], serializer: S) -> Result<S::Ok, S::Error> {
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

/// Finds one figure among a configuration's entries.
type Find = fn(&[&Entry]) -> Option<f64>;

const FIGURES: [(&str, Find); 5] = [
    ("size, drained", |entries| size(entries, State::Drained)),
    ("size, compacted", |entries| size(entries, State::Compacted)),
    ("peak memory, loading", |entries| most(entries, "peak_pss_bytes", |step| *step == Step::Load)),
    ("peak memory, asking", |entries| most(entries, "peak_pss_bytes", Step::is_own)),
    // Short questions have no peak; what is held is looked at between them.
    ("memory held, asking", |entries| most(entries, "held_pss_bytes", Step::is_own)),
];

pub(super) fn sizes(configurations: &[[&Configuration; 2]], a: &[Entry], b: &[Entry]) -> Vec<SizeComparison> {
    let mut found = Vec::new();
    for [one, other] in configurations {
        let (entries_a, entries_b) = (of(one, a), of(other, b));
        for (what, find) in FIGURES {
            let (a_bytes, b_bytes) = (find(&entries_a), find(&entries_b));
            if a_bytes.is_none() && b_bytes.is_none() {
                continue;
            }
            let ratio = a_bytes.filter(|a| *a > 0.0).zip(b_bytes).map(|(a, b)| b / a);
            found.push(SizeComparison {
                ids: [one.id.clone(), other.id.clone()],
                class: other.ranking(),
                what,
                a_bytes,
                b_bytes,
                ratio,
            });
        }
    }
    found
}

/// The entries of a configuration that are right over all documents that were offered.
fn of<'a>(configuration: &Configuration, entries: &'a [Entry]) -> Vec<&'a Entry> {
    entries.iter().filter(|entry| configuration.has(&entry.cell) && is_right(entry.verdict)).collect()
}

fn size(entries: &[&Entry], state: State) -> Option<f64> {
    let entry =
        entries.iter().find(|entry| entry.cell.step == Step::Size && entry.cell.state == Some(state))?;
    entry.metrics.get("total_bytes").or_else(|| entry.metrics.get("files_bytes")).copied()
}

fn most(entries: &[&Entry], metric: &str, wanted: impl Fn(&Step) -> bool) -> Option<f64> {
    let wanted = entries.iter().filter(|entry| wanted(&entry.cell.step));
    wanted.filter_map(|entry| entry.metrics.get(metric).copied()).reduce(f64::max)
}
