//! Self-signed certificate of a server for the loopback address, which sessions with TLS are configured to
//! trust.

use std::path::PathBuf;

use crate::error::{Result, ServerError};
use crate::folder::ServerFolder;

/// Paths of the PEM files, each with the name of its placeholder.
pub(crate) fn paths(folder: &ServerFolder) -> [(&'static str, PathBuf); 3] {
    [
        ("certificate", folder.run().join("server.pem")),
        ("key", folder.run().join("server.key")),
        ("certificate_and_key", folder.run().join("server-and-key.pem")),
    ]
}

/// Creates a certificate for `host` unless there is one; returns its path.
///
/// # Errors
/// If the certificate cannot be generated or written.
pub(crate) fn make(folder: &ServerFolder, host: &str) -> Result<PathBuf> {
    let [(_, certificate), (_, key), (_, combined)] = paths(folder);
    if certificate.exists() {
        return Ok(certificate);
    }
    let generated = rcgen::generate_simple_self_signed([host.to_owned()])
        .map_err(|error| ServerError::Unavailable(format!("failed to make a certificate: {error}")))?;
    let (certificate_pem, key_pem) = (generated.cert.pem(), generated.signing_key.serialize_pem());
    folder.write(&key, &key_pem)?;
    folder.write(&combined, &format!("{certificate_pem}{key_pem}"))?;
    // Written last, so that an existing certificate means that all files are complete.
    folder.write(&certificate, &certificate_pem)?;
    Ok(certificate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_made_once() {
        let root = tempfile::tempdir().unwrap();
        let folder = ServerFolder::new(root.path(), None).unwrap();
        folder.mark_initialising().unwrap();
        folder.create().unwrap();
        let path = make(&folder, "127.0.0.1").unwrap();
        let first = std::fs::read_to_string(&path).unwrap();
        assert!(first.starts_with("-----BEGIN CERTIFICATE-----"));
        assert_eq!(make(&folder, "127.0.0.1").unwrap(), path);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), first);
        let [_, (_, key), (_, combined)] = paths(&folder);
        let combined = std::fs::read_to_string(combined).unwrap();
        assert_eq!(combined, format!("{first}{}", std::fs::read_to_string(key).unwrap()));
    }
}
