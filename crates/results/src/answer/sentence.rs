//! Words of answers: one sentence for each outcome, short enough for a line of a terminal.

use super::AnswerOutcome;
use crate::number_format::integer;

/// Maximum number of characters of a sentence.
const MAX_LENGTH: usize = 110;
/// Maximum number of characters of a sentence about parts in which different systems lead. It is longer, because
/// a sentence without their factors would hide how far the systems are apart.
pub(super) const MAX_LENGTH_WITH_PARTS: usize = 150;

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
    /// Sentence for the outcome of a timed comparison. `is_alone` says that the ranking has one member only.
    /// `name` returns the names of configurations.
    pub(super) fn sentence(
        &self,
        outcome: &AnswerOutcome,
        is_alone: bool,
        name: impl Fn(usize) -> String,
    ) -> String {
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
                match self.exceptions.as_str() {
                    "" => first_fitting([whole, text]),
                    exceptions => first_fitting_within(
                        MAX_LENGTH_WITH_PARTS,
                        [format!("{whole}, {exceptions}"), format!("{text}, {exceptions}"), whole, text],
                    ),
                }
            }
            AnswerOutcome::NoDifferenceShown { .. } if !self.exceptions.is_empty() => {
                let text = joined(&["No difference shown", &self.scope]);
                let text = self.with_conditions(&format!("{text}: {}", self.exceptions));
                first_fitting_within(MAX_LENGTH_WITH_PARTS, [text])
            }
            AnswerOutcome::NoDifferenceShown { tied } => with_list(&names(tied), |list| {
                let list = format!("between {list}");
                self.with_conditions(&joined(&["No difference shown", &list, &self.scope]))
            }),
            AnswerOutcome::TooFewRounds { candidates } => with_list(&names(candidates), |list| {
                let list = format!("to compare {list}");
                self.with_conditions(&joined(&["Too few rounds", &list, &self.scope]))
            }),
            AnswerOutcome::OnlyOne { only } if is_alone => {
                let text = format!("{} is alone in its group, so nobody wins", name(*only));
                let scoped = match self.conditions.is_empty() {
                    true => capitalized(&self.scope),
                    false => self.scope.clone(),
                };
                let scoped = joined(&[&scoped, &text]);
                first_fitting([self.with_conditions(&scoped), self.with_conditions(&text)])
            }
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
    first_fitting_within(MAX_LENGTH, versions)
}

/// First version that has at most `length` characters. If none does, the last one is cut.
pub(super) fn first_fitting_within(length: usize, versions: impl IntoIterator<Item = String>) -> String {
    let mut last = String::new();
    for version in versions {
        if version.chars().count() <= length {
            return version;
        }
        last = version;
    }
    last.chars().take(length.saturating_sub(1)).chain(['…']).collect()
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

/// Formats how many times better something is, with its limits. All have as many decimals as the lower limit
/// needs to differ from 1, and one more if the first one would read like one of its limits.
fn factors(factors: [f64; 3]) -> [String; 3] {
    let [_, low, _] = factors;
    let decimals = decimals(low);
    let [short, long] = [decimals, decimals + 1].map(|shown| factors.map(|factor| fixed(factor, shown)));
    let equals = |[ratio, low, high]: &[String; 3]| usize::from(ratio == low) + usize::from(ratio == high);
    if equals(&long) < equals(&short) { long } else { short }
}

/// Number of decimals with which a factor differs from 1.
fn decimals(factor: f64) -> usize {
    match factor {
        factor if factor < 1.0095 => 3,
        factor if factor < 1.095 => 2,
        _ => 1,
    }
}

/// Formats a factor with this number of decimals, and with one less from 10 on.
fn fixed(factor: f64, decimals: usize) -> String {
    match factor {
        factor if factor >= 99.5 => integer(factor),
        factor if factor >= 9.95 => format!("{factor:.0$}", decimals.saturating_sub(1)),
        factor => format!("{factor:.decimals$}"),
    }
}

/// Formats how many times better something is, without limits: `1.4 ×`.
pub(super) fn factor(ratio: f64) -> String {
    format!("{} ×", fixed(ratio, if ratio >= 9.95 { 1 } else { decimals(ratio) }))
}

/// Formats several factors: one or two in their order, of more the largest one: `up to 9.6 ×`. With
/// `is_summary`, also of two the largest one.
pub(super) fn factor_list(ratios: &[f64], is_summary: bool) -> String {
    match ratios {
        [only] => factor(*only),
        [first, second] if !is_summary => format!("{} and {}", factor(*first), factor(*second)),
        several => format!("up to {}", factor(several.iter().copied().fold(1.0, f64::max))),
    }
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
        let sentence = |outcome: &AnswerOutcome| hot.sentence(outcome, false, name);
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
        let alone = "Over Q1–Q6 DuckDB is alone in its group, so nobody wins";
        assert_eq!(hot.sentence(&only, true, name), alone);
        let nobody = AnswerOutcome::Nobody { reason: "no verified answers".to_owned() };
        assert_eq!(sentence(&nobody), "No verified answers");
        let mix = wording("mix a, 8 clients", "", "the throughput of", "");
        assert_eq!(
            mix.sentence(&leader(1.8, 1.5, 2.1), false, name),
            "mix a, 8 clients: SQLite 1.8 × the throughput of DuckDB (95 %: 1.5 … 2.1)"
        );
        assert_eq!(
            mix.sentence(&tied, false, name),
            "mix a, 8 clients: no difference shown between ClickHouse and DuckDB"
        );
        let alone = "mix a, 8 clients: DuckDB is alone in its group, so nobody wins";
        assert_eq!(mix.sentence(&only, true, name), alone);
        let smallest = Wording { is_minimum: true, ..wording("", "copied", "faster than", "") };
        assert_eq!(
            smallest.sentence(&leader(8.6, 8.0, 9.97), false, name),
            "SQLite copied at least 8.6 × faster than DuckDB (95 %: 8.0 … 10)"
        );
    }

    #[test]
    fn parts_in_which_another_one_leads_are_named() {
        let hot = wording("", "ran Q1–Q6", "faster than", "over Q1–Q6");
        let split =
            Wording { exceptions: "DuckDB faster in Q1–Q5, SQLite in Q6".to_owned(), ..hot.clone() };
        assert_eq!(
            split.sentence(&AnswerOutcome::NoDifferenceShown { tied: vec![0, 1] }, false, name),
            "No difference shown over Q1–Q6: DuckDB faster in Q1–Q5, SQLite in Q6"
        );
        let but = Wording { exceptions: "slower in Q1 (31 ×)".to_owned(), ..hot };
        assert_eq!(
            but.sentence(&leader(1.5, 1.3, 1.7), false, name),
            "SQLite ran Q1–Q6 1.5 × faster than DuckDB (95 %: 1.3 … 1.7), slower in Q1 (31 ×)"
        );
        // Where there is little room, the interval goes before the factor that would be hidden.
        let long = Wording { deed: format!("ran {}", "Q".repeat(80)), ..but };
        let sentence = long.sentence(&leader(1.5, 1.3, 1.7), false, name);
        assert!(sentence.ends_with(" 1.5 × faster than DuckDB, slower in Q1 (31 ×)"), "{sentence}");
    }

    #[test]
    fn factors_of_parts_are_given_or_their_largest_one() {
        assert_eq!(factor_list(&[31.3], false), "31 ×");
        assert_eq!(factor_list(&[1.39, 1.29], false), "1.4 × and 1.3 ×");
        assert_eq!(factor_list(&[9.6, 1.3], true), "up to 9.6 ×");
        assert_eq!(factor_list(&[1.2, 1.004, 1.3], false), "up to 1.3 ×");
        assert_eq!([1.004, 1.04, 99.7, 1234.4].map(factor), ["1.004 ×", "1.04 ×", "100 ×", "1,234 ×"]);
    }

    #[test]
    fn a_ratio_never_reads_as_one() {
        assert_eq!(factors([1.04, 1.01, 1.07]), ["1.04", "1.01", "1.07"]);
        assert_eq!(factors([1.004, 1.001, 1.007]), ["1.004", "1.001", "1.007"]);
        assert_eq!(factors([1234.4, 12.0, 1e6]), ["1,234", "12", "1,000,000"]);
    }

    #[test]
    fn a_ratio_reads_otherwise_than_its_limits() {
        assert_eq!(factors([1.36, 1.31, 1.44]), ["1.36", "1.31", "1.44"]);
        assert_eq!(factors([31.2, 30.9, 31.6]), ["31.2", "30.9", "31.6"]);
        assert_eq!(factors([1.041, 1.038, 1.05]), ["1.041", "1.038", "1.050"]);
        assert_eq!(factors([2.5, 2.5, 2.5]), ["2.5", "2.5", "2.5"], "more digits would not help");
    }

    #[test]
    fn sentences_fit_into_a_line() {
        let hot = wording("", "ran Q1–Q6", "faster than", "over Q1–Q6");
        let many = AnswerOutcome::NoDifferenceShown { tied: (2..9).collect() };
        let sentence = hot.sentence(&many, false, name);
        assert!(sentence.ends_with("and 5 more over Q1–Q6") && sentence.chars().count() <= MAX_LENGTH);
        let long = AnswerOutcome::Leader { first: 3, runner_up: 4, ratio: 1.5, low: 1.3, high: 1.7 };
        let sentence = wording(&"c".repeat(20), "", "faster than", "").sentence(&long, false, name);
        assert!(sentence.ends_with("faster than xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), "{sentence}");
        let sentence = wording(&"c".repeat(80), "", "faster than", "").sentence(&long, false, name);
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
