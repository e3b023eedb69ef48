//! Which cell of one run is which cell of the other.

use serde::Serialize;

use crate::manifest::Configuration;
use crate::record::{Phase, Verdict};
use crate::summary::Entry;

/// What only one of the runs has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alone {
    /// System.
    pub system: String,
    /// Version.
    pub version: String,
    /// Variant.
    pub variant: String,
    /// Storage setting.
    pub storage: String,
    /// Whether the other run has nothing of this configuration at all.
    pub whole: bool,
    /// The cells: step, phase, and state where there is one.
    pub cells: Vec<String>,
}

/// A timed cell in both runs.
pub(super) struct Pair<'a> {
    pub(super) a: &'a Entry,
    pub(super) b: &'a Entry,
    /// The worst verdict of everything that was planned as this cell.
    pub(super) verdict_a: Verdict,
    pub(super) verdict_b: Verdict,
    pub(super) storage: &'a str,
    pub(super) reference: bool,
}

/// What goes together.
pub(super) struct Matched<'a> {
    pub(super) configurations: Vec<[&'a Configuration; 2]>,
    pub(super) cells: Vec<Pair<'a>>,
    pub(super) only_in_a: Vec<Alone>,
    pub(super) only_in_b: Vec<Alone>,
}

/// One run's configurations and entries.
type Half<'a> = (&'a [Configuration], &'a [Entry]);

pub(super) fn matched<'a>(a: Half<'a>, b: Half<'a>) -> Matched<'a> {
    let configurations = configurations(a.0, b.0);
    let mut cells = Vec::new();
    let (mut only_in_a, mut only_in_b) = (Vec::new(), Vec::new());
    for [one, other] in &configurations {
        let (mut slots_a, mut slots_b) = (slots(one, a.1), slots(other, b.1));
        for (slot, of_a) in &mut slots_a {
            let Some((_, of_b)) = slots_b.iter_mut().find(|(known, _)| known == slot) else { continue };
            let (Some(verdict_a), Some(verdict_b)) = (worst(of_a), worst(of_b)) else { continue };
            while let Some((x, y)) = next(of_a, of_b) {
                let (a, b) = (of_a.remove(x), of_b.remove(y));
                let (storage, reference) = (other.storage.as_str(), other.reference);
                cells.push(Pair { a, b, verdict_a, verdict_b, storage, reference });
            }
        }
        only_in_a.extend(left(one, slots_a, false));
        only_in_b.extend(left(other, slots_b, false));
    }
    for (side, found, at) in [(a, &mut only_in_a, 0), (b, &mut only_in_b, 1)] {
        let known = |one: &Configuration| {
            configurations.iter().any(|pair| pair.get(at).is_some_and(|known| std::ptr::eq(*known, one)))
        };
        for lone in side.0.iter().filter(|one| !known(one)) {
            found.extend(left(lone, slots(lone, side.1), true));
        }
    }
    Matched { configurations, cells, only_in_a, only_in_b }
}

/// Systems and versions, for a reader.
pub(super) fn names(configurations: &[Configuration]) -> String {
    let name =
        |one: &Configuration| format!("{} {} {}, {}", one.system, one.version, one.variant, one.storage);
    configurations.iter().map(name).collect::<Vec<_>>().join("; ")
}

/// The same version goes with the same; another one only where there is no doubt which.
fn configurations<'a>(a: &'a [Configuration], b: &'a [Configuration]) -> Vec<[&'a Configuration; 2]> {
    let alike = |x: &Configuration, y: &Configuration| {
        (&x.system, &x.variant, &x.storage) == (&y.system, &y.variant, &y.storage)
    };
    let versions = |all: &[Configuration], one: &Configuration| all.iter().filter(|x| alike(x, one)).count();
    a.iter()
        .filter_map(|one| {
            let exact = b.iter().find(|other| alike(one, other) && one.version == other.version);
            let unambiguous = || {
                let alone = versions(a, one) == 1 && versions(b, one) == 1;
                b.iter().find(|other| alone && alike(one, other))
            };
            Some([one, exact.or_else(unambiguous)?])
        })
        .collect()
}

/// What was planned, and the entries that it became: a cold trial that could not be verified is an entry of its
/// own, and one that failed is cold again.
type Slots<'a> = Vec<((&'a str, &'a str, Phase, String), Vec<&'a Entry>)>;

fn slots<'a>(configuration: &Configuration, entries: &'a [Entry]) -> Slots<'a> {
    let mut slots: Slots<'a> = Vec::new();
    let timed = |entry: &&Entry| entry.phase != Phase::Steady && configuration.is_of(entry);
    for entry in entries.iter().filter(timed) {
        let planned = if entry.phase == Phase::ColdUnverified { Phase::Cold } else { entry.phase };
        let dimensions = serde_json::to_string(&entry.parameters).unwrap_or_default();
        let slot = (entry.workload.as_str(), entry.step.as_str(), planned, dimensions);
        match slots.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, known)) => known.push(entry),
            None => slots.push((slot, vec![entry])),
        }
    }
    slots
}

fn worst(entries: &[&Entry]) -> Option<Verdict> {
    entries.iter().map(|entry| entry.verdict).max()
}

/// The next two entries of one slot to go together: those of the same phase first.
fn next(a: &[&Entry], b: &[&Entry]) -> Option<(usize, usize)> {
    let same = a.iter().enumerate().find_map(|(x, one)| {
        let y = b.iter().position(|other| other.phase == one.phase)?;
        Some((x, y))
    });
    same.or_else(|| (!a.is_empty() && !b.is_empty()).then_some((0, 0)))
}

/// What nothing of the other run goes with.
fn left(configuration: &Configuration, slots: Slots<'_>, whole: bool) -> Option<Alone> {
    let named = |entry: &Entry| {
        let state = entry.parameters.get("state").and_then(|state| state.as_str());
        cell_name(&entry.step, entry.phase, state)
    };
    let cells: Vec<String> =
        slots.iter().flat_map(|(_, entries)| entries).map(|entry| named(entry)).collect();
    (whole || !cells.is_empty()).then(|| Alone {
        system: configuration.system.clone(),
        version: configuration.version.clone(),
        variant: configuration.variant.clone(),
        storage: configuration.storage.clone(),
        whole,
        cells,
    })
}

/// A cell within its configuration, for a reader: `q1 hot`, `q1 hot, compacted`, `load`.
pub(super) fn cell_name(step: &str, phase: Phase, state: Option<&str>) -> String {
    let mut name = step.to_owned();
    if phase != Phase::Load {
        name.push(' ');
        name.push_str(phase.word());
    }
    if let Some(state) = state.filter(|state| *state != "drained") {
        name.push_str(", ");
        name.push_str(state);
    }
    name
}

impl super::CellComparison {
    /// The cell within its configuration, for a reader: `q1 hot`, `q1 hot, compacted`, `load`.
    #[must_use]
    pub fn name(&self) -> String {
        cell_name(&self.step, self.phase, self.state.as_deref())
    }
}
