//! A table with what stands under it, before it is drawn, and the words that all tables share.

use jsonathlon_results::manifest::Configuration;
use jsonathlon_results::summary::{Entry, Run};

use crate::format;

/// One table with what stands under it.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// So many columns from the left hold words and are aligned so.
    pub(crate) left_columns: usize,
    /// Further columns of words.
    pub(crate) left_also: Vec<usize>,
    pub(crate) notes: Vec<String>,
}

impl Section {
    pub(crate) fn new(title: String, header: &[&str], left_columns: usize) -> Self {
        let header = header.iter().map(|name| (*name).to_owned()).collect();
        Self { title, header, left_columns, ..Self::default() }
    }
}

const NONE: &str = "–";

/// Columns that name a configuration.
pub(crate) const NAMES: usize = 4;

/// Configurations class by class, in the order of the plan within each; reference rows last.
pub(crate) fn by_class(run: &Run) -> Vec<&Configuration> {
    let mut all: Vec<&Configuration> = run.manifest.configurations.iter().collect();
    all.sort_by_cached_key(|one| (one.reference, one.ranking_place()));
    all
}

pub(crate) fn name(configuration: &Configuration) -> Vec<String> {
    vec![
        if configuration.reference { none() } else { configuration.ranking() },
        format!("{} {}", configuration.id.system, configuration.id.version),
        configuration.id.variant.clone(),
        configuration.id.storage.clone(),
    ]
}

pub(crate) fn optional(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(none, show)
}

pub(crate) fn none() -> String {
    NONE.to_owned()
}

pub(crate) fn short(digest: &str) -> String {
    digest.chars().take(7 + 16).collect()
}

/// Text that a system or a document put in, kept from moving the cursor or changing colours.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(300)
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// An interval of seconds.
pub(crate) fn interval(entry: Option<&Entry>) -> String {
    match entry.and_then(|entry| entry.low_s.zip(entry.high_s)) {
        Some((low, high)) => format!("{} … {}", format::seconds(low), format::seconds(high)),
        None => none(),
    }
}
