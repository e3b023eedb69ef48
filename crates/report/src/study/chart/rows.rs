//! Rows below each other, one per configuration: dots with intervals, or bars from zero for counts and bytes.

use jsonathlon_studies::observations::Observation;

use super::{name, published_peaks, value_axis};
use crate::chart::colour::Symbol;
use crate::chart::figure::Data;
use crate::chart::rows::{Row, RowChart, SecondMark};
use crate::study::StudyResult;

/// One row per name, in the order of the first point of each, with the point of the highest value.
pub(super) fn rows(result: &StudyResult<'_>, points: &[&Observation]) -> Vec<Row> {
    let metric = result.study.metric();
    let mut rows: Vec<Row> = Vec::new();
    for &point in points {
        let Some(value) = point.value(metric) else { continue };
        let published =
            |value: f64| SecondMark { symbol: Symbol::Square, value, limits: None, word: "published" };
        let row = Row {
            name: name(result, point, &[]),
            system: point.attribute("system").to_owned(),
            value,
            limits: point.limits(metric),
            others: published_peaks(result, point).into_iter().map(published).collect(),
        };
        match rows.iter_mut().find(|known| known.name == row.name) {
            Some(known) if known.value < value => *known = row,
            Some(_) => {}
            None => rows.push(row),
        }
    }
    rows
}

/// Values of all rows as CSV.
pub(super) fn data(rows: &[Row], metric: &str) -> Data {
    crate::chart::rows::data(metric, rows, "measured")
}

/// Draws rows in `width` pixels; `None` without a value.
pub(super) fn draw(rows: &[Row], metric: &str, width: f64, title: &str) -> Option<String> {
    let format = |value: f64| crate::study::table::format_value(metric, value);
    let values = value_axis(metric, &format);
    RowChart { title, rows, values, explanation: String::new(), asked_value: None }.draw(width)
}
