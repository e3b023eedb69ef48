//! Renders the data profile of a data set as tables.

use jsonathlon_dataset::describe::{Lengths, NoDocuments, PathProfile, Profile};
use jsonathlon_dataset::left_out;

use crate::format;
use crate::render::TableStyle;
use crate::render::terminal::draw;
use crate::section::{Section, numbers, printable, words};

/// Draws the tables of a data profile for the terminal.
#[must_use]
pub fn render(profile: &Profile, style: TableStyle) -> String {
    draw(&[heading(profile), kinds(profile), collections(profile), paths(profile)], style)
}

fn heading(profile: &Profile) -> Section {
    let mut section = Section {
        title: format!(
            "{}: {} documents, {}",
            profile.source,
            format::integer(profile.documents as f64),
            format::bytes(profile.bytes as f64)
        ),
        ..Section::default()
    };
    if let Some(lengths) = profile.lengths {
        section.notes.push(format!("bytes a document: {}", span(lengths)));
    }
    if let (Some(first), Some(last)) = (profile.first_us, profile.last_us) {
        let seconds = (last - first) as f64 / 1e6;
        section.notes.push(format!("time_us: {first} to {last}, {} in all", format::seconds(seconds)));
    }
    section.notes.push(format!("distinct users (did): {}", format::integer(profile.users as f64)));
    for (count, description) in [
        (profile.blank_lines, "blank lines, which are no documents"),
        (profile.documents_left_out, "documents whose values are not in the table of paths"),
        (profile.values_left_out, "values on further paths"),
    ] {
        if count > 0 {
            section.notes.push(format!("{} {description}", format::integer(count as f64)));
        }
    }
    for (reason, NoDocuments { lines, first }) in &profile.no_documents {
        let lines = format::integer(*lines as f64);
        section
            .notes
            .push(format!("no JSON, and so no document: {lines} × {reason}, first in {}", printable(first)));
    }
    section.notes.extend(left_out::describe(&profile.left_out));
    for (name, count) in &profile.traits {
        section.notes.push(format!("unusual: {} × {name}", format::integer(*count as f64)));
    }
    section
}

fn kinds(profile: &Profile) -> Section {
    let columns = [words(&["kind"]), numbers(&["documents", "share"])].concat();
    let mut section = Section::new("kinds".to_owned(), columns);
    for kind in &profile.kinds {
        section.rows.push(vec![
            kind.kind.clone().unwrap_or_else(|| "(none)".to_owned()),
            format::integer(kind.documents as f64),
            format::percent(kind.documents as f64 / profile.documents.max(1) as f64),
        ]);
    }
    section
}

fn collections(profile: &Profile) -> Section {
    let counts = numbers(&["documents", "create", "update", "delete", "users of creates"]);
    let mut section = Section::new("collections".to_owned(), [words(&["collection"]), counts].concat());
    for collection in &profile.collections {
        let operation =
            |name: &str| format::integer(collection.operations.get(name).copied().unwrap_or(0) as f64);
        section.rows.push(vec![
            collection.collection.clone().unwrap_or_else(|| "(none)".to_owned()),
            format::integer(collection.documents as f64),
            operation("create"),
            operation("update"),
            operation("delete"),
            format::integer(collection.users_of_creates as f64),
        ]);
    }
    section
}

fn paths(profile: &Profile) -> Section {
    let columns = [words(&["path", "type"]), numbers(&["values", "length"])].concat();
    let mut section = Section::new("paths".to_owned(), columns);
    for PathProfile { path, types } in &profile.paths {
        for value_type in types {
            section.rows.push(vec![
                path.clone(),
                format!("{:?}", value_type.json_type).to_lowercase(),
                format::integer(value_type.values as f64),
                value_type.length.map(span).unwrap_or_default(),
            ]);
        }
    }
    section
}

fn span(lengths: Lengths) -> String {
    if lengths.min == lengths.max {
        return format::integer(lengths.min as f64);
    }
    format!(
        "{} … {}, mean {:.1}",
        format::integer(lengths.min as f64),
        format::integer(lengths.max as f64),
        lengths.mean
    )
}
