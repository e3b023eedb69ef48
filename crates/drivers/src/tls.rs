//! TLS configuration of connections to servers.

use std::sync::Arc;

use jsonathlon_driver_api::address::Tls;
use jsonathlon_driver_api::error::{DriverError, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// Reads the certificates of the authorities in the user's PEM file. `None` if the user names no file.
pub(crate) fn authorities(tls: &Tls) -> Result<Option<Vec<CertificateDer<'static>>>> {
    let Some(path) = &tls.ca else { return Ok(None) };
    let failed = |why: String| DriverError::Unavailable(format!("ca={}: {why}", path.display()));
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| failed(error.to_string()))?;
    if certificates.is_empty() {
        return Err(failed("no certificate is in it".into()));
    }
    Ok(Some(certificates))
}

/// Builds the TLS client configuration of a session. The server's certificate is verified against its host
/// name.
pub(crate) fn client(tls: &Tls) -> Result<ClientConfig> {
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
        .map_err(|error| DriverError::Unavailable(format!("TLS: {error}")))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
