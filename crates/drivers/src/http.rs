//! Requests over HTTP, one at a time on each of the connections that are kept.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jsonathlon_connection::address::authority;
use jsonathlon_connection::driver::Result;
use jsonathlon_connection::endpoint::Endpoint;
use ureq::http;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::tls;

/// Longer than any pause between two requests of a session.
const IDLE_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A server, as a session speaks to it.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    agent: ureq::Agent,
    base: String,
    /// User and password, as the header wants them.
    login: Option<String>,
}

impl Http {
    /// Keeps so many connections at most.
    pub(crate) fn new(endpoint: &Endpoint, connections: usize) -> Result<Self> {
        let (scheme, encryption) = match &endpoint.tls {
            None => ("http", TlsConfig::default()),
            Some(encrypted) => {
                let roots = match tls::authorities(encrypted)? {
                    None => RootCerts::WebPki,
                    Some(authorities) => {
                        let own: Vec<Certificate<'static>> =
                            authorities.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
                        RootCerts::Specific(Arc::new(own))
                    }
                };
                ("https", TlsConfig::builder().root_certs(roots).build())
            }
        };
        let agent = ureq::Agent::config_builder()
            .timeout_connect(Some(endpoint.attempt()))
            // The environment's proxy is for other things: it would be measured too.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            // A compressed answer would cost both sides more than the loopback interface does.
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

    /// One request and its whole answer; `body` is its kind and its bytes.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, &[u8])>,
    ) -> std::result::Result<Answer, ureq::Error> {
        // Without a length, an empty body would be sent as a stream that ends at once.
        let empty = matches!(method, "POST" | "PUT").then_some(("application/json", &b""[..]));
        let request = self.request(method, path);
        match body.or(empty) {
            None => read(self.agent.run(request.body(())?)?),
            Some((kind, bytes)) => read(self.agent.run(request.header("content-type", kind).body(bytes)?)?),
        }
    }

    /// One request whose body is read while it is sent.
    pub(crate) fn stream(&self, path: &str, body: &mut dyn Read) -> std::result::Result<Answer, ureq::Error> {
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

fn read(response: http::Response<ureq::Body>) -> std::result::Result<Answer, ureq::Error> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = Vec::new();
    response.into_body().into_reader().read_to_end(&mut body)?;
    Ok(Answer { status, headers, body })
}
