//! Expands a study into its runs: every combination of the varied options.

use jsonathlon_schema::workload::WorkloadKind;

use crate::definition::{DOUBLING, EACH, Options, Study, VERSIONS};
use crate::workload::SERVER_CPUS;

/// One run of a study, with one value for every varied option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyRun {
    /// Name of the run's folder within the study's folder. Empty if the study has a single run.
    pub name: String,
    /// Varied options with their values in this run, in the order of the study. Without [`VERSIONS`].
    pub varied: Vec<(String, String)>,
    /// All options of the run, fixed and varied.
    pub options: Options,
    /// Whether the run measures the study's reference instead of its systems.
    pub is_reference: bool,
}

/// Name of the folder of the run that measures the reference.
const REFERENCE: &str = "reference";
/// Options of a study that also decide what its reference is asked over, and how often.
const REFERENCE_OPTIONS: [&str; 4] = ["data", "rounds", "scale", "seed"];

/// What the user chose for a study.
#[derive(Debug, Clone, Default)]
pub struct StudySelection {
    /// Whether the longer options and values of a full study are used (`--full`).
    pub full: bool,
    /// Numbers of the CPUs that this process may use.
    pub cpus: Vec<usize>,
    /// Options that replace the study's own (`--set`). For a varied option, its values separated by commas.
    pub overrides: Options,
}

/// Option that cannot be varied on this machine, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedOption {
    /// Name of the option in the study.
    pub option: String,
    /// Reason, as part of a sentence for the user.
    pub reason: String,
}

impl Study {
    /// Expands the study into its runs, in the order in which they are executed.
    ///
    /// # Errors
    /// If `server-cpus` varies by [`DOUBLING`] and the process may use fewer than two CPUs.
    pub fn runs(&self, selection: &StudySelection) -> Result<Vec<StudyRun>, UnsupportedOption> {
        let mut fixed = self.fixed.clone();
        if selection.full {
            fixed.extend(self.full.clone());
        }
        let is_varied = |option: &str| self.vary.iter().any(|varied| varied.option == option);
        let overrides = selection.overrides.iter().filter(|(option, _)| !is_varied(option));
        fixed.extend(overrides.map(|(option, value)| (option.clone(), value.clone())));
        let mut combinations: Vec<Vec<(String, String)>> = vec![Vec::new()];
        for varied in self.vary.iter().filter(|varied| varied.option != VERSIONS) {
            let default_values = varied.full.as_ref().filter(|_| selection.full).unwrap_or(&varied.values);
            let values = match selection.overrides.get(&varied.option) {
                Some(text) => text.split(',').map(|value| value.trim().to_owned()).collect(),
                None if varied.option == SERVER_CPUS && *default_values == [DOUBLING] => {
                    doubling(&selection.cpus)?
                }
                None => default_values.clone(),
            };
            combinations = combinations
                .into_iter()
                .flat_map(|combination| {
                    let option = varied.option.clone();
                    values.iter().map(move |value| {
                        let mut options = combination.clone();
                        options.push((option.clone(), value.clone()));
                        options
                    })
                })
                .collect();
        }
        let is_single = combinations.len() == 1 && self.reference.is_none();
        let part = |varied: Vec<(String, String)>| {
            let mut options = fixed.clone();
            options.extend(varied.iter().cloned());
            let name = if is_single { String::new() } else { name(&varied) };
            StudyRun { name, varied, options, is_reference: false }
        };
        let reference = self.reference.as_ref().map(|_| {
            let own = fixed.iter().filter(|(option, _)| REFERENCE_OPTIONS.contains(&option.as_str()));
            let mut options: Options = own.map(|(option, value)| (option.clone(), value.clone())).collect();
            // It is compared with by itself, whatever else the workload would show beside it.
            options.insert("no-yardstick".to_owned(), true.to_string());
            StudyRun { name: REFERENCE.to_owned(), varied: Vec::new(), options, is_reference: true }
        });
        Ok(combinations.into_iter().map(part).chain(reference).collect())
    }

    /// Workload of one of the study's runs.
    #[must_use]
    pub fn workload_of(&self, part: &StudyRun) -> WorkloadKind {
        if part.is_reference { WorkloadKind::Analytics } else { self.workload.kind() }
    }

    /// Returns `true` if the study compares all versions of a system with each other.
    #[must_use]
    pub fn compares_versions(&self) -> bool {
        self.vary.iter().any(|varied| varied.option == VERSIONS && varied.values == [EACH])
    }

    /// Variants of a system that one run measures. Empty if the study lists none for the system or none for
    /// this run.
    #[must_use]
    pub fn variants_of(&self, system: &str, part: &StudyRun) -> Vec<&str> {
        let is_measured = |variant: &&String| {
            let mut restrictions = self
                .only
                .iter()
                .filter(|restriction| restriction.system == system && restriction.variant == **variant);
            restrictions.all(|restriction| {
                part.varied.iter().all(|(option, value)| {
                    restriction.conditions.get(option).is_none_or(|values| values.contains(value))
                })
            })
        };
        self.variants.get(system).into_iter().flatten().filter(is_measured).map(String::as_str).collect()
    }
}

/// CPU lists of growing length: the first CPU, the first two, the first four and so on, and at last all of them.
fn doubling(cpus: &[usize]) -> Result<Vec<String>, UnsupportedOption> {
    if cpus.len() < 2 {
        let reason = format!("it compares servers on 1, 2, 4 … CPUs, and there is {} here", cpus.len());
        return Err(UnsupportedOption { option: SERVER_CPUS.to_owned(), reason });
    }
    let counts = std::iter::successors(Some(1_usize), |count| count.checked_mul(2));
    let first_cpus =
        |count: usize| cpus.iter().take(count).map(usize::to_string).collect::<Vec<_>>().join(",");
    let smaller = counts.take_while(|count| *count < cpus.len());
    Ok(smaller.chain([cpus.len()]).map(first_cpus).collect())
}

/// Name of a run that is valid as a file name, such as `text-document-size-0.5`.
fn name(varied: &[(String, String)]) -> String {
    let option_name = |(option, value): &(String, String)| {
        let is_word = value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.parse::<bool>().is_err();
        let name = if is_word { value.clone() } else { format!("{option}-{value}") };
        let replace_special =
            |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '-' };
        name.chars().map(replace_special).collect::<String>()
    };
    varied.iter().map(option_name).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(vary: &str) -> Study {
        let text = format!(
            r#"
question = "q"
minutes = 1
systems = ["mock"]
[still]
records = "1k"
[full]
records = "9k"
{vary}
[variants]
mock = ["plain", "table"]
[[only]]
system = "mock"
variant = "table"
with = {{ documents = ["flat"] }}
[[verdict]]
kind = "value"
says = "{{value}}"
"#
        );
        Study::parse("mine", "mine.toml", &text).unwrap()
    }

    #[test]
    fn runs_are_all_combinations_in_order() {
        let study = study(
            "[[vary]]\noption = \"documents\"\nvalues = [\"flat\", \"large\"]\n[[vary]]\noption = \"document-size\"\n\
             values = [0.5, 2]\nfull = [0.5, 1, 2]\n",
        );
        let parts = study.runs(&StudySelection::default()).unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "flat-document-size-0.5",
                "flat-document-size-2",
                "large-document-size-0.5",
                "large-document-size-2"
            ]
        );
        assert_eq!((&parts[2].options["documents"][..], &parts[2].options["records"][..]), ("large", "1k"));
        assert_eq!(study.variants_of("mock", &parts[0]), ["plain", "table"]);
        assert_eq!(study.variants_of("mock", &parts[2]), ["plain"]);
        assert!(study.variants_of("other", &parts[0]).is_empty());
        let full = study.runs(&StudySelection { full: true, ..StudySelection::default() }).unwrap();
        assert_eq!((full.len(), &full[0].options["records"][..]), (6, "9k"));
        let set = [("documents", "flat"), ("document-size", "1"), ("records", "5")]
            .map(|(a, b)| (a.into(), b.into()));
        let overridden =
            study.runs(&StudySelection { overrides: set.into(), ..StudySelection::default() }).unwrap();
        assert_eq!(
            (
                overridden.len(),
                &overridden[0].name[..],
                &overridden[0].options["document-size"][..],
                &overridden[0].options["records"][..]
            ),
            (1, "", "1", "5")
        );
    }

    #[test]
    fn cpus_are_doubled_as_far_as_there_are_some() {
        let study = study(
            "[[vary]]\noption = \"server-cpus\"\nvalues = [\"doubling\"]\n[[vary]]\noption = \"documents\"\n\
             values = [\"flat\", \"large\"]\n",
        );
        let parts_for =
            |cpus: &[usize]| study.runs(&StudySelection { cpus: cpus.to_vec(), ..StudySelection::default() });
        let parts = parts_for(&[0, 2, 3, 5, 7]).unwrap();
        let cpus: Vec<&str> = parts.iter().step_by(2).map(|part| &part.options["server-cpus"][..]).collect();
        assert_eq!(cpus, ["0", "0,2", "0,2,3,5", "0,2,3,5,7"], "the last one is all of them");
        let parts = parts_for(&[0, 1, 2, 3]).unwrap();
        let cpus: Vec<&str> = parts.iter().step_by(2).map(|part| &part.options["server-cpus"][..]).collect();
        assert_eq!(cpus, ["0", "0,1", "0,1,2,3"]);
        let parts = parts_for(&[0, 2, 3, 5, 7]).unwrap();
        assert_eq!(parts[2].name, "server-cpus-0-2-flat");
        let error = parts_for(&[3]).unwrap_err();
        assert!(error.reason.contains("1, 2, 4 … CPUs, and there is 1"), "{}", error.reason);
    }
}
