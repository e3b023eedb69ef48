//! Generates text as people write it: words, sentences, names, hashtags, links.
//!
//! Text is kept as JSON with the escapes of Go's encoder. The length of the raw UTF-8 text is kept, too,
//! because facets refer to byte offsets of the raw text.

use super::random::Draws;
use super::words;

/// Language of a text: tag, vocabulary and spelling rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Language {
    /// Language tag, as written in a post's `langs`.
    pub(super) tag: &'static str,
    words: &'static [&'static str],
    /// Whether words are separated by spaces.
    spaced: bool,
    capitals: bool,
}

const fn language(tag: &'static str, words: &'static [&'static str], spaced: bool) -> Language {
    Language { tag, words, spaced, capitals: spaced }
}

static LANGUAGES: [(u32, Language); 17] = [
    (620, language("en", &words::ENGLISH, true)),
    (125, language("pt", &words::PORTUGUESE, true)),
    (95, language("ja", &words::JAPANESE, false)),
    (38, language("es", &words::SPANISH, true)),
    (32, language("de", &words::GERMAN, true)),
    (24, language("fr", &words::FRENCH, true)),
    (12, language("ko", &words::KOREAN, true)),
    (9, language("nl", &words::DUTCH, true)),
    (8, language("tr", &words::TURKISH, true)),
    (7, language("ru", &words::RUSSIAN, true)),
    (6, language("th", &words::THAI, false)),
    (6, language("uk", &words::UKRAINIAN, true)),
    (5, language("zh", &words::CHINESE, false)),
    (4, language("it", &words::ITALIAN, true)),
    (4, language("pl", &words::POLISH, true)),
    (3, language("en-US", &words::ENGLISH, true)),
    (2, language("pt-BR", &words::PORTUGUESE, true)),
];

/// Returns the language that 32 random bits select, by the shares in `LANGUAGES`.
pub(super) fn pick_language(bits: u32) -> &'static Language {
    let mut rest = ((u64::from(bits) * 1000) >> 32) as u32;
    for (share, language) in &LANGUAGES {
        if rest < *share {
            return language;
        }
        rest -= share;
    }
    &LANGUAGES[0].1
}

/// A text under construction, reused from event to event.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    escaped: Vec<u8>,
    raw_length: u32,
}

const SYLLABLES: [&str; 64] = [
    "ba", "be", "bri", "ca", "che", "cor", "da", "del", "di", "do", "el", "en", "fa", "fer", "fi", "ga",
    "gre", "ha", "hel", "in", "ja", "jo", "ka", "ker", "ki", "la", "len", "li", "lo", "ma", "mer", "mi",
    "mo", "na", "nel", "ni", "no", "or", "pa", "per", "pi", "qua", "ra", "rei", "ri", "ro", "sa", "ser",
    "shi", "so", "ta", "ter", "ti", "to", "u", "va", "ver", "vi", "wa", "wen", "xa", "ya", "ze", "zo",
];

impl Text {
    /// Removes all text but keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        self.escaped.clear();
        self.raw_length = 0;
    }

    /// Returns the text as the content of a JSON string, without quotes.
    pub(super) fn escaped(&self) -> &[u8] {
        &self.escaped
    }

    /// Returns the length of the raw text in UTF-8 bytes.
    pub(super) fn raw_length(&self) -> u32 {
        self.raw_length
    }

    /// Appends characters that need no escape in JSON.
    #[inline]
    pub(super) fn plain(&mut self, text: &str) {
        self.escaped.extend_from_slice(text.as_bytes());
        self.raw_length += text.len() as u32;
    }

    /// Appends a character of one byte that JSON or Go's encoder writes as an escape sequence.
    #[inline]
    pub(super) fn escape(&mut self, sequence: &'static str) {
        self.escaped.extend_from_slice(sequence.as_bytes());
        self.raw_length += 1;
    }

    /// Appends a word made of random syllables, for names, typos and coined words.
    pub(super) fn coined_word(&mut self, draws: &mut Draws) {
        let mut bits = draws.next();
        for _ in 0..2 + (bits >> 62) {
            self.plain(SYLLABLES[(bits & 63) as usize]);
            bits >>= 6;
        }
    }

    /// Appends a number in decimal digits.
    pub(super) fn number(&mut self, number: u64) {
        let before = self.escaped.len();
        super::identifiers::push_number(&mut self.escaped, number);
        self.raw_length += (self.escaped.len() - before) as u32;
    }

    /// Appends up to 10 characters of an identifier, such as the end of a link.
    pub(super) fn slug(&mut self, bits: u64, length: usize) {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        for index in 0..length.min(10) {
            self.escaped.push(ALPHABET[((bits >> (6 * index)) & 63) as usize]);
        }
        self.raw_length += length.min(10) as u32;
    }

    /// Appends a user's handle without the leading `@`.
    pub(super) fn handle(&mut self, bits: u64) {
        let mut draws = Draws::new(bits, 0x68);
        self.plain(draws.skewed(&words::NAMES));
        if draws.permille(700) {
            self.coined_word(&mut draws);
        }
        if draws.permille(250) {
            self.number(u64::from(draws.below(2000)));
        }
        self.plain(if draws.permille(930) { ".bsky.social" } else { ".com" });
    }

    /// Appends a link without its scheme. The same bits give the same link.
    pub(super) fn link(&mut self, bits: u64) {
        let mut draws = Draws::new(bits, 0x6c);
        self.plain(draws.skewed(&words::HOSTS));
        if draws.permille(500) {
            for _ in 0..3 + draws.below(4) {
                self.plain(
                    draws.skewed(&words::ENGLISH[..]).trim_end_matches(|c: char| !c.is_ascii_alphanumeric()),
                );
                self.plain("-");
            }
            self.number(u64::from(draws.below(100_000)));
        } else {
            self.slug(draws.next(), 10);
        }
    }

    /// Appends sentences of about `bytes` bytes. Bytes are an upper bound of graphemes, so that a text of at
    /// most 300 bytes never exceeds the network's limit of 300 graphemes.
    pub(super) fn sentences(&mut self, language: &Language, bytes: u32, draws: &mut Draws) {
        let target_length = self.raw_length + bytes;
        let mut is_sentence_start = language.capitals && draws.permille(650);
        let uses_capitals = is_sentence_start;
        loop {
            let bits = draws.next();
            let start = self.escaped.len();
            self.word(language, bits, draws);
            if is_sentence_start && let Some(first) = self.escaped.get_mut(start) {
                first.make_ascii_uppercase();
            }
            is_sentence_start = false;
            if self.raw_length + 12 >= target_length {
                break;
            }
            let gap = (bits >> 20) & 1023;
            match gap {
                0..70 => self.plain(","),
                70..150 => {
                    self.plain(if gap < 125 { "." } else { "!" });
                    is_sentence_start = uses_capitals;
                }
                150..168 => {
                    self.plain("?");
                    is_sentence_start = uses_capitals;
                }
                168..186 => {
                    self.escape("\\n");
                    if gap & 1 == 0 {
                        self.escape("\\n");
                    }
                    is_sentence_start = uses_capitals;
                    continue;
                }
                186..214 => {
                    self.plain(" ");
                    let index = (((bits >> 30) & 0xffff) * words::EMOJI.len() as u64) >> 16;
                    self.plain(words::EMOJI[index as usize]);
                }
                _ => {}
            }
            if language.spaced {
                self.plain(" ");
            }
        }
        match draws.below(16) {
            0..5 => self.plain("."),
            5 => self.plain("!"),
            6 => self.plain("?"),
            7 => self.plain("..."),
            8 => self.plain(" 😂"),
            _ => {}
        }
    }

    #[inline]
    fn word(&mut self, language: &Language, bits: u64, draws: &mut Draws) {
        match (bits >> 10) & 1023 {
            0..60 => self.coined_word(draws),
            60..72 => self.number(bits >> 54),
            72..78 => {
                self.escape("\\\"");
                self.coined_word(draws);
                self.escape("\\\"");
            }
            78..81 => self.escape("\\u0026"),
            81..83 => {
                self.escape("\\u003c");
                self.plain("3");
            }
            83..84 => {
                self.escape("\\u003e");
                self.plain(" ");
            }
            _ => {
                let u = bits >> 48;
                let index = ((u * u) >> 16) * language.words.len() as u64;
                self.plain(language.words[(index >> 16) as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_length_is_that_of_the_decoded_text() {
        let mut text = Text::default();
        for i in 0..2_000 {
            let mut draws = Draws::new(5, i);
            text.clear();
            let language = pick_language((draws.next() >> 32) as u32);
            text.sentences(language, 1 + draws.below(280), &mut draws);
            text.handle(draws.next());
            text.link(draws.next());
            let json = format!("\"{}\"", std::str::from_utf8(text.escaped()).unwrap());
            let decoded: String = serde_json::from_str(&json).unwrap();
            assert_eq!(decoded.len(), text.raw_length() as usize, "{decoded}");
            assert!(!text.escaped().iter().any(|b| matches!(b, b'<' | b'>' | b'&')), "{decoded}");
        }
    }

    #[test]
    fn language_shares_are_whole_and_every_language_comes() {
        assert_eq!(LANGUAGES.iter().map(|(share, _)| share).sum::<u32>(), 1000);
        let mut draws = Draws::new(1, 1);
        let tags: std::collections::HashSet<_> =
            (0..20_000).map(|_| pick_language((draws.next() >> 32) as u32).tag).collect();
        assert_eq!(tags.len(), LANGUAGES.len());
    }
}
