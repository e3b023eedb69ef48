//! First questions about unknown documents: their kinds, their subjects, and why a system is not asked one.

use jsonathlon_schema::time_bucket::{TimeBucket, TimeUnit};

/// What a first question asks about its path; a folder may have a template for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TemplateKind {
    /// The ten most frequent strings with their counts.
    Count,
    /// The ten largest numbers.
    Top,
    /// Sum and mean of numbers.
    Sum,
    /// The number of documents that have one string.
    Filter,
    /// The number of different strings.
    Distinct,
    /// The ten most frequent strings among the elements of arrays, or at one member of these elements. Every
    /// element counts, however often it is in one array.
    Elements,
    /// Counts per day or hour that texts begin with, the latest 100.
    Dates,
    /// Counts per day or hour of numbers that are times since 1970, the latest 100.
    Epochs,
    /// The ten most frequent pairs of strings at two paths, with their counts.
    Pairs,
}

impl TemplateKind {
    /// All kinds of first questions.
    pub const ALL: [Self; 9] = [
        Self::Count,
        Self::Top,
        Self::Sum,
        Self::Filter,
        Self::Distinct,
        Self::Elements,
        Self::Dates,
        Self::Epochs,
        Self::Pairs,
    ];

    /// Returns the word used in the names of files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Top => "top",
            Self::Sum => "sum",
            Self::Filter => "filter",
            Self::Distinct => "distinct",
            Self::Elements => "elements",
            Self::Dates => "dates",
            Self::Epochs => "epochs",
            Self::Pairs => "pairs",
        }
    }
}

/// Returns the values of the placeholders about times, by name.
///
/// Texts are not parsed: what begins like a day (and an hour) is counted by these characters, because systems
/// disagree about which texts are times. `pattern` is a regular expression and `glob` a pattern of shells for
/// the same texts; neither needs quoting.
pub(super) fn time_placeholders(bucket: TimeBucket) -> [(&'static str, String); 7] {
    let day = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
    let day_glob = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]";
    let (pattern, glob, length) = match bucket.unit {
        TimeUnit::Day => (format!("^{day}"), format!("{day_glob}*"), 10),
        TimeUnit::Hour => (format!("^{day}[T ][0-9]{{2}}"), format!("{day_glob}[T ][0-9][0-9]*"), 13),
    };
    let ticks = bucket.plausible_ticks();
    [
        ("pattern", pattern),
        ("glob", glob),
        ("length", length.to_string()),
        ("bucket", bucket.ticks().to_string()),
        ("bucket_us", (bucket.unit.seconds() * 1_000_000).to_string()),
        ("from", ticks.start.to_string()),
        ("until", ticks.end.to_string()),
    ]
}

/// Subject of a first question, and what else the documents hold.
#[derive(Debug, Clone, Copy)]
pub struct FirstQuestion<'a> {
    /// Kind of the question, which selects the template.
    pub kind: TemplateKind,
    /// Names of the members that lead to the values, or to the array of [`TemplateKind::Elements`], outermost
    /// first.
    pub keys: &'a [String],
    /// Names of the members that lead to the second value of [`TemplateKind::Pairs`], or from an element of
    /// [`TemplateKind::Elements`] to its value; none if the elements are the values. Other kinds have none.
    pub second: &'a [String],
    /// String to look for; used only by [`TemplateKind::Filter`].
    pub value: &'a str,
    /// Times that are counted together; used only by [`TemplateKind::Dates`] and [`TemplateKind::Epochs`].
    pub bucket: TimeBucket,
    /// Whether values of other types are at one of the paths, too.
    pub is_mixed: bool,
    /// All paths of the documents, with or without this one.
    pub paths: &'a [KnownPath],
}

impl<'a> FirstQuestion<'a> {
    /// Creates a question about one path with values of one type, in documents without other paths.
    #[must_use]
    pub fn new(kind: TemplateKind, keys: &'a [String]) -> Self {
        Self {
            kind,
            keys,
            second: &[],
            value: "",
            bucket: TimeBucket::default(),
            is_mixed: false,
            paths: &[],
        }
    }
}

/// A path that occurs in the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPath {
    /// Names of the members that lead to the value, outermost first.
    pub keys: Vec<String>,
    /// Whether the path leads to elements of arrays, or through them.
    pub is_in_array: bool,
}

/// Why a system is not asked a first question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FirstQuestionError {
    /// The folder has no template for the question, or no notation of paths.
    #[error("its folder has no template for such questions")]
    NoTemplate,
    /// The system cannot be asked questions of this kind; holds the folder's reason.
    #[error("{0}")]
    NotAsked(String),
    /// What is asked about cannot be told from everything else; holds the reason.
    #[error("{0}")]
    Unreachable(String),
}
