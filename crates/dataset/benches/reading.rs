//! Benchmark of reading on one core: documents of a plain file, as lines and as an array, are scanned and fed to
//! the reference answers.
//!
//! `cargo bench -p jsonathlon-dataset --bench reading [-- FILE]`. Without FILE, generated events are first
//! written to a temporary file. A megabyte is 10⁶ bytes; each result is the best and the median of several
//! passes.

use std::convert::Infallible;
use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::describe::{DescribeOptions, describe};
use jsonathlon_dataset::reference::Reference;
use jsonathlon_dataset::scan::Scanner;
use jsonathlon_dataset::source::{Block, Source};
use jsonathlon_dataset::stage::{StageOptions, stage};

const DOCUMENTS: u64 = 400_000;
/// Number of documents of a run by default.
const DEFAULT_RUN: u64 = 100_000;
const PASSES: usize = 9;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let scratch = tempfile::tempdir()?;
    let argument = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let path = match argument {
        Some(path) => PathBuf::from(path),
        None => generated(scratch.path())?,
    };
    let source = Source::Path(path);

    let bytes = read(&source, |_| ())?;
    report("lines", bytes, || read(&source, |block| black_box(block.len())));
    let mut scanner = Scanner::new();
    report("lines, scan", bytes, || {
        read(&source, |block| {
            block.scan(&mut scanner, |_, scan| {
                black_box(&scan);
                Ok::<_, Infallible>(())
            })
        })
    });
    for (what, form) in [("array, a document on each line", "[\n"), ("array without newlines", "[")] {
        let path = scratch.path().join("array.json");
        write_array(&source, &path, form)?;
        let array = Source::Path(path);
        report(what, bytes, || read(&array, |block| black_box(block.len())));
        report(&format!("{what}, scan"), bytes, || {
            read(&array, |block| {
                block.scan(&mut scanner, |_, scan| {
                    black_box(&scan);
                    Ok::<_, Infallible>(())
                })
            })
        });
        report(&format!("{what}, stage"), bytes, || {
            let options = StageOptions { measure_compressed_sizes: false, ..StageOptions::default() };
            Ok(staged_bytes(&array, &scratch.path().join("staged"), options)?)
        });
    }
    let mut answers = Vec::new();
    report("lines, scan, reference", bytes, || {
        let mut reference = Reference::default();
        let bytes = read(&source, |block| {
            block.scan(&mut scanner, |_, scan| {
                reference.observe(&scan.event);
                Ok::<_, Infallible>(())
            })
        })?;
        answers.push(reference.answers());
        Ok(bytes)
    });
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "answers differ between passes");

    for (what, measure_compressed_sizes) in [("stage", false), ("stage, with compression rows", true)] {
        report(what, bytes, || {
            let options = StageOptions { measure_compressed_sizes, ..StageOptions::default() };
            Ok(staged_bytes(&source, &scratch.path().join("staged"), options)?)
        });
    }
    report("describe", bytes, || {
        Ok(describe(&source, &DescribeOptions::default(), &mut |_| (), &|| false)?.bytes)
    });
    let default_run = Source::Generated { seed: 1, start: 0, documents: DEFAULT_RUN, malformed: 0 };
    let bytes = read(&default_run, |_| ())?;
    report("stage the generated events of a default run, with compression rows", bytes, || {
        let options = StageOptions::default();
        Ok(staged_bytes(&default_run, &scratch.path().join("staged"), options)?)
    });
    Ok(())
}

/// Stages a source with its reference answers. Returns the number of bytes read.
fn staged_bytes(source: &Source, folder: &Path, options: StageOptions) -> Result<u64, DataError> {
    Ok(stage(source, folder, options, &mut Reference::default(), &mut |_| (), &|| false)?.bytes)
}

/// Writes the documents of a source as one array that begins with `start`, whose white space is also between the
/// documents.
fn write_array(source: &Source, path: &Path, start: &str) -> Result<(), Failure> {
    let separator = start.replace('[', ",");
    let mut file = BufWriter::new(File::create(path)?);
    let mut documents = source.documents()?;
    let mut before = start;
    while let Some(document) = documents.next_line()? {
        file.write_all(before.as_bytes())?;
        file.write_all(document)?;
        before = &separator;
    }
    file.write_all(start.replace('[', "").as_bytes())?;
    file.write_all(b"]")?;
    Ok(file.flush()?)
}

/// Reads all blocks of a source. Returns the number of bytes read.
fn read<T>(source: &Source, mut observe: impl FnMut(&Block) -> T) -> Result<u64, Failure> {
    let mut lines = source.open()?;
    let mut block = Block::new();
    while lines.next_block(&mut block)? {
        observe(&block);
    }
    Ok(lines.tally().bytes)
}

fn report(what: &str, bytes: u64, mut pass: impl FnMut() -> Result<u64, Failure>) {
    let mut times: Vec<Duration> = Vec::new();
    let mut on_core: Vec<Duration> = Vec::new();
    for _ in 0..PASSES {
        let (start, start_on_core) = (Instant::now(), thread_time());
        match pass() {
            Ok(read) => assert_eq!(read, bytes),
            Err(error) => {
                println!("{what}: {error}");
                return;
            }
        }
        times.push(start.elapsed());
        on_core.push(thread_time().saturating_sub(start_on_core));
    }
    times.sort_unstable();
    on_core.sort_unstable();
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let (best, median, core) = (times[0], times[PASSES / 2], on_core[PASSES / 2]);
    println!(
        "{what}: {:.0} MB/s at best, {:.0} MB/s median ({median:.2?}), {:.0} MB/s by this thread's time on a core",
        rate(best),
        rate(median),
        rate(core)
    );
}

/// CPU time of this thread so far. Unlike the clock, it is not distorted by other load on the machine.
fn thread_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split(' ').next().and_then(|first| first.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

/// Writes generated events to a file and returns its path.
fn generated(folder: &Path) -> Result<PathBuf, Failure> {
    let source = Source::Generated { seed: 1, start: 0, documents: DOCUMENTS, malformed: 0 };
    let path = folder.join("events.ndjson");
    let mut file = File::create(&path)?;
    let mut failed = Ok(());
    read(&source, |block| {
        if let Err(error) = file.write_all(block.bytes()) {
            failed = Err(error);
        }
    })?;
    failed?;
    Ok(path)
}
