//! Tests of the errors if no disk can be created, and that nothing is left behind then.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use jsonathlon_powerfail::{Disk, OutageError};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use support::{SIZE, is_excluded, run_isolated};

/// Request numbers of `ioctl`: the power cut, and the two that attach a file to a loop device.
const SHUTDOWN: u64 = 0x8004_587d;
const LOOP_CONFIGURE: u64 = 0x4c0a;
const LOOP_SET_FD: u64 = 0x4c00;

/// Makes these system calls of the thread and its children return `error` without any effect. An `error` of 0
/// means that they seem to succeed.
fn refuse(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) {
    let here = std::env::consts::ARCH.try_into().unwrap();
    let error = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, error, here).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

/// Rules that match `ioctl` with these request numbers only.
fn ioctl(numbers: &[u64]) -> BTreeMap<i64, Vec<SeccompRule>> {
    let rule = |number: &u64| {
        let is = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *number).unwrap();
        SeccompRule::new(vec![is]).unwrap()
    };
    BTreeMap::from([(libc::SYS_ioctl, numbers.iter().map(rule).collect())])
}

/// Asserts that a disk cannot be created, that the error contains all `words`, and that nothing is left.
fn is_refused(folder: &Path, words: &[&str]) {
    let error = Disk::create(&folder.join("disk"), SIZE).unwrap_err().to_string();
    for word in words {
        assert!(error.contains(word), "{word:?} is not in: {error}");
    }
    assert!(!folder.join("disk").exists(), "the folder is left");
    // Mounts of this process; the rest of the machine is checked when it has ended.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(folder.to_str().unwrap()), "{mounts}");
}

#[test]
fn a_cut_that_is_refused_is_known_before_anything_is_done() {
    run_isolated("a_cut_that_is_refused_is_known_before_anything_is_done", |folder| {
        refuse(ioctl(&[SHUTDOWN]), libc::EPERM);
        is_refused(folder, &["failed to cut the power of", "Operation not permitted"]);
    });
}

#[test]
fn a_cut_that_loses_nothing_is_no_cut() {
    run_isolated("a_cut_that_loses_nothing_is_no_cut", |folder| {
        refuse(ioctl(&[SHUTDOWN]), 0);
        is_refused(folder, &["failed to lose", "it was not synced, and is there after a power cut"]);
    });
}

#[test]
fn a_mount_that_is_refused_says_what_to_do() {
    run_isolated("a_mount_that_is_refused_says_what_to_do", |folder| {
        let calls = [libc::SYS_mount, libc::SYS_fsopen, libc::SYS_fsmount, libc::SYS_move_mount];
        refuse(calls.map(|call| (call, Vec::new())).into(), libc::EPERM);
        // The check whether mounts can be made private fails first; it needs the same capability.
        is_refused(folder, &["no disk whose power can be cut", "root may not mount here", "CAP_SYS_ADMIN"]);
    });
}

#[test]
fn loop_devices_that_are_refused_are_named() {
    run_isolated("loop_devices_that_are_refused_are_named", |folder| {
        refuse(ioctl(&[LOOP_CONFIGURE, LOOP_SET_FD]), libc::EPERM);
        is_refused(folder, &["failed to mount a disk: mount: ", "loop device", "root must be allowed"]);
    });
}

#[test]
fn a_disk_is_made_in_a_namespace_only() {
    let test = "a_disk_is_made_in_a_namespace_only";
    if is_excluded(test) {
        return;
    }
    let folder = support::folder();
    is_refused(folder.path(), &["the program is not in a mount namespace of its own"]);
}

#[test]
fn what_is_lacking_is_said_with_what_to_do() {
    let test = "what_is_lacking_is_said_with_what_to_do";
    if is_excluded(test) {
        return;
    }
    let folder = support::folder();
    let place = folder.path().join("not/there/yet");
    Disk::check(&place, SIZE).unwrap();
    for (bytes, words) in [(1 << 20, "bytes or more"), (1 << 60, "make room, or choose another folder")] {
        let error = Disk::check(&place, bytes).unwrap_err();
        assert!(matches!(error, OutageError::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    // Only this thread changes its user, to one that cannot mount.
    let error = std::thread::spawn(move || {
        rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(65534)).unwrap();
        Disk::check(&place, SIZE).unwrap_err().to_string()
    });
    let error = error.join().unwrap();
    assert!(error.contains("only root may mount") && error.contains("start as root"), "{error}");
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    run_isolated("a_folder_with_something_in_it_is_left_alone", |folder| {
        let disk = folder.join("disk");
        fs::create_dir(&disk).unwrap();
        fs::write(disk.join("mine"), "").unwrap();
        let error = Disk::create(&disk, SIZE).unwrap_err().to_string();
        assert!(error.contains("the folder is not empty"), "{error}");
        fs::remove_file(disk.join("mine")).unwrap();
        Disk::create(&disk, SIZE).unwrap().close().unwrap();
        // The folder existed before, so it is not removed with the disk.
        fs::remove_dir(&disk).unwrap();
    });
}
