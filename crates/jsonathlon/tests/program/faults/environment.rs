//! Problems of the machine: full disks and files in the way.

use serde_json::json;

use crate::support::disk::with_small_disk;
use crate::support::process::Ended;
use crate::support::{Look, World, mock};

#[test]
fn a_disk_that_is_too_small_is_told_before_anything_starts() {
    let world = World::with(&[mock("ma", json!({}))]);
    let script = r#"exec "$jsonathlon" run --systems-dir "$systems" -s ma -n 100k -o "$small/out""#;
    with_small_disk(&world, 20, script).expect(3).says(&[
        "MB free",
        "this run needs about",
        "--scale",
        "--out",
    ]);
}

#[test]
fn a_disk_that_fills_up_while_documents_are_read_leaves_no_part_of_them() {
    let world = World::with(&[mock("ma", json!({}))]);
    // The length of standard input is not known in advance.
    let script = r#"
set +e
"$jsonathlon" data generate -n 20k | "$jsonathlon" run --systems-dir "$systems" -s ma -d - -o "$small/out"
code=$?
ls "$small/out/work"
exit $code"#;
    let ended =
        with_small_disk(&world, 4, script).expect(3).says(&["no room left", "No space left on device"]);
    assert_eq!(ended.stdout, "", "partial files stay");
}

/// A run whose disk is filled while it is stopped, and that is resumed after space was freed.
struct FilledUp {
    megabytes: u32,
    /// Command-line arguments of the run.
    run: &'static str,
    /// Shell command that succeeds when it is time to stop the run.
    when: &'static str,
    /// Operands of `dd` that fill the disk, completely or up to a limit.
    ballast: &'static str,
}

impl FilledUp {
    /// Returns the end of the resumed run. The first run's exit code is written to standard error. Its folder
    /// is copied to `saved`, and the journal before the disk was full to `saved.full`.
    fn end(&self, world: &World) -> Ended {
        let Self { megabytes, run, when, ballast } = self;
        let script = format!(
            r#"
journal="$small/out/journal.ndjson"
"$jsonathlon" run --systems-dir "$systems" --json -o "$small/out" {run} 2> "$saved.log" &
run=$!
until {when}; do sleep 0.005; done
kill -STOP $run
sleep 0.1
free=$(df --output=avail -B1 "$small" | tail -1)
dd if=/dev/zero of="$small/ballast" {ballast} 2>/dev/null || true
cp "$journal" "$saved.full"
kill -CONT $run
set +e
wait $run
echo "code $?" >&2
cat "$saved.log" >&2
rm "$small/ballast"
"$jsonathlon" run --systems-dir "$systems" --json --resume "$small/out"
code=$?
cp -r "$small/out" "$saved"
exit $code"#
        );
        with_small_disk(world, *megabytes, &script)
    }
}

/// Asserts that everything recorded before the disk was full is still there, followed by all later records.
fn nothing_recorded_is_lost(world: &World) {
    let kept = world.kept("saved");
    kept.is_complete();
    let mut before = std::fs::read(world.path("saved.full")).unwrap();
    before.truncate(before.iter().rposition(|byte| *byte == b'\n').unwrap() + 1);
    assert!(kept.journal().starts_with(&before));
}

#[test]
fn a_disk_that_fills_up_between_trials_costs_no_trial_that_was_recorded() {
    let script = json!({"delay_ms": {"q1": 20, "q3": 20}});
    let world = World::with(&[mock("ma", script.clone()), mock("mb", script)]);
    // The disk is filled completely; the run then fails wherever it writes next.
    let filled = FilledUp {
        megabytes: 140,
        run: "-s ma,mb -n 300 -r 2",
        when: r#"[ "$(cat "$journal" 2>/dev/null | wc -l)" -ge 20 ]"#,
        ballast: "bs=4096",
    };
    let ended = filled.end(&world).expect(0).says(&["No space left on device", "code 3\n"]);
    let summary = ended.summary();
    assert!(summary.complete);
    summary.is_right("ma");
    summary.is_right("mb");
    nothing_recorded_is_lost(&world);
}

#[test]
fn an_engine_that_fills_the_disk_ends_the_run_with_a_clear_error_and_costs_nothing_measured() {
    let world = World::with(&[mock("ma", json!({"delay_ms": {"q1": 20, "q3": 20}}))]);
    // The first system has been loaded; SQLite then has less space than its documents need.
    let filled = FilledUp {
        megabytes: 400,
        run: "-s ma,sqlite -n 20k -r 1",
        when: r#"grep -q '"step":"load"' "$journal" 2>/dev/null"#,
        ballast: "bs=65536 count=$(( (free - 2000000) / 65536 ))",
    };
    let ended = filled.end(&world);
    // Either the load is recorded as failed and stays so, or the journal had no space and the run is resumed
    // with a larger disk.
    let full = ended.stderr.contains("full") || ended.stderr.contains("No space left on device");
    assert!(full, "{}", ended.stderr);
    assert!(["code 1\n", "code 3\n"].iter().any(|code| ended.stderr.contains(code)), "{}", ended.stderr);
    let nothing_failed = world.kept("saved").trials().iter().all(|trial| trial.failure.is_none());
    let ended = ended.expect(i32::from(!nothing_failed));
    let summary = ended.summary();
    assert!(summary.complete);
    summary.is_right("ma");
    nothing_recorded_is_lost(&world);
}

#[test]
fn a_file_in_the_way_of_the_run_folder_stays_as_it_is() {
    let world = World::with(&[mock("ma", json!({}))]);
    let file = world.file("out", "precious");
    world.measure("ma", &["-n", "300"]).expect(3).says(&[&file, "File exists"]);
    world.measure_into("out/inner", "ma", &["-n", "300"]).expect(3).says(&[&file, "Not a directory"]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "precious");
}

#[test]
fn a_folder_that_holds_a_run_is_not_overwritten() {
    let world = World::with(&[mock("ma", json!({}))]);
    world.measure("ma", &["-n", "300", "-r", "1"]).expect(0);
    let before = (world.kept("out").journal(), world.kept("out").manifest());
    let again = world.measure("ma", &["-n", "300", "-r", "1"]).expect(2);
    again.says(&["already holds a run", "--out", "--resume"]);
    assert_eq!((world.kept("out").journal(), world.kept("out").manifest()), before);
}
