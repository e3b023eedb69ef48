//! What a study says, read strictly: errors name the file, the line, and what is allowed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

/// Options of `run serving` that a study may hold still or vary, as they are called there.
pub const OPTIONS: [&str; 32] = [
    "arrival",
    "batch",
    "clients",
    "doc-size",
    "documents",
    "durability",
    "encode",
    "find-limit",
    "key-order",
    "key-type",
    "load-rounds",
    "long",
    "measure",
    "members",
    "memory",
    "mixes",
    "no-prepare",
    "operation-timeout",
    "operations",
    "paths",
    "positions",
    "profile",
    "ramp",
    "rates",
    "records",
    "rounds",
    "scan-length",
    "seed",
    "server-cpus",
    "storage",
    "transport",
    "values",
];

/// An option that names versions: not one of a run, but of its systems.
pub const VERSIONS: &str = "versions";
/// The value of [`VERSIONS`] that stands for all versions that a system has.
pub const EACH: &str = "each";
/// The option whose values may be [`DOUBLING`].
pub const SERVER_CPUS: &str = "server-cpus";
/// One CPU, two, four, and so on, as far as the machine has them.
pub const DOUBLING: &str = "doubling";

/// Why a study cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The file cannot be read.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        why: String,
    },
    /// A line of it says what it must not.
    #[error("{file}:{line}: {message}")]
    Wrong {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what is allowed.
        message: String,
    },
}

/// An option with its value; a switch has the value `true`.
pub type Options = BTreeMap<String, String>;

/// A study.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Its name: that of its file without the ending.
    pub name: String,
    /// What it asks, in a sentence.
    pub question: String,
    /// What was published about it, in a sentence; empty where nothing was.
    pub claim: String,
    /// Minutes that it takes about, on two cores, systems installed.
    pub minutes: f64,
    /// Systems that it runs on unless others are named.
    pub systems: Vec<String>,
    /// Experiments of the published figures that it shows.
    pub experiments: Vec<String>,
    /// Options that all its runs share.
    pub still: Options,
    /// Options that differ between its runs, each with its values in order; runs are all combinations.
    pub vary: Vec<Varied>,
    /// Variants of systems, by the system's name; systems without any have nothing to vary. Empty where variants do not
    /// matter: then each system runs in its default one.
    pub variants: BTreeMap<String, Vec<String>>,
    /// Variants that some runs alone have.
    pub only: Vec<Only>,
    /// Options that a full study has instead.
    pub full: Options,
    /// How its chart is drawn.
    pub chart: Chart,
    /// What its sentence is put together from.
    pub verdicts: Vec<Verdict>,
    /// The file as it was read.
    pub text: String,
    file: String,
    lines: BTreeMap<String, usize>,
}

/// An option that varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Varied {
    /// The option.
    pub option: String,
    /// Its values.
    pub values: Vec<String>,
    /// Its values in a full study, where they are others.
    pub full: Option<Vec<String>>,
}

/// A variant that is measured in some runs alone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Only {
    /// The system.
    pub system: String,
    /// Its variant.
    pub variant: String,
    /// Varied options with the values with which it is measured.
    pub with: BTreeMap<String, Vec<String>>,
}

/// How the chart of a study is drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Chart {
    /// What the horizontal axis is: `clients`, or a varied option whose values are numbers. Bars side by side where none is
    /// named.
    pub axis: Option<String>,
    /// The mix that is drawn; all of them, one beside the other, where none is named.
    pub mix: Option<String>,
    /// The figure that is drawn and tabulated, by its name in journals.
    pub figure: Option<String>,
    /// Further figures of the table.
    pub also: Vec<String>,
}

/// How a part of the sentence is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The ratio of a figure of one configuration to that of another.
    #[default]
    Ratio,
    /// Where a figure leaves its course along a varied option.
    Edge,
    /// A figure itself.
    Value,
    /// A figure less that of another configuration, of counts that are exact.
    Difference,
}

/// What was claimed of a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// It is below one.
    Less,
    /// It is above one.
    More,
    /// It is about one.
    Alike,
    /// An edge, or a difference, lies where `near` says.
    Near,
}

/// Which number of clients is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Clients {
    /// The most that both sides have.
    #[default]
    Most,
    /// On each side the number at which it does best.
    Peak,
    /// So many.
    Number(u64),
}

/// One part of a study's sentence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// How it is found.
    pub kind: Kind,
    /// The system; all of the study, one after the other, where none is named.
    pub system: Option<String>,
    /// The figure, by its name in journals.
    pub figure: Option<String>,
    /// Of a value, the figure that it is a share of, in per cent.
    pub per: Option<String>,
    /// The mix; the only one where none is named.
    pub mix: Option<String>,
    /// The number of clients.
    pub clients: Clients,
    /// What is looked at: `variant`, `version`, `storage`, `profile`, `document`, or a varied option, with the value that it must
    /// have; `first` and `last` stand for those of the study's own values.
    pub of: BTreeMap<String, String>,
    /// What it is held against, likewise.
    pub than: BTreeMap<String, String>,
    /// The varied option along which an edge is looked for.
    pub along: Option<String>,
    /// The words: `{system}`, `{change}`, `{value}`, `{clients}`, `{edge}` are put in.
    pub says: String,
    /// The words where no edge is found.
    pub none: Option<String>,
    /// What was claimed.
    pub claim: Option<Claim>,
    /// The published figure, in words.
    pub published: Option<String>,
    /// Where a claimed edge lies, in the unit of the option; or the claimed difference, within these limits.
    pub near: Option<[f64; 2]>,
}

/// A value of an option as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Plain {
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl Plain {
    fn text(self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Whole(value) => value.to_string(),
            Self::Number(value) => value.to_string(),
            Self::Text(value) => value,
        }
    }
}

type Written = BTreeMap<Spanned<String>, Spanned<Plain>>;

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
    #[serde(default)]
    still: Written,
    #[serde(default)]
    vary: Vec<WrittenVaried>,
    #[serde(default)]
    variants: BTreeMap<String, Spanned<Vec<String>>>,
    #[serde(default)]
    only: Vec<Spanned<Only>>,
    #[serde(default)]
    full: Written,
    chart: Option<Spanned<Chart>>,
    verdict: Vec<Spanned<WrittenVerdict>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVaried {
    option: Spanned<String>,
    values: Spanned<Vec<Plain>>,
    full: Option<Vec<Plain>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVerdict {
    #[serde(default)]
    kind: Kind,
    system: Option<String>,
    figure: Option<String>,
    per: Option<String>,
    mix: Option<String>,
    clients: Option<Plain>,
    #[serde(default)]
    of: BTreeMap<String, Plain>,
    #[serde(default)]
    than: BTreeMap<String, Plain>,
    along: Option<String>,
    says: String,
    none: Option<String>,
    claim: Option<Claim>,
    published: Option<String>,
    near: Option<[f64; 2]>,
}

/// What a verdict's words may hold.
const PLACES: [&str; 5] = ["system", "change", "value", "clients", "edge"];

/// A reader of one file.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> StudyError {
        StudyError::Wrong { file: self.file.to_owned(), line: self.line(at), message: message.into() }
    }

    /// Options by name, each with its line.
    fn options(&self, written: Written, lines: &mut BTreeMap<String, usize>) -> Result<Options, StudyError> {
        let mut options = Options::new();
        for (name, value) in written {
            let at = name.span().start;
            let name = name.into_inner();
            self.known(at, &name)?;
            lines.insert(name.clone(), self.line(at));
            options.insert(name, value.into_inner().text());
        }
        Ok(options)
    }

    fn known(&self, at: usize, option: &str) -> Result<(), StudyError> {
        if OPTIONS.contains(&option) {
            return Ok(());
        }
        Err(self
            .wrong(at, format!("no option of a study is called `{option}`: there is {}", OPTIONS.join(", "))))
    }
}

impl Study {
    /// Reads a file, called by its name without the ending.
    ///
    /// # Errors
    /// It cannot be read, or says what it must not.
    pub fn from_file(path: &Path) -> Result<Self, StudyError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| StudyError::Unreadable { file: file.clone(), why: error.to_string() })?;
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("study");
        Self::parse(name, &file, &text)
    }

    /// Reads the text of a study; `file` is what errors call it.
    ///
    /// # Errors
    /// It says what it must not.
    pub fn parse(name: &str, file: &str, text: &str) -> Result<Self, StudyError> {
        let reader = Reader { file, text };
        let written: WrittenStudy = toml::from_str(text).map_err(|error| {
            reader.wrong(error.span().map_or(0, |span| span.start), error.message().replace('\n', " "))
        })?;
        let mut lines = BTreeMap::new();
        if written.question.get_ref().trim().is_empty() {
            return Err(reader.wrong(written.question.span().start, "the question is empty"));
        }
        if !(*written.minutes.get_ref() > 0.0 && written.minutes.get_ref().is_finite()) {
            return Err(reader.wrong(written.minutes.span().start, "minutes are a number above 0"));
        }
        if written.systems.get_ref().is_empty() {
            return Err(reader.wrong(written.systems.span().start, "no system is named"));
        }
        let still = reader.options(written.still, &mut lines)?;
        let full = reader.options(written.full, &mut BTreeMap::new())?;
        let vary = varied(&reader, written.vary, &still, &mut lines)?;
        for (system, variants) in &written.variants {
            if variants.get_ref().is_empty() {
                return Err(reader.wrong(variants.span().start, format!("{system} has no variant here")));
            }
        }
        for only in &written.only {
            let one = only.get_ref();
            let is_varied = |option: &&String| vary.iter().any(|varied| varied.option == **option);
            if let Some(option) = one.with.keys().find(|option| !is_varied(option)) {
                return Err(reader.wrong(only.span().start, format!("`{option}` does not vary")));
            }
        }
        let at = written.chart.as_ref().map_or(0, |chart| chart.span().start);
        let chart = written.chart.map(Spanned::into_inner).unwrap_or_default();
        if let Some(axis) = &chart.axis
            && axis != "clients"
            && !vary.iter().any(|varied| varied.option == *axis)
        {
            return Err(reader.wrong(at, format!("the axis `{axis}` is neither `clients` nor varied")));
        }
        if written.verdict.is_empty() {
            return Err(reader.wrong(text.len(), "no [[verdict]] says what the answer is"));
        }
        let verdicts = written
            .verdict
            .into_iter()
            .map(|one| verdict(&reader, one, &vary))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            name: name.to_owned(),
            question: written.question.into_inner(),
            claim: written.claim,
            minutes: written.minutes.into_inner(),
            systems: written.systems.into_inner(),
            experiments: written.experiments,
            still,
            vary,
            variants: written.variants.into_iter().map(|(name, one)| (name, one.into_inner())).collect(),
            only: written.only.into_iter().map(Spanned::into_inner).collect(),
            full,
            chart,
            verdicts,
            text: text.to_owned(),
            file: file.to_owned(),
            lines,
        })
    }

    /// What is wrong with the value of an option, with the file and the line of that.
    #[must_use]
    pub fn wrong(&self, option: &str, message: &str) -> StudyError {
        StudyError::Wrong {
            file: self.file.clone(),
            line: self.lines.get(option).copied().unwrap_or(1),
            message: message.to_owned(),
        }
    }
}

fn varied(
    reader: &Reader<'_>,
    written: Vec<WrittenVaried>,
    still: &Options,
    lines: &mut BTreeMap<String, usize>,
) -> Result<Vec<Varied>, StudyError> {
    let mut all: Vec<Varied> = Vec::new();
    for one in written {
        let at = one.option.span().start;
        let option = one.option.into_inner();
        if option != VERSIONS {
            reader.known(at, &option)?;
        }
        if still.contains_key(&option) || all.iter().any(|other| other.option == option) {
            return Err(reader.wrong(at, format!("`{option}` is held still or varied already")));
        }
        let values_at = one.values.span().start;
        let texts = |values: Vec<Plain>| values.into_iter().map(Plain::text).collect::<Vec<_>>();
        let values = texts(one.values.into_inner());
        let may = |name: &str, word: &str| option != name || values == [word];
        if !may(VERSIONS, EACH) {
            return Err(reader.wrong(values_at, format!("versions vary by [\"{EACH}\"] alone")));
        }
        let generates = option == VERSIONS || values == [DOUBLING];
        if values.len() < 2 && !generates {
            return Err(reader.wrong(values_at, format!("`{option}` varies over two values at least")));
        }
        lines.insert(option.clone(), reader.line(at));
        all.push(Varied { option, values, full: one.full.map(texts) });
    }
    Ok(all)
}

fn verdict(
    reader: &Reader<'_>,
    written: Spanned<WrittenVerdict>,
    vary: &[Varied],
) -> Result<Verdict, StudyError> {
    let at = written.span().start;
    let wrong = |message: String| Err(reader.wrong(at, message));
    let written = written.into_inner();
    let texts = |all: BTreeMap<String, Plain>| {
        all.into_iter().map(|(name, value)| (name, value.text())).collect::<BTreeMap<_, _>>()
    };
    let (of, than) = (texts(written.of), texts(written.than));
    const NAMES: [&str; 5] = ["variant", "version", "storage", "profile", "document"];
    let is_known =
        |name: &&String| NAMES.contains(&name.as_str()) || vary.iter().any(|varied| varied.option == **name);
    if let Some(name) = of.keys().chain(than.keys()).find(|name| !is_known(name)) {
        return wrong(format!("`{name}` is neither varied nor one of {}", NAMES.join(", ")));
    }
    if matches!(written.kind, Kind::Ratio | Kind::Difference) && of == than {
        return wrong("a ratio or a difference is `of` something `than` something else".to_owned());
    }
    if written.kind == Kind::Edge {
        let along = written.along.as_deref().unwrap_or_default();
        if !vary.iter().any(|varied| varied.option == along) {
            return wrong("an edge is looked for `along` a varied option".to_owned());
        }
        if written.none.is_none() {
            return wrong("an edge may not be there: `none` says so".to_owned());
        }
    }
    if matches!(written.claim, Some(Claim::Near)) != written.near.is_some() {
        return wrong("`claim = \"near\"` and `near` belong together".to_owned());
    }
    for text in [Some(&written.says), written.none.as_ref()].into_iter().flatten() {
        let mut rest = text.as_str();
        while let Some((_, behind)) = rest.split_once('{') {
            let (name, behind) = behind.split_once('}').unwrap_or((behind, ""));
            if !PLACES.contains(&name) {
                return wrong(format!("`{{{name}}}` has no value: there is {}", PLACES.join(", ")));
            }
            rest = behind;
        }
    }
    let clients = match written.clients {
        None => Clients::Most,
        Some(Plain::Text(word)) if word == "most" => Clients::Most,
        Some(Plain::Text(word)) if word == "peak" => Clients::Peak,
        Some(Plain::Whole(number)) if number > 0 => Clients::Number(number.unsigned_abs()),
        Some(_) => return wrong("clients are a number, \"most\" or \"peak\"".to_owned()),
    };
    Ok(Verdict {
        kind: written.kind,
        system: written.system,
        figure: written.figure,
        per: written.per,
        mix: written.mix,
        clients,
        of,
        than,
        along: written.along,
        says: written.says,
        none: written.none,
        claim: written.claim,
        published: written.published,
        near: written.near,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = r#"
question = "What does it cost?"
minutes = 1
systems = ["mock"]
[still]
records = "1k"
mixes = "c"
[[vary]]
option = "durability"
values = ["synced", "window"]
[[verdict]]
of = { durability = "window" }
than = { durability = "synced" }
says = "{system} does {change} reads"
"#;

    fn refused(from: &str, to: &str) -> String {
        assert!(LEAST.contains(from), "{from}");
        let text = LEAST.replacen(from, to, 1);
        Study::parse("mine", "mine.toml", &text).unwrap_err().to_string()
    }

    #[test]
    fn a_study_is_read() {
        let study = Study::parse("mine", "mine.toml", LEAST).unwrap();
        assert_eq!(study.still["records"], "1k");
        assert_eq!(study.vary[0].values, ["synced", "window"]);
        assert_eq!(study.verdicts[0].clients, Clients::Most);
        assert_eq!(study.wrong("records", "x").to_string(), "mine.toml:6: x");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_what_is_allowed() {
        let said = |error: String, words: &[&str]| {
            for word in words {
                assert!(error.contains(word), "`{error}` lacks `{word}`");
            }
        };
        said(
            refused("question =", "qestion ="),
            &["mine.toml:2", "unknown field `qestion`", "expected one of", "`systems`"],
        );
        said(refused("records =", "record ="), &["mine.toml:6", "`record`", "doc-size", "records"]);
        said(refused("option = \"dur", "option = \"xdur"), &["mine.toml:9", "`xdurability`", "durability"]);
        said(refused("\"synced\", \"window\"", "\"synced\""), &["mine.toml:10", "two values at least"]);
        said(refused("{change}", "{chance}"), &["mine.toml:11", "`{chance}`", "change, value"]);
        said(refused("of = { durability", "of = { size"), &["mine.toml:11", "`size` is neither varied"]);
        said(refused("minutes = 1", "minutes = -1"), &["mine.toml:3", "above 0"]);
        said(refused("[\"mock\"]", "[]"), &["mine.toml:4", "no system"]);
        said(refused("than =", "kind = \"edge\"\nthan ="), &["mine.toml:11", "`along`"]);
        said(refused("says =", "claim = \"near\"\nsays ="), &["`near`"]);
        said(refused("says =", "clients = 0\nsays ="), &["\"most\" or \"peak\""]);
        said(refused("[still]", "[still"), &["mine.toml:5"]);
        said(refused("[[verdict]]", "[chart]\naxis = \"size\"\n[[verdict]]"), &["`size`", "`clients`"]);
        said(refused("mixes = \"c\"", "durability = \"synced\""), &["mine.toml:9", "held still"]);
    }
}
