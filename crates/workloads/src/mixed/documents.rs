//! Documents of a mixed run: those that are loaded, and those that come in while questions are asked.

use jsonathlon_dataset::DataError;
use jsonathlon_dataset::pool::{DocumentPool, SplitDocuments, split_documents};
use jsonathlon_dataset::stage::StagedDocuments;
use jsonathlon_mixed::{Documents, DocumentsBuilder, Pool, Sweep, SweepError, documents_of_writer};
use jsonathlon_schema::record::Phase;
use jsonathlon_schema::settings::mixed::{InsertRate, MixedSettings, PoolSummary};
use jsonathlon_stats::batch_schedule::BatchSchedule;

use super::answer_rows::check_answer_rows;
use crate::RunError;
use crate::run_context::LoadedDocuments;
use crate::workload::Preparation;

/// Folder of the split documents below the run's work folder.
const FOLDER: &str = "mixed";
/// Least number of full batches of each writer. With fewer, the shorter last one would make the rate a smaller one
/// than it is said to be.
const MIN_FULL_BATCHES: u64 = 5;

/// Length of the phases other than `both`, as a share of it.
const SHORT_SHARE: f64 = 0.3;
/// Documents per second that writers alone have enough documents for.
const FASTEST_PER_S: f64 = 50_000.0;
/// Longest time that they have enough documents for at that rate, in seconds. It bounds the data, and suffices for
/// what is measured.
const LONGEST_ALONE_S: f64 = 3.0;

/// Documents of a run in both parts, with the fields from which expected answers are computed.
#[derive(Debug)]
pub(super) struct MixedDocuments {
    /// File of the documents that come in.
    pub(super) file: DocumentPool,
    /// Number of its last documents, those that come in beside questions. All of them come in while writers are alone.
    beside: u64,
    documents: Documents,
    pool: Pool,
    /// Number of documents of the base without its suspects.
    clean_documents: usize,
}

/// Number of documents that writers alone need on a fast system, beyond those that come in beside questions, if
/// `scale` documents are loaded.
pub(super) fn more_alone(scale: u64, settings: &MixedSettings) -> u64 {
    let wanted = FASTEST_PER_S * short_s(settings).min(LONGEST_ALONE_S);
    (wanted as u64).saturating_sub(beside_questions(scale, settings))
}

/// Number of documents that may come in beside questions if `scale` documents are loaded.
pub(super) fn beside_questions(scale: u64, settings: &MixedSettings) -> u64 {
    (scale as f64 * settings.growth).round() as u64
}

/// Number of documents of a data set of `documents` that may come in beside questions. Before them, in the order of
/// the data, are those that only come in while writers are alone.
pub(super) fn pool_size(documents: u64, settings: &MixedSettings) -> u64 {
    let growth = settings.growth;
    (documents.saturating_sub(settings.more_alone) as f64 * growth / (1.0 + growth)).round() as u64
}

impl MixedDocuments {
    /// Splits staged documents. Returns the documents that systems load, and both parts for later use.
    ///
    /// # Errors
    /// If the documents do not suffice, if a question has no answer over those that are loaded, or if they cannot be
    /// read or written.
    pub(super) fn split(
        staged: &StagedDocuments,
        settings: &MixedSettings,
        preparation: &Preparation<'_>,
    ) -> Result<(StagedDocuments, Self), RunError> {
        let size = pool_size(staged.documents, settings);
        let folder = preparation.folder.join(FOLDER);
        let split = split_documents(staged, size + settings.more_alone, &folder, preparation.cancelled);
        let SplitDocuments { base, pool: file } = match split {
            Err(DataError::Cancelled) => return Err(RunError::Interrupted),
            split => split?,
        };
        let beside = size.min(file.documents);
        check_pool(beside, base.documents, settings)?;
        let mut builder = DocumentsBuilder::default();
        base.visit_clean_except(&Default::default(), &mut builder)?;
        let clean_documents = builder.len();
        base.visit_suspects(&base.suspects, &mut builder)?;
        let first = builder.len();
        file.visit(&mut builder)?;
        let pool = Pool::new(first..builder.len(), settings.writers as usize);
        let documents = Self { file, beside, documents: builder.finish(), pool, clean_documents };
        check_answer_rows(&documents.documents, &documents.pool, clean_documents)?;
        Ok((base, documents))
    }

    /// What the manifest keeps about the pool.
    pub(super) fn summary(&self) -> PoolSummary {
        let DocumentPool { documents, left_out, .. } = self.file;
        PoolSummary {
            documents: self.beside,
            alone: (documents > self.beside).then_some(documents),
            left_out,
        }
    }

    /// Number of documents that all writers together may insert in a phase.
    pub(super) fn dealt_in(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Alone => self.file.documents,
            _ => self.beside,
        }
    }

    /// Number of documents that each writer may insert in a phase.
    pub(super) fn documents_of_writers(&self, phase: Phase) -> Vec<u64> {
        let (dealt, writers) = (self.dealt_in(phase), self.pool.writers() as u64);
        (0..writers).map(|writer| documents_of_writer(dealt, writers, writer)).collect()
    }

    /// Expected answers over the documents that a system holds, and any that come in.
    ///
    /// # Errors
    /// If a document of the system is none of these, which is a fault of the program.
    pub(super) fn sweep(&self, loaded: &LoadedDocuments) -> Result<Sweep<'_>, SweepError> {
        let is_accepted = |index: &usize| !loaded.rejected_lines.contains(&(*index as u64));
        let clean = (0..self.clean_documents).filter(is_accepted);
        let suspects = loaded.accepted_suspects.iter().map(|suspect| self.clean_documents + suspect);
        Sweep::new(&self.documents, &self.pool, clean.chain(suspects))
    }
}

/// Length of the phases other than `both`, in seconds.
pub(super) fn short_s(settings: &MixedSettings) -> f64 {
    settings.measure_s * SHORT_SHARE
}

/// Seconds after the first batch from which on questions beside writers are measured.
pub(super) fn lead_s(settings: &MixedSettings) -> f64 {
    (settings.measure_s / 10.0).min(1.0)
}

/// Seconds that the pool lasts at the rate of the settings. `None` at full speed.
pub(super) fn pool_seconds(documents: u64, settings: &MixedSettings) -> Option<f64> {
    let InsertRate::PerSecond(rate) = settings.rate else { return None };
    let schedule = BatchSchedule::new(settings.writers.into(), settings.batch.into(), rate);
    schedule.ok().map(|schedule| schedule.seconds_for(&shares(documents, settings.writers)))
}

/// Number of documents that each writer has of a pool.
fn shares(documents: u64, writers: u32) -> Vec<u64> {
    let writers = u64::from(writers);
    (0..writers).map(|writer| documents_of_writer(documents, writers, writer)).collect()
}

/// The option that lets `times` as many documents come in, in whole percent.
pub(super) fn larger_growth(settings: &MixedSettings, times: f64) -> String {
    // Rounds up, but not because of the last digits of a product.
    let percent = (settings.growth * times * 100.0 - 1e-6).ceil().max(1.0);
    format!("--growth {percent}%")
}

/// Rejects a number of documents that come in beside questions of which some writer gets nothing or too few batches, or that is used up before anything is
/// measured.
fn check_pool(documents: u64, base: u64, settings: &MixedSettings) -> Result<(), RunError> {
    let refuse = |reason: String| Err(RunError::Data(DataError::Range { reason }));
    let MixedSettings { writers, growth, .. } = settings;
    if settings.is_still() {
        return Ok(());
    }
    if documents < u64::from(*writers) {
        return refuse(format!(
            "{documents} documents may come in ({} % of {base}), and {writers} writers need at least one each; give \
             a larger --growth",
            growth * 100.0
        ));
    }
    if let Some(problem) = too_few_batches(documents, settings) {
        return refuse(problem);
    }
    let lead_s = lead_s(settings);
    match pool_seconds(documents, settings) {
        Some(seconds) if seconds <= 2.0 * lead_s => {
            let enough = larger_growth(settings, settings.measure_s / seconds);
            refuse(format!(
                "the {documents} documents that may come in last {seconds:.2} s at this --rate, and questions are \
                 measured from {lead_s} s on; give {enough} or more, or a lower --rate"
            ))
        }
        _ => Ok(()),
    }
}

/// Why writers have too few full batches for a rate, and what to do. `None` if they have enough.
fn too_few_batches(documents: u64, settings: &MixedSettings) -> Option<String> {
    settings.rate.per_s()?;
    let batch = u64::from(settings.batch);
    let least = shares(documents, settings.writers).into_iter().min()?;
    let full = least / batch;
    if full >= MIN_FULL_BATCHES {
        return None;
    }
    let wanted = MIN_FULL_BATCHES * batch;
    let larger = larger_growth(settings, wanted as f64 / least.max(1) as f64);
    let smaller = match least / MIN_FULL_BATCHES {
        0 => String::new(),
        smaller => format!("--batch {smaller} or less, or "),
    };
    Some(format!(
        "a writer has {least} documents, which are {full} full batches of {batch}, too few for writers to reach the \
         --rate; give {smaller}{larger} or more"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_loaded_documents_comes_in() {
        let with_growth = |growth| MixedSettings { growth, ..MixedSettings::default() };
        assert_eq!(pool_size(120_000, &with_growth(0.2)), 20_000);
        // All parts of a generated data set have the sizes that the user asked for.
        for (scale, growth) in [(7_u64, 0.2), (3, 0.5), (5_000, 0.123), (1, 1.0), (999_999, 0.05)] {
            for more_alone in [0, 130_000] {
                let settings = MixedSettings { more_alone, ..with_growth(growth) };
                let pool = beside_questions(scale, &settings);
                assert_eq!(pool_size(scale + pool + more_alone, &settings), pool, "{scale} {growth}");
            }
        }
        assert_eq!(pool_size(5, &MixedSettings { more_alone: 9, ..with_growth(0.2) }), 0);
    }

    #[test]
    fn writers_alone_have_enough_documents_for_a_fast_system() {
        let settings = MixedSettings::default();
        assert_eq!(more_alone(100_000, &settings), 130_000);
        assert_eq!(more_alone(1_000_000, &settings), 0, "those that come in beside questions suffice");
        let [longer, shorter] = [60.0, 1.0].map(|measure_s| MixedSettings { measure_s, ..settings.clone() });
        assert_eq!(more_alone(100_000, &longer), 130_000);
        assert_eq!(more_alone(1_000, &shorter), 15_000 - 200);
    }

    #[test]
    fn batches_that_make_the_rate_a_smaller_one_are_refused_with_what_suffices() {
        let settings = MixedSettings { batch: 10_000, writers: 4, ..MixedSettings::default() };
        let error = check_pool(20_000, 100_000, &settings).unwrap_err().to_string();
        assert!(error.contains("5000 documents, which are 0 full batches of 10000"), "{error}");
        assert!(error.contains("--batch 1000 or less, or --growth 200% or more"), "{error}");
        check_pool(20_000, 100_000, &MixedSettings { batch: 1_000, ..settings.clone() }).unwrap();
        check_pool(200_000, 100_000, &MixedSettings { growth: 2.0, ..settings.clone() }).unwrap();
        check_pool(20_000, 100_000, &MixedSettings { rate: InsertRate::FullSpeed, ..settings }).unwrap();
    }

    #[test]
    fn a_pool_that_is_too_small_is_refused_with_what_suffices() {
        let settings = MixedSettings::default();
        check_pool(20_000, 100_000, &settings).unwrap();
        let fast = MixedSettings { rate: InsertRate::PerSecond(20_000.0), ..settings.clone() };
        let error = check_pool(20_000, 100_000, &fast).unwrap_err().to_string();
        assert!(error.contains("last 1.00 s") && error.contains("give --growth 200% or more"), "{error}");
        let error = check_pool(1, 5, &settings).unwrap_err().to_string();
        assert!(error.contains("2 writers need at least one each"), "{error}");
        let at_full_speed = MixedSettings { rate: InsertRate::FullSpeed, ..settings };
        check_pool(1_000, 5_000, &at_full_speed).unwrap();
    }
}
