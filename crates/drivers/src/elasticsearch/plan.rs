//! Extracts a search's plan from its profile.

use jsonathlon_driver_api::driver::{DriverError, Result};
use serde_json::{Map, Value as Json};

/// Members of a profile that are kept. The others are times and counts, which are reported elsewhere and
/// would make every plan of the same statement a different text.
const KEPT: [&str; 11] = [
    "profile",
    "shards",
    "searches",
    "query",
    "rewritten_query",
    "type",
    "description",
    "collector",
    "aggregations",
    "children",
    "debug",
];
/// Members of `debug` objects that are kept, because they name an execution strategy.
const KEPT_DETAILS: [&str; 5] =
    ["collection_strategy", "result_strategy", "delegate", "delegate_debug", "map_reducer"];

/// Returns the plan in `answer` as indented JSON.
pub(super) fn text(answer: &str) -> Result<String> {
    let answer: Json =
        serde_json::from_str(answer).map_err(|error| DriverError::Protocol(error.to_string()))?;
    let Some(profile) = answer.get("profile") else {
        return Err(DriverError::Protocol("the server was asked for a profile and gave none".into()));
    };
    let filtered = filter_members(profile, &KEPT);
    serde_json::to_string_pretty(&filtered).map_err(|error| DriverError::Protocol(error.to_string()))
}

fn filter_members(value: &Json, names: &[&str]) -> Json {
    match value {
        Json::Array(elements) => elements.iter().map(|element| filter_members(element, names)).collect(),
        Json::Object(members) => {
            let mut filtered = Map::new();
            for (name, value) in members.iter().filter(|(name, _)| names.contains(&name.as_str())) {
                let inner_names: &[&str] =
                    if name.starts_with("debug") || name.ends_with("debug") { &KEPT_DETAILS } else { names };
                filtered.insert(name.clone(), filter_members(value, inner_names));
            }
            Json::Object(filtered)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_keeps_what_was_done_and_no_time() {
        let answer = json!({"took": 7, "profile": {"shards": [{
            "id": "[x][t][0]",
            "searches": [{"rewrite_time": 3, "query": [{"type": "BooleanQuery", "description": "+a:b",
                "time_in_nanos": 5, "breakdown": {"score": 1}}]}],
            "aggregations": [{"type": "A", "debug": {"collection_strategy": "dense", "segments": 7}}]
        }]}});
        let plan: Json = serde_json::from_str(&text(&answer.to_string()).unwrap()).unwrap();
        let expected = json!({"shards": [{
            "searches": [{"query": [{"type": "BooleanQuery", "description": "+a:b"}]}],
            "aggregations": [{"type": "A", "debug": {"collection_strategy": "dense"}}]
        }]});
        assert_eq!(plan, expected);
        assert!(text("{}").is_err());
    }
}
