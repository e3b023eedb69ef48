//! Paths of scalar values that nearly all documents have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::own_records::OwnPath;
use crate::records::PathSegment;
use crate::value_digest::{CapturePlan, ValueDigester};

/// Share of the documents that must have a path.
const SHARE: f64 = 0.95;
/// Number of paths that are kept.
const MAX_PATHS: usize = 60;
/// Number of levels that are searched.
const MAX_DEPTH: usize = 16;
/// Number of different paths that are counted; those of documents with ever new names are not.
const MAX_COUNTED: usize = 10_000;

/// Returns the paths of members with a scalar value in at least 95 % of the documents, in the order in which
/// the first document has them.
///
/// A path is left out if any of the documents has an array on the way, or an array or object in place of the
/// value. Systems agree on what a path means only where there is none: to some, it goes on in the elements of an
/// array.
pub(super) fn scalar_paths(documents: &[(&[u8], Value)]) -> Vec<OwnPath> {
    let mut counts = PathCounts::default();
    for (_, document) in documents {
        counts.add(document, &mut Vec::new());
    }
    let needed = SHARE * documents.len() as f64;
    let common = counts
        .scalars
        .iter()
        .filter(|(steps, count)| **count as f64 >= needed && !counts.has_container(steps))
        .take(MAX_PATHS);
    let paths: Vec<OwnPath> = common
        .map(|(steps, _)| OwnPath {
            steps: steps.iter().map(|step| PathSegment::Member((*step).to_owned())).collect(),
        })
        .collect();
    in_document_order(paths, documents.first().map(|(text, _)| *text).unwrap_or_default())
}

/// What documents have at the paths of their members.
#[derive(Default)]
struct PathCounts<'v> {
    /// Number of scalar values by path.
    scalars: BTreeMap<Vec<&'v str>, usize>,
    arrays: BTreeSet<Vec<&'v str>>,
    objects: BTreeSet<Vec<&'v str>>,
}

impl<'v> PathCounts<'v> {
    fn add(&mut self, value: &'v Value, steps: &mut Vec<&'v str>) {
        match value {
            Value::Object(members) => {
                note(&mut self.objects, steps);
                let is_searched = steps.len() < MAX_DEPTH;
                for (name, member) in members.iter().filter(|_| is_searched) {
                    steps.push(name);
                    self.add(member, steps);
                    steps.pop();
                }
            }
            Value::Array(_) => note(&mut self.arrays, steps),
            Value::String(_) | Value::Number(_) | Value::Bool(_) => {
                if let Some(known) = self.scalars.get_mut(steps) {
                    *known += 1;
                } else if self.scalars.len() < MAX_COUNTED {
                    self.scalars.insert(steps.clone(), 1);
                }
            }
            Value::Null => {}
        }
    }

    /// Returns `true` if a document has an array on the way of a path, or an array or object at its end.
    fn has_container(&self, steps: &[&'v str]) -> bool {
        let is_array_at =
            |length: usize| steps.get(..length).is_some_and(|steps| self.arrays.contains(steps));
        (1..=steps.len()).any(is_array_at) || self.objects.contains(steps)
    }
}

fn note<'v>(paths: &mut BTreeSet<Vec<&'v str>>, steps: &[&'v str]) {
    if paths.len() < MAX_COUNTED && !paths.contains(steps) {
        paths.insert(steps.to_vec());
    }
}

fn in_document_order(paths: Vec<OwnPath>, document: &[u8]) -> Vec<OwnPath> {
    let mut plan = CapturePlan::default();
    for path in &paths {
        plan.add(&path.steps, false);
    }
    let mut digester = ValueDigester::new();
    // A document that cannot be digested leaves the order by names.
    let starts: Vec<usize> = match digester.digest(document, &plan) {
        Ok(_) => digester.captured().iter().map(|captured| captured.start).collect(),
        Err(_) => vec![0; paths.len()],
    };
    let mut ordered: Vec<(usize, OwnPath)> = starts.into_iter().zip(paths).collect();
    ordered.sort_by_key(|(start, _)| *start);
    ordered.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_nearly_all_documents_are_found_in_their_order() {
        let texts: Vec<String> = (0..100)
            .map(|number| match number {
                0..96 => format!(r#"{{"z":1,"a":{{"b.c":true,"":"x"}},"n":null,"l":[1],"k{number}":1}}"#),
                96..100 => r#"{"z":1}"#.to_owned(),
                _ => unreachable!(),
            })
            .collect();
        let documents: Vec<(&[u8], Value)> =
            texts.iter().map(|text| (text.as_bytes(), serde_json::from_str(text).unwrap())).collect();
        let paths: Vec<String> = scalar_paths(&documents).iter().map(OwnPath::to_string).collect();
        assert_eq!(paths, ["/z", "/a/b.c", "/a/"]);
        assert!(scalar_paths(&[]).is_empty());
    }

    #[test]
    fn paths_on_which_systems_disagree_are_left_out() {
        let texts: Vec<String> = (0..100)
            .map(|number| match number {
                50 => r#"{"a":[{"b":1}],"c":{"d":{"e":1}},"f":[1],"g":1}"#.to_owned(),
                51 => r#"{"a":null,"c":null,"f":null,"g":null}"#.to_owned(),
                _ => r#"{"a":{"b":1,"x":{"y":2}},"c":{"d":1},"f":1,"g":1}"#.to_owned(),
            })
            .collect();
        let documents: Vec<(&[u8], Value)> =
            texts.iter().map(|text| (text.as_bytes(), serde_json::from_str(text).unwrap())).collect();
        let paths = |documents: &[(&[u8], Value)]| -> Vec<String> {
            scalar_paths(documents).iter().map(OwnPath::to_string).collect()
        };
        // In document 50, `/a/b` leads through an array, and `/c/d` and `/f` to an object and an array.
        assert_eq!(paths(&documents), ["/g"]);
        assert_eq!(paths(&documents[..50]), ["/a/b", "/a/x/y", "/c/d", "/f", "/g"]);
    }
}
