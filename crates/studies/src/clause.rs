//! The answer of a study as data: its clauses, each with what it was computed from.

use jsonathlon_stats::statistics::Estimate;

/// Whether a measurement confirms what was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The whole interval agrees with the claim.
    Confirmed,
    /// The whole interval contradicts the claim.
    Refuted,
    /// The interval contains values for and against the claim.
    Open,
}

impl ClaimOutcome {
    /// Wording of the outcome in the sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Open => "neither confirmed nor refuted",
        }
    }
}

/// One clause of the answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clause {
    /// Text of the clause with all placeholders replaced.
    pub text: String,
    /// Published result in words. `None` if the study gives none.
    pub published: Option<String>,
    /// Outcome of the claim. `None` if the clause tests no claim.
    pub outcome: Option<ClaimOutcome>,
    /// Ratio with its interval. `None` if the clause is not of kind [`VerdictKind::Ratio`](crate::verdict_spec::VerdictKind::Ratio).
    pub ratio: Option<Estimate>,
    /// What the clause was computed from.
    pub basis: ClauseBasis,
}

impl std::fmt::Display for Clause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        match (&self.published, self.outcome) {
            (Some(published), Some(outcome)) => write!(f, " ({published} published: {})", outcome.word()),
            (Some(published), None) => write!(f, " ({published} published)"),
            (None, Some(outcome)) => write!(f, " (what was published is {})", outcome.word()),
            (None, None) => Ok(()),
        }
    }
}

/// Answer of a study as one sentence; displayed with a capital and a full stop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sentence {
    /// Clauses in the order of the study. Empty if nothing could be computed.
    pub clauses: Vec<Clause>,
    /// Reasons why clauses are missing. Displayed only if there is no clause at all.
    pub(crate) missing: Vec<String>,
}

impl Sentence {
    /// Reasons why clauses are missing; the displayed sentence has them only if it has no clause at all.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }
}

impl std::fmt::Display for Sentence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.clauses.is_empty() {
            let reason = if self.missing.is_empty() { "nothing of it was measured" } else { "" };
            return write!(f, "No answer: {reason}{}.", self.missing.join("; "));
        }
        let mut text = String::new();
        for clause in self.clauses.iter().map(ToString::to_string) {
            if !text.is_empty() {
                // A clause that begins with "and" continues the previous one, so it is joined by a comma.
                text.push_str(if clause.starts_with("and ") { ", " } else { "; " });
            }
            text.push_str(&clause);
        }
        let mut letters = text.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        write!(f, "{first}{}.", letters.as_str())
    }
}

/// What a clause was computed from, as far as a summary needs it.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum ClauseBasis {
    /// Ratio between two sides of one system; the ratio is in [`Clause::ratio`].
    Comparison(Comparison),
    /// Search for edges along a varied option.
    Sweep {
        /// Display name of the system, with the conditions of the sweep.
        name: String,
        /// Whether at least one edge was found.
        has_edge: bool,
    },
    /// Single value of a metric.
    Value(ComparableValue),
    /// Anything that is not summed up.
    #[default]
    Other,
}

/// Two sides of a system that a clause compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// Display name of the system.
    pub system: String,
    /// What distinguishes the side that is compared: `durability synced`.
    pub subject: String,
    /// What distinguishes the side that it is compared with.
    pub baseline: String,
    /// What is counted, in the plural: `reads`.
    pub noun: String,
}

/// Value that can be compared with those of other systems under equal conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparableValue {
    /// Display name of the system.
    pub system: String,
    /// Variant of the system, which tells values of one system apart.
    pub variant: String,
    /// Name of the metric in journals.
    pub metric: String,
    /// Conditions other than system and variant; empty if there are none.
    pub conditions: String,
    /// The value with its limits.
    pub value: Estimate,
}
