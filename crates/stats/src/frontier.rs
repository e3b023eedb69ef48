//! Throughput frontier of two loads on one system: how much of one it can do beside how much of the other.
//!
//! After HATtrick (Milkai et al., "How Good is My HTAP System?", SIGMOD 2022), with achieved rates on both
//! axes instead of numbers of clients.

/// Rates that were achieved together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Acknowledged documents per second.
    pub documents_per_s: f64,
    /// Questions per hour, with growth taken out.
    pub questions_per_h: f64,
}

impl LoadPoint {
    fn is_dominated_by(&self, other: &Self) -> bool {
        other != self
            && other.documents_per_s >= self.documents_per_s
            && other.questions_per_h >= self.questions_per_h
    }
}

/// Frontier of a system from its two peaks alone and points between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontier {
    hull: Vec<LoadPoint>,
    non_dominated: Vec<LoadPoint>,
    below_line: Vec<LoadPoint>,
    share: f64,
}

impl Frontier {
    /// Draws the frontier. `documents_peak` is in documents/s without questions, `questions_peak` in
    /// questions/h without writers; never show a share without both beside it.
    ///
    /// # Errors
    /// If a peak is not above 0, or a rate is negative or not finite.
    pub fn new(documents_peak: f64, questions_peak: f64, points: &[LoadPoint]) -> Result<Self, String> {
        let is_rate = |rate: f64| rate.is_finite() && rate >= 0.0;
        let is_peak = |rate: f64| rate.is_finite() && rate > 0.0;
        let are_rates =
            points.iter().all(|point| is_rate(point.documents_per_s) && is_rate(point.questions_per_h));
        if !(are_rates && is_peak(documents_peak) && is_peak(questions_peak)) {
            return Err(format!(
                "no frontier between {documents_peak} documents/s and {questions_peak} questions/h over \
                 {points:?}: both peaks must be above 0, and all rates finite; measure both loads alone first"
            ));
        }
        let relative = |point: &LoadPoint| {
            point.documents_per_s / documents_peak + point.questions_per_h / questions_peak
        };
        let below_line = points.iter().filter(|point| relative(point) < 1.0).copied().collect();
        let mut all = points.to_vec();
        all.push(LoadPoint { documents_per_s: 0.0, questions_per_h: questions_peak });
        all.push(LoadPoint { documents_per_s: documents_peak, questions_per_h: 0.0 });
        all.sort_by(|a, b| {
            let by_documents = a.documents_per_s.total_cmp(&b.documents_per_s);
            by_documents.then(b.questions_per_h.total_cmp(&a.questions_per_h))
        });
        let is_best = |point: &&LoadPoint| !all.iter().any(|other| point.is_dominated_by(other));
        let mut non_dominated: Vec<LoadPoint> = all.iter().filter(is_best).copied().collect();
        non_dominated.dedup();
        let hull = upper_hull(&all);
        let share = area_below(&hull) / box_of(&all);
        Ok(Self { hull, non_dominated, below_line, share })
    }

    /// Points of the upper hull in ascending order of documents/s, from the peak of questions to that of
    /// documents. Straight lines join them: the system can be given any two of the loads in turn.
    #[must_use]
    pub fn hull(&self) -> &[LoadPoint] {
        &self.hull
    }

    /// Points that no other beats in both rates, in ascending order of documents/s.
    #[must_use]
    pub fn non_dominated(&self) -> &[LoadPoint] {
        &self.non_dominated
    }

    /// Measured points below the line that joins the peaks: less than the two loads would get in turns.
    #[must_use]
    pub fn below_line(&self) -> &[LoadPoint] {
        &self.below_line
    }

    /// Area below the hull ÷ (largest documents/s × largest questions/h), which are the peaks unless a point
    /// exceeds one. 0.5 is what two loads give that merely share the cores, 1 is no interference at all.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }
}

/// Upper part of the convex hull (the monotone chain of Andrew, 1979) of points in ascending order of
/// documents/s and, where these are equal, descending order of questions/h.
fn upper_hull(points: &[LoadPoint]) -> Vec<LoadPoint> {
    let mut hull: Vec<LoadPoint> = Vec::new();
    for point in points {
        if hull.last().is_some_and(|last| last.documents_per_s == point.documents_per_s) {
            continue;
        }
        while let [.., a, b] = hull.as_slice() {
            let turn = (b.documents_per_s - a.documents_per_s) * (point.questions_per_h - a.questions_per_h)
                - (b.questions_per_h - a.questions_per_h) * (point.documents_per_s - a.documents_per_s);
            if turn < 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(*point);
    }
    hull
}

fn area_below(hull: &[LoadPoint]) -> f64 {
    let trapezoid = |pair: &[LoadPoint]| {
        let width = pair[1].documents_per_s - pair[0].documents_per_s;
        width * (pair[0].questions_per_h + pair[1].questions_per_h) / 2.0
    };
    hull.windows(2).map(trapezoid).sum()
}

fn box_of(points: &[LoadPoint]) -> f64 {
    let width = points.iter().map(|point| point.documents_per_s).fold(0.0, f64::max);
    width * points.iter().map(|point| point.questions_per_h).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points(points: &[(f64, f64)]) -> Vec<LoadPoint> {
        let point = |&(documents_per_s, questions_per_h)| LoadPoint { documents_per_s, questions_per_h };
        points.iter().map(point).collect()
    }

    /// PostgreSQL with generated columns, as tried.
    #[test]
    fn the_share_is_that_of_the_trial_by_hand() {
        let measured = points(&[
            (3_757.0, 12_024.0),
            (7_459.0, 10_152.0),
            (18_458.0, 8_712.0),
            (28_208.0, 8_316.0),
            (30_052.0, 9_180.0),
        ]);
        let frontier = Frontier::new(36_850.0, 12_168.0, &measured).unwrap();
        assert!((frontier.share() - 0.79).abs() < 0.005, "{}", frontier.share());
        let hull = points(&[(0.0, 12_168.0), (3_757.0, 12_024.0), (30_052.0, 9_180.0), (36_850.0, 0.0)]);
        assert_eq!(frontier.hull(), hull);
        assert_eq!(frontier.non_dominated().len(), 5, "{:?}", frontier.non_dominated());
        assert!(frontier.below_line().is_empty());
    }

    #[test]
    fn sharing_the_cores_is_half_and_no_interference_is_one() {
        let half = Frontier::new(100.0, 10.0, &[]).unwrap();
        assert_eq!((half.share(), half.hull().len()), (0.5, 2));
        assert_eq!(Frontier::new(100.0, 10.0, &points(&[(100.0, 10.0)])).unwrap().share(), 1.0);
        let worse = points(&[(40.0, 5.0), (50.0, 5.0)]);
        let frontier = Frontier::new(100.0, 10.0, &worse).unwrap();
        assert_eq!((frontier.share(), frontier.below_line()), (0.5, &worse[..1]));
        assert_eq!(frontier.non_dominated(), points(&[(0.0, 10.0), (50.0, 5.0), (100.0, 0.0)]));
    }

    #[test]
    fn a_point_beyond_a_peak_widens_the_box() {
        let frontier = Frontier::new(100.0, 10.0, &points(&[(110.0, 4.0)])).unwrap();
        assert!((frontier.share() - (10.0 + 4.0) / 2.0 / 10.0).abs() < 1e-12);
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        assert!(Frontier::new(0.0, 10.0, &[]).is_err() && Frontier::new(1.0, f64::NAN, &[]).is_err());
        assert!(Frontier::new(1.0, 1.0, &points(&[(-1.0, 0.5)])).unwrap_err().contains("alone first"));
    }

    proptest! {
        #[test]
        fn the_hull_is_above_all_points(measured in proptest::collection::vec((0.0_f64..1.0, 0.0_f64..1.0), 0..12)) {
            let measured = points(&measured);
            let frontier = Frontier::new(1.0, 1.0, &measured).unwrap();
            prop_assert!(frontier.share() >= 0.5 - 1e-12 && frontier.share() <= 1.0 + 1e-12);
            for point in &measured {
                let is_above = frontier.hull().windows(2).any(|pair| {
                    let (a, b) = (pair[0], pair[1]);
                    let along = (point.documents_per_s - a.documents_per_s) / (b.documents_per_s - a.documents_per_s);
                    let height = a.questions_per_h + along * (b.questions_per_h - a.questions_per_h);
                    (-1e-12..=1.0 + 1e-12).contains(&along) && height >= point.questions_per_h - 1e-9
                });
                prop_assert!(is_above, "{point:?}");
            }
        }
    }
}
