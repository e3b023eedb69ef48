//! The model of a table before it is drawn, and the texts that all tables share.

use jsonathlon_results::summary::{CellSummary, Run};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{MetricDef, SECONDS};
use jsonathlon_stats::statistics::Group;

use crate::format;
use crate::severity_list::SeverityList;

/// A titled table with the notes under it.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: SeverityList<Vec<String>>,
    /// Number of columns from the left that hold words and are left-aligned.
    pub(crate) left_columns: usize,
    /// Indexes of further columns that hold words.
    pub(crate) further_left_columns: Vec<usize>,
    pub(crate) notes: SeverityList<String>,
}

impl Section {
    pub(crate) fn new(title: String, header: &[&str], left_columns: usize) -> Self {
        let header = header.iter().map(|name| (*name).to_owned()).collect();
        Self { title, header, left_columns, ..Self::default() }
    }
}

const NONE: &str = "–";

/// Number of leading columns that identify a configuration: class, system, variant, storage.
pub(crate) const NAME_COLUMNS: usize = 4;

/// Configurations sorted by ranking, in the order of the plan within each; yardsticks come last.
pub(crate) fn sorted_configurations(run: &Run) -> Vec<&Configuration> {
    let mut configurations: Vec<&Configuration> = run.manifest.configurations.iter().collect();
    configurations
        .sort_by_cached_key(|configuration| (configuration.reference, configuration.ranking_place()));
    configurations
}

pub(crate) fn name_columns(configuration: &Configuration) -> Vec<String> {
    vec![
        if configuration.reference { dash() } else { configuration.ranking() },
        format!("{} {}", configuration.id.system, configuration.id.version),
        configuration.id.variant.clone(),
        configuration.id.storage.clone(),
    ]
}

pub(crate) fn optional(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(dash, show)
}

pub(crate) fn dash() -> String {
    NONE.to_owned()
}

pub(crate) fn shorten_digest(digest: &str) -> String {
    digest.chars().take(7 + 16).collect()
}

/// Makes text that comes from a system or a document safe for a terminal. Each control character or run of
/// blanks becomes one blank, and the text is cut after 300 characters.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(300)
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Shown when the interval is unknown (one round) or too wide to be useful.
pub(crate) const TOO_FEW_ROUNDS: &str = "too few rounds";

/// Returns the interval of an entry's time, as text. A dash if the entry has no time.
pub(crate) fn interval(entry: Option<&CellSummary>) -> String {
    match entry.map(|entry| (entry.median_s, entry.limits(&SECONDS))) {
        Some((_, Some([low, high]))) => format!("{} … {}", format::seconds(low), format::seconds(high)),
        Some((Some(_), None)) => TOO_FEW_ROUNDS.to_owned(),
        _ => dash(),
    }
}

/// Returns an entry's value of a metric, as text. `None` if it has none. If the trials fall into two groups,
/// both medians are shown, because the median over all belongs to neither.
pub(crate) fn trials_text(
    entry: &CellSummary,
    metric: &MetricDef,
    show: impl Fn(f64) -> String,
) -> Option<String> {
    let value = entry.value(metric)?;
    Some(entry.groups(metric).map_or_else(|| show(value), |groups| groups_text(&groups, &show)))
}

/// Returns the medians of two groups of trials, as text: `282 B in 3 trials, 2.48 kB in 3`.
pub(crate) fn groups_text([low, high]: &[Group; 2], show: impl Fn(f64) -> String) -> String {
    format!("{} in {} trials, {} in {}", show(low.median), low.trials, show(high.median), high.trials)
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::id::{ConfigurationId, Step};
    use jsonathlon_schema::metric::WAL_BYTES_PER_OP;
    use jsonathlon_schema::record::{Cell, Phase};

    use super::*;

    fn entry() -> CellSummary {
        CellSummary::blank(Cell {
            workload: "serving".into(),
            id: ConfigurationId::new("ma", "1", "plain", "default"),
            profile: None,
            step: Step::from("a"),
            phase: Phase::Measured,
            state: None,
            parameters: Default::default(),
        })
    }

    #[test]
    fn an_unknown_or_useless_interval_is_shown_as_too_few_rounds() {
        let interval_with =
            |low_s, high_s| interval(Some(&CellSummary { median_s: Some(0.2), low_s, high_s, ..entry() }));
        assert_eq!(interval_with(Some(0.1), Some(0.3)), "100 ms … 300 ms");
        assert_eq!(interval_with(Some(1e-9), Some(62_945_984.0)), TOO_FEW_ROUNDS);
        assert_eq!(interval_with(None, None), TOO_FEW_ROUNDS);
        assert_eq!(interval(Some(&entry())), dash(), "what has no time has no interval either");
    }

    #[test]
    fn a_missing_metric_has_no_text_and_two_groups_show_both_medians() {
        let bytes = |entry: &CellSummary| trials_text(entry, &WAL_BYTES_PER_OP, format::bytes);
        let mut entry = entry();
        assert_eq!(bytes(&entry), None);
        entry.metrics.insert(WAL_BYTES_PER_OP.name.to_owned(), 1311.5);
        assert_eq!(bytes(&entry).as_deref(), Some("1.31 kB"));
        let groups = [Group { trials: 3, median: 282.0 }, Group { trials: 3, median: 2480.0 }];
        entry.groups.insert(WAL_BYTES_PER_OP.name.to_owned(), groups);
        assert_eq!(bytes(&entry).as_deref(), Some("282 B in 3 trials, 2.48 kB in 3"));
    }
}
