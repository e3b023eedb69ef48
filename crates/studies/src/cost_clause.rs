//! Clauses about costs: the least number of CPUs at which a system answers more questions per hour than the reference.
//!
//! After COST, the "configuration that outperforms a single thread" (McSherry, Isard, Murray: "Scalability! But at what
//! COST?", HotOS 2015).

use std::collections::BTreeMap;

use jsonathlon_schema::metric::QUESTIONS_PER_H;
use jsonathlon_schema::record::ALL_QUESTIONS;
use jsonathlon_stats::statistics::{Estimate, median, unpaired_ratio};

use crate::clause::Clause;
use crate::observations::{Observation, StudyObservations};
use crate::verdict_spec::VerdictSpec;
use crate::wording::{fill_template, number};
use crate::workload::SERVER_CPUS;

/// What a system reaches on one number of CPUs.
struct OnCpus<'a> {
    cpus: usize,
    point: &'a Observation,
    /// Questions per hour ÷ those of the reference.
    ratio: Estimate,
}

impl OnCpus<'_> {
    fn is_more(&self) -> bool {
        self.ratio.low.is_some_and(|low| low > 1.0)
    }

    fn is_less(&self) -> bool {
        self.ratio.high.is_some_and(|high| high < 1.0)
    }
}

/// The clause about one system, which `selector` names. `Ok(None)` if it has no such points; `Err` if they have no
/// values.
pub(crate) fn clause(
    verdict: &VerdictSpec,
    observations: &StudyObservations,
    selector: &BTreeMap<String, String>,
) -> Result<Option<Clause>, String> {
    let is_meant = |point: &&Observation| point.attribute("mix") == ALL_QUESTIONS && point.matches(selector);
    let points: Vec<&Observation> = observations.points.iter().filter(is_meant).collect();
    let Some(title) = points.first().map(|point| &point.title) else { return Ok(None) };
    let reference = &observations.reference_per_h;
    let Some(reference_per_h) = median(reference) else {
        return Err(format!("{title} has no cost: the reference has no right answers, or was not measured"));
    };
    let reached = by_cpus(&points, reference);
    if let Some(cpus) = without_result(&reached, observations, selector) {
        // The least number might be this one.
        return Err(format!("{title} has no cost: there is no result on CPUs {cpus}"));
    }
    let Some((template, shown)) = answer(verdict, &reached) else { return Ok(None) };
    let value = shown.point.value(QUESTIONS_PER_H.name).unwrap_or_default();
    let ratio = shown.ratio.median;
    let replacements = [
        ("system", shown.point.title.clone()),
        ("cores", shown.cpus.to_string()),
        ("value", number(value)),
        ("reference", number(reference_per_h)),
        // A system that does less is told by how many times as much the reference does.
        ("factor", number(if shown.is_less() { 1.0 / ratio } else { ratio })),
    ];
    Ok(Some(Clause {
        text: fill_template(template, &replacements),
        published: verdict.published.clone(),
        ..Clause::default()
    }))
}

/// Text for what the ratios show, and the number of CPUs that it is about: the least one with more, the one that comes
/// closest to it of those that show neither, or the largest one if all show less. `None` without a number.
fn answer<'v, 'o>(verdict: &'v VerdictSpec, reached: &'v [OnCpus<'o>]) -> Option<(&'v str, &'v OnCpus<'o>)> {
    if let Some(first) = reached.iter().find(|on_cpus| on_cpus.is_more()) {
        return Some((&verdict.template, first));
    }
    let undecided = reached.iter().filter(|on_cpus| !on_cpus.is_less());
    let (template, shown) = match undecided.max_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median)) {
        Some(closest) => (&verdict.open_template, closest),
        None => (&verdict.no_edge_template, reached.last()?),
    };
    Some((template.as_deref().unwrap_or_default(), shown))
}

/// The best point on each list of CPUs, from the fewest on, compared with the rounds of the reference.
fn by_cpus<'a>(points: &[&'a Observation], reference: &[f64]) -> Vec<OnCpus<'a>> {
    let metric = QUESTIONS_PER_H.name;
    let reference: Vec<Vec<f64>> = reference.iter().map(|rate| vec![*rate]).collect();
    let mut best: BTreeMap<(usize, &str), OnCpus<'a>> = BTreeMap::new();
    for &point in points {
        let list = point.attribute(SERVER_CPUS);
        let cpus = list.split(',').count();
        let rounds: Vec<Vec<f64>> = point.rounds(metric).into_values().collect();
        let Some(ratio) = unpaired_ratio(&rounds, &reference) else { continue };
        if best.get(&(cpus, list)).is_none_or(|known| known.ratio.median < ratio.median) {
            best.insert((cpus, list), OnCpus { cpus, point, ratio });
        }
    }
    best.into_values().collect()
}

/// A list of CPUs that the study varies and that has no value. `None` if all have one.
fn without_result<'o>(
    reached: &[OnCpus<'_>],
    observations: &'o StudyObservations,
    selector: &BTreeMap<String, String>,
) -> Option<&'o str> {
    let (_, lists) = observations.varied.iter().find(|(option, _)| option == SERVER_CPUS)?;
    let is_selected = |list: &&String| selector.get(SERVER_CPUS).is_none_or(|selected| selected == *list);
    let has_value = |list: &&str| reached.iter().any(|on_cpus| on_cpus.point.attribute(SERVER_CPUS) == *list);
    lists.iter().filter(is_selected).map(String::as_str).find(|list| !has_value(list))
}

#[cfg(test)]
mod tests {
    use jsonathlon_results::summary::Run;
    use jsonathlon_results::test_fixtures::{cell, configuration, record, run, trial};
    use jsonathlon_schema::record::{Cell, Phase, RecordBody, STREAMS, Verdict};
    use jsonathlon_schema::workload::WorkloadKind;

    use crate::built_in;
    use crate::runs::StudySelection;

    const QUESTIONS: [&str; 5] = ["q1", "q2", "q3", "q4", "q5"];
    /// Factors by which rounds differ.
    const ROUNDS: [f64; 3] = [0.99, 1.0, 1.02];

    /// A run on still data of a system that answers this many questions per hour.
    fn still(system: &str, per_h: f64) -> Run {
        let configuration = configuration(system, "1.0");
        let steps = QUESTIONS.into_iter().map(|step| (step, per_h / 5.0)).chain([("all", per_h)]);
        let records = steps.flat_map(|(step, rate)| {
            let mut cell =
                Cell { workload: WorkloadKind::Mixed.into(), ..cell(&configuration, step, Phase::Still) };
            cell.parameters.insert(STREAMS.to_owned(), 1.into());
            let round = move |(round, factor): (u32, f64)| {
                let mut trial = trial(cell.clone(), round, None);
                trial.metrics.insert("questions_per_h".to_owned(), rate * factor);
                record(trial)
            };
            (1..).zip(ROUNDS).map(round).collect::<Vec<_>>()
        });
        run(system, vec![configuration.clone()], records.collect())
    }

    /// A run of the reference, which takes this many seconds for each question.
    fn reference(seconds: f64, verdict: Verdict) -> Run {
        let mut configuration = configuration("yardstick", "1");
        configuration.id.variant = "one-core".to_owned();
        let records = QUESTIONS.into_iter().chain(["q6"]).flat_map(|step| {
            let cell = cell(&configuration, step, Phase::Hot);
            let round = move |(round, factor): (u32, f64)| {
                // The question that is not asked on still data does not count.
                let seconds = if step == "q6" { 100.0 } else { seconds * factor };
                let mut trial = trial(cell.clone(), round, Some(seconds));
                trial.verdict = verdict;
                record(trial)
            };
            (1..).zip(ROUNDS).map(round).collect::<Vec<_>>()
        });
        run("reference", vec![configuration.clone()], records.collect())
    }

    fn sentence(rates: [f64; 2], reference: Run) -> String {
        let study = built_in("question-cores").unwrap().unwrap();
        let selection = StudySelection { cpus: vec![0, 1], ..StudySelection::default() };
        let parts = study.runs(&selection).unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["server-cpus-0", "server-cpus-0-1", "reference"]);
        let workloads: Vec<WorkloadKind> = parts.iter().map(|part| study.workload_of(part)).collect();
        assert_eq!(workloads, [WorkloadKind::Mixed, WorkloadKind::Mixed, WorkloadKind::Analytics]);
        assert_eq!(parts[2].options["scale"], "100k");
        assert!(!parts[2].options.contains_key("rate"), "{:?}", parts[2].options);
        let [one, two] = rates;
        let runs = [still("postgresql", one), still("postgresql", two), reference];
        let runs: Vec<_> = parts.into_iter().zip(runs).collect();
        study.sentence(&study.observe(&runs)).to_string()
    }

    #[test]
    fn the_least_number_of_cpus_that_beats_the_reference_is_the_cost() {
        // A second for each of five questions is 3,600 questions an hour.
        let text = sentence([2_000.0, 4_500.0], reference(1.0, Verdict::Exact));
        assert!(text.contains("postgresql answers 2.25 times as many ("), "{text}");
        let cost = "postgresql answers more questions than one core of the yardstick from 2 CPUs on: 4500 an hour, 1.25 times its 3600.";
        assert!(text.ends_with(cost), "{text}");
        let text = sentence([3_610.0, 4_500.0], reference(1.0, Verdict::Exact));
        assert!(text.contains("from 2 CPUs on"), "a difference that is not shown does not count: {text}");
    }

    #[test]
    fn a_system_that_never_beats_it_has_no_cost_on_this_machine() {
        let text = sentence([2_000.0, 3_000.0], reference(0.1, Verdict::Exact));
        assert!(text.contains("; no number of CPUs of this machine makes postgresql answer more"), "{text}");
        assert!(
            text.ends_with("on 2 it answers 3000 an hour, and the yardstick 36000, 12 times as many."),
            "{text}"
        );
    }

    #[test]
    fn a_difference_that_is_not_shown_is_told_so_in_either_direction() {
        for (rate, factor) in [(3_610.0, "1.00"), (3_590.0, "0.997")] {
            let text = sentence([2_000.0, rate], reference(1.0, Verdict::Exact));
            let shown = "; no number of CPUs of this machine is shown to make postgresql answer more questions than \
                         one core of the yardstick: on 2 it answers";
            assert!(text.contains(shown), "{text}");
            let end = format!(", {factor} times the yardstick's 3600, and no difference is shown.");
            assert!(text.ends_with(&end), "{text}");
        }
        // What is closest is told, also if more CPUs do less.
        let text = sentence([3_610.0, 2_000.0], reference(1.0, Verdict::Exact));
        assert!(text.contains("on 1 it answers"), "{text}");
    }

    #[test]
    fn a_number_of_cpus_without_a_result_leaves_no_cost() {
        let study = built_in("question-cores").unwrap().unwrap();
        let selection = StudySelection { cpus: vec![0, 1, 2], ..StudySelection::default() };
        let parts = study.runs(&selection).unwrap();
        let mut failed = still("postgresql", 4_000.0);
        for record in &mut failed.records {
            if let RecordBody::Trial(trial) = &mut record.body {
                trial.verdict = Verdict::Wrong;
            }
        }
        let runs = [
            still("postgresql", 4_000.0),
            failed,
            still("postgresql", 8_000.0),
            reference(1.0, Verdict::Exact),
        ];
        let runs: Vec<_> = parts.into_iter().zip(runs).collect();
        let sentence = study.sentence(&study.observe(&runs));
        assert_eq!(sentence.clauses.len(), 1, "{sentence}");
        assert_eq!(sentence.missing(), ["postgresql has no cost: there is no result on CPUs 0,1"]);
    }

    #[test]
    fn the_first_and_the_last_list_of_cpus_can_be_meant() {
        let text = include_str!("../built-in/question-cores.toml")
            .replace("kind = \"cost\"", "kind = \"cost\"\nof = { server-cpus = \"last\" }");
        let study = crate::definition::Study::parse("mine", "mine.toml", &text).unwrap();
        let selection = StudySelection { cpus: vec![0, 1], ..StudySelection::default() };
        let parts = study.runs(&selection).unwrap();
        // On one CPU it beats the reference too.
        let runs =
            [still("postgresql", 9_000.0), still("postgresql", 9_900.0), reference(1.0, Verdict::Exact)];
        let runs: Vec<_> = parts.into_iter().zip(runs).collect();
        let sentence = study.sentence(&study.observe(&runs)).to_string();
        assert!(sentence.contains("from 2 CPUs on: 9900 an hour"), "{sentence}");
    }

    #[test]
    fn a_reference_with_wrong_answers_is_none() {
        let study = built_in("question-cores").unwrap().unwrap();
        let selection = StudySelection { cpus: vec![0, 1], ..StudySelection::default() };
        let parts = study.runs(&selection).unwrap();
        let runs = [still("postgresql", 1.0), still("postgresql", 2.0), reference(1.0, Verdict::Wrong)];
        let runs: Vec<_> = parts.into_iter().zip(runs).collect();
        let observations = study.observe(&runs);
        assert!(observations.reference_per_h.is_empty());
        let sentence = study.sentence(&observations);
        assert_eq!(sentence.clauses.len(), 1);
        assert!(sentence.missing()[0].starts_with("postgresql has no cost: the reference"), "{sentence:?}");
    }
}
