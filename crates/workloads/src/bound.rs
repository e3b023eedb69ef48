//! What a time was bound by.

/// Below this a trial is too short for the kernel's counters to tell anything.
const SHORTEST_S: f64 = 0.002;
/// Share of a resource's limit from which on it is called the bound; what is left is start-up and hand-over.
const NEARLY: f64 = 0.75;

/// What was counted during one trial.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spent {
    /// Wall-clock seconds of the trial.
    pub(crate) seconds: f64,
    /// CPU seconds of the system in it.
    pub(crate) cpu_s: f64,
    /// Bytes that it read from the disk.
    pub(crate) read_bytes: u64,
    /// Bytes that it wrote.
    pub(crate) written_bytes: u64,
    /// Cores it could use.
    pub(crate) cores: usize,
    /// Measured read bandwidth of the disk, bytes per second.
    pub(crate) disk_bytes_per_s: Option<f64>,
}

/// `disk`, `cpu` (all cores busy), `one core` (busy, the others idle), `cpu, part` (more than one core,
/// not all) or `waiting` (neither). None for trials too short to tell.
#[must_use]
pub(crate) fn verdict(spent: &Spent) -> Option<&'static str> {
    if spent.seconds < SHORTEST_S {
        return None;
    }
    let busy = spent.cpu_s / spent.seconds;
    let moved = spent.read_bytes.max(spent.written_bytes) as f64;
    if let Some(bandwidth) = spent.disk_bytes_per_s
        && bandwidth > 0.0
        && moved / bandwidth >= NEARLY * spent.seconds
    {
        return Some("disk");
    }
    Some(if busy >= NEARLY * spent.cores as f64 {
        if spent.cores == 1 { "one core" } else { "cpu" }
    } else if busy >= 1.25 {
        "cpu, part"
    } else if busy >= NEARLY {
        "one core"
    } else {
        "waiting"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(seconds: f64, cpu_s: f64, read_bytes: u64) -> Spent {
        Spent { seconds, cpu_s, read_bytes, written_bytes: 0, cores: 4, disk_bytes_per_s: Some(1e9) }
    }

    #[test]
    fn each_bound_is_told_from_the_others() {
        assert_eq!(verdict(&spent(0.001, 0.001, 0)), None);
        assert_eq!(verdict(&spent(1.0, 3.9, 0)), Some("cpu"));
        assert_eq!(verdict(&spent(1.0, 2.0, 0)), Some("cpu, part"));
        assert_eq!(verdict(&spent(1.0, 1.0, 0)), Some("one core"));
        assert_eq!(verdict(&spent(1.0, 0.2, 0)), Some("waiting"));
        assert_eq!(verdict(&spent(1.0, 1.0, 900_000_000)), Some("disk"));
        assert_eq!(verdict(&Spent { cores: 1, ..spent(1.0, 1.0, 0) }), Some("one core"));
        assert_eq!(
            verdict(&Spent { disk_bytes_per_s: None, ..spent(1.0, 0.1, 900_000_000) }),
            Some("waiting")
        );
    }
}
