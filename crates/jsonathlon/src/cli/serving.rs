//! Command-line options of `jsonathlon run serving`.

use clap::{Args, ValueEnum};
use jsonathlon_workloads::serving::settings::{Objective, Rate};

use super::RunArguments;
use crate::parse;

/// Help heading of the options that only this workload has.
const SERVING: &str = "Options of serving";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Documents {
    /// Three fields of 32 characters
    Small,
    /// Ten fields of 100 characters
    Flat,
    /// A hundred fields of 200 characters
    Large,
    /// A tree of objects with 88 values of 100 characters
    Nested,
    /// Flat documents of exactly --doc-size
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
    /// Ascending
    Ordered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyTypeChoice {
    /// `user` and 19 digits
    Text,
    /// A 64-bit integer
    Bigint,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArrivalChoice {
    /// Independently of each other
    Poisson,
    /// At even distances
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PositionChoice {
    /// The first ones
    First,
    /// At even distances
    Spread,
    /// The last ones
    Last,
}

#[derive(Debug, Args)]
pub(crate) struct ServingArguments {
    #[command(flatten)]
    pub(crate) run: RunArguments,
    /// Mixes of operations: a to f of YCSB, insert, insert-batch, writes, paths, update-path, update-all, update-element, find,
    /// count, unwrap, unwrap-all, churn, or TOML files of your own; separated by commas
    #[arg(long, value_name = "MIXES", default_value = "a,c", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) mixes: String,
    /// Numbers of clients
    #[arg(long, value_name = "N,…", default_value = "1,8,32", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024), conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) clients: Vec<u32>,
    /// The shape of documents
    #[arg(long, value_enum, default_value = "flat", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) documents: Documents,
    /// Size of each document with --documents size, in kB of 1,000 bytes of JSON text
    #[arg(long, value_name = "KB", default_value = "1", value_parser = kilobytes, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) doc_size: u32,
    /// Members of each array and object with --documents items
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) members: u32,
    /// What values are made of
    #[arg(long, value_enum, default_value = "text", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) values: ValuesChoice,
    /// In which order keys are loaded
    #[arg(long, value_enum, default_value = "hashed", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) key_order: KeyOrderChoice,
    /// What keys are
    #[arg(long, value_enum, default_value = "text", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) key_type: KeyTypeChoice,
    /// Make as many records as hold so many times --memory in JSON text, instead of --records; the page cache then counts
    /// as memory of each system, where the machine lets it be capped
    #[arg(long, value_name = "FACTOR", conflicts_with_all = ["scale", "resume"], value_parser = positive, help_heading = SERVING)]
    pub(crate) ratio: Option<f64>,
    /// What a crash may lose: `synced` nothing, `process` nothing but at a power loss, `window` the last moments
    #[arg(long, value_name = "TIER", default_value = "synced", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) durability: String,
    /// Let operations arrive at rates, at the most of --clients, beside the closed loops: shares of what these reach
    /// (50%), ranges of them (10..95%), or operations per second (2000); separated by commas
    #[arg(long, value_name = "RATES", value_parser = rates, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) rates: Option<Rates>,
    /// How arrivals are spread in time
    #[arg(long, value_enum, default_value = "poisson", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) arrival: ArrivalChoice,
    /// Find the highest rate that keeps an objective, such as p99<5ms
    #[arg(long, value_name = "OBJECTIVE", value_parser = Objective::parse, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) slo: Option<Objective>,
    /// Seconds of a trial before measuring begins
    #[arg(long, value_name = "TIME", default_value = "750ms", value_parser = parse::seconds, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) ramp: f64,
    /// Seconds that are measured; from 30 s on, the ramp lasts until throughput is steady
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse::seconds, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) measure: f64,
    /// One long trial of each system and mix besides, such as 15m, which spans several checkpoints
    #[arg(long, value_name = "TIME", value_parser = parse::seconds, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) long: Option<f64>,
    /// End a trial after so many operations instead of --measure, and count exactly what the journal gets; without a ramp
    #[arg(long, value_name = "N", value_parser = parse::count, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) operations: Option<u64>,
    /// Documents whose bytes each system is asked for, separated by semicolons: JSON texts, or small, flat, large, nested for
    /// the first of that kind; with --mixes none nothing else is done
    #[arg(long, value_name = "DOCUMENTS", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) encode: Option<String>,
    /// Documents of one insert-batch
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) batch: u32,
    /// Documents of one scan at most
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) scan_length: u32,
    /// Documents of one find at most
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) find_limit: u32,
    /// Values of a document that one read of paths asks for
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=100), conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) paths: u32,
    /// Where in the document these values lie
    #[arg(long, value_enum, default_value = "spread", conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) positions: PositionChoice,
    /// Send statements as text each time instead of preparing them once
    #[arg(long, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) no_prepare: bool,
    /// CPUs that servers are pinned to, such as 0,1
    #[arg(long, value_name = "N,…", value_delimiter = ',', conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) server_cpus: Option<Vec<usize>>,
    /// Limit of one operation
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse::seconds, conflicts_with = "resume", help_heading = SERVING)]
    pub(crate) operation_timeout: f64,
}

/// Value of `--rates`. A type of its own, so that clap takes the whole list as one value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rates(pub(crate) Vec<Rate>);

/// Number of rates that a range such as `10..95%` stands for, both ends included.
const RANGE_STEPS: u32 = 6;

fn rates(text: &str) -> Result<Rates, String> {
    let wrong = |part: &str| {
        format!("`{part}` is no rate: write a share (50%), a range (10..95%) or operations per second (2000)")
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
            None => match parse::count(part) {
                Ok(number) => rates.push(Rate::PerSecond(number as f64)),
                Err(_) => return Err(wrong(part)),
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
        let range = rates("10..95%").unwrap().0;
        assert_eq!(
            (range.first(), range.last()),
            (Some(&Rate::OfCapacity(0.1)), Some(&Rate::OfCapacity(0.95)))
        );
        assert_eq!(range.len(), 6);
        for wrong in ["", "x", "0", "-5%", "95..10%", "10..x%", "0%"] {
            assert!(rates(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_kilobytes_of_a_thousand() {
        assert_eq!((kilobytes("0.75"), kilobytes("64")), (Ok(750), Ok(64_000)));
        assert!(kilobytes("0.1").is_err() && kilobytes("65").is_err() && kilobytes("x").is_err());
    }
}
