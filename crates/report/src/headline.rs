//! Broken durability promises, which a run shows first on the terminal and on its page.

use jsonathlon_results::promise::{BrokenPromise, Conditions};
use jsonathlon_results::summary::{Run, Summary};
use jsonathlon_schema::durability::DurabilityEvidence;
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

/// Sentences about promises that this run or other durability runs broke; empty if there are none.
pub(crate) fn sentences(run: &Run, summary: &Summary) -> Vec<Sentence> {
    let from_this_run = summary.broken_promises.iter().map(describe_promise);
    let from_other_runs = run.manifest.configurations.iter().flat_map(describe_earlier);
    let sentence = |text| Sentence { severity: Severity::Failed, text };
    from_this_run.chain(from_other_runs).map(sentence).collect()
}

/// Sentences about a configuration whose durability tier broke its promise in other durability runs.
fn describe_earlier(configuration: &Configuration) -> Vec<String> {
    let Some(tier) = &configuration.durability else { return Vec::new() };
    let broken = tier.tested.iter().filter(|evidence| !evidence.severity().is_good());
    let describe = |evidence: &DurabilityEvidence| {
        let Configuration { title, id, .. } = configuration;
        printable(&format!("✖ {title} {} {}, {}: {evidence}", id.version, id.variant, tier.tier))
    };
    broken.map(describe).collect()
}

/// Section with these sentences; `None` if no promise was broken.
pub(crate) fn section(run: &Run, summary: &Summary) -> Option<Section> {
    let sentences = sentences(run, summary);
    if sentences.is_empty() {
        return None;
    }
    let mut section = Section { title: "DURABILITY PROMISES BROKEN".to_owned(), ..Section::default() };
    section.notes.extend(sentences.into_iter().map(|sentence| (sentence.severity, sentence.text)));
    Some(section)
}

fn describe_promise(promise: &BrokenPromise) -> String {
    let BrokenPromise {
        id, tier, kind, crashes, crashes_as_promised, acknowledged_writes, lost_writes, ..
    } = promise;
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
    let configuration = printable(&format!("{} {} {}, {tier}", id.system, id.version, id.variant));
    format!(
        "✖ {configuration}, {}: {}{may_lose}; as promised after {crashes_as_promised} of {crashes} crashes; {}",
        kind.event(),
        findings.join(", "),
        conditions(promise)
    )
}

/// Text on whether the disk or the machine stalled. A loss window is promised only for a healthy disk and
/// machine.
fn conditions(promise: &BrokenPromise) -> String {
    let describe_stall = |part: &str, stall: Option<f64>| match stall {
        Some(seconds) => format!("{part} stood still for {} at most", format::seconds(seconds)),
        None => format!("of {part} it is not known"),
    };
    let disk = describe_stall("the disk", promise.disk_stall_s);
    let machine = describe_stall("the machine", promise.machine_stall_s);
    match promise.conditions() {
        Conditions::NotRecorded => "whether disk or machine was busy was not recorded".to_owned(),
        Conditions::Quiet => format!("neither disk nor machine was busy ({disk}, {machine})"),
        Conditions::Busy { disk: is_disk_busy, machine: is_machine_busy } => {
            let busy = match (is_disk_busy, is_machine_busy) {
                (true, true) => "disk and machine were busy",
                (true, false) => "the disk was busy",
                _ => "the machine was busy",
            };
            format!("{busy} ({disk}, {machine}): a tier promises for healthy ones")
        }
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_schema::durability::{CrashKind, DurabilityTier};
    use jsonathlon_schema::id::ConfigurationId;

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
        let prefix = "✖ mongodb 6.0.5 id, window, power loss: 11,872 of 14,718 acknowledged writes lost, the oldest 1.15 s old where \
                    100 ms are allowed; as promised after 1 of 3 crashes; ";
        for (stalls, conditions) in [
            (
                (Some(1.02), Some(0.004)),
                "the disk was busy (the disk stood still for 1.02 s at most, the machine stood still for 4.00 ms at most): a tier \
                 promises for healthy ones",
            ),
            (
                (Some(0.01), Some(0.004)),
                "neither disk nor machine was busy (the disk stood still for 10.0 ms at most, the machine stood still for 4.00 ms at \
                 most)",
            ),
            (
                (None, Some(0.3)),
                "the machine was busy (of the disk it is not known, the machine stood still for 300 ms at most): a tier promises for \
                 healthy ones",
            ),
            ((None, None), "whether disk or machine was busy was not recorded"),
        ] {
            let (disk_stall_s, machine_stall_s) = stalls;
            let promise = BrokenPromise { disk_stall_s, machine_stall_s, ..broken_promise() };
            let sentence = describe_promise(&promise);
            assert_eq!(sentence, format!("{prefix}{conditions}"));
        }
    }

    #[test]
    fn what_did_not_come_up_again_is_told_too() {
        let unreadable =
            BrokenPromise { lost_writes: 0, oldest_loss_s: None, allowed_loss_s: None, ..broken_promise() };
        let sentence = describe_promise(&unreadable);
        assert!(
            sentence.contains("it did not start again, or could not be read (it may lose up to 100 ms)"),
            "{sentence}"
        );
    }
}
