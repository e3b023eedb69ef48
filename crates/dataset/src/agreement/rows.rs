//! Compares rows with rows, in the declared order or as a multiset.

use std::cmp::Ordering;

use super::cell::Cell;
use super::{ComparisonRules, Match, Scale};

/// Maximum number of unpaired rows per side for which every combination is tried after the sorted comparison.
const TRIED: usize = 1_000;

type Row = Vec<Cell>;

/// Compares two answers whose rows have the declared width. `None` if they differ.
pub(super) fn same(rules: &ComparisonRules, fixed: &[Row], answer: &[Row]) -> Option<Match> {
    if fixed.len() != answer.len() {
        return None;
    }
    let compared = Compared::of(rules);
    let mut error = ApproximateError::of(rules);
    // Ordering by approximate columns determines no order.
    let is_ordered = !rules.order.is_empty() && rules.order.iter().all(|place| compared.has(*place));
    if !is_ordered {
        pair(&compared, &fixed.iter().collect::<Vec<_>>(), &answer.iter().collect::<Vec<_>>(), &mut error)?;
        return Some(error.found());
    }
    let ordered = compared.only(&rules.order);
    let mut begin = 0;
    while let Some(first) = fixed.get(begin) {
        let ties = |row: &&Row| ordered.are_equal(first, row);
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

/// Returns the indexes of the rows on each side that have no equal row on the other.
pub(super) fn alone(rules: &ComparisonRules, fixed: &[Row], answer: &[Row]) -> (Vec<usize>, Vec<usize>) {
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
        Self { columns: columns.map(|(place, column)| (place, column.scale)).collect(), addend: rules.addend }
    }

    fn has(&self, place: usize) -> bool {
        self.columns.iter().any(|(known, _)| *known == place)
    }

    fn only(&self, places: &[usize]) -> Self {
        let columns = self.columns.iter().filter(|(place, _)| places.contains(place));
        Self { columns: columns.copied().collect(), addend: self.addend }
    }

    fn are_equal(&self, a: &Row, b: &Row) -> bool {
        self.columns.iter().all(|(place, scale)| match (a.get(*place), b.get(*place)) {
            (Some(of_a), Some(of_b)) => {
                // The smaller scale counts, so that a wrong answer cannot excuse itself with large addends;
                // sizes are compared too.
                let of = |row| scale.map_or(self.addend, |scale| scale_of(scale, row).unwrap_or_default());
                of_a.is_near(of_b, of(a).min(of(b)))
            }
            (None, None) => true,
            _ => false,
        })
    }

    /// Total order: by type, then by cells without a tolerance, so that equal rows are adjacent, then by
    /// numbers.
    fn order(&self, a: &Row, b: &Row) -> Ordering {
        let cells = || self.columns.iter().filter_map(|(place, _)| Some((a.get(*place)?, b.get(*place)?)));
        let types = cells().map(|(a, b)| a.rank().cmp(&b.rank()));
        let exact = cells().filter(|(a, _)| !a.is_number()).map(|(a, b)| a.order(b));
        let numbers = cells().filter(|(a, _)| a.is_number()).map(|(a, b)| a.order(b));
        types.chain(exact).chain(numbers).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

/// Returns the magnitude of a row's addends. `None` if the row does not give it as a finite number.
fn scale_of(scale: Scale, row: &Row) -> Option<f64> {
    let number = |place: usize| match row.get(place) {
        Some(Cell::Number(number)) => Some(number.value().abs()),
        _ => None,
    };
    let size = number(scale.size)?;
    let found = match scale.per {
        None => size,
        Some(per) => size / number(per)?,
    };
    found.is_finite().then_some(found)
}

/// Pairs all rows. `None` if a row has no partner or a pair has no relative error.
fn pair(compared: &Compared, fixed: &[&Row], answer: &[&Row], error: &mut ApproximateError) -> Option<()> {
    let mut fits = true;
    let (a, b) = unpaired(compared, fixed, answer, &mut |a, b| fits &= error.add(a, b));
    (fits && a.is_empty() && b.is_empty()).then_some(())
}

/// Pairs each row with one equal row, and returns the indexes of rows without a partner.
fn unpaired(
    compared: &Compared,
    fixed: &[&Row],
    answer: &[&Row],
    paired: &mut dyn FnMut(&Row, &Row),
) -> (Vec<usize>, Vec<usize>) {
    let in_order = |rows: &[&Row]| {
        let mut places: Vec<usize> = (0..rows.len()).collect();
        places.sort_by(|a, b| compared.order(rows[*a], rows[*b]).then(a.cmp(b)));
        places
    };
    let (left, right) = (in_order(fixed), in_order(answer));
    let (mut alone_left, mut alone_right) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        if compared.are_equal(fixed[*a], answer[*b]) {
            paired(fixed[*a], answer[*b]);
            i += 1;
            j += 1;
        } else if compared.order(fixed[*a], answer[*b]).is_lt() {
            alone_left.push(*a);
            i += 1;
        } else {
            alone_right.push(*b);
            j += 1;
        }
    }
    alone_left.extend(left.iter().skip(i));
    alone_right.extend(right.iter().skip(j));
    // Numbers that differ in the last digit may sort differently on the two sides.
    if alone_left.len() <= TRIED && alone_right.len() <= TRIED {
        alone_left.retain(|a| {
            match alone_right.iter().position(|b| compared.are_equal(fixed[*a], answer[*b])) {
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

/// Largest relative error in approximate columns.
struct ApproximateError {
    columns: Vec<usize>,
    largest: f64,
}

impl ApproximateError {
    fn of(rules: &ComparisonRules) -> Self {
        let columns = rules.columns.iter().enumerate().filter(|(_, column)| column.approximate);
        Self { columns: columns.map(|(place, _)| place).collect(), largest: 0.0 }
    }

    /// Adds a pair of rows. Returns `false` if an approximate cell has no relative error.
    fn add(&mut self, fixed: &Row, answer: &Row) -> bool {
        for place in &self.columns {
            match (fixed.get(*place), answer.get(*place)) {
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

    fn found(&self) -> Match {
        Match { approximate_error: (!self.columns.is_empty()).then_some(self.largest) }
    }
}
