//! Whether a text may hold several statements, told without parsing it.

/// Whether a semicolon stands before the end of `text`; it may also be in quotes or in a comment, so that
/// only the system's own parser knows. A statement that passes is spared being parsed twice.
pub(crate) fn may_be_several(text: &str) -> bool {
    text.trim_end_matches(|letter: char| letter.is_whitespace() || letter == ';').contains(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_semicolon_before_the_end_may_part_statements() {
        assert!(!may_be_several("SELECT 1"));
        assert!(!may_be_several("SELECT 1 ;; \n"));
        assert!(!may_be_several(" ; "));
        assert!(may_be_several("SELECT 1; SELECT 2"));
        assert!(may_be_several("SELECT ';'"));
        assert!(may_be_several("SELECT 1; -- one"));
    }
}
