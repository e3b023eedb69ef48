//! Finds the largest value that a system accepts: by doubling, then by bisection.

/// Boundary between accepted and rejected values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limit {
    /// Largest value that was accepted; `None` if the minimum was rejected.
    pub(crate) taken: Option<u64>,
    /// Smallest value that was rejected; `None` if the maximum was accepted.
    pub(crate) refused: Option<u64>,
}

/// Searches the limit from `least` to `most`. Assumes that every value below an accepted one is accepted,
/// too. If both values of the result are set, they are adjacent.
pub(crate) fn find<E>(
    least: u64,
    most: u64,
    mut is_taken: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Limit, E> {
    let mut found = Limit::default();
    let mut next = least;
    loop {
        if !is_taken(next)? {
            found.refused = Some(next);
            break;
        }
        found.taken = Some(next);
        if next >= most {
            return Ok(found);
        }
        next = next.saturating_mul(2).max(1).min(most);
    }
    if let (Some(taken), Some(refused)) = (found.taken, found.refused) {
        let (taken, refused) = between(taken, refused, is_taken)?;
        found = Limit { taken: Some(taken), refused: Some(refused) };
    }
    Ok(found)
}

/// Bisects between an accepted and a rejected value and returns two adjacent values, accepted first.
pub(crate) fn between<E>(
    mut taken: u64,
    mut refused: u64,
    mut is_taken: impl FnMut(u64) -> Result<bool, E>,
) -> Result<(u64, u64), E> {
    while refused.saturating_sub(taken) > 1 {
        let middle = taken + (refused - taken) / 2;
        if is_taken(middle)? {
            taken = middle;
        } else {
            refused = middle;
        }
    }
    Ok((taken, refused))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(least: u64, most: u64, limit: u64) -> (Limit, u32) {
        let mut tries = 0;
        let found = find::<()>(least, most, |size| {
            assert!((least..=most).contains(&size), "{size}");
            tries += 1;
            Ok(size <= limit)
        });
        (found.unwrap(), tries)
    }

    #[test]
    fn edges_are_told_apart() {
        let limit = |taken, refused| Limit { taken, refused };
        assert_eq!(of(2, 100, 1), (limit(None, Some(2)), 1));
        assert_eq!(of(2, 100, 2).0, limit(Some(2), Some(3)));
        assert_eq!(of(2, 100, 99).0, limit(Some(99), Some(100)));
        assert_eq!(of(2, 100, 100).0, limit(Some(100), None));
        assert_eq!(of(2, 2, 5), (limit(Some(2), None), 1));
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(find(2, 100, |size| if size < 8 { Ok(true) } else { Err(size) }), Err(8));
    }

    proptest! {
        #[test]
        fn the_limit_itself_is_found_and_no_step_of_a_grid(limit in 2_u64..200_000) {
            let (found, tries) = of(2, 100_000, limit);
            prop_assert_eq!(found.taken, Some(limit.min(100_000)));
            prop_assert_eq!(found.refused, (limit < 100_000).then_some(limit + 1));
            prop_assert!(tries <= 34, "{}", tries);
        }
    }
}
