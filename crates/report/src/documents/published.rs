//! Tables of published results about large documents, in the layout of a run's tables.

use jsonathlon_results::published_documents::{MACHINE, PublishedDocuments, SOURCE};

use crate::format;
use crate::render::TableStyle;
use crate::render::terminal::draw;
use crate::section::{Section, none};

/// Tables of the given published results, one per test.
#[must_use]
pub fn published(figures: &[&PublishedDocuments], look: TableStyle) -> String {
    let mut tests: Vec<&str> = Vec::new();
    for one in figures {
        if !tests.contains(&one.test.as_str()) {
            tests.push(&one.test);
        }
    }
    let mut sections: Vec<Section> = tests.iter().map(|test| table(test, figures)).collect();
    if let Some(last) = sections.last_mut() {
        last.notes.push(format!(
            "{SOURCE}, as published; nothing of it was repeated or checked here, and the times hold the start of a client"
        ));
    }
    draw(&sections, look)
}

fn table(test: &str, figures: &[&PublishedDocuments]) -> Section {
    let own: Vec<&PublishedDocuments> = figures.iter().filter(|one| one.test == test).copied().collect();
    let mut sizes: Vec<(u32, u64)> = own.iter().map(|one| (one.n, one.documents)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut header = vec!["system".to_owned(), "variant".to_owned(), "index".to_owned()];
    header.extend(sizes.iter().map(|(n, documents)| format!("{documents} × {}", size(*n))));
    let mut section = Section {
        title: format!("published {test}, on {MACHINE}"),
        header,
        left_columns: 3,
        ..Section::default()
    };
    let mut rows: Vec<(&str, &str, Option<&str>)> = Vec::new();
    for one in &own {
        let name = (one.system.as_str(), one.variant.as_str(), one.index.as_deref());
        if !rows.contains(&name) {
            rows.push(name);
        }
        for reason in &one.suspected {
            let size = if one.test == "disk" { String::new() } else { format!(" {}", size(one.n)) };
            let which =
                [one.system.as_str(), &one.variant, one.index.as_deref().unwrap_or_default()].join(" ");
            let note = format!("? {}{size}: suspected, not confirmed: {reason}", which.trim_end());
            if !section.notes.iter().any(|known| *known == note) {
                section.notes.push(note);
            }
        }
    }
    for (system, variant, index) in rows {
        let mut row = vec![system.to_owned(), variant.to_owned(), index.map_or_else(none, str::to_owned)];
        for (n, _) in &sizes {
            let found = own.iter().find(|one| {
                one.n == *n
                    && (one.system.as_str(), one.variant.as_str(), one.index.as_deref())
                        == (system, variant, index)
            });
            row.push(found.map_or_else(none, |one| shown(one)));
        }
        section.rows.push(row);
    }
    section
}

fn shown(one: &PublishedDocuments) -> String {
    let mark = if one.suspected.is_empty() { "" } else { " ?" };
    match (one.mean_s, one.sd_s, one.disk) {
        (Some(mean), Some(sd), _) => format!("{} ± {}{mark}", format::seconds(mean), format::seconds(sd)),
        (Some(mean), None, _) => format!("{}{mark}", format::seconds(mean)),
        (None, _, Some(disk)) => format!("{disk}{mark}"),
        _ => none(),
    }
}

/// Document size of an ordinal as text, such as `64KiB`.
fn size(n: u32) -> String {
    match 1_u64 << (n + 4) {
        bytes if bytes >= 1 << 20 => format!("{}MiB", bytes >> 20),
        bytes => format!("{}KiB", bytes >> 10),
    }
}

#[cfg(test)]
mod tests {
    use jsonathlon_results::published_documents::published_documents;

    use super::*;

    #[test]
    fn figures_stand_with_their_deviations_and_what_is_suspected_of_them() {
        let all = published_documents().unwrap();
        let text = published(&all.iter().collect::<Vec<_>>(), TableStyle { colour: false });
        let line = |begins: &str| {
            let found = text
                .lines()
                .find(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(begins));
            found.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert!(line("Dolt json – 966 ms").contains("24.0 ms ± 90.0 ms ?"), "{text}");
        assert!(line("system variant index 8192 × 64KiB").ends_with("32 × 16MiB"), "{text}");
        assert!(
            text.contains("? PostgreSQL jsonb GIN, jsonb_ops 64KiB: suspected, not confirmed: all five"),
            "{text}"
        );
        assert!(line("Dolt json – 14 ?").ends_with("4 ?"), "{text}");
    }
}
