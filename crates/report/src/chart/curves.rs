//! Curves over a setting, one for each configuration.

use super::ValueAxis;
use super::colour::{Style, Symbol, styles};
use super::figure::{Data, value_fields};
use super::scale::Range;
use super::svg::{Anchor, Drawing, GRID, INK, PAPER, QUIET};
use super::text::{LINE, width as text_width, wrap};

/// Height of the area between the axes in pixels.
const INNER: f64 = 270.0;
/// Upper edge of that area; the title of the vertical axis stands above it.
const TOP: f64 = LINE + 12.0;
/// Height of tick marks and tick labels below the area.
const TICKS: f64 = 26.0;
/// Minimum distance of two horizontal grid lines.
const GRID_DISTANCE: f64 = 18.0;
/// Space at the right of the area.
const RIGHT: f64 = 16.0;
/// Width of a symbol of the legend with the gap to its name.
const KEY: f64 = 14.0;
/// Dash pattern of lines that nothing was measured for.
const DASHED: &str = "3 4";

/// A measured point of a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) value: f64,
    pub(crate) limits: Option<[f64; 2]>,
}

/// A curve: its name and system, its points in the order of the axis, and values that were not measured here,
/// each with its place on the axis.
#[derive(Debug)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) system: String,
    pub(crate) points: Vec<Point>,
    pub(crate) unmeasured: Vec<(f64, f64)>,
}

/// What the unmeasured values of curves are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unmeasured {
    /// Word for them in legend and data.
    pub(crate) word: &'static str,
    /// Whether a dashed line leads to them from the last measured point.
    pub(crate) continues_curve: bool,
}

/// A line across the chart that the reader asked for.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) value: f64,
    /// What the line stands for, said in the legend.
    pub(crate) name: String,
}

/// Axis of the settings.
#[derive(Clone)]
pub(crate) struct SettingAxis<'a> {
    /// Name of the setting, with its unit.
    pub(crate) title: &'a str,
    /// Formats a setting for a tick.
    pub(crate) format: &'a dyn Fn(f64) -> String,
}

/// Curves with their axes, and the cross-hair of what was asked for.
pub(crate) struct CurveChart<'a> {
    pub(crate) title: &'a str,
    pub(crate) curves: &'a [Curve],
    pub(crate) unmeasured: Unmeasured,
    pub(crate) settings: SettingAxis<'a>,
    pub(crate) values: ValueAxis<'a>,
    /// Setting that the reader asked for, as a vertical line.
    pub(crate) asked_setting: Option<Limit>,
    /// Value that the reader asked for, as a horizontal line.
    pub(crate) asked_value: Option<Limit>,
}

/// Values of curves as CSV, with names for the columns of the setting and of the metric.
pub(crate) fn data(setting: &str, metric: &str, curves: &[Curve], unmeasured: Unmeasured) -> Data {
    let header = ["name", setting, metric, "low", "high", "source"].map(str::to_owned).to_vec();
    let rows = curves.iter().flat_map(|curve| {
        let row = |x: f64, value: f64, limits: Option<[f64; 2]>, source: &str| {
            let mut row = vec![curve.name.clone(), x.to_string()];
            row.extend(value_fields(value, limits));
            row.push(source.to_owned());
            row
        };
        let measured = curve.points.iter().map(|point| row(point.x, point.value, point.limits, "measured"));
        let others = curve.unmeasured.iter().map(|(x, value)| row(*x, *value, None, unmeasured.word));
        measured.chain(others).collect::<Vec<_>>()
    });
    std::iter::once(header).chain(rows).collect()
}

/// The area between the axes, with the ranges of both.
struct Area {
    x: Range,
    y: Range,
    left: f64,
    right: f64,
}

impl Area {
    fn place(&self, x: f64, value: f64) -> (f64, f64) {
        (self.place_x(x), self.place_y(value))
    }

    fn place_x(&self, x: f64) -> f64 {
        self.left + self.x.share(x) * (self.right - self.left)
    }

    fn place_y(&self, value: f64) -> f64 {
        TOP + INNER * (1.0 - self.y.share(value))
    }
}

impl CurveChart<'_> {
    /// Draws the chart in `width` pixels; `None` without a measured value.
    pub(crate) fn draw(&self, width: f64) -> Option<String> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        points().next()?;
        let unmeasured = || self.curves.iter().flat_map(|curve| &curve.unmeasured);
        let asked = |limit: &Option<Limit>| limit.as_ref().map(|limit| limit.value);
        let settings: Vec<f64> = points().map(|point| point.x).chain(unmeasured().map(|(x, _)| *x)).collect();
        let xs: Vec<f64> = settings.iter().copied().chain(asked(&self.asked_setting)).collect();
        let values: Vec<f64> = points()
            .map(|point| point.value)
            .chain(unmeasured().map(|(_, value)| *value))
            .chain(asked(&self.asked_value))
            .collect();
        let limits: Vec<f64> = points().filter_map(|point| point.limits).flatten().collect();
        let y = self.values.range(&values, &limits)?;
        let has_room = |ticks: &[f64]| {
            ticks.windows(2).all(|pair| match pair {
                [low, high] => (y.share(*high) - y.share(*low)) * INNER >= GRID_DISTANCE,
                _ => true,
            })
        };
        let ticks: Vec<(f64, String)> =
            y.ticks(has_room).into_iter().map(|value| (value, self.values.tick_label(value))).collect();
        let widest = ticks.iter().map(|(_, label)| text_width(label)).fold(24.0, f64::max);
        let area = Area { x: Range::of_settings(&xs)?, y, left: widest + 12.0, right: width - RIGHT };
        let mut drawing = Drawing::default();
        self.draw_titles(&mut drawing, &area, width);
        draw_grid(&mut drawing, &area, &ticks);
        self.draw_settings(&mut drawing, &area, settings, width);
        self.draw_cross_hair(&mut drawing, &area);
        let systems: Vec<&str> = self.curves.iter().map(|curve| curve.system.as_str()).collect();
        let styles = styles(&systems);
        for (curve, style) in self.curves.iter().zip(&styles) {
            self.draw_curve(&mut drawing, curve, style, &area);
        }
        let end = self.draw_legend(&mut drawing, &styles, TOP + INNER + TICKS + LINE + 8.0, width);
        Some(drawing.finish(width, end + 4.0, &format!("{}: a curve for each configuration", self.title)))
    }

    /// Draws the titles of both axes, one above the area and one below it.
    fn draw_titles(&self, drawing: &mut Drawing, area: &Area, width: f64) {
        let above = wrap(&self.values.title_with_scale(&area.y), &[width]);
        drawing.text(0.0, LINE / 2.0 + 1.0, Anchor::Start, QUIET, &above);
        let scale = if area.x.is_logarithmic { ", log scale" } else { "" };
        let below = wrap(&format!("{}{scale}", self.settings.title), &[width]);
        drawing.text(0.0, TOP + INNER + TICKS + LINE / 2.0, Anchor::Start, QUIET, &below);
    }

    /// Draws marks at all settings, and the labels of those that have room for one.
    fn draw_settings(&self, drawing: &mut Drawing, area: &Area, mut settings: Vec<f64>, width: f64) {
        settings.sort_by(f64::total_cmp);
        settings.dedup();
        let bottom = TOP + INNER;
        drawing.line((area.left, bottom), (area.right, bottom), QUIET, 1.0);
        let mut free_from = 0.0;
        for setting in settings {
            let (x, label) = (area.place_x(setting), (self.settings.format)(setting));
            let half = text_width(&label) / 2.0;
            drawing.line((x, bottom), (x, bottom + 4.0), QUIET, 1.0);
            if x - half >= free_from && x + half <= width {
                drawing.text(x, bottom + 15.0, Anchor::Middle, QUIET, &[label]);
                free_from = x + half + 10.0;
            }
        }
    }

    /// Draws what the reader asked for as dashed lines, which the legend names.
    fn draw_cross_hair(&self, drawing: &mut Drawing, area: &Area) {
        if let Some(limit) = &self.asked_value {
            let y = area.place_y(limit.value);
            drawing.polyline(&[(area.left, y), (area.right, y)], INK, LIMIT_DASHES[0]);
        }
        if let Some(limit) = &self.asked_setting {
            let x = area.place_x(limit.value);
            drawing.polyline(&[(x, TOP), (x, TOP + INNER)], INK, LIMIT_DASHES[1]);
        }
    }

    /// Draws one curve with its points, their intervals, and unmeasured values as hollow squares.
    fn draw_curve(&self, drawing: &mut Drawing, curve: &Curve, style: &Style, area: &Area) {
        let path: Vec<(f64, f64)> =
            curve.points.iter().map(|point| area.place(point.x, point.value)).collect();
        drawing.polyline(&path, &style.colour, style.dash);
        if self.unmeasured.continues_curve && !curve.unmeasured.is_empty() {
            let beyond = curve.unmeasured.iter().map(|(x, value)| area.place(*x, *value));
            let path: Vec<(f64, f64)> = path.last().copied().into_iter().chain(beyond).collect();
            drawing.polyline(&path, &style.colour, DASHED);
        }
        let setting = |x: f64| (self.settings.format)(x);
        for point in &curve.points {
            let (x, y) = area.place(point.x, point.value);
            if let Some([low, high]) = point.limits {
                drawing.line((x, area.place_y(low)), (x, area.place_y(high)), &style.colour, 2.0);
            }
            let value = (self.values.format)(point.value);
            let title = format!("{} at {}: {value}", curve.name, setting(point.x));
            drawing.symbol(style.symbol, (x, y), &style.colour, &style.colour, &title);
        }
        for (x, value) in &curve.unmeasured {
            let word = self.unmeasured.word;
            let title =
                format!("{} at {}, {word}: {}", curve.name, setting(*x), (self.values.format)(*value));
            drawing.symbol(Symbol::Square, area.place(*x, *value), PAPER, &style.colour, &title);
        }
    }

    /// Draws the legend in columns below `top`, and returns its lower edge.
    fn draw_legend(&self, drawing: &mut Drawing, styles: &[Style], top: f64, width: f64) -> f64 {
        let curves = self.curves.iter().zip(styles).map(|(curve, style)| {
            let remark = match curve.unmeasured.is_empty() {
                true => String::new(),
                false => format!("; {}: hollow", self.unmeasured.word),
            };
            (format!("{}{remark}", curve.name), Key::Curve(style))
        });
        let asked = [&self.asked_value, &self.asked_setting].into_iter().zip(LIMIT_DASHES);
        let asked =
            asked.filter_map(|(limit, dashes)| Some((limit.as_ref()?.name.clone(), Key::Line(dashes))));
        let entries: Vec<(String, Key<'_>)> = curves.chain(asked).collect();
        let widest =
            entries.iter().map(|(name, key)| text_width(name) + key.width()).fold(0.0, f64::max) + 16.0;
        let columns = ((width / widest).floor() as usize).clamp(1, entries.len().max(1));
        let column_width = width / columns as f64;
        let mut y = top;
        for row in entries.chunks(columns) {
            let mut lines_in_row = 1;
            for (column, (name, key)) in row.iter().enumerate() {
                let x = column as f64 * column_width;
                let room = column_width - key.width() - 4.0;
                let lines = wrap(name, &[room, room, room]);
                lines_in_row = lines_in_row.max(lines.len());
                key.draw(drawing, (x, y + LINE / 2.0));
                drawing.text(x + key.width(), y + LINE / 2.0, Anchor::Start, INK, &lines);
            }
            y += lines_in_row as f64 * LINE + 2.0;
        }
        y
    }
}

/// Dash patterns of the horizontal and of the vertical line of the cross-hair.
const LIMIT_DASHES: [&str; 2] = ["8 4", "2 3"];

/// What a name of the legend belongs to.
enum Key<'a> {
    Curve(&'a Style),
    /// A line of the cross-hair with this dash pattern.
    Line(&'static str),
}

impl Key<'_> {
    fn width(&self) -> f64 {
        match self {
            Self::Curve(_) => KEY,
            Self::Line(_) => 2.0 * KEY,
        }
    }

    /// Draws the key to the right of `at`, the middle of its left edge.
    fn draw(&self, drawing: &mut Drawing, at: (f64, f64)) {
        match self {
            Self::Curve(style) => {
                drawing.symbol(style.symbol, (at.0 + 5.0, at.1), &style.colour, &style.colour, "");
            }
            Self::Line(dashes) => drawing.polyline(&[at, (at.0 + 2.0 * KEY - 4.0, at.1)], INK, dashes),
        }
    }
}

/// Draws horizontal lines at the ticks of the vertical axis, with their labels.
fn draw_grid(drawing: &mut Drawing, area: &Area, ticks: &[(f64, String)]) {
    for (value, label) in ticks {
        let y = area.place_y(*value);
        drawing.line((area.left, y), (area.right, y), GRID, 1.0);
        drawing.text(area.left - 8.0, y, Anchor::End, QUIET, std::slice::from_ref(label));
    }
}
