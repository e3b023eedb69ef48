//! The digest of every built-in configuration is the one that is kept in `golden/digests.txt`: a refactoring that changes
//! one would refuse to resume runs and would forget the durability that was found.
//!
//! A changed statement or setting changes digests on purpose:
//! `JSONATHLON_WRITE_GOLDEN=1 cargo test -p jsonathlon-catalogue --test all digests` writes the file anew, and
//! the diff shows which configurations are different ones now.

use std::{collections::BTreeSet, fmt::Write, path::Path};

use jsonathlon_catalogue::Catalogue;

#[test]
fn configuration_digests_are_unchanged() {
    let mut lines = String::new();
    for system in Catalogue::load(&[]).unwrap().systems() {
        let variants: BTreeSet<&str> = system
            .workloads()
            .into_iter()
            .flat_map(|workload| system.variants_of(workload))
            .map(|variant| variant.name.as_str())
            .collect();
        for version in system.versions() {
            for variant in &variants {
                for storage in system.storages() {
                    let configuration = system.configuration(version, variant, &storage.name);
                    let digest =
                        configuration.map_or_else(|error| error.to_string(), |made| made.digest.clone());
                    let name = system.name();
                    writeln!(lines, "{name} {version} {variant} {}: {digest}", storage.name).unwrap();
                }
            }
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/digests.txt");
    if std::env::var_os("JSONATHLON_WRITE_GOLDEN").is_some() {
        std::fs::write(&file, &lines).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    for (new, golden) in lines.lines().zip(golden.lines()) {
        assert_eq!(new, golden, "JSONATHLON_WRITE_GOLDEN=1 accepts it");
    }
    assert_eq!(lines.lines().count(), golden.lines().count(), "JSONATHLON_WRITE_GOLDEN=1 accepts it");
}
