//! Restarts a server that exits while clients are running, as a service manager would.

use std::time::{Duration, Instant};

use jsonathlon_servers::{LaunchSpec, Server, ServerError};

/// Number of restarts after which a server that exits again stays down.
const MAX_RESTARTS: usize = 5;
/// Attempts per restart, and the delay between two: a client's attempt to connect can occupy the port for a
/// moment.
const MAX_ATTEMPTS: u32 = 3;
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Supervises a server and restarts it on exit.
pub(super) struct ServerRestarter<'a> {
    server: &'a mut Server,
    launch: &'a LaunchSpec,
    start_time: Instant,
    exits: Vec<String>,
    is_down: bool,
}

impl<'a> ServerRestarter<'a> {
    pub(super) fn new(server: &'a mut Server, launch: &'a LaunchSpec) -> Self {
        Self { server, launch, start_time: Instant::now(), exits: Vec::new(), is_down: false }
    }

    /// Restarts the server if it has exited. Cheap while the server is running, so it may be polled.
    pub(super) fn poll(&mut self, cancelled: &dyn Fn() -> bool) {
        if self.is_down {
            return;
        }
        let Some(status) = self.server.exit_status() else { return };
        let seconds = self.start_time.elapsed().as_secs_f64();
        let outcome = if self.exits.len() >= MAX_RESTARTS {
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
        self.exits.push(format!(
            "the server ended ({status}) {seconds:.1} s after its clients had started, {outcome}"
        ));
    }

    fn start(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), ServerError> {
        let mut attempt = 1;
        loop {
            match self.server.restart(self.launch, cancelled) {
                Err(ServerError::Unavailable(_)) if attempt < MAX_ATTEMPTS => {}
                result => return result,
            }
            attempt += 1;
            std::thread::sleep(RETRY_PAUSE);
        }
    }

    /// Descriptions of the server's exits, in order.
    pub(super) fn into_exits(self) -> Vec<String> {
        self.exits
    }
}
