//! Notes on how to read the tables of a run.

use jsonathlon_results::answer::AnswerCaveat;
use jsonathlon_results::busy_machine::machine_was_busy;
use jsonathlon_results::summary::{CpuStealSummary, Run, Summary};
use jsonathlon_schema::id::ConfigurationId;
use jsonathlon_schema::manifest::Configuration;
use jsonathlon_schema::ranking::{MemoryProfile, PreparationClass};
use jsonathlon_schema::record::Phase;
use jsonathlon_schema::severity::Severity;
use jsonathlon_schema::transport::Transport;
use jsonathlon_schema::workload::{WorkloadKind, WorkloadName};

use crate::section::{Section, TOO_FEW_ROUNDS};
use crate::shown_text::{Explanation, ShownText};
use crate::{documents, durability, fidelity, format, mixed, questions, serving};

/// Notes that are needed to compare rows: transports, classes, memory, intervals. Beside compact tables those
/// are left out that explain nothing in them.
pub(crate) fn section(run: &Run, summary: &Summary, shown: &ShownText) -> Section {
    let mut section = Section { title: "how to read this".to_owned(), ..Section::default() };
    section.notes.extend(describe_transports(run, shown));
    section.notes.extend(end_of_life(run));
    section.notes.extend(outdated(run));
    section.notes.extend(classes(run));
    section.notes.extend(memory(run));
    section.notes.extend(idle_cores(run, summary));
    let has_measurements = summary.results.iter().any(|entry| entry.cell.phase == Phase::Measured);
    let has_findings =
        has_workload(summary, WorkloadKind::Fidelity) || has_workload(summary, WorkloadKind::Durability);
    let has_mixed_loads = has_workload(summary, WorkloadKind::Mixed);
    // Runs of serving, mixed loads, fidelity or durability alone need no notes about questions.
    let has_questions = !(has_measurements || has_mixed_loads || has_findings)
        || summary.results.iter().any(|entry| entry.cell.phase.planned() == Phase::Hot);
    if has_questions {
        section.notes.extend(explain_timing(shown));
    }
    if has_measurements {
        section.notes.extend(serving::reading_notes(shown));
    }
    if has_mixed_loads {
        section.notes.extend(mixed::reading_notes(shown));
    }
    if has_workload(summary, WorkloadKind::Documents) {
        section.notes.extend(documents::reading_notes(shown));
    }
    if has_workload(summary, WorkloadKind::Fidelity) {
        section.notes.extend(fidelity::reading_notes(shown));
    }
    if has_workload(summary, WorkloadKind::Durability) {
        section.notes.extend(durability::reading_notes(shown));
    }
    section.notes.extend(precision(summary));
    section.notes.extend(describe_steal(summary));
    section.notes.extend(busy_machine(run));
    let has_own_questions = has_workload(summary, WorkloadKind::Questions);
    if has_own_questions {
        section.notes.extend(questions::reading_notes(shown));
    }
    let prefix = match has_questions && !has_own_questions {
        true => "every answer was checked against the reference; ",
        false => "",
    };
    section.notes.push(format!("{prefix}results hold for this machine with {} cores", summary.machine.cores));
    section.notes.push(format!("run folder with all trials: {}", run.path));
    section
}

/// Returns `true` if anything of a workload was measured.
fn has_workload(summary: &Summary, kind: WorkloadKind) -> bool {
    summary.results.iter().any(|entry| entry.cell.workload == kind)
}

/// Titles of the configurations for which `pick` returns `true`. Equal titles in a row are listed once.
fn join_titles(run: &Run, pick: impl Fn(&Configuration) -> bool) -> String {
    let mut names: Vec<&str> = run
        .manifest
        .configurations
        .iter()
        .filter(|configuration| pick(configuration))
        .map(|configuration| configuration.title.as_str())
        .collect();
    names.dedup();
    names.join(", ")
}

/// Notes on which systems are embedded, and which are servers and how they are reached. Beside compact tables
/// there are none if that is the same for all.
fn describe_transports(run: &Run, shown: &ShownText) -> Vec<String> {
    let mut notes = Vec::new();
    let embedded = join_titles(run, |configuration| configuration.embedded);
    if !embedded.is_empty() {
        notes.push(format!("embedded, no network in their times: {embedded}"));
    }
    for transport in Transport::ALL {
        let description = match transport {
            Transport::Tcp => "servers, with TCP on the loopback interface in their times",
            Transport::Tls => "servers, with encrypted TCP on the loopback interface in their times",
            Transport::Unix => "servers, with a Unix socket in their times",
        };
        let servers = join_titles(run, |configuration| configuration.transport == Some(transport));
        if !servers.is_empty() {
            notes.push(format!("{description}: {servers}"));
        }
    }
    if notes.len() == 1 && !shown.is_everything() {
        notes.clear();
    }
    notes
}

/// Note on systems that have reached their end of life; `None` if there are none.
fn end_of_life(run: &Run) -> Option<String> {
    let ended = join_titles(run, |configuration| configuration.end_of_life);
    (!ended.is_empty()).then(|| format!("end of life, no longer supported by their vendors: {ended}"))
}

/// Notes on how questions are timed, and how intervals and ratios are computed.
fn explain_timing(shown: &ShownText) -> Vec<String> {
    const PHASES: [Explanation; 1] = [(
        &["hot", "cold"],
        "hot: repeated executions; cold: engine restarted, data files verified to be out of the page cache",
    )];
    const COMPARISONS: [Explanation; 3] = [
        (&["95 %", " … "], "intervals: 95 %, bootstrap over rounds"),
        (
            &["× of best"],
            "× of best: ratio of medians over shared rounds within a class; two systems differ only where its \
             interval excludes 1",
        ),
        (
            &[TOO_FEW_ROUNDS],
            "too few rounds: one, or some that differ by so much that the limits would be a hundredfold apart",
        ),
    ];
    let mut notes = shown.explain(&PHASES);
    let comparisons = shown.explain(&COMPARISONS).join("; ");
    if !comparisons.is_empty() {
        notes.push(comparisons);
    }
    notes
}

/// Note on processor time that the hypervisor took; `None` if it took little in every trial.
fn describe_steal(summary: &Summary) -> Option<String> {
    let CpuStealSummary { affected_trials, recorded_trials } = summary.cpu_steal;
    (affected_trials > 0).then(|| {
        let limit = format::percent(CpuStealSummary::THRESHOLD_SHARE);
        format!("CPU steal above {limit} in {affected_trials} of {recorded_trials} trials")
    })
}

/// Caveat on other processes that ran beside the trials. `None` if they did not disturb them, or if nothing was
/// timed.
fn busy_machine(run: &Run) -> Option<(Severity, String)> {
    let is_timed = |name: &WorkloadName| *name != WorkloadKind::Fidelity && *name != WorkloadKind::Durability;
    let is_disturbed = run.manifest.workloads.iter().any(is_timed) && machine_was_busy(run);
    is_disturbed.then(|| (Severity::Warning, AnswerCaveat::BusyMachine.text().to_owned()))
}

/// Note on versions that are not the newest, each with the day of its release; `None` if there are none.
fn outdated(run: &Run) -> Option<String> {
    let describe = |configuration: &Configuration| {
        let day = configuration.outdated.as_deref()?;
        Some(format!("{} {} of {day}", configuration.title, configuration.id.version))
    };
    let mut versions: Vec<String> = run.manifest.configurations.iter().filter_map(describe).collect();
    versions.dedup();
    (!versions.is_empty()).then(|| format!("not the newest: {}", versions.join(", ")))
}

/// Explanations of the preparation classes that occur in the run.
fn classes(run: &Run) -> Vec<String> {
    let occurs = |class: PreparationClass| {
        run.manifest
            .configurations
            .iter()
            .any(|configuration| !configuration.reference && configuration.preparation == class)
    };
    let descriptions = [
        (PreparationClass::AsIs, "as-is: no index, hint, sort key or column on any path"),
        (
            PreparationClass::Prepared,
            "prepared: an index, hints or a sort key on the questions' paths; questions name paths",
        ),
        (
            PreparationClass::Extracted,
            "extracted: the questions' paths are columns next to the document; questions name columns",
        ),
        (PreparationClass::UserDefined, "own: set up as the folder of questions says, all ranked together"),
    ];
    let occurring = descriptions.into_iter().filter(|(class, _)| occurs(*class));
    occurring.map(|(_, description)| format!("class {description}")).collect()
}

/// Notes on how the memory of systems was set.
fn memory(run: &Run) -> Vec<String> {
    let ranked = || run.manifest.configurations.iter().filter(|configuration| !configuration.reference);
    let mut notes = Vec::new();
    if let Some(bytes) = ranked().find_map(|configuration| configuration.memory_bytes) {
        notes.push(format!(
            "memory: every system may use {}, configured as its vendor advises, and logs of the same size (docs/fairness.md)",
            format::bytes(bytes as f64)
        ));
    }
    if ranked().any(|configuration| configuration.profile == Some(MemoryProfile::Stock)) {
        notes.push("stock: the memory settings of the package, ranked apart".to_owned());
    }
    notes
}

/// Note on systems whose unit of parallel work holds more documents than each core would get; `None` if there
/// are none.
fn idle_cores(run: &Run, summary: &Summary) -> Option<String> {
    let (documents, cores) = (summary.data.documents, summary.machine.cores as u64);
    let has_idle_cores = |configuration: &&Configuration| {
        configuration.parallel_unit.is_some_and(|unit| unit.saturating_mul(cores) > documents)
    };
    let mut names: Vec<String> = run
        .manifest
        .configurations
        .iter()
        .filter(has_idle_cores)
        .map(|configuration| {
            let unit = configuration.parallel_unit.unwrap_or(0);
            format!("{} ({})", configuration.title, format::integer(unit as f64))
        })
        .collect();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "too few documents for all cores, by documents in a unit of parallel work: {}",
            names.join(", ")
        )
    })
}

/// Notes on how many cells reached `--precision`, and which did not; empty without the option.
fn precision(summary: &Summary) -> Vec<String> {
    let Some(precision) = &summary.precision else { return Vec::new() };
    let share = format::percent(precision.share);
    let reached = precision.cells - precision.not_reached.len();
    let mut notes = vec![format!(
        "precision: {reached} of {} ranked cells are within ± {share} after {} rounds; intervals are wider than at one \
         look (error probability {:.4} at this one) so that looking several times raises no false alarms",
        precision.cells, precision.rounds, precision.alpha
    )];
    for cell in &precision.not_reached {
        let width = cell
            .share
            .map_or_else(|| TOO_FEW_ROUNDS.to_owned(), |share| format!("± {}", format::percent(share)));
        let phase = if cell.phase == Phase::Load { "" } else { cell.phase.phrase() };
        let ConfigurationId { system, version, variant, .. } = &cell.id;
        let label = [system, version, variant, cell.step.word(), phase].join(" ");
        notes.push(format!("  not within ± {share}: {}: {width}", label.trim_end()));
    }
    notes
}

#[cfg(test)]
mod tests {
    use jsonathlon_results::test_fixtures::{cell, configuration, record, run, trial};
    use jsonathlon_schema::metric::FOREIGN_TASKS;

    use super::*;

    /// Run of one trial, beside which this many tasks of other processes were runnable.
    fn run_beside(foreign_tasks: f64) -> Run {
        let configuration = configuration("a", "1");
        let mut trial = trial(cell(&configuration, "q1", Phase::Hot), 1, Some(1.0));
        trial.metrics.insert(FOREIGN_TASKS.name.to_owned(), foreign_tasks);
        run("beside", vec![configuration], vec![record(trial)])
    }

    #[test]
    fn other_processes_are_a_caveat_of_runs_that_measure_times() {
        let mut busy = run_beside(4.0);
        let caveat = (Severity::Warning, AnswerCaveat::BusyMachine.text().to_owned());
        assert_eq!(busy_machine(&busy), Some(caveat));
        assert_eq!(busy_machine(&run_beside(0.0)), None);
        busy.manifest.workloads = vec![WorkloadKind::Fidelity.into()];
        assert_eq!(busy_machine(&busy), None);
    }
}
