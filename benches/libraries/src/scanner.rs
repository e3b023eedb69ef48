//! The scanner of documents beside parsers of JSON, over generated events in memory.

use std::hint::black_box;

use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::scan::Scanner;

use crate::Problem;
use crate::pairs::{Side, compare as pairs};

const DOCUMENTS: u64 = 100_000;

pub(crate) fn compare() -> Result<(), Problem> {
    let mut generator = Generator::new(1, 0..DOCUMENTS);
    let mut events = Vec::new();
    while generator.fill(&mut events, 1 << 20) {}
    let lines = || events.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut scanner = Scanner::new();
    let mut scan = || {
        for line in lines() {
            black_box(scanner.scan(line).traits);
        }
        Ok(())
    };
    pairs(
        "scanner: traits of each document (ours), a tree of it (simd-json)",
        [
            Side { name: "ours", pass: &mut scan },
            Side {
                name: "simd-json",
                pass: &mut || {
                    let mut line_of = Vec::new();
                    let mut buffers = simd_json::Buffers::default();
                    for line in lines() {
                        line_of.clear();
                        line_of.extend_from_slice(line);
                        black_box(simd_json::to_tape_with_buffers(&mut line_of, &mut buffers)?);
                    }
                    Ok(())
                },
            },
        ],
    )?;
    pairs(
        "scanner: traits of each document (ours), a tree of it (sonic-rs)",
        [
            Side { name: "ours", pass: &mut scan },
            Side {
                name: "sonic-rs",
                pass: &mut || {
                    for line in lines() {
                        black_box(sonic_rs::from_slice::<sonic_rs::Value>(line)?);
                    }
                    Ok(())
                },
            },
        ],
    )
}
