//! Tests of the status of systems' versions.

use std::path::Path;

use jsonathlon_artifacts::{ArtifactStore, client_programs, system_statuses};
use jsonathlon_catalogue::Catalogue;

#[test]
fn the_status_of_a_source_with_further_parts_counts_all_of_them() {
    let catalogue = Catalogue::load(&[]).unwrap();
    let mongodb = catalogue.get("mongodb").unwrap();
    let source = &mongodb.artifact("6.0.27").unwrap().unwrap().sources[0];
    assert_eq!(client_programs(source), ["pip3", "apt-get"]);
    let line = system_statuses(&catalogue, &ArtifactStore::new("/dev/null/nowhere"))
        .into_iter()
        .find(|line| line.name == "mongodb" && line.version == "6.0.27")
        .unwrap();
    assert_eq!((line.download_bytes, line.clients.as_slice()), (Some(44_152_241), &["pip3", "apt-get"][..]));
    assert!(line.source.unwrap().ends_with("with debian bullseye libssl1.1 1.1.1w-0+deb11u1"));
}

#[test]
fn the_table_of_systems() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/tests/fixtures/systems");
    let catalogue = Catalogue::load(&[fixtures]).unwrap();
    let store = ArtifactStore::new("/dev/null/nowhere");
    let lines = system_statuses(&catalogue, &store);
    let line = |name: &str, version: &str| {
        lines.iter().find(|line| line.name == name && line.version == version).unwrap().clone()
    };
    let two = line("example", "2.0");
    assert_eq!((two.state, two.default_version, two.embedded, two.default), ("absent", true, true, false));
    assert_eq!((two.download_bytes, two.unpacked_bytes), (Some(1000), Some(3000)));
    assert_eq!(two.source.as_deref(), Some("npm @example/engine@2.0.1"));
    assert_eq!(two.variants, ["ordered", "plain", "hidden"]);
    assert_eq!(two.storages, ["default", "best"]);
    let one = line("example", "1.0");
    assert_eq!((one.state, one.licence.as_str(), one.download_bytes), ("other platform", "MIT", None));
    assert_eq!(line("byaddress", "9").state, "by address");
}
