//! Tests of documents in other forms than lines: arrays, streams, whole files, archives and bulk files.

use std::io::Write;
use std::path::Path;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::describe::{DescribeOptions, describe};
use jsonathlon_dataset::skipped_entries::SkipReason;
use jsonathlon_dataset::source::{Block, Form, InputOptions, LONGEST_LINE, Source};
use proptest::prelude::*;

use crate::common::{bzip2, event_text, gzip, json_text, lines, read, staged, tar, write, xz, zip, zstd};

fn path(path: &Path) -> Source {
    Source::Path(path.to_owned())
}

fn with_form(file: &Path, form: Form) -> Source {
    path(file).with_input(InputOptions { form: Some(form), ..InputOptions::default() })
}

fn with_bulk(file: &Path) -> Source {
    path(file).with_input(InputOptions { skip_bulk_actions: true, ..InputOptions::default() })
}

fn failure(source: &Source) -> (DataError, String) {
    let error = read(source).err().unwrap_or_else(|| panic!("{source} can be read"));
    let text = error.to_string();
    (error, text)
}

/// What is said of a source that can be read, apart from the documents.
fn notes(source: &Source) -> Vec<String> {
    let mut opened = source.open().unwrap();
    while opened.next_block(&mut Block::new()).unwrap() {}
    opened.inputs().notes()
}

fn texts(documents: Vec<Vec<u8>>) -> Vec<String> {
    documents.into_iter().map(|document| String::from_utf8(document).unwrap()).collect()
}

/// The documents in every form that keeps their bytes, with what `read as` says of it.
fn forms_of(documents: &[String]) -> Vec<(Form, String)> {
    let joined = |separator: &str| documents.join(separator);
    vec![
        (Form::Lines, joined("\n")),
        (Form::Lines, joined("\r\n") + "\r\n"),
        (Form::Array, format!("[{}]", joined(","))),
        (Form::Array, format!("[\n{}\n]\n", joined(",\n"))),
        (Form::Array, format!(" [ {} \r\n ]  ", joined(" ,\t\n  "))),
        (Form::Array, documents.iter().map(|document| format!("[\n{document}\n]\n")).collect()),
        (Form::Stream, joined("")),
        (Form::Stream, joined(" ")),
        (Form::Stream, documents.iter().map(|document| format!("\u{1e}{document}\n")).collect()),
    ]
}

fn compressed(content: &str) -> [Vec<u8>; 5] {
    [content.as_bytes().to_vec(), gzip(content), zstd(content), bzip2(content), xz(content)]
}

#[test]
fn every_form_gives_the_documents_of_lines() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Several blocks, so that documents span their boundaries.
    let text = lines(5_000);
    let documents: Vec<String> = text.lines().map(str::to_owned).collect();
    let digest = staged(&path(&write(data.path(), "a.ndjson", &text)), folder.path()).unwrap().digest.clone();
    for (form, content) in forms_of(&documents) {
        for bytes in [content.clone().into_bytes(), format!("\u{feff}{content}").into_bytes(), zstd(&content)]
        {
            let file = write(data.path(), "b.json", bytes);
            let staged = staged(&path(&file), folder.path()).unwrap();
            assert_eq!((staged.documents, &staged.digest), (5_000, &digest), "{form}: {}", &content[..40]);
            assert_eq!(staged.input_notes[0], format!("read as: {form} (1 file)"));
            let place = staged.place(4_999).unwrap();
            let is_line = form == Form::Lines;
            assert_eq!(
                (place.line(), place.document()),
                if is_line { (Some(5_000), None) } else { (None, Some(5_000)) }
            );
        }
    }
}

#[test]
fn pretty_printed_documents_become_one_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let pretty =
        "{\r\n  \"text\": \"a  b \\\" { \\n\",\n  \"n\": [\n    1.50,\n    -2E+3\n  ],\n  \"n\": {}\n}";
    let line = "{\"text\": \"a  b \\\" { \\n\",\"n\": [1.50,-2E+3],\"n\": {}}";
    for (form, content, count) in [
        (Form::File, format!("{pretty}\n"), 1),
        (Form::Stream, format!("{pretty}\n{pretty}\n"), 2),
        (Form::Stream, format!("{pretty}{pretty}"), 2),
        (Form::Array, format!("[\n  {pretty},\n  {pretty}\n]\n"), 2),
    ] {
        let file = write(folder.path(), "a.json", &content);
        assert_eq!(texts(read(&path(&file)).unwrap()), vec![line; count], "{content}");
        assert_eq!(notes(&path(&file)), [format!("read as: {form} (1 file)")]);
    }
}

#[test]
fn white_space_between_words_does_not_join_them() {
    let folder = tempfile::tempdir().unwrap();
    let file =
        write(folder.path(), "a.json", "[{\"a\":[1\n2]},{\"a\":tr\n ue},{\"a\":\"x\ny\"},{\"a\":\n null}]");
    let documents = texts(read(&path(&file)).unwrap());
    assert_eq!(documents, ["{\"a\":[1 2]}", "{\"a\":tr ue}", "{\"a\":\"x\ry\"}", "{\"a\":null}"]);
}

#[test]
fn a_form_can_be_forced() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.json", "[{\"a\":1},\n{\"a\":2}]\n");
    let read_as = |form| texts(read(&with_form(&file, form)).unwrap());
    assert_eq!(read_as(Form::Lines), ["[{\"a\":1},", "{\"a\":2}]"]);
    assert_eq!(read_as(Form::Array), ["{\"a\":1}", "{\"a\":2}"]);
    assert_eq!(read_as(Form::Stream), ["[{\"a\":1},{\"a\":2}]"]);
    assert_eq!(read_as(Form::File), ["[{\"a\":1},{\"a\":2}]"]);
    assert_eq!(with_form(&file, Form::Array).open().unwrap().plain_file(), None);
    let file = write(folder.path(), "b.json", " {\"a\":1}\n{\"a\":2}\n");
    let (error, text) = failure(&with_form(&file, Form::Array));
    assert!(matches!(error, DataError::NoArray { byte: 1, arrays: 0, .. }), "{error:?}");
    assert!(text.contains("b.json") && text.contains("byte 1") && text.contains("--input"), "{text}");
    let source = with_form(&file, Form::File);
    assert_eq!(texts(read(&source).unwrap()), ["{\"a\":1}{\"a\":2}"]);
    // The manifest of a run holds the form with the source.
    let written = serde_json::to_string(&source).unwrap();
    assert_eq!(serde_json::from_str::<Source>(&written).unwrap(), source, "{written}");
    assert_eq!((source.to_string(), source.origin()), (file.display().to_string(), &path(&file)));
}

#[test]
fn elements_that_are_no_documents_are_named_with_their_place() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let content = "[{\"a\":1}, {\"a\":}, [2], nonsense, {\"a\":1} {\"b\":2},, {\"a\":3},]";
    let file = write(data.path(), "a.json", content);
    let staged = staged(&path(&file), folder.path()).unwrap();
    let faults: Vec<String> =
        staged.no_documents.iter().map(|found| format!("{}: {}", found.place, found.fault)).collect();
    let name = file.display();
    assert_eq!(
        faults,
        [
            format!("{name}, document 2 from byte 10 on: expected a value at byte 5"),
            format!("{name}, document 4 from byte 23 on: expected true, false or null at byte 0"),
            format!("{name}, document 5 from byte 33 on: more text after the value at byte 8"),
            format!("{name}, document 6 from byte 49 on: expected a value at byte 0"),
            format!("{name}, document 8 from byte 59 on: expected a value at byte 0"),
        ]
    );
    assert_eq!((staged.documents, staged.suspects.len()), (3, 1));
    assert_eq!(staged.place(2).unwrap().to_string(), format!("{name}, document 7 from byte 51 on"));
    let profile = describe(&path(&file), &DescribeOptions::default(), &mut |_| (), &|| false).unwrap();
    assert_eq!(profile.input_notes, ["read as: array (1 file)"]);
    let first = &profile.no_documents["more text after the value"].first;
    assert_eq!(*first, format!("{name}, document 5 from byte 33 on"));
}

#[test]
fn mixed_forms_in_one_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "a.json", "[{\"a\":1},\n{\"a\":2}]\n{\"a\":3}\n");
    let (error, text) = failure(&path(&file));
    assert!(matches!(error, DataError::NoArray { byte: 19, arrays: 1, .. }), "{error:?}");
    assert!(
        text.contains("a.json") && text.contains("byte 19") && text.contains("a file of its own"),
        "{text}"
    );
    // Lines before an array are lines.
    let file = write(folder.path(), "b.json", "{\"a\":1}\n{\"a\":2}\n[{\"a\":3}]\n");
    assert_eq!(texts(read(&path(&file)).unwrap()), ["{\"a\":1}", "{\"a\":2}", "[{\"a\":3}]"]);
}

#[test]
fn lines_that_are_arrays_are_documents_and_the_other_reading_is_named() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let file = write(data.path(), "a.json", "[{\"a\":1},{\"a\":2}]\n[{\"a\":3}]\n");
    let taken_as = |source: &Source| texts(read(source).unwrap());
    assert_eq!(taken_as(&path(&file)), ["[{\"a\":1},{\"a\":2}]", "[{\"a\":3}]"]);
    let said = notes(&path(&file));
    assert!(said[1].contains("`--input array`") && said[1].contains("a.json"), "{said:?}");
    // Documents of which none is an object are an error, which names the option, too.
    let error = staged(&path(&file), folder.path()).unwrap_err().to_string();
    assert!(error.contains("a.json, line 1: an array; `--input array` takes its elements"), "{error}");
    let forced = with_form(&file, Form::Array);
    assert_eq!(taken_as(&forced), ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"]);
    assert_eq!(notes(&forced), ["read as: array (1 file)"]);
    // Arrays on several lines each, or on one line, are several arrays of documents.
    for content in ["[\n{\"a\":1}\n]\n[\n{\"a\":2}\n]\n", "[{\"a\":1}][{\"a\":2}]\n"] {
        let file = write(data.path(), "b.json", content);
        assert_eq!(taken_as(&path(&file)), ["{\"a\":1}", "{\"a\":2}"]);
        let said = notes(&path(&file));
        assert!(said[1].contains("`--input stream`") && said[1].contains("b.json"), "{said:?}");
        assert_eq!(taken_as(&with_form(&file, Form::Stream)).len(), 2);
    }
    // One array, or lines of arrays of something else, can mean nothing else.
    for content in ["[{\"a\":1},\n{\"a\":2}]\n", "[1]\n[2]\n"] {
        let file = write(data.path(), "c.json", content);
        assert_eq!(notes(&path(&file)).len(), 1, "{content}");
    }
}

#[test]
fn a_half_last_document_is_named() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (content, place, is_array) in [
        ("[{\"a\":1},\n{\"a\":\"x", "document 2 from byte 10 on: ends inside a string at byte 7", true),
        ("{\"a\":1}{\"a\":[1,", "document 2 from byte 7 on: ends inside an array or object at byte 8", false),
        (
            "{\n\"a\":1}\n{\n\"a\":2",
            "document 2 from byte 9 on: ends inside an array or object at byte 7",
            false,
        ),
        ("{\"a\":1}\n{\"a\":2", "line 2: ends inside an array or object at byte 6", false),
    ] {
        let file = write(data.path(), "a.json", content);
        let staged = staged(&path(&file), folder.path()).unwrap();
        let found: Vec<String> =
            staged.no_documents.iter().map(|found| format!("{}: {}", found.place, found.fault)).collect();
        assert_eq!(found, [format!("{}, {place}", file.display())]);
        assert_eq!(staged.documents, 1);
        let is_noted = staged.input_notes.iter().any(|note| note.contains("before its array is closed"));
        assert_eq!(is_noted, is_array, "{:?}", staged.input_notes);
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = lines(5_000);
    let documents: Vec<String> = text.lines().map(str::to_owned).collect();
    for (form, content) in [(Form::Lines, text.clone()), (Form::Array, format!("[{}]", documents.join(",")))]
    {
        let file = write(folder.path(), "a.json", content);
        let mut opened = path(&file).open().unwrap();
        let mut block = Block::new();
        assert!(opened.next_block(&mut block).unwrap(), "{form}");
        std::fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"\n").unwrap();
        let error = loop {
            match opened.next_block(&mut block) {
                Ok(has_more) => assert!(has_more, "the change was not noticed"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, DataError::ChangedWhileRead { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("a.json changed while it was read") && text.contains("copy it"), "{text}");
    }
}

#[test]
fn a_file_without_json_among_others_is_left_out_by_name() {
    let data = tempfile::tempdir().unwrap();
    std::fs::create_dir(data.path().join("sub")).unwrap();
    const FILES: usize = 10_000;
    for number in 0..FILES {
        let content = format!("{{\n  \"n\": {number}\n}}\n");
        let name = format!("{}{number:05}.json", if number % 2 == 0 { "" } else { "sub/" });
        write(data.path(), &name, if number == 4_321 { "a,b\n1,2\n".to_owned() } else { content });
    }
    let folder = tempfile::tempdir().unwrap();
    let staged = staged(&path(data.path()), folder.path()).unwrap();
    assert_eq!(staged.documents, FILES as u64 - 1);
    assert_eq!(staged.input_notes, ["read as: file (9999 files)"]);
    let [left_out] = &staged.left_out[..] else { panic!("{:?}", staged.left_out) };
    assert_eq!(
        (left_out.path.clone(), &left_out.reason),
        (data.path().join("sub/04321.json"), &SkipReason::NotJson)
    );
    // Files stand before subfolders of later names, and each document has its file.
    assert!(staged.place(0).unwrap().input.ends_with("/00000.json"));
    assert!(staged.place(9_998).unwrap().input.ends_with("sub/09999.json"));
    // As the only input, such a file is an error.
    let (error, _) = failure(&path(&write(data.path(), "table.json", "PAR1\0\0\0")));
    assert!(error.to_string().contains("convert it to JSON"), "{error}");
}

#[test]
fn a_file_with_an_invalid_value_is_read_and_its_place_is_named() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(data.path(), "a.json", "{\"a\":1}\n");
    let large = |count: usize| "{\n  \"a\": 1\n}\n".repeat(count);
    for (content, form, documents, place) in [
        ("{\"a\":NaN}\n".to_owned(), "lines (2 files)", 1, "line 1: expected a value at byte 5"),
        (
            "{\n\"a\":NaN,\n\"b\":1\n}\n".to_owned(),
            "lines (1 file), file (1 file)",
            1,
            "document 1 from byte 0 on: expected a value at byte 6",
        ),
        // The sample has only a part of the file.
        (
            large(2) + "{\n  \"a\": NaN\n}\n" + &large(10_000),
            "lines (1 file), stream (1 file)",
            10_003,
            "document 3 from byte 26 on: expected a value at byte 9",
        ),
    ] {
        let file = write(data.path(), "b.json", &content);
        let staged = staged(&path(data.path()), folder.path()).unwrap();
        assert!(staged.left_out.is_empty(), "{:?}", staged.left_out);
        assert_eq!((staged.documents, &staged.input_notes[0]), (documents, &format!("read as: {form}")));
        let [found] = &staged.no_documents[..] else { panic!("{:?}", staged.no_documents) };
        let found = format!("{}: {}", found.place, found.fault);
        assert_eq!(found, format!("{}, {place}", file.display()));
    }
    // As the only document it is an error, which names the place.
    let file = write(folder.path(), "only.json", "{\n\"a\": NaN\n}\n");
    let error = staged(&path(&file), &folder.path().join("staged")).unwrap_err();
    assert!(matches!(error, DataError::NotLines { .. }), "{error:?}");
    let place =
        format!("the first: {}, document 1 from byte 0 on: expected a value at byte 7", file.display());
    assert!(error.to_string().contains(&place), "{error}");
}

#[test]
fn members_of_archives_are_inputs() {
    let data = tempfile::tempdir().unwrap();
    let inner = tar(&[("x.json", b"{\"n\":9}\n")]);
    let packed = gzip("{\"n\":2}\n{\"n\":3}\n");
    let hidden_archive = gzip(&inner);
    let long = format!("{}/f.json", "long".repeat(60));
    let files: Vec<(&str, &[u8])> = vec![
        ("b/one.json", b"[{\"n\":1}]"),
        ("a/two.ndjson.gz", &packed),
        ("a/notes.txt", b"none"),
        ("a/.hidden.json", b"{\"n\":9}"),
        ("a/inner.tar", &inner),
        ("a/disguised.json", &hidden_archive),
        ("c.json", b"{\n\"n\":4\n}"),
        ("d.json", b"no json\nat all\n"),
        (&long, b"{\"n\":5}"),
    ];
    let expected: Vec<String> = (1..=5).map(|number| format!("{{\"n\":{number}}}")).collect();
    let whole = tar(&files);
    for (name, bytes) in [
        ("a.tar", whole.clone()),
        ("a.tar.gz", gzip(&whole)),
        ("a.tgz", gzip(&whole)),
        ("a.tar.zst", zstd(&whole)),
        ("a.tar.bz2", bzip2(&whole)),
        ("a.txz", xz(&whole)),
        ("a.zip", zip(&files)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = write(data.path(), name, bytes);
        let staged = staged(&path(&file), folder.path()).unwrap();
        let documents = std::fs::read_to_string(&staged.clean_file).unwrap();
        assert_eq!(documents.lines().collect::<Vec<_>>(), expected, "{name}");
        let archive = file.display();
        assert_eq!(staged.place(1).unwrap().to_string(), format!("{archive}: a/two.ndjson.gz, line 1"));
        assert_eq!(
            staged.place(3).unwrap().to_string(),
            format!("{archive}: c.json, document 1 from byte 0 on")
        );
        assert_eq!(staged.input_notes, ["read as: lines (2 files), array (1 file), file (1 file)"]);
        let mut left_out: Vec<_> =
            staged.left_out.iter().map(|entry| (entry.path.display().to_string(), &entry.reason)).collect();
        left_out.sort();
        let text = SkipReason::Ending(Some("txt".into()));
        let expected = [
            ("a/.hidden.json", &SkipReason::Hidden),
            ("a/disguised.json", &SkipReason::NestedArchive),
            ("a/inner.tar", &SkipReason::NestedArchive),
            ("a/notes.txt", &text),
            ("d.json", &SkipReason::NotJson),
        ];
        assert_eq!(left_out, expected.map(|(path, reason)| (format!("{archive}: {path}"), reason)), "{name}");
    }
    // Archives are read among the files of a folder.
    let all = path(data.path());
    assert_eq!(read(&all).unwrap().len(), 7 * expected.len());
}

#[test]
fn archives_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let nested = tar(&[("inner.zip", &zip(&[("a.json", b"{}")]))]);
    let (error, text) = failure(&path(&write(folder.path(), "a.tar", nested)));
    assert!(matches!(error, DataError::NothingReadable { .. }), "{error:?}");
    assert!(
        text.contains("a.tar") && text.contains("1 archive within an archive") && text.contains("inner.zip"),
        "{text}"
    );
    let text = lines(3_000);
    let files: [(&str, &[u8]); 1] = [("a.json", text.as_bytes())];
    let whole = tar(&files);
    let (error, _) = failure(&path(&write(folder.path(), "b.tar", &whole[..whole.len() / 2])));
    assert!(matches!(error, DataError::Truncated { format: "tar", .. }), "{error:?}");
    let packed = gzip(&whole);
    let (error, _) = failure(&path(&write(folder.path(), "b.tar.gz", &packed[..packed.len() / 2])));
    assert!(matches!(error, DataError::Truncated { format: "gzip", .. }), "{error:?}");
    let mut whole = zip(&files);
    let (error, text) = failure(&path(&write(folder.path(), "c.zip", &whole[..whole.len() / 2])));
    assert!(matches!(error, DataError::DamagedArchive { format: "zip", .. }), "{error:?}");
    assert!(text.contains("c.zip") && text.contains("copy or download the file again"), "{text}");
    let middle = whole.len() / 2;
    whole[middle..middle + 64].fill(0x55);
    let (error, text) = failure(&path(&write(folder.path(), "d.zip", whole)));
    assert!(matches!(error, DataError::Corrupt { format: "zip", .. }), "{error:?}");
    assert!(text.contains("d.zip: a.json"), "{text}");
}

#[test]
fn members_of_one_name_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let member = |name, content: &'static str| (name, content.as_bytes());
    let files = [
        member("a.json", "{\"n\":1}"),
        member("b.json", "{\"n\":2}"),
        member("a.json", "{\"n\":3}"),
        member("b.csv", "x"),
        member("b.csv", "x"),
    ];
    let file = path(&write(folder.path(), "a.tar.gz", gzip(tar(&files))));
    assert_eq!(texts(read(&file).unwrap()), ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"]);
    let said = notes(&file);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].contains("unpack the archive") && said[1].ends_with("a.tar.gz: a.json"), "{said:?}");
    // An archive may have the same names as another one.
    write(folder.path(), "b.tar", tar(&files[..2]));
    write(folder.path(), "c.tar", tar(&files[..2]));
    let said = notes(&path(folder.path()));
    assert!(said[1].ends_with("a.tar.gz: a.json"), "{said:?}");
    // Archivers refuse to write such a zip archive.
    let mut archive = zip(&files[..2]);
    let positions: Vec<usize> =
        (0..archive.len() - 6).filter(|position| archive[*position..].starts_with(b"b.json")).collect();
    assert_eq!(positions.len(), 2, "before the member and in the list of members");
    positions.into_iter().for_each(|position| archive[position] = b'a');
    let file = path(&write(folder.path(), "a.zip", archive));
    assert_eq!(texts(read(&file).unwrap()), ["{\"n\":2}"]);
    let said = notes(&file);
    assert!(said[1].contains("only the last one is read") && said[1].ends_with("a.zip"), "{said:?}");
}

#[test]
fn headers_of_archives_that_claim_gigabytes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for kind in [tar::EntryType::GNULongName, tar::EntryType::GNULongLink, tar::EntryType::XHeader] {
        let archive = |size: u64, content: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_path("././@LongLink").unwrap();
            header.set_entry_type(kind);
            header.set_size(size);
            header.set_cksum();
            let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
            let member = tar(&[("a.json", b"{\"n\":1}")]);
            [&header.as_bytes()[..], content, &padding, &member].concat()
        };
        // The claimed size does not matter, but that so many bytes would be kept.
        let hostile = archive(8 << 30, &vec![b'x'; 16 << 20]);
        let (error, text) = failure(&path(&write(folder.path(), "a.tar.zst", zstd(&hostile))));
        assert!(matches!(error, DataError::DamagedArchive { format: "tar", .. }), "{error:?}");
        assert!(text.contains("a.tar.zst") && text.contains("byte 0 have more than 4 MiB"), "{text}");
        // A long name is none too long.
        let name = format!("{}a.json", "long/".repeat(10_000));
        let content = match kind {
            tar::EntryType::XHeader => format!("{} path={name}\n", name.len() + " path=\n".len() + 5),
            _ => name,
        };
        let file = path(&write(folder.path(), "b.tar", archive(content.len() as u64, content.as_bytes())));
        assert_eq!(texts(read(&file).unwrap()), ["{\"n\":1}"]);
    }
}

#[test]
fn bulk_files_are_refused_or_read_without_their_actions() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut text = "POST _bulk\n".to_owned();
    for number in 0..20_000 {
        text += &format!("{{\"index\":{{\"_id\":\"{number}\"}}}}\n{{\"n\":{number}}}\n");
        if number % 5_000 == 0 {
            text += "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"n\":0}}\n\n{\"delete\":{\"_id\":\"2\"}}\n";
        }
    }
    let file = write(data.path(), "bulk.json", &text);
    let (error, message) = failure(&path(&file));
    assert!(matches!(error, DataError::BulkFile { .. }), "{error:?}");
    assert!(message.contains("bulk.json") && message.contains("--bulk-actions skip"), "{message}");
    let staged = staged(&with_bulk(&file), folder.path()).unwrap();
    assert_eq!((staged.documents, staged.no_documents.len()), (20_000, 0));
    let documents = std::fs::read_to_string(&staged.clean_file).unwrap();
    assert!(documents.lines().enumerate().all(|(number, line)| line == format!("{{\"n\":{number}}}")));
    let skipped = "skipped in 1 file: 20009 bulk action lines, and 4 lines behind `update`, which are parts of documents";
    assert_eq!(staged.input_notes, ["read as: lines (1 file)", skipped]);
    assert_eq!(staged.place(0).unwrap().line(), Some(3));
    assert_eq!(staged.place(1).unwrap().line(), Some(9));
    // Whoever forces lines takes the actions as documents.
    let documents = read(&with_form(&file, Form::Lines)).unwrap();
    assert_eq!(documents.len(), text.lines().filter(|line| !line.is_empty()).count());
}

#[test]
fn extended_json_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.json", "{\"_id\":{\"$oid\":\"65\"}}\n");
    write(folder.path(), "b.json", "[{\"_id\":1}]");
    let notes = notes(&path(folder.path()));
    assert_eq!(notes[0], "read as: lines (1 file), array (1 file)");
    assert!(notes[1].contains("\"$oid\"") && notes[1].contains("stays plain JSON"), "{notes:?}");
    assert!(notes[1].contains("a.json") && !notes[1].contains("b.json"), "{notes:?}");
}

#[test]
fn a_document_without_an_end_does_not_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(b"[{\"a\":1},\n{\"a\":\"").unwrap();
    for _ in 0..300 {
        encoder.write_all(&vec![b'x'; 1_000_000]).unwrap();
    }
    let file = write(folder.path(), "a.json.zst", encoder.finish().unwrap());
    let (error, text) = failure(&path(&file));
    assert!(matches!(error, DataError::LineTooLong { limit: LONGEST_LINE, .. }), "{error:?}");
    let place = format!("{}, document 2 from byte 10 on is longer than", file.display());
    assert!(text.starts_with(&place) && text.contains("missing quote"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_documents_are_the_same_in_every_form(
        documents in proptest::collection::vec(event_text(), 1..20),
        repeats in prop_oneof![4 => Just(1_usize), 1 => Just(200)],
        compression in 0_usize..5,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let documents: Vec<String> =
            documents.iter().cycle().take(documents.len() * repeats).map(|document| document.trim().to_owned()).collect();
        for (form, content) in forms_of(&documents) {
            let file = write(folder.path(), "a", &compressed(&content)[compression]);
            let found = texts(read(&with_form(&file, form)).unwrap());
            prop_assert_eq!(found, documents.clone(), "{}", form);
        }
    }

    #[test]
    fn pretty_printing_changes_nothing_but_white_space(
        documents in proptest::collection::vec(json_text(), 1..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        // Numbers beyond the types of the parser and halves of characters have no value to print.
        let values: Vec<serde_json::Value> =
            documents.iter().filter_map(|document| serde_json::from_str(document).ok()).collect();
        prop_assume!(!values.is_empty());
        let pretty: Vec<String> = values.iter().map(|value| serde_json::to_string_pretty(value).unwrap()).collect();
        let expected: Vec<String> =
            pretty.iter().map(|text| text.lines().map(str::trim_start).collect::<String>()).collect();
        for (form, content) in [
            (Form::Stream, pretty.join("\n")),
            (Form::Array, format!("[\n{}\n]", pretty.join(",\n"))),
            (Form::Array, format!("[{}]", pretty.join(",")).replace('\n', "\r\n")),
        ] {
            let file = write(folder.path(), "a", &content);
            prop_assert_eq!(texts(read(&with_form(&file, form)).unwrap()), expected.clone(), "{}", content);
        }
    }

    #[test]
    fn nothing_of_any_text_is_lost(text in "([{}\\[\\]\",: \n]|[a-z0-9]|\\\\\"){0,60}") {
        let folder = tempfile::tempdir().unwrap();
        let without_space = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let file = write(folder.path(), "a", &text);
        for form in [Form::Stream, Form::File] {
            match read(&with_form(&file, form)) {
                Ok(found) => prop_assert_eq!(without_space(&texts(found).concat()), without_space(&text)),
                Err(error) => {
                    let is_empty = matches!(error, DataError::Empty { .. });
                    prop_assert!(is_empty && text.trim().is_empty(), "{}", error);
                }
            }
        }
    }
}
