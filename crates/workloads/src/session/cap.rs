//! Memory limit of a session's engine, enforced by a cgroup.

use jsonathlon_schema::record::FailureKind;
use jsonathlon_telemetry::memory_cap::MemoryCap;

use super::{Session, TrialError};

impl Session<'_> {
    /// Creates the cgroup for the memory limit, if there is a limit and no cgroup yet. Remote servers are
    /// never limited.
    pub(super) fn create_memory_cap(&mut self) -> Result<(), TrialError> {
        if let Some(bytes) = self.memory_limit_bytes.filter(|_| self.cap.is_none() && !self.is_remote()) {
            let cap = MemoryCap::new(bytes).map_err(not_capped)?;
            self.cap = Some(cap);
        }
        Ok(())
    }

    /// Moves an embedded engine's worker into the cgroup; a server's processes are moved there when it
    /// starts.
    pub(super) fn cap_worker(&self) -> Result<(), TrialError> {
        match (&self.cap, self.engine_pid(), self.worker_pid()) {
            (Some(cap), Some(engine), Some(worker)) if engine == worker => {
                cap.add_process(worker).map_err(not_capped)
            }
            _ => Ok(()),
        }
    }
}

fn not_capped(error: std::io::Error) -> TrialError {
    TrialError::failed(FailureKind::Environment, format!("failed to cap the engine's memory: {error}"))
}
