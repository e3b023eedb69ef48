//! Tests of baselines: runs saved under names.

use crate::support;

use jsonathlon_results::ResultsError;
use jsonathlon_results::baseline::Baselines;
use jsonathlon_results::summary::Run;

use support::{configuration, run};

#[test]
fn baselines_are_kept_found_and_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("run");
    std::fs::create_dir_all(source.join("work")).unwrap();
    let a = run("a", &[configuration("ma", "1")]);
    let write = |run: &Run| {
        std::fs::write(source.join("manifest.json"), serde_json::to_vec(&run.manifest).unwrap()).unwrap();
        let lines = run.records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n");
        std::fs::write(source.join("journal.ndjson"), lines.collect::<String>()).unwrap();
    };
    write(&a);
    let baselines = Baselines::new(folder.path().join("baselines"));
    assert!(baselines.names().is_empty());
    let error = baselines.find("main").unwrap_err().to_string();
    assert!(error.contains("none is saved yet") && error.contains("--save-baseline"), "{error}");
    let kept = baselines.save("main", &source, false).unwrap();
    assert_eq!(baselines.find("main").unwrap(), kept);
    let journal = |folder: &std::path::Path| std::fs::read(folder.join("journal.ndjson")).unwrap();
    assert_eq!(journal(&kept), journal(&source));
    assert!(!kept.join("work").exists(), "only what a comparison reads");
    let error = baselines.find("mian").unwrap_err().to_string();
    assert!(error.contains("there is main;"), "{error}");

    let mut changed = a.clone();
    changed.manifest.program = "0.2.1".into();
    write(&changed);
    let error = baselines.save("main", &source, false).unwrap_err();
    assert!(matches!(error, ResultsError::BaselineExists { .. }) && error.to_string().contains("--force"));
    assert_eq!(Run::read(&kept).unwrap().manifest.program, "0.2.0");
    baselines.save("main", &source, true).unwrap();
    assert_eq!(Run::read(&kept).unwrap().manifest.program, "0.2.1");
    assert_eq!(baselines.names(), ["main"]);
    let names = std::fs::read_dir(folder.path().join("baselines")).unwrap().count();
    assert_eq!(names, 1, "nothing half made is left");

    assert!(matches!(baselines.save("../x", &source, true), Err(ResultsError::BaselineName { .. })));
    assert!(matches!(baselines.find("a/b"), Err(ResultsError::BaselineName { .. })));
    std::fs::write(source.join("journal.ndjson"), "rubbish\nrubbish\n").unwrap();
    assert!(matches!(baselines.save("main", &source, true), Err(ResultsError::Corrupt { .. })));
    assert_eq!(Run::read(&kept).unwrap().manifest.program, "0.2.1", "the old one stands");
}

#[test]
fn what_is_no_baseline_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("run");
    std::fs::create_dir(&source).unwrap();
    let a = run("a", &[configuration("ma", "1")]);
    std::fs::write(source.join("manifest.json"), serde_json::to_vec(&a.manifest).unwrap()).unwrap();
    std::fs::write(source.join("journal.ndjson"), "").unwrap();
    let baselines = Baselines::new(folder.path().join("baselines"));
    let kept = baselines.save("main", &source, true).unwrap();
    let hidden = || std::fs::read_dir(folder.path().join("baselines")).unwrap().count() - 1;
    let refused = || {
        let error = baselines.save("main", &source, true).unwrap_err();
        assert!(matches!(error, ResultsError::NotABaseline { .. }), "{error}");
        assert_eq!(hidden(), 0, "nothing half made is left");
    };
    std::fs::write(kept.join("report.html"), "").unwrap();
    baselines.save("main", &source, true).unwrap();
    assert!(!kept.join("report.html").exists(), "a page of the old one");
    std::fs::write(kept.join("thesis.txt"), "").unwrap();
    refused();
    assert!(kept.join("thesis.txt").exists() && kept.join("manifest.json").exists());
    std::fs::remove_file(kept.join("thesis.txt")).unwrap();
    std::fs::remove_file(kept.join("journal.ndjson")).unwrap();
    std::fs::create_dir(kept.join("journal.ndjson")).unwrap();
    refused();
    std::fs::remove_dir_all(&kept).unwrap();
    std::os::unix::fs::symlink(&source, &kept).unwrap();
    refused();
    assert!(source.join("manifest.json").exists());
    std::fs::remove_file(&kept).unwrap();
    std::fs::write(&kept, "a file").unwrap();
    refused();
    std::fs::remove_file(&kept).unwrap();
    // Not even an empty folder is replaced unless requested.
    std::fs::create_dir(&kept).unwrap();
    let error = baselines.save("main", &source, false).unwrap_err();
    assert!(matches!(error, ResultsError::BaselineExists { .. }), "{error}");
    baselines.save("main", &source, true).unwrap();
    assert_eq!(hidden(), 0);
    // A run whose journal cannot be copied leaves nothing behind.
    std::fs::remove_file(source.join("journal.ndjson")).unwrap();
    std::fs::create_dir(source.join("journal.ndjson")).unwrap();
    assert!(baselines.save("other", &source, false).is_err());
    assert_eq!(hidden(), 0);
}
