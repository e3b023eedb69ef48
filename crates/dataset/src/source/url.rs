//! Documents behind an address.

use std::io::{self, Read};
use std::time::Duration;

use crate::error::DataError;

/// How long a connection may take to stand, and an answer to begin.
const PATIENCE: Duration = Duration::from_secs(60);

/// An open download.
pub(super) struct Download {
    /// The body.
    pub(super) body: Box<dyn Read + Send>,
    /// How long the body is in bytes, where the server says.
    pub(super) length: Option<u64>,
}

/// An address without the user name and password that may be in it.
pub(super) fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_string();
    };
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..host_end).and_then(|authority| authority.rfind('@')) {
        Some(at) => format!("{scheme}://{}", rest.get(at + 1..).unwrap_or_default()),
        None => address.to_string(),
    }
}

/// Asks for the address and leaves its body to be read.
pub(super) fn download(address: &str) -> Result<Download, DataError> {
    let agent = ureq::Agent::config_builder()
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .user_agent(concat!("jsonathlon/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent();
    let response = agent.get(address).call().map_err(|error| {
        let reason = match error {
            ureq::Error::StatusCode(status) => format!("the server answered with status {status}"),
            other => other.to_string(),
        };
        DataError::Download { address: shown(address), reason }
    })?;
    // The length of an encoded body is not that of what is read here.
    let encoded = response.headers().contains_key("content-encoding");
    let length = response.body().content_length().filter(|_| !encoded);
    let body = response.into_body().into_reader();
    let body = Whole { body, address: shown(address), received: 0, expected: length };
    Ok(Download { body: Box::new(body), length })
}

/// A body that must arrive whole: its end before the announced length is an error, as is any failure to read on.
struct Whole<R> {
    body: R,
    address: String,
    received: u64,
    expected: Option<u64>,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let cut = |received, reason| {
            let fault = DataError::CutShort {
                address: self.address.clone(),
                received,
                expected: self.expected,
                reason,
            };
            Err(io::Error::other(fault))
        };
        match self.body.read(buffer) {
            Ok(0) if !buffer.is_empty() && self.expected.is_some_and(|expected| self.received < expected) => {
                cut(self.received, String::new())
            }
            Ok(count) => {
                self.received += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => cut(self.received, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(shown("https://user:pass@host:1/a@b?c@d"), "https://host:1/a@b?c@d");
        assert_eq!(shown("http://us@er@host"), "http://host");
        assert_eq!(shown("http://host/a@b"), "http://host/a@b");
        assert_eq!(shown("http://host?q=a@b"), "http://host?q=a@b");
        assert_eq!(shown("no address"), "no address");
    }
}
