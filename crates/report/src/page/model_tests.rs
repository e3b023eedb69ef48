//! Checks that the page's TypeScript types, `web/src/model.ts`, are those of its data. A renamed field or word
//! no longer type-checks there. To regenerate the file, run
//!
//!     JSONATHLON_WRITE_MODEL=1 cargo test -p jsonathlon-report --lib model_tests
//!
//! and then `npm run build` in `web/`.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

use super::data::PageData;
use super::evidence::Evidence;
use super::number::Number;

/// Command that regenerates the file.
const COMMAND: &str = "JSONATHLON_WRITE_MODEL=1 cargo test -p jsonathlon-report --lib model_tests";

/// First lines of the file, about what no single type says.
const HEADER: &str = "\
// Generated from the types of crates/report/src/page by a test of crates/report, model_tests; do not edit by
// hand.
//
// Data that the program writes into the page, in two parts. Each is JSON, compressed with gzip and written as
// base64 into a <script type=\"text/plain\">: PageData is the data of charts and tables, Evidence the details
// behind a result; the latter is unpacked after the first chart.
//
// Sizes are in bytes and times in seconds unless a name says otherwise. Unknown values are null.
";

/// A number of the page's data needs no declaration of its own: it is rounded, and nothing more.
impl TS for Number {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;

    fn name(config: &Config) -> String {
        f64::name(config)
    }

    fn inline(config: &Config) -> String {
        f64::inline(config)
    }
}

/// Declarations of all types that the visited ones consist of, by name.
struct Declarations {
    config: Config,
    texts: BTreeMap<String, (TypeId, String)>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Numbers, texts and lists have no declaration.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        if let Some((known, _)) = self.texts.get(&name) {
            assert_eq!(*known, TypeId::of::<T>(), "two types have the name {name}");
            return;
        }
        let text = format!("{}export {}", T::docs().unwrap_or_default(), T::decl(&self.config));
        self.texts.insert(name, (TypeId::of::<T>(), formatted(&text)));
        T::visit_dependencies(self);
    }
}

/// Puts each field of a declaration on a line of its own, below its comment.
fn formatted(declaration: &str) -> String {
    let mut text = String::new();
    let mut words: Vec<&str> = Vec::new();
    for line in declaration.lines().map(str::trim_end) {
        if line == "/**" || line == " */" {
            continue;
        }
        if let Some(more) = line.strip_prefix(" *") {
            words.push(more.trim_start());
            continue;
        }
        let (indent, code, end) = match line.strip_suffix(" };") {
            _ if line.starts_with("export") => ("", line, ""),
            Some(last) => ("  ", last, "};\n"),
            None => ("  ", line, ""),
        };
        text += &comment(&words, indent, code);
        text += &format!("{indent}{}\n{end}", code.replace('"', "'"));
        words.clear();
    }
    text
}

/// Doc comment of a field or type in TypeScript, where what is `None` in Rust is null or not there at all.
fn comment(words: &[&str], indent: &str, code: &str) -> String {
    let is_optional = code.split(':').next().is_some_and(|name| name.ends_with('?'));
    let none = if is_optional { "`undefined`" } else { "`null`" };
    let words = words.iter().map(|line| line.replace("`None`", none).replace("[`", "`").replace("`]", "`"));
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: String =
                lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n").collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

/// The whole file. Types that the page's vocabulary declares, with a constant for each word, are imported.
fn model(vocabulary: &str) -> String {
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config, texts: BTreeMap::new() };
    declarations.visit::<PageData>();
    declarations.visit::<Evidence>();
    let is_vocabulary = |name: &String| vocabulary.contains(&format!("export type {name} ="));
    let (imported, own): (BTreeMap<_, _>, BTreeMap<_, _>) =
        declarations.texts.into_iter().partition(|(name, _)| is_vocabulary(name));
    let imported = imported.into_keys().collect::<Vec<_>>().join(", ");
    let import = format!("import type {{ {imported} }} from './vocabulary.ts';\n");
    let texts = own.into_values().map(|(_, text)| text);
    [HEADER.to_owned(), import].into_iter().chain(texts).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_has_the_current_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src");
    let generated = model(&std::fs::read_to_string(folder.join("vocabulary.ts")).unwrap());
    let file = folder.join("model.ts");
    if std::env::var_os("JSONATHLON_WRITE_MODEL").is_some() {
        std::fs::write(&file, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    let difference = generated.lines().zip(committed.lines()).find(|(new, old)| new != old);
    assert!(committed == generated, "{COMMAND} regenerates it; then rebuild the page: {difference:?}");
}

#[test]
fn comments_stand_above_their_fields() {
    let declaration = "/**\n * A type.\n */\nexport type A = { \n/**\n * One. `None` if [`A`] is\n * unknown.\n */\n\
                       one: \"a\" | null, \n/**\n * `None` if absent.\n */\ntwo?: number, };";
    let expected = "/** A type. */\nexport type A = {\n  /**\n   * One. `null` if `A` is\n   * unknown.\n   */\n  \
                    one: 'a' | null,\n  /** `undefined` if absent. */\n  two?: number,\n};\n";
    assert_eq!(formatted(declaration), expected);
}
