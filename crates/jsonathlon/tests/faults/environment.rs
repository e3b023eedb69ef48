//! What the machine lacks: disks that are full or in the way.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::process::{Ended, Running};
use crate::support::{LIMIT, Look, PROGRAM, World, mock};

/// A shell with a small file system of its own at `$small`, gone when it ends. It needs `unshare` of
/// util-linux, and either root or user namespaces.
fn with_small_disk(world: &World, megabytes: u32, script: &str) -> Ended {
    let allowed = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(arguments).args(["sh", "-c", "mount -t tmpfs none /mnt"]);
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    let Some(way) = ways.into_iter().find(|way| allowed(way)) else {
        panic!(
            "this test mounts a small file system: it needs `unshare` of util-linux, and to run as root or \
             where users may make namespaces (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)"
        );
    };
    let small = world.path("small");
    std::fs::create_dir_all(&small).unwrap();
    let text = format!(
        "set -e\nsmall='{}'\nmount -t tmpfs -o size={megabytes}m none \"$small\"\n\
         jsonathlon='{PROGRAM}'\nsystems='{}'\nsaved='{}'\n{script}",
        small.display(),
        world.path("systems").display(),
        world.path("saved").display(),
    );
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", &text]).current_dir(world.path("")).stdin(Stdio::null());
    command.env(crate::support::MARK, world.path(""));
    Running::start(command, &world.path("")).end(LIMIT)
}

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
    // Nobody knows beforehand how long standard input is.
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

#[test]
fn a_disk_that_fills_up_between_trials_costs_no_trial_that_was_recorded() {
    let script = json!({"delay_ms": {"q1": 20, "q3": 20}});
    let world = World::with(&[mock("ma", script.clone()), mock("mb", script)]);
    // While all is stopped, the disk is filled to the last page; the run then meets it wherever it is.
    let script = r#"
"$jsonathlon" run --systems-dir "$systems" -s ma,mb -n 300 -r 2 --json -o "$small/out" &
run=$!
until [ "$(cat "$small/out/journal.ndjson" 2>/dev/null | wc -l)" -ge 20 ]; do sleep 0.02; done
kill -STOP $run
sleep 0.1
dd if=/dev/zero of="$small/ballast" bs=4096 2>/dev/null || true
cp "$small/out/journal.ndjson" "$saved.full"
kill -CONT $run
set +e
wait $run
echo "code $?" >&2
rm "$small/ballast"
"$jsonathlon" run --systems-dir "$systems" --json --resume "$small/out"
code=$?
cp -r "$small/out" "$saved"
exit $code"#;
    let ended = with_small_disk(&world, 140, script).expect(0);
    let ended = ended.says(&["No space left on device", "code 3\n"]);
    let summary = ended.summary();
    assert!(summary.complete);
    summary.is_right("ma");
    summary.is_right("mb");
    let kept = world.kept("saved");
    kept.is_complete();
    let mut full = std::fs::read(world.path("saved.full")).unwrap();
    full.truncate(full.iter().rposition(|byte| *byte == b'\n').unwrap() + 1);
    assert!(kept.journal().starts_with(&full));
}

#[test]
fn an_engine_that_fills_the_disk_ends_the_run_with_a_clear_error_and_costs_nothing_measured() {
    let world = World::with(&[mock("ma", json!({"delay_ms": {"q1": 20, "q3": 20}}))]);
    // The first system has loaded and waits; SQLite then finds less room than its documents need.
    let script = r#"
"$jsonathlon" run --systems-dir "$systems" -s ma,sqlite -n 20k -r 1 --json -o "$small/out" 2> "$saved.log" &
run=$!
until grep -q '"step":"load"' "$small/out/journal.ndjson" 2>/dev/null; do sleep 0.005; done
kill -STOP $run
free=$(df --output=avail -B1 "$small" | tail -1)
dd if=/dev/zero of="$small/ballast" bs=65536 count=$(( (free - 2000000) / 65536 )) 2>/dev/null || true
cp "$small/out/journal.ndjson" "$saved.full"
kill -CONT $run
set +e
wait $run
echo "code $?" >&2
cat "$saved.log" >&2
rm "$small/ballast"
"$jsonathlon" run --systems-dir "$systems" --json --resume "$small/out"
code=$?
cp -r "$small/out" "$saved"
exit $code"#;
    let ended = with_small_disk(&world, 400, script);
    // Either the load is a failed cell, which stays so, or the journal itself had no room, and the run is
    // continued with a disk that is large enough.
    let full = ended.stderr.contains("full") || ended.stderr.contains("No space left on device");
    assert!(full, "{}", ended.stderr);
    assert!(["code 1\n", "code 3\n"].iter().any(|code| ended.stderr.contains(code)), "{}", ended.stderr);
    let ended = ended.expect(i32::from(!nothing_failed(&world)));
    let summary = ended.summary();
    assert!(summary.complete);
    summary.is_right("ma");
    let kept = world.kept("saved");
    kept.is_complete();
    let mut before = std::fs::read(world.path("saved.full")).unwrap();
    before.truncate(before.iter().rposition(|byte| *byte == b'\n').unwrap() + 1);
    assert!(kept.journal().starts_with(&before));
}

/// Whether no trial failed.
fn nothing_failed(world: &World) -> bool {
    world.kept("saved").trials().iter().all(|trial| trial.failure.is_none())
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
