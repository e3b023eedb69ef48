//! Joins what the runs of a choice say about each system.

use std::collections::BTreeMap;

use jsonathlon_results::cell_summary::FailureSummary;
use jsonathlon_results::run::Run;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::ranking::MemoryProfile;
use jsonathlon_schema::record::FailureKind;

use super::cells::{Participation, SummarisedRun};
use super::{Part, PartFault, ReportFacts, SystemFacts, loads, losses, reports, serving};
use crate::dimension::Dimension;
use crate::figures::shortened;

/// What runs do not say about themselves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GatherContext {
    /// Rate of arrivals that counts, in operations per second. `None` for the middle one of those tried.
    pub rate: Option<f64>,
    /// Share of the documents that the user allows systems to reject.
    pub rejectable: f64,
    /// Parts of the choice that systems do not take part in.
    pub left_out: Vec<LeftOut>,
}

/// A part of the choice that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Part that was left out.
    pub part: Part,
    /// Name of the system's folder. `None` if the part was left out for all systems.
    pub system: Option<String>,
    /// Why it was left out, in words without a full stop: `the budget does not allow it`.
    pub reason: String,
}

/// Parts by how well their configuration of a system stands for it.
const REPRESENTATIVES: [Part; 6] =
    [Part::Serving, Part::Capacity, Part::Questions, Part::Half, Part::Quarter, Part::Durability];

/// Collects what the runs of a choice found out about each system, in the order of the systems in the runs.
/// Runs may be missing or incomplete; of several runs of one part, the first counts. Reference rows are no
/// systems.
#[must_use]
pub fn gather(runs: &[(Part, Run)], context: &GatherContext) -> Vec<SystemFacts> {
    let runs: Vec<SummarisedRun<'_>> = REPRESENTATIVES
        .into_iter()
        .filter_map(|part| runs.iter().find(|(other, _)| *other == part))
        .map(|(part, run)| SummarisedRun::new(*part, run, context.rejectable))
        .collect();
    let rate = context.rate.or_else(|| middle_rate(&runs));
    let mut systems: Vec<SystemFacts> = representatives(&runs)
        .into_iter()
        .map(|(_, configuration)| system_facts(&runs, configuration, rate, context))
        .collect();
    complete_reports(&mut systems, context, &runs);
    name_systems(&mut systems);
    systems
}

/// Configurations that stand for systems: those of the first run in which the system and version take part.
fn representatives<'s>(runs: &'s [SummarisedRun<'s>]) -> Vec<Participation<'s>> {
    let mut found: Vec<Participation<'s>> = Vec::new();
    for run in runs {
        let is_new = |configuration: &&Configuration| {
            !found.iter().any(|(_, known)| is_same_system(&known.id, &configuration.id))
        };
        let configurations = run.run.manifest.configurations.iter();
        let new: Vec<&Configuration> =
            configurations.filter(|configuration| !configuration.reference).filter(is_new).collect();
        found.extend(new.into_iter().map(|configuration| (run, configuration)));
    }
    found
}

fn is_same_system(a: &ConfigurationId, b: &ConfigurationId) -> bool {
    (&a.system, &a.version) == (&b.system, &b.version)
}

/// Configuration of a run that stands for the same system as `wanted`. `None` if there is none, or several of
/// which none is like it.
fn counterpart<'s>(
    run: &'s SummarisedRun<'s>,
    wanted: &ConfigurationId,
    profile: Option<MemoryProfile>,
) -> Option<&'s Configuration> {
    let same: Vec<&Configuration> = run
        .run
        .manifest
        .configurations
        .iter()
        .filter(|configuration| is_same_system(&configuration.id, wanted))
        .collect();
    let exact =
        |configuration: &&&Configuration| configuration.id == *wanted && configuration.profile == profile;
    let like = |configuration: &&&Configuration| configuration.id.variant == wanted.variant;
    match same.as_slice() {
        [only] => Some(only),
        several => several.iter().find(exact).or_else(|| several.iter().find(like)).copied(),
    }
}

fn system_facts(
    runs: &[SummarisedRun<'_>],
    configuration: &Configuration,
    rate: Option<f64>,
    context: &GatherContext,
) -> SystemFacts {
    let id = &configuration.id;
    let in_part = |part: Part| {
        let run = runs.iter().find(|run| run.part == part)?;
        Some((run, counterpart(run, id, configuration.profile)?))
    };
    let all = |parts: &[Part]| parts.iter().filter_map(|part| in_part(*part)).collect::<Vec<_>>();
    let loaded_in = all(&[Part::Serving, Part::Capacity, Part::Questions]);
    let documents = loaded_in.iter().find_map(|(run, configuration)| loads::load(run, configuration));
    let round_trip = loads::combined_round_trip(&loaded_in);
    let served_in = all(&[Part::Serving, Part::Capacity]);
    let capacity = served_in.iter().find_map(|(run, configuration)| serving::capacity(run, configuration));
    let mut rates = in_part(Part::Serving)
        .map_or_else(Vec::new, |(run, configuration)| serving::rates(run, configuration));
    let counting = rates.iter().position(|facts| Some(facts.offered) == rate);
    let sized_in = all(&[Part::Serving, Part::Capacity, Part::Questions, Part::Half, Part::Quarter]);
    let served = served_in.first().map(|(_, configuration)| *configuration).unwrap_or(configuration);
    let mut facts = SystemFacts {
        id: id.clone(),
        profile: configuration.profile,
        title: configuration.title.clone(),
        name: String::new(),
        short_name: String::new(),
        is_server: !configuration.embedded,
        end_of_life: configuration.end_of_life,
        documents,
        round_trip,
        capacity,
        at_rate: counting.map(|index| rates.remove(index)),
        other_rates: rates,
        reports: reports::reports(in_part(Part::Questions), in_part(Part::Serving), rate),
        sizes: loads::sizes(&sized_in),
        durability: losses::durability(Some(served), in_part(Part::Durability)),
        untested: BTreeMap::new(),
        faults: all(&Part::ALL).into_iter().filter_map(fault).collect(),
    };
    facts.untested = untested(&facts, runs, context);
    facts
}

/// Wrong answers and crashes of a system in a run. `None` if it had neither.
fn fault((run, configuration): Participation<'_>) -> Option<PartFault> {
    let is_fault = |failure: &&FailureSummary| {
        let is_grave = matches!(failure.kind, FailureKind::Wrong | FailureKind::Crash);
        // What a mix does is recorded for each of its operations, too.
        is_grave && configuration.contains_cell(&failure.cell) && !failure.cell.is_single_operation()
    };
    let found: Vec<&FailureSummary> = run.summary.failures.iter().filter(is_fault).collect();
    // What was not done because of an earlier failure is no further one.
    let own = found.iter().filter(|failure| failure.cause_key.is_none());
    let first = own.clone().next().or(found.first())?;
    let (kind, error) = (first.kind, shortened(&first.error));
    Some(PartFault { part: run.part, kind, trials: own.count().max(1), error })
}

/// The middle one of all rates that were tried, the lower one of two.
fn middle_rate(runs: &[SummarisedRun<'_>]) -> Option<f64> {
    let run = runs.iter().find(|run| run.part == Part::Serving)?;
    let mut rates: Vec<f64> = run.summary.results.iter().filter_map(serving::rate_of).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates.get(rates.len().checked_sub(1)? / 2).copied()
}

/// Why dimensions of a system have no figure.
fn untested(
    facts: &SystemFacts,
    runs: &[SummarisedRun<'_>],
    context: &GatherContext,
) -> BTreeMap<Dimension, String> {
    let has_evidence = !facts.durability.evidence.is_empty();
    let missing = [
        (Dimension::Durability, Part::Durability, has_evidence),
        (Dimension::RoundTrip, Part::Serving, facts.round_trip.is_some()),
        (Dimension::Rejected, Part::Serving, facts.documents.is_some()),
        (Dimension::Rate, Part::Serving, facts.at_rate.is_some()),
        (Dimension::Response, Part::Serving, facts.at_rate.is_some()),
        (Dimension::Report, Part::Questions, !facts.reports.is_empty()),
        (Dimension::Size, Part::Serving, !facts.sizes.is_empty()),
    ];
    missing
        .into_iter()
        .filter(|(.., is_known)| !is_known)
        .map(|(dimension, part, _)| {
            let reason = reason(&facts.id.system, part, runs, context);
            (dimension, reason.unwrap_or_else(|| not_recorded(dimension).to_owned()))
        })
        .collect()
}

/// Words for a figure that a complete run with the system lacks.
fn not_recorded(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Durability => "it was not crashed",
        Dimension::RoundTrip => "its documents were not compared",
        Dimension::Rejected => "it has no load",
        Dimension::Rate | Dimension::Response => "no operations were sent at the rate",
        Dimension::Report => NOT_ASKED,
        Dimension::Size => "its size was not taken",
        Dimension::Kind => "its kind is not known",
    }
}

/// Words for questions that a system was not asked, for no reason that is known.
const NOT_ASKED: &str = "it was not asked";

/// Why a system has no figure of a part. `None` if it took part in a complete run.
fn reason(system: &str, part: Part, runs: &[SummarisedRun<'_>], context: &GatherContext) -> Option<String> {
    let left_out = |of_system: bool| {
        context.left_out.iter().find(|left_out| {
            left_out.part == part
                && match &left_out.system {
                    Some(name) => of_system && name == system,
                    None => !of_system,
                }
        })
    };
    if let Some(left_out) = left_out(true).or_else(|| left_out(false)) {
        return Some(left_out.reason.clone());
    }
    let Some(run) = runs.iter().find(|run| run.part == part) else {
        return Some(format!("{} was not run", part.folder()));
    };
    let takes_part = run.run.manifest.configurations.iter().any(|other| other.id.system == system);
    if !takes_part {
        return Some(format!("it takes no part in {}", part.folder()));
    }
    (!run.summary.complete).then(|| format!("{} did not run to its end", part.folder()))
}

/// Says of each question why a system was not asked it, if others were.
fn complete_reports(systems: &mut [SystemFacts], context: &GatherContext, runs: &[SummarisedRun<'_>]) {
    let all: Vec<Vec<ReportFacts>> = systems.iter().map(|system| system.reports.clone()).collect();
    for system in systems {
        let asked_beside = all.iter().flatten().any(|report| report.under_load.is_some());
        let part = if asked_beside { Part::Serving } else { Part::Questions };
        let reason = reason(&system.id.system, part, runs, context);
        reports::complete(&all, &mut system.reports, reason.as_deref().unwrap_or(NOT_ASKED));
    }
}

/// Gives each system a name that no other one has.
fn name_systems(systems: &mut [SystemFacts]) {
    type NameOf = fn(&SystemFacts) -> String;
    let names: [NameOf; 4] = [
        |facts| format!("{} {}", facts.title, facts.id.version),
        |facts| format!("{} {} {}", facts.title, facts.id.version, facts.id.variant),
        |facts| format!("{} {} {} {}", facts.title, facts.id.version, facts.id.variant, facts.id.storage),
        |facts| {
            let profile = facts.profile.map_or("", MemoryProfile::word);
            format!(
                "{} {} {} {} {profile}",
                facts.title, facts.id.version, facts.id.variant, facts.id.storage
            )
        },
    ];
    let is_unique = |systems: &[SystemFacts], index: usize, name: NameOf| {
        let own = name(&systems[index]);
        systems.iter().enumerate().all(|(other, facts)| other == index || name(facts) != own)
    };
    let longest = names[3];
    let chosen: Vec<(String, String)> = (0..systems.len())
        .map(|index| {
            let name = names.into_iter().find(|name| is_unique(systems, index, *name)).unwrap_or(longest);
            let long = name(&systems[index]).trim_end().to_owned();
            let short = match is_unique(systems, index, |facts| facts.title.clone()) {
                true => systems[index].title.clone(),
                false => long.clone(),
            };
            (long, short)
        })
        .collect();
    for (system, (name, short_name)) in systems.iter_mut().zip(chosen) {
        system.name = name;
        system.short_name = short_name;
    }
}
