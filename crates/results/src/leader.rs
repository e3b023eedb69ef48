//! Decides whether a configuration leads its ranking, for tables and the page alike.

use crate::ratio_to_best::{CellRatio, Significance};

/// Leadership among results that were compared with the best of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Lead<'a> {
    /// There is only one result.
    Alone(&'a CellRatio),
    /// The best result is shown to differ from every other.
    Shown {
        /// Best result by its median.
        first: &'a CellRatio,
        /// Result that comes closest to the best.
        runner_up: &'a CellRatio,
    },
    /// No leader: some results are not shown to differ from the best one.
    NotShown {
        /// Best result by its median.
        first: &'a CellRatio,
        /// Results not shown to be worse, the closest first. At least one.
        tied: Vec<&'a CellRatio>,
    },
}

/// Decides which result leads. Each must have been compared with the best, which is among them. `None` if the
/// best one is missing.
pub fn lead<'a>(results: impl IntoIterator<Item = &'a CellRatio>) -> Option<Lead<'a>> {
    let (best, mut others): (Vec<&CellRatio>, Vec<&CellRatio>) =
        results.into_iter().partition(|result| is_the_best(result));
    let first = *best.first()?;
    // Distance of the ratio from 1, whichever direction is worse.
    let distance = |result: &CellRatio| result.ratio.ln().abs();
    others.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let tied: Vec<&CellRatio> =
        others.iter().copied().filter(|result| result.difference == Significance::NotSignificant).collect();
    Some(match others.first() {
        None => Lead::Alone(first),
        Some(runner_up) if tied.is_empty() => Lead::Shown { first, runner_up },
        Some(_) => Lead::NotShown { first, tied },
    })
}

/// Returns `true` if the result is the best one, which was compared with itself.
#[must_use]
pub fn is_the_best(result: &CellRatio) -> bool {
    result.cell.id == result.other && result.cell.profile == result.other_profile
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::id::{ConfigurationId, Step};
    use jsonathlon_schema::record::{Cell, Parameters, Phase};

    use super::*;
    use crate::ratio_to_best::ComparisonTarget;

    fn comparison(system: &str, ratio: f64, difference: Significance) -> CellRatio {
        let id = |system: &str| ConfigurationId::new(system, "1", "default", "default");
        let cell = Cell {
            workload: "serving".into(),
            id: id(system),
            profile: None,
            step: Step::from("a"),
            phase: Phase::Measured,
            state: None,
            parameters: Parameters::new(),
        };
        CellRatio {
            cell,
            compared_with: ComparisonTarget::Best,
            other: id("best"),
            other_profile: None,
            metric: "seconds".into(),
            ratio,
            low: None,
            high: None,
            difference,
        }
    }

    #[test]
    fn a_leader_differs_from_everybody() {
        let best = comparison("best", 1.0, Significance::NotSignificant);
        let near = comparison("near", 1.2, Significance::Slower);
        let far = comparison("far", 3.0, Significance::Slower);
        assert_eq!(lead([&best]), Some(Lead::Alone(&best)));
        assert_eq!(lead([&far, &best, &near]), Some(Lead::Shown { first: &best, runner_up: &near }));
        assert_eq!(lead([]), None);
    }

    #[test]
    fn nobody_leads_while_anybody_may_be_as_good() {
        let best = comparison("best", 1.0, Significance::NotSignificant);
        let near = comparison("near", 0.9, Significance::Slower);
        // Its median is further away, but it scatters so much that it may be equally good.
        let wide = comparison("wide", 0.4, Significance::NotSignificant);
        assert_eq!(lead([&near, &best, &wide]), Some(Lead::NotShown { first: &best, tied: vec![&wide] }));
    }
}
