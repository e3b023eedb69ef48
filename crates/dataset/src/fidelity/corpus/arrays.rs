//! Cases for arrays: elements, empty arrays, nulls, and malformed arrays.

use super::{Corpus, RfcRequirement};

const ARRAYS: &str = "RFC 8259 §5";

pub(super) fn add(corpus: &mut Corpus) {
    valid(corpus);
    malformed(corpus);
}

fn valid(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("array-empty", "an empty array as a member", "[]"),
        ("array-one", "an array of one number", "[1]"),
        ("array-of-empty", "an array of empty arrays", "[[],[],[]]"),
        ("array-of-empty-objects", "an array of empty objects", "[{},{}]"),
        ("array-empty-two-deep", "an empty array in an array", "[[]]"),
        ("array-nulls", "an array of nulls", "[null,null]"),
        ("array-null-inside", "a null between numbers", "[1,null,2]"),
        ("array-null-at-end", "a null at the end", "[1,null]"),
        ("array-mixed", "elements of all types", r#"[1,"1",true,null,{"a":1},[1],1.5]"#),
        ("array-number-and-string", "a number beside the string of its digits", r#"[1,"1"]"#),
        ("array-integer-and-fraction", "an integer beside a fraction", "[1,1.5]"),
        ("array-integer-and-object", "an integer beside an object", r#"[1,{"a":1}]"#),
        ("array-booleans-and-numbers", "true beside 1, false beside 0", "[true,1,false,0]"),
        ("array-of-objects", "objects with other members each", r#"[{"a":1},{"b":2},{"a":3,"b":4}]"#),
        (
            "array-objects-of-other-types",
            "objects whose members have other types",
            r#"[{"a":1},{"a":"x"},{"a":null}]"#,
        ),
        ("array-uneven", "arrays of other lengths in an array", "[[1],[1,2],[]]"),
        ("array-uneven-depth", "numbers beside arrays of numbers", "[1,[2,[3,[4]]]]"),
        ("array-twice-the-same", "an element twice", "[1,1]"),
        ("array-order", "numbers in no order", "[3,1,2]"),
        ("array-empty-strings", "empty strings", r#"["",""]"#),
    ] {
        corpus.value(RfcRequirement::Accept, name, ARRAYS, probes, value);
    }
    let long = |count: usize| {
        format!("[{}]", (0..count).map(|index| index.to_string()).collect::<Vec<_>>().join(","))
    };
    corpus.value(RfcRequirement::Accept, "array-1000", ARRAYS, "a thousand numbers", long(1_000));
    corpus.value(
        RfcRequirement::Choose,
        "array-100000",
        "RFC 8259 §9",
        "a hundred thousand numbers",
        long(100_000),
    );
}

fn malformed(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("array-comma-at-end", "a comma after the last element", "[1,]"),
        ("array-comma-first", "a comma before the first element", "[,1]"),
        ("array-two-commas", "two commas between elements", "[1,,2]"),
        ("array-comma-alone", "a comma and no element", "[,]"),
        ("array-no-comma", "no comma between elements", "[1 2]"),
        ("array-colon", "a colon for a comma", "[1:2]"),
        ("array-semicolon", "a semicolon for a comma", "[1;2]"),
        ("array-ends-as-object", "an array that ends as an object", "[1}"),
        ("array-member", "a member in an array", r#"["a":1]"#),
        ("array-parentheses", "parentheses for brackets", "(1,2)"),
        ("array-ellipsis", "dots for what is left out", "[1,...]"),
        ("array-double-end", "one bracket too many", "[1]]"),
    ] {
        corpus.value(RfcRequirement::Reject, name, ARRAYS, probes, value);
    }
    corpus.reject("array-no-end", ARRAYS, "an array without its end", "{\"v\":[1,2");
    corpus.reject("array-top-no-end", ARRAYS, "an array at the top without its end", "[1,2");
    corpus.reject(
        "array-top-comma-at-end",
        ARRAYS,
        "a comma after the last element of an array at the top",
        "[1,]",
    );
    corpus.reject("array-in-string-no-end", ARRAYS, "an array that ends in a string", "[\"a");
}
