//! Finds edges: places of a sweep at which the cost of an operation leaves the line on which it grew.
//!
//! Segmented regression with unknown breaks that are added one at a time (Bai, "Estimating Multiple Breaks
//! One at a Time", *Econometric Theory* 13, 1997), each tested at level [`ALPHA`]: see [`change_points`]. A
//! sweep without an edge is no proof that there is none; [`jump_between`] bounds the jump that may still be
//! there.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

/// Significance level: an edge is reported if its probability by chance is lower.
pub const ALPHA: f64 = 0.05;
/// Fewest places that a line is fitted through.
const MIN_SEGMENT: usize = 3;
/// Most edges that are looked for in one sweep.
const MAX_EDGES: usize = 4;
/// Number of parameters of a line: intercept and slope.
const PARAMETERS: usize = 2;

/// A place of a sweep between two neighbouring x, behind which costs follow another line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Largest x that lies before the edge with confidence.
    pub low: f64,
    /// Smallest x that lies behind the edge with confidence.
    pub high: f64,
    /// Cost behind the edge divided by the cost before it, both lines evaluated halfway between the
    /// neighbouring x.
    pub factor: f64,
    /// Probability of this or a clearer edge anywhere along any of the sweeps if none of them has an edge.
    pub p: f64,
}

/// One place of a sweep: x, and the positive costs that were measured there in all rounds.
pub type SweepPoint = (f64, Vec<f64>);

/// Finds the edges of one of `sweeps` sweeps, such as that of document sizes, in ascending order of x.
///
/// Costs are taken to be piecewise linear in x. Each step adds the break that reduces the squared deviations
/// most, as long as the F statistic of its two parameters has a probability below [`ALPHA`] by chance. The
/// probability is Šidák's over all candidate places of all `sweeps` sweeps that are examined together.
/// Deviations are relative: each is divided by the cost at its place.
///
/// All rounds of a place are one observation, their mean, because they share one load and a quarter of a
/// minute of the machine. Taken as independent, whatever slowed the machine down for that quarter of a minute
/// would look like an edge.
///
/// The limits of an edge enclose all neighbouring places at which it would reduce the deviations nearly as
/// much: those that a likelihood ratio at the same level does not rule out.
///
/// Places without a cost and costs that are not above zero are ignored. With fewer than six places the result
/// is empty.
#[must_use]
pub fn change_points(places: &[SweepPoint], sweeps: usize) -> Vec<ChangePoint> {
    let sweep = Sweep::of(places, sweeps);
    let breaks = sweep.breaks();
    let positions: Vec<usize> = breaks.iter().map(|(position, _)| *position).collect();
    breaks.iter().filter_map(|(position, p)| sweep.edge(&positions, *position, *p)).collect()
}

/// Limits of the factor by which costs could jump somewhere between two x, besides the edges that
/// [`change_points`] finds elsewhere.
///
/// These are 95 % limits by the confidence limits of the lines on both sides, the widest of all places in
/// between. `None` if no line can be fitted on one of the sides.
#[must_use]
pub fn jump_between(places: &[SweepPoint], sweeps: usize, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
    let sweep = Sweep::of(places, sweeps);
    let lies_between = |index: usize| {
        let neighbours = index.checked_sub(1).and_then(|before| sweep.x.get(before)).zip(sweep.x.get(index));
        neighbours.is_some_and(|(before, behind)| *before < high && *behind > low)
    };
    let breaks: Vec<usize> =
        sweep.breaks().into_iter().map(|(index, _)| index).filter(|index| !lies_between(*index)).collect();
    let candidates = sweep.candidates(&breaks);
    let mut limits: Option<[f64; 2]> = None;
    for index in (1..sweep.x.len()).filter(|index| lies_between(*index)) {
        // Too close to another edge or to an end of the sweep.
        if !candidates.contains(&index) {
            return None;
        }
        let [lower, upper] = sweep.jump(&breaks, index)?;
        limits = Some(limits.map_or([lower, upper], |[low, high]| [low.min(lower), high.max(upper)]));
    }
    limits
}

/// A line y = a + b·x, its sum of weighted squared deviations, and the sums that its confidence limits need.
#[derive(Clone, Copy)]
struct Line {
    a: f64,
    b: f64,
    residual: f64,
    /// Sums of weights, of weighted x and of weighted x².
    sums: [f64; 3],
}

impl Line {
    fn value_at(&self, x: f64) -> f64 {
        self.a + self.b * x
    }

    /// Variance of the line at `x`, in units of the variance of an observation of weight 1.
    fn variance_at(&self, x: f64) -> f64 {
        let [w, wx, wxx] = self.sums;
        (wxx - 2.0 * x * wx + x * x * w) / (w * wxx - wx * wx)
    }
}

struct Sweep {
    x: Vec<f64>,
    /// Mean cost of all rounds at each `x`.
    costs: Vec<f64>,
    /// Number of sweeps that are examined together, at least 1.
    sweep_count: usize,
}

impl Sweep {
    fn of(places: &[SweepPoint], sweep_count: usize) -> Self {
        let mean = |costs: &[f64]| -> Option<f64> {
            let usable = || costs.iter().copied().filter(|cost| *cost > 0.0 && cost.is_finite());
            let count = usable().count();
            (count > 0).then(|| usable().sum::<f64>() / count as f64)
        };
        let mut points: Vec<(f64, f64)> = places
            .iter()
            .filter(|(x, _)| x.is_finite())
            .filter_map(|(x, costs)| Some((*x, mean(costs)?)))
            .collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (x, costs) = points.into_iter().unzip();
        Self { x, costs, sweep_count: sweep_count.max(1) }
    }

    /// Fits a line through places `from..to`, each weighted by 1 / cost².
    fn line(&self, from: usize, to: usize) -> Line {
        let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let observations = || {
            let costs = self.x.iter().zip(&self.costs).take(to).skip(from);
            costs.map(|(x, cost)| (*x, *cost, 1.0 / (cost * cost)))
        };
        for (x, y, weight) in observations() {
            w += weight;
            wx += weight * x;
            wy += weight * y;
            wxx += weight * x * x;
            wxy += weight * x * y;
        }
        let spread = w * wxx - wx * wx;
        let b = if spread.abs() > f64::EPSILON * w * wxx { (w * wxy - wx * wy) / spread } else { 0.0 };
        let a = if w > 0.0 { (wy - b * wx) / w } else { 0.0 };
        let residual = observations().map(|(x, y, weight)| weight * (y - a - b * x).powi(2)).sum();
        Line { a, b, residual, sums: [w, wx, wxx] }
    }

    /// Finds the breaks in ascending order, each with its probability by chance.
    fn breaks(&self) -> Vec<(usize, f64)> {
        let mut breaks: Vec<usize> = Vec::new();
        let mut tested: Vec<(usize, f64)> = Vec::new();
        while tested.len() < MAX_EDGES {
            let Some((position, p)) = self.next_break(&breaks).filter(|(_, p)| *p < ALPHA) else { break };
            breaks.push(position);
            breaks.sort_unstable();
            tested.push((position, p));
        }
        tested.sort_unstable_by_key(|(position, _)| *position);
        tested
    }

    /// Sum of squared deviations from the lines between these breaks.
    fn residual(&self, breaks: &[usize]) -> f64 {
        let ends = breaks.iter().copied().chain(std::iter::once(self.x.len()));
        let starts = std::iter::once(0).chain(breaks.iter().copied());
        starts.zip(ends).map(|(from, to)| self.line(from, to).residual).sum()
    }

    /// Places at which one more break is possible: at least [`MIN_SEGMENT`] places away from all breaks and
    /// ends.
    fn candidates(&self, breaks: &[usize]) -> Vec<usize> {
        let bounds: Vec<usize> =
            std::iter::once(0).chain(breaks.iter().copied()).chain(std::iter::once(self.x.len())).collect();
        let is_free = |index: &usize| bounds.iter().all(|bound| bound.abs_diff(*index) >= MIN_SEGMENT);
        (MIN_SEGMENT..self.x.len()).filter(is_free).collect()
    }

    fn with_break(breaks: &[usize], index: usize) -> Vec<usize> {
        let mut extended = breaks.to_vec();
        extended.push(index);
        extended.sort_unstable();
        extended
    }

    /// The best place for one more break, and the probability of one as good by chance.
    fn next_break(&self, breaks: &[usize]) -> Option<(usize, f64)> {
        let candidates = self.candidates(breaks);
        let current = self.residual(breaks);
        let residuals =
            candidates.iter().map(|index| (*index, self.residual(&Self::with_break(breaks, *index))));
        let (index, residual) = residuals.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let freedom =
            self.x.len().checked_sub(PARAMETERS * (breaks.len() + 2)).filter(|freedom| *freedom > 0)? as f64;
        // Deviations that small are rounding errors.
        if current <= f64::EPSILON * self.x.len() as f64 {
            return None;
        }
        let chance = if residual <= f64::EPSILON * current {
            0.0
        } else {
            let statistic = ((current - residual).max(0.0) / PARAMETERS as f64) / (residual / freedom);
            FisherSnedecor::new(PARAMETERS as f64, freedom).ok()?.sf(statistic)
        };
        let chances = i32::try_from(candidates.len().checked_mul(self.sweep_count)?).ok()?;
        Some((index, 1.0 - (1.0 - chance).powi(chances)))
    }

    /// Builds the edge at one of the breaks, with its limits and its factor.
    fn edge(&self, breaks: &[usize], position: usize, p: f64) -> Option<ChangePoint> {
        let others: Vec<usize> = breaks.iter().copied().filter(|other| *other != position).collect();
        let smallest_residual = self.residual(breaks);
        let freedom =
            self.x.len().checked_sub(PARAMETERS * (breaks.len() + 1)).filter(|freedom| *freedom > 0)? as f64;
        let allowed = FisherSnedecor::new(1.0, freedom).ok()?.inverse_cdf(1.0 - ALPHA);
        let limit = smallest_residual * (1.0 + allowed / freedom);
        let is_likely = |place: &usize| self.residual(&Self::with_break(&others, *place)) <= limit;
        // Extends to neighbours of the best place only: a likely place behind another edge belongs to that
        // edge.
        let candidates = self.candidates(&others);
        let extend = |step: fn(usize) -> Option<usize>| {
            let mut end = position;
            while let Some(place) = step(end).filter(|place| candidates.contains(place) && is_likely(place)) {
                end = place;
            }
            end
        };
        let first = extend(|place| place.checked_sub(1));
        let last = extend(|place| place.checked_add(1));
        let (before, behind, middle) = self.sides(&others, position)?;
        let factor = behind.value_at(middle) / before.value_at(middle);
        Some(ChangePoint { low: *self.x.get(first.checked_sub(1)?)?, high: *self.x.get(last)?, factor, p })
    }

    /// The lines before and behind a break, given the `others`, and the x at which they are compared.
    fn sides(&self, others: &[usize], position: usize) -> Option<(Line, Line, f64)> {
        let from = others.iter().copied().filter(|other| *other < position).max().unwrap_or(0);
        let to = others.iter().copied().filter(|other| *other > position).min().unwrap_or(self.x.len());
        let middle = f64::midpoint(*self.x.get(position.checked_sub(1)?)?, *self.x.get(position)?);
        Some((self.line(from, position), self.line(position, to), middle))
    }

    /// Limits of the factor between the lines on both sides of a break, given the `others`. The error of the
    /// logarithm comes from its linear approximation.
    fn jump(&self, others: &[usize], position: usize) -> Option<[f64; 2]> {
        let (before, behind, middle) = self.sides(others, position)?;
        let freedom =
            self.x.len().checked_sub(PARAMETERS * (others.len() + 2)).filter(|freedom| *freedom > 0)? as f64;
        let variance = self.residual(&Self::with_break(others, position)) / freedom;
        let relative = |line: &Line| variance * line.variance_at(middle) / line.value_at(middle).powi(2);
        let error = (relative(&before) + relative(&behind)).sqrt();
        let half_width = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - ALPHA / 2.0) * error;
        let jump = (behind.value_at(middle) / before.value_at(middle)).ln();
        let limits = [(jump - half_width).exp(), (jump + half_width).exp()];
        limits.iter().all(|limit| limit.is_finite()).then_some(limits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const SIZES: [f64; 16] =
        [0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75, 3.0, 6.0, 12.0, 24.0, 48.0, 64.0];

    /// Approximately normal, with mean 0 and standard deviation 1.
    fn normal(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0
    }

    /// Costs of two rounds that grow on a line and are multiplied by `factor` from place `step_index` on.
    fn sweep(seed: u64, slope: f64, step_index: usize, factor: f64, scatter: f64) -> Vec<SweepPoint> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let cost = |place: usize, x: f64| (50.0 + slope * x) * if place >= step_index { factor } else { 1.0 };
        let mut costs = |place, x| {
            (0..2).map(|_| cost(place, x) * (scatter * normal(&mut random)).exp()).collect::<Vec<f64>>()
        };
        SIZES.iter().enumerate().map(|(place, x)| (*x, costs(place, *x))).collect()
    }

    #[test]
    fn a_line_has_no_edge_and_a_step_has_one() {
        assert_eq!(change_points(&sweep(1, 2.0, 99, 1.0, 0.0), 1), []);
        let edges = change_points(&sweep(1, 2.0, 6, 1.2, 0.0), 1);
        assert_eq!(edges.len(), 1, "{edges:?}");
        let edge = edges[0];
        assert_eq!((edge.low, edge.high), (1.75, 2.0));
        assert!((edge.factor - 1.2).abs() < 1e-6 && edge.p < 1e-6, "{edge:?}");
    }

    #[test]
    fn two_steps_are_two_edges() {
        let mut places = sweep(7, 1.0, 4, 1.3, 0.005);
        places.iter_mut().skip(11).for_each(|(_, costs)| costs.iter_mut().for_each(|cost| *cost *= 1.5));
        let edges = change_points(&places, 1);
        assert_eq!(edges.len(), 2, "{edges:?}");
        assert!(edges[0].low <= 1.25 && edges[0].high >= 1.5 && edges[1].low <= 3.0 && edges[1].high >= 6.0);
    }

    #[test]
    fn little_is_told_of_few_places() {
        assert_eq!(change_points(&[], 1), []);
        assert_eq!(change_points(&sweep(1, 2.0, 2, 3.0, 0.0)[..5], 1), []);
        let mut places = sweep(1, 2.0, 6, 1.2, 0.0);
        places[3].1.clear();
        places[8].1 = vec![f64::NAN, -1.0, 0.0];
        assert_eq!(change_points(&places, 1).len(), 1);
    }

    #[test]
    fn a_jump_that_is_not_there_can_be_ruled_out() {
        let near = [1.8, 2.1];
        let calm = jump_between(&sweep(3, 2.0, 99, 1.0, 0.005), 1, near).unwrap();
        assert!(calm[0] > 0.95 && calm[1] < 1.05, "{calm:?}");
        let noisy = jump_between(&sweep(3, 2.0, 99, 1.0, 0.2), 1, near).unwrap();
        assert!(noisy[1] > 1.05, "{noisy:?}");
        let stepped = jump_between(&sweep(1, 2.0, 6, 1.3, 0.005), 1, near).unwrap();
        assert!(stepped[1] > 1.2, "{stepped:?}");
        // Another edge is too close for lines on both sides.
        assert_eq!(jump_between(&sweep(1, 2.0, 5, 1.3, 0.005), 1, near), None);
        assert_eq!(jump_between(&[], 1, near), None);
        assert_eq!(jump_between(&sweep(1, 2.0, 6, 1.2, 0.0), 1, [100.0, 200.0]), None);
    }

    /// A step that stands out of the scatter is found at its place, and its limits enclose it. The exceptions
    /// are sweeps in which another edge is found next to it by chance.
    #[test]
    fn a_clear_step_is_found() {
        let is_found = |seed: &u64| {
            let step = 3 + (*seed % 10) as usize;
            let edges = change_points(&sweep(*seed, (*seed % 11) as f64, step, 1.3, 0.01), 1);
            let edge = edges.iter().find(|edge| edge.low <= SIZES[step - 1] && edge.high >= SIZES[step]);
            edge.is_some_and(|edge| (edge.factor / 1.3).ln().abs() < 0.08)
        };
        let found = (0..400).filter(is_found).count();
        assert!(found >= 390, "{found} of 400");
    }

    /// The limits enclose the true factor in about 19 of 20 sweeps.
    #[test]
    fn limits_of_a_jump_are_as_wide_as_promised() {
        // Sometimes an edge is found by chance so close that there is no result.
        let limits = |seed| jump_between(&sweep(seed, 3.0, 6, 1.05, 0.02), 1, [1.8, 1.95]);
        let limits: Vec<[f64; 2]> = (0..400).filter_map(limits).collect();
        let covering = limits.iter().filter(|[low, high]| *low <= 1.05 && 1.05 <= *high).count();
        assert!(limits.len() >= 350 && covering * 100 >= limits.len() * 91, "{covering} of {}", limits.len());
    }

    /// Of the sweeps without an edge, about one in twenty may be reported to have one.
    #[test]
    fn false_alarms_are_as_rare_as_promised() {
        let alarms =
            (0..400).filter(|seed| !change_points(&sweep(*seed, 3.0, 99, 1.0, 0.02), 1).is_empty()).count();
        assert!(alarms <= 36, "{alarms} of 400");
    }

    /// Of the studies of six sweeps without an edge, about one in twenty may report an edge.
    #[test]
    fn false_alarms_are_as_rare_among_many_sweeps() {
        let alarms = |study: &u64| {
            (0..6).any(|index| !change_points(&sweep(study * 6 + index, 3.0, 99, 1.0, 0.02), 6).is_empty())
        };
        let alarms = (0..400).filter(alarms).count();
        assert!(alarms <= 36, "{alarms} of 400");
    }

    /// False alarms are no more frequent where all rounds of a place share one slow or fast quarter of a
    /// minute.
    #[test]
    fn what_the_rounds_of_a_place_share_is_no_edge() {
        let alarms = |seed: &u64| {
            let mut random = ChaCha8Rng::seed_from_u64(seed + 10_000);
            let mut places = sweep(*seed, 3.0, 99, 1.0, 0.01);
            for (_, costs) in &mut places {
                let shared = (0.05 * normal(&mut random)).exp();
                costs.iter_mut().for_each(|cost| *cost *= shared);
            }
            !change_points(&places, 1).is_empty()
        };
        let alarms = (0..400).filter(alarms).count();
        assert!(alarms <= 36, "{alarms} of 400");
    }

    proptest! {
        /// Neither the unit of costs nor the order of places or rounds changes the result.
        #[test]
        fn units_and_order_do_not_matter(seed in 0_u64..1_000, unit in 1e-6..1e6_f64) {
            let places = sweep(seed, 2.0, 6, 1.1, 0.02);
            let mut transformed: Vec<SweepPoint> = places
                .iter()
                .rev()
                .map(|(x, costs)| (*x, costs.iter().rev().map(|cost| cost * unit).collect()))
                .collect();
            transformed.rotate_left(3);
            let (edges, transformed_edges) = (change_points(&places, 1), change_points(&transformed, 1));
            prop_assert_eq!(edges.len(), transformed_edges.len());
            for (a, b) in edges.iter().zip(&transformed_edges) {
                prop_assert!((a.low, a.high) == (b.low, b.high) && (a.factor - b.factor).abs() < 1e-6);
            }
        }

        /// For all inputs, edges lie within the sweep.
        #[test]
        fn edges_lie_within(costs in proptest::collection::vec(1e-3..1e6_f64, 0..40)) {
            let places: Vec<SweepPoint> =
                costs.iter().enumerate().map(|(x, cost)| (x as f64, vec![*cost])).collect();
            for edge in change_points(&places, 1) {
                prop_assert!(edge.low < edge.high && edge.high < costs.len() as f64);
                prop_assert!(edge.p < ALPHA);
            }
        }
    }
}
