//! Paths of scalar values that nearly all documents have.

use std::collections::BTreeMap;

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
pub(super) fn common_paths(documents: &[(&[u8], Value)]) -> Vec<OwnPath> {
    let mut counts = BTreeMap::new();
    for (_, document) in documents {
        count_scalars(document, &mut Vec::new(), &mut counts);
    }
    let needed = SHARE * documents.len() as f64;
    let common = counts.iter().filter(|(_, count)| **count as f64 >= needed).take(MAX_PATHS);
    let paths: Vec<OwnPath> = common
        .map(|(steps, _)| OwnPath {
            steps: steps.iter().map(|step| PathSegment::Member((*step).to_owned())).collect(),
        })
        .collect();
    in_document_order(paths, documents.first().map(|(text, _)| *text).unwrap_or_default())
}

/// Counts the scalar values of a document by their paths, which begin with `steps`.
fn count_scalars<'v>(value: &'v Value, steps: &mut Vec<&'v str>, counts: &mut BTreeMap<Vec<&'v str>, usize>) {
    match value {
        Value::Object(members) => {
            let is_searched = steps.len() < MAX_DEPTH;
            for (name, member) in members.iter().filter(|_| is_searched) {
                steps.push(name);
                count_scalars(member, steps, counts);
                steps.pop();
            }
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) => {
            if let Some(known) = counts.get_mut(steps) {
                *known += 1;
            } else if counts.len() < MAX_COUNTED {
                counts.insert(steps.clone(), 1);
            }
        }
        Value::Array(_) | Value::Null => {}
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
        let paths: Vec<String> = common_paths(&documents).iter().map(OwnPath::to_string).collect();
        assert_eq!(paths, ["/z", "/a/b.c", "/a/"]);
        assert!(common_paths(&[]).is_empty());
    }
}
