//! Classifies the resource that limited the time of a trial.

use jsonathlon_schema::record::Bottleneck;

/// Shorter trials are not classified: the kernel's CPU counters are too coarse.
const MIN_SECONDS: f64 = 0.002;
/// Share of a resource's limit above which the resource is the bottleneck. The rest is start-up and
/// hand-over.
const BUSY_SHARE: f64 = 0.75;

/// Resource usage of one trial, as counted by the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialUsage {
    /// Wall-clock time of the trial.
    pub(crate) seconds: f64,
    /// CPU time of the system during the trial.
    pub(crate) cpu_s: f64,
    /// Bytes that the system read from the disk.
    pub(crate) read_bytes: u64,
    /// Bytes that the system wrote to the disk.
    pub(crate) written_bytes: u64,
    /// Number of cores that the system may use.
    pub(crate) cores: usize,
    /// Measured read bandwidth of the disk in bytes per second; `None` if not measured.
    pub(crate) disk_bytes_per_s: Option<f64>,
}

/// Returns the bottleneck of a trial. `None` if the trial is too short to classify.
#[must_use]
pub(crate) fn bottleneck(usage: &TrialUsage) -> Option<Bottleneck> {
    if usage.seconds < MIN_SECONDS {
        return None;
    }
    let busy_cores = usage.cpu_s / usage.seconds;
    let transferred_bytes = usage.read_bytes.max(usage.written_bytes) as f64;
    if let Some(bandwidth) = usage.disk_bytes_per_s
        && bandwidth > 0.0
        && transferred_bytes / bandwidth >= BUSY_SHARE * usage.seconds
    {
        return Some(Bottleneck::Disk);
    }
    Some(if busy_cores >= BUSY_SHARE * usage.cores as f64 {
        if usage.cores == 1 { Bottleneck::OneCore } else { Bottleneck::AllCores }
    } else if busy_cores >= 1.25 {
        Bottleneck::SomeCores
    } else if busy_cores >= BUSY_SHARE {
        Bottleneck::OneCore
    } else {
        Bottleneck::Waiting
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(seconds: f64, cpu_s: f64, read_bytes: u64) -> TrialUsage {
        TrialUsage { seconds, cpu_s, read_bytes, written_bytes: 0, cores: 4, disk_bytes_per_s: Some(1e9) }
    }

    #[test]
    fn each_bound_is_told_from_the_others() {
        assert_eq!(bottleneck(&usage(0.001, 0.001, 0)), None);
        assert_eq!(bottleneck(&usage(1.0, 3.9, 0)), Some(Bottleneck::AllCores));
        assert_eq!(bottleneck(&usage(1.0, 2.0, 0)), Some(Bottleneck::SomeCores));
        assert_eq!(bottleneck(&usage(1.0, 1.0, 0)), Some(Bottleneck::OneCore));
        assert_eq!(bottleneck(&usage(1.0, 0.2, 0)), Some(Bottleneck::Waiting));
        assert_eq!(bottleneck(&usage(1.0, 1.0, 900_000_000)), Some(Bottleneck::Disk));
        assert_eq!(bottleneck(&TrialUsage { cores: 1, ..usage(1.0, 1.0, 0) }), Some(Bottleneck::OneCore));
        assert_eq!(
            bottleneck(&TrialUsage { disk_bytes_per_s: None, ..usage(1.0, 0.1, 900_000_000) }),
            Some(Bottleneck::Waiting)
        );
    }
}
