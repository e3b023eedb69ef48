//! `jsonathlon data`: generates documents, or prints a profile of a data set.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use jsonathlon_dataset::describe::{DescribeOptions, describe};
use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::source::Source;

use super::print;
use super::table_style::table_style;
use crate::cli::run_options::InputArguments;
use crate::cli::{DataAction, DataArguments, TableChoice};
use crate::exit::Failure;
use crate::interrupt::Interrupt;

/// Number of bytes that are generated before they are written: large enough for efficient writes, and small
/// enough for the CPU cache.
const CHUNK_BYTES: usize = 1 << 20;

pub(crate) fn run(arguments: &DataArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        DataAction::Generate { scale, start, seed, malformed, out } => {
            generate(*scale, *start, *seed, *malformed, out)
        }
        DataAction::Describe { data, input, json, tables } => {
            print_profile(data.as_deref(), *input, *json, *tables)
        }
    }
}

fn generate(scale: u64, start: u64, seed: u64, malformed: u64, out: &Path) -> Result<ExitCode, Failure> {
    let end = start
        .checked_add(scale)
        .ok_or_else(|| Failure::usage(format!("--start {start} plus --scale {scale} exceeds 64 bits")))?;
    if malformed > scale {
        return Err(Failure::usage(format!("{malformed} malformed lines do not fit among {scale} events")));
    }
    let mut generator = Generator::new(seed, start..end);
    if malformed > 0 {
        generator = generator.with_malformed(malformed, end);
    }
    match write_output(&mut generator, out) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // A reader may close its pipe early, as in `data generate | head`.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::environment(format!("failed to write {}: {error}", out.display()))),
    }
}

/// Writes all documents to the file `out`, or to standard output if it is `-`. The file's extension decides
/// whether it is compressed.
fn write_output(generator: &mut Generator, out: &Path) -> std::io::Result<()> {
    if out == Path::new("-") {
        return write_documents(generator, &mut std::io::stdout().lock());
    }
    let mut file = File::create(out)?;
    match out.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            let mut writer = flate2::write::GzEncoder::new(BufWriter::new(file), flate2::Compression::new(6));
            write_documents(generator, &mut writer)?;
            writer.finish()?.flush()
        }
        Some("zst") => {
            let mut writer = zstd::Encoder::new(BufWriter::new(file), 1)?;
            write_documents(generator, &mut writer)?;
            writer.finish()?.flush()
        }
        _ => write_documents(generator, &mut file),
    }
}

fn write_documents(generator: &mut Generator, writer: &mut dyn Write) -> std::io::Result<()> {
    let mut buffer = Vec::with_capacity(2 * CHUNK_BYTES);
    while generator.fill(&mut buffer, CHUNK_BYTES) {
        writer.write_all(&buffer)?;
        buffer.clear();
    }
    writer.flush()
}

fn print_profile(
    data: Option<&str>,
    input: InputArguments,
    json: bool,
    tables: TableChoice,
) -> Result<ExitCode, Failure> {
    let source = match data {
        Some(argument) => Source::from_argument(argument).with_input(input.options()),
        None => Source::Generated { seed: 1, start: 0, documents: 100_000, malformed: 0 },
    };
    let interrupt = Interrupt::install()?;
    let profile = describe(&source, &DescribeOptions::default(), &mut |_| {}, &|| interrupt.is_requested())?;
    let text = if json {
        serde_json::to_string_pretty(&profile)
            .map_err(|error| Failure::environment(format!("failed to write the profile as JSON: {error}")))?
            + "\n"
    } else {
        let notes: String = profile.input_notes.iter().map(|note| format!("{note}\n")).collect();
        notes + &jsonathlon_report::profile::render(&profile, table_style(tables))
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
