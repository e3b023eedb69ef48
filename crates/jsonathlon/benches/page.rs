//! Time to generate a page and its size: 50 systems at four document counts, about 10,000 trials.
//!
//!     cargo bench -p jsonathlon --bench page

#![expect(clippy::unwrap_used, reason = "a bench that cannot measure has nothing to go on with")]

use std::time::Instant;

use jsonathlon_report::page::page;
use jsonathlon_results::summary::Run;

use made_runs::Made;

#[path = "../tests/support/made_runs.rs"]
mod made_runs;

const REPETITIONS: usize = 9;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = [100_000, 1_000_000, 10_000_000, 100_000_000]
        .map(|documents| {
            let path = folder.path().join(format!("run-{documents}"));
            Made { systems: 50, documents, rounds: 4, hot: 1, seconds: 3_600, ..Made::default() }
                .write(&path);
            path
        })
        .into();
    let mut seconds: Vec<f64> = Vec::new();
    let mut read = Vec::new();
    let (mut bytes, mut trials) = (0, 0);
    for _ in 0..REPETITIONS {
        let begun = Instant::now();
        let runs: Vec<Run> = paths.iter().map(|path| Run::read(path).unwrap()).collect();
        read.push(begun.elapsed().as_secs_f64());
        bytes = page(&runs, "bench", "2026-01-02T03:04:05Z").unwrap().len();
        seconds.push(begun.elapsed().as_secs_f64());
        trials = runs.iter().map(|run| run.trials().count()).sum();
    }
    seconds.sort_by(f64::total_cmp);
    read.sort_by(f64::total_cmp);
    println!(
        "{trials} trials: page of {:.2} MB in {:.3} s (median of {REPETITIONS}; {:.3} … {:.3} s), {:.3} s of it reading",
        bytes as f64 / 1e6,
        seconds[REPETITIONS / 2],
        seconds[0],
        seconds[REPETITIONS - 1],
        read[REPETITIONS / 2],
    );
}
