//! Generates profile records, in which every field is optional.

use super::events::Materials;
use super::random::mix;
use super::text::pick_language;
use super::words;

impl Materials<'_> {
    /// Appends a profile, starting after the value of its `$type`.
    pub(super) fn push_profile_record(&mut self, out: &mut Vec<u8>) {
        out.push(b'"');
        if self.draws.permille(820) {
            out.extend_from_slice(b",\"avatar\":");
            self.push_blob(out, "image/jpeg", 900_000);
        }
        if self.draws.permille(480) {
            out.extend_from_slice(b",\"banner\":");
            self.push_blob(out, "image/jpeg", 980_000);
        }
        if self.draws.permille(680) {
            out.push(b',');
            self.push_created(out);
        }
        if self.draws.permille(740) {
            let u = self.draws.below(1000);
            self.push_name_field(out, ",\"description\":", 10 + u * u / 5_000);
        }
        if self.draws.permille(900) {
            self.push_display_name(out);
        }
        if self.draws.permille(30) {
            out.extend_from_slice(
                b",\"labels\":{\"$type\":\"com.atproto.label.defs#selfLabels\",\"values\":[",
            );
            if self.draws.permille(500) {
                out.extend_from_slice(b"{\"val\":\"!no-unauthenticated\"}");
            }
            out.extend_from_slice(b"]}");
        }
        if self.draws.permille(40) {
            out.extend_from_slice(b",\"pinnedPost\":{");
            let post = self.popular_post();
            self.push_post(out, post);
            out.push(b'}');
        }
    }

    fn push_display_name(&mut self, out: &mut Vec<u8>) {
        self.text.clear();
        let language = pick_language(mix(self.seed, self.user) as u32);
        if language.tag == "ja" {
            self.text.sentences(language, 6, self.draws);
        } else if self.draws.permille(850) {
            self.text.plain(self.draws.skewed(&words::NAMES));
            self.text.plain(" ");
            self.text.coined_word(self.draws);
            if self.draws.permille(120) {
                self.text.plain(" ");
                self.text.plain(self.draws.skewed(&words::EMOJI));
            }
        }
        out.extend_from_slice(b",\"displayName\":");
        self.push_text(out);
    }
}
