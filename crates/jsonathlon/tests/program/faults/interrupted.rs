//! Runs that are interrupted, resumed, and refused to be resumed.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::support::process::Running;
use crate::support::{Kept, Look, World, eventually, mock};

/// Time within which an interrupted run must end.
const SOON: Duration = Duration::from_secs(10);

/// Two systems with slow answers, so that a run can be interrupted midway.
fn leisurely() -> World {
    let script = json!({"delay_ms": {"load": 400, "q1": 20, "q4": 20}});
    World::with(&[mock("ma", script.clone()), mock("mb", script)])
}

fn start(world: &World) -> Running {
    world.start_measuring("out", "ma,mb", &["-n", "300", "-r", "2"])
}

/// Starts a run and interrupts it once it has this many records.
fn interrupted_after(world: &World, records: usize) -> Kept {
    let running = start(world);
    let kept = world.kept("out");
    eventually("there are records", || kept.recorded() >= records);
    running.signal(Signal::INT);
    running.end(SOON).expect(4).says(&["interrupted", "jsonathlon run --resume", &world.text("out")]);
    assert!(kept.recorded() >= records);
    world.nothing_left();
    kept
}

/// Resumes the run to its end and checks that earlier records are unchanged.
fn resumes_to_the_end(world: &World, kept: &Kept) {
    let before = kept.whole_lines();
    let summary = world.resume("out").expect(0).summary();
    assert!(summary.complete);
    summary.is_right("ma");
    summary.is_right("mb");
    kept.is_complete();
    assert!(kept.journal().starts_with(&before), "what was recorded before is not as it was");
    assert!(kept.work().is_empty());
}

#[test]
fn interrupted_while_loading() {
    let world = leisurely();
    let running = start(&world);
    eventually("the second load began", || running.stderr().contains("loading mb"));
    running.signal(Signal::INT);
    running.end(SOON).expect(4).says(&["finished trials are saved", "--resume"]);
    world.nothing_left();
    let kept = world.kept("out");
    let trials = kept.trials();
    assert!(
        trials.iter().all(|trial| trial.cell.id.system == "ma"),
        "the first system's part of the first round"
    );
    let done = |step: &str| trials.iter().any(|trial| trial.cell.step.word() == step);
    assert!(done("load") && done("size") && done("q6"));
    resumes_to_the_end(&world, &kept);
}

#[test]
fn interrupted_in_the_rounds_by_each_signal_that_asks_for_an_end() {
    let world = leisurely();
    // A resumed run starts with a record of its own, so it must record more than that each time.
    let kept = interrupted_after(&world, 12);
    for signal in [Signal::TERM, Signal::HUP] {
        let before = kept.whole_lines();
        let running = world.start_resuming("out");
        let recorded = kept.recorded();
        eventually("there are more records", || kept.recorded() >= recorded + 12);
        running.signal(signal);
        running.end(SOON).expect(4).says(&["--resume"]);
        assert!(kept.journal().starts_with(&before));
        world.nothing_left();
    }
    let tables = world.run(&["export", "--tables", "full", &world.text("out")]).expect(0).stdout;
    assert!(tables.contains("INCOMPLETE: ") && tables.contains("--resume"), "{tables}");
    resumes_to_the_end(&world, &kept);
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let world = World::with(&[mock("ma", json!({"delay_ms": {"q1": 60_000}}))]);
    let running = world.start_measuring("out", "ma", &["-n", "300", "-r", "1"]);
    let kept = world.kept("out");
    eventually("q1 is being asked", || kept.recorded() >= 3);
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    running.end(SOON).expect(4);
    world.nothing_left();
}

#[test]
fn interrupted_before_anything_was_measured() {
    let world = World::with(&[mock("ma", json!({}))]);
    // Standard input that never ends.
    let mut command = world.command(&["run", "--systems-dir", &world.text("systems"), "-s", "ma"]);
    command.args(["-o", &world.text("out"), "-d", "-"]).stdin(std::process::Stdio::piped());
    let running = Running::start(command, &world.path(""));
    eventually("documents are read", || running.stderr().contains("staging documents"));
    running.signal(Signal::INT);
    running.end(SOON).expect(4).says(&["no trial had finished; start the run again"]);
    world.run(&["run", "--resume", &world.text("out")]).expect(2).says(&["holds no run"]);
    // The folder can be used for the restarted run.
    world.measure("ma", &["-n", "300", "-r", "1"]).expect(0);
}

#[test]
fn a_folder_in_use_is_refused_and_its_run_does_not_notice() {
    let world = leisurely();
    let running = start(&world);
    eventually("the run is on its way", || world.kept("out").recorded() >= 2);
    let again = world.measure("ma", &["-n", "300", "-r", "1"]).expect(3);
    again.says(&["in use by another jsonathlon", "choose another --out"]);
    world.resume("out").expect(3).says(&["in use by another jsonathlon"]);
    let summary = running.end(crate::support::LIMIT).expect(0).summary();
    summary.is_right("ma");
    summary.is_right("mb");
    world.kept("out").is_complete();
}

#[test]
fn a_changed_system_is_not_continued() {
    let world = leisurely();
    let kept = interrupted_after(&world, 8);
    let before = kept.journal();
    mock("mb", json!({"delay_ms": {"q1": 1}})).write(&world.path("systems"));
    world.resume("out").expect(2).says(&["cannot resume: ", "mb plain is configured", "start a new run"]);
    assert_eq!(kept.journal(), before, "a refusal leaves the journal alone");
    // A changed statement counts like a changed setting.
    let world = leisurely();
    let kept = interrupted_after(&world, 8);
    std::fs::write(world.path("systems/ma/analytics/q3.sql"), "q3 differently;\n").unwrap();
    world.resume("out").expect(2).says(&["cannot resume: ", "ma plain is configured"]);
    std::fs::write(world.path("systems/ma/analytics/q3.sql"), "q3;\n").unwrap();
    resumes_to_the_end(&world, &kept);
}

#[test]
fn changed_documents_are_not_continued() {
    let world = leisurely();
    let data = world.events("events.ndjson", &["-n", "300"]);
    let good = std::fs::read(&data).unwrap();
    let running = world.start_measuring("out", "ma,mb", &["-d", &data, "-r", "1"]);
    let kept = world.kept("out");
    eventually("there are records", || kept.recorded() >= 8);
    running.signal(Signal::INT);
    running.end(SOON).expect(4);
    let before = kept.journal();
    let mut changed = good.clone();
    let place = changed.iter().position(|byte| byte.is_ascii_digit()).unwrap();
    changed[place] = if changed[place] == b'7' { b'8' } else { b'7' };
    std::fs::write(&data, &changed).unwrap();
    world.resume("out").expect(2).says(&["cannot resume: the documents are not those of the run", "blake3:"]);
    std::fs::remove_file(&data).unwrap();
    world.resume("out").expect(2).says(&["events.ndjson: no such file"]);
    assert_eq!(kept.journal(), before, "a refusal leaves the journal alone");
    std::fs::write(&data, good).unwrap();
    resumes_to_the_end(&world, &kept);
}

#[test]
fn a_torn_last_line_is_dropped_and_rubbish_in_the_middle_is_not() {
    let world = leisurely();
    let kept = interrupted_after(&world, 8);
    let whole = kept.journal();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // The last record is cut in half, as by a crash of the machine; its trial is repeated.
    let torn = &whole[..last + (whole.len() - last) / 2];
    std::fs::write(kept.path("journal.ndjson"), torn).unwrap();
    resumes_to_the_end(&world, &kept);
    assert!(kept.journal().starts_with(&whole[..last]));

    let mut text = kept.journal();
    text[10..20].copy_from_slice(b"##########");
    std::fs::write(kept.path("journal.ndjson"), &text).unwrap();
    world.resume("out").expect(2).says(&["journal.ndjson at line 1"]);
    world.run(&["export", &world.text("out")]).expect(2).says(&["journal.ndjson at line 1"]);
}

#[test]
fn a_run_of_another_version_is_refused_in_one_sentence() {
    let world = leisurely();
    let kept = interrupted_after(&world, 8);
    let out = world.text("out");
    for (format, words) in [
        (1, ["was made by version 0.1, whose format 1 this version", "run the benchmark again"]),
        (3, ["was made by a newer version, whose format 3 this version", "use a newer jsonathlon"]),
    ] {
        kept.edit_manifest(|manifest| manifest["schema"] = format.into());
        let commands: [&[&str]; 5] = [
            &["export", &out],
            &["report", &out],
            &["compare", &out, &out],
            &["compare", "--save-baseline", "main", &out],
            &["check", "growth", &out, &out],
        ];
        world.resume("out").expect(2).says(&words);
        for command in commands {
            let refused = world.run(command).expect(2).says(&words);
            assert_eq!(refused.stderr.trim_end().lines().count(), 1, "{}", refused.stderr);
        }
    }
    kept.edit_manifest(|manifest| manifest["schema"] = 2.into());
    resumes_to_the_end(&world, &kept);
}

#[test]
fn a_run_of_an_unknown_workload_is_shown_and_not_resumed() {
    let world = World::with(&[mock("ma", json!({}))]);
    world.measure("ma", &["-n", "300", "-r", "1"]).expect(0);
    world.kept("out").edit_manifest(|manifest| manifest["workloads"] = json!(["fetch"]));
    world.resume("out").expect(2).says(&["no workload `fetch`", "the version that began it"]);
    world.run(&["export", &world.text("out")]).expect(0);
}

#[test]
fn a_finished_run_is_continued_by_doing_nothing() {
    let world = World::with(&[mock("ma", json!({}))]);
    let first = world.measure("ma", &["-n", "300", "-r", "1"]).expect(0);
    let trials = world.kept("out").trials();
    let again = world.resume("out").expect(0);
    assert_eq!(world.kept("out").trials(), trials);
    assert_eq!(again.summary(), first.summary());
    world.kept("out").is_complete();
}
