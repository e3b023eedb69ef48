//! Compares the generated data set with the published numbers of the real one at one million events: exact
//! counts, distinct users, compressed sizes and time span. Distinct users of larger sets are tested in
//! `generate/users.rs`, sizes inside engines in `tests/program/sizes.rs` of the crate `jsonathlon`.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, like the tests")]

use std::collections::{HashMap, HashSet};
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use jsonathlon_dataset::generate::Generator;
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    did: &'a str,
    time_us: u64,
    #[serde(borrow)]
    commit: Option<Commit<'a>>,
}

#[derive(Deserialize)]
struct Commit<'a> {
    operation: &'a str,
    collection: &'a str,
}

/// Collection, events, creates and distinct users of creates in the first million published events.
const PUBLISHED: [(&str, u32, u32, usize); 14] = [
    ("app.bsky.feed.like", 448_944, 444_523, 117_617),
    ("app.bsky.graph.follow", 360_374, 337_978, 63_957),
    ("app.bsky.feed.post", 90_816, 86_812, 50_464),
    ("app.bsky.feed.repost", 58_540, 56_993, 26_581),
    ("app.bsky.graph.block", 14_040, 13_838, 5_785),
    ("app.bsky.actor.profile", 11_762, 5_337, 5_337),
    ("app.bsky.graph.listitem", 8_103, 7_568, 1_078),
    ("app.bsky.graph.listblock", 895, 860, 449),
    ("app.bsky.graph.starterpack", 405, 104, 101),
    ("app.bsky.graph.list", 356, 259, 218),
    ("app.bsky.feed.threadgate", 255, 228, 196),
    ("app.bsky.feed.postgate", 104, 101, 82),
    ("app.bsky.feed.generator", 74, 10, 9),
    ("app.bsky.labeler.service", 4, 0, 0),
];

#[derive(Default)]
struct Counts {
    events: HashMap<String, u32>,
    creates: HashMap<String, u32>,
    users: HashMap<String, HashSet<String>>,
    without_collection: u32,
    /// Times of the first and the last event in µs.
    times: Option<(u64, u64)>,
}

impl Counts {
    fn observe(&mut self, chunk: &[u8]) {
        for line in chunk.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            let event: Event = serde_json::from_slice(line).unwrap();
            let first = self.times.map_or(event.time_us, |(first, _)| first);
            self.times = Some((first, event.time_us));
            let Some(commit) = event.commit else {
                self.without_collection += 1;
                continue;
            };
            bump(&mut self.events, commit.collection);
            if commit.operation == "create" {
                bump(&mut self.creates, commit.collection);
                let users = self.users.entry(commit.collection.to_owned()).or_default();
                if !users.contains(event.did) {
                    users.insert(event.did.to_owned());
                }
            }
        }
    }
}

fn bump(counts: &mut HashMap<String, u32>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

/// Writer that counts the bytes of a compressor without keeping them.
#[derive(Default)]
struct Tally(u64);

impl Write for Tally {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Bytes per document: raw, gzip -6, lz4, zstd -1. Calls `each` with every chunk.
fn sizes(seed: u64, documents: u64, mut each: impl FnMut(&[u8])) -> [f64; 4] {
    let mut raw = 0;
    let mut gzip = GzEncoder::new(Tally::default(), Compression::new(6));
    // The defaults of the `lz4` command.
    let info = FrameInfo::new().block_size(BlockSize::Max4MB).block_mode(BlockMode::Linked);
    let mut lz4 = FrameEncoder::with_frame_info(info, Tally::default());
    let mut zstd = zstd::Encoder::new(Tally::default(), 1).unwrap();
    let mut generator = Generator::new(seed, 0..documents);
    let mut buffer = Vec::new();
    while generator.fill(&mut buffer, 1 << 20) {
        raw += buffer.len() as u64;
        gzip.write_all(&buffer).unwrap();
        lz4.write_all(&buffer).unwrap();
        zstd.write_all(&buffer).unwrap();
        each(&buffer);
        buffer.clear();
    }
    [raw, gzip.finish().unwrap().0, lz4.finish().unwrap().0, zstd.finish().unwrap().0]
        .map(|bytes| bytes as f64 / documents as f64)
}

fn assert_sizes(found: [f64; 4]) {
    for ((name, published), found) in
        [("raw", 480.8), ("gzip -6", 135.2), ("lz4", 208.4), ("zstd -1", 126.7)].into_iter().zip(found)
    {
        let ratio = found / published;
        println!(
            "{name}: {found:.1} bytes per document, published {published} ({:+.1} %)",
            100.0 * (ratio - 1.0)
        );
        assert!((0.95..1.05).contains(&ratio), "{name}: {found:.1} against {published}");
    }
}

#[test]
fn sizes_of_the_default_set_are_near_the_published_ones() {
    assert_sizes(sizes(1, 100_000, |_| {}));
}

#[test]
fn a_million_events_match_the_published_million() {
    let mut counts = Counts::default();
    let sizes = sizes(42, 1_000_000, |chunk| counts.observe(chunk));
    assert_eq!(counts.events.len(), PUBLISHED.len(), "rare collections come from the second million on");
    assert_eq!(counts.without_collection, 5_328);
    let (first, last) = counts.times.unwrap();
    let span = (last - first) as f64 / 1e6;
    assert!((span - 813.0).abs() < 0.1, "a million events in {span} s");
    for (name, events, creates, users) in PUBLISHED {
        assert_eq!(counts.events[name], events, "{name}");
        assert_eq!(counts.creates.get(name).copied().unwrap_or(0), creates, "creates of {name}");
        let found = counts.users.get(name).map_or(0, HashSet::len);
        println!("{name}: {found} users, published {users}");
        // Tolerance: a tenth; for collections with few creates, which scatter more, at least five standard
        // deviations of a Poisson count.
        let allowed = (users as f64 * 0.1).max(5.0 * (users as f64).sqrt());
        let allowed = if creates > 5_000 { users as f64 * 0.1 } else { allowed };
        assert!((found as f64 - users as f64).abs() <= allowed, "{name}: {found} users against {users}");
    }
    assert_sizes(sizes);
}

#[test]
fn later_blocks_keep_the_counts_of_creates_and_have_rare_collections() {
    let mut counts = Counts::default();
    let mut generator = Generator::new(7, 500_000_000..501_000_000);
    let mut buffer = Vec::new();
    while generator.fill(&mut buffer, 1 << 20) {
        counts.observe(&buffer);
        buffer.clear();
    }
    for (name, events, creates, _) in PUBLISHED {
        assert_eq!(counts.creates.get(name).copied().unwrap_or(0), creates, "creates of {name}");
        if name != "app.bsky.feed.like" {
            assert_eq!(counts.events[name], events, "{name}");
        }
    }
    let rare = counts.events.len() - PUBLISHED.len();
    assert!(rare > 0, "no rare collection in a block half-way through the billion");
    assert!(counts.events["app.bsky.feed.like"] > 448_900);
}
