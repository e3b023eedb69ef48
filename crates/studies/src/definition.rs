//! Reads the definition of a study strictly: errors name the file, the line and the allowed values.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

/// Options of `run serving` that a study may fix or vary, under their names on the command line.
pub const OPTIONS: [&str; 35] = [
    "arrival",
    "batch-size",
    "clients",
    "data",
    "document-size",
    "documents",
    "durability",
    "duration",
    "find-limit",
    "key",
    "key-order",
    "key-type",
    "load-rounds",
    "members",
    "memory",
    "mixes",
    "no-prepare",
    "operation-count",
    "operation-timeout",
    "profile",
    "rates",
    "read-paths",
    "read-positions",
    "records",
    "rounds",
    "scan-length",
    "seed",
    "server-cpus",
    "soak",
    "storage",
    "stored-size",
    "transport",
    "update",
    "value-content",
    "warmup",
];

/// Pseudo-option that varies the versions of the systems; it is not an option of `run serving`.
pub const VERSIONS: &str = "versions";
/// Only allowed value of [`VERSIONS`]: every version that the system has.
pub const EACH: &str = "each";
/// Option whose values may be [`DOUBLING`]: the CPUs of the server.
pub const SERVER_CPUS: &str = "server-cpus";
/// Generates the values from the machine: one CPU, two, four and so on, up to the number available.
pub const DOUBLING: &str = "doubling";

/// Why a study cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The operating system cannot read the file.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// Path of the file as given.
        file: String,
        /// Message of the operating system, or of the UTF-8 check.
        why: String,
    },
    /// A line of the file has invalid syntax, an unknown name or an invalid value.
    #[error("{file}:{line}: {message}")]
    Invalid {
        /// Path or name of the file as given to [`Study::parse`].
        file: String,
        /// Line number in the file, from 1.
        line: usize,
        /// The problem and, where there is a closed set, the allowed values.
        message: String,
    },
}

/// Option names with their values; a switch has the value `true`.
pub type Options = BTreeMap<String, String>;

/// Definition of a study: a published question, the runs that answer it, and how the answer is worded.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Name of the study: the file name without its extension.
    pub name: String,
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
    /// Name of the option: one of [`OPTIONS`], or [`VERSIONS`].
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
    /// Name of the system's variant for the serving workload.
    pub variant: String,
    /// Varied options, each with the values for which the variant is measured.
    #[serde(rename = "with")]
    pub conditions: BTreeMap<String, Vec<String>>,
}

/// How the chart of a study is drawn, and which metrics its table has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Chart {
    /// Horizontal axis: `clients`, or a varied option whose values are numbers. `None` draws rows below
    /// each other.
    pub axis: Option<String>,
    /// Mix that is drawn. `None` draws one chart per mix.
    pub mix: Option<String>,
    /// Metric that is drawn and tabulated, by its name in journals. `None` is throughput.
    #[serde(rename = "figure")]
    pub metric: Option<String>,
    /// Further metrics that only the table shows, by their names in journals.
    #[serde(rename = "also")]
    pub further_metrics: Vec<String>,
}

/// How a clause of the answer is computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// Ratio of a metric between two configurations.
    #[default]
    Ratio,
    /// Edge: value of a varied option at which the cost of an operation leaves its linear course.
    Edge,
    /// Absolute value of a metric, or its share of another metric.
    Value,
    /// Difference of a metric between two configurations, for counts that are exact.
    Difference,
}

/// What was published about a ratio, an edge or a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimedEffect {
    /// The ratio is below 1.
    Less,
    /// The ratio is above 1.
    More,
    /// The ratio is about 1.
    Alike,
    /// The edge or the difference lies within the limits of [`VerdictSpec::claimed_range`].
    Near,
}

/// At which number of clients configurations are compared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ClientSelector {
    /// Largest number of clients that was measured on both sides of the comparison.
    #[default]
    Most,
    /// On each side, the number of clients with the largest value of the metric.
    Peak,
    /// Fixed number of clients, at least 1.
    Number(u64),
}

/// Rule for one clause of a study's sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VerdictSpec {
    /// How the clause is computed. Defaults to a ratio.
    pub kind: VerdictKind,
    /// System that the clause is about. `None` makes one clause for each measured system.
    pub system: Option<String>,
    /// Metric by its name in journals. `None` is throughput.
    pub metric: Option<String>,
    /// For a value: metric of which the value is shown as a percentage. `None` shows the value itself.
    pub share_of: Option<String>,
    /// Mix that is evaluated. `None` if the study has only one.
    pub mix: Option<String>,
    /// Number of clients at which the values are read.
    pub clients: ClientSelector,
    /// Selects what is evaluated: required values of `variant`, `version`, `storage`, `profile`, `document`
    /// or a varied option. `first` and `last` stand for the first and last value of the study, or the oldest
    /// and newest version.
    pub subject: BTreeMap<String, String>,
    /// Selects what `subject` is compared with, in the same way.
    pub baseline: BTreeMap<String, String>,
    /// Varied option along which an edge is searched. Required for an edge.
    pub varied_option: Option<String>,
    /// Text of the clause. `{system}`, `{change}`, `{value}`, `{clients}` and `{edge}` are replaced.
    pub template: String,
    /// Text if no edge is found. Required for an edge.
    pub no_edge_template: Option<String>,
    /// Published claim to test. `None` if the clause only reports.
    pub claim: Option<ClaimedEffect>,
    /// Published result in words, shown behind the clause. `None` if there is none.
    pub published: Option<String>,
    /// Limits within which the claimed edge (in the unit of the option) or the claimed difference lies.
    /// Present exactly if `claim` is [`ClaimedEffect::Near`].
    pub claimed_range: Option<[f64; 2]>,
}

/// Option value in any of the TOML types that a study file may use.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum OptionValue {
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl OptionValue {
    fn text(self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(value) => value,
        }
    }
}

type OptionTable = BTreeMap<Spanned<String>, Spanned<OptionValue>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStudy {
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

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVerdict {
    #[serde(default)]
    kind: VerdictKind,
    system: Option<String>,
    #[serde(rename = "figure")]
    metric: Option<String>,
    per: Option<String>,
    mix: Option<String>,
    clients: Option<OptionValue>,
    #[serde(default)]
    of: BTreeMap<String, OptionValue>,
    #[serde(default)]
    than: BTreeMap<String, OptionValue>,
    along: Option<String>,
    says: String,
    none: Option<String>,
    claim: Option<ClaimedEffect>,
    published: Option<String>,
    near: Option<[f64; 2]>,
}

/// Placeholders that the text of a verdict may contain.
const PLACEHOLDERS: [&str; 5] = ["system", "change", "value", "clients", "edge"];

/// Reads one file and converts byte offsets to line numbers for errors.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> StudyError {
        StudyError::Invalid { file: self.file.to_owned(), line: self.line(offset), message: message.into() }
    }

    /// Converts options to text by name and stores the line of each in `lines`.
    fn options(
        &self,
        written: OptionTable,
        lines: &mut BTreeMap<String, usize>,
    ) -> Result<Options, StudyError> {
        let mut options = Options::new();
        for (name, value) in written {
            let offset = name.span().start;
            let name = name.into_inner();
            self.check_option(offset, &name)?;
            lines.insert(name.clone(), self.line(offset));
            options.insert(name, value.into_inner().text());
        }
        Ok(options)
    }

    fn check_option(&self, offset: usize, option: &str) -> Result<(), StudyError> {
        if OPTIONS.contains(&option) {
            return Ok(());
        }
        Err(self.error(offset, format!("unknown option `{option}`; allowed: {}", OPTIONS.join(", "))))
    }
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
        let reader = Reader { file, text };
        let written: WrittenStudy = toml::from_str(text).map_err(|error| {
            reader.error(error.span().map_or(0, |span| span.start), error.message().replace('\n', " "))
        })?;
        let mut lines = BTreeMap::new();
        check_required(&reader, &written)?;
        let fixed = reader.options(written.fixed, &mut lines)?;
        let full = reader.options(written.full, &mut BTreeMap::new())?;
        let vary = varied(&reader, written.vary, &fixed, &mut lines)?;
        check_variants(&reader, &written.variants, &written.only, &vary)?;
        let chart_offset = written.chart.as_ref().map_or(0, |chart| chart.span().start);
        let chart = written.chart.map(Spanned::into_inner).unwrap_or_default();
        if let Some(axis) = &chart.axis
            && axis != "clients"
            && !vary.iter().any(|varied| varied.option == *axis)
        {
            let message = format!("the axis `{axis}` is neither `clients` nor varied");
            return Err(reader.error(chart_offset, message));
        }
        if written.verdict.is_empty() {
            return Err(reader.error(text.len(), "no [[verdict]] says what the answer is"));
        }
        let verdicts = written
            .verdict
            .into_iter()
            .map(|spec| verdict(&reader, spec, &vary))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            name: name.to_owned(),
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

/// Checks that the text of a verdict contains no placeholders but [`PLACEHOLDERS`].
fn check_placeholders(text: &str) -> Result<(), String> {
    let mut remaining = text;
    while let Some((_, after)) = remaining.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        if !PLACEHOLDERS.contains(&name) {
            return Err(format!("`{{{name}}}` has no value: there is {}", PLACEHOLDERS.join(", ")));
        }
        remaining = after;
    }
    Ok(())
}

/// Converts the number of clients as it is written in the file.
fn client_selector(written: Option<OptionValue>) -> Result<ClientSelector, String> {
    match written {
        None => Ok(ClientSelector::Most),
        Some(OptionValue::Text(word)) if word == "most" => Ok(ClientSelector::Most),
        Some(OptionValue::Text(word)) if word == "peak" => Ok(ClientSelector::Peak),
        Some(OptionValue::Whole(number)) if number > 0 => Ok(ClientSelector::Number(number.unsigned_abs())),
        Some(_) => Err("clients are a number, \"most\" or \"peak\"".to_owned()),
    }
}

fn verdict(
    reader: &Reader<'_>,
    written: Spanned<WrittenVerdict>,
    vary: &[Varied],
) -> Result<VerdictSpec, StudyError> {
    let offset = written.span().start;
    let error = |message: String| Err(reader.error(offset, message));
    let written = written.into_inner();
    let texts = |values: BTreeMap<String, OptionValue>| {
        values.into_iter().map(|(name, value)| (name, value.text())).collect::<BTreeMap<_, _>>()
    };
    let (subject, baseline) = (texts(written.of), texts(written.than));
    const NAMES: [&str; 5] = ["variant", "version", "storage", "profile", "document"];
    let is_known =
        |name: &&String| NAMES.contains(&name.as_str()) || vary.iter().any(|varied| varied.option == **name);
    if let Some(name) = subject.keys().chain(baseline.keys()).find(|name| !is_known(name)) {
        return error(format!("`{name}` is neither varied nor one of {}", NAMES.join(", ")));
    }
    if matches!(written.kind, VerdictKind::Ratio | VerdictKind::Difference) && subject == baseline {
        return error("a ratio or a difference is `of` something `than` something else".to_owned());
    }
    if written.kind == VerdictKind::Edge {
        let along = written.along.as_deref().unwrap_or_default();
        if !vary.iter().any(|varied| varied.option == along) {
            return error("an edge is looked for `along` a varied option".to_owned());
        }
        if written.none.is_none() {
            return error("an edge may not be there: `none` says so".to_owned());
        }
    }
    if matches!(written.claim, Some(ClaimedEffect::Near)) != written.near.is_some() {
        return error("`claim = \"near\"` and `near` belong together".to_owned());
    }
    for text in [Some(&written.says), written.none.as_ref()].into_iter().flatten() {
        check_placeholders(text).map_err(|message| reader.error(offset, message))?;
    }
    let clients = client_selector(written.clients).map_err(|message| reader.error(offset, message))?;
    Ok(VerdictSpec {
        kind: written.kind,
        system: written.system,
        metric: written.metric,
        share_of: written.per,
        mix: written.mix,
        clients,
        subject,
        baseline,
        varied_option: written.along,
        template: written.says,
        no_edge_template: written.none,
        claim: written.claim,
        published: written.published,
        claimed_range: written.near,
    })
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
