//! Answers about documents that come back with the same value.

use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::context::{Context, Ranking};
use super::draft::AnswerDraft;
use super::sentence::with_list;
use super::{Answer, AnswerOutcome, AnswerSubject};
use crate::i_json::{CaseResults, IJsonGrade};

pub(super) fn answers(context: &Context<'_>) -> Vec<Answer> {
    context.rankings.iter().filter_map(|ranking| round_trip(context, ranking)).collect()
}

/// Who preserves most of the cases that decide whether a system is I-JSON-safe. `None` if none was tried.
fn round_trip(context: &Context<'_>, ranking: &Ranking) -> Option<Answer> {
    let cases = context.run.manifest.fidelity_cases();
    let grade = |member: &usize| {
        let results = CaseResults::new(context.configuration(*member)?, cases, context.parts.entries);
        results.entries().next()?;
        Some((*member, IJsonGrade::new(&results)))
    };
    let grades: Vec<(usize, IJsonGrade)> = ranking.members.iter().filter_map(grade).collect();
    let deciding = grades.iter().map(|(_, grade)| grade.deciding_cases).max().filter(|count| *count > 0)?;
    let most = grades.iter().map(|(_, grade)| grade.preserved_cases).max()?;
    let is_best = |(_, grade): &&(usize, IJsonGrade)| grade.preserved_cases == most;
    let first: Vec<usize> = grades.iter().filter(is_best).map(|(member, _)| *member).collect();
    let value = format!("{most} of {deciding}");
    let fewest = fewest_words(context, &grades, most);
    let names = context.names(&first);
    let sentence = with_list(&names, |names| match most == deciding {
        true => format!("All {deciding} I-JSON objects preserved by {names}{fewest}"),
        false => format!("Most I-JSON objects preserved: {names}, {value}{fewest}"),
    });
    let outcome = AnswerOutcome::Counted { first, value };
    Some(
        AnswerDraft {
            workload: WorkloadKind::Fidelity.into(),
            ranking: ranking.name.clone(),
            subject: AnswerSubject::RoundTrip,
            conditions: String::new(),
            outcome,
            sentence,
            severity: Severity::Good,
        }
        .counted(context),
    )
}

/// Words for who preserves fewest, behind those who preserve `most`. Empty if all preserve equally many.
fn fewest_words(context: &Context<'_>, grades: &[(usize, IJsonGrade)], most: usize) -> String {
    match grades.iter().min_by_key(|(_, grade)| grade.preserved_cases) {
        Some((member, grade)) if grade.preserved_cases < most => {
            format!("; fewest by {}, {}", context.name(*member), grade.preserved_cases)
        }
        _ => String::new(),
    }
}
