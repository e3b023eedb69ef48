//! A user's need: a dimension with the limit that a system must keep.

use jsonathlon_results::number_format;
use jsonathlon_schema::durability::DurabilityTier;
use jsonathlon_schema::metric::{
    MetricDef, RESPONSE_P50_US, RESPONSE_P90_US, RESPONSE_P99_US, RESPONSE_P999_US,
};

use crate::dimension::Dimension;
use crate::figures;

/// One need of the user, with its limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Need {
    /// What a crash may lose at most.
    Durability(DurabilityTier),
    /// How documents must come back.
    RoundTrip(RoundTripLevel),
    /// Largest share of the documents that may be rejected, from 0 to 1.
    Rejected(f64),
    /// Operations per second that must be held.
    Rate(f64),
    /// Response time of reads and of updates at the rate.
    Response {
        /// Quantile that is limited.
        quantile: Quantile,
        /// Limit in seconds; the quantile must lie below it.
        below_s: f64,
    },
    /// Limit in seconds below which the median time of every question must lie.
    Report(f64),
    /// Size of the documents on disk.
    Size {
        /// Number of documents of which the size is limited.
        at: SizeAt,
        /// Limit in bytes; the size must lie below it.
        below_bytes: f64,
    },
    /// Kind of system that is wanted.
    Kind(WantedKind),
}

impl Need {
    /// Dimension that the need is about; a user has at most one need in each.
    #[must_use]
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Durability(_) => Dimension::Durability,
            Self::RoundTrip(_) => Dimension::RoundTrip,
            Self::Rejected(_) => Dimension::Rejected,
            Self::Rate(_) => Dimension::Rate,
            Self::Response { .. } => Dimension::Response,
            Self::Report(_) => Dimension::Report,
            Self::Size { .. } => Dimension::Size,
            Self::Kind(_) => Dimension::Kind,
        }
    }

    /// The limit as readers see it: `p99 < 10 ms`, `same values`, `2,000/s`.
    #[must_use]
    pub fn limit_words(&self) -> String {
        match self {
            Self::Durability(tier) => tier.word().to_owned(),
            Self::RoundTrip(level) => level.word().to_owned(),
            Self::Rejected(share) => format!("at most {}", figures::percent(*share)),
            Self::Rate(per_s) => format!("{}/s", number_format::integer(*per_s)),
            Self::Response { quantile, below_s } => {
                format!("{} < {}", quantile.word(), figures::duration(*below_s))
            }
            Self::Report(below_s) => format!("median < {}", figures::duration(*below_s)),
            Self::Size { at, below_bytes } => {
                format!("{} < {}", at.word(), number_format::bytes(*below_bytes))
            }
            Self::Kind(kind) => kind.word().to_owned(),
        }
    }
}

/// How documents must come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RoundTripLevel {
    /// Every document comes back byte for byte.
    SameBytes,
    /// Every document comes back as the same JSON value.
    SameValues,
    /// Any change is acceptable.
    Anything,
}

impl RoundTripLevel {
    /// All levels, the strictest first.
    pub const ALL: [Self; 3] = [Self::SameBytes, Self::SameValues, Self::Anything];

    /// Words for the level in needs files and tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::SameBytes => "same bytes",
            Self::SameValues => "same values",
            Self::Anything => "anything",
        }
    }
}

/// Quantile of response times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantile {
    /// The median: half of the operations are faster.
    P50,
    /// Nine of ten operations are faster.
    P90,
    /// 99 of 100 operations are faster.
    P99,
    /// 999 of 1,000 operations are faster.
    P999,
}

impl Quantile {
    /// All quantiles that runs record, in ascending order.
    pub const ALL: [Self; 4] = [Self::P50, Self::P90, Self::P99, Self::P999];

    /// Word for the quantile in needs files and tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
        }
    }

    /// Metric of response times, in microseconds, with this quantile.
    #[must_use]
    pub const fn metric(self) -> &'static MetricDef {
        match self {
            Self::P50 => &RESPONSE_P50_US,
            Self::P90 => &RESPONSE_P90_US,
            Self::P99 => &RESPONSE_P99_US,
            Self::P999 => &RESPONSE_P999_US,
        }
    }
}

/// Number of documents of which the size is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeAt {
    /// The documents of today: a number that the user stated, or `None` for all that were loaded.
    Now(Option<u64>),
    /// A number of documents that is expected later. Its size is estimated from loads of fewer.
    Later(u64),
}

impl SizeAt {
    /// Word for it in needs files and tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Now(_) => "now",
            Self::Later(_) => "later",
        }
    }
}

/// Kind of system that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WantedKind {
    /// A process of its own that many programs can use.
    Server,
    /// A library within the program that uses it.
    Embedded,
    /// Either of the two.
    Any,
}

impl WantedKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Server, Self::Embedded, Self::Any];

    /// Word for the kind in needs files and tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Embedded => "embedded",
            Self::Any => "any",
        }
    }
}

/// What decides among systems that meet all needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Criterion {
    /// This quantile of the response time of reads and updates at the rate; the slower operation counts.
    Response(Quantile),
    /// Time of the questions; the slowest one counts.
    Report,
    /// Measured size of the loaded documents; an estimate is never compared.
    Size,
    /// Operations per second in the closed loop.
    Capacity,
}

impl Criterion {
    /// Order in which criteria decide if the user states none.
    pub const DEFAULT: [Self; 4] = [Self::Response(Quantile::P99), Self::Report, Self::Capacity, Self::Size];

    /// Words for the criterion in needs files, such as `response p99`.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Response(quantile) => format!("response {}", quantile.word()),
            Self::Report => "report".to_owned(),
            Self::Size => "size".to_owned(),
            Self::Capacity => "capacity".to_owned(),
        }
    }
}
