//! "Did you mean" suggestions: the known name that is closest to an unknown one.

/// Returns the name among `known` of which `name` is a plausible misspelling. `None` if none is close enough.
///
/// The distance is optimal string alignment (insert, delete, substitute, swap of neighbours). It may be up to
/// a third of the name's length, and at least one edit. A name of at least 3 bytes also matches as a prefix.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= limit || (name.len() >= 3 && candidate.starts_with(name)))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns `` (did you mean `x`?)`` with a leading space, or an empty text.
#[must_use]
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let width = right.len() + 1;
    let mut cells: Vec<usize> =
        (0..(left.len() + 1) * width).map(|i| if i < width { i } else { 0 }).collect();
    for row in 1..=left.len() {
        cells[row * width] = row;
        for column in 1..=right.len() {
            let same = left[row - 1] == right[column - 1];
            let mut best = (cells[(row - 1) * width + column] + 1)
                .min(cells[row * width + column - 1] + 1)
                .min(cells[(row - 1) * width + column - 1] + usize::from(!same));
            let swapped = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            if swapped {
                best = best.min(cells[(row - 2) * width + column - 2] + 1);
            }
            cells[row * width + column] = best;
        }
    }
    cells.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
        let known = ["clickhouse", "duckdb", "sqlite"];
        assert_eq!(nearest("duckbd", known), Some("duckdb"));
        assert_eq!(nearest("Clickhose", known), Some("clickhouse"));
        assert_eq!(nearest("click", known), Some("clickhouse"));
        assert_eq!(nearest("oracle", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn distance_is_symmetric_and_zero_only_for_equals() {
        for (left, right, edits) in
            [("", "abc", 3), ("ab", "ba", 1), ("q1", "q1", 0), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(left, right), edits);
            assert_eq!(distance(right, left), edits);
        }
    }
}
