//! Sizes and peaks of memory of two runs. They have a ratio and no interval yet. A figure
//! that one of the runs alone has is told of too.

use serde::Serialize;

use super::is_right;
use crate::manifest::Configuration;
use crate::summary::Entry;

/// One size of a configuration that both runs have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeComparison {
    /// System in A.
    pub system_a: String,
    /// System in B.
    pub system: String,
    /// Its version in A.
    pub version_a: String,
    /// Its version in B.
    pub version_b: String,
    /// Variant in A.
    pub variant_a: String,
    /// Variant in B.
    pub variant: String,
    /// Storage setting in B.
    pub storage: String,
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

/// Finds one figure among a configuration's entries.
type Find = fn(&[&Entry]) -> Option<f64>;

const FIGURES: [(&str, Find); 5] = [
    ("size, drained", |entries| size(entries, "drained")),
    ("size, compacted", |entries| size(entries, "compacted")),
    ("peak memory, loading", |entries| most(entries, "peak_pss_bytes", |step| step == "load")),
    ("peak memory, asking", |entries| most(entries, "peak_pss_bytes", is_question)),
    // Short questions have no peak; what is held is looked at between them.
    ("memory held, asking", |entries| most(entries, "held_pss_bytes", is_question)),
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
                system_a: one.system.clone(),
                system: other.system.clone(),
                version_a: one.version.clone(),
                version_b: other.version.clone(),
                variant_a: one.variant.clone(),
                variant: other.variant.clone(),
                storage: other.storage.clone(),
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
    entries.iter().filter(|entry| configuration.is_of(entry) && is_right(entry.verdict)).collect()
}

fn size(entries: &[&Entry], state: &str) -> Option<f64> {
    let entry = entries.iter().find(|entry| {
        entry.step == "size" && entry.parameters.get("state").and_then(|state| state.as_str()) == Some(state)
    })?;
    entry.metrics.get("total_bytes").or_else(|| entry.metrics.get("files_bytes")).copied()
}

fn is_question(step: &str) -> bool {
    step != "load" && step != "size"
}

fn most(entries: &[&Entry], metric: &str, wanted: impl Fn(&str) -> bool) -> Option<f64> {
    let wanted = entries.iter().filter(|entry| wanted(&entry.step));
    wanted.filter_map(|entry| entry.metrics.get(metric).copied()).reduce(f64::max)
}
