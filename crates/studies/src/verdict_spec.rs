//! Rules for the clauses of a study's sentence, and how its file writes them.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::study_file::{OptionValue, Reader, StudyError};
use crate::workload::{SERVER_CPUS, StudyWorkload};

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
    /// Share of the frontier of questions against documents, beside both peaks.
    Frontier,
    /// Least number of CPUs at which a system answers more questions per hour than the study's reference.
    Cost,
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
    /// Metric by its name in journals. `None` is the default of the study's workload.
    pub metric: Option<String>,
    /// For a value: metric of which the value is shown as a percentage. `None` shows the value itself.
    pub share_of: Option<String>,
    /// Mix that is evaluated. `None` if the study has only one.
    pub mix: Option<String>,
    /// Number of clients at which the values are read.
    pub clients: ClientSelector,
    /// Selects what is evaluated: required values of `variant`, `version`, `storage`, `profile`, `document` (of
    /// serving), `phase` and `rate` (of mixed) or a varied option. `first` and `last` stand for the first and last value of the study, or the oldest
    /// and newest version.
    pub subject: BTreeMap<String, String>,
    /// Selects what `subject` is compared with, in the same way.
    pub baseline: BTreeMap<String, String>,
    /// Varied option along which an edge is searched, or whose CPUs are a cost. Required for both.
    pub varied_option: Option<String>,
    /// Text of the clause. `{system}`, `{change}`, `{value}`, `{clients}` and `{edge}` are replaced; of a frontier
    /// `{system}`, `{share}`, `{documents}`, `{questions}` and `{below}`, of a cost `{system}`, `{cores}`, `{value}`,
    /// `{reference}` and `{factor}`.
    pub template: String,
    /// Text if no edge is found, or no number of CPUs suffices. Required for an edge and a cost.
    pub no_edge_template: Option<String>,
    /// Text if no number of CPUs is shown to suffice, but one may. Required for a cost.
    pub open_template: Option<String>,
    /// Published claim to test. `None` if the clause only reports.
    pub claim: Option<ClaimedEffect>,
    /// Published result in words, shown behind the clause. `None` if there is none.
    pub published: Option<String>,
    /// Limits within which the claimed edge (in the unit of the option) or the claimed difference lies.
    /// Present exactly if `claim` is [`ClaimedEffect::Near`].
    pub claimed_range: Option<[f64; 2]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenVerdict {
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
    open: Option<String>,
    claim: Option<ClaimedEffect>,
    published: Option<String>,
    near: Option<[f64; 2]>,
}

/// Placeholders that the text of a verdict may contain.
const PLACEHOLDERS: [&str; 5] = ["system", "change", "value", "clients", "edge"];
/// Placeholders that the text of a frontier may contain.
const FRONTIER_PLACEHOLDERS: [&str; 5] = ["system", "share", "documents", "questions", "below"];
/// Placeholders that the texts of a cost may contain.
const COST_PLACEHOLDERS: [&str; 5] = ["system", "cores", "value", "reference", "factor"];
/// Placeholders that the text of a frontier must contain: a share means nothing without both peaks.
const SHARE_AND_PEAKS: [&str; 3] = ["share", "documents", "questions"];

impl VerdictKind {
    fn placeholders(self) -> &'static [&'static str] {
        match self {
            Self::Frontier => &FRONTIER_PLACEHOLDERS,
            Self::Cost => &COST_PLACEHOLDERS,
            Self::Ratio | Self::Edge | Self::Value | Self::Difference => &PLACEHOLDERS,
        }
    }

    /// Checks that the text of a verdict contains no placeholders but those of its kind.
    fn check_placeholders(self, text: &str) -> Result<(), String> {
        let allowed = self.placeholders();
        let mut remaining = text;
        while let Some((_, after)) = remaining.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            if !allowed.contains(&name) {
                return Err(format!("`{{{name}}}` has no value: there is {}", allowed.join(", ")));
            }
            remaining = after;
        }
        Ok(())
    }
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

/// Checks what a verdict of its kind needs, and what it must not have.
fn check_kind(
    written: &WrittenVerdict,
    workload: StudyWorkload,
    is_varied: &impl Fn(&str) -> bool,
) -> Result<(), String> {
    match written.kind {
        VerdictKind::Ratio | VerdictKind::Difference => {
            let texts = |values: &BTreeMap<String, OptionValue>| {
                values.iter().map(|(name, value)| (name.clone(), value.clone().text())).collect::<Vec<_>>()
            };
            if texts(&written.of) == texts(&written.than) {
                return Err("a ratio or a difference is `of` something `than` something else".to_owned());
            }
        }
        VerdictKind::Edge => {
            let along = written.along.as_deref().unwrap_or_default();
            if !is_varied(along) {
                return Err("an edge is looked for `along` a varied option".to_owned());
            }
            if written.none.is_none() {
                return Err("an edge may not be there: `none` says so".to_owned());
            }
        }
        VerdictKind::Frontier => {
            if workload != StudyWorkload::Mixed {
                return Err("only runs of `workload = \"mixed\"` have a frontier".to_owned());
            }
            if written.claim.is_some() {
                return Err("a frontier tests no claim".to_owned());
            }
            let lacks = |name: &&&str| !written.says.contains(&format!("{{{name}}}"));
            if let Some(missing) = SHARE_AND_PEAKS.iter().find(lacks) {
                return Err(format!(
                    "a share is never said without both peaks: `says` lacks `{{{missing}}}`"
                ));
            }
        }
        VerdictKind::Cost => {
            if written.along.as_deref() != Some(SERVER_CPUS) || !is_varied(SERVER_CPUS) {
                return Err(format!("a cost is counted `along = \"{SERVER_CPUS}\"`, which varies"));
            }
            if written.none.is_none() {
                return Err("no number of CPUs may suffice: `none` says so".to_owned());
            }
            if written.open.is_none() {
                return Err(
                    "a number of CPUs may be neither shown to suffice nor not to: `open` says so".to_owned()
                );
            }
            if written.claim.is_some() {
                return Err("a cost tests no claim".to_owned());
            }
        }
        VerdictKind::Value => {}
    }
    Ok(())
}

/// Checks one verdict and converts it into its rule. `is_varied` tells which options the study varies.
pub(crate) fn verdict(
    reader: &Reader<'_>,
    written: Spanned<WrittenVerdict>,
    is_varied: &impl Fn(&str) -> bool,
) -> Result<VerdictSpec, StudyError> {
    let offset = written.span().start;
    let error = |message: String| Err(reader.error(offset, message));
    let written = written.into_inner();
    let names = reader.workload.attributes();
    let is_known = |name: &&String| names.contains(&name.as_str()) || is_varied(name);
    if let Some(name) = written.of.keys().chain(written.than.keys()).find(|name| !is_known(name)) {
        return error(format!("`{name}` is neither varied nor one of {}", names.join(", ")));
    }
    if written.open.is_some() && written.kind != VerdictKind::Cost {
        return error("only a cost has a text for what is `open`".to_owned());
    }
    if let Err(message) = check_kind(&written, reader.workload, is_varied) {
        return error(message);
    }
    if matches!(written.claim, Some(ClaimedEffect::Near)) != written.near.is_some() {
        return error("`claim = \"near\"` and `near` belong together".to_owned());
    }
    for text in [Some(&written.says), written.none.as_ref(), written.open.as_ref()].into_iter().flatten() {
        written.kind.check_placeholders(text).map_err(|message| reader.error(offset, message))?;
    }
    let clients = client_selector(written.clients).map_err(|message| reader.error(offset, message))?;
    let texts = |values: BTreeMap<String, OptionValue>| {
        values.into_iter().map(|(name, value)| (name, value.text())).collect::<BTreeMap<_, _>>()
    };
    Ok(VerdictSpec {
        kind: written.kind,
        system: written.system,
        metric: written.metric,
        share_of: written.per,
        mix: written.mix,
        clients,
        subject: texts(written.of),
        baseline: texts(written.than),
        varied_option: written.along,
        template: written.says,
        no_edge_template: written.none,
        open_template: written.open,
        claim: written.claim,
        published: written.published,
        claimed_range: written.near,
    })
}
