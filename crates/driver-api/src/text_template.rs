//! Placeholders `{{name}}` in texts that are filled for each question or document.

/// Text with its placeholders found once, so that filling it scans nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextTemplate<'t> {
    pieces: Vec<Piece<'t>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    /// Name of a placeholder, without its braces.
    Placeholder(&'t str),
}

impl<'t> TextTemplate<'t> {
    /// Finds the placeholders of `text`. Braces that enclose no name are text.
    pub(crate) fn parse(text: &'t str) -> Self {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some(start) = rest.find("{{") {
            let behind = &rest[start + 2..];
            let name = behind.find("}}").map(|end| &behind[..end]).filter(|name| is_name(name));
            // Of `{{{name}}`, the first brace is text.
            let length = name.map_or(1, |name| name.len() + 4);
            let end = if name.is_some() { start } else { start + 1 };
            pieces.push(Piece::Text(&rest[..end]));
            pieces.extend(name.map(Piece::Placeholder));
            rest = &rest[start + length..];
        }
        pieces.push(Piece::Text(rest));
        Self { pieces }
    }

    /// Appends the text to `out`; `write` appends the value of a placeholder. Values are not scanned for
    /// placeholders.
    ///
    /// # Errors
    /// The first error of `write`.
    pub(crate) fn write<E>(
        &self,
        out: &mut String,
        mut write: impl FnMut(&str, &mut String) -> Result<(), E>,
    ) -> Result<(), E> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Placeholder(name) => write(name, out)?,
            }
        }
        Ok(())
    }
}

/// Fills a text. Placeholders that `values` does not name stay.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let result = TextTemplate::parse(text).write(&mut out, |name, out| {
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => out.push_str(value),
            None => {
                out.push_str("{{");
                out.push_str(name);
                out.push_str("}}");
            }
        }
        Ok::<(), std::convert::Infallible>(())
    });
    match result {
        Ok(()) => out,
        Err(never) => match never {},
    }
}

/// Returns `true` if `name` can be a placeholder: `a`–`z`, `0`–`9` and `_`, beginning with a letter.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn placeholders_are_filled_once_and_unknown_ones_stay() {
        let values = [("a", "{{b}}"), ("b", "x")];
        assert_eq!(fill("{{a}} {{b}} {{c}}", &values), "{{b}} x {{c}}");
        assert_eq!(fill("{{{a}}} {{A}} {{ {{", &values), "{{{b}}} {{A}} {{ {{");
        assert_eq!(fill(r#"{"a":{"b":{{b}}}}"#, &values), r#"{"a":{"b":x}}"#);
    }

    proptest! {
        #[test]
        fn a_text_without_values_stays_as_it_is(text in "[ab{} é]{0,30}") {
            prop_assert_eq!(fill(&text, &[]), text);
        }
    }
}
