//! Shows progress on standard error: bars on a terminal, plain lines elsewhere.

use std::{
    collections::HashSet,
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use jsonathlon_artifacts::{InstallProgress, InstallStep};
use jsonathlon_report::format;
use jsonathlon_schema::{
    id::Step,
    metric::DOCUMENTS_LOADED,
    record::{Cell, Verdict},
};
use jsonathlon_workloads::expected_time::rough_duration;
use jsonathlon_workloads::observer::{Activity, Observer, RunEvent};

/// Minimum pause between the last line and the next plain progress line, where there is no terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Name of the cell parameter that holds the index which a cell is about.
const INDEX_PARAMETER: &str = "index";

/// Observer of a run that prints its events on standard error, as a bar or as plain lines.
pub(crate) struct RunProgress {
    terminal: bool,
    started: Instant,
    /// Bar or spinner of the current stretch of work; hidden unless standard error is a terminal.
    bar: ProgressBar,
    activity: String,
    /// Number of units that the current work has completed, if their total is unknown; otherwise empty.
    count: String,
    trials: (u64, u64),
    /// Whether any work other than waiting and staging has begun; loads count.
    has_begun_trials: bool,
    /// Expected end of the trials and of everything between them ([`RunEvent::RemainingTime`]), and whether
    /// they may end earlier. `None` before the first such event.
    expected_end: Option<(Instant, bool)>,
    last_line: Instant,
    /// Lines about cells that are not applicable, as far as they were printed. Each is printed once.
    printed_gaps: HashSet<String>,
}

impl RunProgress {
    pub(crate) fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(
            None,
            if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() },
        );
        bar.set_style(spinner());
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        let now = Instant::now();
        Self {
            terminal,
            started: now,
            bar,
            activity: String::new(),
            count: String::new(),
            trials: (0, 0),
            has_begun_trials: false,
            expected_end: None,
            last_line: now,
            printed_gaps: HashSet::new(),
        }
    }

    /// Removes the bar from the terminal when the run has ended.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&mut self, text: &str) {
        self.last_line = Instant::now();
        if self.terminal {
            self.bar.suspend(|| crate::say!("{text}"));
        } else {
            crate::say!("[{:>5.1} s] {text}", self.started.elapsed().as_secs_f64());
        }
    }

    fn begin(&mut self, activity: Activity, description: &str) {
        self.has_begun_trials |= matches!(activity, Activity::Loading | Activity::TargetTurn);
        description.clone_into(&mut self.activity);
        self.count.clear();
        self.bar.set_style(spinner());
        self.bar.set_message(self.message());
        // Turns are frequent: without a terminal they get a line per `PLAIN_INTERVAL` instead of one each.
        if activity != Activity::TargetTurn && !self.terminal {
            self.line(description);
        }
    }

    fn message(&self) -> String {
        let mut text = self.activity.clone();
        if !self.count.is_empty() {
            text.push_str(&format!(": {}", self.count));
        }
        if self.has_begun_trials {
            let (done, planned) = self.trials;
            // A run with a time budget may execute more trials than planned.
            let trials =
                if done >= planned { format!("all {planned}") } else { format!("{done} of {planned}") };
            text.push_str(&format!(" ({trials} planned trials{})", self.time_left()));
        }
        text
    }

    /// Time until the expected end as `, about 3 min left`. Empty if it is unknown, or the run takes longer
    /// than expected.
    fn time_left(&self) -> String {
        let Some((end, is_maximum)) = self.expected_end else { return String::new() };
        let Some(left) = end.checked_duration_since(Instant::now()) else { return String::new() };
        let qualifier = if is_maximum { "at most" } else { "about" };
        format!(", {qualifier} {} left", rough_duration(left.as_secs_f64()))
    }

    fn progress(&mut self, done: u64, total: Option<u64>, unit: &str) {
        let number = |count: u64| format::integer(count as f64);
        let count = match total {
            Some(total) => {
                self.count.clear();
                self.bar.set_style(bar(unit));
                self.bar.set_length(total);
                self.bar.set_position(done);
                format!("{} of {} {unit}", number(done), number(total))
            }
            None => {
                self.count = format!("{} {unit}", number(done));
                self.count.clone()
            }
        };
        self.bar.set_message(self.message());
        if !self.terminal && self.last_line.elapsed() >= PLAIN_INTERVAL {
            let left = if self.has_begun_trials { self.time_left() } else { String::new() };
            let text = format!("{}: {count}{left}", self.activity);
            self.line(&text);
        }
    }
}

/// System, version and variant of a cell for display. The version is needed because several versions of a
/// system may run side by side.
fn configuration(cell: &Cell) -> String {
    format!("{} {} {}", cell.id.system, cell.id.version, cell.id.variant)
}

impl Observer for RunProgress {
    fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Began { activity, description } => self.begin(*activity, description),
            RunEvent::Progress { done, total, unit } => self.progress(*done, *total, unit),
            RunEvent::Trials { done, planned } => {
                self.trials = (*done, *planned);
                self.bar.set_message(self.message());
                if !self.terminal && self.last_line.elapsed() >= PLAIN_INTERVAL {
                    let text = self.message();
                    self.line(&text);
                }
            }
            RunEvent::Trial(trial) => {
                let cell = &trial.cell;
                let name = format!("{} {}", configuration(cell), cell.step);
                if let (Some(failure), Verdict::NotApplicable) = (&trial.failure, trial.verdict) {
                    // A hundred cells may share the reason: it is printed once, but separately for each
                    // index.
                    let index = cell.parameters.get(INDEX_PARAMETER).and_then(|name| name.as_str());
                    let with_index = index.map(|name| format!(" with index {name}")).unwrap_or_default();
                    let text = format!("{name}{with_index}: not applicable: {}", one_line(&failure.error));
                    if self.printed_gaps.insert(text.clone()) {
                        self.line(&text);
                    }
                } else if let Some(failure) = &trial.failure {
                    self.line(&format!("{name}: {}: {}", failure.kind.word(), one_line(&failure.error)));
                } else if cell.step == Step::Load {
                    let seconds = trial.seconds.map(format::seconds).unwrap_or_default();
                    let loaded = DOCUMENTS_LOADED.value(trial).unwrap_or(0.0);
                    let partial = if trial.verdict == Verdict::Partial { ", not all of them" } else { "" };
                    self.line(&format!(
                        "{}: {} documents loaded in {seconds}{partial}",
                        configuration(cell),
                        format::integer(loaded)
                    ));
                }
            }
            RunEvent::Rejects(rejects) => {
                let count: u64 = rejects.reasons.values().map(|reason| reason.documents).sum();
                self.line(&format!("{}: {count} documents rejected", configuration(&rejects.cell)));
            }
            RunEvent::Plan(plan) if !plan.violations.is_empty() => {
                let name = configuration(&plan.cell);
                self.line(&format!("{name} {}: {}", plan.cell.step, plan.violations.join("; ")));
            }
            RunEvent::Schedule(text) => self.line(text),
            RunEvent::RemainingTime { seconds, is_maximum } => {
                let left = Duration::try_from_secs_f64(*seconds).ok();
                let end = left.and_then(|left| Instant::now().checked_add(left));
                self.expected_end = end.map(|end| (end, *is_maximum));
            }
            RunEvent::Plan(_) | RunEvent::Structure(_) => {}
            RunEvent::Note(text) => self.line(&format!("note: {}", one_line(text))),
            RunEvent::Warning(text) => self.line(&format!("warning: {}", one_line(text))),
        }
    }
}

/// Progress of one installation: a bar on a terminal, otherwise a line per step.
pub(crate) struct InstallBar {
    bar: ProgressBar,
    terminal: bool,
    name: String,
    step: Option<InstallStep>,
}

impl InstallBar {
    pub(crate) fn new(name: String) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(bar_of_bytes());
        Self { bar, terminal, name, step: None }
    }

    pub(crate) fn show(&mut self, progress: InstallProgress) {
        let action = match progress.step {
            InstallStep::Waiting => "waiting for another process that installs",
            InstallStep::Downloading => "downloading",
            InstallStep::Verifying => "verifying",
            InstallStep::Building => "building",
            InstallStep::Unpacking => "unpacking",
        };
        if self.step != Some(progress.step) {
            self.step = Some(progress.step);
            self.bar.reset_eta();
            self.bar.set_style(match (progress.step, progress.total) {
                (InstallStep::Building, _) => bar("packages"),
                (_, 0) => spinner(),
                _ => bar_of_bytes(),
            });
            if !self.terminal {
                let size = match (progress.step, progress.total) {
                    (_, 0) => String::new(),
                    (InstallStep::Building, packages) => format!(" ({packages} packages, minutes)"),
                    (_, bytes) => format!(" ({})", format::bytes(bytes as f64)),
                };
                crate::say!("{}: {action}{size}", self.name);
            }
        }
        self.bar.set_message(format!("{}: {action}", self.name));
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Spinner of `systems check` on a terminal. Elsewhere nothing is shown, because the result line says enough.
pub(crate) struct CheckBar {
    bar: ProgressBar,
    name: String,
}

impl CheckBar {
    pub(crate) fn new(name: String) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(spinner());
        if terminal {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar, name }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for CheckBar {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let RunEvent::Began { description, .. } = event {
            self.bar.set_message(format!("{}: {description}", self.name));
        }
    }
}

fn spinner() -> ProgressStyle {
    // The templates are constants; the library's default style is the fallback for one that does not parse.
    ProgressStyle::with_template("{spinner} [{elapsed_precise}] {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn bar(unit: &str) -> ProgressStyle {
    let rate = if unit == "s" { "" } else { " ({per_sec})" };
    let template = format!(
        "{{spinner}} [{{elapsed_precise}}] {{msg}} [{{bar:24}}] {{human_pos}} of {{human_len}} {unit}{rate}"
    );
    ProgressStyle::with_template(&template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

fn bar_of_bytes() -> ProgressStyle {
    ProgressStyle::with_template(
        "[{elapsed_precise}] {msg} [{bar:24}] {decimal_bytes} of {decimal_total_bytes} ({decimal_bytes_per_sec}), \
         {eta_precise} left",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar())
    .progress_chars("=> ")
}

fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
