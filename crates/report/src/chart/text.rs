//! Estimates the width of text in charts, and breaks it into lines.

/// Size of chart text in pixels.
pub(crate) const FONT_SIZE: f64 = 12.0;
/// Distance of two lines of chart text in pixels.
pub(crate) const LINE: f64 = 15.0;

/// Upper limit of the width of text in pixels, over the usual fonts.
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(letter_width).sum()
}

fn letter_width(letter: char) -> f64 {
    let ems = match letter {
        ' ' | '.' | ',' | ':' | ';' | '\'' | '!' | '|' | 'i' | 'j' | 'l' => 0.36,
        '-' | '(' | ')' | '[' | ']' | '/' | '"' | 'f' | 'r' | 't' => 0.46,
        'm' | 'w' | '%' | '@' | '+' | '<' | '=' | '>' | '#' | '~' => 1.0,
        '&' | 'A'..='L' | 'N'..='V' | 'X'..='Z' => 0.8,
        'M' | 'W' => 1.0,
        letter if letter.is_ascii() => 0.66,
        _ => 1.0,
    };
    ems * FONT_SIZE
}

/// Width of bold text, see [`width`].
pub(crate) fn bold_width(text: &str) -> f64 {
    width(text) * 1.1
}

/// Breaks text between words into lines of these widths at most. What does not fit into the last line is cut.
pub(crate) fn wrap(text: &str, widths: &[f64]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        let room = widths.get(lines.len()).copied().unwrap_or_default();
        if width(&longer) <= room || lines.len() + 1 >= widths.len() {
            line = longer;
        } else {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        }
    }
    lines.push(line);
    lines.iter().zip(widths).map(|(line, room)| cut(line, *room)).collect()
}

/// The text, or as much of its beginning as fits.
fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = letter_width('…');
    for letter in text.chars() {
        used += letter_width(letter);
        if used > room {
            break;
        }
        kept.push(letter);
    }
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_widths_and_all_words_that_fit() {
        let lines = wrap("postgresql json-only document-size 16", &[120.0, 200.0]);
        assert_eq!(lines.join(" "), "postgresql json-only document-size 16");
        assert!(width(&lines[0]) <= 120.0 && width(&lines[1]) <= 200.0, "{lines:?}");
        let cut = wrap(&"word ".repeat(50), &[60.0, 60.0]);
        assert!(cut.len() == 2 && cut[1].ends_with('…') && width(&cut[1]) <= 60.0, "{cut:?}");
        // A first line without room stays empty.
        assert_eq!(wrap("postgresql", &[10.0, 200.0]), ["", "postgresql"]);
    }
}
