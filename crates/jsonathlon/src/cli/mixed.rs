//! Command-line options of `jsonathlon run mixed`.

use clap::Args;
use jsonathlon_schema::settings::mixed::{InsertRate, MAX_WRITERS};

use super::run_options::{CommonArguments, EventOptions, ExternalOptions, InputArguments};
use crate::parse;

/// Help heading of the options that only this workload has.
const MIXED: &str = "Options of mixed";
/// Largest number of streams.
const MAX_STREAMS: u32 = 1024;
/// Shortest time that can be measured, in seconds.
const SHORTEST_S: f64 = 0.5;

/// Without any option: PostgreSQL, ClickHouse and MongoDB hold 100,000 events and get 20,000 more within ten seconds,
/// while two streams ask questions about all of them.
#[derive(Debug, Args)]
pub(crate) struct MixedArguments {
    #[command(flatten)]
    pub(crate) common: CommonArguments,
    #[command(flatten)]
    pub(crate) external: ExternalOptions,
    #[command(flatten)]
    pub(crate) events: EventOptions,
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) options: MixedOptions,
}

/// Options that only this workload has, and its rounds.
#[derive(Debug, Args)]
#[group(conflicts_with = "resume")]
pub(crate) struct MixedOptions {
    /// Number of rounds, each on data as loaded; intervals need at least two [default: 3]
    #[arg(long, short = 'r', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Number of writers, each with one connection and one batch in flight
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WRITERS)), help_heading = MIXED)]
    pub(crate) writers: u32,
    /// Number of streams, each with one connection, which ask Q1 to Q5 again and again
    #[arg(long, value_name = "N", default_value = "2", value_parser = streams, help_heading = MIXED)]
    pub(crate) streams: u32,
    /// Number of documents of one batch, which is one transaction or request
    #[arg(long, value_name = "N", default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = MIXED)]
    pub(crate) batch: u32,
    /// Documents per second of all writers together, the same for every system, or `max` for as fast as batches are
    /// acknowledged
    #[arg(long, value_name = "RATE", default_value = "2000", value_parser = rate, help_heading = MIXED)]
    pub(crate) rate: InsertRate,
    /// Documents that may come in, as a share of those that are loaded; with --data the first ones of the data
    #[arg(long, value_name = "PCT", default_value = "20%", value_parser = growth, help_heading = MIXED)]
    pub(crate) growth: f64,
    /// Time that questions are asked beside writers; the other phases take three tenths of it
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = measure, help_heading = MIXED)]
    pub(crate) measure: f64,
}

fn streams(text: &str) -> Result<u32, String> {
    if text.contains(',') {
        return Err("several numbers of streams cannot be measured in one run: give one number".to_owned());
    }
    match text.trim().parse() {
        Ok(number) if (1..=MAX_STREAMS).contains(&number) => Ok(number),
        _ => Err(format!("{text:?} is no number of streams: give 1 to {MAX_STREAMS}")),
    }
}

fn rate(text: &str) -> Result<InsertRate, String> {
    let text = text.trim();
    if text == "max" {
        return Ok(InsertRate::FullSpeed);
    }
    if text.ends_with('%') {
        return Err(format!(
            "{text:?}: shares of a system's own peak cannot be measured: give documents per second, or `max`"
        ));
    }
    match parse::count_or_zero(text) {
        Ok(0) => Err(
            "streams without writers cannot be measured alone: give documents per second, or `max`; every \
                      run also measures streams before the writers begin"
                .to_owned(),
        ),
        Ok(documents) => Ok(InsertRate::PerSecond(documents as f64)),
        Err(_) => {
            Err(format!("{text:?} is no rate: give documents per second, such as 2000 or 5k, or `max`"))
        }
    }
}

fn growth(text: &str) -> Result<f64, String> {
    match parse::percentage(text)? {
        share if (0.001..=10.0).contains(&share) => Ok(share),
        _ => Err(format!("{text:?} is no growth: give 0.1% to 1000%, such as 20%")),
    }
}

fn measure(text: &str) -> Result<f64, String> {
    match parse::seconds(text)? {
        seconds if seconds >= SHORTEST_S => Ok(seconds),
        _ => Err(format!("{text:?} is too short: give at least {SHORTEST_S} s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_is_refused_with_what_can() {
        assert_eq!(rate("2000"), Ok(InsertRate::PerSecond(2_000.0)));
        assert_eq!(rate("5k"), Ok(InsertRate::PerSecond(5_000.0)));
        assert_eq!(rate("max"), Ok(InsertRate::FullSpeed));
        for (text, advice) in [("50%", "own peak"), ("0", "before the writers begin"), ("fast", "no rate")] {
            let error = rate(text).unwrap_err();
            assert!(error.contains(advice) && error.contains("`max`"), "{error}");
        }
        assert_eq!(streams("4"), Ok(4));
        assert!(streams("1,4,16").unwrap_err().contains("give one number"));
        assert!(streams("0").unwrap_err().contains("1 to 1024"));
        assert_eq!((growth("20%"), measure("10s")), (Ok(0.2), Ok(10.0)));
        assert!(growth("0%").is_err() && growth("2000%").is_err() && measure("100ms").is_err());
    }
}
