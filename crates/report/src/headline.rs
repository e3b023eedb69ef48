//! Broken durability promises, which a run shows first on the terminal and on its page.

use jsonathlon_results::promise::{BrokenPromise, Conditions};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::durability::DurabilityEvidence;
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::severity::Severity;
use serde::Serialize;

use crate::format;
use crate::section::{Section, printable};

/// A sentence for the reader, with its severity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Sentence {
    /// How strongly the sentence is marked.
    severity: Severity,
    /// The sentence as plain text.
    text: String,
}

/// Sentences about promises that this run or other durability runs broke; empty if there are none. A promise of
/// this run is followed by a remark whether disk or machine were busy, which excuses nothing.
pub(crate) fn sentences(run: &Run, summary: &Summary) -> Vec<Sentence> {
    let failed = |text| Sentence { severity: Severity::Failed, text };
    let from_this_run = summary.broken_promises.iter().flat_map(|promise| {
        let text = describe_promise(promise, &promise_name(run, &promise.id));
        [failed(text), Sentence { severity: Severity::Good, text: conditions(promise) }]
    });
    let from_other_runs =
        run.manifest.configurations.iter().flat_map(|of| describe_earlier(run, of)).map(failed);
    from_this_run.chain(from_other_runs).collect()
}

/// Sentences about a configuration whose durability tier broke its promise in other durability runs.
fn describe_earlier(run: &Run, configuration: &Configuration) -> Vec<String> {
    let Some(tier) = &configuration.durability else { return Vec::new() };
    let broken = tier.tested.iter().filter(|evidence| !evidence.severity().is_good());
    let name = promise_name(run, &configuration.id);
    let describe = |evidence: &DurabilityEvidence| {
        let DurabilityEvidence { kind, crashes, as_promised, date, .. } = evidence;
        let (broken, kind) = (crashes.saturating_sub(*as_promised), kind.noun(*crashes));
        printable(&format!(
            "✖ {name}, {} tier: promise broken in {broken} of {crashes} {kind}, {date}",
            tier.tier
        ))
    };
    broken.map(describe).collect()
}

/// Name of a configuration with its version, and with its variant if another one has the same name and version.
fn promise_name(run: &Run, id: &ConfigurationId) -> String {
    let configurations = &run.manifest.configurations;
    let own = configurations.iter().find(|configuration| configuration.id == *id);
    let title = own.map_or(id.system.as_str(), |own| own.title.as_str());
    let is_namesake = |other: &&Configuration| {
        other.id.system == id.system && other.id.version == id.version && other.id.variant != id.variant
    };
    match configurations.iter().find(is_namesake) {
        Some(_) => format!("{title} {} {}", id.version, id.variant),
        None => format!("{title} {}", id.version),
    }
}

/// Section with these sentences; `None` if no promise was broken.
pub(crate) fn section(run: &Run, summary: &Summary) -> Option<Section> {
    let sentences = sentences(run, summary);
    let title = match sentences.iter().filter(|sentence| sentence.severity == Severity::Failed).count() {
        0 => return None,
        1 => "DURABILITY PROMISE BROKEN",
        _ => "DURABILITY PROMISES BROKEN",
    };
    let mut section = Section { title: title.to_owned(), ..Section::default() };
    section.notes.extend(sentences.into_iter().map(|sentence| (sentence.severity, sentence.text)));
    Some(section)
}

/// What a configuration lost, and in how many crashes that broke its promise.
fn describe_promise(promise: &BrokenPromise, name: &str) -> String {
    let BrokenPromise { tier, kind, crashes, crashes_as_promised, acknowledged_writes, lost_writes, .. } =
        promise;
    let mut findings = Vec::new();
    if *lost_writes > 0 {
        findings.push(format!(
            "{} of {} acknowledged writes lost",
            format::integer(*lost_writes as f64),
            format::integer(*acknowledged_writes as f64)
        ));
    }
    if promise.torn_documents > 0 {
        findings.push(format!("{} documents torn", format::integer(promise.torn_documents as f64)));
    }
    let age = promise.oldest_loss_s.filter(|age| *age > 0.0);
    findings.extend(age.map(|age| match promise.allowed_loss_s {
        Some(allowed) => {
            format!("the oldest {} old where {} are allowed", format::seconds(age), format::seconds(allowed))
        }
        None => format!("the oldest {} old", format::seconds(age)),
    }));
    if findings.is_empty() {
        findings.push("it did not start again, or could not be read".to_owned());
    }
    let may_lose = match (&promise.may_lose, promise.allowed_loss_s) {
        (Some(loss), None) => format!(" (it may lose {})", printable(loss)),
        _ => String::new(),
    };
    let broken = crashes.saturating_sub(*crashes_as_promised);
    let crashes = if *crashes == 1 { "1 crash".to_owned() } else { format!("{crashes} crashes") };
    format!(
        "✖ {}, {tier} tier, {}: promise broken in {broken} of {crashes}, {}{may_lose}",
        printable(name),
        kind.event(),
        findings.join(", "),
    )
}

/// Text on whether the disk or the machine stalled. A loss window is promised only for a healthy disk and
/// machine.
fn conditions(promise: &BrokenPromise) -> String {
    let describe_stall = |part: &str, stall: Option<f64>| match stall {
        Some(0.0) => format!("{part} never stood still"),
        Some(seconds) => format!("{part} stood still for at most {}", format::seconds(seconds)),
        None => format!("stalls of {part} are not known"),
    };
    let disk = describe_stall("the disk", promise.disk_stall_s);
    let machine = describe_stall("the machine", promise.machine_stall_s);
    match promise.conditions() {
        Conditions::NotRecorded => "It was not recorded whether disk or machine was busy.".to_owned(),
        Conditions::Quiet => format!("Neither disk nor machine was busy: {disk}, {machine}."),
        Conditions::Busy { disk: is_disk_busy, machine: is_machine_busy } => {
            let busy = match (is_disk_busy, is_machine_busy) {
                (true, true) => "Disk and machine were busy",
                (true, false) => "The disk was busy",
                _ => "The machine was busy",
            };
            format!("{busy}: {disk}, {machine}. The tier's promise supposes that both do their work.")
        }
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::durability::{CrashKind, DurabilityTier};

    use super::*;

    fn broken_promise() -> BrokenPromise {
        BrokenPromise {
            id: ConfigurationId::new("mongodb", "6.0.5", "id", "default"),
            tier: DurabilityTier::Window,
            kind: CrashKind::Power,
            may_lose: Some("up to 100 ms".into()),
            allowed_loss_s: Some(0.1),
            crashes: 3,
            crashes_as_promised: 1,
            acknowledged_writes: 14_718,
            lost_writes: 11_872,
            torn_documents: 0,
            oldest_loss_s: Some(1.15),
            disk_stall_s: Some(1.02),
            machine_stall_s: Some(0.004),
        }
    }

    #[test]
    fn a_broken_window_is_told_with_what_it_allows_and_whether_disk_or_machine_was_busy() {
        let verdict = "✖ MongoDB 6.0.5, window tier, power loss: promise broken in 2 of 3 crashes, 11,872 of 14,718 \
                    acknowledged writes lost, the oldest 1.15 s old where 100 ms are allowed";
        assert_eq!(describe_promise(&broken_promise(), "MongoDB 6.0.5"), verdict);
        let supposed = "The tier's promise supposes that both do their work.";
        for (disk_stall_s, machine_stall_s, remark) in [
            (
                Some(1.02),
                Some(0.004),
                format!(
                    "The disk was busy: the disk stood still for at most 1.02 s, the machine stood still for at most 4.00 ms. {supposed}"
                ),
            ),
            (
                Some(0.01),
                Some(0.004),
                "Neither disk nor machine was busy: the disk stood still for at most 10.0 ms, the machine stood still for at most \
                 4.00 ms."
                    .to_owned(),
            ),
            (
                None,
                Some(0.3),
                format!(
                    "The machine was busy: stalls of the disk are not known, the machine stood still for at most 300 ms. {supposed}"
                ),
            ),
            (
                Some(0.0),
                Some(0.004),
                "Neither disk nor machine was busy: the disk never stood still, the machine stood still for at most 4.00 ms."
                    .to_owned(),
            ),
            (None, None, "It was not recorded whether disk or machine was busy.".to_owned()),
        ] {
            let promise = BrokenPromise { disk_stall_s, machine_stall_s, ..broken_promise() };
            assert_eq!(conditions(&promise), remark);
        }
    }

    #[test]
    fn what_did_not_come_up_again_is_told_too() {
        let unreadable =
            BrokenPromise { lost_writes: 0, oldest_loss_s: None, allowed_loss_s: None, ..broken_promise() };
        let sentence = describe_promise(&unreadable, "MongoDB 6.0.5");
        assert!(
            sentence.contains("it did not start again, or could not be read (it may lose up to 100 ms)"),
            "{sentence}"
        );
    }
}
