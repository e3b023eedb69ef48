//! Selects and sets up configurations for a workload, by the catalogue's variants or by the user's own folder
//! of questions.

use jsonathlon_catalogue::{
    Catalogue, Configuration, QUESTIONS, SelectedSystem, System, TargetKind, UserQuestions, UserSystemFolder,
    base_name, select_variants_of,
};
use jsonathlon_schema::durability::DurabilityTier;

use crate::exit::Failure;

/// Workload that configurations are made for, and what it needs of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct SetupContext<'a> {
    /// Name of the workload. Its section of a system's folder is used.
    pub(super) workload: &'a str,
    /// Durability tier; `None` if the workload has no tier.
    pub(super) durability: Option<DurabilityTier>,
    /// The user's folder of questions, which then defines the variants. `None` if the catalogue defines them.
    pub(super) user_questions: Option<&'a UserQuestions>,
    /// Questions that are asked beside the load; `None` unless the workload is serving with such.
    pub(super) reports: Option<Reports<'a>>,
}

/// A user's questions that are asked over the records of serving.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reports<'a> {
    /// The user's folder of questions.
    pub(super) questions: &'a UserQuestions,
    /// Catalogue that says how systems refuse changes in sessions of questions.
    pub(super) catalogue: &'a Catalogue,
}

impl Reports<'_> {
    /// Adds the statements of the questions to a configuration, or why they are not asked.
    fn apply_to(self, configuration: Configuration) -> Result<Configuration, Failure> {
        let system = self.catalogue.get(base_name(&configuration.system))?;
        let variants = system.variants_of(QUESTIONS);
        let question_setup = match variants.iter().find(|variant| variant.is_default) {
            Some(variant) => {
                let base =
                    system.configuration(system.default_version(), &variant.name, &configuration.storage)?;
                base.setups.get(QUESTIONS).cloned()
            }
            None => None,
        };
        Ok(self.questions.apply_reports(configuration, question_setup.as_ref()))
    }
}

impl SetupContext<'_> {
    /// Reduces a configuration to this workload, sets the durability tier, except on a yardstick, and adds the
    /// questions that are asked beside the load. A system that does not run the workload has no tiers, and is
    /// refused later by that name.
    pub(super) fn apply_to(self, configuration: Configuration) -> Result<Configuration, Failure> {
        let configuration = configuration.for_workloads(&[self.workload]);
        let configuration = match self.durability {
            Some(tier) if !configuration.reference && !configuration.setups.is_empty() => {
                configuration.with_durability(tier)?
            }
            _ => configuration,
        };
        match self.reports {
            Some(reports) => reports.apply_to(configuration),
            None => Ok(configuration),
        }
    }

    /// Systems of a run without `--systems`. With a folder of questions these are the default systems that it
    /// has statements for, or all systems in it if there is no such default.
    pub(super) fn default_systems<'c>(
        self,
        catalogue: &'c Catalogue,
        systems: Option<&str>,
    ) -> Result<Vec<SelectedSystem<'c>>, Failure> {
        let mut systems = catalogue.select(systems)?;
        let Some(questions) = self.user_questions else { return Ok(systems) };
        let has_folder = |name: &str| questions.folders.iter().any(|folder| folder.system == name);
        systems.retain(|selection| has_folder(selection.system.name()));
        if systems.is_empty() {
            let folders = questions.folders.iter();
            let mut names: Vec<&str> = folders.map(|folder| folder.system.as_str()).collect();
            names.dedup();
            return Ok(catalogue.select(Some(&names.join(",")))?);
        }
        Ok(systems)
    }

    /// Names of the variants that `text` selects, one list per system.
    pub(super) fn variants(
        self,
        systems: &[&System],
        text: &str,
        target_kind: TargetKind,
    ) -> Result<Vec<Vec<String>>, Failure> {
        let Some(questions) = self.user_questions else {
            let variants = select_variants_of(self.workload, systems, text, target_kind)?;
            let names = |variants: Vec<&jsonathlon_catalogue::Variant>| {
                variants.iter().map(|variant| variant.name.clone()).collect()
            };
            return Ok(variants.into_iter().map(names).collect());
        };
        let requested: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let mut variants_by_system = Vec::new();
        for system in systems {
            let mut names = Vec::new();
            for folder in questions.folders.iter().filter(|folder| folder.system == system.name()) {
                let name = variant_name(folder, system)?;
                let is_selected = |requested: &&str| match *requested {
                    "default" | "all" => true,
                    "main" => names.is_empty(),
                    requested => requested == name,
                };
                if requested.iter().any(is_selected) {
                    names.push(name);
                }
            }
            variants_by_system.push(names);
        }
        Ok(variants_by_system)
    }

    /// Configuration of a system in the variant of this name; `build` builds it for a variant of the
    /// catalogue.
    pub(super) fn configure(
        self,
        system: &System,
        variant: &str,
        build: impl Fn(&str) -> Result<Configuration, Failure>,
    ) -> Result<Configuration, Failure> {
        let Some(questions) = self.user_questions else { return build(variant) };
        for folder in questions.folders.iter().filter(|folder| folder.system == system.name()) {
            if variant_name(folder, system)? == variant {
                return Ok(
                    questions.apply_folder(folder, build(UserQuestions::base_variant(folder, system)?)?)
                );
            }
        }
        Err(Failure::usage(format!(
            "{} has no folder of statements for {} {variant} any more",
            questions.path.display(),
            system.name()
        )))
    }

    /// Reason why a system has no configuration in a run, as shown to the user.
    pub(super) fn skip_reason(self, system: &System, variants: &str, storage: &str) -> String {
        match self.user_questions {
            Some(questions) if !questions.folders.iter().any(|folder| folder.system == system.name()) => {
                format!("{} has no folder {}/", questions.path.display(), system.name())
            }
            _ => format!("it has no variant `{variants}` with storage `{storage}`"),
        }
    }
}

/// Name of a folder's variant in results: its own name, or that of the catalogue variant it is based on.
fn variant_name(folder: &UserSystemFolder, system: &System) -> Result<String, Failure> {
    Ok(match &folder.variant {
        Some(variant) => variant.clone(),
        None => UserQuestions::base_variant(folder, system)?.to_owned(),
    })
}
