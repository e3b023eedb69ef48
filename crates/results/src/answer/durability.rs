//! Answers about crashes: which configurations kept the promise of their durability tier.

use jsonathlon_schema::durability::{CrashKind, DurabilityEvidence, DurabilityTier};
use jsonathlon_schema::metric::{CRASHES, CRASHES_AS_PROMISED, CRASHES_WITHOUT_LOSS};
use jsonathlon_schema::record::{DURABILITY, Phase};
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::workload::WorkloadKind;

use super::context::{Context, Ranking};
use super::draft::AnswerDraft;
use super::sentence::with_list;
use super::{Answer, AnswerOutcome, AnswerSubject};
use crate::cell_summary::CellSummary;

/// Answers about the crash tests of a durability run, one for each tier and ranking.
pub(super) fn answers(context: &Context<'_>) -> Vec<Answer> {
    let mut answers = Vec::new();
    for tier in DurabilityTier::ALL {
        for ranking in context.all_rankings() {
            let tested: Vec<Tested> =
                ranking.members.iter().filter_map(|member| Tested::new(context, *member, tier)).collect();
            answers.extend(answer(context, WorkloadKind::Durability, &ranking, tier, &tested));
        }
    }
    answers
}

/// Answers about promises that configurations of this run broke in earlier durability runs. Promises that they
/// kept there are not among them.
pub(super) fn earlier_answers(context: &Context<'_>, workload: WorkloadKind) -> Vec<Answer> {
    let mut answers = Vec::new();
    for tier in DurabilityTier::ALL {
        for ranking in context.all_rankings() {
            let tested = ranking.members.iter().flat_map(|member| Tested::earlier(context, *member, tier));
            let broken: Vec<Tested> = tested.filter(Tested::is_broken).collect();
            answers.extend(answer(context, workload, &ranking, tier, &broken));
        }
    }
    answers
}

/// Crash tests of one configuration in one tier.
struct Tested {
    member: usize,
    crashes: u64,
    as_promised: u64,
    /// Number of crashes in which writes were lost, also those that the tier allows to be lost.
    with_losses: u64,
    /// Kind of the crashes with the day of the run, for crash tests of earlier runs.
    remark: String,
}

impl Tested {
    /// Sums the crash tests of all kinds in this run. `None` if there are none.
    fn new(context: &Context<'_>, member: usize, tier: DurabilityTier) -> Option<Self> {
        let mut entries = context.entries_of(member, WorkloadKind::Durability);
        entries.retain(|entry| {
            let cell = &entry.cell;
            let word = cell.parameters.get(DURABILITY).and_then(serde_json::Value::as_str);
            cell.phase == Phase::Steady
                && CrashKind::from_word(cell.step.word()).is_some()
                && word == Some(tier.word())
        });
        let sum = |metric| entries.iter().filter_map(|entry| entry.metric(metric)).sum::<f64>() as u64;
        let (crashes, as_promised) = (sum(&CRASHES), sum(&CRASHES_AS_PROMISED));
        let with_losses = |entry: &&CellSummary| {
            Some(entry.metric(&CRASHES)? - entry.metric(&CRASHES_WITHOUT_LOSS)?).filter(|count| *count > 0.0)
        };
        let with_losses = entries.iter().filter_map(with_losses).sum::<f64>() as u64;
        let remark = "crashes".to_owned();
        (crashes > 0).then_some(Self { member, crashes, as_promised, with_losses, remark })
    }

    /// Crash tests of earlier durability runs, one for each kind of crash.
    fn earlier(context: &Context<'_>, member: usize, tier: DurabilityTier) -> Vec<Self> {
        let configuration = context.configuration(member);
        let durability = configuration.and_then(|configuration| configuration.durability.as_ref());
        let tested = durability.filter(|durability| durability.tier == tier).into_iter();
        let convert = |evidence: &DurabilityEvidence| Self {
            member,
            crashes: evidence.crashes,
            as_promised: evidence.as_promised,
            with_losses: 0,
            remark: format!("{}, {}", evidence.kind.noun(evidence.crashes), evidence.date),
        };
        tested.flat_map(|durability| &durability.tested).map(convert).collect()
    }

    fn is_broken(&self) -> bool {
        self.as_promised < self.crashes
    }
}

/// Answer for one tier and ranking. `None` if nothing was tested.
fn answer(
    context: &Context<'_>,
    workload: WorkloadKind,
    ranking: &Ranking,
    tier: DurabilityTier,
    tested: &[Tested],
) -> Option<Answer> {
    let most = tested.iter().map(|tested| tested.crashes).max()?;
    let least = tested.iter().map(|tested| tested.crashes).min()?;
    let (broken, kept): (Vec<&Tested>, Vec<&Tested>) = tested.iter().partition(|tested| tested.is_broken());
    let first: Vec<usize> = kept.iter().map(|tested| tested.member).collect();
    let each = if tested.len() > 1 { " each" } else { "" };
    let value = match (least == most, most) {
        (true, 1) => format!("1 crash{each}"),
        (true, _) => format!("{most} crashes{each}"),
        (false, _) => format!("{least} to {most} crashes each"),
    };
    let (sentence, severity) = if broken.is_empty() {
        let describe = |tested: &&Tested| match tested.with_losses {
            0 => context.name(tested.member),
            lossy => format!("{} (losses in {lossy}, as allowed)", context.name(tested.member)),
        };
        let names: Vec<String> = kept.iter().map(describe).collect();
        let sentence =
            |names: &str| format!("Promise of tier {tier} kept by {names} in {value}, which is no proof");
        (with_list(&names, sentence), Severity::Good)
    } else {
        let describe = |tested: &&Tested| {
            let Tested { member, crashes, as_promised, remark, .. } = tested;
            format!("{} ({} of {crashes} {remark})", context.name(*member), crashes - as_promised)
        };
        let broken: Vec<String> = broken.iter().map(describe).collect();
        (with_list(&broken, |broken| format!("Promise of tier {tier} broken by {broken}")), Severity::Failed)
    };
    let outcome = AnswerOutcome::Counted { first, value };
    Some(
        AnswerDraft {
            workload: workload.into(),
            ranking: ranking.name.clone(),
            subject: AnswerSubject::Durability,
            conditions: tier.to_string(),
            outcome,
            sentence,
            severity,
        }
        .counted(context),
    )
}
