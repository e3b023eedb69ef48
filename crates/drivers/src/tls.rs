//! TLS of connections to servers: its configuration, and the encrypted stream.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use jsonathlon_driver_api::address::Tls;
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use jsonathlon_driver_api::error::{DriverError, Result};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

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

/// Builds the TLS client configuration of a session. The server's certificate is verified against its host
/// name.
fn configuration(tls: &Tls) -> Result<ClientConfig> {
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
    match identity(tls)? {
        None => Ok(builder.with_no_client_auth()),
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| DriverError::Unavailable(format!("the certificate of `cert`: {error}"))),
    }
}

/// Encrypted connection over TCP. Bytes that have been decrypted and not been read stay in it, so whoever
/// waits for the socket to become readable must first have read until nothing was left.
#[derive(Debug)]
pub(crate) struct TlsStream {
    pub(crate) stream: TcpStream,
    session: ClientConnection,
}

impl TlsStream {
    /// Encrypts a connection on which the server waits for the handshake.
    ///
    /// # Errors
    /// [`ConnectFailure::Permanent`] if the endpoint's certificates or its host name cannot be used.
    pub(crate) fn connect(
        stream: TcpStream,
        endpoint: &Endpoint,
        tls: &Tls,
    ) -> std::result::Result<Self, ConnectFailure> {
        let permanent = |reason: String| ConnectFailure::Permanent(reason);
        let configuration = Arc::new(configuration(tls).map_err(|error| permanent(error.to_string()))?);
        let name = ServerName::try_from(endpoint.host.clone()).map_err(|error| {
            permanent(format!("`{}` names no host of a certificate: {error}", endpoint.host))
        })?;
        let session =
            ClientConnection::new(configuration, name).map_err(|error| permanent(format!("TLS: {error}")))?;
        let mut encrypted = Self { stream, session };
        while encrypted.session.is_handshaking() {
            encrypted
                .session
                .complete_io(&mut encrypted.stream)
                .map_err(|error| ConnectFailure::Transient(error.to_string()))?;
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
        let flags = if wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        loop {
            match self.session.reader().read(buffer) {
                Ok(count) => return Ok(Some(count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            match self.session.read_tls(&mut Incoming { stream: &self.stream, flags }) {
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

/// Reads encrypted bytes from a socket, with the flags of one call.
struct Incoming<'a> {
    stream: &'a TcpStream,
    flags: RecvFlags,
}

impl Read for Incoming<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::net::recv(self.stream, &mut *buffer, self.flags) {
                Ok((count, _)) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Writes encrypted bytes to a socket without the signal of a broken pipe.
struct Outgoing<'a>(&'a TcpStream);

impl Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::net::send(self.0, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => return Ok(sent),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
