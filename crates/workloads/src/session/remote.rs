//! What a session does on a remote server outside the run's own database.

use std::{
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use jsonathlon_catalogue::RemoteSetup;
use jsonathlon_driver_api::driver::SessionOptions;
use jsonathlon_schema::{record::FailureKind, value::Value};
use jsonathlon_servers::is_secret;
use jsonathlon_worker::protocol::{AskReply, Op};

use super::{Session, TrialError, fill};
use crate::target::CONNECT_TIMEOUT_S;

/// Time for the first answer over an open connection, in addition to the connect timeout.
pub(super) const GREETING_TIMEOUT: Duration = Duration::from_secs(25);
/// Timeout of statements on a remote server outside the run's own database.
pub(super) const ADMIN_TIMEOUT: Duration = Duration::from_secs(60);

/// Poll interval while waiting for the user's restart command.
const RESTART_POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Session<'_> {
    /// Runs statements on a remote server, outside the run's own database. Does nothing on other targets.
    pub(super) fn run_on_admin_database(
        &mut self,
        statements: impl Fn(&RemoteSetup) -> Vec<String>,
    ) -> Result<(), TrialError> {
        let target = self.target;
        let (Some(remote), Some(setup)) = (&target.remote, &target.configuration.remote_setup) else {
            return Ok(());
        };
        let database = [("database", remote.name.as_str())];
        let statements: Vec<String> =
            statements(setup).iter().map(|text| fill(text, &database)).collect::<Result<_, _>>()?;
        self.open_admin_session()?;
        let result = self.run(statements, ADMIN_TIMEOUT);
        self.close()?;
        result.map(drop)
    }

    /// Opens a worker session on a remote server, outside the run's own database.
    fn open_admin_session(&mut self) -> Result<(), TrialError> {
        let target = self.target;
        let options = SessionOptions {
            protocol: target.configuration.protocol.clone(),
            folder: self.folder.clone(),
            endpoint: target.endpoint(false, CONNECT_TIMEOUT_S),
            ..SessionOptions::default()
        };
        self.start(options, None).map(drop)
    }

    /// Ends statements of the run's earlier sessions that still run on a remote server: an abandoned
    /// statement would disturb all later measurements.
    pub(super) fn kill_remote_sessions(&mut self) {
        if self.killing_sessions {
            return;
        }
        self.killing_sessions = true;
        let cancelled = std::mem::replace(&mut self.cancelled, &never_cancelled);
        self.statement_may_be_running = self.try_kill_remote_sessions().is_err();
        self.cancelled = cancelled;
        self.killing_sessions = false;
    }

    fn try_kill_remote_sessions(&mut self) -> Result<(), TrialError> {
        let target = self.target;
        let (Some(remote), Some(setup)) = (&target.remote, &target.configuration.remote_setup) else {
            return Ok(());
        };
        // Servers without such a statement notice a closed connection by themselves.
        let Some(end_query) = &setup.end_query else { return Ok(()) };
        let statement = fill(end_query, &[("database", remote.name.as_str())])?;
        self.open_admin_session()?;
        let reply: AskReply = self.request(&Op::Ask { statement }, ADMIN_TIMEOUT, &mut |_| {})?;
        for value in reply.outcome.rows.into_iter().flatten() {
            if let Value::Text(statement) = value {
                // A session that has just ended cannot be ended again; the server refuses the statement.
                if let Err(error) = self.run(vec![statement], ADMIN_TIMEOUT)
                    && !matches!(&error, TrialError::Failed(failure) if failure.kind == FailureKind::Refused)
                {
                    return Err(error);
                }
            }
        }
        self.close()
    }

    /// Drops what the run has created on a remote server, unless `keep_data` is set.
    pub(crate) fn drop_remote_objects(&mut self, keep_data: bool) -> Result<(), TrialError> {
        if !self.may_own_remote_objects || keep_data {
            return Ok(());
        }
        // Runs even after an interrupt: nothing of the run may stay on a server that is not its own.
        self.cancelled = &never_cancelled;
        self.kill();
        self.run_on_admin_database(|setup| setup.drop.clone())?;
        (self.may_own_remote_objects, self.database_created) = (false, false);
        Ok(())
    }

    /// Drops what an earlier process of the same run may have created on a remote server.
    pub(crate) fn drop_leftovers(&mut self, keep_data: bool) -> Result<(), TrialError> {
        self.may_own_remote_objects = self.is_remote();
        self.drop_remote_objects(keep_data)
    }
}

fn never_cancelled() -> bool {
    false
}

/// Runs the user's shell command that restarts a server, and waits until it has ended.
pub(super) fn run_restart_command(
    command: &str,
    timeout: Duration,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), TrialError> {
    let failed = |reason: String| {
        TrialError::failed(FailureKind::Environment, format!("the restart command `{command}` {reason}"))
    };
    let secrets = std::env::vars_os().map(|(name, _)| name).filter(|name| is_secret(name));
    let mut shell = Command::new("/bin/sh");
    for name in secrets {
        shell.env_remove(name);
    }
    let mut child = shell
        .args(["-c", command])
        // Own process group, so that child processes of the command can be killed with it.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(format!("failed: {error}")))?;
    let started_at = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(failed(format!("ended with {status}"))),
            Ok(None) if started_at.elapsed() < timeout && !cancelled() => {
                std::thread::sleep(RESTART_POLL_INTERVAL);
            }
            Ok(None) => {
                kill_process_group(Pid::from_child(&child), Signal::KILL).ok();
                child.wait().ok();
                if cancelled() {
                    return Err(TrialError::Cancelled);
                }
                return Err(failed(format!("took longer than {timeout:?}")));
            }
            Err(error) => return Err(failed(format!("cannot be waited for: {error}"))),
        }
    }
}
