//! Templates of first questions: how each built-in system writes a path of hostile keys, and a value with quotes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use jsonathlon_systems::{Catalogue, Kind, Part, QUESTIONS};

/// The part of a built-in system, as a first question is written from it.
fn part(system: &str) -> Part {
    let catalogue = Catalogue::load(&[]).unwrap();
    let system = catalogue.get(system).unwrap();
    let variant = system.variants_of(QUESTIONS).iter().find(|one| one.is_default).unwrap();
    let configuration = system.configuration(system.default_version(), &variant.name, "default").unwrap();
    configuration.parts.get(QUESTIONS).unwrap().clone()
}

fn keys(all: &[&str]) -> Vec<String> {
    all.iter().map(|key| (*key).to_owned()).collect()
}

#[test]
fn hostile_keys_are_written_as_each_system_reads_them() {
    for (system, path) in [
        ("postgresql", r#"doc -> 'a b.c"d''e' -> 'x\y'"#),
        ("mysql", r#"'$."a b.c\\"d''e"."x\\\\y"'"#),
        ("dolt", r#"'$."a b.c\\"d''e"."x\\\\y"'"#),
        ("mariadb", r#"'$."a b.c\\"d''e"."x\\\\y"'"#),
        ("sqlite", r#"'$."a b.c\"d''e"."x\\y"'"#),
        ("duckdb", r#"'$."a b.c\"d''e"."x\\y"'"#),
        ("clickhouse", r#"doc.`a b%2Ec"d'e`.`x\\y`"#),
        ("elasticsearch", r#""a b.c\"d'e.x\\y""#),
        (
            "mongodb",
            r#"{"$getField": {"field": {"$literal": "x\\y"}, "input": {"$getField": {"field": {"$literal": "a b.c\"d'e"}, "input": "$$ROOT"}}}}"#,
        ),
    ] {
        let part = part(system);
        for kind in Kind::ALL {
            let text = part.first_question(kind, &keys(&["a b.c\"d'e", "x\\y"]), "it's \"{x}\"").unwrap();
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
        .filter(|one| one.runs(QUESTIONS))
        .map(jsonathlon_systems::System::name)
        .collect();
    assert_eq!(able.len(), catalogue.systems().iter().filter(|one| !one.is_reference()).count());
    for system in able {
        let part = part(system);
        for kind in Kind::ALL {
            assert!(part.first_question(kind, &keys(&["a"]), "v").is_some(), "{system} {}", kind.word());
        }
    }
}

#[test]
fn what_no_line_or_no_placeholder_can_hold_is_not_written() {
    let part = part("sqlite");
    for key in ["a\nb", "{{table}}", "a\u{7f}"] {
        assert_eq!(part.first_question(Kind::Count, &keys(&[key]), ""), None, "{key:?}");
    }
    assert_eq!(part.first_question(Kind::Filter, &keys(&["a"]), "{{x}}"), None);
    assert_eq!(part.first_question(Kind::Count, &[], ""), None);
}

#[test]
fn what_alters_documents_is_said() {
    assert!(!part("elasticsearch").alters(&keys(&["a.b"])).is_empty());
    assert!(part("elasticsearch").alters(&keys(&["a", "b"])).is_empty());
    assert!(part("postgresql").alters(&keys(&["a.b"])).is_empty());
}
