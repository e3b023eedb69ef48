//! `jsonathlon data`: generates documents, or describes a data set.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use jsonathlon_dataset::describe::{DescribeOptions, describe};
use jsonathlon_dataset::generate::Generator;
use jsonathlon_dataset::source::Source;
use jsonathlon_report::render::TableStyle;

use super::print;
use crate::cli::{DataAction, DataArguments};
use crate::exit::Failure;
use crate::interrupt::Interrupt;

/// Bytes generated at a time: enough to keep the writer busy, small enough for the CPU cache.
const CHUNK: usize = 1 << 20;

pub(crate) fn run(arguments: &DataArguments) -> Result<ExitCode, Failure> {
    match &arguments.action {
        DataAction::Generate { scale, start, seed, malformed, out } => {
            generate(*scale, *start, *seed, *malformed, out)
        }
        DataAction::Describe { data, json } => print_profile(data.as_deref(), *json),
    }
}

fn generate(scale: u64, start: u64, seed: u64, malformed: u64, out: &Path) -> Result<ExitCode, Failure> {
    let end = start
        .checked_add(scale)
        .ok_or_else(|| Failure::usage(format!("{scale} events from number {start} on are too many")))?;
    if malformed > scale {
        return Err(Failure::usage(format!("{malformed} malformed lines cannot be planted among {scale}")));
    }
    let mut generator = Generator::new(seed, start..end);
    if malformed > 0 {
        generator = generator.with_malformed(malformed, end);
    }
    let failed =
        |error: std::io::Error| Failure::environment(format!("failed to write {}: {error}", out.display()));
    let result = write_all(&mut generator, out);
    match result {
        // `data generate | head` is no error.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        other => other.map(|()| ExitCode::SUCCESS).map_err(failed),
    }
}

fn write_all(generator: &mut Generator, out: &Path) -> std::io::Result<()> {
    if out == Path::new("-") {
        return copy(generator, &mut std::io::stdout().lock());
    }
    let file = File::create(out)?;
    match out.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => {
            let mut writer = flate2::write::GzEncoder::new(BufWriter::new(file), flate2::Compression::new(6));
            copy(generator, &mut writer)?;
            writer.finish()?.flush()
        }
        Some("zst") => {
            let mut writer = zstd::Encoder::new(BufWriter::new(file), 1)?;
            copy(generator, &mut writer)?;
            writer.finish()?.flush()
        }
        _ => copy(generator, &mut { file }),
    }
}

fn copy(generator: &mut Generator, writer: &mut dyn Write) -> std::io::Result<()> {
    let mut buffer = Vec::with_capacity(2 * CHUNK);
    while generator.fill(&mut buffer, CHUNK) {
        writer.write_all(&buffer)?;
        buffer.clear();
    }
    writer.flush()
}

fn print_profile(data: Option<&str>, json: bool) -> Result<ExitCode, Failure> {
    let source = match data {
        Some(text) => Source::from_argument(text),
        None => Source::Generated { seed: 1, start: 0, documents: 100_000, malformed: 0 },
    };
    let interrupt = Interrupt::install()?;
    let profile = describe(&source, &DescribeOptions::default(), &mut |_| {}, &|| interrupt.is_requested())?;
    let text = if json {
        serde_json::to_string_pretty(&profile)
            .map_err(|error| Failure::environment(format!("failed to write: {error}")))?
            + "\n"
    } else {
        jsonathlon_report::profile::render(&profile, TableStyle { colour: true })
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
