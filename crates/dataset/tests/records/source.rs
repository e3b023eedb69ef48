//! Tests of records as a source of documents.

use std::collections::HashSet;

use jsonathlon_dataset::records::{KeyType, Kind, Records, Scratch, Values, WriteScope};
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{IgnoreDocuments, StageOptions, StagedDocuments, stage};
use serde_json::Value;

use crate::common::{KINDS, records};

fn staged(source: &Source) -> (tempfile::TempDir, StagedDocuments) {
    let folder = tempfile::tempdir().unwrap();
    let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
    let staged = stage(source, folder.path(), options, &mut IgnoreDocuments, &mut |_| (), &|| false).unwrap();
    (folder, staged)
}

#[test]
fn lines_hold_keys_and_documents() {
    for kind in KINDS {
        for values in [Values::Text, Values::Random] {
            let plain = records(kind.clone(), values);
            let keyed =
                Records { key_member: Some("_id".to_owned()), key_type: KeyType::Bigint, ..plain.clone() };
            for records in [plain, keyed] {
                let set = records.prepare().unwrap();
                let source = Source::Records { records: records.clone(), documents: 1_200 };
                let (_folder, staged) = staged(&source);
                assert_eq!((staged.documents, staged.clean_documents), (1_200, 1_200));
                assert!(staged.suspects.is_empty());
                let text = std::fs::read_to_string(&staged.clean_file).unwrap();
                let mut keys = HashSet::new();
                for (number, line) in (0..).zip(text.lines()) {
                    let head = line.split_once(",\"doc\":").unwrap();
                    let key = head.0.strip_prefix("{\"key\":").unwrap();
                    assert_eq!(set.records().number(key.trim_matches('"').as_bytes()), Some(number));
                    assert_eq!(key.starts_with('"'), records.key_type == KeyType::Text);
                    assert!(keys.insert(key.to_owned()));
                    let document = head.1.strip_suffix('}').unwrap().as_bytes();
                    set.check(number, document, WriteScope::Nothing, &mut Scratch::new()).unwrap();
                    let whole: Value = serde_json::from_str(line).unwrap();
                    assert_eq!(whole.as_object().unwrap().len(), 2);
                }
                assert_eq!(keys.len(), 1_200);
            }
        }
    }
}

#[test]
fn large_documents_are_no_suspects() {
    let records = records(Kind::Size { bytes: 3 << 20 }, Values::Random);
    let (_folder, staged) = staged(&Source::Records { records, documents: 3 });
    assert_eq!((staged.documents, staged.suspects.len()), (3, 0));
}

#[test]
fn staging_twice_gives_the_same_digest() {
    let source = |seed| Source::Records {
        records: Records { seed, ..records(Kind::Flat, Values::Text) },
        documents: 3_000,
    };
    let digest = |source| staged(&source).1.digest;
    assert_eq!(digest(source(1)), digest(source(1)));
    assert_ne!(digest(source(1)), digest(source(2)));
}

#[test]
fn what_cannot_be_made_is_refused() {
    let none = Source::Records { records: records(Kind::Flat, Values::Text), documents: 0 };
    let error = none.open().err().unwrap().to_string();
    assert_eq!(error, "0 records; from 1 to 1099511627776 can be made");
    let small = Source::Records { records: records(Kind::Size { bytes: 9 }, Values::Text), documents: 1 };
    assert!(small.open().is_err());
}

#[test]
fn sources_have_names() {
    let source = |kind, values, documents| Source::Records { records: records(kind, values), documents };
    let named = [
        (source(Kind::Flat, Values::Text, 100_000), "100,000 flat records of text values, seed 1"),
        (source(Kind::Size { bytes: 750 }, Values::Random, 1), "1 750-byte record of random values, seed 1"),
        (
            source(Kind::Items { members: 40 }, Values::Text, 999),
            "999 40-item records of text values, seed 1",
        ),
        (source(Kind::Nested, Values::Text, 1_234_567), "1,234,567 nested records of text values, seed 1"),
    ];
    for (source, name) in named {
        assert_eq!(source.to_string(), name);
        let text = serde_json::to_string(&source).unwrap();
        assert_eq!(serde_json::from_str::<Source>(&text).unwrap(), source);
    }
    // A set in the format from before the key member was added.
    let old = r#"{"kind":{"kind":"flat"},"values":"text","seed":1,"key_order":"hashed","key_type":"text"}"#;
    assert_eq!(serde_json::from_str::<Records>(old).unwrap(), records(Kind::Flat, Values::Text));
}
