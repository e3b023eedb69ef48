//! Documents of any depth: how deep a system takes them is looked for, and not only tried at a few depths.

/// What is nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// Arrays in each other, below the member that all documents have.
    Arrays,
    /// Objects in each other.
    Objects,
}

impl Nesting {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Arrays, Self::Objects];
    /// The levels of the shallowest document of each: the object around, and one in it.
    pub const LEAST: u64 = 2;

    /// What the search for its deepest document is called, among the names of cases.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrays => "deepest-arrays",
            Self::Objects => "deepest-objects",
        }
    }

    /// What is looked for, in a few words.
    #[must_use]
    pub fn probes(self) -> &'static str {
        match self {
            Self::Arrays => "arrays in each other",
            Self::Objects => "objects in each other",
        }
    }

    /// A document of so many levels, the object around it the first of them.
    #[must_use]
    pub fn document(self, levels: u64) -> Vec<u8> {
        let inside = usize::try_from(levels.saturating_sub(1)).unwrap_or(usize::MAX);
        let text = match self {
            Self::Arrays => format!("{{\"v\":{}{}}}", "[".repeat(inside), "]".repeat(inside)),
            Self::Objects => format!("{{\"v\":{}1{}}}", "{\"a\":".repeat(inside), "}".repeat(inside)),
        };
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels of a value.
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
            for wanted in [Nesting::LEAST, 3, 20, 100] {
                let document = serde_json::from_slice(&nesting.document(wanted)).unwrap();
                assert_eq!(levels(&document), wanted, "{}", nesting.name());
            }
        }
        assert_eq!(Nesting::Arrays.document(3), b"{\"v\":[[]]}");
        assert_eq!(Nesting::Objects.document(3), b"{\"v\":{\"a\":{\"a\":1}}}");
    }
}
