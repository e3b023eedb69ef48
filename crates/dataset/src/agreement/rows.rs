//! Compares rows with rows, in the declared order or as a multiset.

use std::cmp::Ordering;

use super::cell::Cell;
use super::{ComparisonRules, Match, Scale};

/// Maximum number of unpaired rows per side for which every combination is tried after the sorted comparison.
const MAX_TRIED: usize = 1_000;

type Row = Vec<Cell>;

/// Compares two answers whose rows have the declared width. `None` if they differ.
pub(super) fn match_rows(rules: &ComparisonRules, fixed: &[Row], answer: &[Row]) -> Option<Match> {
    if fixed.len() != answer.len() {
        return None;
    }
    let compared = Compared::of(rules);
    let mut error = ApproximateError::of(rules);
    // Ordering by approximate columns determines no order.
    let is_ordered = !rules.order.is_empty() && rules.order.iter().all(|index| compared.contains(*index));
    if !is_ordered {
        pair(&compared, &fixed.iter().collect::<Vec<_>>(), &answer.iter().collect::<Vec<_>>(), &mut error)?;
        return Some(error.result());
    }
    let ordered = compared.restricted_to(&rules.order);
    let mut start = 0;
    while let Some(first) = fixed.get(start) {
        let is_tied = |row: &&Row| ordered.are_equal(first, row);
        let end = start + fixed.iter().skip(start).take_while(is_tied).count().max(1);
        let (fixed_group, answer_group) = (fixed.get(start..end)?, answer.get(start..end)?);
        let is_cut = rules.limit == Some(end) && end == fixed.len();
        if is_cut {
            if !answer_group.iter().all(|row| is_tied(&row)) {
                return None;
            }
        } else {
            let (a, b): (Vec<_>, Vec<_>) = (fixed_group.iter().collect(), answer_group.iter().collect());
            pair(&compared, &a, &b, &mut error)?;
        }
        start = end;
    }
    Some(error.result())
}

/// Returns the indexes of the rows on each side that have no equal row on the other.
pub(super) fn unmatched_rows(
    rules: &ComparisonRules,
    fixed: &[Row],
    answer: &[Row],
) -> (Vec<usize>, Vec<usize>) {
    let compared = Compared::of(rules);
    unpaired(&compared, &fixed.iter().collect::<Vec<_>>(), &answer.iter().collect::<Vec<_>>(), &mut |_, _| {})
}

/// Indexes of the compared columns, each with the scale of its addends.
struct Compared {
    columns: Vec<(usize, Option<Scale>)>,
    /// Scale of columns without their own.
    addend: f64,
}

impl Compared {
    /// All columns except approximate ones.
    fn of(rules: &ComparisonRules) -> Self {
        let columns = rules.columns.iter().enumerate().filter(|(_, column)| !column.approximate);
        Self { columns: columns.map(|(index, column)| (index, column.scale)).collect(), addend: rules.addend }
    }

    fn contains(&self, index: usize) -> bool {
        self.columns.iter().any(|(column, _)| *column == index)
    }

    fn restricted_to(&self, indexes: &[usize]) -> Self {
        let columns = self.columns.iter().filter(|(index, _)| indexes.contains(index));
        Self { columns: columns.copied().collect(), addend: self.addend }
    }

    fn are_equal(&self, a: &Row, b: &Row) -> bool {
        self.columns.iter().all(|(index, scale)| match (a.get(*index), b.get(*index)) {
            (Some(cell_a), Some(cell_b)) => {
                // The smaller scale counts, so that a wrong answer cannot excuse itself with large addends;
                // sizes are compared too.
                let row_scale =
                    |row| scale.map_or(self.addend, |scale| scale_of(scale, row).unwrap_or_default());
                cell_a.is_near(cell_b, row_scale(a).min(row_scale(b)))
            }
            (None, None) => true,
            _ => false,
        })
    }

    /// Total order: by type, then by cells without a tolerance, so that equal rows are adjacent, then by
    /// numbers.
    fn order(&self, a: &Row, b: &Row) -> Ordering {
        let cells = || self.columns.iter().filter_map(|(index, _)| Some((a.get(*index)?, b.get(*index)?)));
        let types = cells().map(|(a, b)| a.rank().cmp(&b.rank()));
        let exact = cells().filter(|(a, _)| !a.is_number()).map(|(a, b)| a.order(b));
        let numbers = cells().filter(|(a, _)| a.is_number()).map(|(a, b)| a.order(b));
        types.chain(exact).chain(numbers).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

/// Returns the magnitude of a row's addends. `None` if the row does not give it as a finite number.
fn scale_of(scale: Scale, row: &Row) -> Option<f64> {
    let number = |index: usize| match row.get(index) {
        Some(Cell::Number(number)) => Some(number.value().abs()),
        _ => None,
    };
    let sum = number(scale.magnitude)?;
    let magnitude = match scale.divisor {
        None => sum,
        Some(divisor) => sum / number(divisor)?,
    };
    magnitude.is_finite().then_some(magnitude)
}

/// Pairs all rows. `None` if a row has no partner or a pair has no relative error.
fn pair(compared: &Compared, fixed: &[&Row], answer: &[&Row], error: &mut ApproximateError) -> Option<()> {
    let mut is_defined = true;
    let (a, b) = unpaired(compared, fixed, answer, &mut |a, b| is_defined &= error.add(a, b));
    (is_defined && a.is_empty() && b.is_empty()).then_some(())
}

/// Pairs each row with one equal row, and returns the indexes of rows without a partner.
fn unpaired(
    compared: &Compared,
    fixed: &[&Row],
    answer: &[&Row],
    on_pair: &mut dyn FnMut(&Row, &Row),
) -> (Vec<usize>, Vec<usize>) {
    let sorted = |rows: &[&Row]| {
        let mut indexes: Vec<usize> = (0..rows.len()).collect();
        indexes.sort_by(|a, b| compared.order(rows[*a], rows[*b]).then(a.cmp(b)));
        indexes
    };
    let (left, right) = (sorted(fixed), sorted(answer));
    let (mut unmatched_left, mut unmatched_right) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        if compared.are_equal(fixed[*a], answer[*b]) {
            on_pair(fixed[*a], answer[*b]);
            i += 1;
            j += 1;
        } else if compared.order(fixed[*a], answer[*b]).is_lt() {
            unmatched_left.push(*a);
            i += 1;
        } else {
            unmatched_right.push(*b);
            j += 1;
        }
    }
    unmatched_left.extend(left.iter().skip(i));
    unmatched_right.extend(right.iter().skip(j));
    // Numbers that differ in the last digit may sort differently on the two sides.
    if unmatched_left.len() <= MAX_TRIED && unmatched_right.len() <= MAX_TRIED {
        unmatched_left.retain(|a| {
            match unmatched_right.iter().position(|b| compared.are_equal(fixed[*a], answer[*b])) {
                Some(index) => {
                    on_pair(fixed[*a], answer[unmatched_right.swap_remove(index)]);
                    false
                }
                None => true,
            }
        });
    }
    unmatched_left.sort_unstable();
    unmatched_right.sort_unstable();
    (unmatched_left, unmatched_right)
}

/// Largest relative error in approximate columns.
struct ApproximateError {
    columns: Vec<usize>,
    largest: f64,
}

impl ApproximateError {
    fn of(rules: &ComparisonRules) -> Self {
        let columns = rules.columns.iter().enumerate().filter(|(_, column)| column.approximate);
        Self { columns: columns.map(|(index, _)| index).collect(), largest: 0.0 }
    }

    /// Adds a pair of rows. Returns `false` if an approximate cell has no relative error.
    fn add(&mut self, fixed: &Row, answer: &Row) -> bool {
        for index in &self.columns {
            match (fixed.get(*index), answer.get(*index)) {
                (Some(Cell::Number(a)), Some(Cell::Number(b))) => {
                    let (want, got) = (a.value(), b.value());
                    let error = if want == got { 0.0 } else { (got - want).abs() / want.abs() };
                    // An error relative to zero is not defined.
                    if !error.is_finite() {
                        return false;
                    }
                    self.largest = self.largest.max(error);
                }
                (Some(a), Some(b)) if a.equals(b) => {}
                _ => return false,
            }
        }
        true
    }

    fn result(&self) -> Match {
        Match { approximate_error: (!self.columns.is_empty()).then_some(self.largest) }
    }
}
