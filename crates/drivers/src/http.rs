//! HTTP client of a session. Each kept-alive connection carries one request at a time.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jsonathlon_driver_api::address::{Tls, authority};
use jsonathlon_driver_api::driver::{DriverError, Result};
use jsonathlon_driver_api::endpoint::{ConnectFailure, Endpoint};
use ureq::http;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use crate::tls;

/// Maximum idle time of a connection, which is longer than any pause between two requests of a session.
const IDLE_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// Reads the private key of the client's certificate. `None` if the user names none.
fn key_file(tls: &Tls) -> Result<Option<PrivateKey<'static>>> {
    let Some(path) = &tls.key else { return Ok(None) };
    let unusable = |why: String| DriverError::Unavailable(format!("key={}: {why}", path.display()));
    let pem = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
    PrivateKey::from_pem(&pem).map(Some).map_err(|error| unusable(error.to_string()))
}

/// Classifies the error of a first request. Certificates and host names that are not accepted stay so;
/// anything else may be a server that is still starting.
pub(crate) fn connect_failure(error: &ureq::Error) -> ConnectFailure {
    match error {
        ureq::Error::Io(error) => tls::handshake_failure(error),
        ureq::Error::Tls(reason) => ConnectFailure::Permanent(format!("TLS: {reason}")),
        other => ConnectFailure::Transient(other.to_string()),
    }
}

/// Complete HTTP response of a server.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Sends requests to one server; holds its connection pool and login.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    agent: ureq::Agent,
    base: String,
    /// Value of the `Authorization` header. `None` if the endpoint has no user.
    login: Option<String>,
}

impl HttpClient {
    /// Creates a client that keeps up to `connections` idle connections.
    pub(crate) fn new(endpoint: &Endpoint, connections: usize) -> Result<Self> {
        let (scheme, encryption) = match &endpoint.tls {
            None => ("http", TlsConfig::default()),
            Some(settings) => {
                let roots = match tls::authorities(settings)? {
                    None => RootCerts::WebPki,
                    Some(authorities) => {
                        let certificates: Vec<Certificate<'static>> =
                            authorities.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
                        RootCerts::Specific(Arc::new(certificates))
                    }
                };
                let chain = tls::identity(settings)?.map(|(chain, _)| chain);
                let identity = chain.zip(key_file(settings)?).map(|(chain, key)| {
                    let chain: Vec<Certificate<'static>> =
                        chain.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
                    ClientCert::new_with_certs(&chain, key)
                });
                ("https", TlsConfig::builder().root_certs(roots).client_cert(identity).build())
            }
        };
        let agent = ureq::Agent::config_builder()
            .timeout_connect(Some(endpoint.step_timeout()))
            // A proxy from the environment is not used, because its time would be measured too.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            // Compressing an answer would cost both sides more than sending it over the loopback interface
            // does.
            .accept_encoding("")
            .max_idle_age(IDLE_LIMIT)
            .max_idle_connections(connections)
            .max_idle_connections_per_host(connections)
            .user_agent("jsonathlon")
            .tls_config(encryption)
            .build()
            .new_agent();
        let Endpoint { user, password, .. } = endpoint;
        let login = (!user.is_empty())
            .then(|| format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{}", password.0))));
        Ok(Self { agent, base: format!("{scheme}://{}", authority(&endpoint.host, endpoint.port)), login })
    }

    /// Sends one request and reads the whole response. `body` is its content type and its bytes.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, &[u8])>,
    ) -> std::result::Result<HttpResponse, ureq::Error> {
        // Without a length, an empty body would be sent with chunked encoding.
        let default_body = matches!(method, "POST" | "PUT").then_some(("application/json", &b""[..]));
        let request = self.request(method, path);
        match body.or(default_body) {
            None => read(self.agent.run(request.body(())?)?),
            Some((content_type, bytes)) => {
                read(self.agent.run(request.header("content-type", content_type).body(bytes)?)?)
            }
        }
    }

    /// Sends one request whose body is read from `body` while it is sent.
    pub(crate) fn stream(
        &self,
        path: &str,
        body: &mut dyn Read,
    ) -> std::result::Result<HttpResponse, ureq::Error> {
        let mut body = body;
        let body = ureq::SendBody::from_reader(&mut body);
        read(self.agent.run(self.request("POST", path).body(body)?)?)
    }

    fn request(&self, method: &str, path: &str) -> http::request::Builder {
        let request = http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        match &self.login {
            Some(login) => request.header("authorization", login),
            None => request,
        }
    }
}

fn read(response: http::Response<ureq::Body>) -> std::result::Result<HttpResponse, ureq::Error> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = Vec::new();
    response.into_body().into_reader().read_to_end(&mut body)?;
    Ok(HttpResponse { status, headers, body })
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn only_a_server_that_may_still_be_starting_is_asked_again() {
        let cause = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let lasting = [
            ureq::Error::from(Error::new(ErrorKind::InvalidData, cause)),
            ureq::Error::Tls("Rustls invalid dns name error"),
        ];
        for error in lasting {
            assert!(matches!(connect_failure(&error), ConnectFailure::Permanent(_)), "{error}");
        }
        for error in [ureq::Error::Io(ErrorKind::ConnectionRefused.into()), ureq::Error::ConnectionFailed] {
            assert!(matches!(connect_failure(&error), ConnectFailure::Transient(_)), "{error}");
        }
    }
}
