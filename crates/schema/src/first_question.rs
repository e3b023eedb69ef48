//! Kinds of first questions, which are proposed about unknown documents and written in the statements of each
//! system.

/// What a first question asks about its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FirstQuestionKind {
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

impl FirstQuestionKind {
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
