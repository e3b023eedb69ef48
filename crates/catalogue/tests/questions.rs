//! Tests of the templates of generated questions: how each built-in system writes paths with hostile keys,
//! and quoted values.

use jsonathlon_catalogue::{
    Catalogue, FirstQuestion, FirstQuestionError, KnownPath, QUESTIONS, StatementKind, WorkloadSetup,
};
use jsonathlon_schema::{
    first_question::FirstQuestionKind,
    time_bucket::{TimeBucket, TimeUnit},
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

/// Generates the question on a path with a single type, with no other paths in the documents. Pairs are asked
/// of the path and its first member.
fn alone(
    part: &WorkloadSetup,
    kind: FirstQuestionKind,
    keys: &[String],
    value: &str,
) -> Result<String, FirstQuestionError> {
    let beside = keys.get(..1).filter(|_| kind == FirstQuestionKind::Pairs).unwrap_or_default();
    part.first_question(&FirstQuestion { value, second_keys: beside, ..FirstQuestion::new(kind, keys) })
}

/// Kinds of questions that a system is asked. Elasticsearch groups by one field only: its aggregation of several is
/// in a module that the program does not install.
fn kinds_of(system: &str) -> Vec<FirstQuestionKind> {
    let is_asked = |kind: &FirstQuestionKind| system != "elasticsearch" || *kind != FirstQuestionKind::Pairs;
    FirstQuestionKind::ALL.into_iter().filter(is_asked).collect()
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
        for kind in kinds_of(system) {
            let text = alone(&part, kind, &keys(&["a b.c\"d'e", "x\\y"]), "it's \"{x}\"").unwrap();
            // Elements are found by the names of members, without the notation of paths.
            let members = r#"{"members": ["a b.c\"d'e","x\\y"]"#;
            let is_by_members = kind == FirstQuestionKind::Elements && text.contains(members);
            assert!(text.contains(path) || is_by_members, "{system} {}: {text}", kind.word());
            assert!(text.contains("{{table}}"));
            for placeholder in text.split("{{").skip(1) {
                let name = placeholder.split("}}").next().unwrap();
                assert!(["table", "braces"].contains(&name), "{system} {}: {name}", kind.word());
            }
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
        for kind in FirstQuestionKind::ALL {
            let is_written = alone(&part, kind, &keys(&["a"]), "v").is_ok();
            assert_eq!(is_written, kinds_of(system).contains(&kind), "{system} {}", kind.word());
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
        let text = alone(&part(system), FirstQuestionKind::Filter, &keys(&[key]), "{{x}}\n").unwrap();
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
            is_mixed,
            paths: &paths,
            ..FirstQuestion::new(FirstQuestionKind::Count, &keys)
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
    assert_eq!(
        alone(&part("sqlite"), FirstQuestionKind::Count, &[], ""),
        Err(FirstQuestionError::NoTemplate)
    );
}

#[test]
fn statements_that_do_not_test_types_have_a_caveat() {
    let keys = keys(&["a"]);
    for system in able() {
        let part = part(&system);
        for kind in kinds_of(&system) {
            let question = FirstQuestion { second_keys: &keys, ..FirstQuestion::new(kind, &keys) };
            let caveat = part.type_caveat(&question);
            // Elements are counted from the documents.
            let is_expected = system == "elasticsearch" && kind != FirstQuestionKind::Elements;
            assert_eq!(caveat.is_some(), is_expected, "{system} {}: {caveat:?}", kind.word());
            let exact = FirstQuestion { is_mixed: true, ..question };
            assert_eq!(part.type_caveat(&exact), None, "{system} {}", kind.word());
        }
    }
    let pairs = FirstQuestion { second_keys: &keys, ..FirstQuestion::new(FirstQuestionKind::Pairs, &keys) };
    assert_eq!(part("elasticsearch").type_caveat(&pairs), None, "it is not asked");
}

#[test]
fn what_alters_documents_is_said() {
    assert!(!part("elasticsearch").alterations(&keys(&["a.b"])).is_empty());
    assert!(part("elasticsearch").alterations(&keys(&["a", "b"])).is_empty());
    assert!(part("postgresql").alterations(&keys(&["a.b"])).is_empty());
}

/// Names of the systems that are asked questions of users.
fn able() -> Vec<String> {
    let catalogue = Catalogue::load(&[]).unwrap();
    let able = catalogue.systems().iter().filter(|one| one.supports_workload(QUESTIONS));
    able.map(|one| one.name().to_owned()).collect()
}

#[test]
fn elements_and_their_members_are_written_as_each_system_reads_them() {
    let (array, inner) = (keys(&["a'b", "c"]), keys(&["x'~/\"y"]));
    for (system, path, element) in [
        ("postgresql", "doc -> 'a''b' -> 'c'", r#"element -> 'x''~/"y'"#),
        ("mysql", r#"'$."a''b"."c"'"#, r#"'$."x''~/\\"y"'"#),
        ("mariadb", r#"'$."a''b"."c"'"#, r#"'$."x''~/\\"y"'"#),
        ("sqlite", r#"'$."a''b"."c"'"#, r#"'$."x''~/\"y"'"#),
        ("duckdb", "doc['a''b']['c']", r#"WHEN 'OBJECT' THEN element END, '/x''~0~1"y')"#),
        ("clickhouse", "doc.`a'b`.`c`", r#"JSONExtractRaw(element, 'x\'~/"y')"#),
        ("elasticsearch", r#"["a'b","c"]"#, r#"["x'~/\"y"]"#),
        ("mongodb", r#"{"$literal": "a'b"}"#, r#"{"$literal": "x'~/\"y"}, "input": "$element"}"#),
    ] {
        let part = part(system);
        let ask = |second_keys: &[String]| {
            let question = FirstQuestion::new(FirstQuestionKind::Elements, &array);
            part.first_question(&FirstQuestion { second_keys, ..question }).unwrap()
        };
        let text = ask(&inner);
        assert!(text.contains(path) && text.contains(element), "{system}: {text}");
        let text = ask(&[]);
        assert!(text.contains(path) && !text.contains("~"), "{system}: {text}");
    }
    let unnamed = keys(&[""]);
    for system in ["duckdb", "dolt"] {
        let question = FirstQuestion::new(FirstQuestionKind::Elements, &array);
        let asked = part(system).first_question(&FirstQuestion { second_keys: &unnamed, ..question });
        assert!(matches!(asked, Err(FirstQuestionError::Unreachable(_))), "{system}: {asked:?}");
    }
}

#[test]
fn times_are_counted_by_the_same_characters_and_the_same_range_everywhere() {
    let at = keys(&["at"]);
    for system in able() {
        let part = part(&system);
        let ask = |kind: FirstQuestionKind, unit: TimeUnit, ticks_per_second: u64| {
            let bucket = TimeBucket { unit, ticks_per_second };
            part.first_question(&FirstQuestion { bucket, ..FirstQuestion::new(kind, &at) }).unwrap()
        };
        let day = ask(FirstQuestionKind::Dates, TimeUnit::Day, 1);
        let hour = ask(FirstQuestionKind::Dates, TimeUnit::Hour, 1);
        let patterns =
            |text: &str| text.contains("[0-9]{4}-[0-9]{2}-[0-9]{2}") || text.contains("[0-9]-[0-9][0-9]*");
        assert!(patterns(&day) && day.contains("10)") | day.contains("10]"), "{system}: {day}");
        assert!(
            hour.contains("[T ][0-9]") && hour.contains("13)") | hour.contains("13]"),
            "{system}: {hour}"
        );
        let epochs = ask(FirstQuestionKind::Epochs, TimeUnit::Hour, 1_000);
        for number in ["3600000", "3600000000", "631152000000", "4102444800000"] {
            assert!(epochs.contains(number), "{system}, {number}: {epochs}");
        }
    }
}

#[test]
fn requests_of_every_kind_are_json() {
    for system in able() {
        let part = part(&system);
        if part.files["load"].kind != StatementKind::Json {
            continue;
        }
        for (kind, is_mixed) in kinds_of(&system).into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            let (keys, second) = (keys(&["a\"b"]), keys(&["c\n\\"]));
            let question =
                FirstQuestion { second_keys: &second, is_mixed, ..FirstQuestion::new(kind, &keys) };
            let text = part.first_question(&question).unwrap();
            let parsed = serde_json::from_str::<serde_json::Value>(&text);
            assert!(parsed.is_ok(), "{system} {}: {parsed:?}\n{text}", kind.word());
        }
    }
}

#[test]
fn a_pair_is_asked_about_only_where_both_paths_are_told_from_others() {
    let paths = ["a.b", "a%2Eb", "c"].map(|key| KnownPath { keys: keys(&[key]), is_in_array: false });
    let (c, other) = (keys(&["c"]), keys(&["a.b"]));
    let ask = |system: &str, keys: &[String], second_keys: &[String]| {
        let question = FirstQuestion::new(FirstQuestionKind::Pairs, keys);
        part(system).first_question(&FirstQuestion { second_keys, paths: &paths, ..question })
    };
    for (keys, second) in [(&c, &other), (&other, &c)] {
        let refused = ask("clickhouse", keys, second).unwrap_err().to_string();
        assert!(refused.contains(r#"["a.b"]"#), "{refused}");
        let asked = ask("postgresql", keys, second).unwrap();
        assert!(asked.contains("doc -> 'c'") && asked.contains("doc -> 'a.b'"), "{asked}");
    }
    let Err(FirstQuestionError::NotAsked(why)) = ask("elasticsearch", &c, &other) else { panic!() };
    assert!(why.contains("multi_terms"), "{why}");
}
