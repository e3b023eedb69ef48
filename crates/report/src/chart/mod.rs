//! Charts as SVG, for pages without a script.
//!
//! A page without a script cannot draw its charts again when the window becomes narrow. Every chart is
//! therefore drawn twice, for desktops and for phones, and the style sheet shows one of both.

pub(crate) mod colour;
pub(crate) mod curves;
pub(crate) mod figure;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod svg;
pub(crate) mod text;

use scale::Range;

/// Axis of the values of a chart.
#[derive(Clone)]
pub(crate) struct ValueAxis<'a> {
    /// What is measured, and which direction is better.
    pub(crate) title: String,
    /// Whether the axis begins at zero, as those of counts and bytes do. Times, rates and ratios are drawn on a
    /// logarithmic scale, which has no zero.
    pub(crate) is_from_zero: bool,
    /// Formats a value with its unit.
    pub(crate) format: &'a dyn Fn(f64) -> String,
}

impl ValueAxis<'_> {
    /// Range of the axis around values and the limits of their intervals. `None` without a value.
    fn range(&self, values: &[f64], limits: &[f64]) -> Option<Range> {
        if self.is_from_zero { Range::from_zero(values, limits) } else { Range::around(values, limits) }
    }

    /// Title with the kind of the scale.
    fn title_with_scale(&self, range: &Range) -> String {
        let scale = if range.is_logarithmic { "log scale" } else { "from zero" };
        format!("{}, {scale}", self.title)
    }

    /// A value as a tick label, see [`tick_label`].
    fn tick_label(&self, value: f64) -> String {
        tick_label(&(self.format)(value), value)
    }
}

/// Tick label of a value that is formatted as `text`: `10 ms` instead of `10.0 ms`, and zero without a unit.
pub(crate) fn tick_label(text: &str, value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{unit}")
}
