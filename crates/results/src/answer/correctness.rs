//! Answers about what was verified, and what was wrong or missing.

use jsonathlon_schema::id::Step;
use jsonathlon_schema::record::Verdict;
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::context::{Context, Ranking};
use super::draft::AnswerDraft;
use super::sentence::with_list;
use super::step_names::ranges;
use super::{Answer, AnswerOutcome, AnswerSubject};
use crate::cell_summary::CellSummary;

/// Test of the documents workload that searches for the largest document, which ends with a rejection.
const LIMIT: &str = "limit";

/// One answer for each ranking in which something was wrong. If the workload asks questions, there is one for
/// each ranking, because it also tells what was verified and what was not.
pub(super) fn answers(context: &Context<'_>, workload: WorkloadKind) -> Vec<Answer> {
    let rankings = context.all_rankings();
    rankings.iter().filter_map(|ranking| answer(context, workload, ranking)).collect()
}

fn answer(context: &Context<'_>, workload: WorkloadKind, ranking: &Ranking) -> Option<Answer> {
    let members: Vec<Member> =
        ranking.members.iter().filter_map(|member| Member::new(context, workload, *member)).collect();
    let severity = members.iter().map(|member| member.severity).max()?;
    let is_ranked =
        |member: &&Member| context.configuration(member.index).is_some_and(|member| member.is_ranked());
    let right: Vec<usize> = members
        .iter()
        .filter(is_ranked)
        .filter(|member| member.is_right())
        .map(|member| member.index)
        .collect();
    let problems: Vec<String> =
        members.iter().filter(|member| !member.is_right()).map(|member| member.describe(context)).collect();
    let is_asking =
        matches!(workload, WorkloadKind::Analytics | WorkloadKind::Questions | WorkloadKind::Mixed);
    let is_worth_telling =
        if is_asking { right.len() + problems.len() > 0 } else { severity > Severity::Good };
    if !is_worth_telling {
        return None;
    }
    let names = context.names(&right);
    let sentence = match severity {
        _ if problems.is_empty() => with_list(&names, |names| format!("All answers verified: {names}")),
        Severity::Failed => with_list(&problems, |problems| format!("Wrong or missing: {problems}")),
        Severity::Good | Severity::Warning => {
            with_list(&problems, |problems| format!("Not verified: {problems}"))
        }
    };
    let value = format!("{} of {} configurations without a fault", right.len(), members.len());
    let outcome = AnswerOutcome::Counted { first: right, value };
    Some(
        AnswerDraft {
            workload: workload.into(),
            ranking: ranking.name.clone(),
            subject: AnswerSubject::Correctness,
            conditions: String::new(),
            outcome,
            sentence,
            severity,
        }
        .counted(context),
    )
}

/// Faults of one configuration.
struct Member {
    index: usize,
    severity: Severity,
    /// Steps with a fault, by verdict.
    faults: Vec<(Verdict, Vec<String>)>,
}

impl Member {
    /// Collects the faults of a configuration. `None` if nothing of it can be verified.
    fn new(context: &Context<'_>, workload: WorkloadKind, index: usize) -> Option<Self> {
        let mut entries = context.entries_of(index, workload);
        entries.retain(|entry| can_be_verified(entry));
        let is_bad_load = |entry: &&&CellSummary| entry.cell.step == Step::Load && is_fault(entry.verdict);
        let bad_load = entries.iter().find(is_bad_load).copied();
        // Everything else failed, or is partial, because of the load.
        let judged = bad_load.map_or(entries, |load| vec![load]);
        let severity = judged.iter().map(|entry| entry.verdict.severity()).max()?;
        let mut faults: Vec<(Verdict, Vec<String>)> = Vec::new();
        for entry in judged.iter().filter(|entry| is_fault(entry.verdict)) {
            let step = match &entry.cell.step {
                Step::Workload(question)
                    if entry.cell.phase.is_mixed() && workload == WorkloadKind::Serving =>
                {
                    format!("report {question}")
                }
                Step::Workload(mix) if workload == WorkloadKind::Serving => format!("mix {mix}"),
                _ => entry.cell.step_title(),
            };
            match faults.iter_mut().find(|(known, _)| *known == entry.verdict) {
                Some((_, steps)) if steps.contains(&step) => {}
                Some((_, steps)) => steps.push(step),
                None => faults.push((entry.verdict, vec![step])),
            }
        }
        faults.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
        Some(Self { index, severity, faults })
    }

    fn is_right(&self) -> bool {
        self.faults.is_empty()
    }

    /// Name of the configuration with its faults: `SQLite (Q2 wrong; Q4, Q5 timeout)`.
    fn describe(&self, context: &Context<'_>) -> String {
        let describe =
            |(verdict, steps): &(Verdict, Vec<String>)| format!("{} {}", ranges(steps), verdict.word());
        let faults: Vec<String> = self.faults.iter().map(describe).collect();
        format!("{} ({})", context.name(self.index), faults.join("; "))
    }
}

/// Whether the verdict of an entry says something about correctness: loads, and steps of the workload.
fn can_be_verified(entry: &CellSummary) -> bool {
    let step = &entry.cell.step;
    let is_checked = *step == Step::Load || (step.is_workload_step() && step.word() != LIMIT);
    is_checked && !entry.cell.is_single_operation()
}

fn is_fault(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Exact | Verdict::Approximate | Verdict::NotApplicable => false,
        Verdict::Unverified
        | Verdict::Disputed
        | Verdict::Partial
        | Verdict::Wrong
        | Verdict::Timeout
        | Verdict::Failed => true,
    }
}
