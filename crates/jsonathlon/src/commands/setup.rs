//! Selects and sets up configurations for a workload, by the catalogue's variants or by the user's own folder
//! of questions.

use jsonathlon_catalogue::{
    Catalogue, Configuration, SelectedSystem, System, TargetKind, UserQuestions, UserSystemFolder,
    select_variants_of,
};

use crate::{cli::RunArguments, exit::Failure};

/// Workload that configurations are made for, and what it needs of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SetupContext<'a> {
    /// Name of the workload, whose section of a system's folder is run.
    pub(super) workload: &'a str,
    /// Durability tier; `None` if the workload has no tier.
    pub(super) durability: Option<&'a str>,
    /// The user's folder of questions, which then defines the variants. `None` if the catalogue defines them.
    pub(super) own: Option<&'a UserQuestions>,
}

impl SetupContext<'_> {
    /// Reduces a configuration to this workload and sets the durability tier, except on a yardstick.
    pub(super) fn of(self, configuration: Configuration) -> Result<Configuration, Failure> {
        let configuration = configuration.for_workloads(&[self.workload]);
        match self.durability {
            Some(tier) if !configuration.reference => Ok(configuration.with_durability(tier)?),
            _ => Ok(configuration),
        }
    }

    /// Systems of a run without `--systems`. With a folder of questions these are the default systems that it
    /// has statements for, or all systems in it if there is no such default.
    pub(super) fn usual<'c>(
        self,
        catalogue: &'c Catalogue,
        usual: Option<&str>,
    ) -> Result<Vec<SelectedSystem<'c>>, Failure> {
        let mut usual = catalogue.select(usual)?;
        let Some(own) = self.own else { return Ok(usual) };
        let has = |name: &str| own.folders.iter().any(|folder| folder.system == name);
        usual.retain(|one| has(one.system.name()));
        if usual.is_empty() {
            let mut all: Vec<&str> = own.folders.iter().map(|folder| folder.system.as_str()).collect();
            all.dedup();
            return Ok(catalogue.select(Some(&all.join(",")))?);
        }
        Ok(usual)
    }

    /// Names of the variants that `text` selects, one list per system.
    pub(super) fn variants(
        self,
        systems: &[&System],
        text: &str,
        setting: TargetKind,
    ) -> Result<Vec<Vec<String>>, Failure> {
        let Some(own) = self.own else {
            let variants = select_variants_of(self.workload, systems, text, setting)?;
            let names = |of_one: Vec<&jsonathlon_catalogue::Variant>| {
                of_one.iter().map(|one| one.name.clone()).collect()
            };
            return Ok(variants.into_iter().map(names).collect());
        };
        let wanted: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let mut found = Vec::new();
        for system in systems {
            let mut names = Vec::new();
            for folder in own.folders.iter().filter(|folder| folder.system == system.name()) {
                let name = shown(folder, system)?;
                if wanted.iter().any(|wanted| ["default", "all", name.as_str()].contains(wanted)) {
                    names.push(name);
                }
            }
            found.push(names);
        }
        Ok(found)
    }

    /// Configuration of a system in the variant of this name; `make` builds it for a variant of the
    /// catalogue.
    pub(super) fn configure(
        self,
        system: &System,
        variant: &str,
        make: impl Fn(&str) -> Result<Configuration, Failure>,
    ) -> Result<Configuration, Failure> {
        let Some(own) = self.own else { return make(variant) };
        for folder in own.folders.iter().filter(|folder| folder.system == system.name()) {
            if shown(folder, system)? == variant {
                return Ok(own.applied(folder, make(UserQuestions::base_variant(folder, system)?)?));
            }
        }
        Err(Failure::usage(format!(
            "{} has no folder of statements for {} {variant} any more",
            own.path.display(),
            system.name()
        )))
    }

    /// Reason why a system has no configuration in a run, as shown to the user.
    pub(super) fn lacks(self, system: &System, arguments: &RunArguments) -> String {
        match self.own {
            Some(own) if !own.folders.iter().any(|folder| folder.system == system.name()) => {
                format!("{} has no folder {}/", own.path.display(), system.name())
            }
            _ => format!("it has no variant `{}` with storage `{}`", arguments.variants, arguments.storage),
        }
    }
}

/// Name of a folder's variant in results: its own name, or that of the catalogue variant it is based on.
fn shown(folder: &UserSystemFolder, system: &System) -> Result<String, Failure> {
    Ok(match &folder.variant {
        Some(variant) => variant.clone(),
        None => UserQuestions::base_variant(folder, system)?.to_owned(),
    })
}
