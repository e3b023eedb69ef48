//! Tables of `jsonathlon check`: false alarms, and how metrics grow.

use std::collections::{BTreeMap, BTreeSet};

use jsonathlon_results::false_alarms::SelfComparison;
use jsonathlon_results::scaling::ScalingFit;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_stats::statistics::median;

use crate::format;
use crate::render::TableStyle;
use crate::render::terminal::draw;
use crate::section::{Column, Section, numbers, words};

/// Table of the comparisons of a system with itself: false alarms and typical intervals by question.
#[must_use]
pub fn noise(title: &str, rounds: u32, comparisons: &[SelfComparison], style: TableStyle) -> String {
    let mut columns = words(&["question"]);
    columns.extend(numbers(&["comparisons", "false alarms", "median ratio", "typical interval"]));
    let title = format!("{title} against itself, {rounds} rounds a comparison");
    let mut section = Section::new(title, columns);
    let mut by_step: BTreeMap<&str, Vec<&SelfComparison>> = BTreeMap::new();
    for comparison in comparisons {
        by_step.entry(comparison.step.word()).or_default().push(comparison);
    }
    for (step, step_comparisons) in by_step {
        let ratios: Vec<f64> = step_comparisons.iter().map(|comparison| comparison.ratio.median).collect();
        // Half the width of the interval on a logarithmic scale, on which both halves are alike.
        let half_width =
            |comparison: &&SelfComparison| Some((comparison.ratio.high? / comparison.ratio.median).ln());
        let half_widths: Vec<f64> = step_comparisons.iter().filter_map(half_width).collect();
        section.rows.push(vec![
            step.to_uppercase(),
            step_comparisons.len().to_string(),
            step_comparisons.iter().filter(|comparison| comparison.is_false_alarm()).count().to_string(),
            median(&ratios).map_or_else(String::new, format::ratio),
            median(&half_widths)
                .map_or_else(String::new, |width| format!("± {}", format::percent(width.exp() - 1.0))),
        ]);
    }
    for comparison in comparisons.iter().filter(|comparison| comparison.is_false_alarm()) {
        let limit = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
        section.notes.push(format!(
            "false alarm: {} from round {} on: {:.3} ({} … {})",
            comparison.step,
            comparison.first_round,
            comparison.ratio.median,
            limit(comparison.ratio.low),
            limit(comparison.ratio.high)
        ));
    }
    let alarms = comparisons.iter().filter(|comparison| comparison.is_false_alarm()).count();
    let share = alarms as f64 / comparisons.len().max(1) as f64;
    section.notes.push(format!(
        "{alarms} false alarms in {} comparisons: {}; intervals of 95 % allow 5 %",
        comparisons.len(),
        format::percent(share)
    ));
    draw(&[section], style)
}

/// Table of how metrics grow with the number of documents, over runs of different scales.
#[must_use]
pub fn growth(fits: &[ScalingFit], style: TableStyle) -> String {
    let scales: BTreeSet<u64> =
        fits.iter().flat_map(|fit| fit.points.iter().map(|(documents, _)| *documents as u64)).collect();
    let mut columns = words(&["system", "variant", "storage", "metric"]);
    columns.extend(scales.iter().map(|scale| Column::number(&format::count(*scale as f64))));
    columns.push(Column::number("exponent"));
    let mut section = Section::new("scaling with the number of documents".to_owned(), columns);
    for fit in fits {
        let ConfigurationId { system, version, variant, storage } = &fit.configuration;
        let mut row = vec![format!("{system} {version}"), variant.clone(), storage.clone(), fit.name.clone()];
        let show = |value: f64| format::metric_value(fit.unit, value);
        row.extend(scales.iter().map(|scale| {
            let point = fit.points.iter().find(|(documents, _)| *documents as u64 == *scale);
            point.map_or_else(|| "–".to_owned(), |(_, value)| show(*value))
        }));
        row.push(fit.exponent.map_or_else(|| "–".to_owned(), |exponent| format!("{exponent:.2}")));
        section.rows.push(row);
    }
    section
        .notes
        .push("exponent: slope of log(metric) over log(documents); 1 is linear, 0 is constant".into());
    draw(&[section], style)
}
