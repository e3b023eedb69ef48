//! One table a question: times with their intervals, beside the best and beside the yardstick.

use jsonathlon_results::comparison::{Against, Comparison, Difference};
use jsonathlon_results::manifest::Configuration;
use jsonathlon_results::record::{Phase, Verdict};
use jsonathlon_results::summary::{Entry, Run, Summary};

use crate::format;
use crate::sections::{NAMES, Section, find, interval, name, none, optional, parameter};

const QUESTIONS: [(&str, &str); 6] = [
    ("q1", "top event types"),
    ("q2", "top event types with unique users"),
    ("q3", "when do people use it"),
    ("q4", "top 3 post veterans"),
    ("q5", "top 3 longest activity"),
    ("q6", "posts by first language, an unprepared path"),
];

/// The tables of all questions in all states that they were asked in.
pub(crate) fn all(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = Vec::new();
    for state in states(summary) {
        sections.extend(QUESTIONS.iter().filter_map(|(id, title)| question(run, summary, id, title, &state)));
    }
    sections
}

fn states(summary: &Summary) -> Vec<String> {
    let mut states: Vec<String> = Vec::new();
    for entry in summary.results.iter().filter(|entry| entry.step.starts_with('q')) {
        if let Some(state) = parameter(entry, "state")
            && !states.iter().any(|known| known == state)
        {
            states.push(state.to_owned());
        }
    }
    states.sort_by_key(|state| state != "drained");
    states
}

/// A configuration's standing in one question.
struct Standing<'a> {
    configuration: &'a Configuration,
    hot: Option<&'a Entry>,
    cold: Option<&'a Entry>,
    comparable: bool,
    /// Its hot times beside the best of its ranking.
    to_best: Option<&'a Comparison>,
    /// Its hot times beside the first reference row.
    to_reference: Option<&'a Comparison>,
}

impl Standing<'_> {
    fn time(&self) -> Option<f64> {
        self.hot.and_then(|entry| entry.median_s)
    }
}

fn question(run: &Run, summary: &Summary, id: &str, title: &str, state: &str) -> Option<Section> {
    let mut standings: Vec<Standing<'_>> = Vec::new();
    for configuration in &run.manifest.configurations {
        let of = |phases: &[Phase]| {
            summary.results.iter().find(|entry| {
                configuration.is_of(entry)
                    && entry.step == id
                    && parameter(entry, "state") == Some(state)
                    && phases.contains(&entry.phase)
            })
        };
        let hot = of(&[Phase::Hot]).or_else(|| of(&[Phase::HotNotInMemory]));
        let cold = of(&[Phase::Cold]).or_else(|| of(&[Phase::ColdUnverified]));
        if hot.is_none() && cold.is_none() {
            continue;
        }
        let load = find(summary, configuration, "load", None);
        let comparable = load.is_some_and(|entry| entry.verdict == Verdict::Exact);
        let beside = |against| comparison(summary, hot?, against);
        let (to_best, to_reference) = (beside(Against::Best), beside(Against::Reference));
        standings.push(Standing { configuration, hot, cold, comparable, to_best, to_reference });
    }
    if standings.is_empty() {
        return None;
    }
    // Ranking by ranking, reference rows after them; in each the fastest first, then what may
    // not be compared, and last what has no time: a system that holds fewer documents must not head a table.
    let place =
        |standing: &Standing<'_>| (standing.configuration.reference, standing.configuration.ranking_place());
    standings.sort_by(|a, b| {
        let worth = |s: &Standing<'_>| (s.time().is_none(), !s.comparable);
        let times = (a.time().unwrap_or(f64::INFINITY), b.time().unwrap_or(f64::INFINITY));
        place(a).cmp(&place(b)).then(worth(a).cmp(&worth(b))).then(times.0.total_cmp(&times.1))
    });
    let reference = standings.iter().find_map(|standing| standing.to_reference);
    let mut header =
        vec!["class", "system", "variant", "storage", "hot median", "95 % interval", "× of best"];
    let beside = reference.map(|one| format!("× of {}", one.other_system));
    header.extend(beside.as_deref());
    header.extend(["cold median", "verdict", "bound by", "documents/s"]);
    let words = header.len() - 3;
    let state_words = if state == "drained" { String::new() } else { format!(", {state}") };
    let mut section = Section::new(format!("{} {title}{state_words}", id.to_uppercase()), &header, NAMES);
    section.left_also = vec![words, words + 1];
    for standing in &standings {
        section.rows.push(row(standing, reference.is_some()));
    }
    Some(section)
}

fn comparison<'a>(summary: &'a Summary, entry: &Entry, against: Against) -> Option<&'a Comparison> {
    summary.comparisons.iter().find(|one| {
        one.against == against
            && one.step == entry.step
            && one.phase == entry.phase
            && one.system == entry.system
            && one.version == entry.version
            && one.variant == entry.variant
            && one.parameters == entry.parameters
    })
}

fn row(standing: &Standing<'_>, with_reference: bool) -> Vec<String> {
    let configuration = standing.configuration;
    let verdict = [standing.hot, standing.cold].into_iter().flatten().map(|entry| entry.verdict).max();
    let mut words = verdict.map_or_else(none, |verdict| verdict.word().to_owned());
    let error = standing.hot.and_then(|entry| entry.metrics.get("relative_error"));
    if let (Some(Verdict::Approximate), Some(error)) = (verdict, error) {
        words.push_str(&format!(", error ≤ {}", format::percent(*error)));
    }
    if !standing.comparable {
        words.push_str(", not comparable");
    }
    let unverified = standing.cold.is_some_and(|entry| entry.phase == Phase::ColdUnverified);
    if unverified {
        words.push_str(", cold-unverified");
    }
    let reading = standing.hot.filter(|entry| entry.phase == Phase::HotNotInMemory);
    if let Some(entry) = reading {
        let bytes = entry.metrics.get("read_bytes").copied().unwrap_or_default();
        words.push_str(&format!(
            ", {} (reads {} a trial)",
            Phase::HotNotInMemory.words(),
            format::bytes(bytes)
        ));
    }
    if let Some(why) = standing.hot.and_then(|entry| configuration.other_questions.get(&entry.step)) {
        words.push_str(&format!(", another question: {why}"));
    }
    let cold = optional(standing.cold.and_then(|entry| entry.median_s), format::seconds);
    let mut row = name(configuration);
    let hot = optional(standing.time(), format::seconds);
    row.extend([
        if reading.is_some() { format!("({hot})") } else { hot },
        interval(standing.hot),
        standing.to_best.map_or_else(none, |best| ratio(standing, best)),
    ]);
    if with_reference {
        row.push(standing.to_reference.map_or_else(none, |one| format::times(one.ratio)));
    }
    row.extend([
        if unverified { format!("({cold})") } else { cold },
        words,
        standing.hot.and_then(|entry| entry.bound_by.clone()).unwrap_or_else(none),
        optional(
            standing.time().and(standing.hot).and_then(|e| e.metrics.get("documents_per_s").copied()),
            format::count,
        ),
    ]);
    row
}

/// A ratio with its interval, or that nothing is shown. The best row itself has only its one.
fn ratio(standing: &Standing<'_>, best: &Comparison) -> String {
    let text = format::times(best.ratio);
    let other = &standing.configuration;
    let itself = best.other_system == other.system
        && best.other_version == other.version
        && best.other_variant == other.variant
        && best.other_storage == other.storage;
    match (best.low.zip(best.high), best.difference) {
        _ if itself => text,
        (Some((low, high)), Difference::Faster | Difference::Slower) => {
            format!("{text} ({} … {})", format::three(low), format::three(high))
        }
        (Some(_), Difference::NoneShown) => format!("{text}, {}", Difference::NoneShown.words()),
        (None, _) => format!("{text} (one round)"),
    }
}
