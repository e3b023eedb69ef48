//! Builds the text of an SVG that is part of a page, in the colours of its style sheet.

use std::fmt::Write;

use super::colour::Symbol;
use super::text::{FONT_SIZE, LINE};
use crate::page::html::escape;

/// Colour of text and of what is important.
pub(crate) const INK: &str = "var(--ink)";
/// Colour of axes and remarks.
pub(crate) const QUIET: &str = "var(--quiet)";
/// Colour of grid lines.
pub(crate) const GRID: &str = "var(--line)";
/// Colour of the background.
pub(crate) const PAPER: &str = "var(--paper)";

/// Part of a text that lies at its position.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Half the size of a symbol in pixels.
const RADIUS: f64 = 4.0;

/// Elements of a drawing; positions are pixels from the upper left corner.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    elements: String,
}

impl Drawing {
    // Writing to a String cannot fail.

    /// Adds a line between two places.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let _ = writeln!(
            self.elements,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" \
             stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// Adds text whose lines have the same horizontal position; `middle` is the middle of the first line.
    pub(crate) fn text(&mut self, x: f64, middle: f64, anchor: Anchor, fill: &str, lines: &[String]) {
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            self.text_line(x, middle + index as f64 * LINE, anchor, fill, "400", line);
        }
    }

    /// Adds one line of bold text.
    pub(crate) fn bold(&mut self, x: f64, middle: f64, anchor: Anchor, line: &str) {
        self.text_line(x, middle, anchor, INK, "600", line);
    }

    fn text_line(&mut self, x: f64, middle: f64, anchor: Anchor, fill: &str, weight: &str, line: &str) {
        let _ = writeln!(
            self.elements,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"{}\" \
             fill=\"{fill}\" font-weight=\"{weight}\">{}</text>",
            middle + FONT_SIZE * 0.32,
            anchor.word(),
            escape(line)
        );
    }

    /// Adds a line through points.
    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], stroke: &str, dash: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.elements,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.8\" \
             stroke-dasharray=\"{dash}\"/>",
            points.join(" ")
        );
    }

    /// Adds a rectangle from its upper left corner.
    pub(crate) fn rectangle(&mut self, corner: (f64, f64), width: f64, height: f64, fill: &str) {
        let _ = writeln!(
            self.elements,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>",
            corner.0, corner.1
        );
    }

    /// Adds a symbol with a text that is shown at the pointer.
    pub(crate) fn symbol(&mut self, symbol: Symbol, at: (f64, f64), fill: &str, stroke: &str, title: &str) {
        let (x, y) = at;
        let (left, right, top, bottom) = (x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS);
        let style = format!("fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.8\"");
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        let _ = match symbol {
            Symbol::Circle => {
                writeln!(
                    self.elements,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\" {style}>{title}</circle>"
                )
            }
            Symbol::Square => writeln!(
                self.elements,
                "<path d=\"M{left:.1} {top:.1}H{right:.1}V{bottom:.1}H{left:.1}Z\" {style}>{title}</path>"
            ),
            Symbol::Triangle => writeln!(
                self.elements,
                "<path d=\"M{x:.1} {top:.1}L{right:.1} {bottom:.1}H{left:.1}Z\" {style}>{title}</path>"
            ),
            Symbol::Diamond => writeln!(
                self.elements,
                "<path d=\"M{x:.1} {top:.1}L{right:.1} {y:.1}L{x:.1} {bottom:.1}L{left:.1} {y:.1}Z\" {style}>\
                 {title}</path>"
            ),
        };
    }

    /// The whole SVG. `label` describes it to readers who do not see it.
    pub(crate) fn finish(self, width: f64, height: f64, label: &str) -> String {
        format!(
            "<svg viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             role=\"img\" aria-label=\"{}\" font-size=\"{FONT_SIZE}\">\n{}</svg>\n",
            escape(label),
            self.elements
        )
    }
}
