//! Sources without a single archive: packages of a Debian suite, and programs built from Go modules.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{
    definition::{ArtifactDefinition, SourceDefinition},
    folder::Folder,
    well_formed::{is_digest, is_inside, is_plain_word},
};
use crate::artifact::{DebianPackage, SourceKind};

/// Files of a Go module: the modules that a build may use, and their digests.
pub(crate) const MODULE_FILES: [&str; 2] = ["go.mod", "go.sum"];

/// Key that is wrong, with a description of the problem.
type InvalidKey = (&'static str, String);

/// Validates a source of packages of a Debian suite. The upstream version of the first package must be that
/// of `artifact`, which is `None` for a further part.
pub(super) fn debian(
    artifact: Option<&ArtifactDefinition>,
    definition: &SourceDefinition,
) -> Result<SourceKind, InvalidKey> {
    let missing = |key| (key, format!("a source of kind debian needs `{key}`"));
    let suite = definition.suite.clone().ok_or_else(|| missing("suite"))?;
    if !is_plain_word(&suite) {
        return Err(("suite", "a suite is a word, as sid or bookworm".to_owned()));
    }
    let first = definition.packages.first().ok_or_else(|| missing("packages"))?;
    for (index, package) in definition.packages.iter().enumerate() {
        let DebianPackage { name, version, sha256, bytes } = package;
        let invalid = |what: &str| Err(("packages", format!("`{name}` {version}: {what}")));
        if !is_package_name(name) {
            return invalid("a package's name is a-z, 0-9, `+`, `-` and `.`");
        }
        if !is_version(version) {
            return invalid("a version starts with a digit and holds letters, digits and `.+-~:`");
        }
        if !is_digest(sha256) {
            return invalid("a digest is 64 digits of lower-case hexadecimal");
        }
        if *bytes == 0 {
            return invalid("it has no bytes");
        }
        if definition.packages[..index].iter().any(|earlier| earlier.name == *name) {
            return invalid("it is there twice");
        }
    }
    // An accepted newer package is recorded by its upstream version, so the two must be written alike.
    if let Some(artifact) = artifact
        && first.upstream_version() != artifact.version
    {
        let message = format!(
            "the first package is {} of {}, and the artifact's version is {}",
            first.upstream_version(),
            first.name,
            artifact.version
        );
        return Err(("packages", message));
    }
    Ok(SourceKind::debian(suite, definition.packages.clone()))
}

/// Validates a source that is built from a Go module, whose files lie in the system's folder.
pub(super) fn go(
    definition: &SourceDefinition,
    files: &BTreeMap<String, String>,
    folder: &Folder,
) -> Result<SourceKind, InvalidKey> {
    let missing = |key| (key, format!("a source of kind go needs `{key}`"));
    let package = definition.package.clone().ok_or_else(|| missing("package"))?;
    if !is_import_path(&package) {
        return Err(("package", "a package is an import path, as example.org/module/cmd/program".to_owned()));
    }
    if let Some(tag) = definition.tags.iter().find(|tag| !is_plain_word(tag)) {
        return Err(("tags", format!("`{tag}` is no build tag")));
    }
    let module = definition.module.clone().ok_or_else(|| missing("module"))?;
    if !is_inside(&module) || !module.ends_with('/') {
        return Err(("module", "a module is a folder next to system.toml and ends in `/`".to_owned()));
    }
    let text = |name: &str| {
        let path = format!("{module}{name}");
        folder.files.get(&path).cloned().ok_or(("module", format!("there is no {path}")))
    };
    let [go_mod, go_sum] = MODULE_FILES;
    let (go_mod, go_sum) = (text(go_mod)?, text(go_sum)?);
    let go_version = go_mod
        .lines()
        .find_map(|line| line.trim().strip_prefix("go "))
        .and_then(|version| version.split_whitespace().next())
        .filter(|version| version.starts_with(|first: char| first.is_ascii_digit()))
        .ok_or(("module", format!("{module}go.mod does not say which Go it needs")))?
        .to_owned();
    if files.len() != 1 || files.values().any(|path| path.contains('/')) {
        return Err(("files", "what is built is one program: name one file, in no folder".to_owned()));
    }
    Ok(SourceKind::Go { package, tags: definition.tags.clone(), go_mod, go_sum, go: go_version })
}

/// Returns the SHA-256 of all inputs that decide what a Debian or Go source provides: the pinned packages, or
/// the program with its `go.mod` and `go.sum`. `None` for an archive, which has its own digest.
pub fn pinned_inputs_digest(kind: &SourceKind) -> Option<String> {
    let mut hasher = Sha256::new();
    match kind {
        SourceKind::Debian { packages, .. } => {
            for DebianPackage { name, version, sha256, bytes } in packages {
                hasher.update(format!("{name} {version} {sha256} {bytes}\n"));
            }
        }
        SourceKind::Go { package, tags, go_mod, go_sum, .. } => {
            for text in [package, &tags.join(","), go_mod, go_sum] {
                hasher.update(format!("{}\n", text.len()));
                hasher.update(text);
            }
        }
        _ => return None,
    }
    Some(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns `true` if the text can be the name of a Debian package.
pub fn is_package_name(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte))
}

fn is_version(version: &str) -> bool {
    version.starts_with(|first: char| first.is_ascii_digit())
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-~:".contains(&byte))
}

/// Returns `true` for a plain import path. One that starts with `-` would be an option of `go`, and `...`
/// means several packages.
fn is_import_path(package: &str) -> bool {
    !package.contains("...") && package.split('/').all(|part| is_plain_word(part.trim_start_matches('~')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_lose_what_debian_adds() {
        for (version, upstream) in [
            ("9.7.4-2", "9.7.4"),
            ("1:10.11.18-0+deb12u1", "10.11.18"),
            ("1.5.7+dfsg-4", "1.5.7"),
            ("2.0~rc1-1", "2.0"),
            ("7", "7"),
        ] {
            let package =
                DebianPackage { name: "x".into(), version: version.into(), sha256: String::new(), bytes: 1 };
            assert_eq!(package.upstream_version(), upstream, "{version}");
        }
    }

    #[test]
    fn names_are_no_options() {
        assert!(is_package_name("libstdc++6") && is_version("1:2.0~rc1+b2-1"));
        for name in ["-o", "", "a", "A", "a=1", "a/sid", "a b"] {
            assert!(!is_package_name(name), "{name}");
        }
        for version in ["", "-1", "*", "1 2", "sid"] {
            assert!(!is_version(version), "{version}");
        }
        assert!(is_import_path("example.org/a/b-c/cmd/x"));
        for path in ["", "-o", "a/...", "../a", "a//b", "a@v1", "a b"] {
            assert!(!is_import_path(path), "{path}");
        }
    }
}
