//! Clauses of an answer, and how their numbers are written.

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
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// Text of the clause with all placeholders replaced.
    pub text: String,
    /// Published result in words. `None` if the study gives none.
    pub published: Option<String>,
    /// Outcome of the claim. `None` if the clause tests no claim.
    pub outcome: Option<ClaimOutcome>,
    /// Ratio with its interval. `None` if the clause is not of kind [`VerdictKind::Ratio`].
    pub ratio: Option<Estimate>,
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

/// Formats a value with three significant digits and at most three decimals; integers below a million are
/// shown in full.
pub(crate) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    let digits = match value.abs() {
        magnitude if magnitude >= 99.95 => 0,
        magnitude if magnitude >= 9.995 => 1,
        magnitude if magnitude >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

pub(crate) fn fill_template(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}
