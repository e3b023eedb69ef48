//! Records other than posts and profiles: what people like, follow, block, list and gate.

use super::events::Materials;
use super::identifiers::{Content, push_cid, tid};
use super::random::{Draws, mix};
use super::role::{Collection, Operation};

/// Microseconds in ninety days: how far back edited and deleted records go.
const NINETY_DAYS_US: u64 = 90 * 86_400 * 1_000_000;

impl Materials<'_> {
    /// Appends the record's key; gives the time in it, and 0 where the key is a name.
    #[inline]
    pub(super) fn push_record_key(
        &mut self,
        out: &mut Vec<u8>,
        collection: Option<Collection>,
        operation: Operation,
    ) -> u64 {
        match collection {
            Some(Collection::Profile | Collection::LabelerService) => {
                out.extend_from_slice(b"self");
                return 0;
            }
            Some(Collection::FeedGenerator) => {
                let bits = mix(self.user, 0x6665_6564);
                out.extend_from_slice(b"aaa");
                out.extend_from_slice(&tid(bits, bits)[3..]);
                return 0;
            }
            _ => {}
        }
        let bits = self.draws.next();
        let us = match operation {
            // A server makes the key some milliseconds before it commits.
            Operation::Create => self.times.commit - self.times.commit % 1_000 - (2 + (bits & 15)) * 1_000,
            // Most of what is taken back is young: the square of a fraction favours the recent.
            Operation::Update | Operation::Delete => {
                let fraction = ((bits >> 40) * (bits >> 40)) >> 24;
                let age_ms = (NINETY_DAYS_US / 1_000 * fraction) >> 24;
                self.times.commit / 1_000 * 1_000 - (age_ms + 5_000) * 1_000
            }
        };
        let clock =
            if collection == Some(Collection::Post) { bits >> 16 & 31 } else { self.times.server_clock };
        out.extend_from_slice(&tid(us, clock));
        us
    }

    /// Appends the record of an ordinary collection from behind its `$type` on.
    #[inline]
    pub(super) fn push_record(&mut self, out: &mut Vec<u8>, collection: Collection, key_us: u64) {
        out.extend_from_slice(b"\",");
        match collection {
            Collection::Like | Collection::Repost => {
                self.push_created(out);
                out.extend_from_slice(b",\"subject\":{");
                let post = self.popular_post();
                self.push_post(out, post);
                out.push(b'}');
            }
            Collection::Follow | Collection::Block => {
                self.push_created(out);
                out.extend_from_slice(b",\"subject\":\"");
                let subject = self.users.followed().any(self.draws.next());
                self.push_did(out, subject);
                out.push(b'"');
            }
            Collection::ListItem => {
                self.push_created(out);
                out.extend_from_slice(b",\"list\":\"");
                self.push_list_uri(out, self.user);
                out.extend_from_slice(b"\",\"subject\":\"");
                let subject = self.users.followed().any(self.draws.next());
                self.push_did(out, subject);
                out.push(b'"');
            }
            Collection::ListBlock => {
                self.push_created(out);
                out.extend_from_slice(b",\"subject\":\"");
                let owner = self.users.of(Collection::ListItem).any(self.draws.next());
                self.push_list_uri(out, owner);
                out.push(b'"');
            }
            Collection::List => self.push_list(out),
            Collection::StarterPack => self.push_starter_pack(out),
            Collection::ThreadGate => self.push_thread_gate(out, key_us),
            Collection::PostGate => self.push_post_gate(out, key_us),
            Collection::FeedGenerator => self.push_feed_generator(out),
            Collection::LabelerService => self.push_labeler(out),
            // Posts and profiles have modules of their own; their first field would stand here.
            Collection::Post | Collection::Profile => self.push_created(out),
        }
    }

    /// Appends the record of a collection that some small application invented.
    pub(super) fn push_rare_record(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\",");
        self.push_created(out);
        self.push_name_field(out, ",\"name\":", 20);
        out.extend_from_slice(b",\"subject\":{");
        let post = self.popular_post();
        self.push_post(out, post);
        out.push(b'}');
    }

    /// Appends the at-uri of one of a user's few lists.
    fn push_list_uri(&mut self, out: &mut Vec<u8>, owner: u64) {
        let bits = mix(self.seed ^ 0x6c69_7374, owner * 4 + u64::from(self.draws.below(2)));
        out.extend_from_slice(b"at://");
        self.push_did(out, owner);
        out.extend_from_slice(b"/app.bsky.graph.list/");
        let us = super::clock::START_US - bits % NINETY_DAYS_US;
        out.extend_from_slice(&tid(us / 1_000 * 1_000, bits >> 58));
    }

    /// Appends a member with a made-up text of about `bytes` bytes; `start` is its comma and name.
    pub(super) fn push_name_field(&mut self, out: &mut Vec<u8>, start: &str, bytes: u32) {
        let language = super::text::pick_language(mix(self.seed, self.user) as u32);
        self.text.clear();
        self.text.sentences(language, bytes, self.draws);
        out.extend_from_slice(start.as_bytes());
        self.push_text(out);
    }

    fn push_list(&mut self, out: &mut Vec<u8>) {
        self.push_created(out);
        if self.draws.permille(450) {
            let bytes = 10 + self.draws.below(120);
            self.push_name_field(out, ",\"description\":", bytes);
        }
        let bytes = 4 + self.draws.below(24);
        self.push_name_field(out, ",\"name\":", bytes);
        const PURPOSES: [&str; 3] = ["referencelist", "curatelist", "modlist"];
        out.extend_from_slice(b",\"purpose\":\"app.bsky.graph.defs#");
        out.extend_from_slice(self.draws.skewed(&PURPOSES).as_bytes());
        out.push(b'"');
    }

    fn push_starter_pack(&mut self, out: &mut Vec<u8>) {
        self.push_created(out);
        if self.draws.permille(700) {
            let bytes = 20 + self.draws.below(200);
            self.push_name_field(out, ",\"description\":", bytes);
        }
        if self.draws.permille(300) {
            out.extend_from_slice(b",\"feeds\":[");
            for place in 0..1 + self.draws.below(3) {
                out.extend_from_slice(if place == 0 { b"{\"cid\":\"" } else { b",{\"cid\":\"" });
                let owner = self.users.of(Collection::FeedGenerator).any(self.draws.next());
                push_cid(out, Content::Record, &mut Draws::new(self.seed, owner));
                out.extend_from_slice(b"\",\"uri\":\"at://");
                self.push_did(out, owner);
                out.extend_from_slice(b"/app.bsky.feed.generator/aaa");
                let bits = mix(owner, 0x6665_6564);
                out.extend_from_slice(&tid(bits, bits)[3..]);
                out.extend_from_slice(b"\"}");
            }
            out.push(b']');
        }
        out.extend_from_slice(b",\"list\":\"");
        self.push_list_uri(out, self.user);
        out.push(b'"');
        let bytes = 8 + self.draws.below(30);
        self.push_name_field(out, ",\"name\":", bytes);
    }

    /// Appends the at-uri of the user's own post that a gate stands before.
    fn push_own_post_uri(&mut self, out: &mut Vec<u8>, key_us: u64) {
        out.extend_from_slice(b"at://");
        self.push_did(out, self.user);
        out.extend_from_slice(b"/app.bsky.feed.post/");
        out.extend_from_slice(&tid(key_us, self.times.server_clock));
    }

    fn push_thread_gate(&mut self, out: &mut Vec<u8>, key_us: u64) {
        if self.draws.permille(850) {
            out.extend_from_slice(b"\"allow\":[");
            match self.draws.below(8) {
                0..3 => {}
                3 => out.extend_from_slice(b"{\"$type\":\"app.bsky.feed.threadgate#mentionRule\"}"),
                4..7 => out.extend_from_slice(b"{\"$type\":\"app.bsky.feed.threadgate#followingRule\"}"),
                _ => {
                    out.extend_from_slice(b"{\"$type\":\"app.bsky.feed.threadgate#listRule\",\"list\":\"");
                    self.push_list_uri(out, self.user);
                    out.extend_from_slice(b"\"}");
                }
            }
            out.extend_from_slice(b"],");
        }
        self.push_created(out);
        if self.draws.permille(250) {
            out.extend_from_slice(b",\"hiddenReplies\":[\"");
            let post = self.popular_post();
            self.push_post_uri(out, post);
            out.extend_from_slice(b"\"]");
        }
        out.extend_from_slice(b",\"post\":\"");
        self.push_own_post_uri(out, key_us);
        out.push(b'"');
    }

    fn push_post_gate(&mut self, out: &mut Vec<u8>, key_us: u64) {
        self.push_created(out);
        if self.draws.permille(400) {
            out.extend_from_slice(b",\"detachedEmbeddingUris\":[\"");
            let post = self.popular_post();
            self.push_post_uri(out, post);
            out.extend_from_slice(b"\"]");
        }
        if self.draws.permille(700) {
            out.extend_from_slice(
                b",\"embeddingRules\":[{\"$type\":\"app.bsky.feed.postgate#disableRule\"}]",
            );
        }
        out.extend_from_slice(b",\"post\":\"");
        self.push_own_post_uri(out, key_us);
        out.push(b'"');
    }

    fn push_feed_generator(&mut self, out: &mut Vec<u8>) {
        if self.draws.permille(500) {
            out.extend_from_slice(b"\"avatar\":");
            self.push_blob(out, "image/jpeg", 500_000);
            out.push(b',');
        }
        self.push_created(out);
        let bytes = 20 + self.draws.below(120);
        self.push_name_field(out, ",\"description\":", bytes);
        out.extend_from_slice(b",\"did\":\"did:web:skyfeed.me\"");
        let bytes = 5 + self.draws.below(20);
        self.push_name_field(out, ",\"displayName\":", bytes);
    }

    fn push_labeler(&mut self, out: &mut Vec<u8>) {
        self.push_created(out);
        out.extend_from_slice(
            b",\"policies\":{\"labelValueDefinitions\":[{\"adultOnly\":false,\"blurs\":\"none\",",
        );
        out.extend_from_slice(b"\"defaultSetting\":\"inform\",\"identifier\":\"");
        self.text.clear();
        self.text.coined_word(self.draws);
        out.extend_from_slice(self.text.escaped());
        out.extend_from_slice(b"\",\"severity\":\"inform\"}],\"labelValues\":[\"");
        out.extend_from_slice(self.text.escaped());
        out.extend_from_slice(b"\"]}");
    }
}
