//! One line a version for a table of all systems.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    artifact::{Artifact, Source, SourceKind},
    artifacts::{Presence, Store},
    catalogue::{Catalogue, Origin, System},
};

/// What a user wants to see about one version of one system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SystemStatus {
    /// The system's name.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The version.
    pub version: String,
    /// Whether it is the version that is taken when none is named.
    pub default_version: bool,
    /// Whether a run that names no systems has the system.
    pub default: bool,
    /// `bundled`, `installed`, `absent`, `damaged`, `other platform`, or
    /// `by address` for a system that is not installed at all.
    pub state: &'static str,
    /// The protocol by which it is spoken to.
    pub protocol: String,
    /// The preferred source with all its parts, as `npm name@version`.
    pub source: Option<String>,
    /// The programs that fetch it from there, one for each part that has another.
    pub clients: Vec<&'static str>,
    /// Whether it is built here instead of being fetched whole.
    pub built: bool,
    /// What the machine lacks to fetch it, each with what to do.
    pub lacks: Vec<String>,
    /// Size of its download, all parts together, in bytes.
    pub download_bytes: Option<u64>,
    /// Size of what is unpacked, in bytes.
    pub unpacked_bytes: Option<u64>,
    /// The artifact's licence, as an SPDX expression.
    pub licence: String,
    /// What the version is for, as `linux-x86_64`.
    pub platform: Option<String>,
    /// Whether the engine lives inside the worker process.
    pub embedded: bool,
    /// Whether its makers no longer support the version.
    pub end_of_life: bool,
    /// The day of the version's release, where newer ones are out that cannot be had, or not be used.
    pub outdated: Option<String>,
    /// The workloads that it can run.
    pub workloads: Vec<&'static str>,
    /// The workloads that it does not run, and why not.
    pub does_not_run: BTreeMap<String, String>,
    /// The protocol of its servers by address; none where it cannot be reached
    /// so.
    pub by_address: Option<String>,
    /// Names of its variants; those of a plain run come first.
    pub variants: Vec<String>,
    /// Names of its storage settings.
    pub storages: Vec<String>,
    /// The shared libraries that its programs take from this machine, where it is installed.
    pub machine_libraries: Vec<String>,
    /// Where its folder comes from.
    pub origin: Origin,
}

/// All versions of all systems, in the catalogue's order, with what the store
/// has of them. Files are looked at by size; [`Store::check`] reads them.
pub fn statuses(catalogue: &Catalogue, store: &Store) -> Vec<SystemStatus> {
    let mut lines = Vec::new();
    for system in catalogue.systems() {
        for version in system.versions() {
            let mut of_version = system.artifacts().iter().filter(|artifact| artifact.version == version);
            let any = of_version.clone().next();
            let here = of_version.find(|artifact| artifact.fits_here());
            lines.push(status(system, version, here.or(any), store));
        }
    }
    lines
}

fn status(system: &System, version: &str, artifact: Option<&Artifact>, store: &Store) -> SystemStatus {
    let mut machine_libraries = Vec::new();
    let state = match artifact {
        None => "by address",
        Some(artifact) if !artifact.fits_here() => "other platform",
        Some(artifact) => match store.presence(artifact) {
            Presence::Bundled => "bundled",
            Presence::Installed(installed) => {
                machine_libraries = installed.machine_libraries(system.server_of(artifact).as_ref());
                "installed"
            }
            Presence::Absent => "absent",
            Presence::Damaged { .. } => "damaged",
        },
    };
    let source = artifact.and_then(|artifact| store.source(artifact));
    let fetched = source.filter(|source| source.bytes > 0);
    let mut variants: Vec<_> = system.variants().iter().collect();
    variants.sort_by_key(|variant| !variant.is_default);
    SystemStatus {
        name: system.name().to_owned(),
        title: system.title().to_owned(),
        version: version.to_owned(),
        default_version: version == system.default_version(),
        default: system.is_default(),
        state,
        protocol: system.protocol().to_owned(),
        source: fetched.map(Source::called),
        clients: source.map(Source::clients).unwrap_or_default(),
        built: source.is_some_and(|source| matches!(source.kind, SourceKind::Go { .. })),
        lacks: artifact.and_then(|artifact| store.lacks(artifact)).into_iter().collect(),
        download_bytes: fetched.map(Source::download_bytes),
        unpacked_bytes: fetched.map(Source::installed_bytes),
        licence: artifact.map_or(system.licence(), |artifact| &artifact.licence).to_owned(),
        platform: artifact.map(|artifact| artifact.platform.clone()),
        embedded: system.is_embedded(),
        end_of_life: artifact.is_some_and(|artifact| artifact.end_of_life),
        outdated: artifact.and_then(|artifact| artifact.outdated.clone()),
        workloads: system.workloads(),
        does_not_run: system.does_not_run(),
        by_address: system.elsewhere().map(|_| system.protocol_by_address().to_owned()),
        variants: variants.into_iter().map(|variant| variant.name.clone()).collect(),
        storages: system.storages().iter().map(|storage| storage.name.clone()).collect(),
        machine_libraries,
        origin: system.origin().clone(),
    }
}
