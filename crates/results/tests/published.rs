//! Tests of published results, their scoring formula, and their file format.

use std::path::Path;

use jsonathlon_results::ResultsError;
use jsonathlon_results::challenge::jsonbench::{
    ResultFile, parse_result_files, read_result_files, scale_name,
};
use jsonathlon_results::challenge::published::{PublishedResult, published_results, snapshots};
use jsonathlon_results::challenge::score::{QUESTIONS, Score, ScoreInput, Suspects, Times, hot_time, scores};
use proptest::prelude::*;

const ALL: [usize; QUESTIONS] = [0, 1, 2, 3, 4];

fn of<'a>(all: &'a [PublishedResult], snapshot: &str, source: &str) -> &'a PublishedResult {
    all.iter().find(|one| one.snapshot == snapshot && one.source == source).unwrap()
}

#[test]
fn the_published_hot_scores_come_out() {
    let all = published_results().unwrap();
    let shown: Vec<&PublishedResult> = all
        .iter()
        .filter(|one| one.snapshot == "2025-11" && one.scale == 1_000_000_000)
        .filter(|one| one.retains_structure == Some(true))
        .collect();
    let entrants: Vec<ScoreInput> = shown.iter().map(|one| one.score_input()).collect();
    let mut found: Vec<(&str, String)> = shown
        .iter()
        .zip(scores(&entrants, &ALL))
        .map(|(one, score)| (one.system.as_str(), format!("{:.2}", score.hot.unwrap())))
        .collect();
    found.sort_by(|a, b| a.1.parse::<f64>().unwrap().total_cmp(&b.1.parse().unwrap()));
    let expected = [
        ("ClickHouse", "1.08"),
        ("Starrocks", "1.85"),
        ("Apache Doris", "2.32"),
        ("Elasticsearch", "14.63"),
        ("SingleStore", "84.99"),
        ("MongoDB", "1218.81"),
        ("DuckDB", "4779.96"),
        ("PostgreSQL", "5691.31"),
    ];
    assert_eq!(found, expected.map(|(system, score)| (system, score.to_owned())));
}

#[test]
fn every_published_result_is_whole() {
    let all = published_results().unwrap();
    let count = |snapshot| all.iter().filter(|one| one.snapshot == snapshot).count();
    assert_eq!(snapshots().map(count).collect::<Vec<_>>(), [52, 44]);
    for one in &all {
        assert!([1_000_000, 10_000_000, 100_000_000, 1_000_000_000].contains(&one.scale), "{one:?}");
        assert!(one.source.contains(&format!("_{}", scale_name(one.scale))), "{one:?}");
        assert!(one.loaded_documents > 0 && one.loaded_documents <= one.scale, "{one:?}");
        assert!(one.cold.iter().chain(&one.hot).all(|time| time.unwrap() > 0.0), "{one:?}");
        assert_eq!(one.date.is_some(), one.snapshot == "2025-11");
        let alike =
            all.iter().filter(|other| (&other.snapshot, &other.source) == (&one.snapshot, &one.source));
        assert_eq!(alike.count(), 1, "{one:?}");
    }
    // One result with three runs per question, checked by hand.
    let one = of(&all, "2025-02", "clickhouse/results/m6i.8xlarge_bluesky_1m_lz4.json");
    assert_eq!(one.hot, [0.004, 0.023, 0.01, 0.017, 0.017].map(Some));
    assert_eq!((one.cold[4], one.tags.as_slice()), (Some(0.038), &["lz4".to_owned()][..]));
}

/// A result and the names of its suspected fields.
fn field<'a>(
    all: &'a [PublishedResult],
    snapshot: &str,
    source: &str,
) -> (&'a PublishedResult, Vec<&'a str>) {
    let one = of(all, snapshot, source);
    (one, one.suspected_errors.iter().map(|one| one.field.as_str()).collect())
}

#[test]
fn what_is_suspected_is_odd_in_the_figures_themselves() {
    let all = published_results().unwrap();
    let (mongo, fields) = field(&all, "2025-11", "mongodb/results/m6i.8xlarge_bluesky_1m.json");
    assert_eq!(fields, ["total_bytes"]);
    assert!(mongo.total_bytes.unwrap() < mongo.loaded_documents);

    let (shifted, fields) = field(&all, "2025-11", "postgresql/results/m6i.8xlarge_bluesky_1000m.json");
    assert_eq!(fields, ["seconds"]);
    assert!(shifted.hot[1].unwrap() < shifted.cold[1].unwrap() / 7.0);
    assert!(shifted.hot[3] > shifted.cold[3]);

    for (snapshot, rest) in [("2025-11", "1m.json"), ("2025-02", "1m_best_compression.json")] {
        let elastic = "elasticsearch/results/m6i.8xlarge_bluesky";
        let (with, fields) = field(&all, snapshot, &format!("{elastic}_source_{rest}"));
        assert_eq!(fields, ["total_bytes"]);
        let (without, fields) = field(&all, snapshot, &format!("{elastic}_no_source_{rest}"));
        assert_eq!(fields, ["total_bytes"]);
        let ratio = with.total_bytes.unwrap() as f64 / without.total_bytes.unwrap() as f64;
        assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
    }

    let snappy = |scale| format!("mongodb/results/m6i.8xlarge_bluesky_{scale}_snappy.json");
    let (ten, hundred) = (field(&all, "2025-02", &snappy("10m")), field(&all, "2025-02", &snappy("100m")));
    assert_eq!((ten.1, hundred.1), (vec!["seconds"], vec!["seconds"]));
    assert_eq!((ten.0.cold, ten.0.hot), (hundred.0.cold, hundred.0.hot));

    let renamed = "elasticsearch/results/m6i.8xlarge_bluesky_no_source_100m";
    let (one, fields) = field(&all, "2025-02", &format!("{renamed}_best_compression.json"));
    assert_eq!((fields, one.total_bytes), (vec!["data_bytes"], None));
    assert_eq!(one.data_bytes, of(&all, "2025-11", &format!("{renamed}.json")).total_bytes);

    assert_eq!(all.iter().map(|one| one.suspected_errors.len()).sum::<usize>(), 9, "each is looked at above");
}

#[test]
fn a_missing_time_counts_as_twice_the_worst_or_two_hours() {
    let entrant = |seconds: Option<f64>| ScoreInput { hot: [seconds; QUESTIONS], ..ScoreInput::default() };
    let hot = |entrants: &[ScoreInput]| -> Vec<f64> {
        scores(entrants, &ALL).into_iter().map(|score| score.hot.unwrap()).collect()
    };
    let found = hot(&[entrant(Some(0.99)), entrant(None)]);
    assert!((found[0] - 1.0).abs() < 1e-9 && (found[1] - 7200.01).abs() < 1e-6, "{found:?}");
    let found = hot(&[entrant(Some(0.99)), entrant(Some(4999.99)), entrant(None)]);
    assert!((found[1] - 5000.0).abs() < 1e-6 && (found[2] - 9999.99).abs() < 1e-6, "{found:?}");
    // No entrant has a cold time, so there is no score.
    assert!(scores(&[entrant(Some(1.0))], &ALL)[0].cold.is_none());
    assert!(scores(&[entrant(Some(1.0))], &[])[0].hot.is_none());
}

/// One published size is less than one byte per document: a hundred times too small, and the smallest of all.
#[test]
fn a_suspected_size_is_no_baseline_of_the_published_ones() {
    let all = published_results().unwrap();
    let shown: Vec<&PublishedResult> =
        all.iter().filter(|one| one.snapshot == "2025-11" && one.scale == 1_000_000).collect();
    let entrants: Vec<ScoreInput> = shown.iter().map(|one| one.score_input()).collect();
    let found = scores(&entrants, &ALL);
    let smallest =
        shown.iter().zip(&found).min_by_key(|(one, _)| one.total_bytes.unwrap_or(u64::MAX)).unwrap();
    assert_eq!((smallest.0.system.as_str(), smallest.0.total_bytes), ("MongoDB", Some(954_368)));
    assert!(smallest.1.size.unwrap() < 0.02, "{:?}", smallest.1);
    let sound = shown.iter().zip(&found).filter(|(one, _)| one.suspected_errors.is_empty());
    let sizes: Vec<f64> = sound.filter_map(|(_, score)| score.size).collect();
    assert_eq!(sizes.iter().copied().fold(f64::MAX, f64::min), 1.0);
    // If nothing else is left, there is no baseline at all.
    let alone = ScoreInput { suspected: Suspects { times: true, size: true }, ..entrants[0].clone() };
    assert_eq!(scores(&[alone], &ALL), [Score::default()]);
}

#[test]
fn a_hot_time_needs_both_runs() {
    assert_eq!(hot_time(&[Some(0.1), Some(3.0), Some(2.0)]), Some(2.0));
    assert_eq!(hot_time(&[Some(0.1), Some(3.0), None]), None);
    assert_eq!(hot_time(&[Some(0.1), Some(3.0)]), Some(3.0));
    assert_eq!(hot_time(&[Some(0.1)]), None);
    assert_eq!(hot_time(&[]), None);
}

#[test]
fn files_as_others_publish_them_are_read_and_what_is_none_is_not() {
    let text = r#"{"system": "S", "version": "1", "os": "O", "date": "2025-03-14", "machine": "M",
        "retains_structure": "yes", "tags": [], "dataset_size": 10, "num_loaded_documents": 9, "total_size": 8,
        "index_size": 0, "result": [[1, 2, 3], [1.5, null, 3], [null, null, null], [1, 2, 3], [1, 2, 3]],
        "memory_usage": [[null, null, null], [null, null, null], [null, null, null], [7, 8, 9], [1, 2, 3]],
        "comment": "of which nothing is known here"}"#;
    let [file] = &parse_result_files(Path::new("a.json"), text).unwrap()[..] else { panic!("not one file") };
    assert_eq!(file.score_input().hot, [Some(2.0), None, None, Some(2.0), Some(2.0)]);
    assert_eq!((file.index_size, file.data_size), (Some(0), None));
    for (from, to) in [
        (", [1, 2, 3]],", "],"),
        ("[1.5, null, 3]", "[1.5, null]"),
        ("\"total_size\": 8", "\"total_size\": -8"),
        ("\"version\": \"1\",", ""),
        ("1.5", "\"1.5\""),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text);
        let error = parse_result_files(Path::new("a.json"), &broken).unwrap_err();
        assert!(matches!(error, ResultsError::Corrupt { .. }), "{to}: {error}");
        assert!(error.to_string().contains("a.json"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(read_result_files(folder.path()), Err(ResultsError::Missing(_))));
    assert!(matches!(read_result_files(&folder.path().join("none")), Err(ResultsError::Missing(_))));
    std::fs::write(folder.path().join("b.json"), format!("[{text}, {text}]")).unwrap();
    std::fs::write(folder.path().join("a.json"), text.replace("\"S\"", "\"A\"")).unwrap();
    std::fs::write(folder.path().join("c.txt"), "no result").unwrap();
    let names: Vec<String> =
        read_result_files(folder.path()).unwrap().into_iter().map(|file| file.system).collect();
    assert_eq!(names, ["A", "S", "S"]);
}

fn time() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![1 => Just(None), 6 => (0.0..20_000.0_f64).prop_map(Some), 3 => (0.0..0.1_f64).prop_map(Some)]
}

fn times() -> impl Strategy<Value = Times> {
    [time(), time(), time(), time(), time()]
}

fn entrant() -> impl Strategy<Value = ScoreInput> {
    (times(), times(), proptest::option::of(1..u64::MAX / 2)).prop_map(|(cold, hot, total_bytes)| {
        ScoreInput { cold, hot, total_bytes, suspected: Suspects::default() }
    })
}

/// Times in seconds with the nanosecond resolution of clocks.
fn nanoseconds() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of((0..9_000_000_000_000_000_u64).prop_map(|time| time as f64 / 1e9))
}

prop_compose! {
    fn result_file()(
        words in [".*", ".*", ".*", ".*", ".*"],
        tags in proptest::collection::vec(".*", 0..4),
        numbers in [any::<u64>(), any::<u64>(), any::<u64>()],
        sizes in [any::<Option<u64>>(), any::<Option<u64>>()],
        result in proptest::collection::vec([nanoseconds(), nanoseconds(), nanoseconds()], QUESTIONS),
        memory in proptest::option::of(any::<[[Option<u64>; 3]; QUESTIONS]>()),
        load_time in nanoseconds(),
        retains in any::<bool>(),
    ) -> ResultFile {
        let [system, version, os, date, machine] = words;
        ResultFile {
            system, version, os, date, machine,
            retains_structure: if retains { "yes" } else { "no" }.to_owned(),
            tags,
            dataset_size: numbers[0],
            num_loaded_documents: numbers[1],
            total_size: numbers[2],
            data_size: sizes[0],
            index_size: sizes[1],
            result: result.try_into().unwrap(),
            memory_usage: memory,
            load_time,
        }
    }
}

proptest! {
    /// Suspected results never affect the scores of others, whatever their values.
    #[test]
    fn what_is_suspected_measures_nobody(
        entrants in proptest::collection::vec(entrant(), 1..8),
        suspect in entrant(),
        place in 0..8_usize,
    ) {
        let without = scores(&entrants, &ALL);
        let place = place % (entrants.len() + 1);
        let mut with = entrants;
        with.insert(place, ScoreInput { suspected: Suspects { times: true, size: true }, ..suspect });
        let mut found = scores(&with, &ALL);
        found.remove(place);
        prop_assert_eq!(found, without);
    }

    #[test]
    fn nobody_is_better_than_one_and_order_does_not_matter(
        entrants in proptest::collection::vec(entrant(), 1..8),
        questions in proptest::sample::subsequence(ALL.to_vec(), 1..=QUESTIONS),
        turned in 0..8_usize,
    ) {
        let found = scores(&entrants, &questions);
        prop_assert_eq!(found.len(), entrants.len());
        for score in &found {
            for one in [score.cold, score.hot, score.size].into_iter().flatten() {
                prop_assert!(one >= 1.0 - 1e-12 && one.is_finite(), "{}", one);
            }
        }
        let turned = turned % entrants.len();
        let (mut other, mut expected) = (entrants.clone(), found.clone());
        other.rotate_left(turned);
        expected.rotate_left(turned);
        prop_assert_eq!(scores(&other, &questions), expected);
        let mut backwards = questions.clone();
        backwards.reverse();
        for (one, same) in scores(&entrants, &backwards).iter().zip(&found) {
            prop_assert!(one.hot.zip(same.hot).is_none_or(|(a, b)| (a / b - 1.0).abs() < 1e-12));
        }
    }

    #[test]
    fn who_is_best_in_everything_has_one_and_a_slower_time_is_never_better(
        mut entrants in proptest::collection::vec(entrant(), 1..8),
        slower in 1.001..100.0_f64,
        question in 0..QUESTIONS,
    ) {
        let best = |of: fn(&ScoreInput) -> &Times| -> Times {
            std::array::from_fn(|q| {
                let times = entrants.iter().filter_map(|one| of(one)[q]);
                Some(times.fold(20_000.0, f64::min))
            })
        };
        let first = ScoreInput {
            cold: best(|one| &one.cold),
            hot: best(|one| &one.hot),
            total_bytes: Some(1),
            suspected: Suspects::default(),
        };
        entrants.push(first);
        let found = scores(&entrants, &ALL);
        let last = found.last().unwrap();
        prop_assert_eq!((last.cold, last.hot, last.size), (Some(1.0), Some(1.0), Some(1.0)));

        let before = found[0].hot.unwrap();
        if let Some(time) = &mut entrants[0].hot[question] {
            *time = *time * slower + 0.001;
            prop_assert!(scores(&entrants, &ALL)[0].hot.unwrap() > before);
        }
    }

    #[test]
    fn what_is_written_is_read_back_to_the_same_values(files in proptest::collection::vec(result_file(), 0..3)) {
        let text = serde_json::to_string_pretty(&files).unwrap();
        prop_assert_eq!(&parse_result_files(Path::new("a"), &text).unwrap(), &files);
        for file in files {
            let text = serde_json::to_string(&file).unwrap();
            prop_assert_eq!(parse_result_files(Path::new("a"), &text).unwrap(), vec![file]);
        }
    }

    #[test]
    fn a_file_that_is_cut_off_is_refused(file in result_file(), share in 0.0..1.0_f64) {
        let text = serde_json::to_string(&file).unwrap();
        let mut end = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        prop_assert!(parse_result_files(Path::new("a"), &text[..end]).is_err());
    }
}
