//! Benchmark of a client's work besides sending, on one core: `cargo bench -p jsonathlon-loadgen --bench
//! accept`.
//!
//! Prints the best and the median of nine passes in ns per call, because a shared machine disturbs single
//! passes.

use std::hint::black_box;
use std::time::Instant;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::records::{Records, Scratch, WriteScope};
use jsonathlon_loadgen::accept::{AcceptSet, WriteKind, reply_hash};
use jsonathlon_loadgen::keys::{KeyChooser, OperationChooser};
use jsonathlon_loadgen::mix::RequestDistribution;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::random::Random;

const RECORDS: u64 = 100_000;
/// Replies of 1 kB that together exceed the caches.
const REPLIES: u64 = 64 << 10;
const TIMES: u64 = 500_000;
const PASSES: usize = 9;

fn main() -> Result<(), DataError> {
    let mut random = Random::new(1, 0);
    report("64 bits", || black_box(random.bits()));
    let mut random = Random::new(1, 0);
    for requests in [RequestDistribution::Uniform, RequestDistribution::Zipfian, RequestDistribution::Latest]
    {
        let keys = KeyChooser::new(requests, RECORDS);
        report(&format!("a record drawn, {requests:?}"), || black_box(keys.draw(RECORDS, &mut random)));
    }
    if let Ok(shares) = OperationChooser::new(&[(Operation::Read, 0.5), (Operation::Update, 0.5)]) {
        report("an operation drawn", || black_box(shares.draw(&mut random)) as u64);
    }

    let accept = AcceptSet::new(RECORDS);
    let keys = KeyChooser::new(RequestDistribution::Zipfian, RECORDS);
    report("a write begun and acknowledged", || {
        let write = accept.begin_write(keys.draw(RECORDS, &mut random), WriteKind::Part);
        write.map_or(0, |write| {
            let version = write.version();
            accept.acknowledge(write);
            u64::from(version)
        })
    });

    let records = Records::flat(1);
    let set = records.prepare()?;
    let replies: Vec<Vec<u8>> = (0..REPLIES)
        .map(|number| {
            let mut reply = Vec::new();
            set.document(number, 0, &mut reply);
            reply
        })
        .collect();
    let (accept, mut scratch, mut wrong) = (AcceptSet::new(REPLIES), Scratch::new(), 0_u64);
    let keys = KeyChooser::new(RequestDistribution::Zipfian, REPLIES);
    report("a reply of 1 kB hashed, in the cache", || reply_hash(&replies[random.below(8) as usize], 0));
    let mut next = 0;
    report("a reply of 1 kB hashed, the next in memory", || {
        next = (next + 1) % replies.len();
        reply_hash(&replies[next], 0)
    });
    report("a reply of 1 kB hashed, anywhere in memory", || {
        reply_hash(&replies[random.below(REPLIES) as usize], 0)
    });
    report("a read of a zipfian record accepted, its reply known by its hash as a rule", || {
        let number = keys.draw(REPLIES, &mut random);
        let read = accept.begin_read(number);
        let reply = &replies[number as usize];
        let hash = reply_hash(reply, 0);
        let seen = accept.cached_reply(number, hash).or_else(|| {
            let seen = set.check(number, reply, WriteScope::Path(0), &mut scratch).ok();
            if let Some(seen) = seen {
                accept.cache_reply(number, hash, seen);
            }
            seen
        });
        wrong += u64::from(seen.is_none() || accept.accepts(&read, seen).is_err());
        hash
    });
    println!("{wrong} wrong replies");
    Ok(())
}

fn report(what: &str, mut act: impl FnMut() -> u64) {
    let mut times: Vec<f64> = (0..PASSES)
        .map(|_| {
            let start = Instant::now();
            let mut sum = 0_u64;
            for _ in 0..TIMES {
                sum = sum.wrapping_add(act());
            }
            black_box(sum);
            start.elapsed().as_nanos() as f64 / TIMES as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{what}: {:.1} ns at best, {:.1} ns median", times[0], times[PASSES / 2]);
}
