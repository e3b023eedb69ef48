//! Rows held against rows: in the stated order, or as a multiset.

use std::cmp::Ordering;

use super::cell::Cell;
use super::{Rules, Same};

/// Rows that sorting did not bring together are tried against each other up to so many on a side.
const TRIED: usize = 1_000;

type Row = Vec<Cell>;

/// Whether two answers of declared width are the same.
pub(super) fn same(rules: &Rules, fixed: &[Row], answer: &[Row]) -> Option<Same> {
    if fixed.len() != answer.len() {
        return None;
    }
    let compared: Vec<usize> = exact_columns(rules);
    let mut error = ApproximateError::of(rules);
    // An order by numbers that may differ says nothing.
    let is_ordered = !rules.order.is_empty() && rules.order.iter().all(|place| compared.contains(place));
    if !is_ordered {
        pair(&compared, &fixed.iter().collect::<Vec<_>>(), &answer.iter().collect::<Vec<_>>(), &mut error)?;
        return Some(error.found());
    }
    let mut begin = 0;
    while let Some(first) = fixed.get(begin) {
        let ties = |row: &&Row| are_equal(&rules.order, first, row);
        let end = begin + fixed.iter().skip(begin).take_while(ties).count().max(1);
        let (of_fixed, of_answer) = (fixed.get(begin..end)?, answer.get(begin..end)?);
        let is_cut = rules.limit == Some(end) && end == fixed.len();
        if is_cut {
            if !of_answer.iter().all(|row| ties(&row)) {
                return None;
            }
        } else {
            let (a, b): (Vec<_>, Vec<_>) = (of_fixed.iter().collect(), of_answer.iter().collect());
            pair(&compared, &a, &b, &mut error)?;
        }
        begin = end;
    }
    Some(error.found())
}

/// Rows of each side without a partner on the other, by their places.
pub(super) fn alone(rules: &Rules, fixed: &[Row], answer: &[Row]) -> (Vec<usize>, Vec<usize>) {
    let compared = exact_columns(rules);
    unpaired(&compared, &fixed.iter().collect::<Vec<_>>(), &answer.iter().collect::<Vec<_>>(), &mut |_, _| {})
}

fn exact_columns(rules: &Rules) -> Vec<usize> {
    rules
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| !column.approximate)
        .map(|(place, _)| place)
        .collect()
}

fn are_equal(columns: &[usize], a: &Row, b: &Row) -> bool {
    columns.iter().all(|place| match (a.get(*place), b.get(*place)) {
        (Some(a), Some(b)) => a.equals(b),
        (None, None) => true,
        _ => false,
    })
}

/// All rows with their partners.
fn pair(columns: &[usize], fixed: &[&Row], answer: &[&Row], error: &mut ApproximateError) -> Option<()> {
    let mut fits = true;
    let (a, b) = unpaired(columns, fixed, answer, &mut |a, b| fits &= error.add(a, b));
    (fits && a.is_empty() && b.is_empty()).then_some(())
}

/// Pairs rows that are equal, each with one partner; gives the places of those that have none.
fn unpaired(
    columns: &[usize],
    fixed: &[&Row],
    answer: &[&Row],
    paired: &mut dyn FnMut(&Row, &Row),
) -> (Vec<usize>, Vec<usize>) {
    let in_order = |rows: &[&Row]| {
        let mut places: Vec<usize> = (0..rows.len()).collect();
        places.sort_by(|a, b| order(columns, rows[*a], rows[*b]).then(a.cmp(b)));
        places
    };
    let (left, right) = (in_order(fixed), in_order(answer));
    let (mut alone_left, mut alone_right) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        if are_equal(columns, fixed[*a], answer[*b]) {
            paired(fixed[*a], answer[*b]);
            i += 1;
            j += 1;
        } else if order(columns, fixed[*a], answer[*b]).is_lt() {
            alone_left.push(*a);
            i += 1;
        } else {
            alone_right.push(*b);
            j += 1;
        }
    }
    alone_left.extend(left.iter().skip(i));
    alone_right.extend(right.iter().skip(j));
    // Numbers that differ in the last digit may have brought the two sides into different orders.
    if alone_left.len() <= TRIED && alone_right.len() <= TRIED {
        alone_left.retain(|a| {
            match alone_right.iter().position(|b| are_equal(columns, fixed[*a], answer[*b])) {
                Some(place) => {
                    paired(fixed[*a], answer[alone_right.swap_remove(place)]);
                    false
                }
                None => true,
            }
        });
    }
    alone_left.sort_unstable();
    alone_right.sort_unstable();
    (alone_left, alone_right)
}

/// A total order: by types, then by cells without a tolerance, so that equal rows stand together, then by numbers.
fn order(columns: &[usize], a: &Row, b: &Row) -> Ordering {
    let cells = || columns.iter().filter_map(|place| Some((a.get(*place)?, b.get(*place)?)));
    let types = cells().map(|(a, b)| a.rank().cmp(&b.rank()));
    let exact = cells().filter(|(a, _)| !a.is_number()).map(|(a, b)| a.order(b));
    let numbers = cells().filter(|(a, _)| a.is_number()).map(|(a, b)| a.order(b));
    types.chain(exact).chain(numbers).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The largest relative error of approximate columns.
struct ApproximateError {
    columns: Vec<usize>,
    largest: f64,
}

impl ApproximateError {
    fn of(rules: &Rules) -> Self {
        let columns = rules.columns.iter().enumerate().filter(|(_, column)| column.approximate);
        Self { columns: columns.map(|(place, _)| place).collect(), largest: 0.0 }
    }

    /// Takes a pair of rows; says whether it is one of numbers.
    fn add(&mut self, fixed: &Row, answer: &Row) -> bool {
        for place in &self.columns {
            match (fixed.get(*place), answer.get(*place)) {
                (Some(Cell::Number(a)), Some(Cell::Number(b))) => {
                    let (want, got) = (a.value(), b.value());
                    let error = if want == got { 0.0 } else { (got - want).abs() / want.abs() };
                    // Something for nothing has no relative error.
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

    fn found(&self) -> Same {
        Same { approximate_error: (!self.columns.is_empty()).then_some(self.largest) }
    }
}
