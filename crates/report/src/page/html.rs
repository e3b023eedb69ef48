//! Assembles one HTML file from program, style and data.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use super::data::PageData;
use super::evidence::Evidence;
use super::paths::PathHider;

const PROGRAM: &str = include_str!("../../page/page.js");
/// Style sheet of all pages, which defines their colours.
pub(crate) const STYLE: &str = include_str!("../../page/page.css");

/// Content security policy: nothing is loaded from anywhere, whatever the data put into the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data: blob:; base-uri 'none'; form-action 'none'";

/// Text of a page whose program may not run.
const NO_SCRIPT: &str = "This page draws its charts with JavaScript, which is switched off here. The same results as \
                         tables: jsonathlon export DIR";

/// HTML of the whole page. Data and evidence are compressed in parallel. Paths are shown without a hider.
pub(super) fn page_html(
    names: &[String],
    data: &PageData,
    evidence: &Evidence,
    hider: Option<&PathHider>,
) -> std::io::Result<String> {
    let (data, evidence) = std::thread::scope(|scope| {
        let evidence = scope.spawn(|| compress_json(evidence, hider));
        (compress_json(data, hider), super::join(evidence))
    });
    let head = head(&format!("jsonathlon: {}", names.join(", ")), POLICY, STYLE);
    Ok(format!(
        r#"{head}<div id="page"><noscript>{NO_SCRIPT}</noscript></div>
<script type="text/plain" id="figures">{}</script>
<script type="text/plain" id="evidence">{}</script>
<script>{PROGRAM}</script>
{END}"#,
        data?, evidence?
    ))
}

/// Beginning of a self-contained page, up to and including the opening tag of its body.
pub(crate) fn head(title: &str, policy: &str, style: &str) -> String {
    let title = escape(title);
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
"#
    )
}

/// End of a page that begins with [`head`].
pub(crate) const END: &str = "</body>\n</html>\n";

/// JSON with hidden paths, compressed with gzip and encoded as base64. HTML gives no meaning to this alphabet,
/// so nothing in the data can end the element.
fn compress_json(value: &impl Serialize, hider: Option<&PathHider>) -> std::io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    match hider {
        Some(hider) => encoder.write_all(hider.hide(&serde_json::to_string(value)?).as_bytes())?,
        None => serde_json::to_writer(std::io::BufWriter::new(&mut encoder), value)?,
    }
    encoder.flush()?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// Escapes text for HTML and SVG, between tags and in attributes, and replaces control characters with
/// blanks.
pub(crate) fn escape(text: &str) -> String {
    let printable: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    printable.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts that are embedded without escapes must not end their own element.
    #[test]
    fn the_built_parts_do_not_end_their_elements() {
        assert!(!PROGRAM.contains("</script") && !PROGRAM.contains("<!--"));
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn without_a_program_the_page_says_so_in_one_sentence() {
        let sentence = NO_SCRIPT.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(NO_SCRIPT, sentence);
        assert!(NO_SCRIPT.chars().all(|c| c != '\\' && !c.is_control()), "{NO_SCRIPT}");
    }

    #[test]
    fn a_title_stays_text() {
        assert_eq!(escape("a</title><img>&\"\u{1b}"), "a&lt;/title&gt;&lt;img&gt;&amp;&quot; ");
    }
}
