//! Lists of names within sentences.

use std::borrow::Borrow;

/// Joins names: `A`, `A and B`, `A, B and C`. Empty without a name.
#[must_use]
pub fn and_list<S: Borrow<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [only] => only.borrow().to_owned(),
        [first @ .., last] => format!("{} and {}", first.join(", "), last.borrow()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_follows_an_and() {
        assert_eq!(and_list(&["A", "B", "C"]), "A, B and C");
        assert_eq!(and_list(&["A".to_owned(), "B".to_owned()]), "A and B");
        assert_eq!((and_list(&["A"]), and_list::<&str>(&[])), ("A".to_owned(), String::new()));
    }
}
