//! Finds the largest value that a system accepts: by doubling, then by bisection.

/// Boundary between accepted and rejected values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Largest value that was accepted; `None` if the minimum was rejected.
    pub(crate) accepted: Option<u64>,
    /// Smallest value that was rejected; `None` if the maximum was accepted.
    pub(crate) rejected: Option<u64>,
}

/// Searches the limit from `min` to `max`. Assumes that every value below an accepted one is accepted,
/// too. If both values of the result are set, they are adjacent.
pub(crate) fn find<E>(
    min: u64,
    max: u64,
    mut is_accepted: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Limit, E> {
    let mut limit = Limit::default();
    let mut candidate = min;
    loop {
        if !is_accepted(candidate)? {
            limit.rejected = Some(candidate);
            break;
        }
        limit.accepted = Some(candidate);
        if candidate >= max {
            return Ok(limit);
        }
        candidate = candidate.saturating_mul(2).max(1).min(max);
    }
    if let (Some(accepted), Some(rejected)) = (limit.accepted, limit.rejected) {
        let (accepted, rejected) = bisect(accepted, rejected, is_accepted)?;
        limit = Limit { accepted: Some(accepted), rejected: Some(rejected) };
    }
    Ok(limit)
}

/// Bisects between an accepted and a rejected value and returns two adjacent values, accepted first.
pub(crate) fn bisect<E>(
    mut accepted: u64,
    mut rejected: u64,
    mut is_accepted: impl FnMut(u64) -> Result<bool, E>,
) -> Result<(u64, u64), E> {
    while rejected.saturating_sub(accepted) > 1 {
        let middle = accepted + (rejected - accepted) / 2;
        if is_accepted(middle)? {
            accepted = middle;
        } else {
            rejected = middle;
        }
    }
    Ok((accepted, rejected))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn find_limit(min: u64, max: u64, limit: u64) -> (Limit, u32) {
        let mut tries = 0;
        let result = find::<()>(min, max, |size| {
            assert!((min..=max).contains(&size), "{size}");
            tries += 1;
            Ok(size <= limit)
        });
        (result.unwrap(), tries)
    }

    #[test]
    fn edges_are_told_apart() {
        let limit = |accepted, rejected| Limit { accepted, rejected };
        assert_eq!(find_limit(2, 100, 1), (limit(None, Some(2)), 1));
        assert_eq!(find_limit(2, 100, 2).0, limit(Some(2), Some(3)));
        assert_eq!(find_limit(2, 100, 99).0, limit(Some(99), Some(100)));
        assert_eq!(find_limit(2, 100, 100).0, limit(Some(100), None));
        assert_eq!(find_limit(2, 2, 5), (limit(Some(2), None), 1));
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(find(2, 100, |size| if size < 8 { Ok(true) } else { Err(size) }), Err(8));
    }

    proptest! {
        #[test]
        fn the_limit_itself_is_found_and_no_step_of_a_grid(limit in 2_u64..200_000) {
            let (result, tries) = find_limit(2, 100_000, limit);
            prop_assert_eq!(result.accepted, Some(limit.min(100_000)));
            prop_assert_eq!(result.rejected, (limit < 100_000).then_some(limit + 1));
            prop_assert!(tries <= 34, "{}", tries);
        }
    }
}
