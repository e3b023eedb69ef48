//! Figures of pages without a script: a chart with its title, and its data as a file.

use std::fmt::Write;

use crate::page::html::escape;
use crate::percent_encoding::percent_encoded;

/// Widths of the drawings for desktops and for phones, in pixels.
const WIDTHS: [f64; 2] = [820.0, 350.0];

/// Data of a figure as CSV: column names, then one line for each value.
pub(crate) type Data = Vec<Vec<String>>;

/// Figure of a chart with its title and its data, which can be saved under `file_name`. `draw` draws the chart in
/// a number of pixels. `None` if it has no value.
pub(crate) fn figure(
    title: &str,
    file_name: &str,
    data: &[Vec<String>],
    draw: impl Fn(f64) -> Option<String>,
) -> Option<String> {
    let [desktop, phone] = WIDTHS.map(draw);
    let (desktop, phone) = (desktop?, phone?);
    let mut figure = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        figure,
        "<figure class=\"chart wide\"><figcaption><span class=\"chart-title\">{title}</span>\
         <span class=\"exports\"><a class=\"export\" download=\"{}\" aria-label=\"CSV of {title}\" \
         href=\"data:text/csv;charset=utf-8,{}\">CSV</a></span></figcaption>\n\
         <div class=\"drawing at-desktop\">{desktop}</div>\
         <div class=\"drawing at-phone\">{phone}</div></figure>",
        escape(file_name),
        percent_encoded(&csv(data)),
        title = escape(title),
    );
    Some(figure)
}

/// File name of a figure's data, of the letters and digits of these words.
pub(crate) fn file_name(words: &str) -> String {
    let words = words.to_lowercase();
    let parts = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    format!("jsonathlon-{}.csv", parts.collect::<Vec<_>>().join("-"))
}

/// Fields of CSV for a value and its interval.
pub(crate) fn value_fields(value: f64, limits: Option<[f64; 2]>) -> Vec<String> {
    let [low, high] = limits.map_or([None, None], |[low, high]| [Some(low), Some(high)]);
    let field = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    vec![value.to_string(), field(low), field(high)]
}

/// CSV by RFC 4180 with `\n` line ends.
fn csv(data: &[Vec<String>]) -> String {
    let quoted = |field: &String| {
        if field.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field.clone()
        }
    };
    data.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
}
