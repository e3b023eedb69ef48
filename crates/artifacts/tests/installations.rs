//! Tests of the identity of installations, and of errors for installations that differ from their folder.

use crate::support;

use std::fs;

use support::{Member, World, never, package, tgz};

use jsonathlon_artifacts::{ArtifactError, ArtifactStore, InstallState};
use jsonathlon_catalogue::{Artifact, InstalledArtifact, Source};

/// Script of a working npm client.
const GOOD_NPM: &str = r#"cp "$archive" "$dest/example-engine-2.0.1.tgz"; echo "some noise""#;

fn install(store: &ArtifactStore, artifact: &Artifact) -> Result<InstalledArtifact, ArtifactError> {
    store.install(artifact, &mut |_| {}, &never)
}

#[test]
fn corrected_members_are_another_installation() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let first = world.serve(&package(), &["package/lib.so"]);
    let installed = install(&world.store(), &first).unwrap();
    let mut corrected = first.clone();
    corrected.sources[0].members.push("package/package.json".into());
    assert_eq!(world.store().presence(&corrected), InstallState::Absent);
    let both = install(&world.store(), &corrected).unwrap();
    assert!(both.folder.as_ref().unwrap().join("package/package.json").exists());
    assert_eq!(both.sha256, installed.sha256, "of the same archive");
    assert_eq!(world.store().presence(&first), InstallState::Installed(installed));

    for change in [
        |source: &mut Source| source.folders.push("package/empty/".into()),
        |source: &mut Source| source.inner = Some("package/lib.so".into()),
        |source: &mut Source| drop(source.files.insert("library".into(), "package/package.json".into())),
    ] {
        let mut other = first.clone();
        change(&mut other.sources[0]);
        assert_eq!(world.store().presence(&other), InstallState::Absent);
    }
}

#[test]
fn a_wrong_size_beside_the_right_digest_is_said_with_the_right_one() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let mut artifact = world.serve(&package(), &[]);
    let bytes = artifact.sources[0].bytes;
    artifact.sources[0].bytes += 1;
    let error = install(&world.store(), &artifact).unwrap_err();
    assert!(matches!(error, ArtifactError::WrongSize { .. }), "{error}");
    let words = format!(
        "has {bytes} bytes, and the system's folder states `bytes` = {}: its SHA-256 is right",
        bytes + 1
    );
    assert!(error.to_string().contains(&words), "{error}");
    assert_eq!(world.cached(), [""; 0]);
}

#[test]
fn what_is_not_there_is_said_with_the_command_that_installs_it() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let mut artifact = world.serve(&package(), &[]);
    artifact.location.systems_dir = Some("my systems".into());
    let store = world.store();
    let error = store.check(&artifact, &mut |_| {}, &never).unwrap_err().to_string();
    let install_it = "jsonathlon systems install example@2.0 --systems-dir 'my systems'";
    assert_eq!(error, format!("example 2.0 is not installed: install it with `{install_it}`"));
    let installed = install(&store, &artifact).unwrap();
    fs::write(installed.library().unwrap(), b"short").unwrap();
    let error = store.check(&artifact, &mut |_| {}, &never).unwrap_err().to_string();
    let remove_it = "jsonathlon systems remove example@2.0 --systems-dir 'my systems'";
    assert!(error.ends_with(&format!("reinstall it with `{remove_it} && {install_it}`")), "{error}");
}

#[test]
fn a_wrong_unpacked_size_is_said_with_the_right_one_and_costs_no_second_download() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let mut artifact = world.serve(&package(), &["package/lib.so"]);
    artifact.sources[0].unpacked_bytes = 10;
    let error = install(&world.store(), &artifact).unwrap_err();
    assert!(
        matches!(error, ArtifactError::UnpackedTooLarge { actual_bytes: 47, limit_bytes: 10, .. }),
        "{error}"
    );
    let words = "have 47 bytes, more than the stated `unpacked_bytes`, 10: correct `unpacked_bytes`";
    assert!(error.to_string().contains(words), "{error}");
    artifact.sources[0].unpacked_bytes = 47;
    install(&world.store(), &artifact).unwrap();
    assert_eq!(world.calls().len(), 1, "the archive was verified already");
    assert_eq!(world.cached().len(), 2, "{:?}", world.cached());
}

#[test]
fn another_pinned_archive_does_not_meet_the_installed_one() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let old = world.serve(&package(), &["package/lib.so"]);
    install(&world.store(), &old).unwrap();
    let new = world.serve(&tgz(&[Member::File("package/lib.so", b"newer")]), &["package/lib.so"]);
    assert_eq!(world.store().presence(&new), InstallState::Absent);
    let installed = install(&world.store(), &new).unwrap();
    assert_eq!(fs::read(installed.library().unwrap()).unwrap(), b"newer");
    assert!(matches!(world.store().presence(&old), InstallState::Installed(_)));
}
