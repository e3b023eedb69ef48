//! Renders the data profile of a data set as tables.

use jsonathlon_dataset::describe::{
    Distribution, EventProfile, KeyFault, Lengths, NoDocuments, PathProfile, Profile, ScalarType,
};
use jsonathlon_dataset::skipped_entries;
use jsonathlon_schema::severity::Severity;

use crate::format;
use crate::render::TableStyle;
use crate::render::terminal::draw;
use crate::section::{Column, Section, dash, numbers, printable, words};

/// Draws the tables of a data profile for the terminal.
#[must_use]
pub fn render(profile: &Profile, style: TableStyle) -> String {
    let mut sections = vec![heading(profile)];
    if profile.documents > 0 {
        sections.extend([keys(profile), hazards(profile)]);
    }
    if let Some(events) = &profile.events {
        sections.extend([kinds(events, profile.documents), collections(events)]);
    }
    sections.push(paths(profile));
    draw(&sections, style)
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
    for (distribution, name) in [
        (&profile.lengths, "bytes a document"),
        (&profile.depths, "levels a document (arrays and objects in each other)"),
        (&profile.keys, "keys a document (of all its objects)"),
    ] {
        if let Some(distribution) = distribution {
            section.notes.push(format!("{name}: {}", spread(distribution)));
        }
    }
    section.notes.push(different_paths(profile));
    if let Some(events) = &profile.events {
        section.notes.extend(times_and_users(events));
    }
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
    section.notes.extend(skipped_entries::describe(&profile.left_out));
    section
}

fn different_paths(profile: &Profile) -> String {
    let more = match profile.values_left_out + profile.documents_left_out {
        0 => "",
        _ => " and more",
    };
    format!("different paths: {}{more}", format::integer(profile.distinct_paths as f64))
}

fn times_and_users(events: &EventProfile) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Some(first), Some(last)) = (events.first_us, events.last_us) {
        let seconds = (last - first) as f64 / 1e6;
        notes.push(format!("time_us: {first} to {last}, {} in all", format::seconds(seconds)));
    }
    notes.push(format!("distinct users (did): {}", format::integer(events.users as f64)));
    notes
}

/// The proposed key and updated path with their reasons, and all candidates.
fn keys(profile: &Profile) -> Section {
    let columns = [words(&["pointer", "type"]), numbers(&["longest"]), words(&["unique"])].concat();
    let mut section = Section::new("candidates for a key".to_owned(), columns);
    for candidate in &profile.key_candidates {
        let longest = match candidate.scalar_type {
            ScalarType::Text => format!("{} B", candidate.max_bytes),
            ScalarType::Integer => dash(),
        };
        let unique = match candidate.is_proved() {
            true => "yes".to_owned(),
            false => format!("seems so: 1 in {:.0} compared", 1.0 / candidate.compared_share),
        };
        let scalar_type = candidate.scalar_type.to_string();
        section.rows.push(vec![candidate.pointer.clone(), scalar_type, longest, unique]);
    }
    if profile.further_key_candidates > 0 {
        let count = format::integer(profile.further_key_candidates as f64);
        section.notes.push(format!("{count} more paths are unique in the first documents"));
    }
    for rejected in &profile.rejected_keys {
        let first = rejected.first.iter().map(|first| format!(", first in {}", printable(first)));
        let (pointer, first) = (printable(&rejected.pointer), first.collect::<String>());
        section.notes.push(match rejected.reason {
            KeyFault::DuplicateValue => format!("no key: {pointer}, {}", rejected.reason),
            reason => format!("no key: {pointer}, {reason}{first}"),
        });
    }
    if let Some(key) = &profile.key {
        section.notes.push(format!(
            "proposed key: {} ({}), {}",
            printable(key.name()),
            key.scalar_type,
            key.reason
        ));
    }
    section.notes.push(match &profile.update {
        Some(update) => format!(
            "proposed path for updates: {} ({}), {}",
            printable(&update.pointer),
            update.scalar_type,
            update.reason
        ),
        None => {
            "no path for updates: none outside of arrays has integers or texts of at least 8 bytes".to_owned()
        }
    });
    section
}

/// What systems may change or refuse, with the first place of each and what happens there.
fn hazards(profile: &Profile) -> Section {
    let columns = vec![
        Column::words("finding"),
        Column::number("documents"),
        Column::words("first in"),
        Column::words("example").useful(),
    ];
    let mut section = Section::new("what systems may change or refuse".to_owned(), columns);
    if profile.hazards.is_empty() {
        section.notes.push("nothing of what jsonathlon looks for is in these documents".to_owned());
        return section;
    }
    for found in &profile.hazards {
        let example = found.example.as_deref().map_or_else(dash, printable);
        let documents = format::integer(found.documents as f64);
        let row = vec![found.hazard.to_string(), documents, printable(&found.first), example];
        section.rows.mark(Severity::Warning, row);
    }
    for found in &profile.hazards {
        section.notes.push(format!("{}: {}", found.hazard, found.hazard.consequence()));
    }
    section.notes.push(
        "`jsonathlon run fidelity` shows which system does what; `--corpus FOLDER` tries your own documents, \
         one a file"
            .to_owned(),
    );
    section
}

fn kinds(events: &EventProfile, documents: u64) -> Section {
    let columns = [words(&["kind"]), numbers(&["documents", "share"])].concat();
    let mut section = Section::new("kinds".to_owned(), columns);
    for kind in &events.kinds {
        section.rows.push(vec![
            kind.kind.clone().unwrap_or_else(|| "(none)".to_owned()),
            format::integer(kind.documents as f64),
            format::percent(kind.documents as f64 / documents.max(1) as f64),
        ]);
    }
    section
}

fn collections(events: &EventProfile) -> Section {
    let counts = numbers(&["documents", "create", "update", "delete", "users of creates"]);
    let mut section = Section::new("collections".to_owned(), [words(&["collection"]), counts].concat());
    for collection in &events.collections {
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
    let counts = vec![
        Column::number("values"),
        Column::number("documents"),
        Column::number("share"),
        Column::number("length").useful(),
    ];
    let mut section = Section::new("paths".to_owned(), [words(&["path", "type"]), counts].concat());
    let documents = profile.documents.saturating_sub(profile.documents_left_out).max(1) as f64;
    for PathProfile { path, types, .. } in &profile.paths {
        for value_type in types {
            section.rows.push(vec![
                path.clone(),
                format!("{:?}", value_type.json_type).to_lowercase(),
                format::integer(value_type.values as f64),
                format::integer(value_type.documents as f64),
                format::percent(value_type.documents as f64 / documents),
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

/// Text of a distribution: the extremes, then what lies between them.
fn spread(distribution: &Distribution) -> String {
    let Distribution { min, mean, median, p95, p99, max, .. } = *distribution;
    let integer = |value: u64| format::integer(value as f64);
    if min == max {
        return integer(min);
    }
    format!(
        "{} … {}, median {}, mean {mean:.1}, p95 {}, p99 {}",
        integer(min),
        integer(max),
        integer(median),
        integer(p95),
        integer(p99)
    )
}
