//! Tests of the templates of generated questions: how each built-in system writes paths with hostile keys,
//! and quoted values.

use jsonathlon_catalogue::{
    Catalogue, FirstQuestion, FirstQuestionError, KnownPath, QUESTIONS, TemplateKind, WorkloadSetup,
};

/// The questions section of a built-in system, as used to generate questions.
fn part(system: &str) -> WorkloadSetup {
    let catalogue = Catalogue::load(&[]).unwrap();
    let system = catalogue.get(system).unwrap();
    let variant = system.variants_of(QUESTIONS).iter().find(|one| one.is_default).unwrap();
    let configuration = system.configuration(system.default_version(), &variant.name, "default").unwrap();
    configuration.setups.get(QUESTIONS).unwrap().clone()
}

fn keys(all: &[&str]) -> Vec<String> {
    all.iter().map(|key| (*key).to_owned()).collect()
}

/// Generates the question on a path with a single type, with no other paths in the documents.
fn alone(
    part: &WorkloadSetup,
    kind: TemplateKind,
    keys: &[String],
    value: &str,
) -> Result<String, FirstQuestionError> {
    part.first_question(&FirstQuestion { kind, keys, value, is_mixed: false, paths: &[] })
}

#[test]
fn hostile_keys_are_written_as_each_system_reads_them() {
    for (system, path) in [
        ("postgresql", r#"doc -> 'a b.c"d''e' -> 'x\y'"#),
        ("mysql", r#"'$."a b.c\\"d''e"."x\\\\y"'"#),
        ("mariadb", r#"'$."a b.c\\"d''e"."x\\\\y"'"#),
        ("sqlite", r#"'$."a b.c\"d''e"."x\\y"'"#),
        ("duckdb", r#"doc['a b.c"d''e']['x\y']"#),
        ("clickhouse", r#"doc.`a b%2Ec"d'e`.`x\\y`"#),
        ("elasticsearch", r#""a b.c\"d'e.x\\y""#),
        (
            "mongodb",
            r#"{"$getField": {"field": {"$literal": "x\\y"}, "input": {"$getField": {"field": {"$literal": "a b.c\"d'e"}, "input": "$$ROOT"}}}}"#,
        ),
    ] {
        let part = part(system);
        for kind in TemplateKind::ALL {
            let text = alone(&part, kind, &keys(&["a b.c\"d'e", "x\\y"]), "it's \"{x}\"").unwrap();
            assert!(text.contains(path), "{system} {}: {text}", kind.word());
            assert!(text.contains("{{table}}") && !text.contains("{{path}}") && !text.contains("{{value}}"));
        }
    }
}

#[test]
fn every_system_that_keeps_documents_writes_every_kind() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let able: Vec<&str> = catalogue
        .systems()
        .iter()
        .filter(|one| one.supports_workload(QUESTIONS))
        .map(jsonathlon_catalogue::System::name)
        .collect();
    assert_eq!(able.len(), catalogue.systems().iter().filter(|one| !one.is_reference()).count());
    for system in able {
        let part = part(system);
        for kind in TemplateKind::ALL {
            assert!(alone(&part, kind, &keys(&["a"]), "v").is_ok(), "{system} {}", kind.word());
        }
    }
}

#[test]
fn what_would_end_a_line_or_begin_a_placeholder_is_written_otherwise() {
    for (system, key, path) in [
        ("sqlite", "a;\nb", r#"'$."a;\u000ab"'"#),
        ("sqlite", "{{table}}", r#"'$."{{braces}}table}}"'"#),
        ("mysql", "a\nb", r#"'$."a\\u000ab"'"#),
        ("clickhouse", "a\nb", r"doc.`a\x0ab`"),
        ("postgresql", "a\nb", "doc -> ('a' || chr(10) || 'b')"),
        ("duckdb", "a\u{7f}b", "doc['a' || chr(127) || 'b']"),
        ("mongodb", "\t", r#"{"$literal": "\u0009"}"#),
        ("elasticsearch", "\t", r#""\u0009""#),
    ] {
        let text = alone(&part(system), TemplateKind::Filter, &keys(&[key]), "{{x}}\n").unwrap();
        assert!(text.contains(path), "{system} {key:?}: {text}");
        assert!(text.contains("{{braces}}x}}") && !text.contains("{{x}}"), "{system}: {text}");
    }
}

#[test]
fn what_stands_for_more_than_is_asked_about_is_asked_otherwise_or_not_at_all() {
    let known = |all: &[&str], is_in_array: bool| KnownPath { keys: keys(all), is_in_array };
    let paths = [
        known(&["a", "b"], false),
        known(&["a.b"], false),
        known(&["a%2Eb"], false),
        known(&["c", "d"], true),
        known(&["c", "d"], false),
    ];
    let ask = |system: &str, all: &[&str], is_mixed: bool| {
        let (part, keys) = (part(system), keys(all));
        part.first_question(&FirstQuestion {
            kind: TemplateKind::Count,
            keys: &keys,
            value: "",
            is_mixed,
            paths: &paths,
        })
    };
    // ClickHouse treats both as the same path.
    let FirstQuestionError::Unreachable(why) = ask("clickhouse", &["a.b"], false).unwrap_err() else {
        panic!()
    };
    assert!(why.contains(r#"["a.b"]"#) && why.contains(r#"["a%2Eb"]"#), "{why}");
    assert!(ask("clickhouse", &["a", "b"], false).is_ok());
    let by_document = |answer: Result<String, FirstQuestionError>| answer.unwrap().contains("_source");
    assert!(by_document(ask("elasticsearch", &["a.b"], false)));
    assert!(by_document(ask("elasticsearch", &["a", "b"], false)));
    assert!(
        by_document(ask("elasticsearch", &["c", "d"], false)),
        "elements of arrays are among a field's values"
    );
    assert!(!by_document(ask("elasticsearch", &["a%2Eb"], false)));
    assert!(by_document(ask("elasticsearch", &["a%2Eb"], true)), "and so are values of other types");
    for system in ["postgresql", "mysql", "mariadb", "dolt", "sqlite", "duckdb"] {
        for all in [&["a", "b"][..], &["a.b"], &["c", "d"]] {
            assert_eq!(ask(system, all, true), ask(system, all, false), "{system} tests the type");
        }
    }
    assert_eq!(alone(&part("sqlite"), TemplateKind::Count, &[], ""), Err(FirstQuestionError::NoTemplate));
}

#[test]
fn what_alters_documents_is_said() {
    assert!(!part("elasticsearch").alterations(&keys(&["a.b"])).is_empty());
    assert!(part("elasticsearch").alterations(&keys(&["a", "b"])).is_empty());
    assert!(part("postgresql").alterations(&keys(&["a.b"])).is_empty());
}
