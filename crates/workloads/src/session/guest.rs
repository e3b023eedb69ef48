//! What a session does on a server that somebody else runs, outside of the run's own database.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jsonathlon_connection::driver::Open;
use jsonathlon_dataset::value::Value;
use jsonathlon_results::record::FailureKind;
use jsonathlon_servers::is_secret;
use jsonathlon_systems::ByAddress;
use jsonathlon_worker::protocol::{Answered, Op};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Ended, Session, fill};
use crate::target::PATIENCE_S;

/// What a first answer over an open connection may take beyond that.
pub(super) const GREETING_LIMIT: Duration = Duration::from_secs(25);
/// Limit of what a guest does on a server outside of its own database.
pub(super) const HOST_LIMIT: Duration = Duration::from_secs(60);

/// Between two looks at whether the user's restart command has ended.
const RESTART_PAUSE: Duration = Duration::from_millis(20);

impl Session<'_> {
    /// Runs statements on a server by address, outside of the run's own database.
    pub(super) fn on_the_host(
        &mut self,
        statements: impl Fn(&ByAddress) -> Vec<String>,
    ) -> Result<(), Ended> {
        let target = self.target;
        let (Some(guest), Some(elsewhere)) = (&target.guest, &target.configuration.elsewhere) else {
            return Ok(());
        };
        let database = [("database", guest.name.as_str())];
        let statements: Vec<String> =
            statements(elsewhere).iter().map(|text| fill(text, &database)).collect::<Result<_, _>>()?;
        self.enter_the_host()?;
        let ran = self.run(statements, HOST_LIMIT);
        self.close()?;
        ran.map(drop)
    }

    /// A session with a server by address that is not of the run's own database.
    fn enter_the_host(&mut self) -> Result<(), Ended> {
        let target = self.target;
        let open = Open {
            protocol: target.configuration.protocol.clone(),
            folder: self.folder.clone(),
            endpoint: target.remote(false, PATIENCE_S),
            ..Open::default()
        };
        self.start(open, None).map(drop)
    }

    /// Ends what the run's own sessions still do on a server by address: a statement that nobody waits for any
    /// more would be measured beside all others.
    pub(super) fn end_own_sessions(&mut self) {
        if self.ending {
            return;
        }
        self.ending = true;
        let cancelled = std::mem::replace(&mut self.cancelled, &never);
        self.left_at_work = self.try_end().is_err();
        self.cancelled = cancelled;
        self.ending = false;
    }

    fn try_end(&mut self) -> Result<(), Ended> {
        let target = self.target;
        let (Some(guest), Some(elsewhere)) = (&target.guest, &target.configuration.elsewhere) else {
            return Ok(());
        };
        // The others notice by themselves that nobody listens.
        let Some(end) = &elsewhere.end else { return Ok(()) };
        let statement = fill(end, &[("database", guest.name.as_str())])?;
        self.enter_the_host()?;
        let found: Answered = self.request(&Op::Ask { statement }, HOST_LIMIT, &mut |_| {})?;
        for value in found.outcome.rows.into_iter().flatten() {
            if let Value::Text(statement) = value {
                // One that has just ended cannot be ended any more.
                if let Err(error) = self.run(vec![statement], HOST_LIMIT)
                    && !matches!(&error, Ended::Failed(one) if one.kind == FailureKind::Refused)
                {
                    return Err(error);
                }
            }
        }
        self.close()
    }

    /// Removes what the run has made on a server by address, unless it shall be kept.
    pub(crate) fn leave(&mut self, keep_data: bool) -> Result<(), Ended> {
        if !self.at_home || keep_data {
            return Ok(());
        }
        // Who interrupts a run wants nothing of it to stay on a server that is not the run's own.
        self.cancelled = &never;
        self.kill();
        self.on_the_host(|own| own.drop.clone())?;
        (self.at_home, self.is_made) = (false, false);
        Ok(())
    }

    /// Removes what a run of the same name has left.
    pub(crate) fn leave_behind_nothing(&mut self, keep_data: bool) -> Result<(), Ended> {
        self.at_home = self.is_guest();
        self.leave(keep_data)
    }
}

fn never() -> bool {
    false
}

/// Runs the user's command that restarts a server, and waits for its end.
pub(super) fn restart(command: &str, limit: Duration, cancelled: &dyn Fn() -> bool) -> Result<(), Ended> {
    let failed = |why: String| {
        Ended::failed(FailureKind::Environment, format!("the restart command `{command}` {why}"))
    };
    let secrets = std::env::vars_os().map(|(name, _)| name).filter(|name| is_secret(name));
    let mut shell = Command::new("/bin/sh");
    for name in secrets {
        shell.env_remove(name);
    }
    let mut child = shell
        .args(["-c", command])
        // What it starts ends with it.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("failed: {error}")))?;
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(format!("ended with {status}"))),
            Ok(None) if begun.elapsed() < limit && !cancelled() => std::thread::sleep(RESTART_PAUSE),
            Ok(None) => {
                kill_process_group(Pid::from_child(&child), Signal::KILL).ok();
                child.wait().ok();
                if cancelled() {
                    return Err(Ended::Cancelled);
                }
                return Err(failed(format!("took longer than {limit:?}")));
            }
            Err(error) => return Err(failed(format!("cannot be waited for: {error}"))),
        }
    }
}
