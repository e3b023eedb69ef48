//! Tests of sources of every kind and of their errors.

use crate::common::{gzip, lines, read, write, zstd};
use jsonathlon_dataset::DataError;
use jsonathlon_dataset::generate::MAX_EVENTS;
use jsonathlon_dataset::source::{Block, LONGEST_LINE, Source};
use proptest::prelude::*;

fn path(path: impl Into<std::path::PathBuf>) -> Source {
    Source::Path(path.into())
}

fn failure(source: &Source) -> (DataError, String) {
    match read(source) {
        Ok(documents) => panic!("{source} gave {} documents", documents.len()),
        Err(error) => {
            let text = error.to_string();
            (error, text)
        }
    }
}

fn split(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

#[test]
fn plain_gzip_and_zstd_give_the_same_documents() {
    let folder = tempfile::tempdir().unwrap();
    // Several blocks, so that lines span block boundaries.
    let text = lines(5_000);
    let (first, second) = text.split_at(text.len() / 3);
    let stored = [
        ("plain.json", text.clone().into_bytes()),
        ("one.json.gz", gzip(&text)),
        ("members.gz", [gzip(first), gzip(second)].concat()),
        ("one.zst", zstd(&text)),
        ("frames.zst", [zstd(first), zstd(second)].concat()),
        // The format is detected from the content, because file names may be wrong.
        ("plain.gz", text.clone().into_bytes()),
        ("packed.json", gzip(&text)),
        ("data", zstd(&text)),
    ];
    for (name, content) in stored {
        let file = write(folder.path(), name, &content);
        assert_eq!(read(&path(&file)).unwrap(), split(&text), "{name}");
        let mut opened = path(&file).open().unwrap();
        let plain = content == text.as_bytes();
        assert_eq!(opened.plain_file(), plain.then_some(file.as_path()), "{name}");
        let mut block = Block::new();
        while opened.next_block(&mut block).unwrap() {
            assert!(!block.is_empty() && block.bytes().ends_with(b"\n"));
        }
        let tally = opened.tally();
        assert_eq!((tally.done, tally.total), (content.len() as u64, Some(content.len() as u64)), "{name}");
    }
}

#[test]
fn a_folder_is_read_in_the_order_of_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "b.json.gz", gzip("{\"n\":3}\n{\"n\":4}"));
    write(at, "a.ndjson", "{\"n\":1}\n{\"n\":2}");
    write(at, "c.jsonl.zst", zstd("{\"n\":5}\n"));
    write(at, "B.JSON", "{\"n\":0}");
    write(at, "empty.json", "");
    write(at, "notes.txt", "not a document\n");
    write(at, ".hidden.json", "{\"n\":9}\n");
    write(at, "old.tar.gz", gzip("{\"n\":7}\n"));
    write(at, "table.csv.gz", gzip("a,b\n"));
    std::fs::create_dir(at.join("d.json")).unwrap();
    std::fs::create_dir_all(at.join("more/.git")).unwrap();
    write(&at.join("more"), "x.json", "{\"n\":6}\n");
    write(&at.join("more/.git"), "x.json", "{\"n\":9}\n");
    std::os::unix::fs::symlink(at, at.join("again")).unwrap();
    let expected: Vec<Vec<u8>> = (0..8).map(|number| format!("{{\"n\":{number}}}").into_bytes()).collect();
    assert_eq!(read(&path(at)).unwrap(), expected);
    let opened = path(at).open().unwrap();
    let left_out = opened.inputs().left_out();
    let left_out: Vec<_> =
        left_out.iter().map(|one| one.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(left_out, [".hidden.json", "again", ".git", "notes.txt", "table.csv.gz"]);
    assert_eq!(opened.plain_file(), None);
    assert!(opened.tally().total > Some(30));
}

#[test]
fn a_folder_without_files_of_documents_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (error, text) = failure(&path(folder.path()));
    assert!(matches!(error, DataError::NothingReadable { .. }));
    assert!(text.contains("it is empty") && text.contains(".ndjson"), "{text}");
    for number in 0..5 {
        write(folder.path(), &format!("part{number}.7z"), "");
        std::fs::create_dir(folder.path().join(format!("part{number}"))).unwrap();
    }
    write(folder.path(), "README", "x");
    let (_, text) = failure(&path(folder.path()));
    let held = "it holds 5 archives (part0.7z, part1.7z, part2.7z, …), 1 file without an ending (README)";
    assert!(text.contains(held), "{text}");
    assert!(text.contains("name a file, or a folder that holds such files"), "{text}");
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let (error, text) = failure(&path("/nowhere/events.json"));
    assert!(matches!(error, DataError::NotFound { .. }));
    assert!(text.contains("/nowhere/events.json") && text.contains("check the spelling"), "{text}");
}

#[test]
fn emptiness_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, note) in [
        ("empty.json", Vec::new(), "holds no documents;"),
        ("one.json", b" \t\r".to_vec(), "only 1 blank line;"),
        ("blank.json", b"\n \r\n\n".to_vec(), "only 3 blank lines;"),
        ("packed.gz", gzip(""), "holds no documents;"),
    ] {
        let file = write(folder.path(), name, content);
        let (error, text) = failure(&path(&file));
        assert!(matches!(error, DataError::Empty { .. }));
        assert!(
            text.contains(name) && text.contains(note) && text.contains("JSON documents are expected"),
            "{text}"
        );
    }
    write(folder.path(), "one.json", "");
    assert!(matches!(failure(&path(folder.path())).0, DataError::Empty { blank_lines: 3, .. }));
}

#[test]
fn line_ends_of_all_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let file =
        write(folder.path(), "a.json", "\r\n{\"a\":1}\r\n\n  \n{\"a\":2} \r\n{\"a\":\r3}\n\r\r\n{\"a\":4}\r");
    let documents = read(&path(&file)).unwrap();
    assert_eq!(documents, [b"{\"a\":1}".as_slice(), b"{\"a\":2} ", b"{\"a\":\r3}", b"{\"a\":4}"]);
    let mut opened = path(&file).open().unwrap();
    while opened.next_block(&mut Block::new()).unwrap() {}
    let tally = opened.tally();
    assert_eq!((tally.blank_lines, tally.carriage_returns, tally.unterminated), (4, 5, 1));
}

#[test]
fn data_that_ends_too_early_is_told_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = lines(3_000);
    for (name, whole, format) in [("a.json.gz", gzip(&text), "gzip"), ("b.zst", zstd(&text), "zstd")] {
        for kept in [whole.len() - 3, whole.len() / 2, 20] {
            write(folder.path(), name, &whole[..kept]);
            let (error, message) = failure(&path(folder.path().join(name)));
            let DataError::Truncated { documents, .. } = error else { panic!("{error}") };
            assert!(
                message.contains(name) && message.contains(format) && message.contains("again"),
                "{message}"
            );
            assert!(documents <= 3_000 && (kept != whole.len() - 3 || documents > 1_000), "{message}");
        }
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
}

#[test]
fn damaged_data_is_told_with_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = lines(3_000);
    // With a checksum, as written by the `zstd` command; otherwise some damage could not be detected.
    let mut checked = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    checked.include_checksum(true).unwrap();
    std::io::Write::write_all(&mut checked, text.as_bytes()).unwrap();
    for (name, mut whole) in [("a.json.gz", gzip(&text)), ("b.zst", checked.finish().unwrap())] {
        let middle = whole.len() / 2;
        whole[middle..middle + 64].fill(0xff);
        let file = write(folder.path(), name, &whole);
        let (error, message) = failure(&path(file));
        assert!(matches!(error, DataError::Corrupt { .. }), "{error:?}");
        assert!(message.contains(name) && message.contains("damaged"), "{message}");
    }
    let file = write(folder.path(), "c.gz", [gzip("{}\n"), b"garbage behind the data".to_vec()].concat());
    assert!(matches!(failure(&path(file)).0, DataError::Corrupt { documents: 1, .. }));
}

#[test]
fn a_damaged_file_in_a_folder_is_the_one_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.json", "{}\n{}\n");
    let whole = gzip(lines(100));
    write(folder.path(), "b.json.gz", &whole[..whole.len() - 9]);
    let (_, message) = failure(&path(folder.path()));
    assert!(message.contains("b.json.gz") && !message.contains("a.json:"), "{message}");
    // The position counts documents from the start of the file.
    assert!(message.contains("after 100 whole documents"), "{message}");
}

#[test]
fn other_compressions_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.json", b"\x04\x22\x4d\x18rest");
    let (_, message) = failure(&path(file));
    assert!(message.contains("is LZ4 data") && message.contains("gzip or zstd"), "{message}");
}

/// A tar archive with one file, whose header has no checksum.
fn archive() -> Vec<u8> {
    let mut archive = vec![0; 2048];
    archive[..6].copy_from_slice(b"a.json");
    archive[257..263].copy_from_slice(b"ustar\0");
    archive[512..520].copy_from_slice(b"{\"a\":1}\n");
    archive
}

#[test]
fn damaged_archives_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("a.tar.gz", gzip(archive())),
        ("a.tar", archive()),
        ("a.json.gz", gzip(archive())),
        ("b.zst", zstd(archive())),
    ] {
        let file = write(folder.path(), name, content);
        let (error, message) = failure(&path(file));
        assert!(matches!(error, DataError::DamagedArchive { format: "tar", .. }), "{name}: {error:?}");
        assert!(message.contains(name) && message.contains("copy or download the file again"), "{message}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = ("\u{feff}{\"a\":1}\n{\"a\":2}\n", "\u{feff}{\"a\":3}");
    write(folder.path(), "1.json", one);
    write(folder.path(), "2.json.gz", gzip(two));
    // A byte order mark inside a string is text of the document; before a later document it is not valid
    // JSON.
    write(folder.path(), "3.json", "{\"a\":\"\u{feff}\"}\n\u{feff}{}\n");
    let documents = read(&path(folder.path())).unwrap();
    let expected = ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}", "{\"a\":\"\u{feff}\"}", "\u{feff}{}"];
    assert_eq!(documents, expected.map(|line| line.as_bytes().to_vec()));
    let mut opened = path(folder.path()).open().unwrap();
    while opened.next_block(&mut Block::new()).unwrap() {}
    assert_eq!(opened.tally().byte_order_marks, 2);
    let only = write(folder.path(), "4.json", "\u{feff}");
    assert!(matches!(failure(&path(only)).0, DataError::Empty { .. }));
}

#[test]
fn a_line_of_a_hundred_megabytes_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(100_000_000));
    let file = write(folder.path(), "a.json", format!("{{}}\n{long}\n{{\"b\":1}}\n"));
    let mut documents = path(&file).documents().unwrap();
    assert_eq!(documents.next_line().unwrap().unwrap(), b"{}");
    assert_eq!(documents.next_line().unwrap().unwrap(), long.as_bytes());
    assert_eq!(documents.next_line().unwrap().unwrap(), b"{\"b\":1}");
    assert!(documents.next_line().unwrap().is_none());
    assert!(documents.next_line().unwrap().is_none());
}

#[test]
fn endless_lines_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    // A few kilobytes that decompress to 300 MB without a newline.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    for _ in 0..300 {
        std::io::Write::write_all(&mut encoder, &vec![b' '; 1_000_000]).unwrap();
    }
    let content = [zstd("{}\n"), encoder.finish().unwrap()].concat();
    assert!(content.len() < 100_000);
    let file = write(folder.path(), "bomb.zst", content);
    let (error, message) = failure(&path(file));
    assert!(matches!(error, DataError::LineTooLong { limit: LONGEST_LINE, .. }), "{message}");
    let place = "bomb.zst, line 2 is longer than";
    assert!(message.contains(place) && message.contains("one document on each line"), "{message}");
}

#[test]
fn unreadable_files_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.json", "{}\n");
    let below = file.join("b.json");
    let (error, message) = failure(&path(&below));
    assert!(matches!(error, DataError::Io { action: "read", .. }), "{message}");
    assert!(message.contains("a.json/b.json"), "{message}");
}

/// Environment variable set for the child process of this test, which reads documents from standard input.
const WITH_INPUT: &str = "JSONATHLON_TEST_WITH_INPUT";

#[test]
fn standard_input_is_read() {
    if std::env::var_os(WITH_INPUT).is_some() {
        let documents = read(&Source::Stdin).unwrap();
        println!("\nread {} documents, the last {}", documents.len(), documents[documents.len() - 1].len());
        return;
    }
    let text = lines(20_000);
    let last = text.lines().next_back().unwrap().len();
    for content in [text.clone().into_bytes(), gzip(&text), zstd(&text)] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sources::standard_input_is_read", "--nocapture"])
            .env(WITH_INPUT, "1")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &content).unwrap();
        let output = child.wait_with_output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.contains(&format!("read 20000 documents, the last {last}")), "{output}");
    }
}

#[test]
fn generated_events_are_a_source() {
    let source = Source::Generated { seed: 3, start: 100, documents: 2_500, malformed: 0 };
    let all = read(&source).unwrap();
    assert_eq!(all.len(), 2_500);
    let half = read(&Source::Generated { seed: 3, start: 1_350, documents: 1_250, malformed: 0 }).unwrap();
    assert_eq!(half, all[1_250..]);
    assert_eq!(source.open().unwrap().tally().total, Some(2_500));
    let none = Source::Generated { seed: 3, start: 0, documents: 0, malformed: 0 };
    assert!(matches!(failure(&none).0, DataError::Empty { .. }));
    for start in [u64::MAX, MAX_EVENTS - 1] {
        let beyond = Source::Generated { seed: 3, start, documents: 2, malformed: 0 };
        assert!(failure(&beyond).1.contains("beyond the last"));
    }
    let spoilt = Source::Generated { seed: 3, start: 0, documents: 2, malformed: 3 };
    assert!(failure(&spoilt).1.contains("ask for at most 2"));
}

#[test]
fn sources_are_told_from_arguments_and_written() {
    assert_eq!(Source::from_argument("-"), Source::Stdin);
    assert_eq!(Source::from_argument("HTTPS://x/y"), Source::Url("HTTPS://x/y".into()));
    assert_eq!(Source::from_argument("http://x"), Source::Url("http://x".into()));
    for name in ["./-", "http:/x", "a.json", "é", "日本語日本語"] {
        assert_eq!(Source::from_argument(name), path(name));
    }
    let sources = [
        Source::Generated { seed: 1, start: 0, documents: 5, malformed: 2 },
        path("a"),
        Source::Stdin,
        Source::Url("http://user:secret@host/a".into()),
    ];
    let shown: Vec<_> = sources.iter().map(Source::to_string).collect();
    assert_eq!(shown[0], "5 generated events from number 0 on, seed 1, 2 of them malformed");
    assert_eq!(shown[1..], ["a", "standard input", "http://host/a"]);
    for source in sources {
        let text = serde_json::to_string(&source).unwrap();
        assert_eq!(serde_json::from_str::<Source>(&text).unwrap(), source, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn lines_are_those_of_splitting(lengths in proptest::collection::vec(0_usize..300_000, 0..9), last in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let mut text: String = lengths.iter().map(|length| format!("{}\n", "x".repeat(*length))).collect();
        if !last && !text.is_empty() {
            text.pop();
        }
        let file = write(folder.path(), "a.json", &text);
        let expected: Vec<Vec<u8>> = split(&text).into_iter().filter(|line| !line.is_empty()).collect();
        match read(&path(file)) {
            Ok(found) => prop_assert_eq!(found, expected),
            Err(DataError::Empty { .. }) => prop_assert!(expected.is_empty()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}
