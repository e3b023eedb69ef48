//! Cases for strings: escapes, control characters, characters beyond the Basic Multilingual Plane,
//! surrogates, strings that resemble other types, and lengths.

use super::{Corpus, RfcRequirement};

const STRINGS: &str = "RFC 8259 §7";

pub(super) fn add(corpus: &mut Corpus) {
    escapes(corpus);
    characters(corpus);
    surrogates(corpus);
    lookalikes(corpus);
    lengths(corpus);
    malformed(corpus);
}

fn escapes(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("string-empty", "an empty string", r#""""#),
        ("string-quote", "an escaped quotation mark", r#""a\"b""#),
        ("string-backslash", "an escaped backslash", r#""a\\b""#),
        ("string-backslashes", "four escaped backslashes", r#""\\\\\\\\""#),
        ("string-backslash-at-end", "an escaped backslash at the end", r#""a\\""#),
        ("string-backslash-n", "a backslash before an n, which is no line feed", r#""a\\nb""#),
        ("string-backslash-u", "a backslash before what would be an escape", r#""\\u0041""#),
        ("string-slash", "a slash", r#""a/b""#),
        ("string-escaped-slash", "an escaped slash", r#""a\/b""#),
        ("string-backspace", "an escaped backspace", r#""a\bb""#),
        ("string-form-feed", "an escaped form feed", r#""a\fb""#),
        ("string-line-feed", "an escaped line feed", r#""a\nb""#),
        ("string-carriage-return", "an escaped carriage return", r#""a\rb""#),
        ("string-tab", "an escaped tab", r#""a\tb""#),
        ("string-line-feed-in-digits", "a line feed as a code", r#""a\u000ab""#),
        ("string-quote-in-digits", "a quotation mark as a code", r#""a\u0022b""#),
        ("string-backslash-in-digits", "a backslash as a code", r#""a\u005cb""#),
        ("string-letter-in-digits", "a letter as a code", r#""\u0041""#),
        ("string-capital-digits", "a code in capital digits", r#""\u00E9""#),
        ("string-small-digits", "a code in small digits", r#""\u00e9""#),
        ("string-nul", "an escaped NUL", r#""a\u0000b""#),
        ("string-nul-alone", "a string that is an escaped NUL", r#""\u0000""#),
        ("string-nul-at-end", "an escaped NUL at the end", r#""a\u0000""#),
        ("string-nul-first", "an escaped NUL at the beginning", r#""\u0000a""#),
        ("string-control", "an escaped control character", r#""a\u0001b""#),
        ("string-escape-character", "an escaped ESC", r#""a\u001bb""#),
        ("string-last-control", "the last control character, escaped", r#""a\u001fb""#),
        ("string-delete", "an escaped DEL", r#""a\u007fb""#),
        ("string-escaped-euro", "a sign of three bytes as a code", r#""\u20ac""#),
        ("string-pair", "a pair of surrogates, which is one character", r#""\ud834\udd1e""#),
        ("string-pair-capitals", "a pair of surrogates in capital digits", r#""\uD83D\uDE00""#),
        ("string-pair-between", "a pair of surrogates between letters", r#""a\ud83d\ude00b""#),
        ("string-last-pair", "the last pair that is a character of its own", r#""\udbff\udffd""#),
        ("string-escaped-and-plain", "one character plain and as a code", "\"é\\u00e9\""),
    ] {
        corpus.value(RfcRequirement::Accept, name, STRINGS, probes, value);
    }
    let controls: String = (0..0x20).map(|code| format!("\\u{code:04x}")).collect();
    corpus.value(
        RfcRequirement::Accept,
        "string-all-controls",
        STRINGS,
        "all control characters as codes",
        format!("\"{controls}\""),
    );
}

fn characters(corpus: &mut Corpus) {
    const UNICODE: &str = "RFC 8259 §8.2";
    for (name, probes, value) in [
        ("string-accent", "a letter of two bytes", "\"ü\""),
        ("string-euro", "a sign of three bytes", "\"€\""),
        ("string-clef", "a sign of four bytes, beyond the BMP", "\"𝄞\""),
        ("string-emoji", "an emoji", "\"😀\""),
        ("string-emoji-joined", "an emoji of several code points", "\"👩\u{200d}🚀\""),
        ("string-flag", "a flag of two code points", "\"🇩🇪\""),
        ("string-composed", "a letter with its accent in one", "\"\u{e9}\""),
        ("string-decomposed", "a letter and its accent apart", "\"e\u{301}\""),
        ("string-both-compositions", "both, which must stay apart", "\"\u{e9}e\u{301}\""),
        ("string-han", "Chinese", "\"漢字\""),
        ("string-han-beyond-bmp", "a Chinese character beyond the BMP", "\"𠮷\""),
        ("string-arabic", "Arabic, which is written from the right", "\"عربي\""),
        ("string-direction-mark", "a mark of direction", "\"a\u{200f}b\""),
        ("string-delete-plain", "DEL as it is", "\"a\u{7f}b\""),
        ("string-c1-control", "a control character of two bytes", "\"a\u{85}b\""),
        ("string-no-break-space", "a no-break space", "\"a\u{a0}b\""),
        ("string-line-separator", "U+2028 and U+2029 as they are", "\"a\u{2028}b\u{2029}c\""),
        ("string-zero-width", "a zero-width space", "\"a\u{200b}b\""),
        ("string-mark-inside", "a byte order mark inside of a string", "\"a\u{feff}b\""),
        ("string-mark-first", "a byte order mark at the beginning of a string", "\"\u{feff}a\""),
        ("string-replacement", "the replacement character itself", "\"\u{fffd}\""),
        ("string-private", "a private character", "\"\u{e000}\""),
        ("string-last-planes", "characters of the last planes", "\"\u{e0001}\u{10fffd}\""),
        ("string-before-surrogates", "the characters around the surrogates", "\"\u{d7ff}\u{e000}\""),
        ("string-capital-sharp-s", "a letter whose capital is two letters", "\"ßẞ\""),
        ("string-turkish", "a letter whose capital depends on the language", "\"ıİ\""),
        ("string-ligature", "a ligature, which other forms of Unicode take apart", "\"ﬁ\""),
    ] {
        corpus.value(RfcRequirement::Accept, name, UNICODE, probes, value);
    }
    // Allowed by the grammar but not in I-JSON messages.
    const FORBIDDEN: &str = "RFC 8259 §7, RFC 7493 §2.1";
    for (name, probes, value) in [
        ("string-noncharacter", "the noncharacter U+FFFF", "\"\u{ffff}\""),
        ("string-noncharacter-escaped", "the noncharacter U+FFFE as a code", r#""\ufffe""#),
        ("string-noncharacter-arabic", "a noncharacter among the Arabic forms", "\"\u{fdd0}\""),
        ("string-noncharacter-last", "the last code point of all", "\"\u{10ffff}\""),
    ] {
        corpus.value(RfcRequirement::Accept, name, FORBIDDEN, probes, value);
    }
}

fn surrogates(corpus: &mut Corpus) {
    const HALF: &str = "RFC 8259 §8.2, RFC 7493 §2.1";
    for (name, probes, value) in [
        ("surrogate-high", "a first half alone", r#""\ud834""#),
        ("surrogate-low", "a second half alone", r#""\udd1e""#),
        ("surrogate-turned", "the halves in the wrong order", r#""\udd1e\ud834""#),
        ("surrogate-high-and-letter", "a first half before a letter", r#""\ud834a""#),
        ("surrogate-high-and-escape", "a first half before another escape", r#""\ud834\u0041""#),
        ("surrogate-high-and-line-feed", "a first half before an escaped line feed", r#""\ud834\n""#),
        ("surrogate-two-highs", "two first halves", r#""\ud834\ud834""#),
        ("surrogate-high-and-pair", "a first half before a pair", r#""\ud834\ud83d\ude00""#),
        ("surrogate-between", "half a character between letters", r#""a\ud834b""#),
    ] {
        corpus.value(RfcRequirement::Choose, name, HALF, probes, value);
    }
    corpus.choose("surrogate-in-key", HALF, "half a character in a key", r#"{"v":{"\ud834":1}}"#);
    corpus.choose(
        "surrogates-in-two-keys",
        HALF,
        "two keys that differ in half a character",
        r#"{"v":{"\ud834":1,"\ud835":2}}"#,
    );
}

fn lookalikes(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("looks-like-date", "a string that looks like a date", r#""2024-11-21""#),
        ("looks-like-time", "a string that looks like a time with its zone", r#""2024-11-21T16:25:49.167Z""#),
        (
            "looks-like-time-microseconds",
            "a time with six places, the last zeros",
            r#""2024-11-21T16:25:49.167000Z""#,
        ),
        ("looks-like-time-offset", "a time with an offset", r#""2024-11-21T17:25:49+01:00""#),
        ("looks-like-time-blank", "a time as SQL writes it", r#""2024-11-21 16:25:49""#),
        ("looks-like-clock", "a string that looks like a time of day", r#""16:25:49""#),
        ("looks-like-no-date", "a date that does not exist", r#""2024-02-30""#),
        ("looks-like-far-date", "a date beyond most calendars", r#""99999-01-01""#),
        ("looks-like-integer", "a string of digits", r#""123""#),
        ("looks-like-leading-zeros", "a string of digits with zeros before them", r#""007""#),
        ("looks-like-fraction", "a string that looks like a fraction", r#""1.50""#),
        ("looks-like-exponent", "a string that looks like a number with an exponent", r#""1e5""#),
        ("looks-like-hex", "a string that looks like hexadecimal digits", r#""0x1F""#),
        ("looks-like-nan", "a string that says NaN", r#""NaN""#),
        ("looks-like-true", "a string that says true", r#""true""#),
        ("looks-like-null", "a string that says null", r#""null""#),
        ("looks-like-json", "a string that holds JSON", r#""{\"a\":[1,2]}""#),
        ("looks-like-uuid", "a string that looks like a UUID", r#""6f1c1f2e-5d0c-4a43-9d3c-2b1e7f6a9b10""#),
        ("looks-like-address", "a string that looks like an IP address", r#""192.168.0.1""#),
        ("looks-like-base64", "a string that looks like base64", r#""SGVsbG8=""#),
        ("looks-like-copy-null", "a string that PostgreSQL’s COPY takes for null", r#""\\N""#),
        ("looks-like-copy-end", "a string that ends a COPY", r#""\\.""#),
        ("looks-like-format", "a string with signs of a format", r#""%s %d {} {0} ${a}""#),
        ("looks-like-separated", "a string with separators of columns", r#""a,b;c|d\te""#),
        ("string-blanks", "a string of blanks", r#""   ""#),
        ("string-blank-at-end", "a blank at the end", r#""a ""#),
        ("string-single-quotes", "single quotes", r#""it's 'so'""#),
        ("string-braces", "brackets and braces in a string", r#""}],[{""#),
    ] {
        corpus.value(RfcRequirement::Accept, name, STRINGS, probes, value);
    }
}

fn lengths(corpus: &mut Corpus) {
    let long = |letter: &str, count: usize| format!("\"{}\"", letter.repeat(count));
    for length in [127, 128, 255, 256, 2_000, 10_000] {
        corpus.value(
            RfcRequirement::Accept,
            &format!("string-of-{length}"),
            STRINGS,
            &format!("a string of {length} bytes"),
            long("s", length),
        );
    }
    const LIMITS: &str = "RFC 8259 §9";
    for length in [32_767, 65_535, 65_536, 1_048_576, 4_000_000] {
        corpus.value(
            RfcRequirement::Choose,
            &format!("string-of-{length}"),
            LIMITS,
            &format!("a string of {length} bytes"),
            long("s", length),
        );
    }
    corpus.value(
        RfcRequirement::Accept,
        "string-of-1000-clefs",
        STRINGS,
        "a thousand characters of four bytes",
        long("𝄞", 1_000),
    );
    corpus.value(
        RfcRequirement::Accept,
        "string-of-1000-escapes",
        STRINGS,
        "a thousand escapes of a letter",
        long("\\u0061", 1_000),
    );
}

fn malformed(corpus: &mut Corpus) {
    for (name, probes, value) in [
        ("string-plain-line-feed", "a line feed that is not escaped", "\"a\nb\""),
        ("string-plain-carriage-return", "a carriage return that is not escaped", "\"a\rb\""),
        ("string-plain-tab", "a tab that is not escaped", "\"a\tb\""),
        ("string-plain-nul", "a byte 0 that is not escaped", "\"a\0b\""),
        ("string-plain-escape-character", "an ESC that is not escaped", "\"a\u{1b}b\""),
        ("string-plain-last-control", "the last control character, not escaped", "\"a\u{1f}b\""),
        ("string-escape-a", "an escape of C that JSON has not", r#""\a""#),
        ("string-escape-v", "an escape for the vertical tab", r#""\v""#),
        ("string-escape-x", "an escape of two digits", r#""\x41""#),
        ("string-escape-octal", "an octal escape", r#""\101""#),
        ("string-escape-zero", "an escape of a zero", r#""\0""#),
        ("string-escape-capital-u", "an escape of eight digits", r#""\U0001F600""#),
        ("string-escape-braces", "an escape in braces, as of JavaScript", r#""\u{1F600}""#),
        ("string-escape-quote", "an escaped single quote", r#""\'""#),
        ("string-escape-blank", "an escaped blank", r#""\ ""#),
        ("string-escape-line", "an escaped end of line", "\"a\\\nb\""),
        ("string-escape-emoji", "an escaped emoji", "\"\\😀\""),
        ("string-code-no-digits", "a code without digits", r#""\u""#),
        ("string-code-three-digits", "a code of three digits", r#""\u123""#),
        ("string-code-other-letter", "a code with a letter that is no digit", r#""\u12g4""#),
        ("string-code-blank", "a code with a blank", r#""\u12 4""#),
        ("string-code-sign", "a code with a sign", r#""\u+123""#),
        ("string-pair-cut", "a pair of surrogates whose second code is cut", r#""\ud834\udd""#),
        ("string-no-end", "a string without its end", "\"a"),
        ("string-escaped-end", "a string whose end is escaped", r#""a\""#),
        ("string-single-quoted", "a string in single quotes", "'a'"),
        ("string-backticks", "a string in backticks", "`a`"),
        ("string-typographic-quotes", "a string in typographic quotes", "“a”"),
        ("string-no-quotes", "a string without quotes", "a"),
        ("string-two", "two strings side by side", r#""a" "b""#),
        ("string-plus", "two strings and a plus sign", r#""a"+"b""#),
        ("string-triple-quotes", "a string in triple quotes", r#""""a""""#),
    ] {
        corpus.value(RfcRequirement::Reject, name, STRINGS, probes, value);
    }
}
