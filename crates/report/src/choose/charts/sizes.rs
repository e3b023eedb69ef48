//! Sizes over numbers of documents, with estimates for numbers that were not loaded.

use jsonathlon_choose::Dimension;
use jsonathlon_choose::needs::{Need, SizeAt};

use super::{NotDrawn, SettingChart, drawable, limit, need, point, untested};
use crate::chart::ValueAxis;
use crate::chart::curves::{Curve, Limit, SettingAxis};
use crate::chart::scale::LOGARITHMIC;
use crate::choose::ChooseResult;
use crate::format;

/// The chart; empty if no size was measured.
pub(super) fn figures(result: &ChooseResult<'_>) -> String {
    let size_need = need(result, Dimension::Size);
    let asked = match size_need {
        Some(Need::Size { at: SizeAt::Later(documents) | SizeAt::Now(Some(documents)), .. }) => {
            Some(documents as f64)
        }
        _ => None,
    };
    let (curves, not_drawn) = curves(result, asked);
    let chart = SettingChart {
        titles: ["size over the number of documents", "size of the loaded documents"].map(str::to_owned),
        columns: ["documents", "bytes"],
        values: size_axis(!spans_magnitudes(&curves, asked)),
        values_of_rows: size_axis(true),
        curves,
        not_drawn,
        settings: SettingAxis { title: "documents", format: &format::count },
        asked_setting: asked.map(|documents| Limit {
            value: documents,
            name: format!("your number: {} documents", format::integer(documents)),
        }),
        asked_value: match size_need {
            Some(need @ Need::Size { below_bytes, .. }) => Some(limit(need, below_bytes)),
            _ => None,
        },
    };
    chart.figure(result)
}

/// A curve for each system, with the estimate for the number of documents that the user asked about, and what is
/// missing in them.
fn curves(result: &ChooseResult<'_>, asked: Option<f64>) -> (Vec<Curve>, NotDrawn) {
    let (mut curves, mut not_drawn) = (Vec::new(), NotDrawn::default());
    for candidate in &result.decision.candidates {
        let (name, system) = (candidate.facts.name.clone(), candidate.facts.id.system.clone());
        if candidate.facts.sizes.is_empty() {
            not_drawn.add(&name, &untested(candidate, Dimension::Size));
        }
        let mut points = Vec::new();
        for size in &candidate.facts.sizes {
            let documents = size.documents as f64;
            match drawable(Some(&size.bytes)) {
                Ok(measurement) => points.push(point(documents, measurement)),
                Err(reason) => {
                    not_drawn.add(&format!("{name} with {} documents", format::integer(documents)), &reason);
                }
            }
        }
        let judged = candidate.judgement(Dimension::Size).map(|judgement| &judgement.figure);
        let estimate = judged.filter(|figure| figure.is_estimate).and_then(|figure| figure.value);
        if !points.is_empty() {
            curves.push(Curve {
                name,
                system,
                points,
                unmeasured: asked.zip(estimate).into_iter().collect(),
            });
        }
    }
    (curves, not_drawn)
}

/// Axis of sizes. One that does not begin at zero is logarithmic, like that of the documents: only so is a size
/// that grows in proportion a straight line.
fn size_axis(is_from_zero: bool) -> ValueAxis<'static> {
    ValueAxis { title: "size on disk, less is better".to_owned(), is_from_zero, format: &format::bytes }
}

/// Returns `true` if numbers of documents are so far apart that their axis is logarithmic.
fn spans_magnitudes(curves: &[Curve], asked: Option<f64>) -> bool {
    let numbers = |curve: &Curve| -> Vec<f64> {
        let measured = curve.points.iter().map(|point| point.x);
        measured.chain(curve.unmeasured.iter().map(|(documents, _)| *documents)).collect()
    };
    let numbers: Vec<f64> = curves.iter().flat_map(numbers).chain(asked).collect();
    let (low, high) = numbers
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), number| (low.min(*number), high.max(*number)));
    low > 0.0 && high / low >= LOGARITHMIC
}
