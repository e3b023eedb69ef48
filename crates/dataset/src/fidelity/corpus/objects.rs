//! Cases for objects: keys, duplicates, order, empty objects, null members, and malformed objects.

use super::{Corpus, RfcRequirement};

const OBJECTS: &str = "RFC 8259 §4";

pub(super) fn add(corpus: &mut Corpus) {
    key_orders(corpus);
    valid(corpus);
    keys(corpus);
    long_keys(corpus);
    duplicates(corpus);
    malformed(corpus);
}

/// Adds objects whose keys a system may sort.
fn key_orders(corpus: &mut Corpus) {
    for (name, probes, text) in [
        ("order-descending", "keys in descending order", r#"{"z":1,"y":2,"x":3,"v":4}"#),
        (
            "order-by-length",
            "keys that are sorted differently by length than by letter",
            r#"{"bb":1,"a":2,"ccc":3,"v":4}"#,
        ),
        ("order-numbers", "keys that look like numbers, not in their order", r#"{"10":1,"9":2,"1":3,"v":4}"#),
        ("order-inside", "keys of an inner object in descending order", r#"{"v":{"b":1,"a":2}}"#),
        ("order-of-capitals", "keys that differ in capitals, capitals last", r#"{"a":1,"B":2,"A":3,"v":4}"#),
        (
            "order-of-utf-16",
            "keys whose order differs between UTF-8 and UTF-16",
            "{\"\u{ff5e}\":1,\"\u{1f600}\":2,\"v\":3}",
        ),
        (
            "order-of-utf-16-reversed",
            "the same keys the other way round",
            "{\"\u{1f600}\":2,\"\u{ff5e}\":1,\"v\":3}",
        ),
    ] {
        corpus.accept(name, OBJECTS, probes, text);
    }
}

fn valid(corpus: &mut Corpus) {
    for (name, probes, text) in [
        ("null-member", "a member that is null", r#"{"v":null,"w":1}"#),
        ("null-members-alone", "an object of nothing but nulls", r#"{"v":{"a":null,"b":null}}"#),
        ("null-member-inside", "a null member of an inner object", r#"{"v":{"a":1,"b":null}}"#),
        ("empty-object", "an empty object as a member", r#"{"v":{},"w":1}"#),
        ("empty-object-inside", "an empty object two levels down", r#"{"v":{"a":{"b":{}}}}"#),
        ("empty-objects-alone", "an object of nothing but empty objects", r#"{"v":{"a":{},"b":{}}}"#),
        ("object-in-array-in-object", "objects and arrays in turn", r#"{"v":[{"a":[{"b":[]}]}]}"#),
        (
            "types-of-one-path",
            "one key with values of four types",
            r#"{"v":[{"a":1},{"a":"1"},{"a":true},{"a":{"b":1}}]}"#,
        ),
        ("same-key-on-levels", "one key on three levels", r#"{"v":{"v":{"v":1}}}"#),
        ("booleans", "true and false side by side", r#"{"v":{"t":true,"f":false}}"#),
        (
            "looks-like-extended",
            "a member that looks like MongoDB’s extended JSON",
            r#"{"v":{"$numberLong":"1"}}"#,
        ),
        (
            "looks-like-date-object",
            "a member that looks like a date of extended JSON",
            r#"{"v":{"$date":"2024-01-01T00:00:00Z"}}"#,
        ),
        ("looks-like-reference", "a member that looks like a JSON reference", r##"{"v":{"$ref":"#/a"}}"##),
        ("looks-like-placeholder", "a string that looks like a parameter", r#"{"v":":1","w":"?","x":"$1"}"#),
        (
            "looks-like-sql",
            "a string that looks like the end of a statement",
            r#"{"v":"'; DROP TABLE x; --"}"#,
        ),
        ("looks-like-markup", "a string that looks like a script", r#"{"v":"<script>alert(1)</script>"}"#),
    ] {
        corpus.accept(name, OBJECTS, probes, text);
    }
    let members: Vec<String> = (0..1_000).map(|index| format!("\"k{index}\":{index}")).collect();
    corpus.accept(
        "many-members",
        OBJECTS,
        "an object of a thousand members",
        format!("{{\"v\":{{{}}}}}", members.join(",")),
    );
}

fn keys(corpus: &mut Corpus) {
    for (name, probes, text) in [
        ("key-empty", "the empty key", r#"{"":1,"v":2}"#),
        ("key-empty-inside", "the empty key of an inner object", r#"{"v":{"":{"":1}}}"#),
        ("key-blank", "a key that is a blank", r#"{"v":{" ":1}}"#),
        ("key-blanks-around", "blanks at both ends of a key", r#"{"v":{" a ":1}}"#),
        ("key-dot", "a key with a dot", r#"{"v":{"a.b":1}}"#),
        (
            "key-dot-and-path",
            "a key with a dot beside the path of that name",
            r#"{"v":{"a.b":1,"a":{"b":2}}}"#,
        ),
        ("key-dot-alone", "a key that is a dot", r#"{"v":{".":1}}"#),
        ("key-dots-at-ends", "a key that begins and ends with dots", r#"{"v":{".a.":1}}"#),
        ("key-dollar", "a key that begins with a dollar sign", r#"{"v":{"$a":1}}"#),
        ("key-dollar-alone", "a key that is a dollar sign", r#"{"v":{"$":1}}"#),
        ("key-quote", "a key with an escaped quotation mark", r#"{"v":{"a\"b":1}}"#),
        ("key-backslash", "a key with a backslash", r#"{"v":{"a\\b":1}}"#),
        ("key-slash", "a key with slashes and a tilde, as of JSON Pointer", r#"{"v":{"a/b~c":1}}"#),
        ("key-brackets", "a key with brackets", r#"{"v":{"a[0]":1}}"#),
        ("key-number", "a key of digits", r#"{"v":{"0":1}}"#),
        ("key-line-feed", "a key with an escaped line feed", r#"{"v":{"a\nb":1}}"#),
        ("key-escaped", "a key whose letter is written as an escape", r#"{"v":{"\u0061":1}}"#),
        ("key-nul", "a key with an escaped NUL", r#"{"v":{"a\u0000b":1}}"#),
        ("key-accent", "a key with an accent", "{\"v\":{\"clé\":1}}"),
        (
            "key-composed-and-not",
            "one key composed and decomposed: two keys",
            "{\"v\":{\"\u{e9}\":1,\"e\u{301}\":2}}",
        ),
        ("key-beyond-bmp", "a key beyond the Basic Multilingual Plane", "{\"v\":{\"𝄞\":1}}"),
        ("key-capitals", "keys that differ in capitals alone", r#"{"v":{"a":1,"A":2}}"#),
        ("key-trailing-blank", "keys that differ in a blank at the end", r#"{"v":{"a":1,"a ":2}}"#),
        (
            "key-prototype",
            "keys that mean something to JavaScript",
            r#"{"v":{"__proto__":1,"constructor":2}}"#,
        ),
        ("key-words-of-sql", "keys that are words of SQL", r#"{"v":{"select":1,"from":2,"null":3}}"#),
        ("key-null-word", "keys that are JSON’s words", r#"{"v":{"null":1,"true":2,"false":3}}"#),
        ("key-asterisk", "keys that are wildcards of path languages", r#"{"v":{"*":1,"**":2,"@":3,"?":4}}"#),
        ("key-percent-and-tab", "a key with a percent sign and an escaped tab", r#"{"v":{"100%\t":1}}"#),
    ] {
        corpus.accept(name, OBJECTS, probes, text);
    }
}

/// Adds keys of many bytes, which systems may cut or reject.
fn long_keys(corpus: &mut Corpus) {
    const LIMITS: &str = "RFC 8259 §9";
    let long = |length: usize| format!("{{\"v\":{{\"{}\":1}}}}", "k".repeat(length));
    corpus.accept("key-255", OBJECTS, "a key of 255 bytes", long(255));
    corpus.accept("key-1000", OBJECTS, "a key of 1,000 bytes", long(1_000));
    for length in [32_767, 65_535, 65_536, 1_000_000] {
        corpus.choose(&format!("key-{length}"), LIMITS, &format!("a key of {length} bytes"), long(length));
    }
    // Keys that differ only in their last character stay distinct only if they are stored whole.
    let stem = "k".repeat(300);
    corpus.accept(
        "keys-long-alike",
        OBJECTS,
        "two keys of 301 bytes that differ in the last one",
        format!("{{\"v\":{{\"{stem}a\":1,\"{stem}b\":2}}}}"),
    );
}

fn duplicates(corpus: &mut Corpus) {
    const UNIQUE: &str = "RFC 8259 §4, RFC 7493 §2.3";
    for (name, probes, text) in [
        ("duplicate-key", "one key twice, with other values", r#"{"v":1,"v":2}"#),
        ("duplicate-same-value", "one key twice, with the same value", r#"{"v":1,"v":1}"#),
        ("duplicate-apart", "one key twice, with another between", r#"{"v":1,"w":0,"v":2}"#),
        ("duplicate-inside", "one key twice in an inner object", r#"{"v":{"a":1,"a":2}}"#),
        ("duplicate-three-times", "one key three times", r#"{"v":1,"v":2,"v":3}"#),
        ("duplicate-types", "one key twice, a string and an object", r#"{"v":"a","v":{"b":1}}"#),
        ("duplicate-with-null", "one key twice, the last null", r#"{"v":1,"v":null}"#),
        ("duplicate-after-null", "one key twice, the first null", r#"{"v":null,"v":1}"#),
        ("duplicate-objects", "one key twice, with objects of other members", r#"{"v":{"a":1},"v":{"b":2}}"#),
        ("duplicate-by-escape", "one key twice, once as an escape", r#"{"v":1,"\u0076":2}"#),
        ("duplicate-empty-key", "the empty key twice", r#"{"v":{"":1,"":2}}"#),
    ] {
        corpus.choose(name, UNIQUE, probes, text);
    }
}

fn malformed(corpus: &mut Corpus) {
    for (name, probes, text) in [
        ("object-comma-at-end", "a comma after the last member", r#"{"v":1,}"#),
        ("object-comma-first", "a comma before the first member", r#"{,"v":1}"#),
        ("object-two-commas", "two commas between members", r#"{"v":1,,"w":2}"#),
        ("object-comma-alone", "a comma and no member", "{,}"),
        ("object-no-comma", "no comma between members", r#"{"v":1 "w":2}"#),
        ("object-no-colon", "no colon", r#"{"v" 1}"#),
        ("object-two-colons", "two colons", r#"{"v"::1}"#),
        ("object-equals-sign", "an equals sign for a colon", r#"{"v"=1}"#),
        ("object-arrow", "an arrow for a colon", r#"{"v"=>1}"#),
        ("object-no-value", "a key without a value", r#"{"v":}"#),
        ("object-key-alone", "a key alone", r#"{"v"}"#),
        ("object-bare-key", "a key without quotes", "{v:1}"),
        ("object-single-quotes", "a key in single quotes", "{'v':1}"),
        ("object-number-key", "a key that is a number", "{1:1}"),
        ("object-null-key", "a key that is null", "{null:1}"),
        ("object-array-key", "a key that is an array", "{[1]:1}"),
        ("object-semicolon", "a semicolon between members", r#"{"v":1;"w":2}"#),
        ("object-ends-as-array", "an object that ends as an array", r#"{"v":1]"#),
        ("object-no-end", "an object without its end", r#"{"v":1"#),
        ("object-ends-after-comma", "a text that ends after a comma", r#"{"v":1,"#),
        ("object-ends-in-key", "a text that ends in a key", r#"{"v":1,"w"#),
        ("object-spread", "JavaScript’s spread of another object", r#"{"v":1,...w}"#),
    ] {
        corpus.reject(name, OBJECTS, probes, text);
    }
    corpus.value(
        RfcRequirement::Reject,
        "object-inner-no-end",
        OBJECTS,
        "an inner object without its end",
        r#"{"a":1"#,
    );
}
