//! Colours of systems and symbols of series, the same as on the pages of runs.

/// Systems with a colour of their own, in the order of the style sheet; the list of `web/src/colours.ts`.
const KNOWN: [&str; 9] =
    ["clickhouse", "postgresql", "elasticsearch", "mongodb", "duckdb", "mysql", "mariadb", "dolt", "sqlite"];
/// Number of colours in the style sheet, `--colour-0` to `--colour-9`.
const COLOURS: usize = 10;

/// Symbol of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    Circle,
    Square,
    Triangle,
    Diamond,
}

/// Symbols and dash patterns of series that share a colour.
const SYMBOLS: [Symbol; 4] = [Symbol::Circle, Symbol::Square, Symbol::Triangle, Symbol::Diamond];
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// How a series is drawn.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    /// Colour as a CSS value.
    pub(crate) colour: String,
    pub(crate) symbol: Symbol,
    /// Dash pattern of the line; empty for a solid one.
    pub(crate) dash: &'static str,
}

/// Colour of the style sheet with this index, as a CSS value.
fn indexed_colour(index: usize) -> String {
    format!("var(--colour-{})", index % COLOURS)
}

/// Colour of a system as a CSS value, the same on every page.
fn system_colour(system: &str) -> String {
    let name = system.to_lowercase();
    if let Some(index) = KNOWN.iter().position(|known| *known == name) {
        return indexed_colour(index);
    }
    let hash =
        name.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    indexed_colour(hash as usize)
}

/// Styles of series, given the system of each. Series of a single system have a colour each. Else every
/// system has one, and its series differ in symbol and dash pattern.
pub(crate) fn styles(systems: &[&str]) -> Vec<Style> {
    let is_single = systems.iter().all(|system| systems.first() == Some(system));
    let mut styles: Vec<Style> = Vec::with_capacity(systems.len());
    for (index, system) in systems.iter().enumerate() {
        let colour = if is_single { indexed_colour(index) } else { system_colour(system) };
        let place = styles.iter().filter(|known| known.colour == colour).count();
        let symbol = SYMBOLS.get(place % SYMBOLS.len()).copied().unwrap_or(Symbol::Circle);
        let dash = DASHES.get(place % DASHES.len()).copied().unwrap_or_default();
        styles.push(Style { colour, symbol, dash });
    }
    styles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_have_the_colours_of_the_pages_of_runs() {
        let list = include_str!("../../../../web/src/colours.ts");
        let known: Vec<String> = KNOWN.iter().map(|name| format!("'{name}'")).collect();
        assert!(list.contains(&known.join(", ")), "web/src/colours.ts has another list");
        // The hash of `a` is its code, 97; names of other systems share colours.
        assert_eq!(system_colour("A"), "var(--colour-7)");
        let styles = styles(&["sqlite", "sqlite", "dolt"]);
        assert_eq!(styles[0].colour, styles[1].colour);
        assert!(styles[0].symbol != styles[1].symbol && styles[0].dash != styles[1].dash);
        assert_ne!(styles[0].colour, styles[2].colour);
    }
}
