//! Paths into the user's documents: as written (RFC 6901), and resolved by the documents.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::records::PathSegment;

/// JSON pointer as a user writes it. Whether a step such as `0` is the name of a member or the index of an
/// element depends on the documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pointer {
    steps: Vec<String>,
}

impl Pointer {
    /// Parses a pointer such as `/user/id`. In a step, `~1` stands for `/` and `~0` for `~`. A step may be
    /// empty: `/` is the member without a name.
    ///
    /// # Errors
    ///
    /// What is wrong with the pointer, as a sentence for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(steps) = text.strip_prefix('/') else {
            return Err(format!(
                "`{text}` is no path: write it as a JSON pointer, which begins with `/`, such as `/id` or \
                 `/user/id`"
            ));
        };
        let steps = steps.split('/').map(|step| {
            let is_escape_valid = step.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
            match is_escape_valid {
                true => Ok(step.replace("~1", "/").replace("~0", "~")),
                false => {
                    Err(format!("`{text}` is no JSON pointer: write `~` as `~0` and `/` in a name as `~1`"))
                }
            }
        });
        Ok(Self { steps: steps.collect::<Result<_, _>>()? })
    }

    /// Steps from the document to the value, with their escapes decoded.
    #[must_use]
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// Decides by a document which steps are members and which are elements. `None` if the document has no
    /// value at this path.
    #[must_use]
    pub fn resolve(&self, document: &serde_json::Value) -> Option<OwnPath> {
        let mut value = document;
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let (segment, child) = match value {
                serde_json::Value::Object(members) => {
                    (PathSegment::Member(step.clone()), members.get(step.as_str())?)
                }
                serde_json::Value::Array(elements) => {
                    let index: u32 = step.parse().ok().filter(|index: &u32| index.to_string() == *step)?;
                    (PathSegment::Element(index), elements.get(index as usize)?)
                }
                _ => return None,
            };
            steps.push(segment);
            value = child;
        }
        Some(OwnPath { steps })
    }

    /// Takes every step as the name of a member.
    #[must_use]
    pub fn as_members(&self) -> OwnPath {
        OwnPath { steps: self.steps.iter().cloned().map(PathSegment::Member).collect() }
    }
}

impl TryFrom<String> for Pointer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.to_string()
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| formatter.write_str(&pointer_step(step)))
    }
}

/// Path to a value of the user's documents. Displayed as a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnPath {
    /// Steps from the document to the value, outermost first; at least one.
    pub steps: Vec<PathSegment>,
}

impl fmt::Display for OwnPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| match step {
            PathSegment::Member(name) => formatter.write_str(&pointer_step(name)),
            PathSegment::Element(index) => write!(formatter, "/{index}"),
        })
    }
}

/// Returns the step of a JSON pointer (RFC 6901) to a member, with its slash.
#[must_use]
pub fn pointer_step(member: &str) -> String {
    format!("/{}", member.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_are_written_as_they_were_read() {
        for text in ["/", "/a", "/a.b/0", "/a~1b/~0c", "//", "/$ü"] {
            assert_eq!(Pointer::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Pointer::parse("/a~1b/~01").unwrap().steps(), ["a/b", "~1"]);
        for text in ["", "a", "/~", "/~2"] {
            assert!(Pointer::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_document_tells_members_from_elements() {
        let document = json!({"list": [{"0": 1}], "": {"a.b": 2}});
        let resolve = |text: &str| Pointer::parse(text).unwrap().resolve(&document);
        let member = |name: &str| PathSegment::Member(name.to_owned());
        assert_eq!(
            resolve("/list/0/0").unwrap().steps,
            [member("list"), PathSegment::Element(0), member("0")]
        );
        assert_eq!(resolve("//a.b").unwrap().steps, [member(""), member("a.b")]);
        assert_eq!(resolve("/list/00"), None);
        assert_eq!(resolve("/list/1"), None);
        assert_eq!(resolve("/list/0/0/x"), None);
        assert_eq!(resolve("//a.b").unwrap().to_string(), "//a.b");
    }
}
