//! Tests that `docs/system-toml.md` describes every key that the program reads, and no other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::Path,
};

use serde::{Deserialize, Deserializer, de, forward_to_deserialize_any};

use jsonathlon_servers::{ExternalBinaryCommands, Recipe, RequiredProgram};

use super::{
    definition::*,
    durability::{DurabilityDefinition, TierDefinition},
    rules::{
        self, ALL_RULES, analytics, documents, fidelity, mixed, path_notation, question_paths, questions,
        reports, serving,
    },
};
use crate::artifact::DebianPackage;

/// Deserializer that returns the names of a struct's fields instead of reading it.
struct FieldNameProbe;

#[derive(Debug)]
struct FieldNames(&'static [&'static str]);

impl fmt::Display for FieldNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.0)
    }
}

impl std::error::Error for FieldNames {}

impl de::Error for FieldNames {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

impl<'de> Deserializer<'de> for FieldNameProbe {
    type Error = FieldNames;

    fn deserialize_any<V: de::Visitor<'de>>(self, _: V) -> Result<V::Value, FieldNames> {
        Err(FieldNames(&[]))
    }

    fn deserialize_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, FieldNames> {
        Err(FieldNames(fields))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn keys_of<'de, T: Deserialize<'de>>() -> BTreeSet<String> {
    match T::deserialize(FieldNameProbe) {
        Ok(_) => BTreeSet::new(),
        Err(FieldNames(keys)) => keys.iter().map(|key| (*key).to_owned()).collect(),
    }
}

fn workloads() -> BTreeSet<String> {
    rules::names().into_iter().map(str::to_owned).collect()
}

/// Returns the keys of all tables that the program reads, by the table's heading in the document.
fn tables() -> BTreeMap<&'static str, BTreeSet<String>> {
    BTreeMap::from([
        ("Top level", &keys_of::<Definition>() | &workloads()),
        ("`[[artifact]]`", keys_of::<ArtifactDefinition>()),
        ("`[[artifact.source]]`", keys_of::<SourceDefinition>()),
        ("`packages` of a source", keys_of::<DebianPackage>()),
        ("`[server]`", keys_of::<Recipe>()),
        ("`[server.own]`", keys_of::<ExternalBinaryCommands>()),
        ("`[[server.need]]`", keys_of::<RequiredProgram>()),
        ("`[address]`", keys_of::<AddressDefinition>()),
        ("`[open]`", keys_of::<OpenDefinition>()),
        ("`[[exception]]`", keys_of::<SettingDeviation>()),
        ("`[properties]`", keys_of::<PropertiesDefinition>()),
        ("`[[properties.remedy]]`", keys_of::<RemedyDefinition>()),
        ("`[profiles]`", keys_of::<ProfilesDefinition>()),
        ("`[profiles.sized]`", keys_of::<ProfileDefinition>()),
        ("`[[profiles.sized.setting]]`", keys_of::<SettingDefinition>()),
        ("`[variants.NAME]`", keys_of::<VariantDefinition>()),
        ("`[storage.NAME]`", keys_of::<StorageDefinition>()),
        ("`[not.WORKLOAD]`", keys_of::<UnsupportedDefinition>()),
        ("`[analytics]`", keys_of::<analytics::SectionDefinition>()),
        ("`[variants.NAME.analytics]`", keys_of::<analytics::OverlayDefinition>()),
        ("`[analytics.questions.q1]`", keys_of::<analytics::QuestionDefinition>()),
        ("`[serving]`", keys_of::<serving::SectionDefinition>()),
        ("`[variants.NAME.serving]`", keys_of::<serving::OverlayDefinition>()),
        ("`[serving.key_types]`", keys_of::<serving::KeyTypes>()),
        ("`[serving.value_types]`", keys_of::<serving::ValueTypes>()),
        ("`[serving.names.NOTATION]`", keys_of::<path_notation::MemberNotation>()),
        ("`[serving.reports]`", keys_of::<reports::ReportsDefinition>()),
        ("`[serving.durability]`", keys_of::<DurabilityDefinition>()),
        ("`[serving.durability.synced]`", keys_of::<TierDefinition>()),
        ("`[serving.operations.read]`", keys_of::<serving::OperationDefinition>()),
        ("`[mixed]`", keys_of::<mixed::SectionDefinition>()),
        ("`[variants.NAME.mixed]`", keys_of::<mixed::OverlayDefinition>()),
        ("`[mixed.seen]`", keys_of::<mixed::SeenDefinition>()),
        ("`[mixed.insert]`", keys_of::<mixed::InsertDefinition>()),
        ("`[documents]`", keys_of::<documents::SectionDefinition>()),
        ("`[variants.NAME.documents]`", keys_of::<documents::OverlayDefinition>()),
        ("`[documents.largest]`", keys_of::<documents::SizeLimit>()),
        ("`[documents.index.NAME]`", keys_of::<documents::IndexDefinition>()),
        ("`[[documents.index.NAME.ask]]`", keys_of::<documents::AskDefinition>()),
        ("`[questions]`", keys_of::<questions::SectionDefinition>()),
        ("`[questions.path]`", keys_of::<question_paths::PathNotation>()),
        ("`alters`, `evades` and `unreachable` of a path", keys_of::<question_paths::KeyRule>()),
        ("`[fidelity]`", keys_of::<fidelity::SectionDefinition>()),
        ("`[variants.NAME.fidelity]`", keys_of::<fidelity::OverlayDefinition>()),
    ])
}

/// Returns the documented keys by heading. A row of a table there has key, meaning and default.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/system-toml.md");
    let text = fs::read_to_string(path).expect("the document is there");
    let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut heading = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            name.clone_into(&mut heading);
        } else if let Some((key, rest)) = line.strip_prefix("| `").and_then(|row| row.split_once("` | ")) {
            let cells: Vec<&str> = rest.trim_end_matches('|').split(" | ").map(str::trim).collect();
            assert!(cells.len() == 2 && cells.iter().all(|cell| !cell.is_empty()), "{heading}: {line}");
            assert!(
                tables.entry(heading.clone()).or_default().insert(key.to_owned()),
                "{heading}: {key} twice"
            );
        }
    }
    tables
}

#[test]
fn every_key_is_in_the_document_and_nothing_else_is() {
    let (mut read, mut documented) = (tables(), documented());
    for (table, keys) in &mut read {
        let documented_keys = documented.remove(*table).unwrap_or_default();
        let missing: Vec<_> = keys.difference(&documented_keys).collect();
        let extra: Vec<_> = documented_keys.difference(keys).collect();
        assert!(
            !keys.is_empty() && missing.is_empty() && extra.is_empty(),
            "{table}: {missing:?}, {extra:?}"
        );
    }
    assert_eq!(documented, BTreeMap::new(), "nobody reads these tables");
}

#[test]
fn workloads_know_the_keys_of_their_sections() {
    let tables = tables();
    for rules in ALL_RULES {
        let keys: BTreeSet<String> = rules.keys().iter().map(|key| (*key).to_owned()).collect();
        assert_eq!(tables[format!("`[{}]`", rules.name()).as_str()], keys);
        assert!(rules.unprefixed_keys().iter().all(|key| keys.contains(*key)));
    }
}

/// Every struct that is read strictly must have a table in the document.
#[test]
fn no_table_is_forgotten() {
    fn count(folder: &Path) -> usize {
        let entries =
            fs::read_dir(folder).expect("sources are there").map(|entry| entry.expect("it is there").path());
        let attribute = concat!("serde(deny_", "unknown_fields");
        entries
            // `questions.toml` has a document of its own.
            .filter(|path| !path.ends_with("src/user_questions.rs"))
            .map(|path| match path.is_dir() {
                true => count(&path),
                false => fs::read_to_string(&path).expect("it is text").matches(attribute).count(),
            })
            .sum()
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let count_in = |name: &str| count(&crates.join(name).join("src"));
    assert_eq!(count_in("catalogue") + count_in("servers"), tables().len());
}
