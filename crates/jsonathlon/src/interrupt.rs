//! Ctrl-C: the first one ends the run in order, the second one ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::{Failure, INTERRUPTED};

/// Whether the user wants to stop.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes over the signals that ask a program to end.
    pub(crate) fn install() -> Result<Self, Failure> {
        let wanted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // Order matters: the shutdown looks at the flag before this signal sets it. Workers end with
            // their parent, so leaving at once leaves nothing behind but databases on servers by address, which
            // the resumed run removes.
            flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&wanted))
                .and_then(|_| flag::register(signal, Arc::clone(&wanted)))
                .map_err(|error| Failure::environment(format!("failed to listen for signals: {error}")))?;
        }
        Ok(Self(wanted))
    }

    /// Whether a signal came.
    pub(crate) fn wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
