//! Documents of any nesting depth, used to search for the deepest one that a system accepts.

/// Kind of container that is nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// Arrays nested in the member [`MEMBER`](super::MEMBER), which all documents have.
    Arrays,
    /// Objects nested in that member.
    Objects,
}

impl Nesting {
    /// Both kinds of nesting, in the order in which they are searched.
    pub const ALL: [Self; 2] = [Self::Arrays, Self::Objects];
    /// Nesting levels of the shallowest document of each kind: the outer object and one container in it.
    pub const MIN_LEVELS: u64 = 2;

    /// Returns the name of the search, in the style of case names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrays => "deepest-arrays",
            Self::Objects => "deepest-objects",
        }
    }

    /// Returns a short description of the search for tables.
    #[must_use]
    pub fn probes(self) -> &'static str {
        match self {
            Self::Arrays => "arrays in each other",
            Self::Objects => "objects in each other",
        }
    }

    /// Returns a document with `levels` levels of nesting, including the outer object.
    #[must_use]
    pub fn document(self, levels: u64) -> Vec<u8> {
        let inner = usize::try_from(levels.saturating_sub(1)).unwrap_or(usize::MAX);
        let text = match self {
            Self::Arrays => format!("{{\"v\":{}{}}}", "[".repeat(inner), "]".repeat(inner)),
            Self::Objects => format!("{{\"v\":{}1{}}}", "{\"a\":".repeat(inner), "}".repeat(inner)),
        };
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of nesting levels of a value.
    fn levels(value: &serde_json::Value) -> u64 {
        match value {
            serde_json::Value::Array(elements) => 1 + elements.iter().map(levels).max().unwrap_or(0),
            serde_json::Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
            _ => 0,
        }
    }

    #[test]
    fn a_document_has_as_many_levels_as_it_was_asked_for() {
        for nesting in Nesting::ALL {
            for depth in [Nesting::MIN_LEVELS, 3, 20, 100] {
                let document = serde_json::from_slice(&nesting.document(depth)).unwrap();
                assert_eq!(levels(&document), depth, "{}", nesting.name());
            }
        }
        assert_eq!(Nesting::Arrays.document(3), b"{\"v\":[[]]}");
        assert_eq!(Nesting::Objects.document(3), b"{\"v\":{\"a\":{\"a\":1}}}");
    }
}
