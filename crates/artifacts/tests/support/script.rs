//! Scripts that tests write and execute.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes a script that can be executed immediately. A separate process writes it: if this process had the
/// file open for writing, a child that another test starts at that moment would inherit the descriptor, and
/// until it is closed the script could not be executed.
pub(crate) fn write(path: &Path, text: &str) {
    let mut writer = Command::new("/bin/sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}
