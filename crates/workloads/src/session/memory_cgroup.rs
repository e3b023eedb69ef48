//! Memory limit of a session's engine, enforced by a cgroup.

use jsonathlon_schema::record::FailureKind;
use jsonathlon_telemetry::memory_cap::MemoryCap;

use super::{Session, TrialError};

impl Session<'_> {
    /// Creates the cgroup for the memory limit, if there is a limit and no cgroup yet. Remote servers are
    /// never limited.
    pub(super) fn create_memory_cgroup(&mut self) -> Result<(), TrialError> {
        if let Some(bytes) =
            self.memory_limit_bytes.filter(|_| self.memory_cgroup.is_none() && !self.is_remote())
        {
            self.memory_cgroup = Some(MemoryCap::new(bytes).map_err(cgroup_error)?);
        }
        Ok(())
    }

    /// Moves an embedded engine's worker into the cgroup; a server's processes are moved there when it
    /// starts.
    pub(super) fn move_worker_into_cgroup(&self) -> Result<(), TrialError> {
        match (&self.memory_cgroup, self.engine_pid(), self.worker_pid()) {
            (Some(memory_cgroup), Some(engine), Some(worker)) if engine == worker => {
                memory_cgroup.add_process(worker).map_err(cgroup_error)
            }
            _ => Ok(()),
        }
    }
}

fn cgroup_error(error: std::io::Error) -> TrialError {
    TrialError::failed(FailureKind::Environment, format!("failed to limit the engine's memory: {error}"))
}
