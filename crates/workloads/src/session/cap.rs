//! A session whose engine's memory is capped.

use jsonathlon_measure::memory_cap::MemoryCap;
use jsonathlon_results::record::FailureKind;

use super::{Ended, Session};

impl Session<'_> {
    /// Makes what caps the engine's memory, if it is to be capped.
    pub(super) fn cap(&mut self) -> Result<(), Ended> {
        if let Some(bytes) = self.most_memory.filter(|_| self.cap.is_none() && !self.is_guest()) {
            let cap = MemoryCap::new(bytes).map_err(not_capped)?;
            self.cap = Some(cap);
        }
        Ok(())
    }

    /// An engine that lives in its worker is capped with it; a server has seen to it by itself.
    pub(super) fn cap_worker(&self) -> Result<(), Ended> {
        match (&self.cap, self.engine(), self.pid()) {
            (Some(cap), Some(engine), Some(worker)) if engine == worker => {
                cap.take(worker).map_err(not_capped)
            }
            _ => Ok(()),
        }
    }
}

fn not_capped(error: std::io::Error) -> Ended {
    Ended::failed(FailureKind::Environment, format!("failed to cap the engine's memory: {error}"))
}
