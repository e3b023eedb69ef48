//! Reduces histograms to the durations of some quantiles, which a page can hold.

use std::collections::{BTreeMap, HashMap};

use jsonathlon_results::percentile::Histograms;
use jsonathlon_results::summary::Run;
use jsonathlon_schema::record::Trial;

/// Quantiles that are kept if at least one operation of the cell lies beyond them.
const QUANTILES: [f64; 15] =
    [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.999_95, 0.999_99];

/// Quantiles with their microseconds, by the name of the histogram.
pub(super) type Distributions = BTreeMap<String, Vec<[f64; 2]>>;

/// Distributions of every cell that has histograms, by its key. The trials of a cell are merged; the share 1
/// is the longest of all.
pub(super) fn by_cell(run: &Run) -> HashMap<String, Distributions> {
    let mut cells: HashMap<String, Vec<&Trial>> = HashMap::new();
    for trial in run.trials().filter(|trial| !trial.histograms.is_empty()) {
        cells.entry(trial.cell.key()).or_default().push(trial);
    }
    cells.into_iter().map(|(key, trials)| (key, distributions(&Histograms::from_trials(&trials)))).collect()
}

fn distributions(histograms: &Histograms) -> Distributions {
    let distribution = |name: &str| {
        let merged = histograms.merge_rounds(name).filter(|merged| merged.count() > 0)?;
        let count = merged.count() as f64;
        let quantiles = QUANTILES.into_iter().filter(|quantile| count * (1.0 - quantile) >= 1.0).chain([1.0]);
        let points = quantiles.map(|quantile| [quantile, merged.quantile_us(quantile)]).collect();
        Some((name.to_owned(), points))
    };
    histograms.names().filter_map(distribution).collect()
}
