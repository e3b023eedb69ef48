//! Renders the comparison of two runs, for the terminal and for a pull request.

use std::fmt::Write;

use jsonathlon_results::compare::{
    BETWEEN_LOADS_ERROR, BETWEEN_RUNS_ERROR, CellComparison, Control, Counts, Outcome, RatioInterval, Reason,
    ReasonKind, RegressionGate, RunComparison, SetupDifference, Side, SizeChange, UnmatchedConfiguration,
};
use jsonathlon_results::ratio_to_best::Significance;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::severity::Severity;
use jsonathlon_stats::statistics::Estimate;

use crate::format;
use crate::render::TableStyle;
use crate::render::markdown;
use crate::render::terminal::draw;
use crate::section::{
    Column, Section, TOO_FEW_ROUNDS, dash, numbers, optional, printable, shorten_digest, words,
};

/// Deviation of a ratio from 1 above which a cell without an interval is not folded away, if no regression
/// gate sets another one.
const NOTABLE: f64 = 0.05;

/// Deviation of a ratio from 1 below which a counted size is folded away: three digits do not show it.
const NOTABLE_SIZE: f64 = 0.005;

/// The comparison as tables for the terminal.
#[must_use]
pub fn tables(comparison: &RunComparison, style: TableStyle) -> String {
    let mut sections = vec![heading(comparison), differences(comparison)];
    sections.extend(cells("what differs", comparison, |cell| !is_quiet(cell, comparison)));
    sections.extend(cells("no difference shown", comparison, |cell| is_quiet(cell, comparison)));
    sections.extend(sizes(comparison));
    sections.extend(unmatched(comparison));
    sections.push(closing(comparison));
    draw(&sections, style)
}

/// The comparison as Markdown for a pull request: differences are in sight, everything else is folded.
#[must_use]
pub fn markdown(comparison: &RunComparison) -> String {
    let mut sections = vec![heading(comparison), differences(comparison)];
    sections.extend(cells("what differs", comparison, |cell| !is_quiet(cell, comparison)));
    let mut text = markdown::write(&sections, 3);
    // Removes one `#`, so that the first heading ranks above the others.
    text.remove(0);
    if let Some(all_cells) = cells("all", comparison, |_| true) {
        let _ = write!(
            text,
            "<details>\n<summary>all {} cells</summary>\n\n{}\n</details>\n\n",
            all_cells.rows.len(),
            markdown::table(&all_cells)
        );
    }
    if let Some(sizes) = sizes(comparison) {
        let _ = write!(
            text,
            "<details>\n<summary>{}</summary>\n\n{}\n{}\n</details>\n\n",
            markdown::escape(&sizes.title),
            markdown::table(&sizes),
            markdown::list(&sizes.notes)
        );
    }
    let mut remaining: Vec<Section> = unmatched(comparison).into_iter().collect();
    remaining.push(closing(comparison));
    text + &markdown::write(&remaining, 3)
}

fn heading(comparison: &RunComparison) -> Section {
    let (a, b) = (&comparison.a, &comparison.b);
    let baseline = match &a.part {
        Some(part) => printable(part),
        None => "the baseline".to_owned(),
    };
    let mut section = Section {
        title: format!("compared with {baseline}: {}", counts(&comparison.counts)),
        ..Section::default()
    };
    section.notes.push(control(comparison));
    if let Some(gate) = &comparison.gate {
        section.notes.mark(gate_severity(gate), verdict(gate));
    }
    section.notes.push(format!("A, the baseline  {}", side(a)));
    section.notes.push(format!("B                {}", side(b)));
    let data = format!("{} documents", format::integer(b.documents as f64));
    if comparison.different_data {
        let text = format!(
            "DIFFERENT DOCUMENTS: {data} each, but {} in A and {} in B; a difference may be the documents'",
            digest(&a.digest),
            digest(&b.digest)
        );
        section.notes.mark(Severity::Warning, text);
    } else {
        section.notes.push(format!("data             {data} ({})", digest(&b.digest)));
    }
    let machine: Vec<&str> =
        comparison.machine_differences().map(|difference| difference.name.as_str()).collect();
    if !machine.is_empty() {
        let text = format!(
            "NOT THE SAME MACHINE ({}): what differs between these runs is not the systems alone",
            machine.join(", ")
        );
        section.notes.mark(Severity::Warning, text);
    }
    let references = comparison.references;
    if references.differ > 0 {
        section.notes.push(format!(
            "{} of {} reference cells differ, about {:.1} expected by chance{}",
            references.differ,
            references.with_interval,
            references.expected_by_chance,
            match references.beyond_chance {
                true => ": machine or program were not the same to everything else either",
                false => "",
            }
        ));
    }
    for (name, side) in [("A", a), ("B", b)].into_iter().filter(|(_, side)| side.open_trials > 0) {
        let text = format!(
            "INCOMPLETE: {name} has no record yet of {} planned trials; what is there is compared",
            side.open_trials
        );
        section.notes.mark(Severity::Failed, text);
    }
    section
}

/// Counts of outcomes, as text. The first four are always named, the others if they are not 0.
fn counts(counts: &Counts) -> String {
    let mut parts = vec![
        format!("{} slower", counts.slower),
        format!("{} faster", counts.faster),
        format!("{} no difference shown", counts.none_shown),
        format!("{} now fail", counts.now_fail),
    ];
    for (count, label) in [
        (counts.larger, "larger"),
        (counts.smaller, "smaller"),
        (counts.now_answer, "now answer"),
        (counts.no_time, "without a time in either"),
        (counts.not_compared, "not compared"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {label}"));
        }
    }
    parts.join(", ")
}

fn side(side: &Side) -> String {
    let Side { run, started, program, .. } = side;
    let part = side.part.as_ref().map_or_else(String::new, |part| format!("{} in ", printable(part)));
    format!("{part}{}, begun {} with jsonathlon {}", printable(run), printable(started), printable(program))
}

fn control(comparison: &RunComparison) -> String {
    match &comparison.control {
        Some(Control { both, memory, compute, measurements_a, measurements_b, .. }) => format!(
            "control, B ÷ A   {} (memory-bound {}, compute-bound {}; {measurements_a} and {measurements_b} times)",
            limits(both),
            format::ratio(memory.ratio),
            format::ratio(compute.ratio)
        ),
        None if comparison.within_one_run => {
            "control          both sides are of one run, paired by round: nothing to divide out".to_owned()
        }
        None => "NO CONTROL in one run or both, or not the same one in both: ratios are raw, and a machine that was \
                 slower looks like slower systems"
            .to_owned(),
    }
}

/// A ratio with its interval, as text: `1.20 × (1.10 … 1.31)`.
fn limits(limits: &RatioInterval) -> String {
    let ratio = format::ratio(limits.ratio);
    match (limits.low, limits.high) {
        (Some(low), Some(high)) => {
            format!("{ratio} ({} … {})", format::three_digits(low), format::three_digits(high))
        }
        _ => ratio,
    }
}

fn differences(comparison: &RunComparison) -> Section {
    let one_run = comparison.within_one_run;
    let title = if one_run { "how the two sides differ" } else { "how the runs were made" }.to_owned();
    let mut section = Section::new(title, words(&["what differs", "A", "B"]));
    section.rows = comparison.differences.iter().map(difference_row).collect();
    if section.rows.is_empty() {
        section.notes.push(
            match one_run {
                true => "in nothing that the run knows of",
                false => {
                    "the same machine, program, documents and settings; every configuration that both have is the same"
                }
            }
            .to_owned(),
        );
    }
    section
}

fn difference_row(difference: &SetupDifference) -> Vec<String> {
    let value = |text: &str| match text {
        "" => dash(),
        text if text.starts_with("blake3:") || text.starts_with("sha256:") => digest(text),
        text => printable(text),
    };
    vec![printable(&difference.name), value(&difference.a), value(&difference.b)]
}

/// Beginning of a digest. An untrusted manifest may hold any text in its place.
fn digest(text: &str) -> String {
    printable(&shorten_digest(text))
}

fn is_quiet(cell: &CellComparison, comparison: &RunComparison) -> bool {
    match cell.outcome {
        Outcome::Timed(Significance::NotSignificant) => {
            cell.raw_outcome.is_none() && !is_notable(cell, comparison)
        }
        Outcome::Sized(SizeChange::Same | SizeChange::NotSignificant) => true,
        // Sizes that differ by a few pages do differ, but need no attention.
        Outcome::Sized(_) => {
            cell.is_counted() && cell.ratio.is_some_and(|ratio| (ratio - 1.0).abs() < NOTABLE_SIZE)
        }
        _ => false,
    }
}

/// Returns `true` if a ratio has no interval, so that no difference is shown, yet deviates from 1 by more
/// than the regression gate allows. Without a gate the limit is [`NOTABLE`].
fn is_notable(cell: &CellComparison, comparison: &RunComparison) -> bool {
    let limit = 1.0 + comparison.gate.as_ref().map_or(NOTABLE, |gate| gate.allowed_share);
    let is_far = cell.tested_ratio().is_some_and(|ratio| ratio > limit || ratio < 1.0 / limit);
    matches!(cell.outcome, Outcome::Timed(_)) && cell.low.is_none() && is_far
}

fn cells(
    title: &str,
    comparison: &RunComparison,
    is_shown: impl Fn(&CellComparison) -> bool,
) -> Option<Section> {
    let mut columns = words(&["system", "variant", "storage", "class", "cell"]);
    columns.extend(numbers(&["A", "B", "B ÷ A"]));
    columns.push(Column::interval());
    if comparison.control.is_some() {
        columns.extend([Column::number("÷ control"), Column::interval()]);
    }
    columns.push(Column::words("outcome"));
    let mut section = Section::new(title.to_owned(), columns);
    let shown_cells = comparison.cells.iter().filter(|cell| is_shown(cell));
    section.rows = shown_cells.map(|cell| (severity(cell), row(cell, comparison))).collect();
    (!section.rows.is_empty()).then_some(section)
}

/// Severity of a cell's outcome; if the outcome does not decide it, the worse one of the two sides.
fn severity(cell: &CellComparison) -> Severity {
    match cell.outcome {
        Outcome::NowFails => Severity::Failed,
        // The cell was wrong or failed in A, and no longer does in B.
        Outcome::NowAnswers => Severity::Good,
        Outcome::Timed(_) | Outcome::Sized(_) | Outcome::NoTime | Outcome::NotCompared => {
            cell.a.verdict.severity().max(cell.b.verdict.severity())
        }
    }
}

/// Limits of a ratio's interval, as text. `None` if there are none or they are too wide to say anything.
fn interval(ratio: Option<f64>, low: Option<f64>, high: Option<f64>) -> Option<String> {
    let limits = Estimate { median: ratio?, low, high }.if_meaningful_ratio();
    Some(format!("{} … {}", format::three_digits(limits.low?), format::three_digits(limits.high?)))
}

fn row(cell: &CellComparison, comparison: &RunComparison) -> Vec<String> {
    let value = |value: Option<f64>, verdict: Verdict| {
        value.map_or_else(|| verdict.word().to_owned(), |value| format::metric_value(cell.metric.unit, value))
    };
    let mut outcome = match is_notable(cell, comparison) {
        true => "difference not shown".to_owned(),
        false => cell.outcome.label().to_owned(),
    };
    if matches!(cell.outcome, Outcome::Timed(_)) && interval(cell.ratio, cell.low, cell.high).is_none() {
        outcome.push_str(&format!(" ({TOO_FEW_ROUNDS})"));
    }
    let is_single_round = cell.a.rounds.min(cell.b.rounds) < 2;
    if matches!(cell.outcome, Outcome::Sized(SizeChange::Larger | SizeChange::Smaller)) && is_single_round {
        outcome.push_str(" (counted once)");
    }
    // Without a value the verdict is already shown in its place.
    let has_values = cell.a.value.is_some() && cell.b.value.is_some();
    if has_values && cell.a.verdict != cell.b.verdict && cell.outcome != Outcome::NotCompared {
        let _ = write!(outcome, ", {} in A, {} in B", cell.a.verdict.word(), cell.b.verdict.word());
    }
    if let Some(raw) = cell.raw_outcome {
        let _ = write!(outcome, " (RAW: {})", raw.label());
    }
    if let Some(note) = &cell.note {
        let _ = write!(outcome, ": {}", printable(note));
    }
    if cell.reference {
        outcome.push_str(", for reference");
    }
    let mut row = vec![
        system(&cell.a.id, &cell.b.id),
        change(&cell.a.id.variant, &cell.b.id.variant),
        change(&cell.a.id.storage, &cell.b.id.storage),
        if cell.reference { dash() } else { printable(&cell.class) },
        printable(&cell.name()),
        value(cell.a.value, cell.a.verdict),
        value(cell.b.value, cell.b.verdict),
        optional(cell.ratio, format::ratio),
        interval(cell.ratio, cell.low, cell.high).unwrap_or_else(dash),
    ];
    if comparison.control.is_some() {
        let divided = cell.divided_by_control;
        row.push(optional(divided.map(|divided| divided.ratio), format::ratio));
        let limits = divided.and_then(|divided| interval(Some(divided.ratio), divided.low, divided.high));
        row.push(limits.unwrap_or_else(dash));
    }
    row.push(outcome);
    row
}

fn change(a: &str, b: &str) -> String {
    if a == b { printable(a) } else { printable(&format!("{a} → {b}")) }
}

/// Name and version of the system, and how they change from A to B.
fn system(a: &ConfigurationId, b: &ConfigurationId) -> String {
    match a.system == b.system {
        true => printable(&format!("{} {}", a.system, change(&a.version, &b.version))),
        false => change(&format!("{} {}", a.system, a.version), &format!("{} {}", b.system, b.version)),
    }
}

fn sizes(comparison: &RunComparison) -> Option<Section> {
    let columns = [words(&["system", "variant", "storage", "what"]), numbers(&["A", "B", "B ÷ A"])].concat();
    let mut section = Section::new("memory, and sizes of one side alone".to_owned(), columns);
    section.rows = comparison
        .sizes
        .iter()
        .filter(|size| !size.is_cell)
        .map(|size| {
            let [a, b] = &size.ids;
            vec![
                system(a, b),
                change(&a.variant, &b.variant),
                printable(&b.storage),
                size.quantity.to_owned(),
                optional(size.a_bytes, format::bytes),
                optional(size.b_bytes, format::bytes),
                optional(size.ratio, format::ratio),
            ]
        })
        .collect();
    section.notes.push("without an interval; in no count, and no regression".to_owned());
    (!section.rows.is_empty()).then_some(section)
}

fn unmatched(comparison: &RunComparison) -> Option<Section> {
    let mut section = Section { title: "only in one of the runs".to_owned(), ..Section::default() };
    for (side, configurations) in [("A", &comparison.only_in_a), ("B", &comparison.only_in_b)] {
        for configuration in configurations {
            let UnmatchedConfiguration { id, whole_configuration, cells, .. } = configuration;
            let description = match cells.len() {
                _ if !*whole_configuration => {
                    cells.iter().map(|cell| printable(cell)).collect::<Vec<_>>().join("; ")
                }
                0 => "nothing was measured".to_owned(),
                1 => "all of it, 1 cell".to_owned(),
                count => format!("all of it, {count} cells"),
            };
            section.notes.push(format!("only in {side}: {}: {description}", printable(&id.to_string())));
        }
    }
    (!section.notes.is_empty()).then_some(section)
}

fn closing(comparison: &RunComparison) -> Section {
    let counts = &comparison.counts;
    let mut section = Section { title: "in short".to_owned(), ..Section::default() };
    let different = counts.slower + counts.faster;
    let by_chance = match counts.with_interval {
        0 => "no comparison has an interval, which needs two rounds on either side".to_owned(),
        1 => "one comparison with an interval, 5 % to be called different by chance".to_owned(),
        comparisons if different == 0 => format!("{comparisons} comparisons with an interval"),
        comparisons => {
            format!(
                "{comparisons} comparisons with an interval; of those called different 5 % are expected by chance"
            )
        }
    };
    section.notes.push(format!(
        "{} of {} cells slower, {} faster, {} no difference shown; {by_chance}",
        counts.slower,
        counts.compared(),
        counts.faster,
        counts.none_shown
    ));
    let missing = counts.compared() - counts.with_interval;
    if missing > 0 && counts.with_interval > 0 {
        let have = if missing == 1 { "has" } else { "have" };
        section.notes.push(format!(
            "{missing} of them {have} one round on a side: a ratio without an interval shows no difference"
        ));
    }
    section.notes.push(match comparison.within_one_run {
        true => "B ÷ A: ratio of medians; 95 % interval: bootstrap over the run's rounds, both sides drawn together"
            .to_owned(),
        false => format!(
            "B ÷ A: ratio of medians; 95 % interval: bootstrap over the rounds of each run, and {:.0} % for what two \
             runs differ by as wholes ({:.0} % of each run's loads)",
            100.0 * BETWEEN_RUNS_ERROR,
            100.0 * BETWEEN_LOADS_ERROR
        ),
    });
    section.notes.push(format!(
        "slower, faster: shown over all cells together (Benjamini-Hochberg, 5 %){}",
        match comparison.control {
            Some(_) => ", with the control divided out; RAW: what the ratio itself would be called",
            None => "",
        }
    ));
    if comparison.cells.iter().any(|cell| matches!(cell.outcome, Outcome::Sized(_))) {
        section.notes.push(
            "larger, smaller: sizes that vary between loads are tested with the times; others differ as counted"
                .to_owned(),
        );
    }
    if let Some(gate) = &comparison.gate {
        section.notes.mark(gate_severity(gate), verdict(gate));
        section.notes.mark_all(Severity::Failed, gate.reasons.iter().map(reason));
    }
    section
}

fn gate_severity(gate: &RegressionGate) -> Severity {
    if gate.passed { Severity::Good } else { Severity::Failed }
}

fn reason(reason: &Reason) -> String {
    let label = match reason.kind {
        ReasonKind::Slower | ReasonKind::Larger | ReasonKind::NowFails => "regression",
        ReasonKind::Missing | ReasonKind::Incomplete | ReasonKind::Untested => "not passed",
    };
    format!("{label}: {}", printable(&reason.text))
}

fn verdict(gate: &RegressionGate) -> String {
    // Rounded to 0.01 %, so that the option's value is shown without binary rounding errors.
    let allowed = format!("{} %", (gate.allowed_share * 1e4).round() / 1e2);
    let mut parts = Vec::new();
    if gate.passed {
        parts.push(format!(
            "PASSED: nothing is slower or larger by more than {allowed}, and nothing now fails"
        ));
    }
    let counted_sizes = match gate.sizes_counted {
        0 => None,
        1 => Some("1 size compared as counted".to_owned()),
        count => Some(format!("{count} sizes compared as counted")),
    };
    parts.extend(count_reasons(gate, &allowed));
    parts.extend(describe_tests(gate).into_iter().chain(counted_sizes));
    match gate.without_interval {
        0 => {}
        1 => parts.push("1 cell has no interval and cannot be shown to be slower".to_owned()),
        count => parts.push(format!("{count} cells have no interval and cannot be shown to be slower")),
    }
    match gate.not_compared {
        count if count == 0 || !gate.allow_missing => {}
        1 => parts.push("1 cell that was right in A was not compared".to_owned()),
        count => parts.push(format!("{count} cells that were right in A were not compared")),
    }
    let text = parts.join("; ");
    if gate.passed { text } else { format!("NOT PASSED: {text}") }
}

/// Number of tested cells, which ones these are, and at which level; `None` if no cell was tested.
fn describe_tests(gate: &RegressionGate) -> Option<String> {
    let times = gate.tested - gate.sizes_tested - gate.measured_tested;
    let kinds = match (times, gate.measured_tested, gate.sizes_tested) {
        (_, 0, 0) => "loads and hot questions",
        (_, 0, _) => "loads, hot questions, and sizes that vary",
        (_, _, 0) => "loads, throughput, and p99 that has an interval",
        _ => "loads, throughput, p99 that has an interval, and sizes that vary",
    };
    match gate.tested {
        0 => None,
        1 => Some(format!("1 cell tested ({kinds})")),
        count => Some(format!("{count} cells tested ({kinds}), together at {:.0} %", 100.0 * gate.level)),
    }
}

/// Number of reasons of each kind against passing; kinds without a reason are left out.
fn count_reasons(gate: &RegressionGate, allowed: &str) -> Vec<String> {
    let slower = format!("slower by more than {allowed}");
    let mut parts = Vec::new();
    for (kind, singular, plural) in [
        (ReasonKind::Slower, format!("1 cell is {slower}"), format!("cells are {slower}")),
        (
            ReasonKind::Larger,
            format!("1 size is larger by more than {allowed}"),
            format!("sizes are larger by more than {allowed}"),
        ),
        (ReasonKind::NowFails, "1 cell now fails".to_owned(), "cells now fail".to_owned()),
        (
            ReasonKind::Missing,
            "1 configuration has cells that are missing or not comparable in B".to_owned(),
            "configurations have cells that are missing or not comparable in B".to_owned(),
        ),
        (ReasonKind::Incomplete, "B is not complete".to_owned(), String::new()),
        (ReasonKind::Untested, "no time could be tested".to_owned(), String::new()),
    ] {
        match gate.reasons.iter().filter(|reason| reason.kind == kind).count() {
            0 => {}
            1 => parts.push(singular),
            count => parts.push(format!("{count} {plural}")),
        }
    }
    parts
}
