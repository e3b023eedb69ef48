//! Two sides of a benchmark, measured in turn.

use std::time::{Duration, Instant};

use jsonathlon_stats::statistics::{median, paired_ratio};
use rustix::time::{ClockId, clock_gettime};

use crate::Problem;

/// Number of pairs. Their first one is not counted.
const PAIRS: usize = 20;

/// One side: what it is called, and one pass of its work.
pub(crate) struct Side<'a> {
    pub(crate) name: &'a str,
    pub(crate) pass: &'a mut dyn FnMut() -> Result<(), Problem>,
}

/// Executes both sides in the order A B B A … and prints the ratios of their times and of the CPU time of this
/// process, first side ÷ second, each with a 95 % interval.
pub(crate) fn compare(what: &str, mut sides: [Side<'_>; 2]) -> Result<(), Problem> {
    let mut times: [Vec<Vec<f64>>; 2] = Default::default();
    let mut processor: [Vec<Vec<f64>>; 2] = Default::default();
    for pair in 0..=PAIRS {
        let order = if pair % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let (begun, begun_on_core) = (Instant::now(), on_core());
            (sides[side].pass)()?;
            if pair > 0 {
                times[side].push(vec![begun.elapsed().as_secs_f64()]);
                processor[side].push(vec![(on_core() - begun_on_core).as_secs_f64()]);
            }
        }
    }
    let [ours, theirs] = &sides;
    for (quantity, [one, other]) in [("time", &times), ("CPU of the client", &processor)] {
        let ratio = paired_ratio(one, other).ok_or("no pairs")?;
        let (low, high) = (ratio.low.unwrap_or(f64::NAN), ratio.high.unwrap_or(f64::NAN));
        let middle = |passes: &[Vec<f64>]| median(&passes.concat()).unwrap_or(f64::NAN);
        println!(
            "{what}: {quantity}, {} ÷ {}: {:.3} ({low:.3} … {high:.3}); medians {:.4} s and {:.4} s",
            ours.name,
            theirs.name,
            ratio.median,
            middle(one),
            middle(other),
        );
    }
    Ok(())
}

/// CPU time of all threads of this process so far.
fn on_core() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
