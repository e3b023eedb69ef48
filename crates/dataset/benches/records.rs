//! Benchmark of records on one core, in memory: `cargo bench -p jsonathlon-dataset --bench records`.
//!
//! Prints the best and the median of nine passes in ns per document, because a shared machine disturbs single
//! passes.

use std::hint::black_box;
use std::time::Instant;

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::records::{Kind, RecordSet, Records, Scratch, Values, WriteScope};
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{IgnoreDocuments, StageOptions, stage};

const DOCUMENTS: u64 = 20_000;
const PASSES: usize = 9;

fn main() -> Result<(), DataError> {
    let kinds = [
        ("flat", Kind::Flat),
        ("large", Kind::Large),
        ("nested", Kind::Nested),
        ("size 4000", Kind::Size { bytes: 4_000 }),
        ("items 10", Kind::Items { members: 10 }),
    ];
    for (name, kind) in kinds {
        for (values_name, values) in [("text", Values::Text), ("random", Values::Random)] {
            let records = Records { kind: kind.clone(), values, ..Records::flat(1) };
            documents(&format!("{name}, {values_name}"), &records.prepare()?);
            if matches!(kind, Kind::Flat) {
                staging(records)?;
            }
        }
    }
    Ok(())
}

/// Stages as many records as a run has by default, with and without compressed sizes.
fn staging(records: Records) -> Result<(), DataError> {
    let scratch = std::env::temp_dir().join(format!("records-{}", std::process::id()));
    let source = Source::Records { records, documents: 100_000 };
    for measure_compressed_sizes in [false, true] {
        let start = Instant::now();
        let options = StageOptions { measure_compressed_sizes, ..StageOptions::default() };
        let staged = stage(&source, &scratch, options, &mut IgnoreDocuments, &mut |_| (), &|| false)?;
        let rows = if measure_compressed_sizes { " with compression rows" } else { "" };
        println!("staging {source}{rows}: {:.2?}, {} bytes", start.elapsed(), staged.bytes);
    }
    // Errors are ignored, because the folder is in the temporary directory.
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(())
}

fn documents(name: &str, set: &RecordSet) {
    let mut text = Vec::new();
    let mut bytes = 0;
    report(&format!("{name}: made"), || {
        bytes = 0;
        for number in 0..DOCUMENTS {
            text.clear();
            set.document(number, 0, &mut text);
            bytes += black_box(&text).len();
        }
        true
    });
    // Enough documents to exceed the second-level cache.
    let made: Vec<Vec<u8>> = (0..DOCUMENTS)
        .map(|number| {
            let mut text = Vec::new();
            set.document(number, 0, &mut text);
            text
        })
        .collect();
    let mut scratch = Scratch::new();
    report(&format!("{name}: checked"), || {
        (0..)
            .zip(&made)
            .all(|(number, text)| set.check(number, text, WriteScope::Nothing, &mut scratch).is_ok())
    });
    println!("{name}: {} bytes on average", bytes / DOCUMENTS as usize);
}

fn report(what: &str, mut pass: impl FnMut() -> bool) {
    let mut times: Vec<f64> = (0..PASSES)
        .map(|_| {
            let start = Instant::now();
            let good = pass();
            assert!(good, "{what}: a document does not check");
            start.elapsed().as_nanos() as f64 / DOCUMENTS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{what}: {:.0} ns at best, {:.0} ns median a document", times[0], times[PASSES / 2]);
}
