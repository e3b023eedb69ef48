//! Finds the processes that still use a file system that is to be unmounted.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

/// Lists the processes that use a file on this device, each as `name (process id): how`.
pub(crate) fn holders(device: u64) -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut users = Vec::new();
    for process in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some(pid) = process.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()) else {
            continue;
        };
        if let Some(usage) = usage(&process, device) {
            let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
            users.push(format!("{} ({pid}): {usage}", name.trim()));
        }
    }
    users
}

/// Describes how a process uses the device. `None` if it does not, or if it ended meanwhile.
fn usage(process: &Path, device: u64) -> Option<String> {
    let is_on_device = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.dev() == device);
    let target = |path: &PathBuf| fs::read_link(path).unwrap_or_default().display().to_string();
    for (link, verb) in [("cwd", "works in"), ("root", "has as its root"), ("exe", "runs")] {
        let path = process.join(link);
        if is_on_device(&path) {
            return Some(format!("{verb} {}", target(&path)));
        }
    }
    let open = fs::read_dir(process.join("fd")).into_iter().flatten();
    if let Some(path) = open.filter_map(|entry| Some(entry.ok()?.path())).find(is_on_device) {
        return Some(format!("has {} open", target(&path)));
    }
    // Columns of `/proc/PID/maps`: address, permissions, offset, major:minor, inode, path.
    let device_number = format!("{:02x}:{:02x}", major(device), minor(device));
    let maps = fs::read_to_string(process.join("maps")).unwrap_or_default();
    let line = maps.lines().find(|line| line.split_whitespace().nth(3) == Some(&device_number))?;
    Some(format!("has {} in its memory", line.split_whitespace().skip(5).collect::<Vec<_>>().join(" ")))
}
