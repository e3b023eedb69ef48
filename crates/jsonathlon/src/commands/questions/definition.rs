//! The file `questions.toml` of first questions: their names, titles, descriptions, and shapes of answers.

use jsonathlon_dataset::describe::{SampleProfile, SuggestedQuestion, WrittenZone};
use jsonathlon_report::format;
use jsonathlon_schema::{first_question::FirstQuestionKind, time_bucket::TimeUnit};

/// A question with the name that it has in files.
pub(super) struct NamedQuestion<'a> {
    pub(super) question: &'a SuggestedQuestion,
    pub(super) name: String,
}

/// Names the questions by their kinds and the last members of their paths. Every name is another one.
pub(super) fn name_questions(suggestions: &[SuggestedQuestion]) -> Vec<NamedQuestion<'_>> {
    let mut questions: Vec<NamedQuestion<'_>> = Vec::new();
    for question in suggestions {
        let last_keys = [question.keys.last(), question.second_keys.last()];
        let slugs = last_keys.into_iter().flatten().map(|key| slug(key));
        let parts = std::iter::once(question.kind.word().to_owned()).chain(slugs);
        let base = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
        let is_used = |name: &str| questions.iter().any(|question| question.name == name);
        let numbered = || (2..).map(|number| format!("{base}-{number}")).find(|name| !is_used(name));
        let name = if is_used(&base) { numbered().unwrap_or_default() } else { base.clone() };
        questions.push(NamedQuestion { question, name });
    }
    questions
}

/// Returns the letters and digits of a member name, for the name of a file. Empty if it has none.
fn slug(key: &str) -> String {
    let slug: String = key
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(24)
        .collect();
    slug.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Heading of a question.
pub(super) fn title(named: &NamedQuestion<'_>) -> String {
    let SuggestedQuestion { path, second_path, value, bucket, .. } = named.question;
    match named.question.kind {
        FirstQuestionKind::Count | FirstQuestionKind::Elements => format!("most frequent {path}"),
        FirstQuestionKind::Top => format!("largest {path}"),
        FirstQuestionKind::Sum => format!("sum and mean of {path}"),
        FirstQuestionKind::Filter => format!("documents with {path} = {value}"),
        FirstQuestionKind::Distinct => format!("distinct {path}"),
        FirstQuestionKind::Dates | FirstQuestionKind::Epochs => {
            format!("documents per {} of {path}", unit_word(bucket.unit))
        }
        FirstQuestionKind::Pairs => format!("most frequent {path} and {second_path}"),
    }
}

fn unit_word(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Day => "day",
        TimeUnit::Hour => "hour",
    }
}

/// What `questions.toml` states about the answer of a question.
struct AnswerShape {
    /// Names and types of the columns.
    columns: &'static [(&'static str, &'static str)],
    /// Columns by which rows are ordered. Empty if the answer is a single row.
    order: &'static [&'static str],
    /// Maximum number of rows of an answer with an order.
    limit: u32,
    asks: String,
}

/// Name and type of the column that holds counts.
const N: (&str, &str) = ("n", "number");
/// Columns of counts by the beginning of a text.
const BY_TEXT: &[(&str, &str)] = &[("value", "string"), N];
/// Columns of counts by a point in time.
const BY_TIME: &[(&str, &str)] = &[("value", "time"), N];

/// Columns, order and description of a question, which depend on its kind.
fn shape(named: &NamedQuestion<'_>) -> AnswerShape {
    let SuggestedQuestion { path, second_path, value, .. } = named.question;
    let single_row = |columns, asks| AnswerShape { columns, order: &[], limit: 1, asks };
    let most_frequent = |asks| AnswerShape { columns: BY_TEXT, order: &["n desc", "value"], limit: 10, asks };
    match named.question.kind {
        FirstQuestionKind::Count => most_frequent(format!(
            "The ten most frequent strings at {path}, with how many documents have each."
        )),
        FirstQuestionKind::Elements => most_frequent(format!(
            "The ten most frequent strings at {path}, with how often each is there: twice in one array \
             counts twice."
        )),
        FirstQuestionKind::Top => AnswerShape {
            columns: &[("value", "number")],
            order: &["value desc"],
            limit: 10,
            asks: format!("The ten largest numbers at {path}."),
        },
        FirstQuestionKind::Sum => single_row(
            &[("total", "number"), ("mean", "number"), N, ("size", "number")],
            format!(
                "The sum and the mean of all numbers at {path}, how many they are, and their sum without \
                 signs."
            ),
        ),
        FirstQuestionKind::Filter => {
            single_row(&[N], format!("How many documents have the string {value} at {path}."))
        }
        FirstQuestionKind::Distinct => {
            single_row(&[N], format!("How many different strings there are at {path}."))
        }
        FirstQuestionKind::Dates | FirstQuestionKind::Epochs => shape_of_times(named),
        FirstQuestionKind::Pairs => AnswerShape {
            columns: &[("value", "string"), ("second_value", "string"), N],
            order: &["n desc", "value", "second_value"],
            limit: 10,
            asks: format!(
                "The ten most frequent pairs of strings at {path} and {second_path}, with how many documents \
                 have each."
            ),
        },
    }
}

/// Like [`shape`], for questions that count documents by time.
fn shape_of_times(named: &NamedQuestion<'_>) -> AnswerShape {
    let SuggestedQuestion { path, bucket, zone, .. } = named.question;
    let unit = unit_word(bucket.unit);
    let (columns, asks) = match (named.question.kind, zone) {
        (FirstQuestionKind::Epochs, _) => {
            let resolution = match bucket.ticks_per_second {
                1 => "seconds",
                1_000 => "milliseconds",
                _ => "microseconds",
            };
            let asks = format!(
                "How many documents there are per {unit}, in UTC, of the {resolution} since 1970 at {path}: \
                 the latest 100. Numbers that are no times from 1990 to 2099 are left out."
            );
            (BY_TIME, asks)
        }
        (_, zone) => {
            let zone = match zone {
                Some(WrittenZone::Utc) => "All times of the sample are in UTC.",
                Some(WrittenZone::Unstated) => "The texts of the sample state no offset from UTC.",
                _ => "It is the one that is written: offsets from UTC differ, and are not applied.",
            };
            let asks = format!(
                "How many documents there are per {unit} that the text at {path} begins with: the latest \
                 100. {zone}"
            );
            (BY_TEXT, asks)
        }
    };
    AnswerShape { columns, order: &["value desc"], limit: 100, asks }
}

/// A question that a system is not asked, and why.
pub(super) struct UnaskedQuestion {
    pub(super) question: String,
    pub(super) system: String,
    pub(super) reason: String,
}

/// A question that a system answers exactly only if all documents have the types of the sample.
pub(super) struct InexactQuestion {
    pub(super) question: String,
    pub(super) system: String,
    /// What the system does not tell apart, in words.
    pub(super) caveat: String,
}

/// Content of `questions.toml` for these questions.
pub(super) fn definition(
    questions: &[NamedQuestion<'_>],
    unasked: &[UnaskedQuestion],
    inexact: &[InexactQuestion],
    sampled: &SampleProfile,
) -> String {
    let mut text = format!(
        "# First questions, written by `jsonathlon questions new`; edit them as you like.\n# {}\n",
        describe_sample(sampled).replace(char::is_control, " ")
    );
    for named in questions {
        let SuggestedQuestion { share, other_values, .. } = named.question;
        let AnswerShape { columns, order, limit, asks } = shape(named);
        text += "\n";
        if *other_values > 0 {
            text += &format!(
                "# {} of the values in the sample are of this type; {other_values} others are left out, and \
                 so are nulls.\n",
                format::percent(*share)
            );
        }
        for UnaskedQuestion { system, reason, .. } in
            unasked.iter().filter(|unasked| unasked.question == named.name)
        {
            text += &format!("# {system} is not asked: {}\n", reason.replace(char::is_control, " "));
        }
        for InexactQuestion { system, caveat, .. } in
            inexact.iter().filter(|inexact| inexact.question == named.name)
        {
            let caveat = caveat.replace(char::is_control, " ");
            text += &format!("# {system} may count values of other types beyond the sample: {caveat}.\n");
        }
        text += &format!(
            "[[question]]\nname = {}\ntitle = {}\nasks = {}\n",
            toml_quoted(&named.name),
            toml_quoted(&title(named)),
            toml_quoted(&asks)
        );
        let columns: Vec<String> = columns
            .iter()
            .map(|(name, kind)| format!("{{ name = {}, type = {} }}", toml_quoted(name), toml_quoted(kind)))
            .collect();
        text += &format!("columns = [{}]\n", columns.join(", "));
        if !order.is_empty() {
            let order: Vec<String> = order.iter().map(|column| toml_quoted(column)).collect();
            text += &format!("order = [{}]\nlimit = {limit}\n", order.join(", "));
        }
        if named.question.kind == FirstQuestionKind::Sum {
            text += "# What cancels is compared within 1e-9 of what was added up, and not of the little that \
                     is left.\n";
            text += "scale = { total = \"size\", mean = \"size / n\" }\n";
        }
    }
    text
}

/// Text on how many documents and bytes were sampled, and whether that was everything.
pub(super) fn describe_sample(sampled: &SampleProfile) -> String {
    let profile = &sampled.profile;
    let (documents, bytes) = (format::integer(profile.documents as f64), format::bytes(profile.bytes as f64));
    match sampled.is_whole {
        true => format!("{documents} documents of {} looked at, {bytes}: all of them", profile.source),
        false => {
            format!("the first {documents} documents of {} looked at, {bytes}: a sample", profile.source)
        }
    }
}

/// Quotes a text for TOML. TOML escapes like JSON, but also requires it for DEL.
fn toml_quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
