//! Tables of published results about large documents, in the layout of a run's tables.

use jsonathlon_results::published_documents::{MACHINE, PublishedDocumentsResult, SOURCE};

use crate::format;
use crate::render::TableStyle;
use crate::render::terminal::draw;
use crate::section::{Column, Section, dash, words};

/// Tables of the given published results, one per test.
#[must_use]
pub fn published_documents_table(results: &[&PublishedDocumentsResult], style: TableStyle) -> String {
    let mut tests: Vec<&str> = Vec::new();
    for result in results {
        if !tests.contains(&result.test.as_str()) {
            tests.push(&result.test);
        }
    }
    let mut sections: Vec<Section> = tests.iter().map(|test| table(test, results)).collect();
    if let Some(last) = sections.last_mut() {
        last.notes.push(format!(
            "{SOURCE}, as published; nothing of it was repeated or checked here, and the times hold the start of a client"
        ));
    }
    draw(&sections, style)
}

fn table(test: &str, results: &[&PublishedDocumentsResult]) -> Section {
    let matching: Vec<&PublishedDocumentsResult> =
        results.iter().filter(|result| result.test == test).copied().collect();
    let mut sizes: Vec<(u32, u64)> = matching.iter().map(|result| (result.n, result.documents)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut columns = words(&["system", "variant", "index"]);
    let title = |(n, documents): &(u32, u64)| format!("{documents} × {}", size(*n));
    columns.extend(sizes.iter().map(|size| Column::number(&title(size))));
    let mut section = Section::new(format!("published {test}, on {MACHINE}"), columns);
    let mut rows: Vec<(&str, &str, Option<&str>)> = Vec::new();
    for result in &matching {
        let name = (result.system.as_str(), result.variant.as_str(), result.index.as_deref());
        if !rows.contains(&name) {
            rows.push(name);
        }
        for reason in &result.suspected_errors {
            let size = if result.test == "disk" { String::new() } else { format!(" {}", size(result.n)) };
            let index = result.index.as_deref().unwrap_or_default();
            let configuration = [result.system.as_str(), &result.variant, index].join(" ");
            let note = format!("? {}{size}: suspected, not confirmed: {reason}", configuration.trim_end());
            if !section.notes.iter().any(|known| *known == note) {
                section.notes.push(note);
            }
        }
    }
    for (system, variant, index) in rows {
        let mut row = vec![system.to_owned(), variant.to_owned(), index.map_or_else(dash, str::to_owned)];
        for (n, _) in &sizes {
            let cell = matching.iter().find(|result| {
                result.n == *n
                    && (result.system.as_str(), result.variant.as_str(), result.index.as_deref())
                        == (system, variant, index)
            });
            row.push(cell.map_or_else(dash, |result| describe_result(result)));
        }
        section.rows.push(row);
    }
    section
}

fn describe_result(result: &PublishedDocumentsResult) -> String {
    let mark = if result.suspected_errors.is_empty() { "" } else { " ?" };
    match (result.mean_s, result.sd_s, result.disk) {
        (Some(mean), Some(sd), _) => format!("{} ± {}{mark}", format::seconds(mean), format::seconds(sd)),
        (Some(mean), None, _) => format!("{}{mark}", format::seconds(mean)),
        (None, _, Some(disk)) => format!("{disk}{mark}"),
        _ => dash(),
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
        let results = published_documents().unwrap();
        let text = published_documents_table(&results.iter().collect::<Vec<_>>(), TableStyle::PLAIN);
        let line = |beginning: &str| {
            let line = text
                .lines()
                .find(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(beginning));
            line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
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
