//! `jsonathlon study list`: lists the built-in studies.

use jsonathlon_studies::{built_in, names};

use crate::exit::Failure;

/// Text with the question, the systems and the expected minutes of each built-in study.
pub(super) fn list() -> Result<String, Failure> {
    let width = names().iter().map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for name in names() {
        let Some(study) = built_in(name) else { continue };
        let study = study?;
        text.push_str(&format!(
            "{name:<width$} {}\n{:width$} {}, about {} min on two cores\n",
            study.question,
            "",
            study.systems.join(", "),
            study.minutes
        ));
    }
    text.push_str("\nA study of your own is a TOML file: see docs/studies.md.\n");
    Ok(text)
}
