//! Generates post records: text, languages, replies, facets, embeds, labels and tags.

use super::events::Materials;
use super::identifiers::push_number;
use super::random::{Draws, mix};
use super::text::pick_language;
use super::words;

/// Text length in bytes after which nothing is appended, so that a post stays within 300 graphemes.
const LONGEST_TEXT: u32 = 240;

/// Target of a facet. A hash regenerates the target's text.
#[derive(Clone, Copy, Debug)]
enum Feature {
    Link(u64),
    Mention(u64),
    Tag(&'static str),
}

/// Annotated range of the text, as offsets in raw UTF-8 bytes.
#[derive(Clone, Copy, Debug)]
struct Facet {
    start: u32,
    end: u32,
    feature: Feature,
}

/// Facets of one post, up to eight; more are dropped.
#[derive(Clone, Debug, Default)]
struct Facets {
    list: [Option<Facet>; 8],
    length: usize,
}

impl Facets {
    fn push(&mut self, facet: Facet) {
        if let Some(slot) = self.list.get_mut(self.length) {
            *slot = Some(facet);
            self.length += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Facet> {
        self.list.iter().flatten()
    }
}

impl Materials<'_> {
    /// Appends a post, starting after the value of its `$type`.
    pub(super) fn push_post_record(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\",");
        self.push_created(out);
        // Users mostly stay with one language; one post in ten is in a random one.
        let own_language = mix(self.seed, self.user) as u32;
        let bits = self.draws.next();
        let language_bits = if bits.is_multiple_of(10) { (bits >> 32) as u32 } else { own_language };
        let language = pick_language(language_bits);
        let is_reply = self.draws.permille(560);
        self.push_embed(out, is_reply);
        let facets = self.compose(language, is_reply);
        self.push_facets(out, &facets);
        if self.draws.permille(12) {
            const LABELS: [&str; 4] = ["porn", "sexual", "nudity", "graphic-media"];
            out.extend_from_slice(
                b",\"labels\":{\"$type\":\"com.atproto.label.defs#selfLabels\",\"values\":[{\"val\":\"",
            );
            out.extend_from_slice(self.draws.skewed(&LABELS).as_bytes());
            out.extend_from_slice(b"\"}]}");
        }
        self.push_languages(out, language.tag);
        if is_reply {
            self.push_reply(out);
        }
        if self.draws.permille(15) {
            out.extend_from_slice(b",\"tags\":[");
            for index in 0..1 + self.draws.below(8) {
                out.extend_from_slice(if index == 0 { b"\"" } else { b",\"" });
                out.extend_from_slice(self.draws.skewed(&words::TAGS).as_bytes());
                out.push(b'"');
            }
            out.push(b']');
        }
        out.extend_from_slice(b",\"text\":");
        self.push_text(out);
    }

    fn push_languages(&mut self, out: &mut Vec<u8>, tag: &str) {
        match self.draws.below(1000) {
            // No language, as in posts by bots and bridges.
            0..70 => return,
            70..74 => out.extend_from_slice(b",\"langs\":[\"de\",\"en\",\"fr\""),
            74..104 => {
                out.extend_from_slice(b",\"langs\":[\"");
                out.extend_from_slice(tag.as_bytes());
                out.extend_from_slice(if tag == "en" { b"\",\"es\"" } else { b"\",\"en\"" });
            }
            _ => {
                out.extend_from_slice(b",\"langs\":[\"");
                out.extend_from_slice(tag.as_bytes());
                out.push(b'"');
            }
        }
        out.push(b']');
    }

    fn push_reply(&mut self, out: &mut Vec<u8>) {
        let parent = self.popular_post();
        out.extend_from_slice(b",\"reply\":{\"parent\":{");
        let start = out.len();
        self.push_post(out, parent);
        let end = out.len();
        out.extend_from_slice(b"},\"root\":{");
        if self.draws.permille(480) {
            out.extend_from_within(start..end);
        } else {
            let root = self.popular_post();
            self.push_post(out, root);
        }
        out.extend_from_slice(b"}}");
    }

    /// Generates the text and its facets (links, hashtags, mentions).
    fn compose(&mut self, language: &super::text::Language, is_reply: bool) -> Facets {
        let mut facets = Facets::default();
        self.text.clear();
        let u = self.draws.below(1 << 16);
        let square = (u64::from(u) * u64::from(u)) >> 16;
        let mut bytes = 14 + ((square * if is_reply { 200 } else { 270 }) >> 16) as u32;
        if !language.tag.is_ascii() || matches!(language.tag, "ja" | "ko" | "zh" | "th" | "ru" | "uk") {
            // Several bytes per character: longer in bytes, shorter in graphemes.
            bytes = (bytes * 3 / 2).min(LONGEST_TEXT);
        }
        match self.draws.below(1000) {
            // 3 % of the posts have no text, as is common with images and quotes.
            0..30 => {}
            _ => self.text.sentences(language, bytes, self.draws),
        }
        if self.draws.next() & 0x7ff == 0 {
            self.text.escape("\\u0000");
        }
        let draw = self.draws.below(1000);
        if draw < 75 {
            let link = self.draws.next();
            self.facet(&mut facets, Feature::Link(link), " ");
        }
        if (65..105).contains(&draw) {
            for _ in 0..1 + self.draws.below(4) {
                let tag = self.draws.skewed(&words::TAGS);
                self.facet(&mut facets, Feature::Tag(tag), " ");
            }
        }
        if (100..130).contains(&draw) {
            let user_bits = self.draws.next();
            self.facet(&mut facets, Feature::Mention(user_bits), " ");
        }
        facets
    }

    fn facet(&mut self, facets: &mut Facets, feature: Feature, gap: &str) {
        if self.text.raw_length() > LONGEST_TEXT {
            return;
        }
        if self.text.raw_length() > 0 {
            self.text.plain(gap);
        }
        let start = self.text.raw_length();
        match feature {
            Feature::Link(bits) => {
                // Clients display only the first part of a link.
                self.text.plain(Draws::new(bits, 0x6c).skewed(&words::HOSTS));
                self.text.plain("...");
            }
            Feature::Mention(bits) => {
                self.text.plain("@");
                self.text.handle(self.users.followed().any_user(bits));
            }
            Feature::Tag(tag) => {
                self.text.plain("#");
                self.text.plain(tag);
            }
        }
        facets.push(Facet { start, end: self.text.raw_length(), feature });
    }

    fn push_facets(&mut self, out: &mut Vec<u8>, facets: &Facets) {
        if facets.length == 0 {
            return;
        }
        out.extend_from_slice(b",\"facets\":[");
        for (index, facet) in facets.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"{" } else { b",{" });
            if matches!(facet.feature, Feature::Mention(_)) {
                out.extend_from_slice(b"\"$type\":\"app.bsky.richtext.facet\",");
            }
            out.extend_from_slice(b"\"features\":[{\"$type\":\"app.bsky.richtext.facet#");
            match facet.feature {
                Feature::Link(bits) => {
                    out.extend_from_slice(b"link\",\"uri\":\"https://");
                    self.spare.clear();
                    self.spare.link(bits);
                    out.extend_from_slice(self.spare.escaped());
                }
                Feature::Mention(bits) => {
                    out.extend_from_slice(b"mention\",\"did\":\"");
                    self.push_did(out, self.users.followed().any_user(bits));
                }
                Feature::Tag(tag) => {
                    out.extend_from_slice(b"tag\",\"tag\":\"");
                    out.extend_from_slice(tag.as_bytes());
                }
            }
            out.extend_from_slice(b"\"}],\"index\":{\"byteEnd\":");
            push_number(out, u64::from(facet.end));
            out.extend_from_slice(b",\"byteStart\":");
            push_number(out, u64::from(facet.start));
            out.extend_from_slice(b"}}");
        }
        out.push(b']');
    }

    fn push_embed(&mut self, out: &mut Vec<u8>, is_reply: bool) {
        // Replies have half as many embedded images and links as other posts.
        let draw = self.draws.below(1000) * if is_reply { 2 } else { 1 };
        match draw {
            0..235 => {
                out.extend_from_slice(b",\"embed\":");
                self.push_images(out);
            }
            235..350 => {
                out.extend_from_slice(b",\"embed\":");
                self.push_external(out);
            }
            350..425 => {
                out.extend_from_slice(b",\"embed\":{\"$type\":\"app.bsky.embed.record\",\"record\":{");
                let post = self.popular_post();
                self.push_post(out, post);
                out.extend_from_slice(b"}}");
            }
            425..450 => {
                out.extend_from_slice(b",\"embed\":{\"$type\":\"app.bsky.embed.video\",\"aspectRatio\":");
                self.push_aspect_ratio(out);
                out.extend_from_slice(b",\"video\":");
                self.push_blob(out, "video/mp4", 40_000_000);
                out.push(b'}');
            }
            450..468 => {
                out.extend_from_slice(b",\"embed\":{\"$type\":\"app.bsky.embed.recordWithMedia\",\"media\":");
                self.push_images(out);
                out.extend_from_slice(b",\"record\":{\"$type\":\"app.bsky.embed.record\",\"record\":{");
                let post = self.popular_post();
                self.push_post(out, post);
                out.extend_from_slice(b"}}}");
            }
            _ => {}
        }
    }

    fn push_images(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"$type\":\"app.bsky.embed.images\",\"images\":[");
        // Some users describe every image at length. Such documents of over 4,096 bytes are rare, but a
        // single one in a row group changes the choice of engines that bound the strings they compress
        // (DuckDB's FSST).
        let is_verbose = self.draws.permille(8);
        let images = match self.draws.below(100) {
            _ if is_verbose => 3 + self.draws.below(2),
            0..72 => 1,
            72..87 => 2,
            87..93 => 3,
            _ => 4,
        };
        for index in 0..images {
            out.extend_from_slice(if index == 0 { b"{\"alt\":" } else { b",{\"alt\":" });
            if is_verbose {
                let bytes = 1_300 + self.draws.below(600);
                self.push_name_field(out, "", bytes);
            } else if self.draws.permille(300) {
                let bytes = 15 + self.draws.below(160);
                self.push_name_field(out, "", bytes);
            } else {
                out.extend_from_slice(b"\"\"");
            }
            if self.draws.permille(900) {
                out.extend_from_slice(b",\"aspectRatio\":");
                self.push_aspect_ratio(out);
            }
            out.extend_from_slice(b",\"image\":");
            self.push_blob(out, "image/jpeg", 999_000);
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }

    fn push_aspect_ratio(&mut self, out: &mut Vec<u8>) {
        const COMMON: [(u64, u64); 8] = [
            (2000, 1500),
            (1500, 2000),
            (1080, 1920),
            (2000, 1125),
            (2000, 923),
            (1920, 1080),
            (1080, 1080),
            (1350, 1080),
        ];
        let (height, width) = if self.draws.permille(450) {
            self.draws.skewed(&COMMON)
        } else {
            (u64::from(300 + self.draws.below(1701)), u64::from(300 + self.draws.below(1701)))
        };
        out.extend_from_slice(b"{\"height\":");
        push_number(out, height);
        out.extend_from_slice(b",\"width\":");
        push_number(out, width);
        out.push(b'}');
    }

    fn push_external(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"$type\":\"app.bsky.embed.external\",\"external\":{\"description\":");
        if self.draws.permille(850) {
            let bytes = 30 + self.draws.below(170);
            self.push_name_field(out, "", bytes);
        } else {
            out.extend_from_slice(b"\"\"");
        }
        if self.draws.permille(800) {
            out.extend_from_slice(b",\"thumb\":");
            self.push_blob(out, "image/jpeg", 950_000);
        }
        let bytes = 20 + self.draws.below(70);
        self.push_name_field(out, ",\"title\":", bytes);
        out.extend_from_slice(b",\"uri\":\"https://");
        self.text.clear();
        self.text.link(self.draws.next());
        out.extend_from_slice(self.text.escaped());
        out.extend_from_slice(b"\"}}");
    }
}
