//! Published results that studies are compared with: "Jsonb: few more stories about the performance" (2017).
//!
//! They were read off plots, come from another machine and other versions, and are never ranked with measured
//! results.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jsonathlon_results::ResultsError;

const RESULTS: &str = include_str!("../published/2017-12.tsv");
const COLUMNS: [&str; 9] =
    ["experiment", "mix", "documents", "system", "configuration", "peak", "at_100_clients", "like", "remark"];

/// Source of the published results, and their precision.
pub const SOURCE: &str = "D. Dolgov, \"Jsonb: few more stories about the performance\", December 2017; read off plots by eye \
                          (± 5 %)";
/// Machines, versions and procedure of all published results.
pub const MACHINE: &str = "2 × m4.large (2 vCPU, 8 GB, gp2), PostgreSQL 9.6.3 and 10, MySQL 5.7.19 and 8.0.3, MongoDB 3.2.5 \
                           and 3.4.4, YCSB, four rounds or more";

/// One published result, in operations per second.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedResult {
    /// Experiment that the result belongs to. Exactly one study covers each experiment.
    pub experiment: String,
    /// Mix of operations, a letter or `insert`.
    pub mix: String,
    /// Shape of the documents, such as `flat`, sometimes with their size.
    pub documents: String,
    /// Name of the system, as published.
    pub system: String,
    /// Configuration in the publication's words.
    pub configuration: String,
    /// Operations per second at the peak, which is at about 20 clients. `None` if not published.
    pub peak: Option<f64>,
    /// Operations per second at 100 clients. `None` if not published.
    pub at_100_clients: Option<f64>,
    /// Attributes of the most similar measured points: names and values as in
    /// [`VerdictSpec::subject`](crate::verdict_spec::VerdictSpec::subject).
    pub similar_points: BTreeMap<String, String>,
    /// Remarks for the reader, including suspected errors. May be empty.
    pub remark: String,
}

/// All published results, in the order of their file.
///
/// # Errors
/// [`ResultsError::Corrupt`] if the embedded file is invalid; a test ensures that it is valid.
pub fn published_results() -> Result<Vec<PublishedResult>, ResultsError> {
    let mut lines = RESULTS.lines().enumerate().filter(|(_, text)| !text.starts_with('#'));
    let corrupt = |line: usize, message: String| ResultsError::Corrupt {
        path: PathBuf::from("published/2017-12.tsv"),
        line: line + 1,
        message,
    };
    match lines.next() {
        Some((_, head)) if head.split('\t').eq(COLUMNS) => {}
        _ => return Err(corrupt(0, "not the columns that belong there".to_owned())),
    }
    lines
        .map(|(index, text)| {
            let fields: Vec<&str> = text.split('\t').collect();
            let [experiment, mix, documents, system, configuration, peak, at_100, like, remark] =
                fields.as_slice()
            else {
                return Err(corrupt(index, format!("{} fields and not {}", fields.len(), COLUMNS.len())));
            };
            let rate = |text: &str| match text {
                "" => Ok(None),
                text => text.parse().map(Some).map_err(|error| corrupt(index, format!("{text}: {error}"))),
            };
            let like = like.split_whitespace().map(|pair| match pair.split_once('=') {
                Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
                None => Err(corrupt(index, format!("`{pair}` is no name and value"))),
            });
            Ok(PublishedResult {
                experiment: (*experiment).to_owned(),
                mix: (*mix).to_owned(),
                documents: (*documents).to_owned(),
                system: (*system).to_owned(),
                configuration: (*configuration).to_owned(),
                peak: rate(peak)?,
                at_100_clients: rate(at_100)?,
                similar_points: like.collect::<Result<_, _>>()?,
                remark: (*remark).to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_published_figure_is_shown_by_one_study() {
        let results = published_results().unwrap();
        let studies: Vec<_> =
            crate::names().into_iter().map(|name| crate::built_in(name).unwrap().unwrap()).collect();
        for result in &results {
            let names: Vec<&str> = studies
                .iter()
                .filter(|study| study.experiments.contains(&result.experiment))
                .map(|study| study.name.as_str())
                .collect();
            assert_eq!(names.len(), 1, "{result:?} is shown by {names:?}");
            assert!(result.peak.is_some() || result.at_100_clients.is_some(), "{result:?}");
        }
        let experiments: BTreeSet<&str> = results.iter().map(|result| result.experiment.as_str()).collect();
        for study in &studies {
            for experiment in &study.experiments {
                assert!(experiments.contains(experiment.as_str()), "{}: {experiment}", study.name);
            }
        }
    }
}
