//! Tables of questions: times with their intervals, compared with the best and with the yardstick.

use jsonathlon_dataset::questions::Question;
use jsonathlon_results::ratio_to_best::{CellRatio, ComparisonTarget, Significance};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Phase, Verdict};
use jsonathlon_schema::severity::Severity;

use super::find;
use crate::format;
use crate::section::{
    Column, Section, TOO_FEW_ROUNDS, configuration_columns, dash, interval, name_columns, optional,
};

/// Tables of all questions in all data states in which they were asked.
pub(super) fn sections(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = Vec::new();
    for state in states(summary) {
        let title = |question: Question| format!("{} {}", question.id().to_uppercase(), question.title());
        sections.extend(
            Question::ALL
                .into_iter()
                .filter_map(|question| table(run, summary, question.id(), &title(question), state)),
        );
    }
    sections
}

/// Data states in which questions were asked.
pub(crate) fn states(summary: &Summary) -> Vec<DataState> {
    let is_asked_in = |state: &DataState| {
        summary
            .results
            .iter()
            .any(|entry| entry.cell.step.is_workload_step() && entry.cell.state == Some(*state))
    };
    DataState::ALL.into_iter().filter(is_asked_in).collect()
}

/// Results of one configuration for one question.
struct RankedAnswer<'a> {
    configuration: &'a Configuration,
    hot: Option<&'a CellSummary>,
    cold: Option<&'a CellSummary>,
    is_comparable: bool,
    /// Comparison of its hot times with the best of its ranking; `None` if there is none.
    best_ratio: Option<&'a CellRatio>,
    /// Comparison of its hot times with the first yardstick; `None` if there is none.
    reference_ratio: Option<&'a CellRatio>,
}

impl RankedAnswer<'_> {
    /// Worst severity of the answers; at least a warning if the configuration holds other documents and may
    /// not be compared.
    fn severity(&self) -> Severity {
        let answers = [self.hot, self.cold].into_iter().flatten().map(CellSummary::severity);
        let documents = if self.is_comparable { Severity::Good } else { Severity::Warning };
        answers.fold(documents, Severity::max)
    }

    fn time(&self) -> Option<f64> {
        self.hot.and_then(|entry| entry.median_s)
    }
}

/// Table of the question whose cells have the step `id`; `None` if no configuration has results.
pub(crate) fn table(
    run: &Run,
    summary: &Summary,
    id: &str,
    title: &str,
    state: DataState,
) -> Option<Section> {
    let mut answers: Vec<RankedAnswer<'_>> = Vec::new();
    for configuration in &run.manifest.configurations {
        let find_entry = |phases: &[Phase]| {
            summary.results.iter().find(|entry| {
                configuration.contains_cell(&entry.cell)
                    && entry.cell.step.word() == id
                    && entry.cell.state == Some(state)
                    && phases.contains(&entry.cell.phase)
            })
        };
        let hot = find_entry(&[Phase::Hot]).or_else(|| find_entry(&[Phase::HotNotInMemory]));
        let cold = find_entry(&[Phase::Cold]).or_else(|| find_entry(&[Phase::ColdUnverified]));
        if hot.is_none() && cold.is_none() {
            continue;
        }
        let load = find(summary, configuration, &Step::Load, None);
        let is_comparable = load.is_some_and(|entry| entry.verdict == Verdict::Exact);
        let compare_with = |other| comparison(summary, hot?, other);
        let (best_ratio, reference_ratio) =
            (compare_with(ComparisonTarget::Best), compare_with(ComparisonTarget::Reference));
        answers.push(RankedAnswer { configuration, hot, cold, is_comparable, best_ratio, reference_ratio });
    }
    if answers.is_empty() {
        return None;
    }
    // Sorted by ranking, yardsticks last. Each ranking begins with comparable rows by their time, then come
    // rows that may not be compared, then those without a time. A system with fewer documents must not head a
    // table.
    let ranking_key =
        |answer: &RankedAnswer<'_>| (answer.configuration.reference, answer.configuration.ranking_place());
    answers.sort_by(|a, b| {
        let completeness = |answer: &RankedAnswer<'_>| (answer.time().is_none(), !answer.is_comparable);
        let times = (a.time().unwrap_or(f64::INFINITY), b.time().unwrap_or(f64::INFINITY));
        ranking_key(a)
            .cmp(&ranking_key(b))
            .then(completeness(a).cmp(&completeness(b)))
            .then(times.0.total_cmp(&times.1))
    });
    let reference = answers.iter().find_map(|answer| answer.reference_ratio);
    let mut columns = configuration_columns();
    columns.extend([Column::number("hot median"), Column::interval(), Column::number("× of best")]);
    columns.extend(reference.map(|ratio| Column::number(&format!("× of {}", ratio.other.system)).useful()));
    columns.extend([
        Column::number("cold median").useful(),
        Column::words("verdict"),
        Column::words("bound by").detail(),
        Column::number("documents/s").detail(),
    ]);
    let state_words = if state == DataState::Drained { String::new() } else { format!(", {}", state.word()) };
    let mut section = Section::new(format!("{title}{state_words}"), columns);
    for answer in &answers {
        section.rows.mark(answer.severity(), row(answer, reference.is_some()));
    }
    Some(section)
}

fn comparison<'a>(
    summary: &'a Summary,
    entry: &CellSummary,
    other: ComparisonTarget,
) -> Option<&'a CellRatio> {
    summary.comparisons.iter().find(|ratio| ratio.compared_with == other && ratio.cell == entry.cell)
}

fn row(answer: &RankedAnswer<'_>, has_reference: bool) -> Vec<String> {
    let configuration = answer.configuration;
    let verdict = [answer.hot, answer.cold].into_iter().flatten().map(|entry| entry.verdict).max();
    let mut verdict_text = verdict.map_or_else(dash, |verdict| verdict.word().to_owned());
    let error = answer.hot.and_then(|entry| entry.metric(&metric::RELATIVE_ERROR));
    if let (Some(Verdict::Approximate), Some(error)) = (verdict, error) {
        verdict_text.push_str(&format!(", error ≤ {}", format::percent(error)));
    }
    if !answer.is_comparable {
        verdict_text.push_str(", not comparable");
    }
    let is_unverified = answer.cold.is_some_and(|entry| entry.cell.phase == Phase::ColdUnverified);
    if is_unverified {
        verdict_text.push_str(", cold-unverified");
    }
    let read_entry = answer.hot.filter(|entry| entry.cell.phase == Phase::HotNotInMemory);
    if let Some(entry) = read_entry {
        let bytes = entry.metric(&metric::READ_BYTES).unwrap_or_default();
        verdict_text.push_str(&format!(
            ", {} (reads {} a trial)",
            Phase::HotNotInMemory.phrase(),
            format::bytes(bytes)
        ));
    }
    if let Some(asked) =
        answer.hot.and_then(|entry| configuration.other_questions.get(entry.cell.step.word()))
    {
        verdict_text.push_str(&format!(", another question: {asked}"));
    }
    let cold = optional(answer.cold.and_then(|entry| entry.median_s), format::seconds);
    let mut row = name_columns(configuration);
    let hot = optional(answer.time(), format::seconds);
    row.extend([
        if read_entry.is_some() { format!("({hot})") } else { hot },
        interval(answer.hot),
        answer.best_ratio.map_or_else(dash, |best| ratio(answer, best)),
    ]);
    if has_reference {
        row.push(answer.reference_ratio.map_or_else(dash, |comparison| format::ratio(comparison.ratio)));
    }
    row.extend([
        if is_unverified { format!("({cold})") } else { cold },
        verdict_text,
        answer.hot.and_then(|entry| entry.bound_by).map_or_else(dash, |bound| bound.to_string()),
        optional(
            answer.time().and(answer.hot).and_then(|entry| entry.metric(&metric::DOCUMENTS_PER_S)),
            format::count,
        ),
    ]);
    row
}

/// Ratio to the best with its interval, or the note that no difference is shown. The best row itself has only
/// its ratio, 1.
fn ratio(answer: &RankedAnswer<'_>, best: &CellRatio) -> String {
    let text = format::ratio(best.ratio);
    let is_best = best.other == answer.configuration.id;
    match (best.limits(), best.difference) {
        _ if is_best => text,
        (Some([low, high]), Significance::Faster | Significance::Slower) => {
            format!("{text} ({} … {})", format::three_digits(low), format::three_digits(high))
        }
        (Some(_), Significance::NotSignificant) => {
            format!("{text}, {}", Significance::NotSignificant.label())
        }
        (None, _) => format!("{text} ({TOO_FEW_ROUNDS})"),
    }
}

#[cfg(test)]
mod tests {
    use super::Question;

    #[test]
    fn the_page_calls_questions_the_same() {
        let page = include_str!("../../../../web/src/labels.ts");
        for question in Question::ALL {
            let line = format!("['{}', '{}'],", question.id(), question.title());
            assert!(page.contains(&line), "{line}");
        }
    }
}
