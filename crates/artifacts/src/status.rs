//! Status of every version of every system on this machine, for a table of all systems.

use std::collections::BTreeMap;

use serde::Serialize;

use jsonathlon_catalogue::{
    Catalogue, Origin, System,
    artifact::{Artifact, Source, SourceKind},
};

use crate::{ArtifactStore, InstallState, client_programs};

/// Status of one version of one system on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SystemStatus {
    /// Name of the system, which is that of its folder.
    pub name: String,
    /// Display name of the system.
    pub title: String,
    /// Version, as selectors and results name it.
    pub version: String,
    /// Whether this version is used if a selection names none.
    pub default_version: bool,
    /// Whether a run that names no systems includes this system.
    pub default: bool,
    /// State on this machine: `bundled`, `installed`, `absent`, `damaged`, `other platform`, or `by address`
    /// for a system without artifacts.
    pub state: &'static str,
    /// Name of the driver that jsonathlon uses for the system.
    pub protocol: String,
    /// Preferred source with all its parts, as `npm name@version`. `None` if nothing has to be downloaded.
    pub source: Option<String>,
    /// Programs that fetch the source, each listed once; empty if nothing has to be fetched.
    pub clients: Vec<&'static str>,
    /// Whether the program is compiled on this machine (a Go module) instead of being downloaded.
    pub built: bool,
    /// Prerequisites that this machine is missing for fetching the artifact, each with a remedy. Empty if the
    /// artifact is installed or can be fetched.
    #[serde(rename = "lacks")]
    pub missing_requirements: Vec<String>,
    /// Download size of all parts together, in bytes. `None` if nothing has to be downloaded.
    pub download_bytes: Option<u64>,
    /// Size of the unpacked members of all parts, in bytes. `None` if nothing has to be downloaded.
    pub unpacked_bytes: Option<u64>,
    /// SPDX expression of the artifact's licence; the system's licence if there is no artifact.
    pub licence: String,
    /// Platform of the artifact, such as `linux-x86_64`. `None` if the system has no artifact.
    pub platform: Option<String>,
    /// Whether the engine runs inside the worker process.
    pub embedded: bool,
    /// Whether the version is no longer supported by its developers.
    pub end_of_life: bool,
    /// Release date (`YYYY-MM-DD`) of this version if newer versions exist that no source has or that cannot
    /// be used; otherwise `None`.
    pub outdated: Option<String>,
    /// Names of the workloads that the system can run.
    pub workloads: Vec<&'static str>,
    /// Workloads that the system does not run, each with the reason.
    #[serde(rename = "does_not_run")]
    pub unsupported_workloads: BTreeMap<String, String>,
    /// Protocol of remote servers of this system. `None` if its folder has no `[address]`.
    #[serde(rename = "by_address")]
    pub address_protocol: Option<String>,
    /// Names of the variants that workloads share; those of a plain run come first.
    pub variants: Vec<String>,
    /// Names of the storage settings; `default` comes first.
    pub storages: Vec<String>,
    /// Shared libraries that the installed programs load from this machine; empty unless the state is
    /// `installed`.
    pub machine_libraries: Vec<String>,
    /// Where the system's folder comes from: built in or from disk.
    pub origin: Origin,
}

/// Returns the status of every version of every system, in the catalogue's order. Of several platforms, this
/// machine's is preferred. Installed files are compared by size only; [`ArtifactStore::check`] reads their
/// contents.
pub fn system_statuses(catalogue: &Catalogue, store: &ArtifactStore) -> Vec<SystemStatus> {
    let mut rows = Vec::new();
    for system in catalogue.systems() {
        for version in system.versions() {
            let mut candidates = system.artifacts().iter().filter(|artifact| artifact.version == version);
            let fallback = candidates.clone().next();
            let usable = candidates.find(|artifact| artifact.matches_platform());
            rows.push(status(system, version, usable.or(fallback), store));
        }
    }
    rows
}

fn status(
    system: &System,
    version: &str,
    artifact: Option<&Artifact>,
    store: &ArtifactStore,
) -> SystemStatus {
    let mut machine_libraries = Vec::new();
    let state = match artifact {
        None => "by address",
        Some(artifact) if !artifact.matches_platform() => "other platform",
        Some(artifact) => match store.presence(artifact) {
            InstallState::Bundled => "bundled",
            InstallState::Installed(installed) => {
                machine_libraries =
                    crate::find_machine_libraries(&installed, system.server_of(artifact).as_ref());
                "installed"
            }
            InstallState::Absent => "absent",
            InstallState::Damaged { .. } => "damaged",
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
        source: fetched.map(Source::display_name),
        clients: source.map(client_programs).unwrap_or_default(),
        built: source.is_some_and(|source| matches!(source.kind, SourceKind::Go { .. })),
        missing_requirements: artifact
            .and_then(|artifact| store.missing_requirements(artifact))
            .into_iter()
            .collect(),
        download_bytes: fetched.map(Source::download_bytes),
        unpacked_bytes: fetched.map(Source::installed_bytes),
        licence: artifact.map_or(system.licence(), |artifact| &artifact.licence).to_owned(),
        platform: artifact.map(|artifact| artifact.platform.clone()),
        embedded: system.is_embedded(),
        end_of_life: artifact.is_some_and(|artifact| artifact.end_of_life),
        outdated: artifact.and_then(|artifact| artifact.outdated.clone()),
        workloads: system.workloads(),
        unsupported_workloads: system.unsupported_workloads(),
        address_protocol: system.remote_setup().map(|_| system.protocol_by_address().to_owned()),
        variants: variants.into_iter().map(|variant| variant.name.clone()).collect(),
        storages: system.storages().iter().map(|storage| storage.name.clone()).collect(),
        machine_libraries,
        origin: system.origin().clone(),
    }
}
