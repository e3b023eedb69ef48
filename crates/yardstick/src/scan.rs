//! Loops over columns. Each reads every value of its rows, in a form that the compiler can vectorise.

use super::dictionary::NULL;

/// Values compared before the result is tested.
const BLOCK: usize = 64;
/// Parallel counters, so that counting equal values in a row does not wait for memory.
const LANES: usize = 4;
/// Maximum number of distinct codes for counting in lanes; more would only fill the cache.
const LANES_UP_TO: usize = 1 << 12;
/// Values per 32-bit counter without overflow; twice as many 32-bit as 64-bit counters fit a register.
const NARROW: usize = 1 << 30;

const HOUR_US: u64 = 3_600_000_000;
const HOURS: usize = 24;

/// Number of leading values that equal `code`.
#[inline]
pub(super) fn run_length(codes: &[u32], code: u32) -> usize {
    let mut length = 0;
    for block in codes.chunks_exact(BLOCK) {
        let difference = block.iter().fold(0, |difference, &other| difference | (other ^ code));
        if difference != 0 {
            break;
        }
        length += BLOCK;
    }
    length + codes[length..].iter().take_while(|&&other| other == code).count()
}

/// Counts each code where equal codes are adjacent. Index 0 is null, followed by the codes in order.
pub(super) fn count_runs(codes: &[u32], distinct: usize) -> Vec<u64> {
    let mut counts = vec![0; distinct + 1];
    let mut start = 0;
    while let Some(&code) = codes.get(start) {
        let length = run_length(&codes[start..], code);
        counts[count_index(code)] += length as u64;
        start += length;
    }
    counts
}

/// Counts each code in any order; indices as in [`count_runs`].
pub(super) fn count_mixed(codes: &[u32], distinct: usize) -> Vec<u64> {
    let width = distinct + 1;
    if distinct > LANES_UP_TO {
        let mut counts = vec![0; width];
        for &code in codes {
            counts[count_index(code)] += 1;
        }
        return counts;
    }
    let mut lanes = vec![0_u64; width * LANES];
    let (first, rest) = lanes.split_at_mut(width);
    let (second, rest) = rest.split_at_mut(width);
    let (third, fourth) = rest.split_at_mut(width);
    let (groups, remainder) = codes.as_chunks::<LANES>();
    for &[a, b, c, d] in groups {
        first[count_index(a)] += 1;
        second[count_index(b)] += 1;
        third[count_index(c)] += 1;
        fourth[count_index(d)] += 1;
    }
    for &code in remainder {
        first[count_index(code)] += 1;
    }
    (0..width).map(|index| first[index] + second[index] + third[index] + fourth[index]).collect()
}

/// Index of a code's count: 0 for null, otherwise the code plus 1.
#[inline]
pub(super) fn count_index(code: u32) -> usize {
    code.wrapping_add(1) as usize
}

/// Number of codes that are not null and differ from their predecessor; `before` precedes the first code, if
/// any.
pub(super) fn count_new(before: Option<u32>, codes: &[u32]) -> u64 {
    let Some(&first) = codes.first() else { return 0 };
    let mut count = u64::from(before != Some(first) && first != NULL);
    let (earlier, later) = (&codes[..codes.len() - 1], &codes[1..]);
    for (earlier, later) in earlier.chunks(NARROW).zip(later.chunks(NARROW)) {
        let pairs = earlier.iter().zip(later);
        let changes: u32 = pairs.map(|(a, b)| u32::from(a != b) & u32::from(*b != NULL)).sum();
        count += u64::from(changes);
    }
    count
}

/// Counts of times by hour of the day (UTC), in lanes.
#[derive(Clone, Copy)]
pub(super) struct HourCounts([[u64; HOURS]; LANES]);

impl HourCounts {
    pub(super) fn new() -> Self {
        Self([[0; HOURS]; LANES])
    }

    /// Counts `times` by hour; none of them may be null.
    #[inline]
    pub(super) fn count(&mut self, times: &[i64]) {
        let (groups, remainder) = times.as_chunks::<LANES>();
        for group in groups {
            for (lane, &time) in self.0.iter_mut().zip(group) {
                lane[hour(time)] += 1;
            }
        }
        for &time in remainder {
            self.0[0][hour(time)] += 1;
        }
    }

    pub(super) fn counts(&self) -> [u64; HOURS] {
        std::array::from_fn(|hour| self.0.iter().map(|lane| lane[hour]).sum())
    }
}

/// Hour of the day in UTC of microseconds since the Unix epoch.
#[inline]
pub(super) fn hour(time: i64) -> usize {
    match u64::try_from(time) {
        // Hours since 1970 fit 32 bits, and 32-bit division is faster.
        Ok(time) => ((time / HOUR_US) as u32 % HOURS as u32) as usize,
        Err(_) => time.div_euclid(HOUR_US as i64).rem_euclid(HOURS as i64) as usize,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn loops_count_what_they_say(
            codes in proptest::collection::vec(prop_oneof![4 => Just(1_u32), 1 => 0_u32..5, 1 => Just(NULL)], 0..400),
            before in proptest::option::of(0_u32..5),
        ) {
            let run = run_length(&codes, 1);
            prop_assert!(codes[..run].iter().all(|code| *code == 1) && codes.get(run) != Some(&1));
            let mut counts = vec![0; 6];
            let mut new = 0;
            let mut last = before;
            for &code in &codes {
                counts[if code == NULL { 0 } else { code as usize + 1 }] += 1;
                new += u64::from(last != Some(code) && code != NULL);
                last = Some(code);
            }
            prop_assert_eq!(count_runs(&codes, 5), counts.clone());
            prop_assert_eq!(count_mixed(&codes, 5), counts);
            prop_assert_eq!(count_new(before, &codes), new);
        }

        #[test]
        fn hours_are_of_utc_on_both_sides_of_1970(time in any::<i64>()) {
            let seconds_of_day = i128::from(time).rem_euclid(86_400_000_000);
            prop_assert_eq!(hour(time) as i128, seconds_of_day / 3_600_000_000);
        }
    }

    #[test]
    fn many_codes_are_counted_too() {
        let codes: Vec<u32> = (0..10_000).map(|code| code / 2).chain([NULL]).collect();
        let counts = count_mixed(&codes, 5_000);
        assert!(counts[0] == 1 && counts[1..].iter().all(|count| *count == 2));
    }
}
