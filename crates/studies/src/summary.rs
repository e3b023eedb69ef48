//! Sums the clauses of a study's answer up in one sentence: what differs, in how many of the comparisons, and for whom.

use jsonathlon_schema::metric::{BetterDirection, MetricDef};
use jsonathlon_stats::statistics::Estimate;

use crate::clause::{Clause, ClauseBasis, ComparableValue, Comparison, Sentence};
use crate::wording::{change, number, round_percent};

/// Number of characters up to which a summary names one more group of comparisons.
const MAX_LENGTH: usize = 215;

impl Sentence {
    /// The clauses in one sentence, without a full stop. `None` for a single clause, which needs no summary, and if the
    /// clauses have nothing in common that could be counted.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        if self.clauses.len() < 2 {
            return None;
        }
        summarize_comparisons(&self.clauses)
            .or_else(|| summarize_sweeps(&self.clauses))
            .or_else(|| summarize_values(&self.clauses))
    }
}

/// A comparison with its ratio.
type Compared<'c> = (&'c Comparison, Estimate);

/// Comparisons of the same two sides.
struct Group<'c> {
    subject: &'c str,
    baseline: &'c str,
    members: Vec<Compared<'c>>,
}

impl Group<'_> {
    /// Words for the members that differ in one direction: `with A 51–80 % fewer reads than with B (PostgreSQL, not
    /// MySQL)`. `None` if none does.
    fn describe(&self, is_less: bool) -> Option<String> {
        let is_meant = |(_, ratio): &&Compared<'_>| ratio.excludes_one() && (ratio.median < 1.0) == is_less;
        let shown: Vec<Compared<'_>> = self.members.iter().filter(is_meant).copied().collect();
        if shown.is_empty() {
            return None;
        }
        let systems = distinct(shown.iter().map(|(comparison, _)| comparison.system.as_str()));
        let others = self.members.iter().filter(|member| !is_meant(member));
        let mut others = distinct(others.map(|(comparison, _)| comparison.system.as_str()));
        others.retain(|system| !systems.contains(system));
        let except = if others.is_empty() { String::new() } else { format!(", not {}", either(&others)) };
        let (subject, baseline) = (self.subject, self.baseline);
        let systems = systems.join(", ");
        let (amount, than) = (amount(&shown), than(&shown));
        Some(format!("with {subject} {amount} {than} with {baseline} ({systems}{except})"))
    }
}

/// Sums comparisons up; `None` if there are none.
fn summarize_comparisons(clauses: &[Clause]) -> Option<String> {
    let compared = clauses.iter().filter_map(|clause| match &clause.basis {
        ClauseBasis::Comparison(comparison) => Some((comparison, clause.ratio?)),
        _ => None,
    });
    let compared: Vec<Compared<'_>> = compared.collect();
    let (first, _) = compared.first()?;
    let shown: Vec<Compared<'_>> =
        compared.iter().filter(|(_, ratio)| ratio.excludes_one()).copied().collect();
    if shown.is_empty() {
        return Some(no_difference(&compared));
    }
    let is_less = |(_, ratio): &Compared<'_>| ratio.median < 1.0;
    let is_uniform = shown.len() == compared.len()
        && shown.iter().all(|one| is_less(one) == is_less(&shown[0]))
        && shown.iter().all(|(comparison, _)| comparison.subject == first.subject);
    if is_uniform {
        let systems = distinct(shown.iter().map(|(comparison, _)| comparison.system.as_str()));
        let baselines = distinct(shown.iter().map(|(comparison, _)| comparison.baseline.as_str()));
        let verb = if systems.len() == 1 { "does" } else { "do" };
        let ending = match shown.len() {
            1 => String::new(),
            2 => ", in both comparisons".to_owned(),
            all => format!(", in all {all} comparisons"),
        };
        let (systems, subject) = (both(&systems), &first.subject);
        let (amount, than, baselines) = (amount(&shown), than(&shown), either(&baselines));
        return Some(format!("With {subject} {systems} {verb} {amount} {than} with {baselines}{ending}"));
    }
    let head = match (shown.len(), compared.len()) {
        (some, all) if some == all => format!("A difference is shown in all {all} comparisons"),
        (some, all) => format!("A difference is shown in {some} of {all} comparisons"),
    };
    let groups = grouped(&compared);
    let phrases: Vec<String> = groups
        .iter()
        .flat_map(|group| [true, false].map(|is_less| group.describe(is_less)))
        .flatten()
        .collect();
    Some(with_phrases(&head, &phrases))
}

/// A head with as many phrases behind a colon as there is room for, at least one.
fn with_phrases(head: &str, phrases: &[String]) -> String {
    let mut text = head.to_owned();
    for (index, phrase) in phrases.iter().enumerate() {
        let separator = if index == 0 { ": " } else { "; " };
        if index > 0 && text.chars().count() + separator.len() + phrase.chars().count() > MAX_LENGTH {
            return format!("{text}; and {} more", phrases.len() - index);
        }
        text = format!("{text}{separator}{phrase}");
    }
    text
}

/// Comparisons by their sides, in the order of the study.
fn grouped<'c>(compared: &[Compared<'c>]) -> Vec<Group<'c>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (comparison, ratio) in compared {
        let (subject, baseline) = (comparison.subject.as_str(), comparison.baseline.as_str());
        match groups.iter_mut().find(|group| (group.subject, group.baseline) == (subject, baseline)) {
            Some(group) => group.members.push((comparison, *ratio)),
            None => groups.push(Group { subject, baseline, members: vec![(comparison, *ratio)] }),
        }
    }
    groups
}

fn no_difference(compared: &[Compared<'_>]) -> String {
    let has_intervals = compared.iter().any(|(_, ratio)| ratio.low.is_some());
    match (compared, has_intervals) {
        (_, false) => format!("Too few rounds to show a difference in {} comparisons", compared.len()),
        ([(only, _)], _) => {
            let Comparison { system, subject, baseline, noun } = only;
            format!("No difference is shown between {subject} and {baseline} in {noun} of {system}")
        }
        (several, _) => {
            let systems = distinct(several.iter().map(|(comparison, _)| comparison.system.as_str()));
            format!("No difference is shown in any of {} comparisons of {}", several.len(), both(&systems))
        }
    }
}

/// Range of ratios on one side of 1, with what is counted: `51–80 % fewer reads`. A single one has its interval.
fn amount(shown: &[Compared<'_>]) -> String {
    let nouns = distinct(shown.iter().map(|(comparison, _)| comparison.noun.as_str()));
    let noun = if let [only] = nouns[..] { only } else { "operations" };
    if let [(_, ratio)] = shown {
        return format!("{} {noun}", change(ratio));
    }
    let medians = || shown.iter().map(|(_, ratio)| ratio.median);
    let (least, most) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let range = |from: String, to: String| if from == to { from } else { format!("{from}–{to}") };
    let percentage = |share: f64| round_percent(100.0 * share);
    match (least, most) {
        (_, most) if most < 1.0 => {
            format!("{} % fewer {noun}", range(percentage(1.0 - most), percentage(1.0 - least)))
        }
        (_, most) if most < 2.0 => {
            format!("{} % more {noun}", range(percentage(least - 1.0), percentage(most - 1.0)))
        }
        _ => format!("{} times as many {noun}", range(number(least), number(most))),
    }
}

/// Word after an amount: `fewer … than`, but `times as many … as`.
fn than(shown: &[Compared<'_>]) -> &'static str {
    if shown.iter().any(|(_, ratio)| ratio.median >= 2.0) { "as" } else { "than" }
}

/// Sums sweeps up; `None` if there are none.
fn summarize_sweeps(clauses: &[Clause]) -> Option<String> {
    let sweeps = clauses.iter().filter_map(|clause| match &clause.basis {
        ClauseBasis::Sweep { name, has_edge } => Some((name, *has_edge)),
        _ => None,
    });
    let sweeps: Vec<(&String, bool)> = sweeps.collect();
    let all = sweeps.len();
    let with_edge: Vec<String> =
        sweeps.iter().filter(|(_, has_edge)| *has_edge).map(|(name, _)| (*name).clone()).collect();
    match (all, with_edge.len()) {
        (0, _) => None,
        (_, 0) => Some(format!("No edge is shown in any of {all} sweeps")),
        (_, found) => Some(with_phrases(&format!("An edge is shown in {found} of {all} sweeps"), &with_edge)),
    }
}

/// Sums values of several systems up: which is best under equal conditions. `None` if no values can be compared.
fn summarize_values(clauses: &[Clause]) -> Option<String> {
    let mut groups: Vec<Vec<&ComparableValue>> = Vec::new();
    for clause in clauses {
        let ClauseBasis::Value(value) = &clause.basis else { continue };
        let is_equal = |group: &&mut Vec<&ComparableValue>| {
            group
                .first()
                .is_some_and(|first| (&first.metric, &first.conditions) == (&value.metric, &value.conditions))
        };
        match groups.iter_mut().find(is_equal) {
            Some(group) => group.push(value),
            None => groups.push(vec![value]),
        }
    }
    let phrases: Vec<String> = groups.iter().filter_map(|group| describe_values(group)).collect();
    let (first, others) = phrases.split_first()?;
    let mut letters = first.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let text = format!("{capital}{}", letters.as_str());
    Some(others.iter().fold(text, |text, phrase| match text.chars().count() + phrase.chars().count() + 2 {
        length if length <= MAX_LENGTH => format!("{text}; {phrase}"),
        _ => text,
    }))
}

/// Which of these values is best and which is worst. `None` of fewer than two, and if more is neither better nor worse.
fn describe_values(group: &[&ComparableValue]) -> Option<String> {
    let metric = MetricDef::find(&group.first()?.metric)?;
    let mut sorted = group.to_vec();
    match metric.better {
        BetterDirection::Lower => sorted.sort_by(|a, b| a.value.median.total_cmp(&b.value.median)),
        BetterDirection::Higher => sorted.sort_by(|a, b| b.value.median.total_cmp(&a.value.median)),
        BetterDirection::Neither => return None,
    }
    let [best, second, ..] = sorted[..] else { return None };
    let worst = sorted.last()?;
    let name = |value: &ComparableValue| {
        let is_several = group.iter().filter(|other| other.system == value.system).count() > 1;
        if is_several { format!("{} {}", value.system, value.variant) } else { value.system.clone() }
    };
    let conditions = match best.conditions.as_str() {
        "" => String::new(),
        conditions => format!(" with {conditions}"),
    };
    let range = |value: &ComparableValue| {
        let Estimate { median, low, high } = value.value;
        (low.unwrap_or(median), high.unwrap_or(median))
    };
    let ((low, high), (other_low, other_high)) = (range(best), range(second));
    let title = metric.title;
    if low <= other_high && other_low <= high {
        return Some(format!(
            "no difference shown between {} and {} in {title}{conditions}",
            name(best),
            name(second)
        ));
    }
    let word = if metric.better == BetterDirection::Lower { "lowest" } else { "highest" };
    let (value, worst_value) = (number(best.value.median), number(worst.value.median));
    let (best, worst) = (name(best), name(worst));
    Some(format!("{word} {title}{conditions}: {best}, {value} (up to {worst_value} in {worst})"))
}

fn distinct<'t>(names: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn both(words: &[&str]) -> String {
    joined(words, "and")
}

fn either(words: &[&str]) -> String {
    joined(words, "or")
}

fn joined(words: &[&str], conjunction: &str) -> String {
    match words {
        [most @ .., last] if !most.is_empty() => format!("{} {conjunction} {last}", most.join(", ")),
        few => few.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(system: &str, sides: [&str; 2], [median, low, high]: [f64; 3]) -> Clause {
        let [subject, baseline] = sides.map(str::to_owned);
        Clause {
            text: "a clause".to_owned(),
            ratio: Some(Estimate { median, low: Some(low), high: Some(high) }),
            basis: ClauseBasis::Comparison(Comparison {
                system: system.to_owned(),
                subject,
                baseline,
                noun: "inserts".to_owned(),
            }),
            ..Clause::default()
        }
    }

    fn summary(clauses: Vec<Clause>) -> Option<String> {
        Sentence { clauses, ..Sentence::default() }.summary()
    }

    const TIERS: [&str; 2] = ["durability synced", "durability window"];

    #[test]
    fn comparisons_that_point_the_same_way_are_one_statement() {
        let clauses = vec![
            compared("PostgreSQL", TIERS, [0.49, 0.4, 0.6]),
            compared("MongoDB", TIERS, [0.2, 0.1, 0.3]),
            compared("MongoDB", ["durability synced", "durability process"], [0.3, 0.2, 0.4]),
        ];
        assert_eq!(
            summary(clauses).as_deref(),
            Some(
                "With durability synced PostgreSQL and MongoDB do 51–80 % fewer inserts than with durability window or \
                 durability process, in all 3 comparisons"
            )
        );
        let more = vec![
            compared("MySQL", ["2 CPUs", "1 CPU"], [1.5, 1.4, 1.6]),
            compared("MongoDB", ["2 CPUs", "1 CPU"], [2.1, 1.8, 2.4]),
        ];
        assert_eq!(
            summary(more).as_deref(),
            Some(
                "With 2 CPUs MySQL and MongoDB do 1.50–2.10 times as many inserts as with 1 CPU, in both comparisons"
            )
        );
    }

    #[test]
    fn else_it_says_how_many_show_a_difference_and_for_whom() {
        let clauses = vec![
            compared("PostgreSQL", TIERS, [0.49, 0.4, 0.6]),
            compared("PostgreSQL", TIERS, [0.7, 0.6, 0.8]),
            compared("MySQL", TIERS, [0.9, 0.7, 1.2]),
            compared("MySQL", ["json-key", "functional"], [1.2, 1.1, 1.3]),
        ];
        assert_eq!(
            summary(clauses).as_deref(),
            Some(
                "A difference is shown in 3 of 4 comparisons: with durability synced 30–51 % fewer inserts than with \
                 durability window (PostgreSQL, not MySQL); with json-key 20 % more (10 … 30) inserts than with functional \
                 (MySQL)"
            )
        );
        let none =
            vec![compared("PostgreSQL", TIERS, [0.9, 0.7, 1.1]), compared("MySQL", TIERS, [0.9, 0.7, 1.2])];
        let text = "No difference is shown in any of 2 comparisons of PostgreSQL and MySQL";
        assert_eq!(summary(none).as_deref(), Some(text));
    }

    #[test]
    fn a_long_summary_counts_what_it_leaves_out() {
        let sides: Vec<[String; 2]> =
            (0..12).map(|index| [format!("variant-{index}"), format!("other-variant-{index}")]).collect();
        let clauses = sides.iter().map(|[subject, baseline]| {
            compared("System of a rather long name", [subject, baseline], [0.5, 0.4, 0.6])
        });
        let text = summary(clauses.collect()).unwrap();
        assert!(text.chars().count() <= MAX_LENGTH + 12 && text.contains("; and "), "{text}");
    }

    #[test]
    fn sweeps_and_values_are_summed_up_too() {
        let sweep = |name: &str, has_edge: bool| Clause {
            basis: ClauseBasis::Sweep { name: name.to_owned(), has_edge },
            ..Clause::default()
        };
        let sweeps = vec![sweep("PostgreSQL with text values", true), sweep("MySQL with text values", false)];
        let text = "An edge is shown in 1 of 2 sweeps: PostgreSQL with text values";
        assert_eq!(summary(sweeps).as_deref(), Some(text));
        let value = |system: &str, variant: &str, median: f64| Clause {
            basis: ClauseBasis::Value(ComparableValue {
                system: system.to_owned(),
                variant: variant.to_owned(),
                metric: "wal_bytes_per_op".to_owned(),
                conditions: "flat documents".to_owned(),
                value: Estimate { median, low: None, high: None },
            }),
            ..Clause::default()
        };
        let title = MetricDef::find("wal_bytes_per_op").unwrap().title;
        let values =
            vec![value("MySQL", "a", 900.0), value("MySQL", "b", 500.0), value("SQLite", "key", 300.0)];
        let text = format!("Lowest {title} with flat documents: SQLite, 300 (up to 900 in MySQL a)");
        assert_eq!(summary(values), Some(text));
        assert_eq!(summary(vec![value("MySQL", "a", 900.0)]), None, "a clause is its own summary");
        assert_eq!(summary(vec![Clause::default(), Clause::default()]), None);
    }
}
