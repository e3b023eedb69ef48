//! Scripts that tests write and run.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes a script that can be run at once. A process of its own writes it: of a file that this one has open for writing, a
/// process that another test starts at that moment would keep a descriptor for a while, and nobody can run it until then.
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
