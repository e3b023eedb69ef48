//! Documents and helpers shared by the test files of this folder.

use std::path::{Path, PathBuf};

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::reference::Reference;
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{StageOptions, StagedDocuments, stage};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// A numbered user id of the regular form, which the reference stores in packed form.
pub(crate) fn did(number: u64) -> String {
    let letter = |place: u32| b"abcdefghijklmnopqrstuvwxyz234567"[(number >> (5 * place)) as usize & 31];
    let suffix: String = (0..24).rev().map(|place| char::from(letter(place.min(12)))).collect();
    format!("did:plc:{suffix}")
}

/// A regular event with a record.
pub(crate) fn event(user: &str, time_us: i64, operation: &str, collection: &str) -> Json {
    json!({"did": user, "time_us": time_us, "kind": "commit", "commit": {
        "rev": "3lbhtytnn2k2f", "operation": operation, "collection": collection, "rkey": "3lbhtyteurk2y",
        "record": {"$type": collection, "createdAt": "2024-11-21T16:25:49.000Z", "langs": ["en", "de"],
                   "text": "some \"text\" with a \n newline and 日本語"}}})
}

/// `count` regular lines, each with its newline.
pub(crate) fn lines(count: u64) -> String {
    let collections = ["app.bsky.feed.like", "app.bsky.feed.post", "app.bsky.graph.follow"];
    (0..count)
        .map(|number| {
            let collection = collections[number as usize % collections.len()];
            let time = 1_732_206_349_000_167 + number as i64 * 1_000_003;
            format!("{}\n", event(&did(number % 17), time, "create", collection))
        })
        .collect()
}

/// Writes a file and returns its path.
pub(crate) fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Compresses the content as one gzip member.
pub(crate) fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    std::io::Write::write_all(&mut encoder, content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Compresses the content as one zstd frame.
pub(crate) fn zstd(content: impl AsRef<[u8]>) -> Vec<u8> {
    zstd::encode_all(content.as_ref(), 1).unwrap()
}

/// Reads all documents of a source and checks its counts at the end.
pub(crate) fn read(source: &Source) -> Result<Vec<Vec<u8>>, DataError> {
    let mut documents = source.documents()?;
    let mut lines = Vec::new();
    while let Some(line) = documents.next_line()? {
        lines.push(line.to_vec());
    }
    assert_eq!(documents.lines().tally().documents, lines.len() as u64);
    assert_eq!(documents.lines().tally().bytes, lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>());
    Ok(lines)
}

/// Staged documents with the reference answers over the clean ones.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) staged: StagedDocuments,
    pub(crate) reference: Reference,
}

impl std::ops::Deref for Answered {
    type Target = StagedDocuments;

    fn deref(&self) -> &StagedDocuments {
        &self.staged
    }
}

/// Stages a source without progress reports or cancellation.
pub(crate) fn staged(source: &Source, folder: &Path) -> Result<Answered, DataError> {
    let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
    let mut reference = Reference::default();
    let staged = stage(source, folder, options, &mut reference, &mut |_| (), &|| false)?;
    Ok(Answered { staged, reference })
}

/// Strategy for the text of a JSON string with quotes, in many spellings (escapes, multi-byte characters).
pub(crate) fn string_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-z0-9 .:/-]{1,12}",
        1 => Just("é日😀".to_string()),
        1 => Just("\u{7f}\u{80}\u{2028}\u{10ffff}".to_string()),
        2 => proptest::sample::select(vec![r"\n", r"\t", r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\r"]).prop_map(String::from),
        1 => proptest::sample::select(vec![r"\u0041", r"\u00e9", r"\uD83d\uDe00", r"\u0000", r"\ud83d", r"\ude00"])
            .prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Strategy for the text of a JSON number.
pub(crate) fn number_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<i64>().prop_map(|number| number.to_string()),
        2 => (-1000_i64..1000).prop_map(|number| number.to_string()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => any::<i128>().prop_map(|number| number.to_string()),
        2 => any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| format!("{number:?}")),
        1 => "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
    ]
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 1 => Just(" "), 1 => Just(" \t\r ")]
}

/// Strategy for a member name: often a name from events, in several spellings.
fn name_text() -> impl Strategy<Value = String> {
    let known =
        vec!["did", "time_us", "kind", "commit", "operation", "collection", "record", "langs", "a", "b", ""];
    prop_oneof![
        8 => proptest::sample::select(known).prop_map(|name| format!("\"{name}\"")),
        1 => proptest::sample::select(vec![r#""d\u0069d""#, r#""\u0061""#, r#""lang\u0073""#, r#""c\u006fmmit""#])
            .prop_map(String::from),
        2 => string_text(),
    ]
}

/// Strategy for the text of any JSON value.
pub(crate) fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        1 => proptest::sample::select(vec!["null", "true", "false", "[]", "{}"]).prop_map(String::from),
        2 => number_text(),
        3 => string_text(),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let padded = (space(), inner, space())
            .prop_map(|(before, text, after)| format!("{before}{text}{after}"))
            .boxed();
        let member = (space(), name_text(), space(), padded.clone())
            .prop_map(|(before, name, after, value)| format!("{before}{name}{after}:{value}"));
        prop_oneof![
            1 => proptest::collection::vec(padded, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            3 => proptest::collection::vec(member, 0..7).prop_map(|items| format!("{{{}}}", items.join(","))),
        ]
    })
}

/// Strategy for an object with the paths of an event, some of them missing, of another type, or duplicate.
pub(crate) fn event_text() -> impl Strategy<Value = String> {
    let langs = prop_oneof![
        3 => proptest::collection::vec(prop_oneof![string_text(), number_text()], 0..3)
            .prop_map(|items| format!("[{}]", items.join(","))),
        1 => json_text(),
    ];
    let record = prop_oneof![
        4 => (langs, json_text()).prop_map(|(langs, other)| format!(r#"{{"x":{other},"langs":{langs}}}"#)),
        1 => json_text(),
    ];
    let commit_member = prop_oneof![
        string_text().prop_map(|text| format!(r#""operation":{text}"#)),
        string_text().prop_map(|text| format!(r#""collection":{text}"#)),
        record.prop_map(|record| format!(r#""record":{record}"#)),
        json_text().prop_map(|value| format!(r#""rev":{value}"#)),
    ];
    let commit =
        proptest::collection::vec(commit_member, 0..6).prop_map(|items| format!("{{{}}}", items.join(",")));
    let member = prop_oneof![
        string_text().prop_map(|text| format!(r#""did":{text}"#)),
        prop_oneof![number_text(), json_text()].prop_map(|text| format!(r#""time_us":{text}"#)),
        string_text().prop_map(|text| format!(r#""kind":{text}"#)),
        commit.prop_map(|text| format!(r#""commit":{text}"#)),
        json_text().prop_map(|text| format!(r#""commit":{text}"#)),
        json_text().prop_map(|text| format!(r#""other":{text}"#)),
    ];
    proptest::collection::vec(member, 0..6).prop_map(|items| format!("{{{}}}", items.join(",")))
}

/// Compresses the content as one bzip2 stream.
pub(crate) fn bzip2(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    std::io::Write::write_all(&mut encoder, content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Compresses the content as one xz stream.
pub(crate) fn xz(content: impl AsRef<[u8]>) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    std::io::Write::write_all(&mut encoder, content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// A tar archive of these files, by path.
pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, *content).unwrap();
    }
    archive.into_inner().unwrap()
}

/// A zip archive of these files, by path.
pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, content) in files {
        archive.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut archive, content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
