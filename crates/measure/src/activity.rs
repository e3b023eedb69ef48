//! What the whole machine did between two looks: processors, run queue, disk, frequency, heat.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::process::field;

/// Bytes of a sector in `/proc/diskstats`, whatever the disk's own is (block/stat documentation of the
/// kernel).
const SECTOR: u64 = 512;

/// The kernel's counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Clock ticks over all cores: user, nice, system, irq, softirq.
    busy: u64,
    /// Ticks waiting for a disk.
    waiting: u64,
    /// Ticks that the hypervisor gave to others.
    stolen: u64,
    context_switches: u64,
    disk: Option<DiskCounters>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct DiskCounters {
    requests: u64,
    read_sectors: u64,
    written_sectors: u64,
    under_way: u64,
    /// Milliseconds that all requests together took.
    request_ms: u64,
    /// Milliseconds in which at least one request was under way.
    busy_ms: u64,
    /// Milliseconds weighted by the number of requests under way.
    weighted_ms: u64,
}

/// The machine over one interval. Shares are of all cores together, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Cores busy on average; 1.5 is one and a half.
    pub busy_cores: f64,
    /// Cores idle because a disk was waited for.
    pub waiting_cores: f64,
    /// Cores that the hypervisor gave to others meanwhile.
    pub stolen_cores: f64,
    /// Tasks that were running or could have run at the end of the interval.
    pub runnable: u64,
    /// Context switches a second.
    pub context_switches_per_s: f64,
    /// Memory that can be had without swapping at the end.
    pub available_memory_bytes: Option<u64>,
    /// Mean frequency of the cores at the end, MHz, where the kernel tells it.
    pub megahertz: Option<f64>,
    /// Hottest thermal zone at the end, degrees Celsius, where there is one.
    pub celsius: Option<f64>,
    /// The disk under the run folder, where the kernel counts it.
    pub disk: Option<Disk>,
}

/// One disk over one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// Share of the time in which at least one request was under way.
    pub busy_share: f64,
    /// Requests under way on average.
    pub queue: f64,
    /// Mean time of a request, milliseconds; none without a request.
    pub latency_ms: Option<f64>,
    /// Bytes read a second.
    pub read_bytes_per_s: f64,
    /// Bytes written a second.
    pub written_bytes_per_s: f64,
}

impl Counters {
    /// The counters now; `device` is what [`device_of`] gives. What cannot be read counts as zero.
    #[must_use]
    pub fn now(device: Option<(u32, u32)>) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let disks = fs::read_to_string("/proc/diskstats").unwrap_or_default();
        Self::parse(&stat, &disks, device)
    }

    fn parse(stat: &str, disks: &str, device: Option<(u32, u32)>) -> Self {
        // "cpu user nice system idle iowait irq softirq steal …" (proc_stat(5)).
        let cpu: Vec<u64> = stat
            .lines()
            .find_map(|line| line.strip_prefix("cpu "))
            .map(|rest| rest.split_whitespace().map_while(|field| field.parse().ok()).collect())
            .unwrap_or_default();
        let at = |index: usize| cpu.get(index).copied().unwrap_or(0);
        Self {
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            waiting: at(4),
            stolen: at(7),
            context_switches: field(stat, "ctxt").unwrap_or(0),
            disk: device.and_then(|device| disk_counters(disks, device)),
        }
    }

    /// What happened from `earlier` to now, `seconds` apart.
    #[must_use]
    pub fn since(&self, earlier: &Self, seconds: f64) -> Activity {
        let per_second = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let disk = self.disk.zip(earlier.disk).map(|(now, then)| {
            let requests = now.requests.saturating_sub(then.requests) as f64;
            let request_ms = now.request_ms.saturating_sub(then.request_ms) as f64;
            Disk {
                busy_share: (per_second(now.busy_ms, then.busy_ms) / 1e3).min(1.0),
                queue: per_second(now.weighted_ms, then.weighted_ms) / 1e3,
                latency_ms: (requests > 0.0).then(|| request_ms / requests),
                read_bytes_per_s: per_second(now.read_sectors, then.read_sectors) * SECTOR as f64,
                written_bytes_per_s: per_second(now.written_sectors, then.written_sectors) * SECTOR as f64,
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
    /// Adds what is a state and no counter.
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

/// The device numbers of the file system that holds `folder`.
#[must_use]
pub fn device_of(folder: &Path) -> Option<(u32, u32)> {
    let device = rustix::fs::stat(folder).ok()?.st_dev;
    Some((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// What a disk is given from some moment on, whoever writes it.
///
/// This is what devices are told to write. What the kernel accounts to a process (`write_bytes` of `/proc/PID/io`) is pages
/// made dirty instead, and where files are kept in large pages, all of such a page for each write into it.
#[derive(Debug, Clone, Copy)]
pub struct DiskWrites {
    device: (u32, u32),
    sectors_before: u64,
}

impl DiskWrites {
    /// Begins now, with the disk of `folder`. `None` where the kernel counts no such disk, as for file systems in memory or
    /// layered over others.
    #[must_use]
    pub fn begin(folder: &Path) -> Option<Self> {
        let device = device_of(folder)?;
        Some(Self { device, sectors_before: written_sectors(device)? })
    }

    /// Bytes since then; none where the disk is gone.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        Some(written_sectors(self.device)?.saturating_sub(self.sectors_before) * SECTOR)
    }
}

fn written_sectors(device: (u32, u32)) -> Option<u64> {
    let disks = fs::read_to_string("/proc/diskstats").ok()?;
    Some(disk_counters(&disks, device)?.written_sectors)
}

/// Requests to a disk at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requests {
    /// Under way now.
    pub under_way: u64,
    /// Ended since the machine was started.
    pub ended: u64,
}

impl Requests {
    /// Those of a disk now; `device` is what [`device_of`] gives. `None` where the kernel does not count it.
    #[must_use]
    pub fn now(device: (u32, u32)) -> Option<Self> {
        let disks = fs::read_to_string("/proc/diskstats").ok()?;
        let counters = disk_counters(&disks, device)?;
        Some(Self { under_way: counters.under_way, ended: counters.requests })
    }
}

/// Fields of `/proc/diskstats` (the kernel's iostats documentation): device numbers, name, then reads,
/// merged, sectors, ms; writes, merged, sectors, ms; under way, busy ms, weighted ms.
fn disk_counters(text: &str, (major, minor): (u32, u32)) -> Option<DiskCounters> {
    let line = text.lines().find(|line| {
        let mut fields = line.split_whitespace().map(str::parse::<u32>);
        (fields.next(), fields.next()) == (Some(Ok(major)), Some(Ok(minor)))
    })?;
    let numbers: Vec<u64> = line.split_whitespace().skip(3).map_while(|field| field.parse().ok()).collect();
    let at = |index: usize| numbers.get(index).copied();
    Some(DiskCounters {
        requests: at(0)? + at(4)?,
        read_sectors: at(2)?,
        written_sectors: at(6)?,
        under_way: at(8)?,
        request_ms: at(3)? + at(7)?,
        busy_ms: at(9)?,
        weighted_ms: at(10)?,
    })
}

fn megahertz(cpuinfo: &str) -> Option<f64> {
    let all: Vec<f64> = cpuinfo
        .lines()
        .filter(|line| line.starts_with("cpu MHz"))
        .filter_map(|line| line.split_once(':')?.1.trim().parse().ok())
        .collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
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
        let then = Counters::parse("cpu 0 0 0 0 0 0 0 0 0 0\nctxt 10\n", DISKS, Some((254, 0)));
        let later = "254 0 vda 110 5 2200 340 60 7 4400 260 0 900 1500 0 0\n";
        let stat = format!(
            "cpu {} {} 0 7 {} 0 0 {} 0 0\nctxt 110\nprocs_running 3\n",
            ticks,
            ticks / 2,
            ticks / 4,
            ticks / 10
        );
        let now = Counters::parse(&stat, later, Some((254, 0)));
        let got = now.since(&then, 1.0);
        assert!((got.busy_cores - 1.5).abs() < 1e-9 && (got.waiting_cores - 0.25).abs() < 1e-9);
        assert!((got.stolen_cores - 0.1).abs() < 1e-9 && (got.context_switches_per_s - 100.0).abs() < 1e-9);
        let disk = got.disk.unwrap();
        // 20 requests took 100 ms together; busy for 500 of 1,000 ms; one request under way on average.
        assert_eq!(disk.latency_ms, Some(5.0));
        assert!((disk.busy_share - 0.5).abs() < 1e-9 && (disk.queue - 1.0).abs() < 1e-9);
        assert!((disk.read_bytes_per_s - 102_400.0).abs() < 1e-6);
        assert!((disk.written_bytes_per_s - 204_800.0).abs() < 1e-6);
        // Over two seconds all of it is half as much.
        assert!((now.since(&then, 2.0).busy_cores - 0.75).abs() < 1e-9);
    }

    #[test]
    fn what_is_written_and_synced_is_counted_where_the_disk_is() {
        // The folder of the build is on a disk where any is; a file system that is on none has no figure to be tried.
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
