//! Chooses explanations by the words that stand in the tables above them.

/// Texts of the tables that readers see.
#[derive(Debug)]
pub(crate) enum ShownText {
    /// Full tables, which get all explanations.
    Everything,
    /// Titles, cells and notes of compact tables, which get the explanations that they need.
    Only(String),
}

/// An explanation, after the words that call for it. Without any words it is always given.
pub(crate) type Explanation = (&'static [&'static str], &'static str);

/// Words of an [`Explanation`] that is always given.
pub(crate) const ALWAYS: &[&str] = &[];

impl ShownText {
    /// Returns `true` if all explanations are given, whatever is shown.
    pub(crate) fn is_everything(&self) -> bool {
        matches!(self, Self::Everything)
    }

    /// Explanations that are needed, in their order.
    pub(crate) fn explain(&self, explanations: &[Explanation]) -> Vec<String> {
        let needed = explanations.iter().filter(|(words, _)| match self {
            Self::Everything => true,
            Self::Only(text) => words.is_empty() || words.iter().any(|word| text.contains(word)),
        });
        needed.map(|(_, explanation)| (*explanation).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_needs_no_explanation() {
        let explanations: [Explanation; 3] =
            [(&["WAL/op"], "WAL/op: bytes"), (ALWAYS, "checked"), (&["p50", "p99"], "percentiles")];
        let only = ShownText::Only("mix a\np99\n1 ms\n".to_owned());
        assert_eq!(only.explain(&explanations), ["checked", "percentiles"]);
        assert_eq!(ShownText::Everything.explain(&explanations).len(), 3);
    }
}
