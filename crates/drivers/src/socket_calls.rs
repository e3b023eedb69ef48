//! System calls on a connected socket, made again if a signal interrupts them.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;

use rustix::io::retry_on_intr;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

/// Reads once; 0 bytes mean that the other side has closed the connection. Fails with
/// [`io::ErrorKind::WouldBlock`] if nothing has arrived, with `wait` only after the socket's read timeout.
pub(crate) fn receive_once(socket: impl AsFd, buffer: &mut [u8], wait: bool) -> io::Result<usize> {
    let flags = if wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
    let (count, _) = retry_on_intr(|| recv(&socket, &mut *buffer, flags))?;
    Ok(count)
}

/// Sends as many of the bytes as the kernel takes at once, and returns how many. A broken connection is an
/// error, not a signal.
pub(crate) fn send_once(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(retry_on_intr(|| send(&socket, bytes, SendFlags::NOSIGNAL))?)
}

/// Like [`send_once`], for parts that follow each other without being in one buffer.
pub(crate) fn send_parts_once(socket: impl AsFd, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    let mut control = SendAncillaryBuffer::default();
    Ok(retry_on_intr(|| sendmsg(&socket, parts, &mut control, SendFlags::NOSIGNAL))?)
}
