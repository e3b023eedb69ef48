//! Command-line options of `jsonathlon run mixed`.

use clap::Args;
use jsonathlon_schema::settings::mixed::{FrontierRate, InsertRate, MAX_WRITERS};

use super::run_options::EventRunArguments;
use crate::parse;

/// Help heading of the options that only this workload has.
const MIXED: &str = "Options of mixed";
/// Largest number of streams.
const MAX_STREAMS: u32 = 1024;
/// Shortest time that can be measured, in seconds.
const SHORTEST_S: f64 = 0.5;
/// Word for writers that send as fast as batches are acknowledged.
const FULL_SPEED: &str = "max";

/// Without any option: PostgreSQL, ClickHouse and MongoDB, in one variant each, hold 100,000 events and get 20,000 more
/// within ten seconds, while two streams ask questions about all of them. This takes about five minutes; --variants
/// default takes twice as long, with every class of preparation.
#[derive(Debug, Args)]
pub(crate) struct MixedArguments {
    #[command(flatten)]
    pub(crate) run: EventRunArguments,
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
    /// Number of writers, each with one connection and one batch in flight [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_WRITERS)), help_heading = MIXED)]
    pub(crate) writers: Option<u32>,
    /// Number of streams, each with one connection, which ask Q1 to Q5 again and again; several numbers with --rate 0
    /// [default: 2, or 1,4,16 with --rate 0]
    #[arg(long, value_name = "N[,N...]", value_delimiter = ',', value_parser = streams, help_heading = MIXED)]
    pub(crate) streams: Vec<u32>,
    /// Number of documents of one batch, which is one transaction or request [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = MIXED)]
    pub(crate) batch: Option<u32>,
    /// Documents per second of all writers together, the same for every system; `max` for as fast as batches are
    /// acknowledged; 0 for streams on still data; shares of each system's own peak, such as 10%,20%,50%,80%,max, for
    /// the frontier of questions against documents
    #[arg(long, value_name = "RATE", default_value = "2000", value_parser = rate, help_heading = MIXED)]
    pub(crate) rate: RateOption,
    /// Documents that may come in beside questions, as a share of those that are loaded; with --data the first ones of
    /// the data. Writers alone get more if they are generated, as many as a fast system inserts [default: 20%]
    #[arg(long, value_name = "PCT", value_parser = growth, help_heading = MIXED)]
    pub(crate) growth: Option<f64>,
    /// Time that questions are asked beside writers, and with each number of streams on still data; the other phases
    /// take three tenths of it
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = measure, help_heading = MIXED)]
    pub(crate) measure: f64,
    /// CPUs that systems are pinned to, such as 0,1; an embedded engine with its clients
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = MIXED)]
    pub(crate) server_cpus: Option<Vec<usize>>,
}

/// What `--rate` asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RateOption {
    /// One rate, the same for every system.
    Same(InsertRate),
    /// Shares of each system's own peak, and full speed, in ascending order.
    Frontier(Vec<FrontierRate>),
}

fn streams(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(number) if (1..=MAX_STREAMS).contains(&number) => Ok(number),
        _ => Err(format!("{text:?} is no number of streams: give 1 to {MAX_STREAMS}")),
    }
}

fn rate(text: &str) -> Result<RateOption, String> {
    let text = text.trim();
    if text.contains(['%', ',']) {
        return Ok(RateOption::Frontier(frontier(text)?));
    }
    if text == FULL_SPEED {
        return Ok(RateOption::Same(InsertRate::FullSpeed));
    }
    match parse::count_or_zero(text) {
        Ok(documents) => Ok(RateOption::Same(InsertRate::PerSecond(documents as f64))),
        Err(_) => Err(format!(
            "{text:?} is no rate: give documents per second, such as 2000 or 5k, `max`, or shares of each system's \
             own peak, such as 10%,50%,max"
        )),
    }
}

/// Parses rates of the frontier, such as `10%,50%,max`, and sorts them.
fn frontier(text: &str) -> Result<Vec<FrontierRate>, String> {
    let mut shares = Vec::new();
    let mut has_full_speed = false;
    for part in text.split(',').map(str::trim) {
        if part == FULL_SPEED {
            if has_full_speed {
                return Err(format!("{text:?} names `max` twice: give each rate once"));
            }
            has_full_speed = true;
            continue;
        }
        let share = part.strip_suffix('%').and_then(|_| parse::percentage(part).ok());
        match share.filter(|share| (0.01..=1.0).contains(share)) {
            Some(share) if shares.contains(&share) => {
                return Err(format!("{text:?} names {part} twice: give each rate once"));
            }
            Some(share) => shares.push(share),
            None => {
                return Err(format!(
                    "{part:?} is no share of a system's own peak: give shares of 1% to 100%, and `max` for full \
                     speed, such as 10%,20%,50%,80%,max; several rates in documents per second are several runs"
                ));
            }
        }
    }
    shares.sort_by(f64::total_cmp);
    let shares = shares.into_iter().map(FrontierRate::ShareOfPeak);
    Ok(shares.chain(has_full_speed.then_some(FrontierRate::FullSpeed)).collect())
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
        let same = |rate| Ok::<_, String>(RateOption::Same(rate));
        assert_eq!(rate("2000"), same(InsertRate::PerSecond(2_000.0)));
        assert_eq!(rate("5k"), same(InsertRate::PerSecond(5_000.0)));
        assert_eq!((rate("max"), rate("0")), (same(InsertRate::FullSpeed), same(InsertRate::PerSecond(0.0))));
        let frontier = [0.1, 0.5].map(FrontierRate::ShareOfPeak).into_iter().chain([FrontierRate::FullSpeed]);
        assert_eq!(rate("50%, max,10%"), Ok(RateOption::Frontier(frontier.collect())));
        for (text, advice) in [
            ("fast", "no rate"),
            ("10%,2000", "no share"),
            ("max,max", "twice"),
            ("10%,10%,max", "twice"),
            ("0%,max", "1% to 100%"),
            ("150%,max", "1% to 100%"),
            ("10%..80%,max", "no share"),
        ] {
            let error = rate(text).unwrap_err();
            assert!(error.contains(advice) && error.contains("max"), "{error}");
        }
        assert_eq!(streams("4"), Ok(4));
        assert!(streams("0").unwrap_err().contains("1 to 1024"));
        assert_eq!((growth("20%"), measure("10s")), (Ok(0.2), Ok(10.0)));
        assert!(growth("0%").is_err() && growth("2000%").is_err() && measure("100ms").is_err());
    }
}
