//! `--system NAME=WHERE`: external systems, i.e. remote servers and the user's own binaries.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use jsonathlon_catalogue::{
    Catalogue, Configuration, ExternalKind, InstalledArtifact, System, TargetKind, Transport, base_name,
};
use jsonathlon_driver_api::address::{Address, Password, is_address};
use jsonathlon_schema::{
    manifest,
    settings::{ExternalSystem, RunSettings},
};
use jsonathlon_workloads::{
    smoke_test::reported_version,
    target::{RemoteServer, Target},
};

use super::{
    memory::{MemoryProfiles, with_recorded_memory},
    scratch,
    setup::SetupContext,
    worker_command,
};
use crate::{exit::Failure, interrupt::Interrupt};

/// Options of the command line that concern external systems.
pub(super) struct ExternalRequest<'a> {
    pub(super) systems: &'a [String],
    pub(super) restart_commands: &'a [String],
    pub(super) variants: &'a str,
    pub(super) storage: &'a str,
    pub(super) transport: Transport,
    pub(super) memory: &'a MemoryProfiles,
    pub(super) context: SetupContext<'a>,
}

/// Finds the version of every external system: connects to remote servers, and starts the user's binaries
/// once. Returns the settings for the manifest, and the targets to run.
pub(super) fn connect_external(
    request: &ExternalRequest<'_>,
    catalogue: &Catalogue,
    interrupt: &Interrupt,
) -> Result<(Vec<ExternalSystem>, Vec<Target>), Failure> {
    let mut restarts = restart_commands(request.restart_commands)?;
    let (mut systems, mut targets) = (Vec::new(), Vec::new());
    let name_of = |text: &String| text.split_once('=').map_or(String::new(), |(name, _)| name.to_owned());
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for text in request.systems {
        let (name, location) = split_option("--system", text)?;
        let system = catalogue.get(name)?;
        let kind = external_kind(location);
        let number = numbers.entry(name.to_owned()).or_default();
        *number += 1;
        let is_repeated = request.systems.iter().filter(|other| name_of(other) == name).count() > 1;
        let mut external = ExternalSystem {
            system: name.to_owned(),
            location: absolute_location(kind, location)?,
            number: is_repeated.then_some(*number),
            reported_version: String::new(),
            database_prefix: random_database_name()?,
            restart: restarts.remove(name).map(str::to_owned),
        };
        if external.restart.is_some() && kind == ExternalKind::Binaries {
            return Err(Failure::usage(format!(
                "--restart-command {name}: the program restarts your own programs itself"
            )));
        }
        external.reported_version = version(&external, system, request.context, interrupt)?;
        warn_of_untested_version(&external, system);
        let configurations = configurations(&external, system, request)?;
        if configurations.is_empty() {
            return Err(Failure::usage(format!(
                "{name} has no variant `{}` with storage `{}`",
                request.variants, request.storage
            )));
        }
        for configuration in configurations {
            let index = targets.len();
            targets.push(target(&external, system, configuration, request.context, index)?);
        }
        systems.push(external);
    }
    if let Some(name) = restarts.keys().next() {
        return Err(Failure::usage(format!(
            "--restart-command {name}: there is no --system {name}=ADDRESS whose server that could restart"
        )));
    }
    Ok((systems, targets))
}

/// Parses `--restart-command`. Returns the commands by the names of systems.
fn restart_commands(texts: &[String]) -> Result<HashMap<&str, &str>, Failure> {
    let mut restarts: HashMap<&str, &str> = HashMap::new();
    for text in texts {
        let (name, command) = split_option("--restart-command", text)?;
        restarts.insert(name, command);
    }
    Ok(restarts)
}

/// Location of an external system in a form that stays valid in other directories.
fn absolute_location(kind: ExternalKind, location: &str) -> Result<String, Failure> {
    Ok(match kind {
        ExternalKind::Address => location.to_owned(),
        // Absolute, because a resumed run may be started in another directory.
        ExternalKind::Binaries => std::path::absolute(location)
            .map_err(|error| Failure::usage(format!("{location}: {error}")))?
            .display()
            .to_string(),
    })
}

/// Warns on standard error if the system's folder was not tried with the reported version.
fn warn_of_untested_version(external: &ExternalSystem, system: &System) {
    if !system.is_tested_version(&external.reported_version) {
        crate::say!(
            "warning: {} at {} is version {}; jsonathlon was tested with {}. Answers are still verified, and \
             the report says so.",
            external.system,
            external.location,
            external.reported_version,
            system.versions().join(", ")
        );
    }
}

/// Targets on the external systems of a run that is resumed. Fails if a system cannot be reached or reports
/// another version than when the run began.
pub(super) fn restore_external(
    settings: &RunSettings,
    catalogue: &Catalogue,
    recorded: &[manifest::Configuration],
    context: SetupContext<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Target>, Failure> {
    // Checked before anything is measured, so that an unreachable server or a missing password does not cost
    // the run.
    for external in &settings.external_systems {
        let reported = version(external, catalogue.get(&external.system)?, context, interrupt)?;
        if reported != external.reported_version {
            return Err(Failure::environment(format!(
                "{} at {} was version {} when the run began and is {reported} now; start a new run",
                external.system, external.location, external.reported_version
            )));
        }
    }
    let mut targets: Vec<Target> = Vec::new();
    for recorded in recorded.iter().filter(|recorded| is_external_version(&recorded.id.version)) {
        let system = catalogue.get(base_name(&recorded.id.system))?;
        let mut matched = None;
        let is_candidate = |external: &&ExternalSystem| external.system == base_name(&recorded.id.system);
        for external in settings.external_systems.iter().filter(is_candidate) {
            let id = &recorded.id;
            let build = |variant: &str| configuration(external, system, variant, &id.storage);
            let configuration = context.configure(system, &id.variant, build)?;
            if (&configuration.system, &configuration.version) == (&id.system, &id.version) {
                let configuration = context.apply_to(configuration)?.with_transport(settings.transport)?;
                matched = Some((external, with_recorded_memory(configuration, recorded)?));
            }
        }
        let Some((external, configuration)) = matched else {
            return Err(Failure::usage(format!(
                "the manifest does not say where {} {} is; start a new run",
                recorded.id.system, recorded.id.version
            )));
        };
        let index = targets.len();
        targets.push(target(external, system, configuration, context, index)?);
    }
    Ok(targets)
}

/// Returns `true` if a version ends with the suffix of an external system, `+address` or `+own`. Digits after
/// the suffix are ignored.
pub(super) fn is_external_version(version: &str) -> bool {
    [ExternalKind::Address, ExternalKind::Binaries].iter().any(|kind| {
        version
            .rsplit_once('+')
            .is_some_and(|(_, end)| end.trim_end_matches(|c: char| c.is_ascii_digit()) == kind.word())
    })
}

fn split_option<'a>(option: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name, value)),
        // The text is not repeated in the message, because it may hold a password.
        _ => Err(Failure::usage(format!("{option} is given as NAME=…, with the name of a system"))),
    }
}

fn external_kind(location: &str) -> ExternalKind {
    if is_address(location) { ExternalKind::Address } else { ExternalKind::Binaries }
}

/// Random name of the run's databases, indexes and tables, so that it collides with none on the server:
/// `jsonathlon_` and 12 hexadecimal digits.
fn random_database_name() -> Result<String, Failure> {
    let mut random = [0_u8; 6];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut random))
        .map_err(|error| Failure::environment(format!("there are no random numbers: {error}")))?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("jsonathlon_{digits}"))
}

fn configuration(
    external: &ExternalSystem,
    system: &System,
    variant: &str,
    storage: &str,
) -> Result<Configuration, Failure> {
    let kind = external_kind(&external.location);
    Ok(system.external_configuration(kind, &external.reported_version, external.number, variant, storage)?)
}

/// Configurations of an external system in the selected variants, storage settings and memory profiles.
fn configurations(
    external: &ExternalSystem,
    system: &System,
    request: &ExternalRequest<'_>,
) -> Result<Vec<Configuration>, Failure> {
    let target_kind = match external_kind(&external.location) {
        ExternalKind::Address => TargetKind::ByAddress,
        ExternalKind::Binaries => TargetKind::Started,
    };
    let storages: Vec<&str> = request.storage.split(',').map(str::trim).collect();
    let mut configurations = Vec::new();
    let variants = request.context.variants(&[system], request.variants, target_kind)?;
    for variant in variants.into_iter().flatten() {
        for storage in system.storages() {
            if storages.iter().any(|name| *name == "all" || *name == storage.name) {
                let build = |variant: &str| configuration(external, system, variant, &storage.name);
                let configuration = request.context.configure(system, &variant, build)?;
                let configuration =
                    request.context.apply_to(configuration)?.with_transport(request.transport)?;
                configurations.extend(request.memory.per_profile(configuration)?);
            }
        }
    }
    Ok(configurations)
}

/// Target for a configuration of an external system. `index` is the target's index; the name of its database
/// ends with it, so that the run's databases stay apart.
fn target(
    external: &ExternalSystem,
    system: &System,
    configuration: Configuration,
    context: SetupContext<'_>,
    index: usize,
) -> Result<Target, Failure> {
    let is_remote = external_kind(&external.location) == ExternalKind::Address;
    let files =
        if is_remote { BTreeMap::new() } else { system.external_programs(Path::new(&external.location))? };
    let installed = InstalledArtifact {
        version: configuration.version.clone(),
        version_text: external.reported_version.clone(),
        folder: None,
        sha256: None,
        source: external.location.clone(),
        files,
    };
    let address = match is_remote {
        true => Some(
            Address::parse(&external.location, &configuration.protocol)
                .map_err(|error| Failure::usage(format!("--system {}: {error}", external.system)))?,
        ),
        false => None,
    };
    let Some(target) = Target::new(configuration, context.workload, installed) else {
        return Err(Failure::usage(format!("{} has no folder {}/", external.system, context.workload)));
    };
    Ok(match address {
        None => target,
        Some(address) => target.with_remote_server(RemoteServer {
            address,
            password: password(&external.system, external.number),
            name: format!("{}_{index}", external.database_prefix),
            restart_command: external.restart.clone(),
        }),
    })
}

/// Password from the environment: `JSONATHLON_PASSWORD_<NAME>_<NUMBER>`, otherwise
/// `JSONATHLON_PASSWORD_<NAME>`, otherwise empty. The number is 1 if the system is given only once.
fn password(system: &str, number: Option<usize>) -> Password {
    let number = number.unwrap_or(1);
    let name: String = system
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    let variable = |name: String| std::env::var(name).ok();
    let numbered = variable(format!("JSONATHLON_PASSWORD_{name}_{number}"));
    Password(numbered.or_else(|| variable(format!("JSONATHLON_PASSWORD_{name}"))).unwrap_or_default())
}

fn version(
    external: &ExternalSystem,
    system: &System,
    context: SetupContext<'_>,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let variants = system.variants_of(context.workload);
    let variant = variants.first().map_or("default", |variant| variant.name.as_str());
    let storage = system.storages().first().map_or("default", |storage| storage.name.as_str());
    let target = target(external, system, configuration(external, system, variant, storage)?, context, 0)?;
    let scratch = scratch("jsonathlon-version-")?;
    let reported =
        reported_version(&target, &worker_command()?, scratch.path(), &|| interrupt.is_requested());
    reported.map_err(|error| Failure::environment(format!("{}: {error}", external.system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_tell_where_a_system_is_from() {
        for version in ["18.6+address", "18.6+own"] {
            assert!(is_external_version(version), "{version}");
        }
        for version in ["18.6", "1.0+build", "address"] {
            assert!(!is_external_version(version), "{version}");
        }
    }

    #[test]
    fn names_are_their_own() {
        let (first, second) =
            (random_database_name().unwrap_or_default(), random_database_name().unwrap_or_default());
        assert!(first.len() == "jsonathlon_".len() + 12 && first != second, "{first} {second}");
    }
}
