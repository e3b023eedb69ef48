//! Words of answers: one sentence for each outcome, short enough for a line of a terminal.

use super::AnswerOutcome;
use crate::number_format::integer;

/// Maximum number of characters of a sentence.
const MAX_LENGTH: usize = 110;

/// Words of a timed comparison.
#[derive(Clone)]
pub(super) struct Wording {
    /// Conditions before a colon, such as `mix a, 8 clients`. Empty for none.
    pub(super) conditions: String,
    /// What the leader did: `ran Q1–Q6`. Empty if the relation says it.
    pub(super) deed: String,
    /// What follows the ratio: `faster than`.
    pub(super) relation: &'static str,
    /// What was compared, in sentences without a leader: `over Q1–Q6`. Empty if the conditions say it.
    pub(super) scope: String,
    /// Whether the ratio is the smallest one of several comparisons.
    pub(super) is_minimum: bool,
    /// Parts of what was compared in which another one leads than over all of it. Empty if there are none.
    pub(super) exceptions: String,
}

impl Wording {
    /// Sentence for the outcome of a timed comparison. `name` returns the names of configurations.
    pub(super) fn sentence(&self, outcome: &AnswerOutcome, name: impl Fn(usize) -> String) -> String {
        let names = |indexes: &[usize]| indexes.iter().map(|index| name(*index)).collect::<Vec<String>>();
        match outcome {
            AnswerOutcome::Leader { first, runner_up, ratio, low, high } => {
                let least = if self.is_minimum { "at least" } else { "" };
                let [ratio, low, high] = factors([*ratio, *low, *high]);
                let (ratio, interval) = (format!("{ratio} ×"), format!("(95 %: {low} … {high})"));
                let (first, runner_up) = (name(*first), name(*runner_up));
                let parts: [&str; 6] = [&first, &self.deed, least, &ratio, self.relation, &runner_up];
                let text = self.with_conditions(&joined(&parts));
                let whole = format!("{text} {interval}");
                match self.exceptions.is_empty() {
                    true => first_fitting([whole, text]),
                    false => first_fitting([format!("{whole}, {}", self.exceptions), whole, text]),
                }
            }
            AnswerOutcome::NoDifferenceShown { .. } if !self.exceptions.is_empty() => {
                let text = joined(&["No difference shown", &self.scope]);
                first_fitting([self.with_conditions(&format!("{text}: {}", self.exceptions))])
            }
            AnswerOutcome::NoDifferenceShown { tied } => with_list(&names(tied), |list| {
                let list = format!("between {list}");
                self.with_conditions(&joined(&["No difference shown", &list, &self.scope]))
            }),
            AnswerOutcome::TooFewRounds { candidates } => with_list(&names(candidates), |list| {
                let list = format!("to compare {list}");
                self.with_conditions(&joined(&["Too few rounds", &list, &self.scope]))
            }),
            AnswerOutcome::OnlyOne { only } => {
                let text = format!("only {} can be compared", name(*only));
                let reason = "so nobody wins";
                first_fitting([
                    self.with_conditions(&format!("{}, {reason}", joined(&[&text, &self.scope]))),
                    self.with_conditions(&format!("{text}, {reason}")),
                ])
            }
            AnswerOutcome::Counted { first, value } => {
                with_list(&names(first), |list| self.with_conditions(&format!("{list}, {value}")))
            }
            AnswerOutcome::Nobody { reason } => first_fitting([self.with_conditions(&capitalized(reason))]),
        }
    }

    /// Puts the conditions before a sentence.
    fn with_conditions(&self, text: &str) -> String {
        if self.conditions.is_empty() {
            return if text.starts_with("only ") { capitalized(text) } else { text.to_owned() };
        }
        let text = match ["No ", "Too "].iter().any(|start| text.starts_with(start)) {
            true => uncapitalized(text),
            false => text.to_owned(),
        };
        format!("{}: {text}", self.conditions)
    }
}

fn joined(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// First version that fits into a sentence. If none does, the last one is cut.
pub(super) fn first_fitting(versions: impl IntoIterator<Item = String>) -> String {
    let mut last = String::new();
    for version in versions {
        if version.chars().count() <= MAX_LENGTH {
            return version;
        }
        last = version;
    }
    last.chars().take(MAX_LENGTH - 1).chain(['…']).collect()
}

/// Sentence with a list of names, of which it names as many as fit.
pub(super) fn with_list(names: &[String], text: impl Fn(&str) -> String) -> String {
    first_fitting((1..=names.len()).rev().map(|limit| text(&list(names, limit))))
}

/// Joins up to `limit` names, and states how many more there are.
pub(super) fn list(names: &[String], limit: usize) -> String {
    let (shown, others) = names.split_at(limit.min(names.len()));
    match (shown, others.len()) {
        ([most @ .., last], 0) if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        (shown, 0) => shown.join(", "),
        (shown, others) => format!("{} and {others} more", shown.join(", ")),
    }
}

/// Formats how many times better something is. All have as many decimals as the second one needs to differ
/// from 1.
fn factors(factors: [f64; 3]) -> [String; 3] {
    let [_, low, _] = factors;
    let decimals = match low {
        low if low < 1.0095 => 3,
        low if low < 1.095 => 2,
        _ => 1,
    };
    factors.map(|factor| if factor >= 9.95 { integer(factor) } else { format!("{factor:.decimals$}") })
}

/// Formats a share as a percentage with two significant digits: `13 %`, `1.2 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 9.95 { format!("{} %", integer(percent)) } else { format!("{percent:.1} %") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number_format::bytes;

    fn wording(conditions: &str, deed: &str, relation: &'static str, scope: &str) -> Wording {
        let [conditions, deed, scope] = [conditions, deed, scope].map(str::to_owned);
        Wording { conditions, deed, relation, scope, is_minimum: false, exceptions: String::new() }
    }

    fn name(index: usize) -> String {
        ["SQLite", "DuckDB", "ClickHouse"]
            .get(index)
            .map_or_else(|| "x".repeat(30), |name| (*name).to_owned())
    }

    fn leader(ratio: f64, low: f64, high: f64) -> AnswerOutcome {
        AnswerOutcome::Leader { first: 0, runner_up: 1, ratio, low, high }
    }

    #[test]
    fn every_outcome_is_one_sentence() {
        let hot = wording("", "ran Q1–Q6", "faster than", "over Q1–Q6");
        let sentence = |outcome: &AnswerOutcome| hot.sentence(outcome, name);
        assert_eq!(
            sentence(&leader(1.5, 1.3, 1.7)),
            "SQLite ran Q1–Q6 1.5 × faster than DuckDB (95 %: 1.3 … 1.7)"
        );
        let tied = AnswerOutcome::NoDifferenceShown { tied: vec![2, 1] };
        assert_eq!(sentence(&tied), "No difference shown between ClickHouse and DuckDB over Q1–Q6");
        let once = AnswerOutcome::TooFewRounds { candidates: vec![0, 1, 2] };
        assert_eq!(sentence(&once), "Too few rounds to compare SQLite, DuckDB and ClickHouse over Q1–Q6");
        let only = AnswerOutcome::OnlyOne { only: 1 };
        assert_eq!(sentence(&only), "Only DuckDB can be compared over Q1–Q6, so nobody wins");
        let nobody = AnswerOutcome::Nobody { reason: "no verified answers".to_owned() };
        assert_eq!(sentence(&nobody), "No verified answers");
        let mix = wording("mix a, 8 clients", "", "the throughput of", "");
        assert_eq!(
            mix.sentence(&leader(1.8, 1.5, 2.1), name),
            "mix a, 8 clients: SQLite 1.8 × the throughput of DuckDB (95 %: 1.5 … 2.1)"
        );
        assert_eq!(
            mix.sentence(&tied, name),
            "mix a, 8 clients: no difference shown between ClickHouse and DuckDB"
        );
        let smallest = Wording { is_minimum: true, ..wording("", "copied", "faster than", "") };
        assert_eq!(
            smallest.sentence(&leader(8.6, 8.0, 9.97), name),
            "SQLite copied at least 8.6 × faster than DuckDB (95 %: 8.0 … 10)"
        );
    }

    #[test]
    fn parts_in_which_another_one_leads_are_named() {
        let hot = wording("", "ran Q1–Q6", "faster than", "over Q1–Q6");
        let split =
            Wording { exceptions: "DuckDB faster in Q1–Q5, SQLite in Q6".to_owned(), ..hot.clone() };
        assert_eq!(
            split.sentence(&AnswerOutcome::NoDifferenceShown { tied: vec![0, 1] }, name),
            "No difference shown over Q1–Q6: DuckDB faster in Q1–Q5, SQLite in Q6"
        );
        let but = Wording { exceptions: "slower in Q1".to_owned(), ..hot };
        assert_eq!(
            but.sentence(&leader(1.5, 1.3, 1.7), name),
            "SQLite ran Q1–Q6 1.5 × faster than DuckDB (95 %: 1.3 … 1.7), slower in Q1"
        );
    }

    #[test]
    fn a_ratio_never_reads_as_one() {
        assert_eq!(factors([1.04, 1.01, 1.07]), ["1.04", "1.01", "1.07"]);
        assert_eq!(factors([1.004, 1.001, 1.007]), ["1.004", "1.001", "1.007"]);
        assert_eq!(factors([1234.4, 12.0, 1e6]), ["1,234", "12", "1,000,000"]);
    }

    #[test]
    fn sentences_fit_into_a_line() {
        let hot = wording("", "ran Q1–Q6", "faster than", "over Q1–Q6");
        let many = AnswerOutcome::NoDifferenceShown { tied: (2..9).collect() };
        let sentence = hot.sentence(&many, name);
        assert!(sentence.ends_with("and 5 more over Q1–Q6") && sentence.chars().count() <= MAX_LENGTH);
        let long = AnswerOutcome::Leader { first: 3, runner_up: 4, ratio: 1.5, low: 1.3, high: 1.7 };
        let sentence = wording(&"c".repeat(20), "", "faster than", "").sentence(&long, name);
        assert!(sentence.ends_with("faster than xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), "{sentence}");
        let sentence = wording(&"c".repeat(80), "", "faster than", "").sentence(&long, name);
        assert!(sentence.ends_with('…') && sentence.chars().count() == MAX_LENGTH, "{sentence}");
    }

    #[test]
    fn sizes_and_lists_are_short() {
        assert_eq!([12_100_000.0, 950.0, 0.0].map(bytes), ["12.1 MB", "950 B", "0 B"]);
        assert_eq!([0.13, 0.002, 12.344].map(percent), ["13 %", "0.2 %", "1,234 %"]);
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(
            [1, 2, 3].map(|limit| list(&names, limit)),
            ["a and 2 more", "a, b and 1 more", "a, b and c"]
        );
        assert_eq!(list(&names[..1], 1), "a");
    }
}
