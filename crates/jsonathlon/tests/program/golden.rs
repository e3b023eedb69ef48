//! Makes the runs that `crates/report/tests/golden.rs` holds against what was printed and drawn of them before.

use std::path::Path;

use serde_json::json;

use crate::support::{LIMIT, PROGRAM, System, World, mock, names_in};

/// Documents of the run of questions: two kinds, and a line that is no JSON.
const DOCUMENTS: &str = concat!(
    "{\"kind\":\"a\",\"n\":1}\n",
    "{\"kind\":\"b\",\"n\":2}\n",
    "{\"kind\":\"a\",\"n\":\n",
    "{\"kind\":\"a\",\"n\":4}\n",
);

const QUESTIONS: &str = r#"
[[question]]
name = "sum"
title = "Sum of everything"
columns = [{ name = "total", type = "number" }]
"#;

/// Writes `crates/report/tests/golden/WORKLOAD/` anew, of every workload. What is printed of the new runs is accepted by
/// `JSONATHLON_WRITE_GOLDEN=1` there.
#[test]
#[ignore = "writes into the source tree; for a change of the format of run folders alone"]
fn make_runs() {
    let keeps = json!({"persistence": {}, "delay_ms": {"kv_update": 1, "kv_insert": 1}});
    let loses = json!({"persistence": {"loss_interval": 7}, "delay_ms": {"kv_update": 1, "kv_insert": 1}});
    let wrong_value = json!({"statement": "q4", "action": "wrong_value", "row": 0, "column": 0});
    let wrong = json!({"faults": [wrong_value], "delay_ms": {"q2": 4}});
    let changes =
        json!({"read_back": {"drop_nulls": true, "reorder_keys": true}, "accepts_invalid_json": true});
    let slow = json!({"delay_ms": {"kv_read": 1, "doc_copy": 3}});
    let systems: [(&str, Vec<System>, &[&str], i32); 7] = [
        (
            "analytics",
            vec![mock("ma", json!({})), mock("mb", wrong)],
            &["run", "--no-yardstick", "-n", "200", "-r", "5", "-t", "1", "--load-rounds", "2"],
            1,
        ),
        (
            "serving",
            vec![mock("ma", json!({})).serving(), mock("mb", slow.clone()).serving()],
            &[
                "run",
                "serving",
                "--mixes",
                "a",
                "-n",
                "200",
                "-r",
                "3",
                "--clients",
                "1,3",
                "--warmup",
                "50ms",
                "--duration",
                "500ms",
            ],
            0,
        ),
        (
            "documents",
            vec![mock("ma", json!({})).documents(""), mock("mb", slow).documents("")],
            &["run", "documents", "--sizes", "1KiB", "--table-size", "20KiB", "-r", "3"],
            0,
        ),
        (
            "questions",
            vec![mock("ma", json!({})).questions(), mock("mb", json!({})).questions()],
            &["run", "questions", "-q", "q", "-d", "data.ndjson", "-r", "3", "--load-rounds", "1", "-t", "1"],
            1,
        ),
        (
            "fidelity",
            vec![mock("ma", json!({})).fidelity(""), mock("mb", changes).fidelity("")],
            &["run", "fidelity", "--cases", "null-,order-,number-2,duplicate-,object-comma,top-,deepest-"],
            0,
        ),
        (
            "durability",
            vec![mock("ma", keeps).serving(), mock("mb", loses).serving()],
            &[
                "run",
                "durability",
                "--crash",
                "process",
                "-n",
                "50",
                "--crashes",
                "2",
                "--crash-within",
                "300ms",
                "--clients",
                "3",
            ],
            1,
        ),
        (
            "mixed",
            mixed_systems(),
            &[
                "run",
                "mixed",
                "-n",
                "800",
                "-r",
                "3",
                "--growth",
                "100%",
                "--rate",
                "200",
                "--batch",
                "10",
                "--measure",
                "3s",
            ],
            1,
        ),
    ];
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/golden");
    for (workload, systems, arguments, code) in systems {
        let world = World::with(&systems);
        world.file("data.ndjson", DOCUMENTS);
        std::fs::create_dir_all(world.path("q/ma")).unwrap();
        std::fs::create_dir_all(world.path("q/mb")).unwrap();
        world.file("q/questions.toml", QUESTIONS);
        world.file("q/ma/sum.sql", "answer {{table}} [[7]];\n");
        world.file("q/mb/sum.sql", "answer {{table}} [[8]];\n");
        // Relative paths alone: the folder of the test shows nowhere.
        let names: Vec<&str> = systems.iter().map(|system| system.name.as_str()).collect();
        let names = names.join(",");
        let common = ["--systems-dir", "systems", "-s", &names, "--json", "-o", workload];
        let all: Vec<&str> = arguments.iter().chain(&common).copied().collect();
        world.start(&all).end(LIMIT).expect(code);
        let (from, to) = (world.path(workload), golden.join(workload));
        if to.exists() {
            std::fs::remove_dir_all(&to).unwrap();
        }
        for name in names_in(&from) {
            let (from, to) = (from.join(&name), to.join(&name));
            if from.is_dir() && ["answers", "plans", "rejects"].contains(&name.as_str()) {
                for file in names_in(&from) {
                    copy_without_paths(&world, &from.join(&file), &to.join(&file));
                }
            } else if ["manifest.json", "journal.ndjson", "series.ndjson"].contains(&name.as_str()) {
                copy_without_paths(&world, &from, &to);
            }
        }
    }
}

/// A system without a fault; a slower one, which stalls once and shows some batches late, as it declares; and one whose
/// answers lack a document.
fn mixed_systems() -> Vec<System> {
    let steady = json!({"delay_ms": {"mix_ask": 2}});
    let mut faults = vec![json!({"statement": "mix_insert", "execution": 25, "action": "delay", "ms": 1200})];
    faults.extend(
        (5..40)
            .step_by(3)
            .map(|at| json!({"statement": "mix_insert", "execution": at, "action": "hold_batch"})),
    );
    let late = json!({"delay_ms": {"mix_ask": 5, "mix_insert": 3}, "faults": faults});
    let short = json!({
        "delay_ms": {"mix_ask": 2},
        "faults": [{"statement": "mix_ask", "action": "one_short"}],
    });
    vec![
        mock("ma", steady).mixed(),
        mock("mb", late).mixed_with("snapshot = true\nvisible = \"refresh\""),
        mock("mc", short).mixed(),
    ]
}

/// Copies a text file. Paths of this machine become relative.
fn copy_without_paths(world: &World, from: &Path, to: &Path) {
    let text = std::fs::read_to_string(from).unwrap();
    let text = text.replace(PROGRAM, "jsonathlon").replace(&world.text(""), "");
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::write(to, text).unwrap();
}
