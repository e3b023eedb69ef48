//! Activity of the whole machine over an interval: CPU, run queue, disk, CPU frequency and temperature.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::process::field;

/// Bytes per sector in `/proc/diskstats`, whatever sector size the disk has (block/stat documentation of the
/// kernel).
const SECTOR: u64 = 512;

/// Cumulative counters of the kernel for the whole machine at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Clock ticks in user, nice, system, irq and softirq, summed over all cores.
    busy: u64,
    /// Clock ticks in iowait, summed over all cores.
    waiting: u64,
    /// Clock ticks of CPU steal, summed over all cores.
    stolen: u64,
    context_switches: u64,
    disk: Option<DiskCounters>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DiskCounters {
    requests: u64,
    read_sectors: u64,
    written_sectors: u64,
    in_flight: u64,
    /// Milliseconds spent on reads and writes, summed over all requests.
    request_ms: u64,
    /// Milliseconds in which at least one request was in flight.
    busy_ms: u64,
    /// Milliseconds weighted by the number of requests in flight.
    weighted_ms: u64,
}

/// Activity of the whole machine over one interval. CPU figures are in cores, summed over all cores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Mean number of busy cores; 1.5 means one and a half.
    pub busy_cores: f64,
    /// Mean number of cores that were idle while I/O was pending (iowait).
    pub waiting_cores: f64,
    /// Mean number of cores that the hypervisor gave to other guests (CPU steal).
    pub stolen_cores: f64,
    /// Tasks running or ready to run at the end of the interval (`procs_running`).
    pub runnable: u64,
    /// Context switches per second of the whole machine.
    pub context_switches_per_s: f64,
    /// Memory available without swapping at the end of the interval, bytes; `None` if the kernel does not
    /// report it.
    pub available_memory_bytes: Option<u64>,
    /// Mean frequency of the cores at the end of the interval, MHz; `None` if `/proc/cpuinfo` does not report
    /// it.
    pub megahertz: Option<f64>,
    /// Temperature of the hottest thermal zone at the end of the interval, °C; `None` if there is no zone.
    pub celsius: Option<f64>,
    /// Activity of the disk under the run folder; `None` if the kernel keeps no counters for it.
    pub disk: Option<Disk>,
}

/// Activity of one disk over one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// Share of the interval in which at least one request was in flight, 0 to 1.
    pub busy_share: f64,
    /// Mean number of requests in flight.
    pub queue: f64,
    /// Mean time of a read or write, milliseconds; `None` if no request completed.
    pub latency_ms: Option<f64>,
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub written_bytes_per_s: f64,
}

impl Counters {
    /// Reads the counters now; `device` comes from [`device_of`]. Counters that cannot be read are zero.
    #[must_use]
    pub fn now(device: Option<(u32, u32)>) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let disks = fs::read_to_string("/proc/diskstats").unwrap_or_default();
        Self::parse(&stat, &disks, device)
    }

    /// Counters of the processors from the text of `/proc/stat`, without those of a disk.
    pub(crate) fn of_processors(stat: &str) -> Self {
        Self::parse(stat, "", None)
    }

    fn parse(stat: &str, disks: &str, device: Option<(u32, u32)>) -> Self {
        // "cpu user nice system idle iowait irq softirq steal …" (proc_stat(5)).
        let cpu: Vec<u64> = stat
            .lines()
            .find_map(|line| line.strip_prefix("cpu "))
            .map(|rest| rest.split_whitespace().map_while(|field| field.parse().ok()).collect())
            .unwrap_or_default();
        let ticks = |index: usize| cpu.get(index).copied().unwrap_or(0);
        Self {
            busy: ticks(0) + ticks(1) + ticks(2) + ticks(5) + ticks(6),
            waiting: ticks(4),
            stolen: ticks(7),
            context_switches: field(stat, "ctxt").unwrap_or(0),
            disk: device.and_then(|device| disk_counters(disks, device)),
        }
    }

    /// Activity between `earlier` and `self`, which were read `seconds` apart. States are left empty: see
    /// [`Activity::with_states`].
    #[must_use]
    pub fn since(&self, earlier: &Self, seconds: f64) -> Activity {
        let per_second = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let disk = self.disk.zip(earlier.disk).map(|(now, before)| {
            let requests = now.requests.saturating_sub(before.requests) as f64;
            let request_ms = now.request_ms.saturating_sub(before.request_ms) as f64;
            Disk {
                busy_share: (per_second(now.busy_ms, before.busy_ms) / 1e3).min(1.0),
                queue: per_second(now.weighted_ms, before.weighted_ms) / 1e3,
                latency_ms: (requests > 0.0).then(|| request_ms / requests),
                read_bytes_per_s: per_second(now.read_sectors, before.read_sectors) * SECTOR as f64,
                written_bytes_per_s: per_second(now.written_sectors, before.written_sectors) * SECTOR as f64,
            }
        });
        Activity {
            busy_cores: per_second(self.busy, earlier.busy) / ticks,
            waiting_cores: per_second(self.waiting, earlier.waiting) / ticks,
            stolen_cores: per_second(self.stolen, earlier.stolen) / ticks,
            context_switches_per_s: per_second(self.context_switches, earlier.context_switches),
            disk,
            ..Activity::default()
        }
    }
}

impl Activity {
    /// Adds current values that are not counters: runnable tasks, available memory, frequency and
    /// temperature.
    #[must_use]
    pub fn with_states(self) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self {
            runnable: field(&stat, "procs_running").unwrap_or(0),
            available_memory_bytes: crate::machine::available_memory_bytes(),
            megahertz: megahertz(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
            celsius: celsius(),
            ..self
        }
    }
}

/// Device numbers (major, minor) of the file system that holds `folder`; `None` if the folder cannot be
/// examined.
#[must_use]
pub fn device_of(folder: &Path) -> Option<(u32, u32)> {
    let device = rustix::fs::stat(folder).ok()?.st_dev;
    Some((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// Counts the bytes written to a disk since a starting point, by any process.
///
/// Counts what the device was told to write. The kernel's per-process counter (`write_bytes` of
/// `/proc/PID/io`) counts dirtied pages instead. Where files are cached in large pages, each write counts a
/// whole such page there.
#[derive(Debug, Clone, Copy)]
pub struct DiskWrites {
    device: (u32, u32),
    sectors_before: u64,
}

impl DiskWrites {
    /// Starts counting now, for the disk of `folder`. `None` if the kernel keeps no counters for that disk,
    /// as for file systems in memory or overlays.
    #[must_use]
    pub fn begin(folder: &Path) -> Option<Self> {
        let device = device_of(folder)?;
        Some(Self { device, sectors_before: written_sectors(device)? })
    }

    /// Bytes written since [`DiskWrites::begin`]; `None` if the disk is gone.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        Some(written_sectors(self.device)?.saturating_sub(self.sectors_before) * SECTOR)
    }
}

fn written_sectors(device: (u32, u32)) -> Option<u64> {
    let disks = fs::read_to_string("/proc/diskstats").ok()?;
    Some(disk_counters(&disks, device)?.written_sectors)
}

/// Request counters of one disk at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requests {
    /// Requests in flight now.
    pub in_flight: u64,
    /// Reads and writes completed since boot.
    pub completed: u64,
}

impl Requests {
    /// Reads the counters of a disk now; `device` comes from [`device_of`]. `None` if the kernel keeps no
    /// counters for it.
    #[must_use]
    pub fn now(device: (u32, u32)) -> Option<Self> {
        let disks = fs::read_to_string("/proc/diskstats").ok()?;
        let counters = disk_counters(&disks, device)?;
        Some(Self { in_flight: counters.in_flight, completed: counters.requests })
    }
}

/// Parses `/proc/diskstats` (the kernel's iostats documentation): device numbers, name, then reads, merged,
/// sectors, ms; writes, merged, sectors, ms; in flight, busy ms, weighted ms.
fn disk_counters(text: &str, (major, minor): (u32, u32)) -> Option<DiskCounters> {
    let line = text.lines().find(|line| {
        let mut fields = line.split_whitespace().map(str::parse::<u32>);
        (fields.next(), fields.next()) == (Some(Ok(major)), Some(Ok(minor)))
    })?;
    let numbers: Vec<u64> = line.split_whitespace().skip(3).map_while(|field| field.parse().ok()).collect();
    let number = |index: usize| numbers.get(index).copied();
    Some(DiskCounters {
        requests: number(0)? + number(4)?,
        read_sectors: number(2)?,
        written_sectors: number(6)?,
        in_flight: number(8)?,
        request_ms: number(3)? + number(7)?,
        busy_ms: number(9)?,
        weighted_ms: number(10)?,
    })
}

fn megahertz(cpuinfo: &str) -> Option<f64> {
    let frequencies: Vec<f64> = cpuinfo
        .lines()
        .filter(|line| line.starts_with("cpu MHz"))
        .filter_map(|line| line.split_once(':')?.1.trim().parse().ok())
        .collect();
    (!frequencies.is_empty()).then(|| frequencies.iter().sum::<f64>() / frequencies.len() as f64)
}

fn celsius() -> Option<f64> {
    let zones = fs::read_dir("/sys/class/thermal").ok()?;
    zones
        .filter_map(|zone| {
            fs::read_to_string(zone.ok()?.path().join("temp")).ok()?.trim().parse::<f64>().ok()
        })
        .map(|thousandths| thousandths / 1e3)
        .reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const DISKS: &str = "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n \
                         254       0 vda 100 5 2000 300 50 7 4000 200 0 400 500 0 0\n";

    #[test]
    fn rates_by_hand() {
        let ticks = rustix::param::clock_ticks_per_second();
        let before = Counters::parse("cpu 0 0 0 0 0 0 0 0 0 0\nctxt 10\n", DISKS, Some((254, 0)));
        let later = "254 0 vda 110 5 2200 340 60 7 4400 260 0 900 1500 0 0\n";
        let stat = format!(
            "cpu {} {} 0 7 {} 0 0 {} 0 0\nctxt 110\nprocs_running 3\n",
            ticks,
            ticks / 2,
            ticks / 4,
            ticks / 10
        );
        let after = Counters::parse(&stat, later, Some((254, 0)));
        let got = after.since(&before, 1.0);
        assert!((got.busy_cores - 1.5).abs() < 1e-9 && (got.waiting_cores - 0.25).abs() < 1e-9);
        assert!((got.stolen_cores - 0.1).abs() < 1e-9 && (got.context_switches_per_s - 100.0).abs() < 1e-9);
        let disk = got.disk.unwrap();
        // 20 requests took 100 ms together; busy for 500 of 1,000 ms; one request in flight on average.
        assert_eq!(disk.latency_ms, Some(5.0));
        assert!((disk.busy_share - 0.5).abs() < 1e-9 && (disk.queue - 1.0).abs() < 1e-9);
        assert!((disk.read_bytes_per_s - 102_400.0).abs() < 1e-6);
        assert!((disk.written_bytes_per_s - 204_800.0).abs() < 1e-6);
        // Over two seconds, all rates are half as high.
        assert!((after.since(&before, 2.0).busy_cores - 0.75).abs() < 1e-9);
    }

    #[test]
    fn what_is_written_and_synced_is_counted_where_the_disk_is() {
        // The folder of the build is on a real disk if any is; a file system without a disk has no counters
        // to test.
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let Some(writes) = DiskWrites::begin(folder.path()) else {
            return eprintln!("not tested, since the kernel counts no disk of {}", folder.path().display());
        };
        let mut file = fs::File::create(folder.path().join("file")).unwrap();
        file.write_all(&[1; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        let bytes = writes.bytes().unwrap();
        assert!(bytes >= 1 << 20, "{bytes}");
    }

    #[test]
    fn a_disk_that_is_not_counted_is_not_shown_as_idle() {
        let counters = Counters::parse("", DISKS, Some((9, 9)));
        assert_eq!(counters.since(&counters, 1.0).disk, None);
        assert_eq!(Counters::parse("", DISKS, None).disk, None);
    }

    #[test]
    fn this_machine_is_understood() {
        let device = device_of(Path::new("/"));
        let counters = Counters::now(device);
        let state = counters.since(&Counters::default(), 1.0).with_states();
        assert!(state.busy_cores > 0.0 && state.runnable >= 1 && state.available_memory_bytes.is_some());
        assert_eq!(megahertz("cpu MHz : 2000.0\ncpu MHz : 3000.0\n"), Some(2500.0));
        assert_eq!(megahertz(""), None);
    }
}
