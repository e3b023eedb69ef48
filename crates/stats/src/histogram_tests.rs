use proptest::prelude::*;

use super::*;

const HOUR: u64 = 3_600_000_000_000;

fn histogram_of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record_ns(*value);
    }
    histogram
}

/// From nanoseconds to days, with equal probability for each order of magnitude.
fn duration() -> impl Strategy<Value = u64> {
    (0_u32..48, any::<u64>()).prop_map(|(bits, random)| random % (1 << bits).max(1) + (1 << bits))
}

proptest! {
    #[test]
    fn merging_is_recording_all(
        left in proptest::collection::vec(duration(), 0..200),
        right in proptest::collection::vec(duration(), 0..200),
    ) {
        let mut merged = histogram_of(&left);
        merged.merge(&histogram_of(&right));
        let all = histogram_of(&[left, right].concat());
        prop_assert_eq!(merged.values_ns().collect::<Vec<_>>(), all.values_ns().collect::<Vec<_>>());
        prop_assert_eq!((merged.count(), merged.count_above_hour()), (all.count(), all.count_above_hour()));
    }

    #[test]
    fn a_text_comes_back_as_it_was(values in proptest::collection::vec(duration(), 0..200)) {
        let histogram = histogram_of(&values);
        let text = histogram.to_text();
        let decoded = Histogram::from_text(&text).unwrap();
        prop_assert_eq!(decoded.values_ns().collect::<Vec<_>>(), histogram.values_ns().collect::<Vec<_>>());
        prop_assert_eq!(decoded.count_above_hour(), histogram.count_above_hour());
        let (mut twice, mut both) = (decoded.clone(), histogram.clone());
        twice.merge(&histogram);
        both.merge(&decoded);
        prop_assert_eq!(twice.values_ns().collect::<Vec<_>>(), both.values_ns().collect::<Vec<_>>());
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values(
        mut values in proptest::collection::vec(duration(), 1..300),
        quantile in 0.0_f64..=1.0,
    ) {
        let histogram = histogram_of(&values);
        values.sort_unstable();
        let rank = ((values.len() as f64 * quantile).ceil() as usize).clamp(1, values.len());
        let exact = values[rank - 1] as f64 / 1e3;
        let shown = histogram.quantile_us(quantile);
        prop_assert!((shown - exact).abs() <= exact * 1e-3 + 1e-3, "{} {}", shown, exact);
    }
}

#[test]
fn what_is_above_an_hour_is_counted_and_kept() {
    let mut histogram = histogram_of(&[5, HOUR, HOUR + HOUR / 100, 100 * HOUR]);
    assert_eq!((histogram.count(), histogram.count_above_hour()), (4, 2));
    assert!((histogram.quantile_us(1.0) / (100.0 * 3.6e9) - 1.0).abs() < 1e-3);
    histogram.merge(&histogram_of(&[1000 * HOUR]));
    assert_eq!(histogram.count_above_hour(), 3);
    assert_eq!(Histogram::from_text(&histogram.to_text()).unwrap().count_above_hour(), 3);
}

#[test]
fn without_values_there_is_no_time() {
    let none = Histogram::new();
    assert_eq!((none.count(), none.count_above_hour()), (0, 0));
    assert!(none.quantile_us(0.5) == 0.0 && none.mean_us() == 0.0);
    assert_eq!(Histogram::from_text(&none.to_text()).unwrap().count(), 0);
    for bad in ["", "no", "AAAA", "HISTFAAAAAAA"] {
        assert!(Histogram::from_text(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_line_of_the_log_names_time_and_length() {
    let line = histogram_of(&[1_500_000]).interval_line("read", 0.75, 2.0);
    let (head, text) = line.rsplit_once(',').unwrap();
    assert_eq!(head, "Tag=read,0.750,2.000,1.500");
    assert_eq!(Histogram::from_text(text).unwrap().count(), 1);
    // The magic number of the compressed V2 format in base64.
    assert!(text.starts_with("HISTF"), "{text}");
    assert!(interval_log_head(1.0).starts_with("#[Histogram log format version 1.3]\n"));
}
