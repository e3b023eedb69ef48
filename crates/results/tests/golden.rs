//! A run of the current format that is kept: its summary and its exports are what was written of it before. Fields
//! may be added, none may go, move or change, unless the format gets another version.
//!
//! `golden/` holds the manifest and the journal of four configurations over 100,000 documents, cut down and edited by
//! hand so that it has what a good run has not: a wrong trial, one that read from the disk, cold trials that could not
//! be verified, a broken plan, a size that varies between loads.

use std::fmt;
use std::path::{Path, PathBuf};

use jsonathlon_results::export::{csv, jsonbench};
use jsonathlon_results::summary::Run;
use jsonathlon_schema::metric::MetricDef;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// JSON in the order in which it was written.
#[derive(Debug, PartialEq)]
enum Node {
    Map(Vec<(String, Node)>),
    List(Vec<Node>),
    Leaf(serde_json::Value),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Node::Map(members))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    elements.push(element);
                }
                Ok(Node::List(elements))
            }

            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Leaf(serde_json::Value::Null))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
                Ok(Node::Leaf(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
                Ok(Node::Leaf(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Leaf(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Leaf(value.into()))
            }

            fn visit_str<E>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Leaf(value.into()))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// Takes away what `golden` does not have, in objects alone: a list has as many elements as it had.
fn without_added(new: &mut Node, golden: &Node) {
    match (new, golden) {
        (Node::Map(new), Node::Map(golden)) => {
            new.retain(|(name, _)| golden.iter().any(|(known, _)| known == name));
            for ((_, new), (_, golden)) in new.iter_mut().zip(golden) {
                without_added(new, golden);
            }
        }
        (Node::List(new), Node::List(golden)) => {
            for (new, golden) in new.iter_mut().zip(golden) {
                without_added(new, golden);
            }
        }
        _ => {}
    }
}

/// The first place at which two differ.
fn difference(path: &str, new: &Node, golden: &Node) -> Option<String> {
    match (new, golden) {
        (Node::Map(new), Node::Map(golden)) => {
            let names = |map: &[(String, Node)]| map.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            if names(new) != names(golden) {
                return Some(format!("{path}: members are {:?} and were {:?}", names(new), names(golden)));
            }
            new.iter()
                .zip(golden)
                .find_map(|((name, new), (_, golden))| difference(&format!("{path}/{name}"), new, golden))
        }
        (Node::List(new), Node::List(golden)) => {
            if new.len() != golden.len() {
                return Some(format!("{path}: {} elements, and there were {}", new.len(), golden.len()));
            }
            let pairs = new.iter().zip(golden).enumerate();
            pairs.into_iter().find_map(|(at, (new, golden))| difference(&format!("{path}/{at}"), new, golden))
        }
        _ => (new != golden).then(|| format!("{path}: {new:?}, and it was {golden:?}")),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

#[test]
fn every_metric_is_registered() {
    let run = run();
    let summary = run.summary();
    let names = run.trials().flat_map(|trial| trial.metrics.keys());
    for name in names.chain(summary.results.iter().flat_map(|entry| entry.metrics.keys())) {
        assert!(MetricDef::find(name).is_some(), "{name}: register it in crates/schema/src/metric.rs");
    }
}

fn run() -> Run {
    let mut run = Run::read(&folder()).unwrap();
    "run".clone_into(&mut run.path);
    run
}

#[test]
fn the_summary_is_the_same_but_for_what_was_added() {
    let golden: Node = serde_json::from_str(&golden("summary.json")).unwrap();
    let mut new: Node = serde_json::from_str(&serde_json::to_string(&run().summary()).unwrap()).unwrap();
    without_added(&mut new, &golden);
    assert_eq!(difference("", &new, &golden), None);
}

#[test]
fn exports_are_the_same_byte_for_byte() {
    let run = run();
    let (new, old) = (csv(&run.summary()), golden("results.csv"));
    for (new, old) in new.lines().zip(old.lines()) {
        assert_eq!(new, old);
    }
    assert_eq!(new.len(), old.len());
    let exported = jsonbench(&run).unwrap();
    let files: Vec<_> = exported.iter().map(|one| &one.file).collect();
    assert_eq!(serde_json::to_string_pretty(&files).unwrap() + "\n", golden("published.json"));
}

#[test]
fn the_journal_is_written_as_it_was() {
    let run = run();
    for (record, line) in run.records.iter().zip(golden("journal.ndjson").lines()) {
        // Phases of hot cells are settled when a run is read.
        let written = serde_json::to_string(record).unwrap();
        let (new, old): (Node, Node) =
            (serde_json::from_str(&written).unwrap(), serde_json::from_str(line).unwrap());
        let found = difference("", &new, &old).filter(|found| !found.starts_with("/phase: "));
        assert_eq!(found, None, "{line}");
    }
    assert_eq!(run.records.len(), golden("journal.ndjson").lines().count());
}
