//! Text of a new needs file, with every line explained.

use jsonathlon_results::number_format;

use super::parse::DEFAULT_CLIENTS;

/// What is known of the user's documents before anything is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentsOverview {
    /// Where the documents are, as the user named it.
    pub source: String,
    /// Number of documents in all files together.
    pub documents: u64,
    /// Size of the documents in bytes as newline-delimited JSON.
    pub bytes: u64,
    /// Proposed key of the documents: a JSON pointer, or `line`. `None` if none was looked for.
    pub key: Option<ProposedPath>,
    /// Proposed path of updates. `None` if documents have nothing to update.
    pub update: Option<ProposedPath>,
}

/// A path that was proposed for the documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedPath {
    /// JSON pointer of the path, or `line`.
    pub path: String,
    /// Why it was proposed, as part of a sentence.
    pub reason: String,
}

/// Times of today's documents that there may be later, in the proposal.
const GROWTH: u64 = 10;
/// Bytes of disk that the proposal allows for each byte of the documents' texts.
const DISK_PER_BYTE: u64 = 3;

/// Text of a needs file for these documents. [`NeedsFile::parse`](super::NeedsFile::parse) reads it: needs
/// that anybody has are stated, and those that only the user can know are comments.
#[must_use]
pub fn template(documents: &DocumentsOverview) -> String {
    [
        head(documents),
        documents_section(documents),
        load_section(documents),
        reports_section(),
        needs_section(documents),
        prefer_section(),
    ]
    .join("\n")
}

fn head(documents: &DocumentsOverview) -> String {
    let DocumentsOverview { source, documents: count, bytes, .. } = documents;
    format!(
        "# What these documents need of a database: {} documents, {}, in {}.\n\
         # Every line may be left out. A line that begins with # is not read.\n",
        number_format::integer(*count as f64),
        number_format::bytes(*bytes as f64),
        source.replace(['\n', '\r'], " ")
    )
}

fn documents_section(documents: &DocumentsOverview) -> String {
    let count = documents.documents.max(1);
    let (key, reason) = match &documents.key {
        Some(key) => (format!("key = {}", quoted(&key.path)), format!("proposed: {}", key.reason)),
        None => ("# key = \"/id\"".to_owned(), "proposed from the documents if left out".to_owned()),
    };
    format!(
        "[documents]\n\
         now = {count}\n    # documents of today; sizes at another number are estimated\n\
         later = {later}\n    # documents that there may be one day; their size is estimated, never measured\n\
         {key}\n    # path of the key, or \"line\" for the number of a document; {reason}\n",
        later = count.saturating_mul(GROWTH),
        reason = reason.replace(['\n', '\r'], " "),
    )
}

fn load_section(documents: &DocumentsOverview) -> String {
    let (shares, update) = match &documents.update {
        Some(update) => (
            ["0.7", "0.2", "0.1"],
            format!(
                "update = {}\n    # path that an update sets to a new value of its type; proposed: {}\n",
                quoted(&update.path),
                update.reason.replace(['\n', '\r'], " ")
            ),
        ),
        None => (["0.9", "0.0", "0.1"], String::new()),
    };
    let [reads, updates, inserts] = shares;
    format!(
        "[load]\n    # operations on single documents; the four shares add up to 1\n\
         reads = {reads}\n    # share of reads of a document by its key\n\
         updates = {updates}\n    # share of updates of one value\n\
         inserts = {inserts}\n    # share of new documents\n\
         scans = 0.0\n    # share of reads of several documents in the order of their keys\n\
         {update}\
         clients = {DEFAULT_CLIENTS}\n    # connections that are at work at the same time\n\
         # rate = 2000\n    # operations per second that must be held; if left out, half of what the slowest \
         system reaches\n"
    )
}

fn reports_section() -> String {
    "[reports]\n    # questions over all documents, asked at rest and while the load goes on\n\
     # questions = \"my-questions\"\n    # folder made by `jsonathlon questions new`; if left out, questions are \
     proposed\n\
     streams = 1\n    # questions that are asked at the same time\n"
        .to_owned()
}

fn needs_section(documents: &DocumentsOverview) -> String {
    let bytes = documents.bytes.max(1_000_000).saturating_mul(GROWTH).saturating_mul(DISK_PER_BYTE);
    format!(
        "[needs]\n    # each is a column of the decision; what is left out is shown and not judged\n\
         durability = \"synced\"\n    # synced: a power cut loses no acknowledged write; process: a crash of the \
         system loses none; window: the last moments may be lost\n\
         round_trip = \"same values\"\n    # how documents come back: same bytes, same values (order of members \
         and form of numbers apart) or anything\n\
         rejected = \"0 %\"\n    # share of the documents that a system may refuse\n\
         response = \"p99 < 10ms\"\n    # of reads and of updates at the rate: p50, p90, p99 or p99.9; in µs, ms \
         or s\n\
         report = \"median < 2s\"\n    # of every question, while the load goes on\n\
         size = \"later < {}GB\"\n    # on disk, now or later; here {DISK_PER_BYTE} bytes for each byte of \
         {GROWTH} times the documents\n\
         kind = \"any\"\n    # server, embedded or any\n",
        bytes.div_ceil(1_000_000_000)
    )
}

fn prefer_section() -> String {
    "[prefer]\n    # who is best among those that meet all needs; the next one counts where no difference is \
     shown\n\
     order = [\"response p99\", \"report\", \"size\"]\n    # also: response p50, p90 or p99.9, capacity\n"
        .to_owned()
}

/// Text as a TOML string on one line. The escapes of JSON are a part of TOML's, which has one more.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needs::NeedsFile;

    fn overview(key: &str, update: Option<&str>) -> DocumentsOverview {
        let proposed =
            |path: &str| ProposedPath { path: path.to_owned(), reason: "named like\none".to_owned() };
        DocumentsOverview {
            source: "orders\n[needs]".to_owned(),
            documents: 200_000,
            bytes: 230_000_000,
            key: Some(proposed(key)),
            update: update.map(proposed),
        }
    }

    #[test]
    fn what_is_proposed_is_read_again() {
        let needs = NeedsFile::parse(&template(&overview("/id", Some("/status"))), "needs.toml").unwrap();
        assert_eq!((needs.documents.now, needs.documents.later), (Some(200_000), Some(2_000_000)));
        let load = needs.load.unwrap();
        assert_eq!((load.reads, load.update.as_deref(), load.rate), (0.7, Some("/status"), None));
        assert_eq!(needs.needs.len(), 7);
        assert_eq!(needs.prefer.len(), 3);
    }

    #[test]
    fn documents_without_a_key_or_anything_to_update_have_needs_too() {
        for documents in
            [overview("line", None), overview("/a~1\"b\\", Some("/é\n'")), DocumentsOverview::default()]
        {
            let needs = NeedsFile::parse(&template(&documents), "needs.toml").unwrap();
            assert_eq!(needs.documents.key, documents.key.map(|key| key.path));
            let update = documents.update.map(|update| update.path);
            assert_eq!(needs.load.unwrap().update, update);
        }
    }

    #[test]
    fn every_key_is_explained() {
        let text = template(&overview("/id", Some("/status")));
        let lines: Vec<&str> = text.lines().collect();
        let is_key = |line: &str| {
            line.trim_start_matches("# ").split_once(" = ").is_some_and(|(key, _)| !key.contains(' '))
        };
        let keys: Vec<usize> = (0..lines.len()).filter(|index| is_key(lines[*index])).collect();
        assert!(keys.len() >= 20, "{text}");
        for index in keys {
            let next = lines.get(index + 1).copied().unwrap_or_default();
            assert!(next.trim_start().starts_with("# "), "{} is not explained", lines[index]);
        }
    }
}
