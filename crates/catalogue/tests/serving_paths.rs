//! Tests that the built-in folders write paths with any names, or say why they cannot.

use std::collections::BTreeMap;

use jsonathlon_catalogue::{Catalogue, PathStep, SERVING, ServingSetup, fill_known};

/// Operations of which every system with documents of a user needs to name the path.
const OPERATIONS: [&str; 4] = ["update", "update_path", "read_modify_write", "read_paths"];

/// Setups of all systems in their default variants, by name.
fn setups() -> BTreeMap<String, ServingSetup> {
    let catalogue = Catalogue::load(&[]).unwrap();
    let mut setups = BTreeMap::new();
    for system in catalogue.systems() {
        for variant in system.variants_of(SERVING) {
            let configuration = system.configuration(system.default_version(), &variant.name, "default");
            // A reference has no serving workload.
            let Some(setup) = configuration.unwrap().serving() else { continue };
            setups.insert(format!("{}/{}", system.name(), variant.name), setup);
        }
    }
    setups
}

fn members(names: &[&str]) -> Vec<PathStep> {
    names.iter().map(|name| PathStep::Member((*name).to_owned())).collect()
}

/// The statement of an operation with the path filled in, as clients get it; otherwise the reason why not.
fn written(setup: &ServingSetup, operation: &str, names: &[&str]) -> String {
    let steps = members(names);
    if let Some(reason) = setup.unreachable_reason(operation, &steps) {
        return reason;
    }
    let mut values = setup.path_values(&steps);
    let (paths, columns) = setup.read_paths(&[steps]);
    values.extend([("paths", paths), ("columns", columns)]);
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let texts = setup.statements(operation).iter().map(|text| fill_known(text, &values).unwrap());
    texts.collect::<Vec<_>>().join("; ")
}

#[test]
fn hostile_names_are_written_as_each_system_reads_them() {
    let setups = setups();
    let has = |system: &str, operation: &str, names: &[&str], expected: &str| {
        let text = written(&setups[system], operation, names);
        assert!(text.contains(expected), "{system} {operation} {names:?}: {text}");
    };
    has("postgresql/jsonb-key", "update", &["a.b", "it's", ""], r#"'{"a.b","it''s",""}'"#);
    has("postgresql/jsonb-key", "read_paths", &["null"], r#"doc #>> '{"null"}'"#);
    has("mysql/json-key", "update", &["a.b", ""], r#"'$."a.b".""'"#);
    has("mysql/json-key", "update_path", &["a\"b\\"], r#"'$."a\\"b\\\\"'"#);
    has("mariadb/json-key", "update", &["a.b"], r#"'$."a.b"'"#);
    has("mariadb/json-key", "update", &["größe"], "as they are spelt");
    has("dolt/json-key", "update", &["a.b"], r#"'$."a.b"'"#);
    has("dolt/json-key", "update", &[""], "no such names");
    has("sqlite/key", "update", &["a.b", "", "größe"], r#"'$."a.b".""."größe"'"#);
    has("duckdb/json-key", "update", &["a.b", ""], "json_object('a.b', json_object('', {{value}}))");
    has("duckdb/json-key", "read_paths", &["a.b"], r#"doc ->> '$."a.b"'"#);
    has(
        "clickhouse/text-key",
        "update",
        &["a.b", "c"],
        r#"concat('{"a.b":', concat('{"c":', toJSONString({{value}}), '}'), '}')"#,
    );
    has("mongodb/id", "update", &["a", "b"], r#""$set": {"a.b": "{{value}}"}"#);
    has("mongodb/id", "update", &["a.b"], "a dot in a path leads to a member");
    has("elasticsearch/id-key", "update", &["a.b", "c"], r#"{"doc": {"a.b": {"c": "{{value}}"}}}"#);
    has("elasticsearch/id-key", "update_path", &["a", "b.c", ""], r#"ctx._source.a['b.c'][''] ="#);
    has("elasticsearch/id-key", "read_paths", &["a,b"], "takes such a name for a pattern");
}

#[test]
fn plain_names_are_written_as_those_of_generated_records() {
    let setups = setups();
    for (system, expected) in [
        ("duckdb/json-key", "json_merge_patch(doc, json_object('field0', {{value}}))"),
        ("clickhouse/text-key", r#"JSONMergePatch(doc, concat('{"field0":', toJSONString({{value}}), '}'))"#),
        ("elasticsearch/id-key", r#""body": {"doc": {"field0": "{{value}}"}}"#),
        ("postgresql/jsonb-key", "jsonb_set(doc, '{field0}', to_jsonb({{value}}::{{value_type}}))"),
        ("sqlite/key", "jsonb_set(doc, '$.field0', {{value}})"),
    ] {
        let text = written(&setups[system], "update", &["field0"]);
        assert!(text.contains(expected), "{system}: {text}");
    }
}

#[test]
fn no_statement_is_left_with_a_notation_that_was_not_filled() {
    let names =
        ["a.b", "", "it's", "\"", "\\", "{{key}}", "größe", "\n", "$set", "*", "[0]", "null", "1", "a b"];
    for (system, setup) in setups() {
        for operation in OPERATIONS.into_iter().filter(|name| !setup.statements(name).is_empty()) {
            for name in names {
                let text = written(&setup, operation, &[name]);
                for notation in ["path", "access", "dotted", "pointer", "braced", "patch"] {
                    let placeholder = format!("{{{{{notation}}}}}");
                    let is_reason = text.starts_with("its folder does not say");
                    assert!(is_reason || !text.contains(&placeholder), "{system} {operation} {name}: {text}");
                }
                assert!(!text.contains("{{key}}.") && text.len() > 10, "{system} {operation} {name}: {text}");
            }
        }
        let array = [PathStep::Member("a".to_owned()), PathStep::Element(1)];
        let patched = setup.statements("update").iter().any(|text| text.contains("{{patch}}"));
        assert_eq!(setup.unreachable_reason("update", &array).is_some(), patched, "{system}");
    }
}

#[test]
fn a_folder_that_types_keys_by_their_length_has_a_type_for_those_of_users() {
    for (system, setup) in setups() {
        let is_short = setup.text_key.contains("(23)");
        let is_own = setup.own_text_key != setup.text_key;
        assert!(is_own == is_short || setup.generated_only.is_some(), "{system}: {}", setup.own_text_key);
    }
}
