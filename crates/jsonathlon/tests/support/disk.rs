//! A separate file system for a test.

use std::process::{Command, Stdio};

use super::process::{Ended, Running};
use super::{LIMIT, PROGRAM, World};

/// Runs a shell script with a small file system at `$small`, which disappears when the script ends. Needs
/// `unshare` of util-linux, and either root or user namespaces. `$plain` runs a command as a user other than
/// root if the shell is root only in its namespace; otherwise a server would be started as a user that does
/// not exist.
pub(crate) fn with_small_disk(world: &World, megabytes: u32, script: &str) -> Ended {
    let allowed = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(arguments).args(["sh", "-c", "mount -t tmpfs none /mnt"]);
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let ways: [(&[&str], &str); 2] = [
        (&["--mount"], ""),
        (&["--user", "--map-root-user", "--mount"], "unshare --user --map-user=1000 --map-group=1000"),
    ];
    let Some((way, plain)) = ways.into_iter().find(|(way, _)| allowed(way)) else {
        panic!(
            "this test mounts a small file system: it needs `unshare` of util-linux, and to run as root or \
             where users may make namespaces (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces)"
        );
    };
    let small = world.path("small");
    std::fs::create_dir_all(&small).unwrap();
    let text = format!(
        "set -e\nsmall='{}'\nmount -t tmpfs -o size={megabytes}m none \"$small\"\n\
         jsonathlon='{PROGRAM}'\nplain='{plain}'\nsystems='{}'\nsaved='{}'\n{script}",
        small.display(),
        world.path("systems").display(),
        world.path("saved").display(),
    );
    let mut command = Command::new("unshare");
    command.args(way).args(["sh", "-c", &text]).current_dir(world.path("")).stdin(Stdio::null());
    command.env(crate::support::MARK, world.path(""));
    // Several servers may be initialised and started at the same time next to it.
    Running::start(command, &world.path("")).end(3 * LIMIT)
}
