//! Keyed documents for the tests.

use std::path::PathBuf;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::keying::{KeyChoice, KeyedDocuments, KeyingOptions, key_documents};
use jsonathlon_dataset::own_records::{
    Baseline, BaselineReader, BaselineReport, OwnRecordSet, OwnRecords, OwnScratch, Pointer,
};
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{IgnoreDocuments, StageOptions, StagedDocuments, stage};
use tempfile::TempDir;

/// A folder with a file of documents.
pub(crate) struct Data {
    pub(crate) folder: TempDir,
}

impl Data {
    pub(crate) fn new(lines: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.path().join("data.ndjson"), text).unwrap();
        Self { folder }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("data.ndjson")
    }

    pub(crate) fn stage(&self) -> StagedDocuments {
        let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
        let folder = self.folder.path().join("staged");
        stage(&Source::Path(self.file()), &folder, options, &mut IgnoreDocuments, &mut |_| {}, &|| false)
            .unwrap()
    }

    /// Keys the documents. An empty `key` is the number of the line, an empty `update` is none.
    pub(crate) fn key(&self, key: &str, update: &str) -> Result<KeyedDocuments, DataError> {
        self.key_staged(&self.stage(), key, update)
    }

    pub(crate) fn key_staged(
        &self,
        staged: &StagedDocuments,
        key: &str,
        update: &str,
    ) -> Result<KeyedDocuments, DataError> {
        let pointer = |text: &str| Pointer::parse(text).unwrap();
        let options = KeyingOptions {
            key: if key.is_empty() { KeyChoice::Line } else { KeyChoice::Path(pointer(key)) },
            update: (!update.is_empty()).then(|| pointer(update)),
            seed: 5,
            key_members: vec!["_id".to_owned(), "key".to_owned()],
        };
        key_documents(staged, &self.folder.path().join("keyed"), &options, &mut |_| {}, &|| false)
    }
}

/// Records that a load did not change.
pub(crate) fn set(records: &OwnRecords) -> OwnRecordSet {
    OwnRecordSet::new(records, Baseline::of_source(records).unwrap()).unwrap()
}

/// Records of which a system gives back what `give_back` makes of each document; `None` if it is absent.
pub(crate) fn loaded(
    records: &OwnRecords,
    give_back: impl Fn(u64, String) -> Option<String>,
) -> (OwnRecordSet, BaselineReport) {
    let source = set(records);
    let path = records.folder.join("baseline");
    let mut reader = BaselineReader::new(records, &path).unwrap();
    for number in 0..records.documents {
        if let Some(text) = give_back(number, document(&source, number, 0)) {
            reader.observe(number, text.as_bytes()).unwrap();
        }
    }
    let report = reader.finish().unwrap();
    let baseline = Baseline::read(&path, records).unwrap();
    (OwnRecordSet::new(records, baseline).unwrap(), report)
}

/// Document of a record as clients write it. Version 0 is the one of the data.
pub(crate) fn document(set: &OwnRecordSet, number: u64, version: u32) -> String {
    let mut text = Vec::new();
    if version == 0 {
        // The document without its new value.
        let rows = std::fs::read_to_string(set.records().folder.join("rows.ndjson")).unwrap();
        let key = set.key_text(number);
        let found = rows.lines().find_map(|row| {
            let value: serde_json::Value = serde_json::from_str(row).unwrap();
            let found = value["key"].as_str().map_or_else(|| value["key"].to_string(), str::to_owned);
            let start = row.find(",\"doc\":").unwrap() + 7;
            (found == key).then(|| row[start..row.len() - 1].to_owned())
        });
        return found.unwrap();
    }
    set.document(number, version, set.records().key_member.as_deref(), &mut OwnScratch::default(), &mut text)
        .unwrap();
    String::from_utf8(text).unwrap()
}

pub(crate) fn lines(count: usize, line: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(line).collect()
}

/// Documents with hostile names, keys that are not in their order, and a text and an integer to update.
pub(crate) fn hostile(count: usize) -> Vec<String> {
    lines(count, |index| {
        let key = index * 7919 % 10_007;
        format!(
            r#"{{"a.b":{{"":"k-{key}-ü\"/"}},"id":{key},"n":{index},"text":"loaded {}","deep":{{"x y":[1,{{"v":{index}.50}}]}},"flag":{}}}"#,
            "é".repeat(index % 9),
            index % 2 == 0,
        )
    })
}
