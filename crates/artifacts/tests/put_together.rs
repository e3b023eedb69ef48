//! Tests of artifacts assembled from packages of a Debian suite, and of programs built from Go modules. The
//! clients are shell scripts; packages are read by the machine's own tools.

use crate::support;

use std::{cell::RefCell, fs, path::PathBuf};

use support::{
    LIBRARY, Member, World, artifact, never, sha256, source,
    suite::{Suite, debian, debian_of},
};

use jsonathlon_artifacts::{ArtifactError, ArtifactStore, InstallState, InstallStep};
use jsonathlon_catalogue::{Artifact, Catalogue, DebianPackage, InstalledArtifact, SourceKind};

fn install(store: &ArtifactStore, artifact: &Artifact) -> Result<InstalledArtifact, ArtifactError> {
    store.install(artifact, &mut |_| {}, &never)
}

/// A server and its library in version 2.0.
fn usual(suite: &Suite) -> Artifact {
    let server = suite.offer(
        "example-server",
        "1:2.0-1",
        &[
            Member::Folder("./usr/"),
            Member::File("./usr/sbin/server", LIBRARY),
            Member::File("./usr/share/doc/large", b"not wanted"),
        ],
    );
    let library = suite.offer(
        "libexample1",
        "7.1+dfsg-2",
        &[
            Member::File("./usr/lib/libexample.so.1.7", b"a library"),
            Member::Link("./usr/lib/libexample.so.1", "libexample.so.1.7"),
            Member::File("./usr/lib/gconv/large", b"not wanted"),
        ],
    );
    artifact(vec![debian(vec![server, library])])
}

#[test]
fn packages_of_a_suite_are_unpacked_side_by_side() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    let installed = install(&suite.store(), &artifact).unwrap();
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), LIBRARY);
    let libraries = &installed.files["libraries"];
    assert_eq!(fs::read(libraries.join("libexample.so.1")).unwrap(), b"a library", "by the link");
    assert!(
        !libraries.join("gconv").exists() && !installed.folder.as_ref().unwrap().join("usr/share").exists()
    );
    assert_eq!((installed.version.as_str(), installed.version_text.as_str()), ("2.0", "2.0.1"));
    assert_eq!(installed.source, "debian sid example-server 1:2.0-1 and 1 package more");
    let record = fs::read_to_string(installed.folder.unwrap().join("installed.json")).unwrap();
    assert!(record.contains("7.1+dfsg-2"), "{record}");
    suite.store().check(&artifact, &mut |_| {}, &never).unwrap();
    assert_eq!(suite.world.cached().len(), 4, "{:?}", suite.world.cached());
    let calls = suite.world.calls();
    assert!(
        calls.last().unwrap().ends_with("download example-server=1:2.0-1 libexample1=7.1+dfsg-2"),
        "{calls:?}"
    );

    install(&suite.store(), &artifact).unwrap();
    assert_eq!(suite.world.calls().len(), calls.len(), "what is there is not fetched again");
}

#[test]
fn an_index_that_is_past_its_date_does_for_what_is_pinned() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    fs::write(suite.world.path("archive/mode"), "late").unwrap();
    install(&suite.store(), &artifact).unwrap();
}

#[test]
fn a_package_that_is_gone_is_named_with_the_newest_which_is_taken_only_when_accepted() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    suite.offer("example-server", "1:2.1-1", &[Member::File("./usr/sbin/server", b"newer")]);
    let error = install(&suite.store(), &artifact).unwrap_err();
    assert!(matches!(error, ArtifactError::PackagesUnavailable(_)), "{error}");
    let message = error.to_string();
    for words in [
        "example-server 1:2.0-1 is unavailable",
        "the newest is 1:2.1-1",
        "systems install example@2.0 --allow-newer",
    ] {
        assert!(message.contains(words), "{message}");
    }
    assert!(!message.contains("libexample1"), "it is there still: {message}");
    assert_eq!(suite.world.cached(), [""; 0]);

    let accepting = suite.store().with_newer_versions(true);
    let mut pinned = artifact.clone();
    pinned.version_text = "v2.0".into();
    let installed = install(&accepting, &pinned).unwrap();
    assert_eq!((installed.version.as_str(), installed.version_text.as_str()), ("2.1", "v2.1"));
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), b"newer");
    assert_ne!(installed.sha256.as_deref(), Some(pinned.sources[0].sha256.as_str()));
    assert_eq!(accepting.version(&pinned), "2.1");
    assert_eq!(accepting.presence(&pinned), InstallState::Installed(installed));
    assert_eq!(suite.store().presence(&pinned), InstallState::Absent, "only with the flag");
    assert!(matches!(install(&suite.store(), &pinned), Err(ArtifactError::PackagesUnavailable(_))));
    accepting.check(&pinned, &mut |_| {}, &never).unwrap();
    suite.store().remove(&pinned, &never).unwrap();
    assert_eq!(accepting.presence(&pinned), InstallState::Absent);
}

#[test]
fn a_package_without_a_successor_cannot_be_accepted() {
    let suite = Suite::new();
    let mut artifact = usual(&suite);
    let SourceKind::Debian { packages, .. } = &artifact.sources[0].kind else { unreachable!() };
    let mut packages = packages.clone();
    packages.push(DebianPackage {
        name: "libgone".into(),
        version: "1-1".into(),
        sha256: "0".repeat(64),
        bytes: 1,
    });
    artifact.sources = vec![debian(packages)];
    let error = install(&suite.store().with_newer_versions(true), &artifact).unwrap_err().to_string();
    assert!(error.contains("libgone 1-1 is unavailable, with no newer one"), "{error}");
    assert!(!error.contains("example-server") && !error.contains("--allow-newer"), "{error}");
}

#[test]
fn other_contents_under_a_pinned_version_are_refused() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    let pinned = fs::read_to_string(suite.world.path("archive/libexample1")).unwrap();
    // First the index has the pinned entry but another file is delivered; then the index has the other file
    // too.
    suite.offer("libexample1", "7.1+dfsg-2", &[Member::File("./usr/lib/libexample.so.1", b"other")]);
    let changed = fs::read_to_string(suite.world.path("archive/libexample1")).unwrap();
    for index in [pinned, changed] {
        fs::write(suite.world.path("archive/libexample1"), index).unwrap();
        let error = install(&suite.store().with_newer_versions(true), &artifact).unwrap_err();
        assert!(matches!(error, ArtifactError::WrongDigest { .. }), "{error}");
        assert!(error.to_string().contains("libexample1"), "{error}");
        assert_eq!(suite.world.cached(), [""; 0]);
    }
}

#[test]
fn newer_packages_are_found_among_a_suites_updates_and_its_security() {
    let suite = Suite::new();
    let server = |contents| [Member::File("./usr/sbin/server", contents)];
    let old = suite.offer("example-server", "2.0-1", &server(b"old"));
    let library = suite.offer("libexample1", "7.1-2", &[Member::File("./usr/lib/libexample.so.1", b"x")]);
    let of =
        |server: &DebianPackage| artifact(vec![debian_of("bookworm", vec![server.clone(), library.clone()])]);
    let updates = |suite: &Suite| {
        let updates = suite.world.calls().iter().filter(|call| call.ends_with(" update")).count();
        fs::remove_file(suite.world.path("calls")).unwrap();
        updates
    };
    install(&suite.store(), &of(&old)).unwrap();
    assert_eq!(updates(&suite), 1, "the suite itself has all that is pinned");

    // The mirror has only the security updates of this suite.
    let secure = suite.offer_in("bookworm-security", "example-server", "2.0-1+deb12u1", &server(b"secure"));
    let installed = install(&suite.store(), &of(&secure)).unwrap();
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), b"secure");
    assert_eq!(updates(&suite), 3);

    let gone = DebianPackage { version: "2.0-0".into(), ..old.clone() };
    let error = install(&suite.store(), &of(&gone)).unwrap_err().to_string();
    for words in [
        "example-server 2.0-0 is unavailable, and the newest is 2.0-1+deb12u1",
        "`jsonathlon systems install example@2.0 --allow-newer`",
        "Suites not searched, because the mirror lacks them: bookworm-updates",
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
    let newer = suite.offer_in("bookworm-updates", "libexample1", "7.2-1", &[]);
    let mut both = of(&secure);
    both.sources = vec![debian_of("bookworm", vec![secure.clone(), newer])];
    let error = install(&suite.store(), &both).unwrap_err().to_string();
    assert!(error.contains("`usr/lib/lib*` is not in it"), "an empty package, but found: {error}");
    let installed = install(&suite.store().with_newer_versions(true), &of(&old)).unwrap();
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), b"old", "what is pinned comes first");

    // A rolling suite has no update archives.
    updates(&suite);
    let mut rolling = of(&gone);
    rolling.sources = vec![debian(vec![gone, library.clone()])];
    install(&suite.store(), &rolling).unwrap_err();
    assert_eq!(updates(&suite), 1);
}

#[test]
fn a_wrong_size_of_a_package_is_no_other_digest() {
    let suite = Suite::new();
    let package = suite.offer("example-server", "2.0-1", &[Member::File("./usr/sbin/server", LIBRARY)]);
    let wrong = DebianPackage { bytes: package.bytes + 7, ..package.clone() };
    let mut artifact = artifact(vec![debian(vec![wrong])]);
    artifact.sources[0].members = vec!["usr/sbin/server".into()];
    let error = install(&suite.store(), &artifact).unwrap_err();
    assert!(matches!(error, ArtifactError::WrongSize { .. }), "{error}");
    let words = format!("example-server=2.0-1 has {} bytes", package.bytes);
    assert!(error.to_string().contains(&words), "{error}");
}

#[test]
fn packages_are_printed_with_all_that_they_depend_on() {
    let suite = Suite::new();
    suite.offer("libexample1", "7.1+dfsg-2", &[Member::File("./usr/lib/libexample.so.1", b"x")]);
    let server = suite.offer("example-server", "1:2.0-1", &[Member::File("./usr/sbin/server", LIBRARY)]);
    let find = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        suite.store().packages("sid", &names, &mut |_| {}, &never)
    };
    let closure = find(&["example-server"]).unwrap();
    let names: Vec<&str> = closure.packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(names, ["example-server", "libexample1"], "what was asked for comes first");
    assert_eq!((&closure.packages[0], closure.unpacked_bytes), (&server, Some(1_384_000)));

    // The printed text is valid in a system's folder.
    let text = closure.to_string();
    let folder = tempfile::tempdir().unwrap();
    let system = folder.path().join("pasted");
    fs::create_dir(&system).unwrap();
    let definition = format!(
        "name = \"pasted\"\ntitle = \"Pasted\"\nsummary = \"As printed.\"\nprotocol = \"mock\"\n\
         default_version = \"2.0\"\nlicence = \"MIT\"\n\n[[artifact]]\nversion = \"2.0\"\nreports = \"2\"\n\
         platform = \"any\"\n\n{text}"
    );
    fs::write(system.join("system.toml"), definition).unwrap();
    let catalogue = Catalogue::load(&[folder.path().to_path_buf()]).unwrap();
    let artifact = catalogue.get("pasted").unwrap().artifact("2.0").unwrap().unwrap();
    assert_eq!(artifact.sources[0].kind, SourceKind::debian("sid", closure.packages));
    assert!(text.contains("version = \"2.0\"\n"), "{text}");

    let error = find(&["example-sever"]).unwrap_err().to_string();
    assert!(error.contains("Unable to locate package example-sever"), "{error}");
    fs::remove_file(suite.world.path("keyring")).unwrap();
    assert!(find(&["example-server"]).unwrap_err().to_string().contains("debian-archive-keyring"));
}

#[test]
fn packages_cannot_write_outside_of_their_folder() {
    let wanted = || Member::File("./usr/sbin/server", LIBRARY);
    for (what, hostile) in [
        ("climbing", vec![Member::File("../escaped", b"x"), wanted()]),
        ("absolute", vec![Member::File("/tmp/escaped-from-a-package", b"x"), wanted()]),
        ("absolute link", vec![Member::Link("./usr/lib/lib", "/tmp"), wanted()]),
        ("link out", vec![Member::Link("./usr/lib/lib", "../../../x"), wanted()]),
        (
            "through a link",
            vec![Member::Link("./usr/lib/libx", "."), Member::File("./usr/lib/libx/y", b""), wanted()],
        ),
    ] {
        let suite = Suite::new();
        let package = suite.offer("example-server", "2.0-1", &hostile);
        let mut source = debian(vec![package]);
        source.members.clear();
        let error = install(&suite.store(), &artifact(vec![source])).unwrap_err();
        assert!(matches!(error, ArtifactError::Archive { .. }), "{what}: {error}");
        assert_eq!(suite.world.cached(), [""; 0], "{what}");
        assert!(!suite.world.path("cache/artifacts/example/escaped").exists(), "{what}");
    }
    assert!(!PathBuf::from("/tmp/escaped-from-a-package").exists());
}

#[test]
fn what_a_machine_lacks_for_packages_is_said_before_any_download() {
    let suite = Suite::new();
    let artifact = usual(&suite);
    assert_eq!(suite.store().missing_requirements(&artifact), None);
    fs::remove_file(suite.world.path("keyring")).unwrap();
    let lacks = suite.store().missing_requirements(&artifact).unwrap();
    assert!(lacks.contains("apt-get install debian-archive-keyring"), "{lacks}");
    fs::remove_file(suite.world.path("bin/dpkg-deb")).unwrap();
    assert!(suite.store().missing_requirements(&artifact).unwrap().contains("install dpkg"));
    fs::remove_file(suite.world.path("bin/apt-get")).unwrap();
    assert!(
        suite.store().missing_requirements(&artifact).unwrap().contains("`apt-get`, by which it is fetched")
    );
    assert!(install(&suite.store(), &artifact).is_err());
    assert!(suite.world.calls().is_empty(), "{:?}", suite.world.calls());
}

/// Script of a sufficiently new Go that builds a program with the content of go.sum.
const GO: &str = r#"cd "$start"
case "$all" in
  env*) echo go1.26.8;;
  list*) echo "go: downloading example.org/a v1.0.0" >&2; echo fmt; echo example.org/cmd/server;;
  build*) [ "$GOTOOLCHAIN" = local ] && echo example.org/cmd/server >&2
    for word in $all; do [ "$previous" = -o ] && out=$word; previous=$word; done
    cat go.sum > "$out";;
esac"#;

fn program() -> Artifact {
    let kind = SourceKind::Go {
        package: "example.org/cmd/server".into(),
        tags: vec!["pure".into()],
        go_mod: "module x\n\ngo 1.25.6\n".into(),
        go_sum: "example.org/a v1.0.0 h1:abc=\n".into(),
        go: "1.25.6".into(),
    };
    let mut source = source(kind, b"what it is built from", &[]);
    source.files = [("server".to_owned(), "server".to_owned())].into();
    artifact(vec![source])
}

#[test]
fn a_program_is_built_once_by_the_users_go() {
    let world = World::new();
    world.client("go", GO);
    let told = RefCell::new(Vec::new());
    let artifact = program();
    let installed =
        world.store().install(&artifact, &mut |progress| told.borrow_mut().push(progress), &never).unwrap();
    assert_eq!(fs::read(&installed.files["server"]).unwrap(), b"example.org/a v1.0.0 h1:abc=\n");
    assert_eq!(installed.source, "go example.org/cmd/server, built by go1.26.8");
    let told = told.into_inner();
    assert!(
        told.iter().any(|progress| progress.step == InstallStep::Building && progress.total == 2),
        "{told:?}"
    );
    let builds: Vec<String> = world.calls().into_iter().filter(|call| call.starts_with("go build")).collect();
    assert_eq!(builds.len(), 1);
    assert!(
        builds[0].starts_with(
            "go build -mod=readonly -modfile=go.mod -overlay= -toolexec= -tags pure -trimpath -v -o "
        ),
        "{builds:?}"
    );
    let calls = world.calls().len();
    assert_eq!(install(&world.store(), &artifact).unwrap(), installed);
    assert_eq!(world.calls().len(), calls);
    world.store().check(&artifact, &mut |_| {}, &never).unwrap();
    let record = fs::read_to_string(installed.folder.unwrap().join("installed.json")).unwrap();
    assert!(
        record.contains(&sha256(b"example.org/a v1.0.0 h1:abc=\n")),
        "the program's own digest: {record}"
    );
    assert_eq!(world.cached().len(), 2, "{:?}", world.cached());
}

#[test]
fn a_go_that_is_missing_or_too_old_is_said_before_any_download() {
    let world = World::new();
    let artifact = program();
    assert!(world.store().missing_requirements(&artifact).unwrap().contains("`go`, by which it is fetched"));
    world.client("go", "echo go1.24.9");
    let lacks = world.store().missing_requirements(&artifact).unwrap();
    assert!(lacks.contains("is go1.24.9, and Go 1.25.6 or later is needed"), "{lacks}");
    let error = install(&world.store(), &artifact).unwrap_err();
    assert!(matches!(error, ArtifactError::UnusableClient { .. }), "{error}");
    assert!(world.calls().iter().all(|call| call == "go env GOVERSION"), "{:?}", world.calls());
}

#[test]
fn a_build_that_fails_is_quoted_and_leaves_nothing() {
    let world = World::new();
    world.client(
        "go",
        &GO.replace("cat go.sum > \"$out\"", "echo 'verifying a: checksum mismatch' >&2; exit 1"),
    );
    let error = install(&world.store(), &program()).unwrap_err().to_string();
    assert!(error.contains("checksum mismatch") && error.contains("go build -mod=readonly"), "{error}");
    assert_eq!(world.cached(), [""; 0]);
}

#[test]
fn an_interrupted_build_ends_and_leaves_nothing() {
    let world = World::new();
    let body = "echo half > \"$out\"; echo $$ > \"$pid_file\"; exec sleep 60";
    world.client("go", &GO.replace("cat go.sum > \"$out\"", body));
    let artifact = program();
    let error = world.store().install(&artifact, &mut |_| {}, &|| world.path("pid").exists()).unwrap_err();
    assert!(matches!(error, ArtifactError::Cancelled), "{error}");
    assert!(!world.client_runs());
    assert_eq!(world.cached(), [""; 0]);
    assert_eq!(world.store().presence(&artifact), InstallState::Absent);
}
