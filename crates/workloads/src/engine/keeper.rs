//! A server that is started again when it ends while clients are at work, as a service manager would.

use std::time::{Duration, Instant};

use jsonathlon_servers::{Launch, Server, ServerError};

/// How often a server is started again before it is left alone.
const STARTS: usize = 5;
/// Attempts of one start, and the pause between two: an attempt of a client to connect can hold the port for a moment.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(100);

/// Looks after a server.
pub(super) struct Keeper<'a> {
    server: &'a mut Server,
    launch: &'a Launch,
    begun: Instant,
    ends: Vec<String>,
    is_down: bool,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(server: &'a mut Server, launch: &'a Launch) -> Self {
        Self { server, launch, begun: Instant::now(), ends: Vec::new(), is_down: false }
    }

    /// Starts the server again if it has ended. It costs next to nothing while it has not.
    pub(super) fn look(&mut self, cancelled: &dyn Fn() -> bool) {
        if self.is_down {
            return;
        }
        let Some(status) = self.server.ended() else { return };
        let seconds = self.begun.elapsed().as_secs_f64();
        let came = if self.ends.len() >= STARTS {
            self.is_down = true;
            "once more, and was left alone".to_owned()
        } else {
            match self.start(cancelled) {
                Ok(()) => "and was started again".to_owned(),
                Err(error) => {
                    self.is_down = true;
                    format!("and could not be started again: {error}")
                }
            }
        };
        self.ends.push(format!(
            "the server ended ({status}) {seconds:.1} s after its clients had been told to begin, {came}"
        ));
    }

    fn start(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), ServerError> {
        let mut attempt = 1;
        loop {
            match self.server.start_again(self.launch, cancelled) {
                Err(ServerError::Unavailable(_)) if attempt < ATTEMPTS => {}
                other => return other,
            }
            attempt += 1;
            std::thread::sleep(PAUSE);
        }
    }

    /// How it has ended, each time.
    pub(super) fn ends(self) -> Vec<String> {
        self.ends
    }
}
