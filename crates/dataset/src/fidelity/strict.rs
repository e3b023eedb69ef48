//! Strict parser for RFC 8259 that keeps duplicate keys, the spelling of numbers and strings, and white
//! space. Nesting depth is limited only by memory.

use std::collections::{BTreeMap, BTreeSet};

/// Fault of a text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Byte offset at which the fault is detected, from 0.
    pub position: usize,
    /// Short description of the fault.
    pub problem: &'static str,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.problem, self.position)
    }
}

/// A string with its spelling and its UTF-16 code units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<'a> {
    /// Text between the quotes, with escapes as written.
    pub raw: &'a str,
    /// Decoded UTF-16 code units. RFC 8259 allows escapes of single surrogates, so that only code units
    /// distinguish all strings.
    pub units: Vec<u16>,
}

impl Text<'_> {
    /// Returns `true` if the string contains an unpaired surrogate or a noncharacter, which RFC 7493 (section
    /// 2.1) forbids.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        char::decode_utf16(self.units.iter().copied()).any(|character| match character {
            Ok(character) => is_noncharacter(u32::from(character)),
            Err(_) => true,
        })
    }
}

fn is_noncharacter(code: u32) -> bool {
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

/// A JSON value. Elements and members are given as indexes into [`Tree::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node<'a> {
    /// The literal value `null`.
    Null,
    /// One of `true` and `false`.
    Bool(bool),
    /// A number, as it is spelt in the text.
    Number(&'a str),
    /// A string, with its spelling and decoded content.
    Text(Text<'a>),
    /// Elements of an array, in order.
    Array(Vec<usize>),
    /// Members of an object, in order and including duplicate keys.
    Object(Vec<(Text<'a>, usize)>),
}

/// Kind of token before or after white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Token {
    /// The beginning of the text.
    Begin,
    /// Opening bracket: `[` or `{`.
    Open,
    /// Closing bracket: `]` or `}`.
    Close,
    /// The separator `,` of elements and members.
    Comma,
    /// The separator `:` of key and value.
    Colon,
    /// A literal, a number or a string.
    Scalar,
    /// The end of the text.
    End,
}

/// White space that occurs between each pair of token kinds, including the empty string for adjacent tokens.
pub type WhitespaceMap<'a> = BTreeMap<(Token, Token), BTreeSet<&'a str>>;

/// Result of parsing a text.
#[derive(Debug, Clone)]
pub struct Tree<'a> {
    /// All values in post-order: contained values come before their container, so that the last one is the
    /// root.
    pub nodes: Vec<Node<'a>>,
    /// White space found between tokens.
    pub gaps: WhitespaceMap<'a>,
}

impl<'a> Tree<'a> {
    /// Returns the index of the outermost value.
    #[must_use]
    pub fn root(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Returns the value at an index of this tree.
    #[must_use]
    pub fn node(&self, index: usize) -> &Node<'a> {
        // Indexes come from this tree, which has at least one node.
        self.nodes.get(index).unwrap_or(&Node::Null)
    }

    /// Returns the values of all root members with this name. Empty if the root is not an object.
    #[must_use]
    pub fn members(&self, name: &str) -> Vec<usize> {
        let units: Vec<u16> = name.encode_utf16().collect();
        match self.node(self.root()) {
            Node::Object(members) => {
                members.iter().filter(|(key, _)| key.units == units).map(|(_, value)| *value).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Parses a text that is a single JSON value in UTF-8.
///
/// # Errors
/// The first fault of the text. A byte order mark is a fault; callers that allow one must remove it.
pub fn read(bytes: &[u8]) -> Result<Tree<'_>, SyntaxError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| SyntaxError { position: error.valid_up_to(), problem: "not UTF-8" })?;
    let (nodes, gaps, open) = (Vec::new(), WhitespaceMap::new(), Vec::new());
    Reader { text, position: 0, previous: Token::Begin, nodes, gaps, recorded_end: None, open }.parse()
}

/// Returns `true` if a text is an I-JSON message (RFC 7493) whose outermost value is an object. It must have
/// no duplicate key, no string with an unpaired surrogate or noncharacter, and no number that a double cannot
/// represent.
#[must_use]
pub fn is_i_json_object(bytes: &[u8]) -> bool {
    let Ok(tree) = read(bytes) else { return false };
    let is_fine = |node: &Node<'_>| match node {
        Node::Null | Node::Bool(_) | Node::Array(_) => true,
        Node::Number(text) => super::number::is_double(text),
        Node::Text(text) => !text.is_broken(),
        Node::Object(members) => {
            let keys: BTreeSet<&[u16]> = members.iter().map(|(key, _)| key.units.as_slice()).collect();
            keys.len() == members.len() && !members.iter().any(|(key, _)| key.is_broken())
        }
    };
    matches!(tree.node(tree.root()), Node::Object(_)) && tree.nodes.iter().all(is_fine)
}

enum OpenContainer<'a> {
    Array(Vec<usize>),
    /// Members parsed so far, and the key whose value comes next.
    Object(Vec<(Text<'a>, usize)>, Option<Text<'a>>),
}

struct Reader<'a> {
    text: &'a str,
    position: usize,
    previous: Token,
    nodes: Vec<Node<'a>>,
    gaps: WhitespaceMap<'a>,
    /// End of the white space recorded last, so that the same gap is not recorded twice.
    recorded_end: Option<usize>,
    open: Vec<OpenContainer<'a>>,
}

type Read<T> = Result<T, SyntaxError>;

impl<'a> Reader<'a> {
    fn parse(mut self) -> Read<Tree<'a>> {
        loop {
            // A value begins here.
            self.space(None);
            let is_value_complete = match self.peek() {
                Some(b'[') => {
                    self.token(1, Token::Open);
                    self.space(None);
                    self.open.push(OpenContainer::Array(Vec::new()));
                    self.peek() == Some(b']')
                }
                Some(b'{') => {
                    self.token(1, Token::Open);
                    self.space(None);
                    self.open.push(OpenContainer::Object(Vec::new(), None));
                    if self.peek() != Some(b'}') {
                        self.key()?;
                    }
                    self.peek() == Some(b'}') && self.previous == Token::Open
                }
                _ => {
                    let scalar = self.scalar()?;
                    self.nodes.push(scalar);
                    true
                }
            };
            if is_value_complete && self.advance_after_value()? {
                break;
            }
        }
        self.space(Some(Token::End));
        match self.peek() {
            None => Ok(Tree { nodes: self.nodes, gaps: self.gaps }),
            Some(_) => self.fault("more than one value"),
        }
    }

    /// Continues after a value or in an empty container, up to the start of the next value. Returns `true` if
    /// the text has no further value.
    fn advance_after_value(&mut self) -> Read<bool> {
        // A container that has just been opened and is empty has no value to add.
        let mut value = (self.previous != Token::Open).then(|| self.nodes.len() - 1);
        loop {
            let Some(open) = self.open.last_mut() else { return Ok(true) };
            if let Some(value) = value.take() {
                match open {
                    OpenContainer::Array(elements) => elements.push(value),
                    OpenContainer::Object(members, key) => {
                        if let Some(key) = key.take() {
                            members.push((key, value));
                        }
                    }
                }
            }
            let is_array = matches!(open, OpenContainer::Array(_));
            self.space(None);
            match (self.peek(), is_array) {
                (Some(b','), _) if self.previous != Token::Open => {
                    self.token(1, Token::Comma);
                    if !is_array {
                        self.space(None);
                        self.key()?;
                    }
                    return Ok(false);
                }
                (Some(b']'), true) | (Some(b'}'), false) => {
                    self.token(1, Token::Close);
                    match self.open.pop() {
                        Some(OpenContainer::Array(elements)) => self.nodes.push(Node::Array(elements)),
                        Some(OpenContainer::Object(members, _)) => self.nodes.push(Node::Object(members)),
                        None => {}
                    }
                    value = Some(self.nodes.len() - 1);
                }
                (None, _) => return self.fault("an end in the middle"),
                _ => return self.fault("neither a comma nor an end of what is open"),
            }
        }
    }

    /// Parses a key and its colon.
    fn key(&mut self) -> Read<()> {
        if self.peek() != Some(b'"') {
            return self.fault("no key");
        }
        let text = self.string()?;
        self.space(None);
        if self.peek() != Some(b':') {
            return self.fault("no colon");
        }
        self.token(1, Token::Colon);
        if let Some(OpenContainer::Object(_, key)) = self.open.last_mut() {
            *key = Some(text);
        }
        Ok(())
    }

    fn scalar(&mut self) -> Read<Node<'a>> {
        let rest = self.text.get(self.position..).unwrap_or_default();
        for (word, node) in [("null", Node::Null), ("true", Node::Bool(true)), ("false", Node::Bool(false))] {
            if rest.starts_with(word) {
                self.token(word.len(), Token::Scalar);
                return Ok(node);
            }
        }
        match self.peek() {
            Some(b'"') => Ok(Node::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.fault("no value"),
            None => self.fault("an end in the middle"),
        }
    }

    fn number(&mut self) -> Read<Node<'a>> {
        let bytes = self.text.as_bytes();
        let digits = |from: usize| {
            bytes.get(from..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let mut index = self.position + usize::from(bytes.get(self.position) == Some(&b'-'));
        let integer = digits(index);
        if integer == 0 || integer > 1 && bytes.get(index) == Some(&b'0') {
            return self.fault("no number");
        }
        index += integer;
        if bytes.get(index) == Some(&b'.') {
            let fraction = digits(index + 1);
            if fraction == 0 {
                return self.fault("no number");
            }
            index += 1 + fraction;
        }
        if matches!(bytes.get(index), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(index + 1), Some(b'+' | b'-')));
            let exponent = digits(index + 1 + sign);
            if exponent == 0 {
                return self.fault("no number");
            }
            index += 1 + sign + exponent;
        }
        let text = self.text.get(self.position..index).unwrap_or_default();
        self.token(text.len(), Token::Scalar);
        Ok(Node::Number(text))
    }

    fn string(&mut self) -> Read<Text<'a>> {
        let start = self.position + 1;
        let mut index = start;
        let mut units = Vec::new();
        loop {
            let rest = self.text.get(index..).unwrap_or_default();
            let Some(character) = rest.chars().next() else {
                return self.fault("a string without its end");
            };
            match character {
                '"' => break,
                '\\' => {
                    let Some((unit, length)) = escape(rest) else {
                        self.position = index;
                        return self.fault("no escape");
                    };
                    units.push(unit);
                    index += length;
                }
                '\0'..='\u{1f}' => {
                    self.position = index;
                    return self.fault("a control character in a string");
                }
                character => {
                    units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
                    index += character.len_utf8();
                }
            }
        }
        let raw = self.text.get(start..index).unwrap_or_default();
        self.token(raw.len() + 2, Token::Scalar);
        Ok(Text { raw, units })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Advances past a token and remembers its kind.
    fn token(&mut self, length: usize, token: Token) {
        self.position += length;
        self.previous = token;
    }

    /// Skips white space and records it by the tokens around it.
    fn space(&mut self, next_token: Option<Token>) {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let length = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        let gap = rest.get(..length).unwrap_or_default();
        self.position += length;
        if length == 0 && self.recorded_end == Some(self.position) {
            return;
        }
        self.recorded_end = Some(self.position);
        let next_token = next_token.unwrap_or_else(|| match self.peek() {
            Some(b'[' | b'{') => Token::Open,
            Some(b']' | b'}') => Token::Close,
            Some(b',') => Token::Comma,
            Some(b':') => Token::Colon,
            Some(_) => Token::Scalar,
            None => Token::End,
        });
        self.gaps.entry((self.previous, next_token)).or_default().insert(gap);
    }

    fn fault<T>(&self, problem: &'static str) -> Read<T> {
        Err(SyntaxError { position: self.position, problem })
    }
}

/// Parses the escape at the start of `text`. Returns its code unit and its length in bytes.
fn escape(text: &str) -> Option<(u16, usize)> {
    let character = *text.as_bytes().get(1)?;
    let unit = match character {
        b'"' | b'\\' | b'/' => character,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => {
            let digits =
                text.get(2..6).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            return Some((u16::from_str_radix(digits, 16).ok()?, 6));
        }
        _ => return None,
    };
    Some((u16::from(unit), 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    #[test]
    fn what_is_written_is_kept() {
        let tree = read(br#" {"a":[1.0, -0 ,"\u00e9\n"],"a": {} } "#).unwrap();
        let a = tree.members("a");
        assert_eq!(a.len(), 2);
        let Node::Array(elements) = tree.node(a[0]) else { panic!("no array") };
        let values: Vec<&Node<'_>> = elements.iter().map(|index| tree.node(*index)).collect();
        assert_eq!(values[..2], [&Node::Number("1.0"), &Node::Number("-0")]);
        assert_eq!(values[2], &Node::Text(Text { raw: "\\u00e9\\n", units: vec![0xe9, 10] }));
        assert_eq!(tree.node(a[1]), &Node::Object(Vec::new()));
        assert_eq!(tree.gaps[&(Token::Colon, Token::Open)], ["", " "].into());
        assert_eq!(tree.gaps[&(Token::Begin, Token::Open)], [" "].into());
        assert_eq!(tree.gaps[&(Token::Close, Token::End)], [" "].into());
        assert_eq!(tree.gaps[&(Token::Open, Token::Close)], [""].into());
    }

    #[test]
    fn faults_are_found_where_they_are() {
        for (text, at) in [
            ("", 0),
            ("[1,]", 3),
            ("{\"a\":1,}", 7),
            ("[1 2]", 3),
            ("01", 0),
            ("1.", 0),
            ("1 1", 2),
            ("[", 1),
            ("]", 0),
            ("{\"a\"}", 4),
            ("{1:2}", 1),
            ("\"\\x\"", 1),
            ("\"\t\"", 1),
            ("[}", 1),
            ("nul", 0),
            ("\u{feff}{}", 0),
            ("[1}", 2),
            ("{,}", 1),
        ] {
            assert_eq!(read(text.as_bytes()).map(|_| ()).unwrap_err().position, at, "{text}");
        }
        assert_eq!(read(b"\"a\xff\"").unwrap_err(), SyntaxError { position: 2, problem: "not UTF-8" });
    }

    #[test]
    fn depth_is_bounded_by_memory() {
        let text = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(read(text.as_bytes()).unwrap().nodes.len(), 200_000);
    }

    #[test]
    fn i_json_is_less_than_json() {
        for valid in ["{}", r#"{"a":1.5,"b":["\ud83d\ude00"]}"#] {
            assert!(is_i_json_object(valid.as_bytes()), "{valid}");
        }
        for invalid in [
            "[]",
            "1",
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a":"\ud83d"}"#,
            r#"{"\udc00":1}"#,
            r#"{"a":9007199254740993}"#,
            r#"{"a":1e999}"#,
            r#"{"a":"\uffff"}"#,
            r#"{"a":"\ufdd0"}"#,
            "{",
            r#"{"a":"\ud83f\udffe"}"#,
        ] {
            assert!(!is_i_json_object(invalid.as_bytes()), "{invalid}");
        }
    }

    proptest! {
        /// Compares with the JSON library that the rest of the program uses. It skips over values without
        /// validating the size of numbers and escapes if the caller ignores them.
        #[test]
        fn the_same_texts_are_read_as_by_a_library(pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"\"", "\"\\ud800\"", "\"\\x\"", "1", "-0", "0.5", "01", "1e9", "1e", "-", "null", "true",
            "tru", " ", "\n", "\u{c}", "\"", "\\", "é", "\"\u{1}\"", "+1", ".5", "\"\\u12\"",
        ]), 0..9)) {
            let text = pieces.concat();
            let library = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(read(text.as_bytes()).is_ok(), library, "{}", text);
        }

        #[test]
        fn what_a_library_writes_is_read(numbers in prop::collection::vec(any::<f64>(), 0..4), words in prop::collection::vec(any::<String>(), 0..4), depth in 0_usize..5) {
            let mut value = serde_json::json!({"numbers": numbers, "words": words});
            for level in 0..depth {
                value = if level % 2 == 0 { serde_json::json!([value, null]) } else { serde_json::json!({"a": value}) };
            }
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                prop_assert!(read(text.as_bytes()).is_ok(), "{}", text);
            }
        }
    }
}
