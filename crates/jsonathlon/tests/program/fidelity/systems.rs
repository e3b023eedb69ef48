//! Every system with a few documents that distinguish it: findings documented by its vendor, or observed.

use jsonathlon_results::summary::Summary;

use super::{start, told};
use crate::support::real::{SMALL, excluded, soon_up};
use crate::support::{LIMIT, World};

/// Cases in which systems differ, and one that all of them keep.
const CASES: &str = "literal-true,order-descending,duplicate-key,string-nul,number-30-digits,number-beyond-doubles,\
                     null-member,empty-object,surrogate-high,object-comma-at-end,utf8-ff,space-pretty,comment-first";

/// Systems whose nesting limit is searched: those with a low limit that is asserted here.
const SEARCHED: [&str; 4] = ["sqlite", "mysql", "mariadb", "mongodb"];

/// Runs the cases on a variant of a system. `None` if the system is excluded.
fn tried(system: &str, variant: &str) -> Option<Summary> {
    if excluded(&[system]) {
        return None;
    }
    let world = World::new();
    if system == "elasticsearch" {
        soon_up(&world.path("systems"));
    }
    let is_searched = SEARCHED.contains(&system);
    let cases = if is_searched { format!("{CASES},deepest-") } else { CASES.to_owned() };
    let arguments = ["--variants", variant, "--cases", &cases, SMALL[0], SMALL[1]];
    let summary = start(&world, system, &arguments).end(LIMIT).expect(0).summary();
    assert!(summary.complete && summary.failures.is_empty(), "{:?}", summary.failures);
    let found = summary.results.iter().filter(|entry| !entry.findings.is_empty()).count();
    assert_eq!(found, if is_searched { 15 } else { 13 });
    for way in ["bulk", "parameter"] {
        let found = told(&summary, system, "literal-true");
        assert_eq!(found[way], "accepted", "{found:?}");
        let whole = &found[&format!("{way}, whole")];
        assert!(whole.starts_with("same "), "{found:?}");
    }
    world.nothing_left();
    Some(summary)
}

fn expect(summary: Option<Summary>, system: &str, expected: &[(&str, &str, &str)]) {
    let Some(summary) = summary else { return };
    for (case, of, state) in expected {
        let found = told(&summary, system, case);
        assert_eq!(found.get(*of).map(String::as_str), Some(*state), "{system} {case}: {found:?}");
    }
}

#[test]
fn sqlite_keeps_text_and_mends_what_is_nearly_json() {
    let jsonb = tried("sqlite", "jsonb");
    expect(
        jsonb,
        "sqlite",
        &[
            ("number-30-digits", "bulk, whole", "same bytes"),
            ("number-30-digits", "bulk, value", "changed: number value"),
            ("duplicate-key", "parameter, whole", "same bytes"),
            ("object-comma-at-end", "parameter, whole", "changed: repair"),
            ("space-pretty", "bulk, whole", "same value: white space"),
            ("utf8-ff", "bulk, whole", "same bytes"),
            ("utf8-ff", "parameter", "not tested"),
            ("deepest-arrays", "levels accepted", "1000"),
            ("deepest-objects", "levels rejected", "1001: rejected"),
        ],
    );
}

#[test]
fn duckdb_keeps_text_that_is_nearly_json() {
    expect(
        tried("duckdb", "json-table"),
        "duckdb",
        &[
            ("number-30-digits", "bulk, whole", "same bytes"),
            ("object-comma-at-end", "bulk, whole", "same bytes"),
            ("surrogate-high", "parameter", "rejected"),
            ("utf8-ff", "bulk", "rejected"),
        ],
    );
}

#[test]
fn clickhouse_drops_nulls_and_empty_objects() {
    expect(
        tried("clickhouse", "json"),
        "clickhouse",
        &[
            ("null-member", "bulk, whole", "changed: null members"),
            ("empty-object", "parameter, whole", "changed: empty containers"),
            ("order-descending", "bulk, whole", "same value: key order"),
            ("duplicate-key", "bulk", "rejected"),
        ],
    );
}

#[test]
fn postgresql_jsonb_keeps_every_digit_and_no_nul() {
    expect(
        tried("postgresql", "jsonb"),
        "postgresql",
        &[
            ("number-30-digits", "bulk, whole", "same value: white space"),
            ("number-beyond-doubles", "parameter, whole", "same value: white space, number form"),
            ("string-nul", "bulk", "rejected"),
            ("duplicate-key", "bulk, whole", "changed: white space, duplicate keys"),
            ("utf8-ff", "bulk", "rejected"),
        ],
    );
}

#[test]
fn mysql_holds_numbers_as_doubles() {
    expect(
        tried("mysql", "json"),
        "mysql",
        &[
            ("number-30-digits", "bulk, whole", "changed: white space, number value"),
            ("number-beyond-doubles", "parameter", "rejected"),
            ("order-descending", "bulk, whole", "same value: white space, key order"),
            // A null that is extracted and unquoted becomes the word `null`.
            ("null-member", "bulk, value", "changed: type"),
            ("deepest-arrays", "levels accepted", "100"),
            ("deepest-objects", "levels rejected", "101: rejected"),
        ],
    );
}

#[test]
fn mariadb_keeps_text() {
    expect(
        tried("mariadb", "json"),
        "mariadb",
        &[
            ("number-30-digits", "bulk, whole", "same bytes"),
            ("space-pretty", "parameter, whole", "same bytes"),
            ("surrogate-high", "bulk", "rejected"),
            ("duplicate-key", "bulk, value", "changed: duplicate keys"),
            ("deepest-arrays", "levels accepted", "31"),
            ("deepest-objects", "levels accepted", "31"),
        ],
    );
}

#[test]
fn mongodb_takes_what_bson_holds() {
    expect(
        tried("mongodb", "bson-alone"),
        "mongodb",
        &[
            ("order-descending", "bulk, whole", "same bytes"),
            // Numbers beyond 64 bits are stored as doubles.
            ("number-30-digits", "bulk, whole", "changed: number value"),
            ("number-beyond-doubles", "bulk", "rejected"),
            ("string-nul", "parameter, whole", "same bytes"),
            ("deepest-objects", "levels accepted", "180"),
            ("deepest-objects", "levels rejected", "181: rejected"),
        ],
    );
}

#[test]
fn dolt_makes_doubles_of_numbers_and_letters_of_bytes() {
    expect(
        tried("dolt", "json"),
        "dolt",
        &[
            ("number-30-digits", "parameter, whole", "changed: number value"),
            ("surrogate-high", "bulk, whole", "changed: characters"),
            ("utf8-ff", "bulk, whole", "changed: repair"),
            ("order-descending", "bulk, whole", "same value: key order"),
        ],
    );
}

#[test]
fn elasticsearch_keeps_the_source_as_it_came() {
    expect(
        tried("elasticsearch", "mapped"),
        "elasticsearch",
        &[
            ("order-descending", "bulk, whole", "same bytes"),
            ("null-member", "parameter, whole", "same bytes"),
            ("space-pretty", "bulk", "not tested"),
            ("object-comma-at-end", "bulk", "rejected"),
            // Elasticsearch truncates the answer that contains the text, and continues to work.
            ("comment-first", "parameter", "accepted"),
            ("comment-first", "parameter, whole", "unreadable"),
        ],
    );
}
