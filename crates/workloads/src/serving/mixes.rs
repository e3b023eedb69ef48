//! Built-in mixes by name, and user-defined mixes from files.

use std::path::Path;

use jsonathlon_loadgen::mix::{Mix, RequestDistribution};
use jsonathlon_loadgen::operation::Operation;
use serde::Deserialize;

/// Maximum deviation of the sum of all shares from 1.
const ROUNDING: f64 = 1e-6;

/// Operations with their shares of a mix.
type Shares = &'static [(Operation, f64)];

/// Built-in mixes: those of YCSB (Cooper et al. 2010, "Benchmarking Cloud Serving Systems with YCSB"),
/// further mixes of several operations, and one mix for each remaining operation.
const NAMED: [(&str, RequestDistribution, Shares); 19] = [
    ("a", RequestDistribution::Zipfian, &[(Operation::Read, 0.5), (Operation::Update, 0.5)]),
    ("b", RequestDistribution::Zipfian, &[(Operation::Read, 0.95), (Operation::Update, 0.05)]),
    ("c", RequestDistribution::Zipfian, &[(Operation::Read, 1.0)]),
    ("d", RequestDistribution::Latest, &[(Operation::Read, 0.95), (Operation::Insert, 0.05)]),
    ("e", RequestDistribution::Zipfian, &[(Operation::Scan, 0.95), (Operation::Insert, 0.05)]),
    ("f", RequestDistribution::Zipfian, &[(Operation::Read, 0.5), (Operation::ReadModifyWrite, 0.5)]),
    ("insert", RequestDistribution::Uniform, &[(Operation::Insert, 1.0)]),
    ("insert-batch", RequestDistribution::Uniform, &[(Operation::InsertBatch, 1.0)]),
    ("writes", RequestDistribution::Uniform, &[(Operation::Insert, 0.5), (Operation::Update, 0.5)]),
    ("paths", RequestDistribution::Uniform, &[(Operation::ReadPaths, 1.0)]),
    ("update", RequestDistribution::Uniform, &[(Operation::Update, 1.0)]),
    ("update-path", RequestDistribution::Uniform, &[(Operation::UpdatePath, 1.0)]),
    ("update-all", RequestDistribution::Uniform, &[(Operation::UpdateAll, 1.0)]),
    ("update-element", RequestDistribution::Uniform, &[(Operation::UpdateElement, 1.0)]),
    ("find", RequestDistribution::Uniform, &[(Operation::Find, 1.0)]),
    ("count", RequestDistribution::Uniform, &[(Operation::Count, 1.0)]),
    ("unwrap", RequestDistribution::Uniform, &[(Operation::Unwrap, 1.0)]),
    ("unwrap-all", RequestDistribution::Uniform, &[(Operation::UnwrapAll, 1.0)]),
    (
        "churn",
        RequestDistribution::Uniform,
        &[
            (Operation::Insert, 0.25),
            (Operation::Read, 0.25),
            (Operation::Update, 0.25),
            (Operation::Delete, 0.25),
        ],
    ),
];

/// Names of all built-in mixes, in the order of their definition.
#[must_use]
pub fn built_in_names() -> Vec<&'static str> {
    NAMED.iter().map(|(name, _, _)| *name).collect()
}

/// Built-in mix with this name; `None` if there is none.
#[must_use]
pub fn built_in(name: &str) -> Option<Mix> {
    let (name, requests, shares) = NAMED.iter().find(|(known, _, _)| *known == name)?;
    Some(Mix { name: (*name).to_owned(), shares: shares.to_vec(), requests: *requests })
}

/// Contents of a mix file before validation: operations may be unknown, and shares may not add up to 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MixFile {
    requests: RequestDistribution,
    operations: std::collections::BTreeMap<String, f64>,
}

/// Reads a mix from a TOML file. Its name is the file's name without extension:
///
/// ```toml
/// requests = "zipfian"   # or "uniform", "latest"
/// [operations]           # shares, which add up to 1
/// read = 0.9
/// update = 0.1
/// ```
///
/// # Errors
/// If the file cannot be read or is not a valid mix; the text names the file.
pub fn from_file(path: &Path) -> Result<Mix, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("mix");
    parse(name, &text).map_err(|error| format!("{}: {error}", path.display()))
}

fn parse(name: &str, text: &str) -> Result<Mix, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || !name.bytes().all(is_plain) {
        return Err(format!(
            "a mix is called by its file, and `{name}` is not letters, digits, - and _ alone"
        ));
    }
    if built_in_names().contains(&name) {
        return Err(format!("`{name}` is the name of a built-in mix: rename the file"));
    }
    let MixFile { requests, operations } = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut shares = Vec::new();
    for (word, share) in operations {
        let operation = Operation::from_word(&word).ok_or_else(|| {
            let known: Vec<&str> = Operation::ALL.iter().map(|operation| operation.word()).collect();
            format!("no operation is called `{word}`: use {}", known.join(", "))
        })?;
        if !(share > 0.0 && share <= 1.0) {
            return Err(format!("the share of {word} is {share}: it must be above 0 and at most 1"));
        }
        shares.push((operation, share));
    }
    let total = 0.0 + shares.iter().map(|(_, share)| share).sum::<f64>();
    if (total - 1.0).abs() > ROUNDING {
        return Err(format!("the shares add up to {total}: they must add up to 1"));
    }
    // Sorted, so that the order in the file does not matter.
    shares.sort_by_key(|(operation, _)| *operation);
    Ok(Mix { name: name.to_owned(), shares, requests })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_named_mixes_add_up() {
        for name in built_in_names() {
            let mix = built_in(name).unwrap();
            let total: f64 = mix.shares.iter().map(|(_, share)| share).sum();
            assert!((total - 1.0).abs() < 1e-12, "{name}");
        }
        assert_eq!(built_in("z"), None);
    }

    #[test]
    fn a_file_is_read_strictly() {
        let mix = parse("mine", "requests = \"uniform\"\n[operations]\nupdate = 0.1\nread = 0.9\n").unwrap();
        assert_eq!(mix.shares, [(Operation::Read, 0.9), (Operation::Update, 0.1)]);
        let error = |text: &str| parse("mine", text).unwrap_err();
        assert!(error("requests = \"zipf\"\n[operations]\nread = 1.0\n").contains("unknown variant `zipf`"));
        assert!(
            error("request = \"uniform\"\n[operations]\nread = 1.0\n").contains("unknown field `request`")
        );
        assert!(error("requests = \"uniform\"\n[operations]\nreads = 1.0\n").contains("`reads`"));
        assert!(
            error("requests = \"uniform\"\n[operations]\nread = 0.7\nscan = 0.2\n").contains("add up to")
        );
        assert!(error("requests = \"uniform\"\n[operations]\nread = -1.0\nscan = 2.0\n").contains("above 0"));
        assert!(error("requests = \"uniform\"\n[operations]\n").contains("add up to 0"));
        assert!(parse("a", "").unwrap_err().contains("built-in"));
        assert!(parse("a b", "").unwrap_err().contains("letters"));
    }
}
