//! Durability: a tier is met where crashes were made and lost nothing that it promises.

use jsonathlon_results::number_format::integer;
use jsonathlon_schema::durability::{CrashKind, DurabilityTier};

use super::{Figure, Finding, NeedState, reason};
use crate::dimension::Dimension;
use crate::facts::{CrashEvidence, Part, SystemFacts};

/// Kinds of crashes that a tier says something about.
fn kinds(tier: DurabilityTier) -> &'static [CrashKind] {
    match tier {
        DurabilityTier::Process => &[CrashKind::Process],
        DurabilityTier::Synced | DurabilityTier::Window => &CrashKind::ALL,
    }
}

/// Judges whether crashes lose no more than a tier allows. What the vendor declares proves nothing.
pub(super) fn durability(wanted: DurabilityTier, facts: &SystemFacts) -> Finding {
    let measured = facts.durability.tier.or_else(|| strictest_tried(facts)).unwrap_or(wanted);
    // Tiers are sorted by what they may lose: a later one may lose more.
    if measured > wanted {
        let figure = Figure {
            words: format!("measured as {measured}, which may lose more than {wanted}"),
            short: measured.word().to_owned(),
            predicate: format!("runs as {measured} and not as {wanted}"),
            ..Figure::default()
        };
        return Finding::not_met(figure);
    }
    let evidence: Vec<&CrashEvidence> =
        facts.durability.evidence.iter().filter(|evidence| evidence.tier == measured).collect();
    let of_kinds: Vec<&CrashEvidence> =
        evidence.iter().copied().filter(|evidence| kinds(wanted).contains(&evidence.kind)).collect();
    let losses: Vec<&CrashEvidence> =
        of_kinds.iter().copied().filter(|evidence| evidence.as_promised < evidence.crashes).collect();
    if !losses.is_empty() {
        return Finding::not_met(loss_figure(&losses));
    }
    let proven: Vec<&CrashEvidence> =
        kinds(wanted).iter().filter_map(|kind| proof(*kind, &of_kinds)).collect();
    let missing = kinds(wanted).iter().find(|kind| proof(**kind, &of_kinds).is_none());
    match missing {
        None => Finding::new(NeedState::Met, proof_figure(&proven), 1.0),
        Some(kind) => {
            let why = untested_kind(*kind, &of_kinds, facts);
            let figure = if proven.is_empty() { Figure::missing(&why) } else { proof_figure(&proven) };
            let words = match proven.is_empty() {
                true => why.clone(),
                false => format!("{}; {why}", figure.words),
            };
            Finding { figure: Figure { words, ..figure }, ..Finding::not_tested(&why) }
        }
    }
}

/// What crashes showed of the tier in which a system was measured. `None` if none were made.
pub(super) fn known(facts: &SystemFacts) -> Option<Finding> {
    let strictest = strictest_tried(facts)?;
    Some(durability(facts.durability.tier.unwrap_or(strictest), facts))
}

/// Strictest tier in which the system was crashed. `None` if it never was.
fn strictest_tried(facts: &SystemFacts) -> Option<DurabilityTier> {
    let made = facts.durability.evidence.iter().filter(|evidence| evidence.crashes > 0);
    made.map(|evidence| evidence.tier).min()
}

/// Crashes of a kind that were all made and lost nothing: those of this choice, else those of earlier runs.
fn proof<'e>(kind: CrashKind, evidence: &[&'e CrashEvidence]) -> Option<&'e CrashEvidence> {
    let is_proof = |evidence: &&&CrashEvidence| {
        evidence.kind == kind && evidence.crashes > 0 && evidence.obstacle.is_none()
    };
    let mut proofs: Vec<&CrashEvidence> = evidence.iter().filter(is_proof).copied().collect();
    proofs.sort_by_key(|evidence| evidence.earlier.is_some());
    proofs.first().copied()
}

/// Why a kind of crash proves nothing.
fn untested_kind(kind: CrashKind, evidence: &[&CrashEvidence], facts: &SystemFacts) -> String {
    let obstacle =
        evidence.iter().find(|evidence| evidence.kind == kind).and_then(|one| one.obstacle.as_ref());
    match (obstacle, facts.durability.evidence.is_empty(), facts.durability.tier) {
        (Some(obstacle), ..) => format!("{}: {obstacle}", kind.event()),
        (None, true, Some(tier)) => {
            format!("{tier} is declared, not proven here: {}", reason(Dimension::Durability, facts))
        }
        (None, true, None) => reason(Dimension::Durability, facts),
        (None, false, _) => format!("no {} was made", kind.event()),
    }
}

/// Figure of crashes that lost more than the tier allows.
fn loss_figure(losses: &[&CrashEvidence]) -> Figure {
    let crashes = |evidence: &CrashEvidence| {
        let broken = evidence.crashes - evidence.as_promised;
        let date = evidence.earlier.as_ref().map(|date| format!(" on {date}")).unwrap_or_default();
        format!("{broken} of {} {}{date}", evidence.crashes, evidence.kind.noun(evidence.crashes))
    };
    let places: Vec<String> = losses.iter().map(|evidence| crashes(evidence)).collect();
    let places = places.join(" and ");
    let lost: u64 = losses.iter().filter_map(|evidence| evidence.lost).sum();
    let acknowledged: u64 = losses.iter().filter_map(|evidence| evidence.acknowledged).sum();
    let (words, short, predicate) = if lost > 0 {
        let lost = integer(lost as f64);
        let of =
            if acknowledged > 0 { format!(" of {}", integer(acknowledged as f64)) } else { String::new() };
        (
            format!("{lost}{of} acknowledged writes lost in {places}"),
            format!("lost {lost}"),
            format!("loses {lost}{of} acknowledged writes in {places}"),
        )
    } else {
        let words = format!("lost more than its tier allows in {places}");
        (words, "loses writes".to_owned(), format!("loses more than its tier allows in {places}"))
    };
    Figure {
        words,
        short,
        predicate,
        value: Some(lost as f64),
        part: losses.iter().any(|evidence| evidence.cell.is_some()).then_some(Part::Durability),
        ..Figure::default()
    }
}

/// Figure of crashes after which everything promised was there.
fn proof_figure(proven: &[&CrashEvidence]) -> Figure {
    let crashes = |evidence: &&CrashEvidence| {
        let date = evidence.earlier.as_ref().map(|date| format!(" on {date}")).unwrap_or_default();
        let all = if evidence.crashes == 1 { "1".to_owned() } else { format!("all {}", evidence.crashes) };
        format!("{all} {}{date}", evidence.kind.noun(evidence.crashes))
    };
    let survived: Vec<String> = proven.iter().map(crashes).collect();
    let tier = proven.first().map(|evidence| evidence.tier.word()).unwrap_or_default();
    let survived = survived.join(" and ");
    Figure {
        words: format!("{tier}: kept its promise in {survived}"),
        short: tier.to_owned(),
        predicate: format!("keeps its promise in {survived}"),
        part: proven.iter().any(|evidence| evidence.cell.is_some()).then_some(Part::Durability),
        ..Figure::default()
    }
}
