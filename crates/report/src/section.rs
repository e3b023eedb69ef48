//! The model of a table before it is drawn, and the texts that all tables share.

use jsonathlon_results::summary::{CellSummary, Run};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric::{MetricDef, SECONDS};
use jsonathlon_stats::statistics::Group;

use crate::format;
use crate::severity_list::SeverityList;

/// How much readers lose where a narrow table leaves a column out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Importance {
    /// Explains results; it is left out first.
    Detail,
    /// Adds to the results.
    Useful,
    /// Belongs to the results; it is left out only where even broken cells do not fit.
    Main,
    /// Never left out, however narrow a table is.
    Essential,
}

/// What a column holds, which decides how it is aligned and how a compact table shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Words, aligned to the left.
    Words,
    /// A setting of configurations, aligned to the left. A dash stands for rows that have no such setting.
    Setting,
    /// Measured numbers, aligned to the right. They are shown even if they happen to be the same in all rows.
    Number,
    /// Counts and conditions, aligned to the right, which say little if they are the same in all rows.
    Count,
    /// Intervals of the column before; a compact table puts them into the cells of that column.
    Interval,
}

/// A column of a table: its heading, and how it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) title: String,
    pub(crate) kind: ColumnKind,
    pub(crate) importance: Importance,
}

impl Column {
    fn new(title: &str, kind: ColumnKind, importance: Importance) -> Self {
        Self { title: title.to_owned(), kind, importance }
    }

    /// An essential column of words.
    pub(crate) fn words(title: &str) -> Self {
        Self::new(title, ColumnKind::Words, Importance::Essential)
    }

    /// An essential column of numbers.
    pub(crate) fn number(title: &str) -> Self {
        Self::new(title, ColumnKind::Number, Importance::Essential)
    }

    /// A column of counts or conditions, one of the main ones.
    pub(crate) fn count(title: &str) -> Self {
        Self::new(title, ColumnKind::Count, Importance::Main)
    }

    /// A column of a setting, one of the main ones.
    pub(crate) fn setting(title: &str) -> Self {
        Self::new(title, ColumnKind::Setting, Importance::Main)
    }

    /// The column of 95 % intervals of the column before, one of the main ones.
    pub(crate) fn interval() -> Self {
        Self::new("95 % interval", ColumnKind::Interval, Importance::Main)
    }

    /// This column with the importance [`Importance::Main`].
    pub(crate) fn main(self) -> Self {
        Self { importance: Importance::Main, ..self }
    }

    /// This column with the importance [`Importance::Useful`].
    pub(crate) fn useful(self) -> Self {
        Self { importance: Importance::Useful, ..self }
    }

    /// This column with the importance [`Importance::Detail`].
    pub(crate) fn detail(self) -> Self {
        Self { importance: Importance::Detail, ..self }
    }

    /// Returns `true` for columns of words, which are aligned to the left.
    pub(crate) fn is_left_aligned(&self) -> bool {
        matches!(self.kind, ColumnKind::Words | ColumnKind::Setting)
    }
}

/// Essential columns of words with these titles.
pub(crate) fn words(titles: &[&str]) -> Vec<Column> {
    titles.iter().map(|title| Column::words(title)).collect()
}

/// Essential columns of numbers with these titles.
pub(crate) fn numbers(titles: &[&str]) -> Vec<Column> {
    titles.iter().map(|title| Column::number(title)).collect()
}

/// A titled table with the notes under it.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: SeverityList<Vec<String>>,
    pub(crate) notes: SeverityList<String>,
}

impl Section {
    pub(crate) fn new(title: String, columns: Vec<Column>) -> Self {
        Self { title, columns, ..Self::default() }
    }
}

/// Text of a cell that has no value.
pub(crate) const NONE: &str = "–";

/// Configurations sorted by ranking, in the order of the plan within each; yardsticks come last.
pub(crate) fn sorted_configurations(run: &Run) -> Vec<&Configuration> {
    let mut configurations: Vec<&Configuration> = run.manifest.configurations.iter().collect();
    configurations
        .sort_by_cached_key(|configuration| (configuration.reference, configuration.ranking_place()));
    configurations
}

/// Columns of the cells that [`name_columns`] returns.
pub(crate) fn configuration_columns() -> Vec<Column> {
    vec![
        Column::setting("class"),
        Column::words("system"),
        Column::words("variant"),
        Column::setting("storage"),
    ]
}

/// Table cells that identify a configuration: class, system with version, variant, storage.
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
