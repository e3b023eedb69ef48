//! Generates the envelope of an event: user, times, kind, and the record of a commit.

use super::clock::EventClock;
use super::event_kind::{Collection, EventKind, Operation};
use super::identifiers::{Content, DateWriter, TimeForm, push_cid, push_did, push_number, tid};
use super::popular::{Popular, PostName};
use super::random::{Draws, mix};
use super::rare;
use super::text::Text;
use super::users::{Users, newcomer};

/// Number of profile creates in a block, each by a different new user.
const PROFILE_CREATES: u32 = 5_337;
/// Sequence number of the relay at the start of the data set (eleven digits).
const FIRST_SEQUENCE: u64 = 13_425_118_000;

/// Times of one event, in microseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Time at which the event passed the relay. Strictly increasing.
    pub(super) event: u64,
    /// Time at which the user's server committed the record.
    pub(super) commit: u64,
    /// Time stated by the user's client (`createdAt`).
    pub(super) created: u64,
    /// Format in which the client writes `createdAt`.
    pub(super) form: TimeForm,
    /// Clock number of the user's server, the last part of a TID.
    pub(super) server_clock: u64,
}

/// State needed to generate the record of an event.
pub(super) struct Materials<'a> {
    pub(super) seed: u64,
    pub(super) ordinal: u64,
    pub(super) user: u64,
    pub(super) times: Times,
    pub(super) clock: &'a EventClock,
    pub(super) users: &'a Users,
    pub(super) popular: &'a Popular,
    pub(super) dates: &'a mut DateWriter,
    pub(super) text: &'a mut Text,
    /// Scratch text for short strings while `text` has not been written yet.
    pub(super) spare: &'a mut Text,
    pub(super) draws: &'a mut Draws,
}

impl Materials<'_> {
    /// Appends `"createdAt":"…"` in the client's time format.
    #[inline]
    pub(super) fn push_created(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"createdAt\":\"");
        self.dates.push(out, self.times.created, self.times.form);
        out.push(b'"');
    }

    /// Appends the DID of a user.
    #[inline]
    pub(super) fn push_did(&self, out: &mut Vec<u8>, user: u64) {
        push_did(out, self.seed, user);
    }

    /// Draws a popular post as of this event.
    #[inline]
    pub(super) fn popular_post(&mut self) -> PostName {
        let authors = self.users.actors(Collection::Post);
        self.popular.post(self.clock, authors, self.ordinal, self.user, self.draws)
    }

    /// Appends the members `"cid":"…","uri":"at://…"` of a post.
    #[inline]
    pub(super) fn push_post(&self, out: &mut Vec<u8>, post: PostName) {
        out.extend_from_slice(b"\"cid\":\"");
        push_cid(out, Content::Record, &mut Draws::new(post.identity, 1));
        out.extend_from_slice(b"\",\"uri\":\"");
        self.push_post_uri(out, post);
        out.push(b'"');
    }

    /// Appends the at-uri of a post, without quotes.
    #[inline]
    pub(super) fn push_post_uri(&self, out: &mut Vec<u8>, post: PostName) {
        out.extend_from_slice(b"at://");
        self.push_did(out, post.author);
        out.extend_from_slice(b"/app.bsky.feed.post/");
        out.extend_from_slice(&tid(post.key_us, post.identity & 31));
    }

    /// Appends a blob with a random CID and a random size of 20,000 up to `largest` bytes.
    pub(super) fn push_blob(&mut self, out: &mut Vec<u8>, mime: &str, largest: u32) {
        out.extend_from_slice(b"{\"$type\":\"blob\",\"ref\":{\"$link\":\"");
        push_cid(out, Content::Blob, self.draws);
        out.extend_from_slice(b"\"},\"mimeType\":\"");
        out.extend_from_slice(mime.as_bytes());
        out.extend_from_slice(b"\",\"size\":");
        push_number(out, u64::from(20_000 + self.draws.below(largest - 20_000)));
        out.push(b'}');
    }

    /// Appends the current text as a JSON string.
    pub(super) fn push_text(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(self.text.escaped());
        out.push(b'"');
    }
}

/// Writes events one after the other; each depends only on the seed and its ordinal.
#[derive(Clone, Debug)]
pub(super) struct EventWriter {
    seed: u64,
    key: u64,
    clock: EventClock,
    users: Users,
    popular: Popular,
    dates: DateWriter,
    text: Text,
    spare: Text,
}

impl EventWriter {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            key: mix(seed, 0x0065_7665_6e74),
            clock: EventClock::new(),
            users: Users::new(seed),
            popular: Popular::new(seed),
            dates: DateWriter::new(),
            text: Text::default(),
            spare: Text::default(),
        }
    }

    /// Appends the event without a newline. `number` is the event's number among those of the same kind in
    /// the block.
    #[inline]
    pub(super) fn push(&mut self, out: &mut Vec<u8>, ordinal: u64, block: u64, kind: EventKind, number: u32) {
        let mut draws = Draws::new(self.key, ordinal);
        let user = match kind {
            EventKind::Commit(Collection::Profile, Operation::Create) => {
                newcomer(self.seed, block, number, PROFILE_CREATES)
            }
            EventKind::Commit(collection, _) => self.users.actors(collection).user_of_event(ordinal),
            EventKind::Rare(index, _) => rare::NAMES[usize::from(index)].user(u64::from(index), number),
            EventKind::Identity | EventKind::Account => {
                self.users.actors(Collection::Follow).user_of_event(ordinal)
            }
        };
        // Following a whole starter pack is one commit, whose follows share their times.
        let batch = matches!(kind, EventKind::Commit(Collection::Follow, Operation::Create))
            .then(|| self.users.actors(Collection::Follow).window_start(ordinal));
        let times = self.times(ordinal, user, batch, &mut draws);
        out.extend_from_slice(b"{\"did\":\"");
        let did = out.len();
        push_did(out, self.seed, user);
        out.extend_from_slice(b"\",\"time_us\":");
        push_number(out, times.event);
        match kind {
            EventKind::Commit(collection, operation) => {
                self.push_commit(
                    out,
                    ordinal,
                    user,
                    times,
                    collection.name(),
                    operation,
                    Some(collection),
                    &mut draws,
                );
            }
            EventKind::Rare(index, operation) => {
                let name = rare::NAMES[usize::from(index)].name;
                self.push_commit(out, ordinal, user, times, name, operation, None, &mut draws);
            }
            EventKind::Identity => {
                out.extend_from_slice(b",\"kind\":\"identity\",\"identity\":{\"did\":\"");
                out.extend_from_within(did..did + 32);
                if draws.permille(60) {
                    out.extend_from_slice(b"\",\"handle\":\"");
                    self.text.clear();
                    self.text.handle(mix(self.key, user));
                    out.extend_from_slice(self.text.escaped());
                }
                self.push_sequence_and_time(out, ordinal, times);
            }
            EventKind::Account => {
                let is_inactive = draws.permille(120);
                out.extend_from_slice(b",\"kind\":\"account\",\"account\":{\"active\":");
                out.extend_from_slice(if is_inactive { b"false,\"did\":\"" } else { b"true,\"did\":\"" });
                out.extend_from_within(did..did + 32);
                self.push_sequence(out, ordinal);
                if is_inactive {
                    const STATUS: [&str; 4] = ["deleted", "deactivated", "takendown", "suspended"];
                    out.extend_from_slice(b",\"status\":\"");
                    out.extend_from_slice(draws.skewed(&STATUS).as_bytes());
                    out.push(b'"');
                }
                self.push_time(out, times);
            }
        }
    }

    /// Draws the times at which the event passed the relay, its server and its client.
    #[inline]
    fn times(&mut self, ordinal: u64, user: u64, batch: Option<u64>, draws: &mut Draws) -> Times {
        let (start, end) = self.clock.slot(ordinal);
        let bits = draws.next();
        // The first event has the published start time; all others have a random time in their slot.
        let event = if ordinal == 0 { start } else { start + (((bits >> 32) * (end - start)) >> 32) };
        // Each user is on one of 64 servers, and each server's events arrive with its own delay.
        let habits = mix(self.key, user);
        let server = mix(self.seed, habits & 63);
        let (base_us, time_bits) = match batch {
            Some(first) => (self.clock.slot_start(first as i64), mix(habits, first)),
            None => (event, bits),
        };
        let commit_ms = base_us / 1_000 - (server % 1_200) - (time_bits & 255);
        let created_ms = if habits >> 59 == 0 {
            // One device in 32 has a wrong clock, by up to three minutes in either direction.
            (commit_ms + (habits >> 32) % 360_000) - 180_000
        } else {
            commit_ms - 60 - ((time_bits >> 8) & 511)
        };
        let (form, sub_ms_us) = match (habits >> 48) & 127 {
            0 => (TimeForm::Seconds, 0),
            1 => (TimeForm::Microseconds, (time_bits >> 17) % 1000),
            2 => (TimeForm::MicrosecondsOffset, (time_bits >> 17) % 1000),
            _ => (TimeForm::Milliseconds, 0),
        };
        Times {
            event,
            // Server clocks have millisecond resolution and count up within a millisecond.
            commit: commit_ms * 1_000 + u64::from(time_bits & 0x700 == 0),
            created: created_ms * 1_000 + sub_ms_us,
            form,
            server_clock: (server >> 32) & 31,
        }
    }

    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the parts of one event, used in one place")]
    fn push_commit(
        &mut self,
        out: &mut Vec<u8>,
        ordinal: u64,
        user: u64,
        times: Times,
        name: &str,
        operation: Operation,
        collection: Option<Collection>,
        draws: &mut Draws,
    ) {
        out.extend_from_slice(b",\"kind\":\"commit\",\"commit\":{\"rev\":\"");
        out.extend_from_slice(&tid(times.commit, times.server_clock));
        out.extend_from_slice(match operation {
            Operation::Create => b"\",\"operation\":\"create\",\"collection\":\"",
            Operation::Update => b"\",\"operation\":\"update\",\"collection\":\"",
            Operation::Delete => b"\",\"operation\":\"delete\",\"collection\":\"",
        });
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\",\"rkey\":\"");
        let mut materials = Materials {
            seed: self.seed,
            ordinal,
            user,
            times,
            clock: &self.clock,
            users: &self.users,
            popular: &self.popular,
            dates: &mut self.dates,
            text: &mut self.text,
            spare: &mut self.spare,
            draws,
        };
        let key = materials.push_record_key(out, collection, operation);
        if operation == Operation::Delete {
            out.extend_from_slice(b"\"}}");
            return;
        }
        out.extend_from_slice(b"\",\"record\":{\"$type\":\"");
        out.extend_from_slice(name.as_bytes());
        match collection {
            Some(Collection::Post) => materials.push_post_record(out),
            Some(Collection::Profile) => materials.push_profile_record(out),
            Some(collection) => materials.push_record(out, collection, key),
            None => materials.push_rare_record(out),
        }
        out.extend_from_slice(b"},\"cid\":\"");
        push_cid(out, Content::Record, materials.draws);
        out.extend_from_slice(b"\"}}");
    }

    fn push_sequence(&self, out: &mut Vec<u8>, ordinal: u64) {
        out.extend_from_slice(b"\",\"seq\":");
        // The relay also numbers some events that the stream does not contain.
        push_number(out, FIRST_SEQUENCE + ordinal + ordinal / 40);
    }

    fn push_time(&mut self, out: &mut Vec<u8>, times: Times) {
        out.extend_from_slice(b",\"time\":\"");
        self.dates.push(out, times.commit, TimeForm::Milliseconds);
        out.extend_from_slice(b"\"}}");
    }

    fn push_sequence_and_time(&mut self, out: &mut Vec<u8>, ordinal: u64, times: Times) {
        self.push_sequence(out, ordinal);
        self.push_time(out, times);
    }
}
