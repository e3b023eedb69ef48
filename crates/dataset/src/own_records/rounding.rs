//! Integer keys that a system keeps as doubles: what they become, and whether that shows.

use crate::value_digest::{integer_value_hash, number_text_hash};

/// Integers up to this one are doubles.
const MAX_EXACT: u64 = 1 << 53;
/// Ways in which systems write a double without fraction.
const SPELLINGS: [fn(f64) -> String; 3] = [
    // All digits of its value.
    |double| format!("{double:.0}"),
    // As few digits as name it, and zeros.
    |double| format!("{double}"),
    // Seventeen digits, which name any.
    |double| format!("{double:.16e}"),
];

/// Returns `true` if a system writes this double as the text, which is a number in the spelling of JSON.
pub(super) fn is_spelling(double: f64, text: &str) -> bool {
    let hash = number_text_hash(text);
    hash.is_some() && SPELLINGS.iter().any(|spell| number_text_hash(&spell(double)) == hash)
}

/// Returns `true` if a system that keeps numbers as doubles could give back all these keys as they are, so that
/// they do not tell whether it does.
pub(super) fn hides_rounding(keys: impl IntoIterator<Item = i64>) -> bool {
    let mut spellings = SPELLINGS.to_vec();
    for key in keys.into_iter().filter(|key| key.unsigned_abs() > MAX_EXACT) {
        let hash = Some(integer_value_hash(key));
        spellings.retain(|spell| number_text_hash(&spell(key as f64)) == hash);
        if spellings.is_empty() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_hidden_by_keys_that_are_doubles_in_one_spelling() {
        let (shortest, exact) = (1_765_432_109_876_543_500, 1_765_432_109_876_543_488);
        assert!(hides_rounding([]));
        assert!(hides_rounding([7, -(1 << 53)]));
        assert!(!hides_rounding([7, (1 << 53) + 1]));
        assert!(hides_rounding([1, shortest]) && hides_rounding([1, exact]));
        assert!(!hides_rounding([shortest, exact]), "one of them changes in any spelling");
        assert!(!hides_rounding([-1_765_432_109_876_543_501]));
    }

    #[test]
    fn a_double_has_few_spellings() {
        let double = 1_765_432_109_876_543_500_i64 as f64;
        for text in ["1765432109876543500", "1765432109876543488", "1.7654321098765435e18"] {
            assert!(is_spelling(double, text), "{text}");
        }
        for text in ["1765432109876543501", "1765432109876543499", "", "x", "NaN", "\"1765432109876543500\""]
        {
            assert!(!is_spelling(double, text), "{text}");
        }
    }
}
