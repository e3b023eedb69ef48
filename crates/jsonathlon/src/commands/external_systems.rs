//! `--system NAME=WHERE`: external systems, i.e. remote servers and the user's own binaries.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use jsonathlon_catalogue::{
    Catalogue, Configuration, ExternalKind, InstalledArtifact, System, TargetKind, Transport, base_name,
};
use jsonathlon_driver_api::address::{Address, Password, is_address};
use jsonathlon_schema::manifest;
use jsonathlon_workloads::{
    settings::{ExternalSystem, Settings},
    smoke_test::reported_version,
    target::{RemoteServer, Target},
};

use super::{
    memory::{Memory, restore_memory},
    scratch,
    setup::SetupContext,
    worker,
};
use crate::{exit::Failure, interrupt::Interrupt};

/// Options of the command line that concern external systems.
pub(super) struct ExternalRequest<'a> {
    pub(super) systems: &'a [String],
    pub(super) restart_commands: &'a [String],
    pub(super) variants: &'a str,
    pub(super) storage: &'a str,
    pub(super) transport: Transport,
    pub(super) memory: &'a Memory,
    pub(super) purpose: SetupContext<'a>,
}

/// Asks every external system for its version: connects to remote servers, and starts the user's binaries
/// once. Returns the settings that the manifest keeps, and the targets to run.
pub(super) fn connect_external(
    wanted: &ExternalRequest<'_>,
    catalogue: &Catalogue,
    interrupt: &Interrupt,
) -> Result<(Vec<ExternalSystem>, Vec<Target>), Failure> {
    let mut restarts = restart_commands(wanted.restart_commands)?;
    let (mut all, mut targets) = (Vec::new(), Vec::new());
    let named = |text: &String| text.split_once('=').map_or(String::new(), |(name, _)| name.to_owned());
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for text in wanted.systems {
        let (name, at) = pair("--system", text)?;
        let system = catalogue.get(name)?;
        let kind = provenance(at);
        let number = numbers.entry(name.to_owned()).or_default();
        *number += 1;
        let several = wanted.systems.iter().filter(|other| named(other) == name).count() > 1;
        let mut one = ExternalSystem {
            system: name.to_owned(),
            at: permanent_place(kind, at)?,
            number: several.then_some(*number),
            reported: String::new(),
            name: random_database_name()?,
            restart: restarts.remove(name).map(str::to_owned),
        };
        if one.restart.is_some() && kind == ExternalKind::Own {
            return Err(Failure::usage(format!(
                "--restart-command {name}: the program restarts your own programs itself"
            )));
        }
        one.reported = version(&one, system, wanted.purpose, interrupt)?;
        warn_of_untested_version(&one, system);
        let configurations = configurations(&one, system, wanted)?;
        if configurations.is_empty() {
            return Err(Failure::usage(format!(
                "{name} has no variant `{}` with storage `{}`",
                wanted.variants, wanted.storage
            )));
        }
        for configuration in configurations {
            let place = targets.len();
            targets.push(target(&one, system, configuration, wanted.purpose, place)?);
        }
        all.push(one);
    }
    if let Some(name) = restarts.keys().next() {
        return Err(Failure::usage(format!(
            "--restart-command {name}: there is no --system {name}=ADDRESS whose server that could restart"
        )));
    }
    Ok((all, targets))
}

/// Parses `--restart-command`. Returns the commands by the names of systems.
fn restart_commands(texts: &[String]) -> Result<HashMap<&str, &str>, Failure> {
    let mut restarts: HashMap<&str, &str> = HashMap::new();
    for text in texts {
        let (name, command) = pair("--restart-command", text)?;
        restarts.insert(name, command);
    }
    Ok(restarts)
}

/// Place of an external system in a form that stays valid in other directories.
fn permanent_place(kind: ExternalKind, at: &str) -> Result<String, Failure> {
    Ok(match kind {
        ExternalKind::Address => at.to_owned(),
        // Absolute, because a resumed run may be started in another directory.
        ExternalKind::Own => std::path::absolute(at)
            .map_err(|error| Failure::usage(format!("{at}: {error}")))?
            .display()
            .to_string(),
    })
}

/// Warns on standard error if the system's folder was not tried with the reported version.
fn warn_of_untested_version(one: &ExternalSystem, system: &System) {
    if !system.is_tested_version(&one.reported) {
        crate::say!(
            "warning: {} at {} reports version {}, with which its folder was not tried (but with {}): answers \
             are checked all the same, and the report says so",
            one.system,
            one.at,
            one.reported,
            system.versions().join(", ")
        );
    }
}

/// Targets on the external systems of a run that is resumed. Fails if a system cannot be reached or reports
/// another version than when the run began.
pub(super) fn restore_external(
    settings: &Settings,
    catalogue: &Catalogue,
    then: &[manifest::Configuration],
    purpose: SetupContext<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Target>, Failure> {
    // Checked before anything is measured, so that an unreachable server or a missing password does not cost
    // the run.
    for one in &settings.external_systems {
        let now = version(one, catalogue.get(&one.system)?, purpose, interrupt)?;
        if now != one.reported {
            return Err(Failure::environment(format!(
                "{} at {} was version {} when the run began and is {now} now; start a new run",
                one.system, one.at, one.reported
            )));
        }
    }
    let mut targets: Vec<Target> = Vec::new();
    for then in then.iter().filter(|then| is_elsewhere(&then.id.version)) {
        let system = catalogue.get(base_name(&then.id.system))?;
        let mut found = None;
        for one in settings.external_systems.iter().filter(|one| one.system == base_name(&then.id.system)) {
            let make = |variant: &str| configuration(one, system, variant, &then.id.storage);
            let configuration = purpose.configure(system, &then.id.variant, make)?;
            if (&configuration.system, &configuration.version) == (&then.id.system, &then.id.version) {
                let configuration = purpose.of(configuration)?.with_transport(settings.transport)?;
                found = Some((one, restore_memory(configuration, then)?));
            }
        }
        let Some((one, configuration)) = found else {
            return Err(Failure::usage(format!(
                "the manifest does not say where {} {} is; start a new run",
                then.id.system, then.id.version
            )));
        };
        let place = targets.len();
        targets.push(target(one, system, configuration, purpose, place)?);
    }
    Ok(targets)
}

/// Returns `true` if a version ends with the suffix of an external system, `+address` or `+own`. Digits after
/// the suffix are ignored.
pub(super) fn is_elsewhere(version: &str) -> bool {
    [ExternalKind::Address, ExternalKind::Own].iter().any(|kind| {
        version
            .rsplit_once('+')
            .is_some_and(|(_, end)| end.trim_end_matches(|c: char| c.is_ascii_digit()) == kind.word())
    })
}

fn pair<'a>(option: &str, text: &'a str) -> Result<(&'a str, &'a str), Failure> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name, value)),
        // The text is not repeated in the message, because it may hold a password.
        _ => Err(Failure::usage(format!("{option} is given as NAME=…, with the name of a system"))),
    }
}

fn provenance(at: &str) -> ExternalKind {
    if is_address(at) { ExternalKind::Address } else { ExternalKind::Own }
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
    one: &ExternalSystem,
    system: &System,
    variant: &str,
    storage: &str,
) -> Result<Configuration, Failure> {
    let kind = provenance(&one.at);
    Ok(system.external_configuration(kind, &one.reported, one.number, variant, storage)?)
}

/// Configurations of an external system in the selected variants, storage settings and memory profiles.
fn configurations(
    one: &ExternalSystem,
    system: &System,
    wanted: &ExternalRequest<'_>,
) -> Result<Vec<Configuration>, Failure> {
    let setting = match provenance(&one.at) {
        ExternalKind::Address => TargetKind::ByAddress,
        ExternalKind::Own => TargetKind::Started,
    };
    let storages: Vec<&str> = wanted.storage.split(',').map(str::trim).collect();
    let mut found = Vec::new();
    let variants = wanted.purpose.variants(&[system], wanted.variants, setting)?;
    for variant in variants.into_iter().flatten() {
        for storage in system.storages() {
            if storages.iter().any(|name| *name == "all" || *name == storage.name) {
                let make = |variant: &str| configuration(one, system, variant, &storage.name);
                let configuration = wanted.purpose.configure(system, &variant, make)?;
                let configuration = wanted.purpose.of(configuration)?.with_transport(wanted.transport)?;
                found.extend(wanted.memory.set(configuration)?);
            }
        }
    }
    Ok(found)
}

/// Target for a configuration of an external system. `place` is the target's index; the name of its database
/// ends with it, so that the run's databases stay apart.
fn target(
    one: &ExternalSystem,
    system: &System,
    configuration: Configuration,
    purpose: SetupContext<'_>,
    place: usize,
) -> Result<Target, Failure> {
    let by_address = provenance(&one.at) == ExternalKind::Address;
    let files = if by_address { BTreeMap::new() } else { system.external_programs(Path::new(&one.at))? };
    let installed = InstalledArtifact {
        version: configuration.version.clone(),
        reports: one.reported.clone(),
        folder: None,
        sha256: None,
        source: one.at.clone(),
        files,
    };
    let address = match by_address {
        true => Some(
            Address::parse(&one.at, &configuration.protocol)
                .map_err(|error| Failure::usage(format!("--system {}: {error}", one.system)))?,
        ),
        false => None,
    };
    let Some(target) = Target::new(configuration, purpose.workload, installed) else {
        return Err(Failure::usage(format!("{} has no folder {}/", one.system, purpose.workload)));
    };
    Ok(match address {
        None => target,
        Some(address) => target.on_remote_server(RemoteServer {
            address,
            password: password(&one.system, one.number),
            name: format!("{}_{place}", one.name),
            restart: one.restart.clone(),
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
    let read = |name: String| std::env::var(name).ok();
    let own = read(format!("JSONATHLON_PASSWORD_{name}_{number}"));
    Password(own.or_else(|| read(format!("JSONATHLON_PASSWORD_{name}"))).unwrap_or_default())
}

fn version(
    one: &ExternalSystem,
    system: &System,
    purpose: SetupContext<'_>,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let variants = system.variants_of(purpose.workload);
    let variant = variants.first().map_or("default", |variant| variant.name.as_str());
    let storage = system.storages().first().map_or("default", |storage| storage.name.as_str());
    let target = target(one, system, configuration(one, system, variant, storage)?, purpose, 0)?;
    let scratch = scratch("jsonathlon-version-")?;
    let reported = reported_version(&target, &worker()?, scratch.path(), &|| interrupt.is_requested());
    reported.map_err(|error| Failure::environment(format!("{}: {error}", one.system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_tell_where_a_system_is_from() {
        for version in ["18.6+address", "18.6+own"] {
            assert!(is_elsewhere(version), "{version}");
        }
        for version in ["18.6", "1.0+build", "address"] {
            assert!(!is_elsewhere(version), "{version}");
        }
    }

    #[test]
    fn names_are_their_own() {
        let (one, other) =
            (random_database_name().unwrap_or_default(), random_database_name().unwrap_or_default());
        assert!(one.len() == "jsonathlon_".len() + 12 && one != other, "{one} {other}");
    }
}
