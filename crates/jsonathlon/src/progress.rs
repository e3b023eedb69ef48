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
use jsonathlon_workloads::observer::{Activity, Observer, RunEvent};

/// Minimum pause between the last line and the next plain progress line, where there is no terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(10);

/// Number of trials after which an estimate of the remaining time is shown, unless [`MIN_ELAPSED`] passes
/// first.
const MIN_TRIALS: u64 = 10;
const MIN_ELAPSED: Duration = Duration::from_secs(20);

/// Name of the cell parameter that holds the index which a cell is about.
const INDEX_PARAMETER: &str = "index";

/// Observer of a run that prints its events on standard error, as a bar or as plain lines.
pub(crate) struct RunProgress {
    terminal: bool,
    started: Instant,
    /// Bar or spinner of the current stretch of work; hidden unless standard error is a terminal.
    bar: ProgressBar,
    activity: String,
    trials: (u64, u64),
    /// Start of the first work other than staging (loads count), and the number of trials recorded by then.
    /// The base of the first estimate; `None` before that work.
    trials_since: Option<(Instant, u64)>,
    /// Expected end of the rounds, extrapolated from the finished ones ([`RunEvent::RemainingTime`]). The base of
    /// every later estimate; `None` before the first such event.
    expected_end: Option<Instant>,
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
            trials: (0, 0),
            trials_since: None,
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
        if activity != Activity::Staging {
            self.trials_since.get_or_insert((Instant::now(), self.trials.0));
        }
        description.clone_into(&mut self.activity);
        self.bar.set_style(spinner());
        self.bar.set_message(self.message());
        // Turns are frequent: without a terminal they get a line per `PLAIN_INTERVAL` instead of one each.
        if activity != Activity::TargetTurn && !self.terminal {
            self.line(description);
        }
    }

    fn message(&self) -> String {
        let (done, planned) = self.trials;
        let mut text = self.activity.clone();
        if self.trials_since.is_some() {
            let remaining =
                self.time_left().map(|duration| format!(", about {} left", rough_duration(duration)));
            // A run with a time budget may execute more trials than planned.
            let trials =
                if done >= planned { format!("all {planned}") } else { format!("{done} of {planned}") };
            text.push_str(&format!(" ({trials} planned trials{})", remaining.unwrap_or_default()));
        }
        text
    }

    fn time_left(&self) -> Option<Duration> {
        if let Some(expected_end) = self.expected_end {
            return expected_end.checked_duration_since(Instant::now());
        }
        let (start, trials_before) = self.trials_since?;
        let (done, planned) = self.trials;
        let (elapsed, remaining) = (start.elapsed(), planned.saturating_sub(done));
        let new_trials = done.checked_sub(trials_before)?;
        if new_trials < MIN_TRIALS && elapsed < MIN_ELAPSED {
            return None;
        }
        (new_trials > 0 && remaining > 0).then(|| elapsed.mul_f64(remaining as f64 / new_trials as f64))
    }

    fn progress(&mut self, done: u64, total: Option<u64>, unit: &str) {
        self.bar.set_message(self.message());
        if let Some(total) = total {
            self.bar.set_style(bar(unit));
            self.bar.set_length(total);
            self.bar.set_position(done);
        }
        if !self.terminal && self.last_line.elapsed() >= PLAIN_INTERVAL {
            let positive = total.filter(|total| *total > 0);
            let share = positive.map(|total| format!(", {}", format::percent(done as f64 / total as f64)));
            let (count, share) = (format::count(done as f64), share.unwrap_or_default());
            let text = format!("{}: {count} {unit}{share}", self.activity);
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
            RunEvent::RemainingTime { seconds } => {
                self.expected_end = Instant::now().checked_add(Duration::from_secs_f64(seconds.max(0.0)));
            }
            RunEvent::Plan(_) | RunEvent::Structure(_) => {}
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
    ProgressStyle::with_template("{spinner} {msg} [{elapsed}]")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn bar(unit: &str) -> ProgressStyle {
    let counts = if unit == "bytes" {
        "{decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec}"
    } else {
        "{human_pos}/{human_len} {per_sec}"
    };
    let template = format!("{{spinner}} {{msg}} [{{bar:24}}] {counts} {unit}, {{eta}} left");
    ProgressStyle::with_template(&template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

fn bar_of_bytes() -> ProgressStyle {
    ProgressStyle::with_template(
        "{msg} [{bar:24}] {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec}, {eta} left",
    )
    .unwrap_or_else(|_| ProgressStyle::default_bar())
    .progress_chars("=> ")
}

fn rough_duration(duration: Duration) -> String {
    match duration.as_secs() {
        0..=99 => format!("{} s", duration.as_secs()),
        100..=5999 => format!("{} min", duration.as_secs().div_ceil(60)),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
