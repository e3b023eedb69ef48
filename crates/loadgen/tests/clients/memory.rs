//! Tests of all operations against an in-memory system, with and without faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jsonathlon_dataset::records::{Kind, Records};
use jsonathlon_driver_api::DriverError;
use jsonathlon_driver_api::driver::{DriverContext, EngineLocation, SessionOptions};
use jsonathlon_loadgen::job::{Job, OperationScript, SamplingTargets};
use jsonathlon_loadgen::load_generator::LoadGenerator;
use jsonathlon_loadgen::mix::RequestDistribution;
use jsonathlon_loadgen::operation::Operation;
use jsonathlon_loadgen::operation::Operation::*;
use jsonathlon_stats::histogram::Histogram;
use jsonathlon_telemetry::clock::MonotonicClock;
use jsonathlon_telemetry::stop_condition::StopCondition;
use jsonathlon_worker::{JobRunner, JobTarget};

use crate::support::{Faults, LOADED, Memory, Store, clients, job, records, run};

#[test]
fn every_operation_is_done_and_right() {
    let mixes: [&[(Operation, f64)]; 7] = [
        &[(Read, 0.5), (Update, 0.5)],
        &[(Read, 0.95), (Insert, 0.05)],
        &[(Scan, 0.9), (Insert, 0.1)],
        &[(Read, 0.5), (ReadModifyWrite, 0.5)],
        &[(InsertBatch, 0.5), (ReadPaths, 0.5)],
        &[(Find, 0.2), (Count, 0.2), (Read, 0.3), (Update, 0.3)],
        &[(Insert, 0.25), (Read, 0.25), (Update, 0.25), (Delete, 0.25)],
    ];
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    for mix in mixes {
        for threads in [1, 8] {
            // Searches scan every document, so fewer operations are run.
            let count = if mix.len() == 4 && mix[0].0 == Find { 400 } else { 4000 };
            let driven = run(&mut clients, &job(mix, threads, count)).unwrap();
            assert_eq!(driven.wrong_answers, [""; 0], "{mix:?}");
            let all = driven.operations.values();
            assert_eq!(all.clone().map(|one| one.errors).sum::<u64>(), 0, "{mix:?} {:?}", driven.refusals);
            assert_eq!(all.clone().map(|one| one.operations).sum::<u64>(), count, "{mix:?}");
            for (operation, share) in mix {
                let one = &driven.operations[operation];
                let expected = count as f64 * share;
                assert!((one.operations as f64 - expected).abs() < 6.0 * expected.sqrt(), "{operation}");
                assert_eq!(Histogram::from_text(&one.service).unwrap().count(), one.operations);
                assert!(one.documents > 0 || *operation == Count, "{operation}");
            }
            assert_eq!((driven.lost_updates, driven.unknown_writes), (0, 0));
            assert_eq!(driven.records, store.len() as u64, "{mix:?}");
            assert_eq!(driven.threads, threads);
        }
    }
}

#[test]
fn update_all_is_right_and_nothing_else_may_be_set_afterwards() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let driven = run(&mut clients, &job(&[(Read, 0.5), (UpdateAll, 0.5)], 4, 3000)).unwrap();
    assert_eq!(
        driven.operations.values().map(|one| one.operations).sum::<u64>(),
        3000,
        "{:?}",
        driven.wrong_answers
    );
    let refused = run(&mut clients, &job(&[(Update, 1.0)], 1, 10)).unwrap_err();
    assert!(refused.message.contains("load again"), "{}", refused.message);
    let refused = run(&mut clients, &job(&[(Find, 1.0)], 1, 10)).unwrap_err();
    assert!(refused.message.contains("load again"), "{}", refused.message);
    // Reads continue to work, and after another load all operations do.
    run(&mut clients, &job(&[(Read, 1.0)], 2, 100)).unwrap();
    let store = Store::new(&records(), LOADED);
    let mut clients = crate::support::clients(&store);
    let mut next = job(&[(Update, 1.0)], 1, 10);
    next.load = "2".to_owned();
    run(&mut clients, &next).unwrap();
    next.loaded += 1;
    assert!(run(&mut clients, &next).unwrap_err().message.contains("other records"));
}

/// Runs a mix with a fault every tenth time. Returns the completed operations and the wrong answers.
fn with(fault: impl Fn(&Faults) -> &std::sync::atomic::AtomicU64, shares: &[(Operation, f64)]) -> (u64, u64) {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    run(&mut clients, &job(shares, 2, 2000)).unwrap();
    fault(&store.faults).store(10, Ordering::Relaxed);
    let driven = run(&mut clients, &job(shares, 2, 2000)).unwrap();
    let wrong: u64 = driven.operations.values().map(|one| one.wrong).sum();
    let operations: u64 = driven.operations.values().map(|one| one.operations).sum();
    let errors: u64 = driven.operations.values().map(|one| one.errors).sum();
    assert_eq!(operations + errors, 2000);
    assert_eq!(driven.wrong_answers.is_empty(), wrong == 0);
    (operations, wrong)
}

#[test]
fn wrong_answers_are_found_and_are_no_operations() {
    let reads = [(Read, 1.0)];
    // Faults hit every tenth answer; two clients may both act between two faults.
    assert_eq!(with(|faults| &faults.other, &reads).1, 200);
    assert_eq!(with(|faults| &faults.cut, &reads).1, 200);
    assert!(with(|faults| &faults.omitted, &[(Scan, 1.0)]).1 > 100);
    // Most of the records read have been updated.
    let (_, stale) = with(|faults| &faults.old, &[(Read, 0.5), (Update, 0.5)]);
    assert!(stale > 50, "{stale}");
    let (_, lost) = with(|faults| &faults.lost, &[(Read, 0.5), (Update, 0.5)]);
    assert!(lost > 20, "{lost}");
    let (operations, wrong) = with(|faults| &faults.refused, &reads);
    assert_eq!((operations, wrong), (1800, 0));
}

#[test]
fn what_may_be_old_is_counted_apart() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let mut job = job(&[(Read, 0.5), (Update, 0.5)], 2, 2000);
    job.scripts.get_mut(&Read).unwrap().may_be_stale = true;
    store.faults.old.store(10, Ordering::Relaxed);
    let driven = run(&mut clients, &job).unwrap();
    let read = &driven.operations[&Read];
    assert_eq!((read.errors, driven.wrong_answers.len()), (0, 0));
    assert!(read.stale > 20 && read.stale < read.operations, "{}", read.stale);
}

#[test]
fn conflicts_are_tried_again_and_counted() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    store.faults.conflict.store(5, Ordering::Relaxed);
    let driven =
        run(&mut clients, &job(&[(Read, 0.5), (Update, 0.3), (ReadModifyWrite, 0.2)], 4, 4000)).unwrap();
    let retries: u64 = driven.operations.values().map(|one| one.retries).sum();
    let errors: u64 = driven.operations.values().map(|one| one.errors).sum();
    assert_eq!((errors, driven.wrong_answers.len()), (0, 0), "{:?}", driven.refusals);
    assert!(retries > 300, "{retries}");
    assert!(store.undone.load(Ordering::Relaxed) > 50);
    let mut once = job(&[(Update, 1.0)], 4, 1000);
    once.retries = 0;
    let driven = run(&mut clients, &once).unwrap();
    assert_eq!(driven.operations[&Update].errors, 200);
    assert_eq!(driven.refusals["deadlock"], 200);
}

#[test]
fn lost_updates_are_found() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    // The statements neither lock nor compare the replaced version.
    let mut job = job(&[(ReadModifyWrite, 1.0)], 8, 20_000);
    job.scripts.get_mut(&ReadModifyWrite).unwrap().statements =
        vec!["read {{key}}".to_owned(), "update {{key}} {{value}}".to_owned()];
    let driven = run(&mut clients, &job).unwrap();
    assert!(driven.lost_updates > 0);
    assert_eq!(driven.wrong_answers, [""; 0]);

    // A turn lasts for a whole operation, not for one statement, so no other writer can interfere.
    job.writers_take_turns = true;
    let driven = run(&mut clients, &job).unwrap();
    assert_eq!((driven.lost_updates, driven.operations[&ReadModifyWrite].operations), (0, 20_000));
    assert_eq!(driven.wrong_answers, [""; 0]);
}

#[test]
fn turns_end_with_whatever_ends_an_operation() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let faults = &store.faults;
    for fault in [&faults.broken, &faults.refused, &faults.conflict] {
        fault.store(50, Ordering::Relaxed);
    }
    // Also with more clients than threads: a client must not wait for clients of its own thread.
    for threads in [None, Some(3)] {
        let mix = [(Read, 0.4), (Update, 0.2), (ReadModifyWrite, 0.2), (Insert, 0.1), (Delete, 0.1)];
        let job = Job { writers_take_turns: true, threads, ..job(&mix, 8, 4000) };
        let driven = run(&mut clients, &job).unwrap();
        assert_eq!(driven.wrong_answers, [""; 0]);
        let ended: u64 = driven.operations.values().map(|one| one.operations + one.errors).sum();
        assert!(ended >= 4000, "{ended}");
    }
}

#[test]
fn connections_that_break_are_opened_again_and_their_writes_settled() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    store.faults.broken.store(50, Ordering::Relaxed);
    let mix = [(Read, 0.4), (Update, 0.4), (Insert, 0.1), (Delete, 0.1)];
    let driven = run(&mut clients, &job(&mix, 4, 4000)).unwrap();
    let errors: u64 = driven.operations.values().map(|one| one.errors).sum();
    assert!((20..80).contains(&errors), "{errors}");
    assert!(driven.reconnects >= errors - 4);
    assert_eq!((driven.wrong_answers.len(), driven.unknown_writes), (0, 0), "{:?}", driven.wrong_answers);
    store.faults.broken.store(0, Ordering::Relaxed);
    let driven = run(&mut clients, &job(&[(Read, 1.0)], 4, 8000)).unwrap();
    assert_eq!((driven.wrong_answers.len(), driven.operations[&Read].errors), (0, 0));
}

#[test]
fn what_cannot_be_checked_or_measured_is_refused() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let mut refused = |change: &dyn Fn(&mut jsonathlon_loadgen::job::Job)| {
        let mut job = job(&[(Read, 1.0)], 2, 100);
        change(&mut job);
        run(&mut clients, &job).unwrap_err().message
    };
    assert!(
        refused(&|job| job.mix.shares = vec![(Update, 0.5), (UpdateAll, 0.5)]).contains("cannot be checked")
    );
    assert!(refused(&|job| job.mix.shares = vec![(Unwrap, 1.0)]).contains("kind items"));
    assert!(refused(&|job| job.mix.shares = vec![(UpdateElement, 1.0)]).contains("no statement"));
    assert!(refused(&|job| job.mix.shares = vec![(Find, 0.5), (Delete, 0.5)]).contains("load again"));
    assert!(refused(&|job| job.mix.shares = vec![(Read, 0.5), (Read, 0.5)]).contains("twice"));
    assert!(refused(&|job| job.mix.shares = vec![(Read, 0.5)]).contains("add up"));
    assert!(refused(&|job| job.clients = 0).contains("no client"));
    assert!(refused(&|job| job.timeout_s = 0.0).contains("time limit"));
    assert!(refused(&|job| job.ramp_s = f64::NAN).contains("warm-up"));
}

#[test]
fn a_job_comes_and_goes_as_json() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let open = SessionOptions { protocol: "memory".to_owned(), ..SessionOptions::default() };
    let host = DriverContext { clock: std::sync::Arc::new(MonotonicClock::new()), output: None };
    let subject = JobTarget { open: &open, location: EngineLocation::InProcess, host: &host };
    let mut job = job(&[(Read, 0.5), (Update, 0.5)], 2, 10);
    job.stop = jsonathlon_telemetry::stop_condition::StopCondition::Time { seconds: 0.8 };
    job.ramp_s = 0.2;
    let json = serde_json::to_value(&job).unwrap();
    let mut drive_once = || {
        let mut told = 0;
        let driven =
            clients.drive(&json, &subject, &mut |progress| told += u64::from(progress.done > 0)).unwrap();
        assert!(told >= 1, "{told}");
        serde_json::from_value::<jsonathlon_loadgen::report::JobReport>(driven).unwrap()
    };
    // Counters that miss a part of the window are dropped, which a busy machine can make happen.
    let driven = (0..20)
        .map(|_| drive_once())
        .find(|driven| driven.usage.cpu_s.is_some())
        .expect("one of 20 jobs reads its counters in time");
    assert!((driven.measured_s - 0.8).abs() < 1e-9);
    assert!(driven.usage.cpu_s.unwrap() > 0.01, "{:?}", driven.usage);
    assert!(driven.scheduling.is_some() && driven.steady.is_none());
    assert_eq!(driven.seconds.len(), 1);
    assert!(clients.drive(&serde_json::json!({"clients": 1}), &subject, &mut |_| {}).is_err());
}

#[test]
fn arrivals_are_kept_on_time_by_all_threads_together() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let mut job = job(&[(Read, 0.9), (Update, 0.1)], 4, 10);
    job.stop = jsonathlon_telemetry::stop_condition::StopCondition::Time { seconds: 1.0 };
    job.ramp_s = 0.2;
    job.arrival = jsonathlon_stats::arrival::Arrival::Poisson { per_s: 2000.0 };
    let driven = run(&mut clients, &job).unwrap();
    let arrivals = driven.arrivals.unwrap();
    let done: u64 = driven.operations.values().map(|one| one.operations).sum();
    assert_eq!(done + arrivals.missed + arrivals.unfinished, arrivals.planned);
    assert!((1700..2300).contains(&arrivals.planned), "{arrivals:?}");
    let responses: u64 = driven
        .operations
        .values()
        .map(|one| Histogram::from_text(one.response.as_ref().unwrap()).unwrap().count())
        .sum();
    assert_eq!(responses, arrivals.planned);
}

/// Records with elements. Members beyond a multiple of four satisfy the condition in only some documents.
fn items() -> Records {
    Records { kind: Kind::Items { members: 9 }, ..records() }
}

/// A job over these records, with the statement that sets one element.
fn job_over_items(shares: &[(Operation, f64)], clients: u32, operations: u64) -> Job {
    let mut job = job(shares, clients, operations);
    job.records = items().into();
    let statements = vec!["element {{key}} {{value}}".to_owned()];
    job.scripts.insert(UpdateElement, OperationScript { statements, ..job.scripts[&Update].clone() });
    job
}

#[test]
fn elements_are_taken_apart_and_set() {
    let store = Store::new(&items(), LOADED);
    let mut clients = clients(&store);
    for verb in ["unwrap", "unwrap-elements"] {
        let mut job = job_over_items(&[(Unwrap, 0.5), (UpdateElement, 0.3), (Read, 0.2)], 4, 4000);
        job.scripts.get_mut(&Unwrap).unwrap().statements = vec![format!("{verb} {{{{key}}}}")];
        let driven = run(&mut clients, &job).unwrap();
        assert_eq!(
            (driven.wrong_answers.len(), driven.operations[&Unwrap].errors),
            (0, 0),
            "{:?}",
            driven.wrong_answers
        );
        store.faults.omitted.store(10, Ordering::Relaxed);
        let driven = run(&mut clients, &job).unwrap();
        assert!(driven.operations[&Unwrap].wrong > 100, "{}", driven.operations[&Unwrap].wrong);
        store.faults.omitted.store(0, Ordering::Relaxed);
    }
}

#[test]
fn elements_of_all_documents_are_counted() {
    let store = Store::new(&items(), LOADED);
    let mut clients = clients(&store);
    let of = |shares: &[(Operation, f64)]| job_over_items(shares, 2, 400);
    let read = of(&[(UnwrapAll, 0.5), (UpdateElement, 0.5)]);
    let driven = run(&mut clients, &read).unwrap();
    let counted = &driven.operations[&UnwrapAll];
    assert!(counted.operations > 100, "{counted:?}");
    assert_eq!((driven.wrong_answers.len(), counted.errors), (0, 0), "{:?}", driven.wrong_answers);
    store.faults.omitted.store(10, Ordering::Relaxed);
    let driven = run(&mut clients, &read).unwrap();
    assert!(driven.operations[&UnwrapAll].wrong > 10, "{:?}", driven.operations[&UnwrapAll]);
    store.faults.omitted.store(0, Ordering::Relaxed);
    // The number of elements cannot be known while documents are inserted or deleted, nor afterwards.
    let said = run(&mut clients, &of(&[(UnwrapAll, 0.5), (Insert, 0.5)])).unwrap_err();
    assert!(said.message.contains("cannot be checked"), "{}", said.message);
    run(&mut clients, &of(&[(Insert, 1.0)])).unwrap();
    let said = run(&mut clients, &read).unwrap_err();
    assert!(said.message.contains("load again"), "{}", said.message);
}

#[test]
fn documents_that_hold_their_keys_come_in_batches() {
    let records = Records { key_member: Some("_id".to_owned()), ..records() };
    let store = Store::new(&records, LOADED);
    let mut clients = clients(&store);
    let mut job = job(&[(InsertBatch, 0.5), (Read, 0.5)], 4, 1000);
    job.records = records.into();
    job.mix.requests = RequestDistribution::Latest;
    let script = job.scripts.get_mut(&InsertBatch).unwrap();
    script.statements = vec!["load {{keyed_documents}}".to_owned()];
    script.key_member = Some("_id".to_owned());
    let driven = run(&mut clients, &job).unwrap();
    assert_eq!(driven.wrong_answers, [""; 0]);
    let batch = &driven.operations[&InsertBatch];
    assert_eq!(batch.documents, 7 * batch.operations);
    assert_eq!(driven.records, LOADED + 7 * batch.operations);
    assert_eq!(store.len() as u64, driven.records);
}

#[test]
fn a_column_that_was_answered_fills_a_later_statement() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let mut job = job(&[(ReadModifyWrite, 0.5), (Read, 0.5)], 1, 1000);
    job.scripts.get_mut(&ReadModifyWrite).unwrap().statements =
        vec!["versioned {{key}}".to_owned(), "update-if {{key}} {{value}} {{seq}}".to_owned()];
    let driven = run(&mut clients, &job).unwrap();
    assert_eq!((driven.wrong_answers.len(), driven.lost_updates), (0, 0), "{:?}", driven.wrong_answers);
    assert_eq!(driven.operations.values().map(|one| one.operations).sum::<u64>(), 1000);
}

#[test]
fn what_was_deleted_before_it_was_read_is_not_written() {
    // Two ways of writing back: in a transaction, and by a version column that is known only from a row.
    let by_column = vec!["versioned {{key}}".to_owned(), "update-if {{key}} {{value}} {{seq}}".to_owned()];
    for (statements, undone) in [(None, true), (Some(by_column), false)] {
        let store = Store::new(&records(), LOADED);
        let mut clients = clients(&store);
        let mut job = job(&[(ReadModifyWrite, 0.4), (Delete, 0.3), (Insert, 0.3)], 1, 4000);
        if let Some(statements) = statements {
            let script = job.scripts.get_mut(&ReadModifyWrite).unwrap();
            (script.statements, script.undo) = (statements, None);
        }
        let driven = run(&mut clients, &job).unwrap();
        assert_eq!((&driven.wrong_answers, &driven.refusals), (&Vec::new(), &Default::default()));
        let changed = &driven.operations[&ReadModifyWrite];
        // Absence is a valid answer: the operation succeeds without changing a document.
        assert!(changed.documents > 0 && changed.documents < changed.operations, "{changed:?}");
        assert_eq!(changed.errors, 0);
        assert_eq!(store.undone.load(Ordering::Relaxed) > 0, undone);

        // A record that no client has deleted must exist.
        job.mix.shares = vec![(ReadModifyWrite, 1.0)];
        job.load = "2".to_owned();
        let store = Store::new(&records(), LOADED);
        let mut clients = crate::support::clients(&store);
        (0..LOADED).for_each(|number| store.take(number));
        let driven = run(&mut clients, &job).unwrap();
        let changed = &driven.operations[&ReadModifyWrite];
        assert_eq!((changed.operations, changed.wrong), (0, 4000));
        assert!(driven.wrong_answers[0].contains("the record is absent"), "{:?}", driven.wrong_answers);
    }
}

#[test]
fn a_key_that_is_there_already_is_an_error_and_is_not_tried_again() {
    let store = Store::new(&records(), LOADED);
    for number in [LOADED, LOADED + 5] {
        store.put(number);
    }
    let mut clients = clients(&store);
    let driven = run(&mut clients, &job(&[(Insert, 1.0)], 1, 100)).unwrap();
    let insert = &driven.operations[&Insert];
    assert_eq!((insert.operations, insert.errors, insert.wrong), (98, 2, 0), "{:?}", driven.refusals);
    assert_eq!(driven.refusals["there already"], 2);
    assert_eq!(driven.records, LOADED + 98);
    // No document of a failed batch is inserted; the next batch uses other records.
    store.put(LOADED + 103);
    let before = store.undone.load(Ordering::Relaxed);
    let driven = run(&mut clients, &job(&[(InsertBatch, 1.0)], 1, 10)).unwrap();
    let batch = &driven.operations[&InsertBatch];
    assert_eq!((batch.operations, batch.errors, driven.refusals["there already"]), (9, 1, 1));
    assert_eq!(store.undone.load(Ordering::Relaxed), before + 1);
}

#[test]
fn what_was_acknowledged_and_is_gone_is_found_when_all_connections_were_lost() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    let mut job = job(&[(Update, 1.0)], 1, 200);
    let driven = run(&mut clients, &job).unwrap();
    assert_eq!(driven.read_back, None, "no connection was lost");
    store.faults.broken.store(150, Ordering::Relaxed);
    let driven = run(&mut clients, &job).unwrap();
    let read_back = driven.read_back.unwrap();
    assert!(read_back.read == read_back.written && read_back.read > 20, "{read_back:?}");
    assert_eq!(driven.wrong_answers, [""; 0]);
    // The same with a system that loses acknowledged writes; no client reads.
    store.faults.lost.store(7, Ordering::Relaxed);
    job.stop = jsonathlon_telemetry::stop_condition::StopCondition::Count { operations: 400 };
    let driven = run(&mut clients, &job).unwrap();
    assert!(driven.read_back.is_some());
    assert!(
        driven.wrong_answers.iter().any(|words| words.contains("read back: version")),
        "{:?}",
        driven.wrong_answers
    );
}

#[test]
fn without_checks_anything_goes() {
    let store = Store::new(&records(), LOADED);
    let mut clients = clients(&store);
    store.faults.cut.store(2, Ordering::Relaxed);
    let mut job = job(&[(Read, 1.0)], 2, 1000);
    job.verify = false;
    let driven = run(&mut clients, &job).unwrap();
    assert_eq!((driven.operations[&Read].operations, driven.operations[&Read].documents), (1000, 1000));
}

#[test]
fn a_checkpoint_is_marked_in_its_second() {
    let store = Store::new(&records(), LOADED);
    let watched = |statement: &str| SamplingTargets { checkpoints: Some(statement.to_owned()), folder: None };
    let job = |statement: &str| Job {
        stop: StopCondition::Time { seconds: 2.3 },
        sampling_targets: watched(statement),
        ..job(&[(Read, 1.0)], 1, 0)
    };
    let driven = run(&mut clients(&store), &job("checkpoints")).unwrap();
    // The system is asked once before the start, and at 0, 1 and 2 s.
    let marks: Vec<Option<bool>> = driven.seconds.iter().map(|second| second.checkpoint).collect();
    assert_eq!(marks[..2], [Some(false), Some(true)], "{marks:?}");

    // If the system refuses the checkpoint statement, it is measured as usual and the marks are unknown.
    store.faults.refused.store(1, Ordering::Relaxed);
    let refused =
        run(&mut clients(&store), &Job { stop: StopCondition::Time { seconds: 0.1 }, ..job("checkpoints") })
            .unwrap();
    assert!(refused.seconds.iter().all(|second| second.checkpoint.is_none()));
}

#[test]
fn nobody_begins_where_not_all_come_in() {
    let store = Store::new(&records(), LOADED);
    let (opened, room) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(5)));
    let mut clients = LoadGenerator::with_opener({
        let (store, opened, room) = (Arc::clone(&store), Arc::clone(&opened), Arc::clone(&room));
        move |_, _, _| match opened.fetch_add(1, Ordering::SeqCst) < room.load(Ordering::SeqCst) {
            true => Ok(Box::new(Memory::new(&store))),
            false => Err(DriverError::Refused("the house is full".to_owned())),
        }
    });
    let updates = |threads: Option<u32>| Job { threads, ..job(&[(Update, 1.0)], 8, 100) };
    let before = store.all();
    for threads in [None, Some(1), Some(3)] {
        opened.store(0, Ordering::SeqCst);
        let refused = run(&mut clients, &updates(threads)).unwrap_err();
        assert!(refused.message.starts_with("client 6 of 8: "), "{}", refused.message);
        assert!(refused.message.contains("the house is full"), "{}", refused.message);
        assert!(refused.message.contains("5 connected before it: use fewer clients"), "{}", refused.message);
    }
    room.store(0, Ordering::SeqCst);
    let refused = run(&mut clients, &updates(None)).unwrap_err();
    assert!(refused.message.starts_with("client 1 of 8: "), "{}", refused.message);
    assert!(!refused.message.contains("connected before it"), "{}", refused.message);

    assert_eq!(store.all(), before, "nobody has written");
    opened.store(0, Ordering::SeqCst);
    room.store(8, Ordering::SeqCst);
    let driven = run(&mut clients, &updates(Some(3))).unwrap();
    assert_eq!(
        (driven.threads, driven.operations[&Update].operations),
        (3, 100),
        "{:?}",
        driven.wrong_answers
    );
}
