//! TLS of connections to servers: its configuration, and the encrypted stream.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jsonathlon_driver_api::address::Tls;
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::error::{DriverError, Result};
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::socket_calls::{receive_once, send_once};

/// Advice that is added to an error about a certificate of the server that is not accepted.
const REMEDY: &str = "name the authority that signed the server's certificate by ?ca=FILE.pem, and the host \
                      as the certificate has it";

/// Configurations of open connections by the settings that they were built from, so that a process with
/// thousands of clients reads the files and authorities of a server once. Weak, so that files that were
/// replaced together with a server are read again.
static CONFIGURATIONS: Mutex<Vec<(Tls, Weak<ClientConfig>)>> = Mutex::new(Vec::new());

/// Reads the certificates of the authorities in the user's PEM file. `None` if the user names no file.
pub(crate) fn authorities(tls: &Tls) -> Result<Option<Vec<CertificateDer<'static>>>> {
    tls.ca.as_deref().map(|path| certificates("ca", path)).transpose()
}

/// Reads the client's certificate, with those of the authorities that signed it, and its private key. `None`
/// if the user names none.
pub(crate) fn identity(tls: &Tls) -> Result<Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>> {
    let (Some(certificate), Some(key)) = (&tls.certificate, &tls.key) else { return Ok(None) };
    let chain = certificates("cert", certificate)?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable("key", key, error))?;
    Ok(Some((chain, secret)))
}

fn certificates(parameter: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| unusable(parameter, path, error))?;
    if certificates.is_empty() {
        return Err(unusable(parameter, path, "no certificate is in it"));
    }
    Ok(certificates)
}

fn unusable(parameter: &str, path: &Path, reason: impl std::fmt::Display) -> DriverError {
    DriverError::Unavailable(format!("{parameter}={}: {reason}", path.display()))
}

/// Returns the configuration that open connections with these settings share. Built for the first of them.
fn shared_configuration(tls: &Tls) -> Result<Arc<ClientConfig>> {
    // Held while building, because the other threads need the same configuration.
    let mut configurations = CONFIGURATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = configurations.iter().find(|(settings, _)| settings == tls);
    if let Some(shared) = known.and_then(|(_, configuration)| configuration.upgrade()) {
        return Ok(shared);
    }
    let built = Arc::new(build_configuration(tls)?);
    configurations.retain(|(_, configuration)| configuration.strong_count() > 0);
    configurations.push((tls.clone(), Arc::downgrade(&built)));
    Ok(built)
}

/// Builds the TLS client configuration of a session. The server's certificate is verified against its host
/// name.
fn build_configuration(tls: &Tls) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    match authorities(tls)? {
        Some(certificates) => {
            for certificate in certificates {
                roots
                    .add(certificate)
                    .map_err(|error| DriverError::Unavailable(format!("the certificate of `ca`: {error}")))?;
            }
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DriverError::Unavailable(format!("TLS: {error}")))?
        .with_root_certificates(roots);
    let mut configuration = match identity(tls)? {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| DriverError::Unavailable(format!("the certificate of `cert`: {error}")))?,
    };
    // Every connection makes a whole handshake, whether or not it is the first of its process.
    configuration.resumption = Resumption::disabled();
    Ok(configuration)
}

/// Classifies an error of the handshake. A certificate that is not accepted stays so, however often it is
/// shown; anything else may be a server that is still starting.
pub(crate) fn handshake_failure(error: &io::Error) -> ConnectFailure {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(_)) => ConnectFailure::Permanent(format!("{error}: {REMEDY}")),
        _ => ConnectFailure::Transient(error.to_string()),
    }
}

/// Encrypted connection over TCP. Bytes that have been decrypted and not been read stay in it, so whoever
/// waits for the socket to become readable must first have read until nothing was left.
#[derive(Debug)]
pub(crate) struct TlsStream {
    pub(crate) stream: TcpStream,
    session: ClientConnection,
    /// Keeps the configuration for connections that are opened while this one is open.
    _configuration: Arc<ClientConfig>,
}

impl TlsStream {
    /// Encrypts a connection on which the server waits for the handshake.
    ///
    /// # Errors
    /// [`ConnectFailure::Permanent`] if the endpoint's certificates or its host name cannot be used, or the
    /// server's certificate is not accepted.
    pub(crate) fn connect(
        stream: TcpStream,
        endpoint: &Endpoint,
        tls: &Tls,
    ) -> std::result::Result<Self, ConnectFailure> {
        let permanent = |reason: String| ConnectFailure::Permanent(reason);
        let configuration = shared_configuration(tls).map_err(|error| permanent(error.to_string()))?;
        let name = ServerName::try_from(endpoint.host.clone()).map_err(|error| {
            permanent(format!("`{}` names no host of a certificate: {error}", endpoint.host))
        })?;
        let session = ClientConnection::new(Arc::clone(&configuration), name)
            .map_err(|error| permanent(format!("TLS: {error}")))?;
        let mut encrypted = Self { stream, session, _configuration: configuration };
        while encrypted.session.is_handshaking() {
            let exchanged = encrypted.session.complete_io(&mut encrypted.stream);
            exchanged.map_err(|error| handshake_failure(&error))?;
        }
        Ok(encrypted)
    }

    /// Encrypts and sends all parts in order, blocking as needed.
    pub(crate) fn send(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        for part in parts {
            let mut rest = *part;
            while !rest.is_empty() {
                let written = self.session.writer().write(rest)?;
                rest = &rest[written..];
                if !rest.is_empty() {
                    self.flush()?;
                }
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.session.wants_write() {
            self.session.write_tls(&mut Outgoing(&self.stream))?;
        }
        Ok(())
    }

    /// Reads decrypted bytes; 0 means that the server has closed the connection. `None` if none have arrived,
    /// which is possible only without `wait`.
    pub(crate) fn receive(&mut self, buffer: &mut [u8], wait: bool) -> io::Result<Option<usize>> {
        loop {
            match self.session.reader().read(buffer) {
                Ok(count) => return Ok(Some(count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            match self.session.read_tls(&mut Incoming { stream: &self.stream, wait }) {
                // At the end of the stream the reader above says whether the server has closed it properly.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && !wait => return Ok(None),
                Err(error) => return Err(error),
            }
            self.session
                .process_new_packets()
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            // The server may have asked for new keys, which are answered.
            self.flush()?;
        }
    }
}

/// Reads encrypted bytes from a socket; without `wait` only those that have arrived.
struct Incoming<'a> {
    stream: &'a TcpStream,
    wait: bool,
}

impl Read for Incoming<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        receive_once(self.stream, buffer, self.wait)
    }
}

/// Writes encrypted bytes to a socket without the signal of a broken pipe.
struct Outgoing<'a>(&'a TcpStream);

impl Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send_once(self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rustls::CertificateError;

    use super::*;

    #[test]
    fn a_certificate_that_is_not_accepted_is_not_shown_again() {
        let failure = |error: rustls::Error| {
            let error = io::Error::new(ErrorKind::InvalidData, error);
            handshake_failure(&error)
        };
        for reason in [CertificateError::UnknownIssuer, CertificateError::NotValidForName] {
            let failure = failure(rustls::Error::InvalidCertificate(reason));
            let ConnectFailure::Permanent(reason) = failure else { panic!("it is tried again: {failure:?}") };
            assert!(reason.contains("invalid peer certificate") && reason.contains("?ca=FILE.pem"));
        }
        let others = [
            failure(rustls::Error::HandshakeNotComplete),
            handshake_failure(&io::Error::from(ErrorKind::UnexpectedEof)),
        ];
        assert!(others.iter().all(|failure| matches!(failure, ConnectFailure::Transient(_))), "{others:?}");
    }

    #[test]
    fn connections_with_the_same_settings_share_what_was_built_for_the_first() {
        let trusted = Tls { ca: Some("/nowhere.pem".into()), ..Tls::default() };
        let first = shared_configuration(&Tls::default()).unwrap();
        assert!(Arc::ptr_eq(&first, &shared_configuration(&Tls::default()).unwrap()));
        assert!(shared_configuration(&trusted).unwrap_err().to_string().contains("/nowhere.pem"));
        let known = Arc::downgrade(&first);
        drop(first);
        assert!(known.upgrade().is_none(), "files that were replaced would not be read again");
        assert!(shared_configuration(&Tls::default()).is_ok());
    }
}
