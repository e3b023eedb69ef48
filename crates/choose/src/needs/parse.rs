//! Parses a needs file, and refuses needs that contradict each other.

use jsonathlon_schema::durability::DurabilityTier;
use toml::Value;

use super::need::{Criterion, Need, Quantile, RoundTripLevel, SizeAt, WantedKind};
use super::quantity::{self, Limit};
use super::section::{NeedsError, Section, Source, sections};
use super::{DocumentsSection, LoadSection, NeedsFile, ReportsSection};

/// Number of clients if the file does not state it.
pub(super) const DEFAULT_CLIENTS: u32 = 16;
/// Shares of reads and updates if the file states no share.
const DEFAULT_SHARES: [f64; 4] = [0.5, 0.5, 0.0, 0.0];
/// How far the shares may be from 1 in total, because they are written with few digits.
const SHARE_TOLERANCE: f64 = 1e-6;
/// Word for the number of a document as its key.
const LINE: &str = "line";

impl NeedsFile {
    /// Parses the text of a needs file; errors name it `file`.
    ///
    /// # Errors
    /// [`NeedsError`] if the syntax, a key, a unit or a value is invalid, or if two of them contradict each
    /// other.
    pub fn parse(text: &str, file: &str) -> Result<Self, NeedsError> {
        let source = Source { file, text };
        let sections = sections(source)?;
        let section = |name: &str| {
            sections.get(name).ok_or_else(|| source.error(0, format!("[{name}] cannot be read")))
        };
        let documents = documents(section("documents")?)?;
        let load = load(section("load")?, source)?;
        check_scans(section("load")?, load.as_ref(), &documents)?;
        let reports = reports(section("reports")?)?;
        let stated = Stated { documents: &documents, load: load.as_ref(), reports: reports.as_ref() };
        let mut needs = needs(section("needs")?, &stated)?;
        if let Some(rate) = load.as_ref().and_then(|load| load.rate) {
            needs.push(Need::Rate(rate));
        }
        needs.sort_by_key(Need::dimension);
        let prefer = prefer(section("prefer")?, &stated)?;
        Ok(Self { documents, load, reports, needs, prefer })
    }
}

fn documents(section: &Section<'_>) -> Result<DocumentsSection, NeedsError> {
    let now = section.read("now", quantity::count)?;
    let later = section.read("later", quantity::count)?;
    if let (Some(now), Some(later), Some(entry)) = (now, later, section.get("later"))
        && later < now
    {
        return Err(entry.error(format!("{} is less than documents.now", entry.written())));
    }
    let key = |value: &Value| match quantity::text(value)?.as_str() {
        LINE => Ok(LINE.to_owned()),
        _ => quantity::pointer(value).map_err(|message| format!("{message}, or `{LINE}`")),
    };
    Ok(DocumentsSection { now, later, key: section.read("key", key)? })
}

fn load(section: &Section<'_>, source: Source<'_>) -> Result<Option<LoadSection>, NeedsError> {
    let Some(position) = section.position else { return Ok(None) };
    let mut shares = DEFAULT_SHARES;
    let names = ["reads", "updates", "inserts", "scans"];
    if names.iter().any(|name| section.get(name).is_some()) {
        for (share, name) in shares.iter_mut().zip(names) {
            *share = section.read(name, quantity::share)?.unwrap_or(0.0);
        }
        let total: f64 = shares.iter().sum();
        if total == 0.0 && section.get("rate").is_some() {
            return Err(source.error(position, "[load] has a rate, and no operation has a share of it"));
        }
        if (total - 1.0).abs() > SHARE_TOLERANCE {
            let message = format!(
                "reads, updates, inserts and scans add up to {} and not to 1",
                (total * 1e6).round() / 1e6
            );
            return Err(source.error(position, message));
        }
    }
    let [reads, updates, inserts, scans] = shares;
    let update = section.read("update", quantity::pointer)?;
    if let Some(entry) = section.get("update").filter(|_| updates == 0.0) {
        return Err(entry.error(format!("{} is never set, because updates have no share", entry.written())));
    }
    let clients = section.read("clients", quantity::small_count)?.unwrap_or(DEFAULT_CLIENTS);
    let rate = section.read("rate", quantity::rate)?;
    Ok(Some(LoadSection { reads, updates, inserts, scans, update, clients, rate }))
}

/// Refuses scans of documents that are known by their position alone.
fn check_scans(
    section: &Section<'_>,
    load: Option<&LoadSection>,
    documents: &DocumentsSection,
) -> Result<(), NeedsError> {
    let has_scans = load.is_some_and(|load| load.scans > 0.0);
    match section.get("scans") {
        Some(entry) if has_scans && documents.key.as_deref() == Some(LINE) => Err(entry.error(format!(
            "scans read documents in the order of their keys, and documents.key = \"{LINE}\" gives them none"
        ))),
        _ => Ok(()),
    }
}

fn reports(section: &Section<'_>) -> Result<Option<ReportsSection>, NeedsError> {
    if section.position.is_none() {
        return Ok(None);
    }
    let questions = section.read("questions", quantity::name)?.map(Into::into);
    let streams = section.read("streams", quantity::small_count)?.unwrap_or(1);
    Ok(Some(ReportsSection { questions, streams }))
}

/// Sections that needs refer to.
struct Stated<'a> {
    documents: &'a DocumentsSection,
    load: Option<&'a LoadSection>,
    reports: Option<&'a ReportsSection>,
}

impl Stated<'_> {
    /// Why response times are not measured; the rest of a sentence. `None` if they are.
    fn response_obstacle(&self) -> Option<&'static str> {
        match self.load {
            None => Some("response times are those of operations, and there is no [load]"),
            Some(load) if load.reads == 0.0 && load.updates == 0.0 => {
                Some("response times are those of reads and updates, and [load] has neither")
            }
            Some(_) => None,
        }
    }

    /// Why questions are not asked; the rest of a sentence. `None` if they are.
    fn report_obstacle(&self) -> Option<&'static str> {
        self.reports.is_none().then_some("reports are questions, and there is no [reports]")
    }
}

fn needs(section: &Section<'_>, stated: &Stated<'_>) -> Result<Vec<Need>, NeedsError> {
    let tiers = DurabilityTier::ALL.map(|tier| (tier.word(), tier));
    let levels = RoundTripLevel::ALL.map(|level| (level.word(), level));
    let kinds = WantedKind::ALL.map(|kind| (kind.word(), kind));
    let durability = |value: &Value| quantity::word(&quantity::text(value)?, &tiers).map(Need::Durability);
    let round_trip = |value: &Value| quantity::word(&quantity::text(value)?, &levels).map(Need::RoundTrip);
    let kind = |value: &Value| quantity::word(&quantity::text(value)?, &kinds).map(Need::Kind);
    let rejected = |value: &Value| quantity::percentage(value).map(Need::Rejected);
    let needs = [
        section.read("durability", durability)?,
        section.read("round_trip", round_trip)?,
        section.read("rejected", rejected)?,
        section.read("response", |value| response(value, stated))?,
        section.read("report", |value| report(value, stated))?,
        section.read("size", |value| size(value, stated.documents))?,
        section.read("kind", kind)?,
    ];
    Ok(needs.into_iter().flatten().collect())
}

fn response(value: &Value, stated: &Stated<'_>) -> Result<Need, String> {
    let text = quantity::text(value)?;
    let limit = Limit::parse(&text, "p99 < 10ms")?;
    let quantile = quantity::word(limit.subject, &quantiles())?;
    let below_s = limit.seconds()?;
    match stated.response_obstacle() {
        Some(obstacle) => Err(obstacle.to_owned()),
        None => Ok(Need::Response { quantile, below_s }),
    }
}

/// Quantiles by their words; `median` is another one for the first of them.
fn quantiles() -> Vec<(&'static str, Quantile)> {
    let named = Quantile::ALL.map(|quantile| (quantile.word(), quantile));
    named.into_iter().chain([("median", Quantile::P50)]).collect()
}

fn report(value: &Value, stated: &Stated<'_>) -> Result<Need, String> {
    let text = quantity::text(value)?;
    let limit = Limit::parse(&text, "median < 2s")?;
    quantity::word(limit.subject, &[("median", ())])?;
    let below_s = limit.seconds()?;
    match stated.report_obstacle() {
        Some(obstacle) => Err(obstacle.to_owned()),
        None => Ok(Need::Report(below_s)),
    }
}

fn size(value: &Value, documents: &DocumentsSection) -> Result<Need, String> {
    let text = quantity::text(value)?;
    let limit = Limit::parse(&text, "later < 400GB")?;
    let is_later = quantity::word(limit.subject, &[("now", false), ("later", true)])?;
    let below_bytes = limit.bytes()?;
    let at = match (is_later, documents.later) {
        (false, _) => SizeAt::Now(documents.now),
        (true, Some(later)) => SizeAt::Later(later),
        (true, None) => {
            return Err("`later` is a number of documents, and there is no documents.later".to_owned());
        }
    };
    Ok(Need::Size { at, below_bytes })
}

fn prefer(section: &Section<'_>, stated: &Stated<'_>) -> Result<Vec<Criterion>, NeedsError> {
    let Some(entry) = section.get("order") else { return Ok(Vec::new()) };
    entry.read(|value| {
        let words = value.as_array().ok_or_else(|| {
            format!("{} is not a list such as [\"response p99\", \"size\"]", entry.written())
        })?;
        let mut order = Vec::new();
        for word in words {
            let criterion = criterion(&quantity::text(word)?, stated)?;
            if order.contains(&criterion) {
                return Err(format!("`{}` stands there twice", criterion.words()));
            }
            order.push(criterion);
        }
        Ok(order)
    })
}

fn criterion(text: &str, stated: &Stated<'_>) -> Result<Criterion, String> {
    let responses = Quantile::ALL.map(Criterion::Response);
    let all: Vec<(String, Criterion)> = responses
        .into_iter()
        .chain([Criterion::Report, Criterion::Size, Criterion::Capacity])
        .map(|criterion| (criterion.words(), criterion))
        .collect();
    let all: Vec<(&str, Criterion)> =
        all.iter().map(|(words, criterion)| (words.as_str(), *criterion)).collect();
    let criterion = quantity::word(text, &all)?;
    let obstacle = match criterion {
        Criterion::Response(_) => stated.response_obstacle(),
        Criterion::Report => stated.report_obstacle(),
        Criterion::Capacity if stated.load.is_none() => {
            Some("the capacity is that of operations, and there is no [load]")
        }
        Criterion::Capacity | Criterion::Size => None,
    };
    obstacle.map_or(Ok(criterion), |obstacle| Err(obstacle.to_owned()))
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
