//! A Debian suite with packages made by hand.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use jsonathlon_systems::{DebianPackage, Source, SourceKind, Store};

use super::{Member, World, sha256, source, tar};

/// An apt-get that serves what lies in `$archive`, a folder here, and names a mirror.
const APT_GET: &str = r#"cd "$start"
mode=$(cat "$archive/mode")
case "$all" in
  *indextargets*) echo "http://mirror.invalid/debian/";;
  *Check-Valid-Until=false*update*) ;;
  *update*) if [ "$mode" = late ]; then echo "E: Release file is expired (since 3 d)"; exit 100; fi;;
  *--print-uris*)
    for word in $all; do
      name=${word%%=*}
      for line in "$archive/$name"; do
        [ -f "$line" ] || continue
        case "$word" in
          *=*) if ! head -n 1 "$line" | while read -r first; do case "$first" in *"_${word#*=}_"*) exit 0;; esac; exit 1; done
               then echo "E: Version '${word#*=}' for '$name' was not found"; exit 100; fi;;
        esac
        cat "$line"
      done
    done
    case "$all" in *libgone*) echo "E: Unable to locate package libgone"; exit 100;; esac;;
  *download*)
    for word in $all; do
      for file in "$archive/debs/${word%%=*}"_*.deb; do [ -f "$file" ] && cp "$file" . ; done
    done;;
esac
exit 0"#;

/// A world with a suite in it.
pub(crate) struct Suite {
    pub(crate) world: World,
}

impl Suite {
    pub(crate) fn new() -> Self {
        let world = World::new();
        let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join("dpkg-deb"))
            .find(|file| file.exists())
            .ok_or("this test needs dpkg-deb (package dpkg)")
            .unwrap();
        symlink(real, world.path("bin/dpkg-deb")).unwrap();
        for tool in ["tar", "xz", "gzip", "rm"] {
            let real = PathBuf::from("/usr/bin").join(tool);
            if real.exists() {
                symlink(real, world.path("bin").join(tool)).unwrap();
            }
        }
        fs::create_dir_all(world.path("archive/debs")).unwrap();
        fs::write(world.path("archive/mode"), "").unwrap();
        fs::write(world.path("keyring"), "").unwrap();
        world.client("apt-get", APT_GET);
        Self { world }
    }

    pub(crate) fn store(&self) -> Store {
        self.world.store().with_debian_keyring(self.world.path("keyring"))
    }

    /// Puts a package into the suite, in the place of any of its name.
    pub(crate) fn offer(&self, name: &str, version: &str, members: &[Member<'_>]) -> DebianPackage {
        let bytes = deb(name, version, members);
        let debs = self.world.path("archive/debs");
        for old in fs::read_dir(&debs).unwrap().map(|entry| entry.unwrap().path()) {
            if old.file_name().unwrap().to_str().unwrap().starts_with(&format!("{name}_")) {
                fs::remove_file(old).unwrap();
            }
        }
        let file = format!("{name}_{}_amd64.deb", version.replace(':', "%3a"));
        fs::write(debs.join(&file), &bytes).unwrap();
        let line = format!("'http://x/{file}' {file} {} SHA256:{}\n", bytes.len(), sha256(&bytes));
        fs::write(self.world.path("archive").join(name), line).unwrap();
        DebianPackage {
            name: name.into(),
            version: version.into(),
            sha256: sha256(&bytes),
            bytes: bytes.len() as u64,
        }
    }
}

/// What the server and its libraries are taken from.
pub(crate) fn debian(packages: Vec<DebianPackage>) -> Source {
    let bytes = packages.iter().map(|package| package.bytes).sum();
    let digest = sha256(format!("{packages:?}").as_bytes());
    let mut source = source(SourceKind::debian("sid", packages), b"", &["usr/sbin/server", "usr/lib/lib*"]);
    source.bytes = bytes;
    source.sha256 = digest;
    source.files = [
        ("server".to_owned(), "usr/sbin/server".to_owned()),
        ("libraries".to_owned(), "usr/lib/".to_owned()),
    ]
    .into();
    source
}

/// A `.deb` by hand, so that anything can be in it: an `ar` archive of three members.
fn deb(name: &str, version: &str, members: &[Member<'_>]) -> Vec<u8> {
    let gz = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, bytes).unwrap();
        packed.finish().unwrap()
    };
    let control = format!("Package: {name}\nVersion: {version}\nArchitecture: amd64\n");
    let control = gz(&tar(&[Member::File("./control", control.as_bytes())]));
    let mut archive = b"!<arch>\n".to_vec();
    for (member, bytes) in [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", control),
        ("data.tar.gz", gz(&tar(members))),
    ] {
        archive.extend(
            format!("{member:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, "100644", bytes.len()).bytes(),
        );
        let odd = bytes.len() % 2 == 1;
        archive.extend(bytes);
        archive.extend(odd.then_some(b'\n'));
    }
    archive
}
