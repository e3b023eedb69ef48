//! Words of answers: one sentence for each outcome, short enough for a line of a terminal.

use jsonathlon_schema::and_list::and_list;

use super::AnswerOutcome;
use crate::number_format::integer;

/// Number of characters that a sentence may have in one line of a terminal with 80 columns.
pub(super) const LINE: usize = 78;
/// Maximum number of characters of a sentence with a list of names, which may be shortened.
pub(super) const MAX_LENGTH: usize = 110;
/// Maximum number of characters of a sentence that names parts, each with its factor: three lines of a terminal.
const MAX_LENGTH_WITH_PARTS: usize = 220;

/// Words of a timed comparison.
#[derive(Clone, Default)]
pub(super) struct Wording {
    /// Conditions before a colon, such as `mix a, 8 clients`. Empty for none.
    pub(super) conditions: String,
    /// The same conditions in fewer words, for sentences that would otherwise need a second line. Empty for none.
    pub(super) short_conditions: String,
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
    /// `name` returns the names of configurations. Factors and intervals are never left out, however long the names
    /// are.
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
                let ratio = format!("{ratio} ×");
                let (first, runner_up) = (name(*first), name(*runner_up));
                let parts: [&str; 6] = [&first, &self.deed, least, &ratio, self.relation, &runner_up];
                let exceptions = self.exceptions.as_str();
                let ending = if exceptions.is_empty() { String::new() } else { format!(", {exceptions}") };
                let text = joined(&parts);
                self.in_one_line(|interval| format!("{text} ({interval}{low} … {high}){ending}"))
            }
            AnswerOutcome::NoDifferenceShown { interval, .. } if !self.exceptions.is_empty() => {
                let text =
                    joined(&["No difference shown", &self.scope, &in_parentheses(*interval, INTERVAL)]);
                let text = self.with_conditions(&format!("{text}: {}", self.exceptions));
                first_fitting_within(MAX_LENGTH_WITH_PARTS, [text])
            }
            AnswerOutcome::NoDifferenceShown { tied, interval } => {
                self.with_names(&names(tied), |list, prefix| {
                    let (list, interval) = (format!("between {list}"), in_parentheses(*interval, prefix));
                    joined(&["No difference shown", &list, &self.scope, &interval])
                })
            }
            AnswerOutcome::TooFewRounds { candidates } => self.with_names(&names(candidates), |list, _| {
                joined(&["Too few rounds", &format!("to compare {list}"), &self.scope])
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

    /// Sentence with its conditions in as many words as fit into one line. `text` gets the words before an interval,
    /// which go last. A sentence that needs a second line in any case has all words.
    fn in_one_line(&self, text: impl Fn(&str) -> String) -> String {
        let whole = conditioned(&self.conditions, &text(INTERVAL));
        if self.short_conditions.is_empty() {
            return whole;
        }
        let short = |interval| conditioned(&self.short_conditions, &text(interval));
        let versions = [whole.clone(), short(INTERVAL), short("")];
        versions.into_iter().find(|version| version.chars().count() <= LINE).unwrap_or(whole)
    }

    /// Sentence with a list of names. Two are always named; of more, as many as fit.
    fn with_names(&self, names: &[String], text: impl Fn(&str, &str) -> String) -> String {
        let all = self.in_one_line(|interval| text(&list(names, names.len()), interval));
        if names.len() <= 2 || all.chars().count() <= MAX_LENGTH {
            return all;
        }
        with_list(names, |list| self.with_conditions(&text(list, INTERVAL)))
    }

    /// Puts the conditions before a sentence.
    fn with_conditions(&self, text: &str) -> String {
        conditioned(&self.conditions, text)
    }
}

/// Words before the limits of an interval.
const INTERVAL: &str = "95 %: ";

/// Limits of an interval that contains 1, in parentheses behind `prefix`; empty without an interval.
fn in_parentheses(interval: Option<[f64; 2]>, prefix: &str) -> String {
    let Some(interval) = interval else { return String::new() };
    let [low, high] = limits_around_one(interval);
    format!("({prefix}{low} … {high})")
}

/// Puts conditions before a sentence.
fn conditioned(conditions: &str, text: &str) -> String {
    if conditions.is_empty() {
        return if text.starts_with("only ") { capitalized(text) } else { text.to_owned() };
    }
    let text = match ["No ", "Too "].iter().any(|start| text.starts_with(start)) {
        true => uncapitalized(text),
        false => text.to_owned(),
    };
    format!("{conditions}: {text}")
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
        (shown, 0) => and_list(shown),
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

/// Formats the limits of an interval that contains 1 with as few decimals as do not make a limit read as 1 or as 0.
fn limits_around_one(limits: [f64; 2]) -> [String; 2] {
    let reads_otherwise = |(value, text): (f64, &String)| {
        let shown = text.replace(',', "").parse::<f64>().unwrap_or(value);
        let becomes_one = (shown - 1.0).abs() < f64::EPSILON && (value - 1.0).abs() > 1e-9;
        becomes_one || (shown <= 0.0 && value > 0.0)
    };
    let formatted = |decimals: usize| limits.map(|limit| fixed(limit, decimals));
    let is_exact = |texts: &[String; 2]| !limits.into_iter().zip(texts).any(reads_otherwise);
    (1..=3).map(formatted).find(is_exact).unwrap_or_else(|| formatted(3))
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

/// Formats the largest of several factors: `up to 9.6 ×`; a single one as it is.
pub(super) fn largest_factor(ratios: &[f64]) -> String {
    match ratios {
        [only] => factor(*only),
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
        Wording { conditions, deed, relation, scope, ..Wording::default() }
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
        let tied = AnswerOutcome::NoDifferenceShown { tied: vec![2, 1], interval: Some([0.93, 1.42]) };
        assert_eq!(
            sentence(&tied),
            "No difference shown between ClickHouse and DuckDB over Q1–Q6 (95 %: 0.9 … 1.4)"
        );
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
            "mix a, 8 clients: no difference shown between ClickHouse and DuckDB (95 %: 0.9 … 1.4)"
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
            split.sentence(
                &AnswerOutcome::NoDifferenceShown { tied: vec![0, 1], interval: Some([0.7, 1.2]) },
                false,
                name
            ),
            "No difference shown over Q1–Q6 (95 %: 0.7 … 1.2): DuckDB faster in Q1–Q5, SQLite in Q6"
        );
        let but = Wording { exceptions: "slower in Q1 (31 ×)".to_owned(), ..hot };
        assert_eq!(
            but.sentence(&leader(1.5, 1.3, 1.7), false, name),
            "SQLite ran Q1–Q6 1.5 × faster than DuckDB (95 %: 1.3 … 1.7), slower in Q1 (31 ×)"
        );
        // However long it becomes, it keeps its figures.
        let long = Wording { deed: format!("ran {}", "Q".repeat(80)), ..but };
        let sentence = long.sentence(&leader(1.5, 1.3, 1.7), false, name);
        let end = " 1.5 × faster than DuckDB (95 %: 1.3 … 1.7), slower in Q1 (31 ×)";
        assert!(sentence.ends_with(end), "{sentence}");
    }

    #[test]
    fn of_several_factors_the_largest_one_is_given() {
        assert_eq!(largest_factor(&[31.3]), "31 ×");
        assert_eq!(largest_factor(&[9.6, 1.3]), "up to 9.6 ×");
        assert_eq!([1.004, 1.04, 99.7, 1234.4].map(factor), ["1.004 ×", "1.04 ×", "100 ×", "1,234 ×"]);
    }

    #[test]
    fn limits_around_one_read_neither_as_one_nor_as_zero() {
        for (limits, texts) in [
            ([0.93, 1.42], ["0.9", "1.4"]),
            ([0.97, 1.42], ["0.97", "1.42"]),
            ([0.7, 1.02], ["0.70", "1.02"]),
            ([0.998, 1.3], ["0.998", "1.300"]),
            ([0.02, 12.4], ["0.02", "12.4"]),
            ([1.0, 1.5], ["1.0", "1.5"]),
            ([0.5, 1234.4], ["0.5", "1,234"]),
        ] {
            assert_eq!(limits_around_one(limits), texts);
        }
    }

    #[test]
    fn short_words_keep_a_sentence_in_one_line_with_factor_and_interval() {
        let wording = Wording {
            short_conditions: "Export, 1 MiB".to_owned(),
            ..wording("Export as JSON text, 1 MiB", "", "faster than", "")
        };
        let length = |first: usize, second: usize| {
            let name = |index: usize| "x".repeat(if index == 0 { first } else { second });
            let leader = wording.sentence(&leader(2.3, 2.1, 2.6), false, name);
            assert!(leader.contains(" 2.3 × faster than x") && leader.contains("2.1 … 2.6)"), "{leader}");
            let tied = AnswerOutcome::NoDifferenceShown { tied: vec![0, 1], interval: Some([0.9, 1.4]) };
            let tied = wording.sentence(&tied, false, name);
            assert!(tied.contains("no difference shown between x") && tied.contains("0.9 … 1.4)"), "{tied}");
            let is_short = |text: &String| text.starts_with("Export, 1 MiB: ");
            [leader, tied].map(|text| (text.chars().count(), is_short(&text), text.contains("95 %")))
        };
        let [leader, tied] = length(9, 8);
        assert!(leader.0 <= LINE && leader.2, "{leader:?}");
        assert!(tied.0 <= LINE && tied.1, "{tied:?}");
        let [leader, _] = length(13, 13);
        assert!(leader.0 <= LINE && leader.1 && leader.2, "{leader:?}");
        let [leader, _] = length(16, 16);
        assert!(leader.0 <= LINE && leader.1 && !leader.2, "{leader:?}");
        // Two lines have room for all words.
        for (count, is_short, has_percentage) in length(40, 40) {
            assert!(count > LINE && !is_short && has_percentage);
        }
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
        let many = AnswerOutcome::NoDifferenceShown { tied: (2..9).collect(), interval: None };
        let sentence = hot.sentence(&many, false, name);
        assert!(sentence.ends_with("and 5 more over Q1–Q6") && sentence.chars().count() <= MAX_LENGTH);
        let long = AnswerOutcome::Leader { first: 3, runner_up: 4, ratio: 1.5, low: 1.3, high: 1.7 };
        let sentence = wording(&"c".repeat(80), "", "faster than", "").sentence(&long, false, name);
        assert!(
            sentence.ends_with("faster than xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx (95 %: 1.3 … 1.7)"),
            "{sentence}"
        );
        let nobody = AnswerOutcome::Nobody { reason: "x".repeat(200) };
        let sentence = hot.sentence(&nobody, false, name);
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
