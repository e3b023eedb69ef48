//! Cases for whole texts: top-level values, white space around tokens, depth, and trailing text.

use super::{Corpus, RfcRequirement};

pub(super) fn add(corpus: &mut Corpus) {
    top(corpus);
    white_space(corpus);
    depth(corpus);
    trailing_text(corpus);
}

fn top(corpus: &mut Corpus) {
    const TOP: &str = "RFC 8259 §2";
    for (name, probes, text) in [
        ("top-object", "an empty object alone", "{}"),
        ("top-array", "an empty array alone", "[]"),
        ("top-array-of-values", "an array alone", "[1,\"two\",null]"),
        ("top-null", "null alone", "null"),
        ("top-true", "true alone", "true"),
        ("top-false", "false alone", "false"),
        ("top-integer", "an integer alone", "17"),
        ("top-negative", "a negative number alone", "-0.25"),
        ("top-string", "a string alone", "\"alone\""),
        ("top-empty-string", "an empty string alone", "\"\""),
        ("top-object-plain", "an object of plain values", r#"{"v":"x","n":1,"t":true,"f":false}"#),
    ] {
        corpus.accept(name, TOP, probes, text);
    }
    for (name, probes, text) in [
        ("top-nothing", "no byte at all", ""),
        ("top-space-alone", "white space and no value", " "),
        ("top-word", "a word without quotes", "rubbish"),
        ("top-quote-alone", "a quotation mark alone", "\""),
        ("top-comma", "a comma alone", ","),
        ("top-colon", "a colon alone", ":"),
        ("top-open-brace", "an object that does not end", "{"),
        ("top-open-bracket", "an array that does not end", "["),
        ("top-close-brace", "the end of an object alone", "}"),
        ("top-member", "a member without its object", r#""v":1"#),
        ("top-backslash", "a backslash alone", "\\"),
        ("top-undefined", "JavaScript’s undefined", "undefined"),
        ("top-comment-alone", "a comment and no value", "/* */"),
    ] {
        corpus.reject(name, TOP, probes, text);
    }
    const LITERALS: &str = "RFC 8259 §3";
    for (name, probes, value) in [
        ("literal-null", "null", "null"),
        ("literal-true", "true", "true"),
        ("literal-false", "false", "false"),
    ] {
        corpus.value(RfcRequirement::Accept, name, LITERALS, probes, value);
    }
    for (name, probes, value) in [
        ("literal-upper-case", "TRUE in capitals", "TRUE"),
        ("literal-capital", "Null with a capital", "Null"),
        ("literal-cut", "false without its end", "fals"),
        ("literal-long", "true with a letter more", "truee"),
        ("literal-python", "Python’s None", "None"),
        ("literal-undefined", "JavaScript’s undefined", "undefined"),
        ("literal-bare-word", "a word without quotes", "word"),
        ("literal-symbol", "a symbol that is no token", "@"),
        ("literal-wide-letters", "true in full-width letters", "ｔｒｕｅ"),
    ] {
        corpus.value(RfcRequirement::Reject, name, LITERALS, probes, value);
    }
}

fn white_space(corpus: &mut Corpus) {
    const SPACE: &str = "RFC 8259 §2";
    for (name, probes, text) in [
        ("space-around", "blanks before and after the text", "  {\"v\":1}  "),
        ("space-everywhere", "a blank around every token", " { \"v\" : [ 1 , 2 ] } "),
        ("space-tabs", "tabs between tokens", "{\t\"v\"\t:\t1\t}"),
        ("space-line-feeds", "line feeds between tokens", "{\n\"v\"\n:\n1\n}"),
        ("space-carriage-returns", "carriage returns between tokens", "{\r\"v\"\r:\r1\r}"),
        ("space-pretty", "an object over several lines", "{\n  \"v\": {\n    \"a\": 1\n  }\n}"),
        ("space-windows-lines", "lines that end as on Windows", "{\r\n\"v\": 1\r\n}\r\n"),
        ("space-last-line-feed", "a line feed after the text", "{\"v\":1}\n"),
        ("space-first-line-feed", "a line feed before the text", "\n{\"v\":1}"),
        ("space-in-empty-object", "a blank in an empty object", "{\"v\":{ }}"),
        ("space-in-empty-array", "a blank in an empty array", "{\"v\":[ ]}"),
        ("space-mixed-styles", "two styles of white space in one text", "{\"v\": [1,2, 3 ],\"w\" :1}"),
        ("space-none", "no white space at all", "{\"v\":[1,2,{\"a\":null}]}"),
    ] {
        corpus.accept(name, SPACE, probes, text);
    }
    corpus.accept(
        "space-much",
        SPACE,
        "ten thousand blanks before the value",
        format!("{{\"v\":{}1}}", " ".repeat(10_000)),
    );
    for (name, probes, text) in [
        ("space-form-feed", "a form feed between tokens", "{\"v\":\u{c}1}"),
        ("space-vertical-tab", "a vertical tab between tokens", "{\"v\":\u{b}1}"),
        ("space-no-break", "a no-break space between tokens", "{\"v\":\u{a0}1}"),
        ("space-word-joiner", "a word joiner between tokens", "{\"v\":\u{2060}1}"),
        ("space-line-separator", "U+2028 between tokens", "{\"v\":\u{2028}1}"),
        ("space-nul", "a byte 0 between tokens", "{\"v\":\u{0}1}"),
        ("space-nul-at-end", "a byte 0 after the text", "{\"v\":1}\u{0}"),
        ("space-escaped", "an escaped line feed between tokens", "{\"v\":\\n1}"),
    ] {
        corpus.reject(name, SPACE, probes, text);
    }
}

fn depth(corpus: &mut Corpus) {
    const LIMITS: &str = "RFC 8259 §9";
    let arrays = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let objects = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    for levels in [10, 18] {
        let probes = format!("arrays in each other, {levels} levels");
        let name = format!("depth-{levels}-arrays");
        corpus.value(RfcRequirement::Accept, &name, LIMITS, &probes, arrays(levels));
        let probes = format!("objects in each other, {levels} levels");
        let name = format!("depth-{levels}-objects");
        corpus.value(RfcRequirement::Accept, &name, LIMITS, &probes, objects(levels));
    }
    for levels in [99, 101, 127, 200, 512, 1_000, 3_000, 10_000, 100_000] {
        let probes = format!("arrays in each other, {levels} levels");
        let name = format!("depth-{levels}-arrays");
        corpus.value(RfcRequirement::Choose, &name, LIMITS, &probes, arrays(levels));
    }
    for levels in [21, 99, 101, 127, 1_000, 10_000] {
        let probes = format!("objects in each other, {levels} levels");
        let name = format!("depth-{levels}-objects");
        corpus.value(RfcRequirement::Choose, &name, LIMITS, &probes, objects(levels));
    }
    corpus.reject("depth-1000-open", "RFC 8259 §5", "a thousand arrays that do not end", "[".repeat(1_000));
    corpus.reject(
        "depth-100000-open",
        "RFC 8259 §5",
        "a hundred thousand arrays that do not end",
        "[".repeat(100_000),
    );
    corpus.reject(
        "depth-1000-open-objects",
        "RFC 8259 §4",
        "a thousand objects that do not end",
        "{\"a\":".repeat(1_000),
    );
}

fn trailing_text(corpus: &mut Corpus) {
    const SINGLE_VALUE: &str = "RFC 8259 §2";
    for (name, probes, text) in [
        ("rest-word", "a word after the text", "{\"v\":1} x"),
        ("rest-brace", "one brace too many", "{\"v\":1}}"),
        ("rest-bracket", "a bracket after the text", "{\"v\":1}]"),
        ("rest-comma", "a comma after the text", "{\"v\":1},"),
        ("rest-second-object", "a second object", "{\"v\":1}{\"v\":2}"),
        ("rest-second-object-spaced", "a second object after a blank", "{\"v\":1} {\"v\":2}"),
        ("rest-second-line", "a second object on a line of its own", "{\"v\":1}\n{\"v\":2}"),
        ("rest-line-comment", "a comment to the end of the line", "{\"v\":1} // x"),
        ("rest-comment", "a comment after the text", "{\"v\":1}/* x */"),
        ("rest-hash-comment", "a comment after a hash sign", "{\"v\":1} # x"),
        ("rest-semicolon", "a semicolon after the text", "{\"v\":1};"),
        ("rest-two-numbers", "two numbers", "1 2"),
        ("rest-two-strings", "two strings", "\"a\" \"b\""),
        ("rest-quote", "a quotation mark after the text", "{\"v\":1}\""),
    ] {
        corpus.reject(name, SINGLE_VALUE, probes, text);
    }
    corpus.reject("comment-inside", SINGLE_VALUE, "a comment between members", "{\"v\":1/* x */,\"w\":2}");
    corpus.reject("comment-first", SINGLE_VALUE, "a comment before the text", "/* x */{\"v\":1}");
    corpus.reject("callback", SINGLE_VALUE, "a call around the text, as of JSONP", "f({\"v\":1})");
    corpus.reject("parentheses", SINGLE_VALUE, "parentheses around the text", "({\"v\":1})");
    corpus.reject(
        "record-separator",
        SINGLE_VALUE,
        "a record separator before the text, as of RFC 7464",
        "\u{1e}{\"v\":1}",
    );
}
