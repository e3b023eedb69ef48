//! Clients over the user's own documents: right answers raise no alarm, and planted faults are found.

use jsonathlon_loadgen::job::Job;
use jsonathlon_loadgen::mix::RequestDistribution;
use jsonathlon_loadgen::operation::Operation::{self, *};
use jsonathlon_loadgen::report::JobReport;
use serde_json::json;

use crate::own_store::{Fault, Key, OwnStore};
use crate::support::run;

const DOCUMENTS: usize = 300;

/// Documents with hostile names, text and integer keys, and texts and integers to update.
fn lines() -> Vec<String> {
    let line = |index: usize| {
        let key = index * 7919 % 10_007;
        let mut document = json!({
            "a.b": {"": format!("k-{key}-ü\"/")}, "id": key, "n": index % 50, "text": format!("loaded {index}"),
            "deep": {"x y": [1, {"v": index as f64 + 0.5}]}, "flag": index.is_multiple_of(2), "": null,
        });
        if index.is_multiple_of(10) {
            document.as_object_mut().unwrap().remove("text");
        }
        if index % 10 == 1 {
            document["n"] = json!([index]);
        }
        document.to_string()
    };
    (0..DOCUMENTS).map(line).collect()
}

/// Key, update path and key member of the kinds of records.
const KINDS: [(&str, &str, Option<&str>); 6] = [
    ("/a.b/", "/text", None),
    ("/id", "/n", None),
    ("/id", "/text", Some("_id")),
    ("/id", "/text", Some("id")),
    ("", "/n", Some("key")),
    ("/a.b/", "", None),
];

const SCANNED: [Operation; 2] = [Scan, Read];

fn is_clean(report: &JobReport) {
    assert_eq!(report.wrong_answers, Vec::<String>::new());
    assert_eq!((report.lost_updates, report.unknown_writes), (0, 0));
    assert!(report.refusals.is_empty(), "{:?}", report.refusals);
    for (operation, counted) in &report.operations {
        assert!(counted.operations > 0, "{operation}");
        assert_eq!((counted.errors, counted.wrong), (0, 0), "{operation}");
    }
}

#[test]
fn mixed_trials_raise_no_alarm() {
    let reads: &[(Operation, f64)] = &[(Read, 0.5), (ReadPaths, 0.3), (Scan, 0.2)];
    let inserts: &[(Operation, f64)] = &[(Read, 0.4), (Insert, 0.2), (InsertBatch, 0.1), (Scan, 0.3)];
    let writes: &[(Operation, f64)] = &[
        (Read, 0.3),
        (ReadPaths, 0.1),
        (Update, 0.2),
        (UpdatePath, 0.1),
        (UpdateAll, 0.1),
        (ReadModifyWrite, 0.2),
    ];
    let all: &[(Operation, f64)] = &[
        (Read, 0.2),
        (ReadPaths, 0.1),
        (Update, 0.1),
        (UpdateAll, 0.1),
        (ReadModifyWrite, 0.1),
        (Insert, 0.15),
        (Delete, 0.1),
        (Scan, 0.15),
    ];
    let distributions =
        [RequestDistribution::Zipfian, RequestDistribution::Uniform, RequestDistribution::Latest];
    let mut trials = 0;
    for (key, update, member) in KINDS {
        let store = OwnStore::new(&lines(), key, update, member);
        let report = store.read_baseline(&SCANNED).unwrap();
        assert_eq!((report.documents, report.absent, report.changed), (DOCUMENTS as u64, 0, 0), "{report:?}");
        assert_eq!(report.unexpected, 0, "{report:?}");
        let mut clients = store.clients();
        // One load, so that each trial meets what the earlier ones have left.
        for (index, mix) in
            [reads, inserts, writes, reads, all, all, inserts, writes, reads].into_iter().enumerate()
        {
            if update.is_empty() && mix.iter().any(|(operation, _)| matches!(operation, Update | UpdateAll)) {
                continue;
            }
            let mut job = Job { seed: index as u64, ..store.job(mix, 6, 600) };
            job.mix.requests = distributions[index % 3];
            let report = run(&mut clients, &job).unwrap();
            is_clean(&report);
            assert_eq!(report.records, store.len(), "{key} {update} {index}");
            trials += 1;
        }
    }
    assert!(trials >= 49, "{trials}");
}

#[test]
fn planted_faults_are_found() {
    let reads_and_updates: &[(Operation, f64)] = &[(Read, 0.5), (Update, 0.5)];
    for (key, update, member) in KINDS.into_iter().filter(|(_, update, _)| !update.is_empty()) {
        for (fault, mix) in [
            (Fault::Stale, reads_and_updates),
            (Fault::Torn, reads_and_updates),
            (Fault::Swapped, reads_and_updates),
            (Fault::Lost, reads_and_updates),
            (Fault::Damaged, reads_and_updates),
            (Fault::Lost, &[(Insert, 0.5), (Read, 0.5)]),
            (Fault::Swapped, &[(Scan, 1.0)]),
            (Fault::Torn, &[(Scan, 1.0)]),
            (Fault::Omitted, &[(Scan, 1.0)]),
            (Fault::Stale, &[(ReadModifyWrite, 0.5), (Read, 0.5)]),
        ] {
            let store = OwnStore::new(&lines(), key, update, member);
            store.read_baseline(&SCANNED).unwrap();
            store.plant(fault, 7);
            let mut job = store.job(mix, 2, 500);
            if mix.iter().any(|(operation, _)| *operation == Insert) {
                job.mix.requests = RequestDistribution::Latest;
            }
            let report = run(&mut store.clients(), &job).unwrap();
            let wrong: u64 = report.operations.values().map(|counted| counted.wrong).sum();
            assert!(wrong > 0, "{fault:?} of {mix:?} over {key} {update}");
            assert!(!report.wrong_answers.is_empty());
        }
    }
}

#[test]
fn what_the_load_changed_and_left_out_is_not_wrong() {
    let mix: &[(Operation, f64)] =
        &[(Read, 0.3), (ReadPaths, 0.2), (Update, 0.2), (Scan, 0.2), (Insert, 0.1)];
    for operations in [&SCANNED[..], &[Read]] {
        let store = OwnStore::new(&lines(), "/id", "/text", None);
        store.change_all(|index, document| {
            if index % 3 == 0 {
                document["deep"]["x y"][1]["v"] = json!("a text now");
            }
            index % 20 != 5
        });
        let report = store.read_baseline(operations).unwrap();
        assert_eq!((report.absent, report.documents), (15, 285), "{report:?}");
        assert_eq!((report.changed, report.unexpected), (95, 0), "{report:?}");
        assert_eq!((report.absent_keys.len(), report.changed_keys.len()), (10, 10));
        let mut clients = store.clients();
        is_clean(&run(&mut clients, &store.job(mix, 4, 2_000)).unwrap());
        store.change_all(|index, document| {
            if index == 40 {
                document["flag"] = json!("changed behind the clients");
            }
            true
        });
        let report = run(&mut clients, &store.job(&[(Scan, 1.0)], 4, 500)).unwrap();
        assert!(report.operations[&Scan].wrong > 0);
    }
}

#[test]
fn a_load_of_other_documents_is_noticed() {
    let store = OwnStore::new(&lines(), "/id", "/text", None);
    let mut earlier = json!(null);
    store.change_all(|index, document| {
        if index == 3 {
            document["id"] = earlier.clone();
        }
        earlier = document["id"].clone();
        true
    });
    let report = store.read_baseline(&SCANNED).unwrap();
    // Once by the scan, and once when the document is read by its key.
    assert_eq!((report.documents, report.absent), (299, 1), "{report:?}");
    assert!(report.unexpected > 0 && report.unexpected_rows[0].contains("the key of another"), "{report:?}");
}

#[test]
fn rows_of_other_documents_are_found_wherever_they_are() {
    for (key, foreign) in [("/id", Key::Integer(-5)), ("/a.b/", Key::Text("!".to_owned()))] {
        let store = OwnStore::new(&lines(), key, "/text", None);
        store.add(foreign, json!({"id": -5}));
        let report = store.read_baseline(&SCANNED).unwrap();
        // Below the smallest key of all documents.
        assert_eq!((report.documents, report.unexpected), (DOCUMENTS as u64, 1), "{report:?}");
        assert!(report.unexpected_rows[0].contains("that of no document"), "{report:?}");
    }
    // More than one page.
    let line = |index: usize| json!({"id": index, "text": format!("loaded {index}")}).to_string();
    let many: Vec<String> = (0..1_500).map(line).collect();
    let store = OwnStore::new(&many, "/id", "/text", None);
    let report = store.read_baseline(&SCANNED).unwrap();
    assert_eq!((report.documents, report.unexpected), (1_500, 0), "{report:?}");
    // The second page has the document twice with which the first one has ended.
    store.plant(Fault::Doubled, 2);
    let report = store.read_baseline(&SCANNED).unwrap();
    assert_eq!((report.documents, report.unexpected), (1_500, 1), "{report:?}");
    assert!(report.unexpected_rows[0].contains("twice"), "{report:?}");
    // Pages that never advance end all the same.
    store.plant(Fault::Restarted, 1);
    let report = store.read_baseline(&SCANNED).unwrap();
    assert!(report.documents == 1_500 && report.unexpected > 0, "{report:?}");
}

#[test]
fn jobs_that_cannot_be_checked_are_refused() {
    let refusal = |update: &str, shares: &[(Operation, f64)]| {
        let store = OwnStore::new(&lines(), "/id", update, None);
        store.read_baseline(&SCANNED).unwrap();
        run(&mut store.clients(), &store.job(shares, 1, 10)).unwrap_err().message
    };
    assert!(refusal("/text", &[(Find, 1.0)]).contains("over own documents"));
    for operation in [Update, UpdatePath, UpdateAll, ReadModifyWrite] {
        let message = refusal("", &[(operation, 1.0)]);
        assert!(message.contains("--update"), "{message}");
    }
    let store = OwnStore::new(&lines(), "/id", "/text", None);
    let message = run(&mut store.clients(), &store.job(&[(Read, 1.0)], 1, 10)).unwrap_err().message;
    assert!(message.contains("baseline"), "{message}");
    store.change_all(|_, _| false);
    store.read_baseline(&SCANNED).unwrap();
    let message = run(&mut store.clients(), &store.job(&[(Read, 1.0)], 1, 10)).unwrap_err().message;
    assert!(message.contains("no document was there"), "{message}");
    store.change_all(|_, _| true);
    assert!(store.read_baseline(&[Insert]).unwrap_err().message.contains("neither a scan nor a read"));
}

#[test]
fn operations_are_known_by_whether_they_need_generated_documents() {
    let is_supported = |operation: &Operation| operation.own_documents_obstacle().is_none();
    let supported: Vec<Operation> = Operation::ALL.into_iter().filter(is_supported).collect();
    assert!(supported.contains(&ReadModifyWrite) && supported.contains(&Delete));
    assert!(!supported.contains(&Unwrap));
    assert_eq!(supported.len(), 10);
}
