//! Runs a command whose syncs lie: `liar COMMAND [ARGUMENT]…`. Every way to sync answers that all is done, and does
//! nothing, for the command and for all that it starts. What is said to find programs that do not sync must find this.
//!
//! A filter of system calls (seccomp) answers in place of the kernel. It cannot see what is in memory, so syncs that
//! are asked for there are not caught: by `O_SYNC` or `O_DSYNC` when a file is opened, by `RWF_DSYNC` at a write, and by
//! `IOCB_CMD_FSYNC` of `io_submit`. There is no `io_uring` under it, which is what programs know from older kernels.

use std::collections::BTreeMap;
use std::error::Error;
use std::os::unix::process::CommandExt;
use std::process::Command;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

const SYNCS: [i64; 6] = [
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_msync,
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().ok_or("which command shall lie? liar COMMAND [ARGUMENT]…")?;
    answer(&SYNCS, 0)?;
    answer(&[libc::SYS_io_uring_setup], libc::ENOSYS.unsigned_abs())?;
    let error = Command::new(&program).args(arguments).exec();
    Err(format!("failed to run {}: {error}", program.display()).into())
}

/// From now on these calls end with this error, or well where it is 0, and do nothing.
fn answer(calls: &[i64], error: u32) -> Result<(), Box<dyn Error>> {
    let rules: BTreeMap<i64, _> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let here = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(error), here)?;
    Ok(apply_filter(&BpfProgram::try_from(filter)?)?)
}
