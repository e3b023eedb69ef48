//! First questions, which `questions new` proposes about documents that it has only sampled: the
//! paths that they are about, and why a system cannot be asked one.

use jsonathlon_schema::first_question::FirstQuestionKind;
use jsonathlon_schema::time_bucket::{TimeBucket, TimeUnit};

/// Returns the values of the placeholders about times, by name.
///
/// Strings are not parsed as times, because systems disagree about which strings are times. Those that begin
/// like a day (and an hour) are grouped by their first `length` characters. `pattern` is a regular expression
/// and `glob` a shell pattern for such strings; neither needs quoting. `bucket`, `from` and `until` are in
/// ticks ([`TimeBucket::ticks_per_second`]), and `bucket_us` is in microseconds.
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

/// A first question, with what is known about the documents that it is asked of.
#[derive(Debug, Clone, Copy)]
pub struct FirstQuestion<'a> {
    /// Kind of the question, which selects the template.
    pub kind: FirstQuestionKind,
    /// Names of the members that lead to the values, or to the array of
    /// [`FirstQuestionKind::Elements`], outermost first.
    pub keys: &'a [String],
    /// Names of the members that lead to the second value of [`FirstQuestionKind::Pairs`], or from an element of
    /// [`FirstQuestionKind::Elements`] to its value; none if the elements are the values. Other kinds have none.
    pub second_keys: &'a [String],
    /// String to look for; used only by [`FirstQuestionKind::Filter`].
    pub value: &'a str,
    /// Day or hour by which times are counted; used only by [`FirstQuestionKind::Dates`] and
    /// [`FirstQuestionKind::Epochs`].
    pub bucket: TimeBucket,
    /// Whether one of the paths also has values of other types.
    pub is_mixed: bool,
    /// All known paths of the documents, which tell whether the system confuses another one with this. They
    /// may include this one.
    pub paths: &'a [KnownPath],
}

impl<'a> FirstQuestion<'a> {
    /// Creates a question about one path with values of one type, in documents without other paths.
    #[must_use]
    pub fn new(kind: FirstQuestionKind, keys: &'a [String]) -> Self {
        Self {
            kind,
            keys,
            second_keys: &[],
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
    #[error("its folder has no template for this kind of question")]
    NoTemplate,
    /// The system cannot be asked questions of this kind; holds the folder's reason.
    #[error("{0}")]
    NotAsked(String),
    /// No statement of the system reads exactly the values that the question is about; holds the reason.
    #[error("{0}")]
    Unreachable(String),
}
