//! Reads the definition of a study strictly: errors name the file, the line and the allowed values.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::study_file::{OptionTable, OptionValue, Reader, StudyError};
use crate::verdict_spec::{VerdictKind, VerdictSpec, WrittenVerdict, verdict};
use crate::workload::StudyWorkload;

/// Pseudo-option that varies the versions of the systems; it is not an option of a run.
pub const VERSIONS: &str = "versions";
/// Only allowed value of [`VERSIONS`]: every version that the system has.
pub const EACH: &str = "each";
/// Generates the values from the machine: one CPU, two, four and so on, up to the number available.
pub const DOUBLING: &str = "doubling";

/// Option names with their values; a switch has the value `true`.
pub type Options = BTreeMap<String, String>;

/// Definition of a study: a published question, the runs that answer it, and how the answer is worded.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Name of the study: the file name without its extension.
    pub name: String,
    /// Workload of all runs of the study.
    pub workload: StudyWorkload,
    /// Question that the study answers, as one sentence. Never empty.
    pub question: String,
    /// What was published about the question, as one sentence. Empty if nothing was.
    pub claim: String,
    /// Approximate duration in minutes on two cores with the systems installed. Greater than 0.
    pub minutes: f64,
    /// Default systems of the study, for users who name no others. Never empty.
    pub systems: Vec<String>,
    /// Experiments of the published results that the study is compared with; see [`crate::published`].
    pub experiments: Vec<String>,
    /// Options with one value in all runs of the study (table `still` of the file).
    pub fixed: Options,
    /// Options that differ between the runs, with their values in order. Every combination is one run.
    pub vary: Vec<Varied>,
    /// Variants to measure, by system name; systems that are not listed are left out. If the map is empty,
    /// every system runs in its default variant.
    pub variants: BTreeMap<String, Vec<String>>,
    /// Variants that only some of the runs measure.
    pub only: Vec<VariantRestriction>,
    /// Options that replace those of `fixed` if the user asks for a full study (`--full`).
    pub full: Options,
    /// Configuration that answers the same questions over the same documents in a run of its own. `None` unless a
    /// verdict compares systems with it.
    pub reference: Option<Reference>,
    /// How the chart of the study is drawn.
    pub chart: Chart,
    /// Clauses of the answer, in the order of the sentence. Never empty.
    pub verdicts: Vec<VerdictSpec>,
    /// Complete text of the file as it was read.
    pub text: String,
    file: String,
    lines: BTreeMap<String, usize>,
}

/// Option that takes several values in a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    /// Name of the option: one of [`StudyWorkload::options`], or [`VERSIONS`].
    pub option: String,
    /// Values in the order in which they are run. At least two, or the single word [`EACH`] or [`DOUBLING`].
    pub values: Vec<String>,
    /// Values of a full study. `None` if they are the same.
    pub full: Option<Vec<String>>,
}

/// Variant that only some runs measure.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantRestriction {
    /// Name of the system in the catalogue.
    pub system: String,
    /// Name of the system's variant for the study's workload.
    pub variant: String,
    /// Varied options, each with the values for which the variant is measured.
    #[serde(rename = "with")]
    pub conditions: BTreeMap<String, Vec<String>>,
}

/// Configuration of the analytics workload whose questions per hour others are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Name of the system in the catalogue.
    pub system: String,
    /// Name of the system's variant.
    pub variant: String,
}

/// What the charts and the table of a study show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChartKind {
    /// One metric, along a varied option or as rows.
    #[default]
    Metric,
    /// The frontier of questions against documents, of runs of the mixed workload.
    Frontier,
}

/// How the chart of a study is drawn, and which metrics its table has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Chart {
    /// What is drawn. A frontier has no axis, no mix and no metrics of its own.
    pub kind: ChartKind,
    /// Horizontal axis: `clients`, or a varied option whose values are numbers. `None` draws rows below
    /// each other.
    pub axis: Option<String>,
    /// Mix that is drawn. `None` draws one chart per mix.
    pub mix: Option<String>,
    /// Metric that is drawn and tabulated, by its name in journals. `None` is the default of the workload.
    #[serde(rename = "figure")]
    pub metric: Option<String>,
    /// Further metrics that only the table shows, by their names in journals.
    #[serde(rename = "also")]
    pub further_metrics: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStudy {
    #[serde(default)]
    workload: StudyWorkload,
    question: Spanned<String>,
    #[serde(default)]
    claim: String,
    minutes: Spanned<f64>,
    systems: Spanned<Vec<String>>,
    #[serde(default)]
    experiments: Vec<String>,
    #[serde(default, rename = "still")]
    fixed: OptionTable,
    #[serde(default)]
    vary: Vec<WrittenVaried>,
    #[serde(default)]
    variants: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(default)]
    only: Vec<Spanned<VariantRestriction>>,
    #[serde(default)]
    full: OptionTable,
    reference: Option<Spanned<Reference>>,
    chart: Option<Spanned<Chart>>,
    verdict: Vec<Spanned<WrittenVerdict>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVaried {
    option: Spanned<String>,
    values: Spanned<Vec<OptionValue>>,
    full: Option<Vec<OptionValue>>,
}

impl Study {
    /// Reads a study from a file; its name is the file name without the extension.
    ///
    /// # Errors
    /// [`StudyError::Unreadable`] if the file cannot be read, [`StudyError::Invalid`] if its content is
    /// invalid.
    pub fn from_file(path: &Path) -> Result<Self, StudyError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| StudyError::Unreadable { file: file.clone(), why: error.to_string() })?;
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("study");
        Self::parse(name, &file, &text)
    }

    /// Parses the text of a study; errors refer to it as `file`.
    ///
    /// # Errors
    /// [`StudyError::Invalid`] if the syntax, a name or a value is invalid.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, StudyError> {
        let mut reader = Reader { file, text, workload: StudyWorkload::default() };
        let written: WrittenStudy = toml::from_str(text).map_err(|error| {
            reader.error(error.span().map_or(0, |span| span.start), error.message().replace('\n', " "))
        })?;
        reader.workload = written.workload;
        let mut lines = BTreeMap::new();
        check_required(&reader, &written)?;
        let fixed = reader.options(written.fixed, &mut lines)?;
        let full = reader.options(written.full, &mut BTreeMap::new())?;
        let vary = varied(&reader, written.vary, &fixed, &mut lines)?;
        check_variants(&reader, &written.variants, &written.only, &vary)?;
        let chart = chart(&reader, written.chart, &vary)?;
        let is_varied = |option: &str| vary.iter().any(|varied| varied.option == option);
        if written.verdict.is_empty() {
            return Err(reader.error(text.len(), "no [[verdict]] says what the answer is"));
        }
        let verdicts = written
            .verdict
            .into_iter()
            .map(|spec| verdict(&reader, spec, &is_varied))
            .collect::<Result<Vec<_>, _>>()?;
        check_reference(&reader, written.reference.as_ref(), &verdicts)?;
        Ok(Self {
            name: name.to_owned(),
            workload: written.workload,
            question: written.question.into_inner(),
            claim: written.claim,
            minutes: written.minutes.into_inner(),
            systems: written.systems.into_inner(),
            experiments: written.experiments,
            fixed,
            vary,
            variants: written
                .variants
                .into_iter()
                .map(|(name, variants)| (name, variants.into_inner()))
                .collect(),
            only: written.only.into_iter().map(Spanned::into_inner).collect(),
            full,
            reference: written.reference.map(Spanned::into_inner),
            chart,
            verdicts,
            text: text.to_owned(),
            file: file.to_owned(),
            lines,
        })
    }

    /// Makes an error about the value of an option, with the line that sets it, or line 1 if no line does.
    #[must_use]
    pub fn invalid_value(&self, option: &str, message: &str) -> StudyError {
        StudyError::Invalid {
            file: self.file.clone(),
            line: self.lines.get(option).copied().unwrap_or(1),
            message: message.to_owned(),
        }
    }
}

/// Checks the question, the minutes and the systems, which every study must have.
fn check_required(reader: &Reader<'_>, written: &WrittenStudy) -> Result<(), StudyError> {
    if written.question.get_ref().trim().is_empty() {
        return Err(reader.error(written.question.span().start, "the question is empty"));
    }
    if !(*written.minutes.get_ref() > 0.0 && written.minutes.get_ref().is_finite()) {
        return Err(reader.error(written.minutes.span().start, "minutes are a number above 0"));
    }
    if written.systems.get_ref().is_empty() {
        return Err(reader.error(written.systems.span().start, "no system is named"));
    }
    Ok(())
}

/// Checks that every listed system has a variant, and that restrictions name only varied options.
fn check_variants(
    reader: &Reader<'_>,
    variants: &BTreeMap<String, Spanned<Vec<String>>>,
    only: &[Spanned<VariantRestriction>],
    vary: &[Varied],
) -> Result<(), StudyError> {
    for (system, variants) in variants {
        if variants.get_ref().is_empty() {
            return Err(reader.error(variants.span().start, format!("{system} has no variant here")));
        }
    }
    for spanned in only {
        let restriction = spanned.get_ref();
        let is_varied = |option: &&String| vary.iter().any(|varied| varied.option == **option);
        if let Some(option) = restriction.conditions.keys().find(|option| !is_varied(option)) {
            return Err(reader.error(spanned.span().start, format!("`{option}` does not vary")));
        }
    }
    Ok(())
}

/// Checks that there is a reference exactly if a verdict needs one.
fn check_reference(
    reader: &Reader<'_>,
    reference: Option<&Spanned<Reference>>,
    verdicts: &[VerdictSpec],
) -> Result<(), StudyError> {
    let needs_one = verdicts.iter().any(|verdict| verdict.kind == VerdictKind::Cost);
    match reference {
        Some(reference) if reader.workload != StudyWorkload::Mixed => {
            Err(reader.error(reference.span().start, "only runs of `workload = \"mixed\"` have a reference"))
        }
        Some(reference) if !needs_one => {
            Err(reader.error(reference.span().start, "no verdict of `kind = \"cost\"` needs a reference"))
        }
        None if needs_one => Err(reader.error(reader.text.len(), "a cost needs a [reference]")),
        _ => Ok(()),
    }
}

/// Checks that the axis varies, and that a frontier can be drawn as it is written.
fn chart(reader: &Reader<'_>, written: Option<Spanned<Chart>>, vary: &[Varied]) -> Result<Chart, StudyError> {
    let Some(written) = written else { return Ok(Chart::default()) };
    let offset = written.span().start;
    let chart = written.into_inner();
    if let Some(axis) = &chart.axis
        && axis != "clients"
        && !vary.iter().any(|varied| varied.option == *axis)
    {
        return Err(reader.error(offset, format!("the axis `{axis}` is neither `clients` nor varied")));
    }
    if chart.kind == ChartKind::Frontier {
        if reader.workload != StudyWorkload::Mixed {
            return Err(reader.error(offset, "only runs of `workload = \"mixed\"` have a frontier"));
        }
        if chart != (Chart { kind: ChartKind::Frontier, ..Chart::default() }) {
            return Err(reader.error(offset, "the chart of a frontier has no further keys"));
        }
    }
    Ok(chart)
}

fn varied(
    reader: &Reader<'_>,
    written: Vec<WrittenVaried>,
    fixed: &Options,
    lines: &mut BTreeMap<String, usize>,
) -> Result<Vec<Varied>, StudyError> {
    let mut options: Vec<Varied> = Vec::new();
    for entry in written {
        let offset = entry.option.span().start;
        let option = entry.option.into_inner();
        if option != VERSIONS {
            reader.check_option(offset, &option)?;
        }
        if fixed.contains_key(&option) || options.iter().any(|known| known.option == option) {
            return Err(reader.error(offset, format!("`{option}` is held still or varied already")));
        }
        let values_offset = entry.values.span().start;
        let texts = |values: Vec<OptionValue>| values.into_iter().map(OptionValue::text).collect::<Vec<_>>();
        let values = texts(entry.values.into_inner());
        let is_allowed = |name: &str, word: &str| option != name || values == [word];
        if !is_allowed(VERSIONS, EACH) {
            return Err(reader.error(values_offset, format!("versions vary by [\"{EACH}\"] alone")));
        }
        let generates = option == VERSIONS || values == [DOUBLING];
        if values.len() < 2 && !generates {
            return Err(reader.error(values_offset, format!("`{option}` varies over two values at least")));
        }
        lines.insert(option.clone(), reader.line(offset));
        options.push(Varied { option, values, full: entry.full.map(texts) });
    }
    Ok(options)
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
