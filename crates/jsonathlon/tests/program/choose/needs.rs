//! Needs that systems meet or do not meet, each planted.

use serde_json::json;

use super::{choose, decision, documents, of_system, questions, state, system};
use crate::support::World;

#[test]
fn a_rate_is_held_or_not() {
    // Two clients that wait 40 ms for each answer come to 50 operations per second.
    let world =
        World::with(&[system("fast", json!({})), system("slow", json!({"delay_ms": {"kv_read": 40}}))]);
    world.file("data.ndjson", documents(200));
    let needs = world.file(
        "needs.toml",
        "[load]\nreads = 1.0\nclients = 2\nrate = 200\n[needs]\nresponse = \"p50 < 1s\"\nrejected = \"0 %\"\n",
    );
    let ended = choose(&world, "fast,slow", &["--needs", &needs]).expect(0);
    assert!(!world.path("out/capacity").exists(), "the rate is stated");
    let decision = decision(&world);
    assert_eq!(state(&decision, "fast", "rate"), "met", "{decision:#}");
    assert_eq!(state(&decision, "slow", "rate"), "not met", "{decision:#}");
    assert_eq!(state(&decision, "slow", "rejected"), "met", "{decision:#}");
    assert_eq!(of_system(&decision, "slow")["meets_all"], false);
    let headline = decision["headline"].as_str().unwrap();
    assert!(headline.contains("slow"), "{headline}");
    assert!(ended.unbroken().contains(headline), "{}", ended.stdout);
}

#[test]
fn documents_that_are_changed_or_rejected_are_counted() {
    let rejecting = json!({"rejections": [{"ordinal": 3, "reason": "too odd"}]});
    // The mock keeps numbers as doubles, SQLite keeps texts.
    let world = World::with(&[system("ma", rejecting)]);
    let large = "{\"id\":\"large\",\"status\":\"a long status\",\"n\":12345678901234567890123}\n";
    world.file("data.ndjson", documents(200) + large);
    let needs = world.file(
        "needs.toml",
        "[load]\nreads = 1.0\nclients = 2\n[needs]\nround_trip = \"same values\"\nrejected = \"0 %\"\n",
    );
    choose(&world, "ma,sqlite", &["--needs", &needs]).expect(0);
    let decision = decision(&world);
    assert_eq!(state(&decision, "ma", "round_trip"), "not met", "{decision:#}");
    assert_eq!(state(&decision, "ma", "rejected"), "not met", "{decision:#}");
    assert_eq!(state(&decision, "sqlite", "round_trip"), "met", "{decision:#}");
    assert_eq!(state(&decision, "sqlite", "rejected"), "met", "{decision:#}");
    assert_eq!(of_system(&decision, "sqlite")["meets_all"], true);
}

/// 1,000 reads are needed for an interval of p99, and at this rate they take longer than windows usually last.
#[test]
fn windows_are_long_enough_for_the_quantile_that_is_needed() {
    let world = World::with(&[system("ma", json!({}))]);
    world.file("data.ndjson", documents(200));
    let text = "[load]\nreads = 1.0\nclients = 2\nrate = 500\n[needs]\nresponse = \"p99 < 2s\"\n";
    let needs = world.file("needs.toml", text);
    let (folder, out, data) = (world.text("systems"), world.text("out"), world.text("data.ndjson"));
    let base = ["choose", "--systems-dir", &folder, "-s", "ma", "-o", &out, "-d", &data, "--needs", &needs];
    let ended = world.run(&[&base[..], &["--budget", "30s"]].concat()).expect(0);
    ended.says(&["in windows of 2.6 s for p99"]);
    let decision = decision(&world);
    // How far the rounds scatter is up to the machine.
    let words = of_system(&decision, "ma")["needs"]["response"]["words"].as_str().unwrap();
    assert!(!words.contains("too few operations"), "{words}");
    assert_ne!(state(&decision, "ma", "response"), "not met", "{decision:#}");
    let trials = world.kept("out/serving").records();
    assert!(trials.iter().any(|record| record.key.contains("rate_per_s")), "clients worked at the rate");
}

#[test]
fn windows_that_are_too_short_for_the_quantile_are_told_before_and_afterwards() {
    let world = World::with(&[system("ma", json!({}))]);
    world.file("data.ndjson", documents(200));
    let text = "[load]\nreads = 1.0\nclients = 2\nrate = 100\n[needs]\nresponse = \"p99 < 2s\"\n";
    let needs = world.file("needs.toml", text);
    let ended = choose(&world, "ma", &["--needs", &needs]).expect(0);
    let (before, _) = ended.stderr.split_once("part 1 of").unwrap();
    assert!(before.contains("p99 has no interval") && before.contains("--duration 13s"), "{before}");
    let decision = decision(&world);
    let response = &of_system(&decision, "ma")["needs"]["response"];
    assert_eq!(response["state"], "not shown");
    let words = response["words"].as_str().unwrap();
    assert!(words.ends_with("too few operations for an interval: it needs a longer --duration"), "{words}");
}

/// They are counted as loaded, and found missing only when they are read back.
#[test]
fn documents_that_are_accepted_and_lost_void_the_load() {
    let missing =
        |statement| json!({"statement": statement, "execution": 1, "action": "missing_row", "row": 0});
    let losing = json!({"faults": [missing("kv_scan"), missing("kv_read")]});
    let world = World::with(&[system("loses", losing), system("keeps", json!({}))]);
    world.file("data.ndjson", documents(200));
    let text = "[load]\nreads = 1.0\nclients = 2\nrate = 200\n[needs]\nround_trip = \"anything\"\n\
                rejected = \"0 %\"\nsize = \"now < 1TB\"\n";
    let needs = world.file("needs.toml", text);
    let ended = choose(&world, "loses,keeps", &["--needs", &needs]).expect(0);
    let decision = decision(&world);
    for need in ["round_trip", "rejected", "size", "rate"] {
        assert_eq!(state(&decision, "loses", need), "not met", "{need}: {decision:#}\n{}", ended.stderr);
    }
    for need in ["round_trip", "rejected", "rate"] {
        assert_eq!(state(&decision, "keeps", need), "met", "{need}: {decision:#}");
    }
    let notes = decision["notes"].to_string();
    assert!(notes.contains("loses 1.0 answered wrongly in serving"), "{notes}");
}

#[test]
fn a_system_that_dies_under_the_load_does_not_meet_its_needs() {
    let dying = json!({"faults": [{"statement": "kv_update", "execution": 60, "action": "crash"}]});
    let world = World::with(&[system("dies", dying), system("lives", json!({}))]);
    world.file("data.ndjson", documents(200));
    let text =
        "[load]\nreads = 0.5\nupdates = 0.5\nclients = 2\nrate = 200\n[needs]\nresponse = \"p50 < 2s\"\n";
    let needs = world.file("needs.toml", text);
    choose(&world, "dies,lives", &["--needs", &needs, "--duration", "600ms"]).expect(0);
    let decision = decision(&world);
    assert_eq!(state(&decision, "lives", "response"), "met", "{decision:#}");
    assert!(decision["notes"].to_string().contains("dies 1.0 crashed in serving"), "{decision:#}");
}

#[test]
fn earlier_crashes_beside_the_choice_count() {
    let script = json!({"persistence": {"syncs": true}, "delay_ms": {"kv_update": 1, "kv_insert": 1}});
    let world = World::with(&[system("keeps", script)]);
    world.file("data.ndjson", documents(100));
    let (folder, out) = (world.text("systems"), world.text("crashes"));
    let base = ["run", "durability", "--systems-dir", &folder, "-s", "keeps", "-o", &out, "-n", "50"];
    let crashes = ["--crash", "process", "--crashes", "1", "--crash-within", "300ms", "--clients", "3"];
    world.run(&[&base[..], &crashes].concat()).expect(0);
    let needs = world.file("needs.toml", "[needs]\ndurability = \"synced\"\n");
    choose(&world, "keeps", &["--needs", &needs]).expect(0);
    let decision = decision(&world);
    let words = of_system(&decision, "keeps")["needs"]["durability"]["words"].as_str().unwrap();
    // The power was not cut, so that the tier as a whole is not proven.
    assert!(words.starts_with("synced: kept its promise in 1 kill on "), "{words}");
    assert_eq!(state(&decision, "keeps", "durability"), "not tested");
}

/// It is proven only by crashes: what a system's folder promises is not enough.
#[test]
fn lost_writes_are_found_by_crashes_alone() {
    let script =
        |persistence| json!({"persistence": persistence, "delay_ms": {"kv_update": 1, "kv_insert": 1}});
    let losing = script(json!({"loss_interval": 7, "syncs": true}));
    let world = World::with(&[system("keeps", script(json!({"syncs": true}))), system("loses", losing)]);
    world.file("data.ndjson", documents(100));
    let needs = world.file("needs.toml", "[needs]\ndurability = \"synced\"\n");
    let options = ["--needs", &needs, "--prove", "--budget", "3m", "--duration", "100ms"];
    choose(&world, "keeps,loses", &options).expect(0).says(&["  durability "]);
    let decision = decision(&world);
    assert_eq!(state(&decision, "loses", "durability"), "not met", "{decision:#}");
    assert_ne!(state(&decision, "keeps", "durability"), "not met", "{decision:#}");
}

#[test]
fn nothing_is_proven_where_nothing_crashed() {
    let world = World::with(&[system("ma", json!({}))]);
    world.file("data.ndjson", documents(100));
    let needs = world.file("needs.toml", "[needs]\ndurability = \"synced\"\n");
    choose(&world, "ma", &["--needs", &needs]).expect(0);
    assert_eq!(state(&decision(&world), "ma", "durability"), "not tested");
}

#[test]
fn systems_without_a_workload_are_judged_by_what_they_can_do() {
    let asked = crate::support::mock("asked", json!({})).questions();
    let world = World::with(&[system("whole", json!({})), asked]);
    world.file("data.ndjson", documents(100));
    questions(&world, &["whole", "asked"]);
    let needs = world.file(
        "needs.toml",
        "[load]\nreads = 1.0\nclients = 2\nrate = 400\n[reports]\nquestions = \"q\"\n[needs]\nresponse = \"p50 < 1s\"\nreport = \"median < 5s\"\n",
    );
    let ended = choose(&world, "whole,asked", &["--needs", &needs]).expect(0);
    ended
        .says(&["asked takes no part in reads and changes of single documents: its folder has no [serving]"]);
    let decision = decision(&world);
    assert_eq!(state(&decision, "asked", "response"), "not tested", "{decision:#}");
    assert_eq!(of_system(&decision, "asked")["meets_all"], false);
    assert_eq!(state(&decision, "whole", "response"), "met", "{decision:#}");
}
