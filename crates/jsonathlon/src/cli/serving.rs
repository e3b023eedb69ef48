//! Command-line options of `jsonathlon run serving`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_workloads::serving::settings::{Rate, Slo};

use super::run_options::{CommonArguments, DEFAULT_SEED, ExternalOptions, InputArguments};
use crate::parse;

/// Help heading of the options that only this workload has.
const SERVING: &str = "Options of serving";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentsChoice {
    /// Three fields of 32 characters
    Small,
    /// Ten fields of 100 characters
    Flat,
    /// A hundred fields of 200 characters
    Large,
    /// A tree of objects with 88 values of 100 characters
    Nested,
    /// Flat documents of exactly --document-size
    Size,
    /// An array and an object of --members small objects
    Items,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValuesChoice {
    /// Words, which compress as text does
    Text,
    /// Random printable characters, which hardly compress
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyOrderChoice {
    /// Scattered over the whole range
    Hashed,
    /// Sorted in ascending order
    Ordered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyTypeChoice {
    /// `user` and 19 digits
    Text,
    /// An integer of 64 bits
    Bigint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalChoice {
    /// Exponential gaps, each independent of the others
    Poisson,
    /// Equal gaps between all arrivals
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PositionChoice {
    /// The first values of the document
    First,
    /// Values at even distances
    Spread,
    /// The last values of the document
    Last,
}

#[derive(Debug, Args)]
pub(crate) struct ServingArguments {
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) external: ExternalOptions,
    #[command(flatten)]
    pub(crate) options: ServingOptions,
    #[command(flatten)]
    pub(crate) input: InputArguments,
}

/// Options that only this workload has, and its rounds and records.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct ServingOptions {
    /// Number of records to generate, e.g. 5000, 100k, 1m (YCSB: recordcount) [default: 100k]
    #[arg(long, alias = "records", short = 'n', value_name = "COUNT", value_parser = parse::count)]
    pub(crate) scale: Option<u64>,
    /// Your own documents as records, in place of generated ones: a file, a folder, an archive (tar, zip), `-` for
    /// standard input, or an http(s) address; JSON in any form of --input, plain or compressed (gzip, zstd, bzip2, xz)
    #[arg(long, short = 'd', value_name = "PATH|URL")]
    pub(crate) data: Option<String>,
    /// Key of each document of --data: JSON pointer of a text or integer that all documents have and none shares, or
    /// `line` for the number of the document [default: the first of _id, id, key, uuid, *_id, then any other; else line]
    #[arg(long, value_name = "POINTER|line", requires = "data")]
    pub(crate) key: Option<String>,
    /// Value that updates set in documents of --data: JSON pointer of a text or integer [default: the text of at least 8
    /// bytes or the integer that most documents have]
    #[arg(long, value_name = "POINTER", requires = "data")]
    pub(crate) update: Option<String>,
    /// Seed of the generated records, and of the clients' choices
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Number of rounds; intervals need at least two [default: 4]
    #[arg(long, short = 'r', value_name = "N", conflicts_with = "budget", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Time for the whole run once systems are installed, loads included, such as 10m; refused after the first round
    /// if five rounds do not fit
    #[arg(long, value_name = "TIME", value_parser = parse::seconds)]
    pub(crate) budget: Option<f64>,
    /// Number of rounds that start with a fresh load [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) load_rounds: Option<u32>,
    /// Mixes of operations: a to f of YCSB, insert, insert-batch, writes, paths, update-path, update-all, update-element, find,
    /// count, unwrap, unwrap-all, churn, or TOML files of your own; separated by commas
    #[arg(long, value_name = "MIXES", default_value = "a,c", help_heading = SERVING)]
    pub(crate) mixes: String,
    /// Numbers of concurrent clients (YCSB: threads)
    #[arg(long, short = 'c', value_name = "N,…", default_value = "1,8,32", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = SERVING)]
    pub(crate) clients: Vec<u32>,
    /// Shape of the generated documents [default: flat]
    #[arg(long, value_enum, help_heading = SERVING)]
    pub(crate) documents: Option<DocumentsChoice>,
    /// Size of each document with --documents size, in kB of 1,000 bytes of JSON text [default: 1]
    #[arg(long, value_name = "KB", value_parser = kilobytes, help_heading = SERVING)]
    pub(crate) document_size: Option<u32>,
    /// Members of each array and object with --documents items [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = SERVING)]
    pub(crate) members: Option<u32>,
    /// Content of the generated values [default: text]
    #[arg(long, value_enum, help_heading = SERVING)]
    pub(crate) value_content: Option<ValuesChoice>,
    /// Order in which keys are loaded (YCSB: insertorder) [default: hashed]
    #[arg(long, value_enum, help_heading = SERVING)]
    pub(crate) key_order: Option<KeyOrderChoice>,
    /// Data type of the keys [default: text]
    #[arg(long, value_enum, help_heading = SERVING)]
    pub(crate) key_type: Option<KeyTypeChoice>,
    /// Generate records with FACTOR times --memory of JSON text, instead of --scale; the page cache then counts
    /// as memory of each system, if the machine can cap it
    #[arg(long, value_name = "FACTOR", conflicts_with = "scale", value_parser = positive, help_heading = SERVING)]
    pub(crate) data_to_memory: Option<f64>,
    /// Durability tier: `synced` survives power loss, `process` survives a process crash, `window` may lose the last
    /// moments
    #[arg(long, value_name = "TIER", default_value = "synced", value_parser = parse::durability_tier, help_heading = SERVING)]
    pub(crate) durability: DurabilityTier,
    /// Also run open-loop trials at these arrival rates, with the largest of --clients: percent of measured capacity
    /// (50%), ranges of them (10..95%), or operations per second (2000); separated by commas
    #[arg(long, value_name = "RATES", value_parser = rates, help_heading = SERVING)]
    pub(crate) rates: Option<Rates>,
    /// Distribution of arrivals over time
    #[arg(long, value_enum, default_value = "poisson", help_heading = SERVING)]
    pub(crate) arrival: ArrivalChoice,
    /// Find the highest rate that meets an objective, such as p99<5ms
    #[arg(long, value_name = "OBJECTIVE", value_parser = Slo::parse, help_heading = SERVING)]
    pub(crate) slo: Option<Slo>,
    /// Reports of your own, asked at rest and once more beside each load: a folder of questions about --data, as
    /// `questions new` writes it
    #[arg(long, value_name = "DIR", requires = "data", conflicts_with = "operation_count", help_heading = SERVING)]
    pub(crate) reports: Option<PathBuf>,
    /// Number of connections that ask the questions of --reports, each the next one as soon as one is answered
    /// [default: 1]
    #[arg(long, value_name = "N", requires = "reports", value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = SERVING)]
    pub(crate) streams: Option<u32>,
    /// Warm-up before measurement starts
    #[arg(long, value_name = "TIME", default_value = "750ms", value_parser = parse::seconds, help_heading = SERVING)]
    pub(crate) warmup: f64,
    /// Measurement duration; from 30 s on, warm-up is extended until throughput is steady
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse::seconds, help_heading = SERVING)]
    pub(crate) duration: f64,
    /// Also run one soak trial of this length per system and mix (e.g. 15m, to cover several checkpoints)
    #[arg(long, value_name = "TIME", value_parser = parse::seconds, help_heading = SERVING)]
    pub(crate) soak: Option<f64>,
    /// End a trial after N operations instead of after --duration, and count the bytes written to the WAL exactly;
    /// without warm-up (YCSB: operationcount)
    #[arg(long, value_name = "N", value_parser = parse::count, help_heading = SERVING)]
    pub(crate) operation_count: Option<u64>,
    /// Measure the stored size of these documents, separated by semicolons: JSON texts, or small, flat, large, nested for
    /// the first of that kind; with --mixes none nothing else is measured
    #[arg(long, value_name = "DOCUMENTS", help_heading = SERVING)]
    pub(crate) stored_size: Option<String>,
    /// Number of documents per insert-batch
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = SERVING)]
    pub(crate) batch_size: u32,
    /// Maximum number of documents per scan (YCSB: maxscanlength)
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = SERVING)]
    pub(crate) scan_length: u32,
    /// Maximum number of documents per find
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = SERVING)]
    pub(crate) find_limit: u32,
    /// Number of values that one read of the mix `paths` asks for
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = SERVING)]
    pub(crate) read_paths: u32,
    /// Positions of these values within the document
    #[arg(long, value_enum, default_value = "spread", help_heading = SERVING)]
    pub(crate) read_positions: PositionChoice,
    /// Send statements as text each time instead of preparing them once (pgbench: --protocol=simple)
    #[arg(long, help_heading = SERVING)]
    pub(crate) no_prepare: bool,
    /// CPUs that servers are pinned to, such as 0,1
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = SERVING)]
    pub(crate) server_cpus: Option<Vec<usize>>,
    /// Timeout of a single operation
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse::seconds, help_heading = SERVING)]
    pub(crate) operation_timeout: f64,
}

/// Value of `--rates`. A type of its own, so that clap takes the whole list as one value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rates(pub(crate) Vec<Rate>);

/// Number of rates that a range such as `10..95%` stands for, both ends included.
const RANGE_STEPS: u32 = 6;

fn rates(text: &str) -> Result<Rates, String> {
    let wrong = |part: &str| {
        format!(
            "invalid rate `{part}`: expected a share (50%), a range (10..95%) or operations per second (2000)"
        )
    };
    let share = |number: &str, part: &str| match number.trim().parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 1000.0 => Ok(percent / 100.0),
        _ => Err(wrong(part)),
    };
    let mut rates = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        match part.strip_suffix('%') {
            Some(percent) => match percent.split_once("..") {
                Some((from, to)) => {
                    let (from, to) = (share(from, part)?, share(to, part)?);
                    if from >= to {
                        return Err(wrong(part));
                    }
                    let step = (to - from) / f64::from(RANGE_STEPS - 1);
                    // Rounded to thousandths, so that shares in results have few digits.
                    let rounded = |share: f64| (share * 1000.0).round() / 1000.0;
                    rates.extend(
                        (0..RANGE_STEPS).map(|n| Rate::OfCapacity(rounded(from + step * f64::from(n)))),
                    );
                }
                None => rates.push(Rate::OfCapacity(share(percent, part)?)),
            },
            None => match (parse::count(part), part.parse::<f64>()) {
                (Ok(number), _) => rates.push(Rate::PerSecond(number as f64)),
                (_, Ok(number)) if number.is_finite() && number > 0.0 => rates.push(Rate::PerSecond(number)),
                _ => return Err(wrong(part)),
            },
        }
    }
    if rates.is_empty() { Err(wrong(text)) } else { Ok(Rates(rates)) }
}

fn kilobytes(text: &str) -> Result<u32, String> {
    match text.trim().parse::<f64>() {
        Ok(size) if (0.5..=64.0).contains(&size) => Ok((size * 1000.0).round() as u32),
        _ => Err(format!("{text:?} is no size of documents: write kB from 0.5 to 64")),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1000.0 => Ok(number),
        _ => Err(format!("{text:?} is no factor: write a number above 0, such as 4")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_shares_ranges_or_numbers() {
        assert_eq!(rates("50%").unwrap().0, [Rate::OfCapacity(0.5)]);
        assert_eq!(rates("2000, 5k").unwrap().0, [Rate::PerSecond(2000.0), Rate::PerSecond(5000.0)]);
        assert_eq!(rates("0.5").unwrap().0, [Rate::PerSecond(0.5)]);
        let range = rates("10..95%").unwrap().0;
        assert_eq!(
            (range.first(), range.last()),
            (Some(&Rate::OfCapacity(0.1)), Some(&Rate::OfCapacity(0.95)))
        );
        assert_eq!(range.len(), 6);
        for wrong in ["", "x", "0", "-2.5", "inf", "-5%", "95..10%", "10..x%", "0%"] {
            assert!(rates(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_kilobytes_of_a_thousand() {
        assert_eq!((kilobytes("0.75"), kilobytes("64")), (Ok(750), Ok(64_000)));
        assert!(kilobytes("0.1").is_err() && kilobytes("65").is_err() && kilobytes("x").is_err());
    }
}
