//! Tables of questions: times with their intervals, compared with the best and with the yardstick.

use jsonathlon_dataset::questions::Question;
use jsonathlon_results::ratio_to_best::{CellRatio, RatioTo, Significance};
use jsonathlon_results::summary::{CellSummary, Run, Summary};
use jsonathlon_schema::id::{DataState, Step};
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::metric;
use jsonathlon_schema::record::{Phase, Verdict};
use jsonathlon_schema::severity::Severity;

use super::find;
use crate::format;
use crate::section::{NAMES, Section, TOO_FEW_ROUNDS, interval, name, none, optional};

/// Tables of all questions in all data states in which they were asked.
pub(super) fn all(run: &Run, summary: &Summary) -> Vec<Section> {
    let mut sections = Vec::new();
    for state in states(summary) {
        let title = |one: Question| format!("{} {}", one.id().to_uppercase(), one.title());
        sections.extend(
            Question::ALL.into_iter().filter_map(|one| table(run, summary, one.id(), &title(one), state)),
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
    comparable: bool,
    /// Comparison of its hot times with the best of its ranking; `None` if there is none.
    to_best: Option<&'a CellRatio>,
    /// Comparison of its hot times with the first yardstick; `None` if there is none.
    to_reference: Option<&'a CellRatio>,
}

impl RankedAnswer<'_> {
    /// Worst severity of the answers; at least a warning if the configuration holds other documents and may
    /// not be compared.
    fn severity(&self) -> Severity {
        let answers = [self.hot, self.cold].into_iter().flatten().map(CellSummary::severity);
        let documents = if self.comparable { Severity::Good } else { Severity::Warning };
        answers.fold(documents, Severity::max)
    }

    fn time(&self) -> Option<f64> {
        self.hot.and_then(|entry| entry.median_s)
    }
}

/// Table of the question whose cells have the step `id`; `None` if no configuration was asked.
pub(crate) fn table(
    run: &Run,
    summary: &Summary,
    id: &str,
    title: &str,
    state: DataState,
) -> Option<Section> {
    let mut standings: Vec<RankedAnswer<'_>> = Vec::new();
    for configuration in &run.manifest.configurations {
        let of = |phases: &[Phase]| {
            summary.results.iter().find(|entry| {
                configuration.has(&entry.cell)
                    && entry.cell.step.word() == id
                    && entry.cell.state == Some(state)
                    && phases.contains(&entry.cell.phase)
            })
        };
        let hot = of(&[Phase::Hot]).or_else(|| of(&[Phase::HotNotInMemory]));
        let cold = of(&[Phase::Cold]).or_else(|| of(&[Phase::ColdUnverified]));
        if hot.is_none() && cold.is_none() {
            continue;
        }
        let load = find(summary, configuration, &Step::Load, None);
        let comparable = load.is_some_and(|entry| entry.verdict == Verdict::Exact);
        let beside = |against| comparison(summary, hot?, against);
        let (to_best, to_reference) = (beside(RatioTo::Best), beside(RatioTo::Reference));
        standings.push(RankedAnswer { configuration, hot, cold, comparable, to_best, to_reference });
    }
    if standings.is_empty() {
        return None;
    }
    // Sorted by ranking, yardsticks last. Each ranking begins with comparable rows by their time, then come
    // rows that may not be compared, then those without a time. A system with fewer documents must not head a
    // table.
    let place = |standing: &RankedAnswer<'_>| {
        (standing.configuration.reference, standing.configuration.ranking_place())
    };
    standings.sort_by(|a, b| {
        let worth = |s: &RankedAnswer<'_>| (s.time().is_none(), !s.comparable);
        let times = (a.time().unwrap_or(f64::INFINITY), b.time().unwrap_or(f64::INFINITY));
        place(a).cmp(&place(b)).then(worth(a).cmp(&worth(b))).then(times.0.total_cmp(&times.1))
    });
    let reference = standings.iter().find_map(|standing| standing.to_reference);
    let mut header =
        vec!["class", "system", "variant", "storage", "hot median", "95 % interval", "× of best"];
    let beside = reference.map(|one| format!("× of {}", one.other.system));
    header.extend(beside.as_deref());
    header.extend(["cold median", "verdict", "bound by", "documents/s"]);
    let words = header.len() - 3;
    let state_words = if state == DataState::Drained { String::new() } else { format!(", {}", state.word()) };
    let mut section = Section::new(format!("{title}{state_words}"), &header, NAMES);
    section.left_also = vec![words, words + 1];
    for standing in &standings {
        section.rows.mark(standing.severity(), row(standing, reference.is_some()));
    }
    Some(section)
}

fn comparison<'a>(summary: &'a Summary, entry: &CellSummary, against: RatioTo) -> Option<&'a CellRatio> {
    summary.comparisons.iter().find(|one| one.against == against && one.cell == entry.cell)
}

fn row(standing: &RankedAnswer<'_>, with_reference: bool) -> Vec<String> {
    let configuration = standing.configuration;
    let verdict = [standing.hot, standing.cold].into_iter().flatten().map(|entry| entry.verdict).max();
    let mut words = verdict.map_or_else(none, |verdict| verdict.word().to_owned());
    let error = standing.hot.and_then(|entry| entry.metric(&metric::RELATIVE_ERROR));
    if let (Some(Verdict::Approximate), Some(error)) = (verdict, error) {
        words.push_str(&format!(", error ≤ {}", format::percent(error)));
    }
    if !standing.comparable {
        words.push_str(", not comparable");
    }
    let unverified = standing.cold.is_some_and(|entry| entry.cell.phase == Phase::ColdUnverified);
    if unverified {
        words.push_str(", cold-unverified");
    }
    let reading = standing.hot.filter(|entry| entry.cell.phase == Phase::HotNotInMemory);
    if let Some(entry) = reading {
        let bytes = entry.metric(&metric::READ_BYTES).unwrap_or_default();
        words.push_str(&format!(
            ", {} (reads {} a trial)",
            Phase::HotNotInMemory.words(),
            format::bytes(bytes)
        ));
    }
    if let Some(why) =
        standing.hot.and_then(|entry| configuration.other_questions.get(entry.cell.step.word()))
    {
        words.push_str(&format!(", another question: {why}"));
    }
    let cold = optional(standing.cold.and_then(|entry| entry.median_s), format::seconds);
    let mut row = name(configuration);
    let hot = optional(standing.time(), format::seconds);
    row.extend([
        if reading.is_some() { format!("({hot})") } else { hot },
        interval(standing.hot),
        standing.to_best.map_or_else(none, |best| ratio(standing, best)),
    ]);
    if with_reference {
        row.push(standing.to_reference.map_or_else(none, |one| format::times(one.ratio)));
    }
    row.extend([
        if unverified { format!("({cold})") } else { cold },
        words,
        standing.hot.and_then(|entry| entry.bound_by.clone()).unwrap_or_else(none),
        optional(
            standing.time().and(standing.hot).and_then(|e| e.metric(&metric::DOCUMENTS_PER_S)),
            format::count,
        ),
    ]);
    row
}

/// Ratio to the best with its interval, or the note that no difference is shown. The best row itself has only
/// its ratio, 1.
fn ratio(standing: &RankedAnswer<'_>, best: &CellRatio) -> String {
    let text = format::times(best.ratio);
    let itself = best.other == standing.configuration.id;
    match (best.limits(), best.difference) {
        _ if itself => text,
        (Some([low, high]), Significance::Faster | Significance::Slower) => {
            format!("{text} ({} … {})", format::three(low), format::three(high))
        }
        (Some(_), Significance::NotSignificant) => {
            format!("{text}, {}", Significance::NotSignificant.words())
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
