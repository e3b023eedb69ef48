//! Handles Ctrl-C: the first signal ends the run in order, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::{Failure, INTERRUPTED};

/// Flag that SIGINT, SIGTERM or SIGHUP sets; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs handlers for SIGINT, SIGTERM and SIGHUP; fails if a handler cannot be registered.
    pub(crate) fn install() -> Result<Self, Failure> {
        let requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // Order matters: the conditional shutdown must read the flag before this signal sets it. Exiting
            // at once is safe, because workers end with their parent. Only databases on remote servers stay,
            // and the resumed run drops them.
            flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&requested))
                .and_then(|_| flag::register(signal, Arc::clone(&requested)))
                .map_err(|error| Failure::environment(format!("failed to listen for signals: {error}")))?;
        }
        Ok(Self(requested))
    }

    /// Returns `true` once one of the signals has arrived.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
