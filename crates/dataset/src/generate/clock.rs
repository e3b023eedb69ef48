//! Times of events: strictly increasing microseconds with the daily rhythm of the real data set.
//!
//! The rates follow from the published answers of the billion-document challenge. These are the spans of the
//! 1m, 10m and 100m sets (813.007 s, 7,902.219 s, 66,454.001 s), and the counts by hour of Q3 in each set,
//! taken as shares of all events. After the first day, whose evening was three times as busy as its morning,
//! an average day repeats. It consists of the hours of the 1000m set without those of the 100m set, scaled so
//! that one billion events end 1,066,439.010 s after the start.

/// Time of the first event in microseconds since 1970: 2024-11-21T16:25:49.000167Z.
pub(super) const START_US: u64 = 1_732_206_349_000_167;

/// 2024-11-22T00:00:00Z in microseconds since 1970, the origin of full hours.
const FIRST_MIDNIGHT_US: u64 = 1_732_233_600_000_000;
const SECOND_US: u64 = 1_000_000;
const HOUR_US: u64 = 3_600 * SECOND_US;
const DAY_US: u64 = 24 * HOUR_US;

/// The first day: end of each stretch (microseconds after the first event; full hours are at their exact
/// times) and the number of events in it.
const FIRST_DAY: [(u64, u64); 21] = [
    (813_007_000, 1_000_000),
    (until_hour(-7), 1_225_376),
    (until_hour(-6), 4_688_958),
    (7_902_219_000, 3_085_666),
    (until_hour(-5), 1_915_856),
    (until_hour(-4), 5_213_706),
    (until_hour(-3), 5_051_373),
    (until_hour(-2), 5_140_434),
    (until_hour(-1), 5_538_424),
    (until_hour(0), 9_476_874),
    (until_hour(1), 5_919_841),
    (until_hour(2), 10_550_893),
    (until_hour(3), 10_875_657),
    (until_hour(4), 10_524_603),
    (until_hour(5), 4_442_996),
    (until_hour(6), 2_901_135),
    (until_hour(7), 2_685_483),
    (until_hour(8), 2_560_258),
    (until_hour(9), 2_449_312),
    (until_hour(10), 2_457_330),
    (66_454_001_000, 2_295_825),
];

/// Number of events in each hour (UTC) of the average day, which repeats after the first day.
const AVERAGE_DAY: [u64; 24] = [
    3_558_111, 3_491_832, 3_377_274, 3_237_663, 2_861_613, 2_495_013, 2_252_470, 2_135_053, 2_081_561,
    2_057_410, 2_140_409, 2_407_709, 2_838_855, 3_311_036, 3_680_089, 3_920_980, 4_019_850, 4_021_160,
    3_909_497, 3_919_508, 3_921_132, 3_966_723, 3_926_804, 3_725_926,
];

/// Returns the microseconds from the first event to a full hour, counted from the first midnight.
const fn until_hour(hour: i64) -> u64 {
    (FIRST_MIDNIGHT_US as i64 + hour * HOUR_US as i64 - START_US as i64) as u64
}

/// Time span with a constant event rate.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    first_event: u64,
    events: u64,
    start_us: u64,
    span_us: u64,
}

impl Stretch {
    /// Returns the start time of an event's slot. `event` must be within the stretch or at its end.
    #[inline]
    fn slot_start(&self, event: u64) -> u64 {
        // At most 1.1e7 events and 3.6e9 µs, so the product stays below 2⁵⁶.
        self.start_us + (event - self.first_event) * self.span_us / self.events
    }

    #[inline]
    fn contains(&self, event: u64) -> bool {
        event.wrapping_sub(self.first_event) < self.events
    }
}

/// Maps ordinals to times. Caches the last stretch, which affects only the speed.
#[derive(Clone, Debug)]
pub(super) struct EventClock {
    first_day: Vec<Stretch>,
    average_day: Vec<Stretch>,
    day_events: u64,
    current: Stretch,
}

impl EventClock {
    pub(super) fn new() -> Self {
        let mut first_day = Vec::with_capacity(FIRST_DAY.len() + AVERAGE_DAY.len());
        let (mut event, mut time) = (0, START_US);
        let mut push = |end_us: u64, events: u64, list: &mut Vec<Stretch>| {
            list.push(Stretch { first_event: event, events, start_us: time, span_us: end_us - time });
            event += events;
            time = end_us;
        };
        for (end, events) in FIRST_DAY {
            push(START_US + end, events, &mut first_day);
        }
        // The rest of hour 10 has the average day's rate; then follow its hours up to midnight.
        let rest_us = START_US + until_hour(11) - (START_US + FIRST_DAY[FIRST_DAY.len() - 1].0);
        push(START_US + until_hour(11), AVERAGE_DAY[10] * rest_us / HOUR_US, &mut first_day);
        for (hour, &events) in AVERAGE_DAY.iter().enumerate().skip(11) {
            push(START_US + until_hour(hour as i64 + 1), events, &mut first_day);
        }
        let mut average_day = Vec::with_capacity(AVERAGE_DAY.len());
        for (hour, &events) in AVERAGE_DAY.iter().enumerate() {
            push(START_US + until_hour(hour as i64 + 25), events, &mut average_day);
        }
        let current = first_day[0];
        Self { first_day, average_day, day_events: AVERAGE_DAY.iter().sum(), current }
    }

    /// Returns the time slot of `event` in microseconds: its start and the start of the next slot
    /// (exclusive).
    #[inline]
    pub(super) fn slot(&mut self, event: u64) -> (u64, u64) {
        if !self.current.contains(event) {
            self.current = self.find(event);
        }
        (self.current.slot_start(event), self.current.slot_start(event + 1))
    }

    /// Returns the start of an event's slot. Before the first event the rate is 1,000 events per second.
    #[inline]
    pub(super) fn slot_start(&self, event: i64) -> u64 {
        match u64::try_from(event) {
            Ok(event) if self.current.contains(event) => self.current.slot_start(event),
            Ok(event) => self.find(event).slot_start(event),
            Err(_) => START_US - event.unsigned_abs() * 1_000,
        }
    }

    #[cold]
    fn find(&self, event: u64) -> Stretch {
        let first_average_event = self.average_day[0].first_event;
        let (stretches, days) = if event < first_average_event {
            (&self.first_day, 0)
        } else {
            (&self.average_day, (event - first_average_event) / self.day_events)
        };
        let event_of_day = event - days * self.day_events;
        let index = stretches.partition_point(|stretch| stretch.first_event <= event_of_day) - 1;
        let stretch = stretches[index];
        Stretch {
            first_event: stretch.first_event + days * self.day_events,
            start_us: stretch.start_us + days * DAY_US,
            ..stretch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds_at(event: u64) -> f64 {
        (EventClock::new().slot(event).0 - START_US) as f64 / 1e6
    }

    #[test]
    fn spans_are_those_of_the_published_sets() {
        assert_eq!(EventClock::new().slot(0).0, START_US);
        assert!((seconds_at(1_000_000) - 813.007).abs() < 0.01);
        assert!((seconds_at(10_000_000) - 7_902.219).abs() < 0.01);
        assert!((seconds_at(100_000_000) - 66_454.001).abs() < 0.01);
        assert!((seconds_at(1_000_000_000) - 1_066_439.0).abs() < 5.0, "{}", seconds_at(1_000_000_000));
    }

    #[test]
    fn slots_touch_and_never_vanish() {
        let mut clock = EventClock::new();
        for start in [0, 999_000, 2_225_000, 99_999_000, 150_000_000, 999_999_000, 5_000_000_000] {
            let mut previous_end = clock.slot(start).0;
            for event in start..start + 3_000 {
                let (start, end) = clock.slot(event);
                assert_eq!(start, previous_end);
                assert!(end > start, "event {event} has no room");
                previous_end = end;
            }
        }
    }

    #[test]
    fn a_far_event_needs_no_history() {
        let mut clock = EventClock::new();
        for event in (0..400_000_000).step_by(777_777) {
            assert_eq!(clock.slot(event), EventClock::new().slot(event));
            assert_eq!(clock.slot_start(event as i64), EventClock::new().slot(event).0);
        }
    }
}
