//! A Debian suite with synthetic packages.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use jsonathlon_artifacts::ArtifactStore;
use jsonathlon_catalogue::{DebianPackage, Source, SourceKind};

use super::{Member, World, sha256, source, tar};

/// Script of an apt-get that delivers the content of `$archive`, which is a folder here, and names a mirror.
/// A subfolder named like an update archive, such as `bookworm-security`, contains the packages of that
/// archive.
const APT_GET: &str = r#"cd "$start"
mode=$(cat "$archive/mode")
encoded() { case "$1" in *:*) echo "${1%%:*}%3a${1#*:}";; *) echo "$1";; esac; }
places=$archive
for word in $all; do
  if [ "$previous" = -c ]; then
    while read -r _ _ _ _ mirror suite _; do
      case "$suite" in *-updates|*-security) places="$places $archive/$suite";; esac
    done < "${word%apt.conf}etc/sources.list"
  fi
  previous=$word
done
case "$all" in
  *indextargets*Debian-Security*) echo "http://mirror.invalid/security/";;
  *indextargets*) echo "http://mirror.invalid/debian/";;
  *Check-Valid-Until=false*update*) ;;
  *update*)
    if [ "$mode" = late ]; then echo "E: Release file is expired (since 3 d)"; exit 100; fi
    for place in $places; do
      if [ ! -d "$place" ]; then echo "E: The repository has no Release file"; exit 100; fi
    done;;
  *install*--print-uris*)
    for word in $all; do
      case "$word" in
        -*|install|*/*) ;;
        *) if [ ! -f "$archive/$word" ]; then echo "E: Unable to locate package $word"; exit 100; fi;;
      esac
    done
    echo "After this operation, 1,383 kB of additional disk space will be used."
    for line in "$archive"/*; do
      [ -f "$line" ] && [ "$line" != "$archive/mode" ] || continue
      read -r uri file size _ < "$line"
      echo "$uri $file $size MD5Sum:0"
    done;;
  *--print-uris*)
    for word in $all; do
      name=${word%%=*}
      case "$word" in *=*) wanted="_$(encoded "${word#*=}")_";; *) wanted=_;; esac
      found=
      for place in $places; do
        [ -f "$place/$name" ] || continue
        read -r first < "$place/$name"
        case "$first" in *"$wanted"*) found=$first;; esac
      done
      if [ -n "$found" ]; then echo "$found"; elif [ "$wanted" != _ ]; then echo "E: $word was not found"; exit 100; fi
    done
    case "$all" in *libgone*) echo "E: Unable to locate package libgone"; exit 100;; esac;;
  *download*)
    for word in $all; do
      case "$word" in *=*) ;; *) continue;; esac
      for file in "$archive/debs/${word%%=*}_$(encoded "${word#*=}")"_*.deb; do [ -f "$file" ] && cp "$file" . ; done
    done;;
esac
exit 0"#;

/// A world that contains a suite.
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

    pub(crate) fn store(&self) -> ArtifactStore {
        self.world.store().with_debian_keyring(self.world.path("keyring"))
    }

    /// Adds a package to the suite, replacing any with the same name.
    pub(crate) fn offer(&self, name: &str, version: &str, members: &[Member<'_>]) -> DebianPackage {
        let debs = self.world.path("archive/debs");
        for old in fs::read_dir(&debs).unwrap().map(|entry| entry.unwrap().path()) {
            if old.file_name().unwrap().to_str().unwrap().starts_with(&format!("{name}_")) {
                fs::remove_file(old).unwrap();
            }
        }
        self.offer_in("", name, version, members)
    }

    /// Adds a package to an update archive of the suite, such as `bookworm-security`; the suite's own
    /// packages are kept.
    pub(crate) fn offer_in(
        &self,
        archive: &str,
        name: &str,
        version: &str,
        members: &[Member<'_>],
    ) -> DebianPackage {
        let bytes = deb(name, version, members);
        let file = format!("{name}_{}_amd64.deb", version.replace(':', "%3a"));
        fs::write(self.world.path("archive/debs").join(&file), &bytes).unwrap();
        let line = format!("'http://x/{file}' {file} {} SHA256:{}\n", bytes.len(), sha256(&bytes));
        let place = self.world.path("archive").join(archive);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(name), line).unwrap();
        DebianPackage {
            name: name.into(),
            version: version.into(),
            sha256: sha256(&bytes),
            bytes: bytes.len() as u64,
        }
    }
}

/// The source of the server and its libraries, in the suite `sid`.
pub(crate) fn debian(packages: Vec<DebianPackage>) -> Source {
    debian_of("sid", packages)
}

/// The source of the server and its libraries, in the given suite.
pub(crate) fn debian_of(suite: &str, packages: Vec<DebianPackage>) -> Source {
    let bytes = packages.iter().map(|package| package.bytes).sum();
    let digest = sha256(format!("{packages:?}").as_bytes());
    let mut source = source(SourceKind::debian(suite, packages), b"", &["usr/sbin/server", "usr/lib/lib*"]);
    source.bytes = bytes;
    source.sha256 = digest;
    source.files = [
        ("server".to_owned(), "usr/sbin/server".to_owned()),
        ("libraries".to_owned(), "usr/lib/".to_owned()),
    ]
    .into();
    source
}

/// Builds a `.deb` with arbitrary content: an `ar` archive of three members.
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
