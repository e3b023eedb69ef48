//! Downloads documents over HTTP and HTTPS.

use std::io::{self, Read};
use std::time::Duration;

use crate::error::DataError;

/// Timeout for connecting, and again for the response headers.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A download whose response headers have been received.
pub(super) struct Download {
    /// The response body; an end before the announced length is an error.
    pub(super) body: Box<dyn Read + Send>,
    /// Length of the body in bytes. `None` if the server does not announce it or encodes the body.
    pub(super) length: Option<u64>,
}

/// Returns the address without the user name and password it may contain.
pub(super) fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_string();
    };
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..host_end).and_then(|authority| authority.rfind('@')) {
        Some(separator) => format!("{scheme}://{}", rest.get(separator + 1..).unwrap_or_default()),
        None => address.to_string(),
    }
}

/// Requests the address and returns its unread body.
pub(super) fn download(address: &str) -> Result<Download, DataError> {
    let agent = ureq::Agent::config_builder()
        .timeout_connect(Some(TIMEOUT))
        .timeout_recv_response(Some(TIMEOUT))
        .user_agent(concat!("jsonathlon/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent();
    let response = agent.get(address).call().map_err(|error| {
        let reason = match error {
            ureq::Error::StatusCode(status) => format!("the server answered with status {status}"),
            other => other.to_string(),
        };
        DataError::Download { address: without_credentials(address), reason }
    })?;
    // The announced length of an encoded body is not the number of decoded bytes.
    let is_encoded = response.headers().contains_key("content-encoding");
    let length = response.body().content_length().filter(|_| !is_encoded);
    let body = response.into_body().into_reader();
    let body = CompleteBody { body, address: without_credentials(address), received: 0, expected: length };
    Ok(Download { body: Box::new(body), length })
}

/// Reader of a body that must be complete: an early end and any read error become [`DataError::CutShort`].
struct CompleteBody<R> {
    body: R,
    address: String,
    received: u64,
    expected: Option<u64>,
}

impl<R: Read> Read for CompleteBody<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let cut_short = |received, reason| {
            let error = DataError::CutShort {
                address: self.address.clone(),
                received,
                expected: self.expected,
                reason,
            };
            Err(io::Error::other(error))
        };
        match self.body.read(buffer) {
            Ok(0) if !buffer.is_empty() && self.expected.is_some_and(|expected| self.received < expected) => {
                cut_short(self.received, String::new())
            }
            Ok(count) => {
                self.received += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => cut_short(self.received, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_credentials("https://user:pass@host:1/a@b?c@d"), "https://host:1/a@b?c@d");
        assert_eq!(without_credentials("http://us@er@host"), "http://host");
        assert_eq!(without_credentials("http://host/a@b"), "http://host/a@b");
        assert_eq!(without_credentials("http://host?q=a@b"), "http://host?q=a@b");
        assert_eq!(without_credentials("no address"), "no address");
    }
}
