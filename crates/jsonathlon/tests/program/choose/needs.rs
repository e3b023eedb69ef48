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
