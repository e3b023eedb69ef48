//! Tests of sources with several parts: an archive from one registry, and packages from another that it
//! depends on. The clients are shell scripts; packages are read by the machine's own tools.

use crate::support;

use std::fs;

use support::{
    LIBRARY, Member, artifact, never, sha256, source,
    suite::{Suite, debian},
    tgz,
};

use jsonathlon_artifacts::{ArtifactError, ArtifactStore, InstallState, client_programs};
use jsonathlon_catalogue::{Artifact, InstalledArtifact, SourceKind};

/// Script of an npm client that delivers the engine from the suite's files.
const NPM: &str = r#"cp "$archive/engine.tgz" "$dest/engine.tgz""#;

fn install(store: &ArtifactStore, artifact: &Artifact) -> Result<InstalledArtifact, ArtifactError> {
    store.install(artifact, &mut |_| {}, &never)
}

/// An artifact of a program from npm and a library from the suite; `members` are the archive's content.
fn with_members(suite: &Suite, members: &[Member<'_>]) -> Artifact {
    let archive = tgz(members);
    fs::write(suite.world.path("archive/engine.tgz"), &archive).unwrap();
    suite.world.client("npm", NPM);
    let kind = SourceKind::Npm { package: "@example/engine@2.0.1".into() };
    let mut engine = source(kind, &archive, &[]);
    engine.files =
        [("server".to_owned(), "package/server".to_owned()), ("libraries".to_owned(), "usr/lib/".to_owned())]
            .into();
    engine.further_parts = vec![library(suite, "1.1-1", b"a library")];
    artifact(vec![engine])
}

fn usual(suite: &Suite) -> Artifact {
    with_members(suite, &[Member::File("package/server", LIBRARY)])
}

/// The source of the library, which is added to the suite in this version.
fn library(suite: &Suite, version: &str, contents: &[u8]) -> jsonathlon_catalogue::Source {
    let package = suite.offer("libexample1", version, &[Member::File("./usr/lib/libexample.so.1", contents)]);
    let mut part = debian(vec![package]);
    part.members = vec!["usr/lib/lib*".to_owned()];
    part.files.clear();
    part
}

#[test]
fn all_parts_are_fetched_by_their_clients_into_one_folder() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    assert_eq!(suite.store().presence(&artifact), InstallState::Absent);
    let installed = install(&suite.store(), &artifact).unwrap();
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), LIBRARY);
    assert_eq!(fs::read(installed.files["libraries"].join("libexample.so.1")).unwrap(), b"a library");
    assert_eq!(installed.source, "npm @example/engine@2.0.1 with debian sid libexample1 1.1-1");
    let source = &artifact.sources[0];
    assert_eq!(installed.sha256, Some(source.digest()));
    assert_ne!(source.digest(), source.sha256, "another library is another artifact");
    assert_eq!(source.download_bytes(), source.bytes + source.further_parts[0].bytes);
    assert_eq!(source.installed_bytes(), source.unpacked_bytes + source.further_parts[0].unpacked_bytes);
    assert_eq!(client_programs(source), ["npm", "apt-get"]);

    let folder = installed.folder.clone().unwrap();
    let record = fs::read_to_string(folder.join("installed.json")).unwrap();
    for words in [&source.sha256, &source.further_parts[0].sha256, &sha256(LIBRARY), &sha256(b"a library")] {
        assert!(record.contains(words), "{words}: {record}");
    }
    assert_eq!(suite.world.cached().len(), 3, "no download stays: {:?}", suite.world.cached());
    assert_eq!(suite.store().check(&artifact, &mut |_| {}, &never).unwrap().files, 2);
    let calls = suite.world.calls().len();
    assert_eq!(install(&suite.store(), &artifact).unwrap(), installed);
    assert_eq!(suite.world.calls().len(), calls, "what is there is not fetched again");

    // Every part is checked by size and content.
    let file = folder.join("usr/lib/libexample.so.1");
    fs::write(&file, b"B library").unwrap();
    let error = suite.store().check(&artifact, &mut |_| {}, &never).unwrap_err().to_string();
    assert!(error.contains("libexample.so.1 has other contents"), "{error}");
    fs::remove_file(&file).unwrap();
    assert!(matches!(suite.store().presence(&artifact), InstallState::Damaged { .. }));
    assert!(suite.store().remove(&artifact, &never).unwrap() > 0);
    assert_eq!(suite.world.cached(), [""; 0]);
    assert_eq!(suite.store().presence(&artifact), InstallState::Absent);
}

#[test]
fn a_source_that_pins_another_part_is_another_installation() {
    let suite = Suite::new();
    let before = usual(&suite);
    install(&suite.store(), &before).unwrap();
    let mut after = before.clone();
    after.sources[0].further_parts[0] = library(&suite, "1.2-1", b"newer");
    assert_eq!(suite.store().presence(&after), InstallState::Absent);
    let installed = install(&suite.store(), &after).unwrap();
    assert_eq!(fs::read(installed.files["libraries"].join("libexample.so.1")).unwrap(), b"newer");
    assert!(matches!(suite.store().presence(&before), InstallState::Installed(_)), "both lie side by side");
}

#[test]
fn what_a_part_lacks_is_said_before_any_download() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    assert_eq!(suite.store().missing_requirements(&artifact), None);
    let lacks = |store: ArtifactStore, clients: [&str; 2]| {
        let lacks = store.missing_requirements(&artifact).unwrap();
        let error = install(&store, &artifact).unwrap_err().to_string();
        for client in clients {
            assert!(lacks.contains(client) && error.contains(client), "{client}: {lacks}; {error}");
        }
        assert_eq!(suite.world.calls(), [""; 0], "nothing was asked of anybody");
        assert_eq!(suite.world.cached(), [""; 0]);
        lacks
    };
    let unverifiable = lacks(
        suite.world.store().with_debian_keyring("/nowhere/keyring"),
        ["/nowhere/keyring", "debian-archive-keyring"],
    );
    assert!(!unverifiable.contains("npm"), "{unverifiable}");
    fs::remove_file(suite.world.path("bin/apt-get")).unwrap();
    let one = lacks(suite.store(), ["`apt-get`", "for sid libexample1 1.1-1"]);
    assert!(!one.contains("npm") && one.contains("is not on the search path"), "{one}");
    fs::remove_file(suite.world.path("bin/npm")).unwrap();
    let both = lacks(suite.store(), ["`npm`", "`apt-get`"]);
    assert!(both.contains("`npm` and `apt-get`, by which it is fetched, are not"), "{both}");
}

#[test]
fn a_source_of_one_part_is_taken_where_another_source_lacks_a_client() {
    let suite = Suite::new();
    let mut artifact = usual(&suite);
    let alone = tgz(&[Member::File("package/server", b"alone"), Member::File("usr/lib/x.so", b"its own")]);
    let kind = SourceKind::Npm { package: "@example/alone@2.0.1".into() };
    let mut other = source(kind, &alone, &[]);
    other.files = artifact.sources[0].files.clone();
    artifact.sources.push(other);
    fs::remove_file(suite.world.path("bin/apt-get")).unwrap();
    fs::write(suite.world.path("archive/engine.tgz"), &alone).unwrap();
    assert_eq!(suite.store().missing_requirements(&artifact), None);
    let installed = install(&suite.store(), &artifact).unwrap();
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), b"alone");
}

#[test]
fn a_part_with_another_digest_is_refused_and_nothing_is_half_installed() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    let index = fs::read_to_string(suite.world.path("archive/libexample1")).unwrap();
    // The index has the pinned entry, but another file is delivered.
    library(&suite, "1.1-1", b"forged");
    fs::write(suite.world.path("archive/libexample1"), index).unwrap();
    let error = install(&suite.store(), &artifact).unwrap_err();
    assert!(
        matches!(&error, ArtifactError::WrongDigest { package, .. } if package.contains("libexample1")),
        "{error}"
    );
    assert_eq!(suite.store().presence(&artifact), InstallState::Absent);
    // The verified part is reused, so npm is not called again.
    let verified = format!("example/2.0/{}.download", artifact.sources[0].sha256);
    assert_eq!(suite.world.cached(), [verified]);
    library(&suite, "1.1-1", b"a library");
    install(&suite.store(), &artifact).unwrap();
    assert_eq!(suite.world.calls().iter().filter(|call| call.starts_with("npm")).count(), 1);

    // The same with the first part.
    let suite = Suite::new();
    let artifact = usual(&suite);
    fs::write(suite.world.path("archive/engine.tgz"), "forged").unwrap();
    let error = install(&suite.store(), &artifact).unwrap_err();
    assert!(
        matches!(&error, ArtifactError::WrongDigest { package, .. } if package.contains("engine")),
        "{error}"
    );
    assert_eq!(suite.world.cached(), [""; 0]);
}

#[test]
fn a_file_that_is_in_no_part_and_one_that_is_in_two_are_refused() {
    let suite = Suite::new();
    let mut artifact = usual(&suite);
    artifact.sources[0].files.insert("more".into(), "usr/lib/nowhere".into());
    let error = install(&suite.store(), &artifact).unwrap_err().to_string();
    assert!(error.contains("`usr/lib/nowhere` (more) is not in it"), "{error}");
    assert!(error.contains("engine") && error.contains("libexample1"), "{error}");
    assert_eq!(suite.world.cached(), [""; 0]);

    let twice = with_members(
        &suite,
        &[Member::File("package/server", LIBRARY), Member::File("usr/lib/libexample.so.1", b"x")],
    );
    let error = install(&suite.store(), &twice).unwrap_err().to_string();
    assert!(error.contains("`usr/lib/libexample.so.1` is in it twice"), "{error}");
    assert_eq!(suite.store().presence(&twice), InstallState::Absent);

    // A part must not write through a link that another part contains.
    let linked = with_members(
        &suite,
        &[
            Member::File("package/server", LIBRARY),
            Member::File("elsewhere/x", b"x"),
            Member::Link("usr/lib", "../elsewhere"),
        ],
    );
    let error = install(&suite.store(), &linked).unwrap_err().to_string();
    assert!(error.contains("lies below something that is no folder"), "{error}");
}

#[test]
fn a_part_that_is_gone_is_named_and_a_newer_one_is_told_in_the_version() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    library(&suite, "1.1-2", b"newer");
    let error = install(&suite.store(), &artifact).unwrap_err();
    assert!(matches!(error, ArtifactError::PackagesUnavailable(_)), "{error}");
    assert!(
        error.to_string().contains("libexample1 1.1-1 is unavailable, and the newest is 1.1-2"),
        "{error}"
    );
    let accepting = suite.store().with_newer_versions(true);
    let installed = install(&accepting, &artifact).unwrap();
    assert_eq!(
        (installed.version.as_str(), installed.version_text.as_str()),
        ("2.0+libexample1-1.1-2", "2.0.1")
    );
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), LIBRARY);
    assert_eq!(fs::read(installed.files["libraries"].join("libexample.so.1")).unwrap(), b"newer");
    assert_eq!(accepting.presence(&artifact), InstallState::Installed(installed));
    assert_eq!(suite.store().presence(&artifact), InstallState::Absent, "only with the flag");
}

#[test]
fn room_is_needed_for_every_part() {
    let suite = Suite::new();
    let mut artifact = usual(&suite);
    artifact.sources[0].further_parts[0].unpacked_bytes = 1 << 60;
    let error = install(&suite.store(), &artifact).unwrap_err();
    assert!(
        matches!(error, ArtifactError::NotEnoughSpace { needed_bytes, .. } if needed_bytes > 1 << 60),
        "{error}"
    );
    assert_eq!(suite.world.calls(), [""; 0]);
}
