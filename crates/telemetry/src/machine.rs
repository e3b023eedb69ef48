//! Description of the machine of a run, as far as a reader needs it to judge the results.

use std::path::Path;

use jsonathlon_schema::machine::Machine;

use crate::cgroup::Groups;
use crate::process::field;

/// Describes this machine. `folder` selects the file system to report.
#[must_use]
pub fn detect(folder: &Path) -> Machine {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let uname = rustix::system::uname();
    Machine {
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        processor: value_after(&cpuinfo, "model name", ':').unwrap_or_default(),
        memory_bytes: memory_bytes().unwrap_or(0),
        physical_memory_bytes: physical_memory_bytes()
            .filter(|physical| memory_bytes().is_some_and(|usable| usable < *physical)),
        kernel_release: uname.release().to_string_lossy().into_owned(),
        os: value_after(&std::fs::read_to_string("/etc/os-release").unwrap_or_default(), "PRETTY_NAME", '=')
            .unwrap_or_default(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        file_system: file_system(folder),
    }
}

/// Memory available without swapping, bytes (`MemAvailable`), or what cgroup limits leave if that is less.
/// `None` if neither is known.
#[must_use]
pub fn available_memory_bytes() -> Option<u64> {
    minimum(memory_line("MemAvailable:"), Groups::current().available_bytes())
}

/// Load average of the last minute; `None` if `/proc/loadavg` cannot be read.
#[must_use]
pub fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// CPU steal since boot, in seconds, summed over all cores; `None` if `/proc/stat` does not report it.
#[must_use]
pub fn steal_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    // "cpu user nice system idle iowait irq softirq steal …" (proc_stat(5)).
    let ticks: f64 = stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    Some(ticks / rustix::param::clock_ticks_per_second() as f64)
}

/// Memory that this process and its children may use, bytes: the machine's, or the cgroup limit if that is
/// lower, as in a container. `None` if neither is known.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    minimum(physical_memory_bytes(), Groups::current().limit_bytes())
}

/// Physical memory of the machine, bytes (`MemTotal`).
fn physical_memory_bytes() -> Option<u64> {
    memory_line("MemTotal:")
}

/// Processes that the OOM killer has killed on this machine since boot, in any cgroup; `None` if the kernel
/// does not report it.
#[must_use]
pub fn killed_for_memory() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/vmstat").ok()?, "oom_kill ")
}

fn minimum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

fn memory_line(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Text after `separator` on the first line that begins with `name`, without quotes.
fn value_after(text: &str, name: &str, separator: char) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(separator)?.1.trim().trim_matches('"').to_owned())
}

fn file_system(folder: &Path) -> Option<String> {
    let folder = std::fs::canonicalize(folder).ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((fields.next()?, fields.next()?))
        })
        .filter(|(mount_point, _)| folder.starts_with(mount_point))
        .max_by_key(|(mount_point, _)| mount_point.len())
        .map(|(_, kind)| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cores_memory_and_a_kernel() {
        let machine = detect(Path::new("."));
        assert!(machine.cores >= 1 && machine.memory_bytes > 1 << 20);
        assert!(!machine.kernel_release.is_empty() && machine.file_system.is_some());
        assert!(available_memory_bytes().unwrap() <= machine.memory_bytes);
        assert!(load_average().unwrap() >= 0.0 && steal_seconds().unwrap() >= 0.0);
    }

    #[test]
    fn values_are_taken_without_their_quotes() {
        assert_eq!(
            value_after("A=1\nPRETTY_NAME=\"Some OS 1\"\n", "PRETTY_NAME", '='),
            Some("Some OS 1".into())
        );
        assert_eq!(value_after("model name\t: X 9\n", "model name", ':'), Some("X 9".into()));
        assert_eq!(value_after("", "x", ':'), None);
    }
}
