//! Tests of staging: its output byte by byte, and its behaviour on failures.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::reference::Reference;
use jsonathlon_dataset::scan::{Traits, scan};
use jsonathlon_dataset::skipped_entries::{SkipReason, SkippedEntry};
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{
    CLEAN_FILE, IgnoreDocuments, Progress, SUSPECTS_FILE, StageOptions, StagedDocuments, stage,
};
use proptest::prelude::*;

use crate::common::{Answered, did, event, event_text, gzip, lines, staged, write, zstd};

/// The reference answers without the rejected documents, computed by reading again.
fn without(staged: &StagedDocuments, rejected: &HashSet<u64>) -> Result<Reference, DataError> {
    let mut reference = Reference::default();
    staged.visit_clean_except(rejected, &mut reference)?;
    Ok(reference)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn digest(ndjson: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(ndjson).to_hex())
}

fn reference(lines: &[&[u8]]) -> Reference {
    let mut reference = Reference::default();
    lines.iter().for_each(|line| reference.observe(&scan(line).event));
    reference
}

/// Checks everything that holds for any staging of these lines, none of which may be blank.
fn check(staged: &Answered, lines: &[&[u8]]) {
    let is_document = |line: &[u8]| !scan(line).traits.intersects(Traits::NO_DOCUMENT);
    let (documents, others): (Vec<&[u8]>, Vec<&[u8]>) = lines.iter().partition(|line| is_document(line));
    let found: Vec<_> = staged.no_documents.iter().map(|one| Some(one.fault)).collect();
    assert_eq!(found, others.iter().map(|line| scan(line).fault).collect::<Vec<_>>());
    let suspicious = |line: &[u8]| scan(line).traits.intersects(Traits::SUSPECT);
    let clean: Vec<&[u8]> = documents.iter().copied().filter(|line| !suspicious(line)).collect();
    let ndjson: Vec<u8> = documents.iter().flat_map(|line| [line, b"\n".as_slice()].concat()).collect();
    assert_eq!((staged.documents, staged.bytes), (documents.len() as u64, ndjson.len() as u64));
    assert_eq!(staged.digest, digest(&ndjson));
    let clean_ndjson: Vec<u8> = clean.iter().flat_map(|line| [line, b"\n".as_slice()].concat()).collect();
    assert_eq!((staged.clean_documents, staged.clean_bytes), (clean.len() as u64, clean_ndjson.len() as u64));
    let mut content = std::fs::read(&staged.clean_file).unwrap();
    if content.len() + 1 == clean_ndjson.len() {
        content.push(b'\n');
    }
    assert!(content == clean_ndjson);
    assert_eq!(staged.reference.answers(), reference(&clean).answers());
    let mut suspects = staged.suspects.iter();
    for (ordinal, line) in documents.iter().enumerate().filter(|(_, line)| suspicious(line)) {
        let suspect = suspects.next().unwrap();
        assert_eq!(suspect.ordinal, ordinal as u64);
        assert_eq!(staged.suspect_bytes(suspect).unwrap(), *line);
        assert_eq!(suspect.traits, scan(line).traits);
    }
    assert!(suspects.next().is_none());
    let mut places = (0..documents.len()).filter(|place| !suspicious(documents[*place]));
    for clean_ordinal in 0..clean.len() as u64 {
        assert_eq!(staged.offered_ordinal(clean_ordinal), places.next().unwrap() as u64);
    }
    for sample in &staged.samples {
        assert_eq!(sample.line, documents[sample.ordinal as usize]);
        assert!(!suspicious(&sample.line));
    }
    assert_eq!(staged.samples.len(), clean.len().min(1_000));
}

fn split(text: &str) -> Vec<&[u8]> {
    text.lines().map(str::as_bytes).collect()
}

#[test]
fn one_clean_plain_file_is_loaded_where_it_is() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(3_000);
    for content in [text.as_str(), text.trim_end()] {
        let file = write(data.path(), "a.json", content);
        let staged = staged(&Source::Path(file.clone()), folder.path()).unwrap();
        check(&staged, &split(&text));
        assert_eq!(staged.clean_file, file);
        assert_eq!(names(folder.path()), [""; 0]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
}

#[test]
fn compressed_files_and_folders_are_loaded_from_a_copy() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(3_000);
    let (first, second) = text.split_at(text.find("\n{").map(|at| at + 1).unwrap());
    write(data.path(), "a.json.gz", gzip(first));
    write(data.path(), "b.json", second.trim_end());
    write(data.path(), "notes.md", "-");
    let from_folder = staged(&Source::Path(data.path().into()), folder.path()).unwrap();
    check(&from_folder, &split(&text));
    assert_eq!(from_folder.clean_file, folder.path().join(CLEAN_FILE));
    assert_eq!(names(folder.path()), [CLEAN_FILE]);
    let notes =
        SkippedEntry { path: data.path().join("notes.md"), reason: SkipReason::Ending(Some("md".into())) };
    assert_eq!(from_folder.left_out, [notes]);
    // Each document is located in its own file.
    let places: Vec<String> =
        (0..3_000).map(|ordinal| from_folder.place(ordinal).unwrap().to_string()).collect();
    let (of_first, of_second) = (first.lines().count(), second.lines().count());
    let place = |name: &str, line: usize| format!("{}, line {line}", data.path().join(name).display());
    let expected = (1..=of_first).map(|line| place("a.json.gz", line));
    let expected = expected.chain((1..=of_second).map(|line| place("b.json", line)));
    assert_eq!(places, expected.collect::<Vec<_>>());
    assert_eq!(from_folder.place(3_000), None);
    let file = write(data.path(), "c.zst", zstd(&text));
    let from_file = staged(&Source::Path(file), folder.path()).unwrap();
    check(&from_file, &split(&text));
    assert_eq!(from_file.digest, from_folder.digest);
}

#[test]
fn a_file_whose_path_engines_misread_is_loaded_from_a_copy() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(10);
    for name in ["plain.gz", "a*.json", "{a,b}.json", "[a].json", "it's.json", "a\\b.json", "a\nb.json"] {
        let file = write(data.path(), name, &text);
        let copied = staged(&Source::Path(file), folder.path()).unwrap();
        check(&copied, &split(&text));
        assert_eq!(copied.clean_file, folder.path().join(CLEAN_FILE), "{name}");
    }
    // A symbolic link is treated as its target.
    let file = write(data.path(), "no ending", &text);
    std::os::unix::fs::symlink(&file, data.path().join("link.gz")).unwrap();
    let linked = staged(&Source::Path(data.path().join("link.gz")), folder.path()).unwrap();
    assert_eq!((linked.staged.clean_file, names(folder.path())), (file, Vec::new()));
}

#[test]
fn every_suspect_is_set_aside_with_its_bytes() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let clean = event(&did(1), 5, "create", "app.bsky.feed.post").to_string().into_bytes();
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(100_000_000)).into_bytes();
    let deep = [b"{\"a\":".repeat(101), b"1".to_vec(), b"}".repeat(101)].concat();
    let no_documents: [&[u8]; 2] = [b"{\"a\":1", b"{\"a\":\"\xff\"}"];
    let suspects: [(&[u8], &str); 6] = [
        (b"[1]", "not_object"),
        (b"{\"a\":1,\"a\":2}", "duplicate_keys"),
        (b"{\"a\":\"\\ud800\"}", "lone_surrogate"),
        (&deep, "deep"),
        (&large, "large"),
        (b"{\"a\":1e999}", "big_number"),
    ];
    let nul: &[u8] = b"{\"a\":\"\\u0000\"}";
    let mut documents: Vec<&[u8]> = vec![&clean, nul];
    for line in suspects.iter().map(|(line, _)| *line).chain(no_documents) {
        documents.extend([line, clean.as_slice()]);
    }
    let content: Vec<u8> = documents.iter().flat_map(|line| [line, b"\n".as_slice()].concat()).collect();
    let file = write(data.path(), "a.json", content);
    let staged = staged(&Source::Path(file.clone()), folder.path()).unwrap();
    check(&staged, &documents);
    assert_eq!(names(folder.path()), [CLEAN_FILE, SUSPECTS_FILE]);
    let found: Vec<String> = staged.suspects.iter().map(|suspect| suspect.traits.to_string()).collect();
    assert_eq!(found, suspects.map(|(_, name)| name));
    let faults: Vec<String> =
        staged.no_documents.iter().map(|one| format!("{}: {}", one.place, one.fault)).collect();
    let name = file.display();
    assert_eq!(
        faults,
        [
            format!("{name}, line 15: ends inside an array or object at byte 6"),
            format!("{name}, line 17: invalid UTF-8 at byte 6"),
        ]
    );
    let last = staged.place(staged.documents - 1).unwrap();
    assert_eq!(last.line(), Some(18));

    let options = StageOptions {
        suspect_traits: Traits::SUSPECT | Traits::NUL_ESCAPE,
        measure_compressed_sizes: false,
        max_samples: 2,
    };
    let wider =
        stage(&Source::Path(file), folder.path(), options, &mut IgnoreDocuments, &mut |_| (), &|| false)
            .unwrap();
    assert_eq!((wider.suspects.len(), wider.suspects[0].ordinal, wider.samples.len()), (7, 1, 2));
    assert_eq!(wider.suspect_bytes(&wider.suspects[0]).unwrap(), nul);
}

#[test]
fn blank_lines_and_carriage_returns_are_no_part_of_the_data() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(3_000);
    let plain = staged(&Source::Path(write(data.path(), "a.json", &text)), folder.path()).unwrap();
    let variants = [
        text.replace('\n', "\r\n"),
        format!("\n{text}"),
        format!("{text}\n \n"),
        // Whole blocks of blank lines, at the end and in the middle.
        format!("{text}{}", "\n".repeat(2_000_000)),
        text.replacen('\n', &"\n".repeat(2_000_000), 1),
    ];
    for (number, variant) in variants.into_iter().enumerate() {
        let file = write(data.path(), "b.json", &variant);
        let staged = staged(&Source::Path(file), folder.path()).unwrap();
        check(&staged, &split(&text));
        assert_eq!(staged.digest, plain.digest);
        assert_eq!(staged.blank_lines, [0, 1, 2, 2_000_000, 1_999_999][number]);
        assert_eq!(staged.clean_file, folder.path().join(CLEAN_FILE));
    }
}

#[test]
fn a_suspect_after_many_clean_blocks_brings_all_of_them_along() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(20_000) + "{\"a\":1,\"a\":2}\n" + &lines(3);
    let staged = staged(&Source::Path(write(data.path(), "a.json", &text)), folder.path()).unwrap();
    check(&staged, &split(&text));
    assert_eq!(staged.suspects.len(), 1);
}

#[test]
fn what_is_no_json_is_no_document_and_changes_nothing_about_the_others() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(20_000);
    let whole = staged(&Source::Path(write(data.path(), "a.json", &text)), folder.path()).unwrap();
    let spoilt = format!("{}\n{{\"cut\":\n{text}\u{feff}{{}}\nx", &text[..5]);
    let file = write(data.path(), "b.json", &spoilt);
    let options = StageOptions::default();
    let with = stage(
        &Source::Path(file.clone()),
        folder.path(),
        options,
        &mut IgnoreDocuments,
        &mut |_| (),
        &|| false,
    )
    .unwrap();
    assert_eq!((with.documents, with.bytes, &with.digest), (20_000, whole.bytes, &whole.digest));
    assert_eq!(with.compressed_sizes.unwrap().raw, whole.bytes);
    let lines: Vec<u64> = with.no_documents.iter().filter_map(|one| one.place.line()).collect();
    assert_eq!(lines, [1, 2, 20_003, 20_004]);
    assert_eq!(with.place(0).unwrap().line(), Some(3));
    assert_eq!(with.place(19_999).unwrap().line(), Some(20_002));
    assert!(std::fs::read_to_string(&with.clean_file).unwrap() == text);
}

#[test]
fn a_byte_order_mark_is_not_handed_on() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(3);
    for number in 0..2 {
        write(data.path(), &format!("{number}.json"), format!("\u{feff}{text}"));
    }
    let file = staged(&Source::Path(data.path().join("0.json")), folder.path()).unwrap();
    check(&file, &split(&text));
    assert_eq!(file.clean_file, folder.path().join(CLEAN_FILE), "engines are not given the mark");
    let both = staged(&Source::Path(data.path().into()), folder.path()).unwrap();
    check(&both, &split(&(text.clone() + &text)));
}

#[test]
fn what_an_earlier_staging_left_does_not_stay() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bad = write(data.path(), "bad.json", lines(10) + "{\n[]\n");
    staged(&Source::Path(bad), folder.path()).unwrap();
    assert_eq!(names(folder.path()), [CLEAN_FILE, SUSPECTS_FILE]);
    let good = write(data.path(), "good.json", lines(10));
    staged(&Source::Path(good), folder.path()).unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
    // A source at the path of its own copy is not removed.
    let own = write(folder.path(), CLEAN_FILE, lines(10));
    let again = staged(&Source::Path(own.clone()), folder.path()).unwrap();
    assert_eq!((again.staged.clean_file, names(folder.path())), (own, vec![CLEAN_FILE.to_string()]));
}

#[test]
fn a_source_where_its_copy_has_to_go_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = lines(10) + "[]\n";
    let own = write(folder.path(), CLEAN_FILE, &text);
    let error = staged(&Source::Path(own.clone()), folder.path()).unwrap_err();
    assert!(error.to_string().contains("another folder"), "{error}");
    assert_eq!(std::fs::read_to_string(own).unwrap(), text);
}

#[test]
fn generated_events_are_staged_and_sized() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::Generated { seed: 5, start: 0, documents: 4_000, malformed: 0 };
    let mut seen = Vec::new();
    let mut reference = Reference::default();
    let staged = stage(
        &source,
        folder.path(),
        StageOptions::default(),
        &mut reference,
        &mut |progress| seen.push(progress),
        &|| false,
    )
    .unwrap();
    assert_eq!(staged.documents, 4_000);
    let content = std::fs::read(&staged.clean_file).unwrap();
    assert_eq!(staged.digest, digest(&content));
    let documents: Vec<&[u8]> = content.strip_suffix(b"\n").unwrap().split(|byte| *byte == b'\n').collect();
    let staged = Answered { staged, reference };
    check(&staged, &documents);
    // Progress of generated documents is counted in documents, also at the end.
    assert!(source.is_generated() && !Source::Path(staged.staged.clean_file.clone()).is_generated());
    let last = seen.pop().unwrap();
    let whole =
        Progress { documents: 4_000, bytes: staged.bytes, suspects: 0, done: 4_000, total: Some(4_000) };
    assert_eq!(last, whole);
    assert!(!seen.is_empty() && seen.is_sorted_by_key(|progress| progress.documents));

    let sizes = staged.compressed_sizes.unwrap();
    assert_eq!(sizes.raw, staged.bytes);
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    std::io::Write::write_all(&mut encoder, &content).unwrap();
    let expected = [
        (sizes.gzip6, gzip(&content).len()),
        (sizes.zstd1, zstd(&content).len()),
        (sizes.lz4, encoder.finish().unwrap().len()),
    ];
    for (size, alone) in expected {
        let ratio = size as f64 / alone as f64;
        assert!((0.98..1.02).contains(&ratio), "{size} {alone}");
    }
}

#[test]
fn planted_bad_lines_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::Generated { seed: 5, start: 0, documents: 4_000, malformed: 23 };
    let staged = staged(&source, folder.path()).unwrap();
    assert_eq!((staged.documents, staged.no_documents.len(), staged.suspects.len()), (3_977, 23, 0));
    assert_eq!(staged.clean_documents, 3_977);
}

#[test]
fn samples_are_spread_over_the_clean_documents() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(12_345);
    let file = write(data.path(), "a.json", &text);
    let staged = staged(&Source::Path(file), folder.path()).unwrap();
    check(&staged, &split(&text));
    let ordinals: Vec<u64> = staged.samples.iter().map(|sample| sample.ordinal).collect();
    assert!(ordinals.is_sorted() && ordinals[0] == 0 && ordinals[999] > 12_300);
    assert!(ordinals.windows(2).all(|pair| pair[1] - pair[0] <= 3 * 13));
}

#[test]
fn the_answers_without_rejected_documents() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text = lines(100) + "{\"cut\n" + &lines(900);
    let staged = staged(&Source::Path(write(data.path(), "a.json", &text)), folder.path()).unwrap();
    let clean: Vec<&[u8]> = split(&text).into_iter().filter(|line| *line != b"{\"cut").collect();
    let rejected: HashSet<u64> = [0, 7, 100, 999].into();
    let kept: Vec<&[u8]> = (0..1_000)
        .filter(|ordinal| !rejected.contains(ordinal))
        .map(|ordinal| clean[ordinal as usize])
        .collect();
    let rest = without(&staged, &rejected).unwrap();
    assert_eq!(rest.answers(), reference(&kept).answers());
    assert_ne!(rest.answers().rows(Question::Q1), staged.reference.answers().rows(Question::Q1));
    assert_eq!(without(&staged, &HashSet::new()).unwrap().answers(), staged.reference.answers());
    std::fs::write(&staged.clean_file, lines(7)).unwrap();
    let error = without(&staged, &rejected).unwrap_err();
    assert!(matches!(error, DataError::Changed { expected: 1_000, found: 7, .. }), "{error}");
}

#[test]
fn the_answers_with_accepted_suspects() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let like = "app.bsky.feed.like";
    let text = format!(
        "{}\n{}\n{}\n",
        event(&did(1), 1, "create", like),
        format_args!(
            r#"{{"a":1,"a":2,"did":"{}","kind":"commit","commit":{{"operation":"create","collection":"{like}"}}}}"#,
            did(2)
        ),
        r#"{"kind":"commit","x""#,
    );
    let staged = staged(&Source::Path(write(data.path(), "a.json", text)), folder.path()).unwrap();
    let mut with = staged.reference.clone();
    staged.visit_suspects(staged.suspects.iter().filter(|suspect| suspect.ordinal == 1), &mut with).unwrap();
    let counts = |reference: &Reference| reference.answers().rows(Question::Q2)[0][1..].to_vec();
    assert_eq!(format!("{:?}", counts(&staged.reference)), "[Int(1), Int(1)]");
    assert_eq!(format!("{:?}", counts(&with)), "[Int(2), Int(2)]");
    std::fs::remove_file(folder.path().join(SUSPECTS_FILE)).unwrap();
    assert!(staged.visit_suspects(&staged.suspects, &mut with).is_err());
}

#[test]
fn data_without_a_single_object_is_refused() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let pretty = "[\n  1,\n  [\n    2\n  ]\n]\n";
    for (content, count) in [
        (pretty.to_string(), "2 documents"),
        ("[1,\"{}\",null]".to_string(), "3 documents"),
        // This one must be rejected without being read to its end.
        ("did,time_us\n".repeat(1_000_000), "documents"),
    ] {
        let length = content.len() as u64;
        let file = write(data.path(), "a.json", content);
        let mut done = 0;
        let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
        let error = stage(
            &Source::Path(file),
            folder.path(),
            options,
            &mut IgnoreDocuments,
            &mut |progress| done = progress.bytes,
            &|| false,
        )
        .unwrap_err();
        assert!(matches!(error, DataError::NotLines { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(count) && message.contains("newline-delimited"), "{message}");
        assert!(done < length.max(6_000_000), "{done}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn data_that_is_for_the_most_part_no_json_is_refused_and_a_part_of_it_is_not() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // One good document must not make the program remember a billion bad ones.
    let file = write(data.path(), "a.json", "{}\n".to_owned() + &"x\n".repeat(3_000_000));
    let error = staged(&Source::Path(file), folder.path()).unwrap_err();
    assert!(matches!(error, DataError::MostlyUnreadable { .. }), "{error}");
    assert!(error.to_string().contains("newline-delimited"), "{error}");
    assert_eq!(names(folder.path()), [""; 0]);
    // Neither must one good document per bad one.
    let file = write(data.path(), "b.json", "{}\nx\n".repeat(1_000_000));
    let error = staged(&Source::Path(file), folder.path()).unwrap_err();
    assert!(matches!(error, DataError::MostlyUnreadable { .. }), "{error}");
    // Many bad lines among many more good ones are left out.
    let file = write(data.path(), "c.json", ("{}\n".repeat(10) + "x\n").repeat(120_000));
    let staged = staged(&Source::Path(file), folder.path()).unwrap();
    assert_eq!((staged.documents, staged.no_documents.len()), (1_200_000, 120_000));
}

#[test]
fn nothing_stays_behind_when_reading_fails() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = gzip(lines(30_000) + "{\n" + &lines(30_000));
    let file = write(data.path(), "a.json.gz", &whole[..whole.len() - 5]);
    let error = staged(&Source::Path(file), folder.path()).unwrap_err();
    assert!(matches!(error, DataError::Truncated { .. }), "{error}");
    assert_eq!(names(folder.path()), [""; 0]);
    let error = staged(&Source::Path("/nowhere/a.json".into()), folder.path()).unwrap_err();
    assert!(matches!(error, DataError::NotFound { .. }), "{error}");
}

#[test]
fn a_full_disk_is_told_and_cleared() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = write(data.path(), "a.json.gz", gzip(lines(10) + "[]\n"));
    for name in [CLEAN_FILE, SUSPECTS_FILE] {
        std::os::unix::fs::symlink("/dev/full", folder.path().join(name)).unwrap();
        let error = staged(&Source::Path(file.clone()), folder.path()).unwrap_err();
        assert!(matches!(error, DataError::DiskFull { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(name) && message.contains("free some space"), "{message}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn a_staging_folder_that_cannot_be_is_told() {
    let data = tempfile::tempdir().unwrap();
    let file = write(data.path(), "a.json", lines(1));
    let error = staged(&Source::Path(file.clone()), &file.join("below")).unwrap_err();
    assert!(error.to_string().contains("failed to write") && error.to_string().contains("below"), "{error}");
}

#[test]
fn cancelling_stops_at_once_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let endless = Source::Generated { seed: 1, start: 0, documents: 1 << 40, malformed: 0 };
    let start = Instant::now();
    let cancelled = || start.elapsed() > Duration::from_millis(200);
    let error = stage(
        &endless,
        folder.path(),
        StageOptions::default(),
        &mut IgnoreDocuments,
        &mut |_| (),
        &cancelled,
    )
    .unwrap_err();
    assert!(matches!(error, DataError::Cancelled), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(names(folder.path()), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_lines_are_staged_as_they_are(
        texts in proptest::collection::vec(prop_oneof![3 => event_text(), 1 => "[{}\"a:1\\[\\]]{1,20}"], 1..60),
        plain in any::<bool>(),
    ) {
        let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // A trailing carriage return would be parsed as part of the line ending.
        let texts: Vec<String> = texts.iter().map(|text| format!("{} ", text.trim())).collect();
        let text = texts.join("\n");
        let content = if plain { text.clone().into_bytes() } else { zstd(&text) };
        let source = Source::lines_of(write(data.path(), "a.json", content));
        let documents: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        match staged(&source, folder.path()) {
            Ok(staged) => check(&staged, &documents),
            Err(DataError::NotLines { .. }) => {
                prop_assert!(documents.iter().all(|line| scan(line).traits.intersects(Traits::UNREADABLE)));
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}
