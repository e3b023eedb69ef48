//! Benchmark of right answers under mixed load: `cargo bench -p jsonathlon-mixed --bench sweep`.
//!
//! A million documents and a pool of 200,000 for four writers. Prints the time that the base takes, and then
//! 1,000 and 100,000 answers at prefixes of which a tenth is ahead of the others by up to 2,000 documents, which
//! is less of a chain than any system has shown; with the memory of the process after each. The same questions
//! are then judged, as answered right. The environment variables `DOCUMENTS` and `ANSWERS` change the numbers.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::questions::Question;
use jsonathlon_dataset::scan::Scanner;
use jsonathlon_mixed::{
    AskedQuestion, Declared, Documents, DocumentsBuilder, Pool, Prefixes, SeenCount, Sweep, VerdictCounts,
    Visibility, WriterHistory, judge,
};
use jsonathlon_schema::value::Row;

const DOCUMENTS: usize = 1_000_000;
/// Documents of the base for each one of the pool.
const BASE_PER_POOL: usize = 5;
const WRITERS: usize = 4;
const ANSWERS: [usize; 2] = [1_000, 100_000];
const JITTER: u64 = 2_000;
const BUFFER_BYTES: usize = 1 << 20;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let setting = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    let base = setting("DOCUMENTS").unwrap_or(DOCUMENTS);
    let pool_size = base / BASE_PER_POOL;
    let answers = setting("ANSWERS").map_or(ANSWERS.to_vec(), |answers| vec![answers]);

    let documents = documents(pool_size + base);
    let pool = Pool::new(0..pool_size, WRITERS);
    println!("{} documents: {}", documents.len(), memory());
    let begun = Instant::now();
    let mut sweep = Sweep::new(&documents, &pool, pool_size..pool_size + base)?;
    println!("base of {base}: {:.3} s; {}", begun.elapsed().as_secs_f64(), memory());

    let mut right = Vec::new();
    for count in answers {
        let mut vectors = vectors(&pool, count);
        vectors.sort_by_cached_key(|(prefixes, _)| (prefixes.documents(), prefixes.clone()));
        let (before, begun) = (sweep.steps(), Instant::now());
        let mut rows = Vec::new();
        for (prefixes, question) in &vectors {
            sweep.move_to(prefixes)?;
            rows.push(black_box(sweep.rows(*question)));
            // Kept only for the judge, who gets few questions.
            if count > ANSWERS[0] {
                rows.clear();
            }
        }
        let (seconds, steps) = (begun.elapsed().as_secs_f64(), sweep.steps());
        println!(
            "{count} answers, {WRITERS} writers: {seconds:.3} s, {:.1} µs each, {} pushes, {} pops; {}",
            seconds * 1e6 / count as f64,
            steps.pushes - before.pushes,
            steps.pops - before.pops,
            memory()
        );
        if rows.len() == count {
            right = vectors.into_iter().zip(rows).collect();
        }
    }
    judge_all(&mut sweep, &pool, &right)
}

/// Generates and scans the documents.
fn documents(count: usize) -> Documents {
    let (mut generator, mut scanner) = (Generator::new(1, 0..count as u64), Scanner::new());
    let (mut builder, mut buffer) = (DocumentsBuilder::default(), Vec::new());
    while generator.fill(&mut buffer, BUFFER_BYTES) {
        for line in buffer.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            builder.observe(&scanner.scan(line).event);
        }
        buffer.clear();
    }
    let begun = Instant::now();
    let documents = builder.finish();
    println!("users in order: {:.3} s", begun.elapsed().as_secs_f64());
    documents
}

/// Prefixes that grow evenly over the pool, some ahead of the others, each with a question.
fn vectors(pool: &Pool, count: usize) -> Vec<(Prefixes, Question)> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move |limit: u64| {
        // Xorshift (Marsaglia, 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let vector = |index: usize| {
        let mut prefix = |writer: usize| {
            let documents = pool.documents_of(writer);
            let ahead = if random(10) == 0 { random(JITTER) } else { 0 };
            (index as u64 * documents / count as u64 + ahead).min(documents)
        };
        let prefixes: Vec<u64> = (0..WRITERS).map(&mut prefix).collect();
        (Prefixes::from(prefixes), Question::ALL[random(5) as usize])
    };
    (0..count).map(vector).collect()
}

/// Judges questions that were answered right after all documents were acknowledged.
fn judge_all(
    sweep: &mut Sweep<'_>,
    pool: &Pool,
    right: &[((Prefixes, Question), Vec<Row>)],
) -> Result<(), Failure> {
    let history = |writer| {
        let mut history = WriterHistory::default();
        history.sent(pool.documents_of(writer), 1);
        history.acknowledged(pool.documents_of(writer), 2);
        history
    };
    let histories: Vec<WriterHistory> = (0..WRITERS).map(history).collect();
    let seen = |prefixes: &Prefixes| -> Vec<SeenCount> {
        let counts = prefixes.as_slice().iter().enumerate().filter(|(_, prefix)| **prefix > 0);
        counts.map(|(writer, prefix)| SeenCount { writer, count: *prefix, highest: prefix - 1 }).collect()
    };
    let seen: Vec<Vec<SeenCount>> = right.iter().map(|((prefixes, _), _)| seen(prefixes)).collect();
    let floors = [0; WRITERS];
    let asked: Vec<AskedQuestion<'_>> = right
        .iter()
        .zip(&seen)
        .map(|(((_, question), rows), seen)| AskedQuestion {
            stream: 0,
            question: *question,
            start_ns: 3,
            end_ns: 4,
            floors: &floors,
            seen,
            unreadable: None,
            rows,
        })
        .collect();
    for snapshot in [true, false] {
        let declared = Declared { snapshot, visible: Visibility::Refresh, approximate: BTreeMap::new() };
        let begun = Instant::now();
        let judgements = judge(sweep, &declared, &histories, &asked)?;
        let seconds = begun.elapsed().as_secs_f64();
        let counts = VerdictCounts::of(&judgements);
        println!(
            "judging {} questions, snapshot {snapshot}: {seconds:.3} s, {} exact, {} bounded, {} wrong",
            counts.asked, counts.exact, counts.bounded, counts.wrong
        );
    }
    Ok(())
}

/// Memory of this process at present and at most, as the kernel counts it.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join(", ")
}
