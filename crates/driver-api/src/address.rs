//! Addresses of remote servers: `postgres://USER@HOST:PORT/DATABASE?tls=on`.
//!
//! An address never contains a password, because command lines, process lists and shell histories are
//! readable by other users.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use http::Uri;
use serde::{Deserialize, Serialize};

/// Protocol that supports remote servers: the URL schemes of its addresses, and the default port.
struct ProtocolDefaults {
    protocol: &'static str,
    schemes: &'static [&'static str],
    port: u16,
}

const PROTOCOLS: [ProtocolDefaults; 5] = [
    ProtocolDefaults { protocol: "postgres", schemes: &["postgres", "postgresql"], port: 5432 },
    ProtocolDefaults { protocol: "mysql", schemes: &["mysql"], port: 3306 },
    ProtocolDefaults { protocol: "mongodb", schemes: &["mongodb"], port: 27017 },
    ProtocolDefaults { protocol: "elasticsearch", schemes: &["http", "https"], port: 9200 },
    ProtocolDefaults { protocol: "clickhouse", schemes: &["http", "https"], port: 8123 },
];

const PARAMETERS: [&str; 5] = ["tls", "ca", "cert", "key", "socket"];

/// Network address, user and database of a remote server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// Host name, or IP address without brackets.
    pub host: String,
    /// TCP port; the protocol's default if the address names none.
    pub port: u16,
    /// Path of a Unix socket, used instead of host and port. `None` for TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// User that sessions log in as. `None` if the address names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Database that sessions use. `None` if the address names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
    /// TLS settings; `None` for an unencrypted connection. Default: TLS unless the host is a loopback address
    /// or a socket is used; with HTTP the scheme decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
}

/// TLS settings of a connection. The server's certificate is always verified.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// PEM file with the authorities that may have signed the server's certificate. `None` for those of the
    /// public web.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// PEM file with the client's own certificate, followed by those of the authorities that signed it.
    /// `None` if the client shows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// PEM file with the private key of `certificate`; given if and only if that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
}

/// Password of a login. Its `Debug` output hides the text.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Why a text is not a valid address of a protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AddressError(String);

/// Returns `true` if a text is an address and not a path: it contains `://`.
#[must_use]
pub fn is_address(text: &str) -> bool {
    text.contains("://")
}

impl Address {
    /// Parses an address of `protocol`.
    ///
    /// # Errors
    /// If the protocol's engine is embedded, if the scheme, a parameter or another part is unknown or
    /// malformed, or if the text contains a password.
    pub fn parse(text: &str, protocol: &str) -> Result<Self, AddressError> {
        let fail = |message: String| Err(AddressError(message));
        let Some(defaults) = PROTOCOLS.iter().find(|defaults| defaults.protocol == protocol) else {
            return fail("this system runs inside the program and has no address".into());
        };
        // Checked first, because later error messages repeat the text.
        let rest = text.split_once("://").map_or("", |(_, rest)| rest);
        refuse_password(rest)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let user_part = authority.rsplit_once('@').map(|(user, _)| user);
        let uri: Uri = match text.parse() {
            Ok(uri) => uri,
            Err(error) => return fail(format!("`{text}` is no address: {error}")),
        };
        let scheme = uri.scheme_str().unwrap_or_default();
        if !defaults.schemes.contains(&scheme) {
            let schemes = defaults.schemes.join(":// or ");
            return fail(format!("`{text}` is no address of this system: it begins with {schemes}://"));
        }
        let Some(host) = uri.host().filter(|host| !host.is_empty()) else {
            return fail(format!("`{text}` names no host"));
        };
        if uri.authority().is_some_and(|authority| authority.as_str().contains(',')) {
            return fail(format!("`{text}` names several hosts: name the one that sessions shall reach"));
        }
        let host_port = authority.rsplit_once('@').map_or(authority, |(_, host_port)| host_port);
        let port_part = host_port.rsplit_once(']').map_or(host_port, |(_, port_part)| port_part);
        if port_part.contains(':') && uri.port_u16().is_none() {
            return fail(format!("`{text}`: a port is a number up to 65535"));
        }
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = match scheme {
            "https" => Some(Tls::default()),
            "http" => None,
            // Traffic over a network is encrypted unless the user turns it off.
            _ => (!is_loopback(&host)).then(Tls::default),
        };
        let (tls, socket) = tls_and_socket(uri.query().unwrap_or_default(), scheme, tls)?;
        let database = uri.path().trim_matches('/');
        Ok(Self {
            host,
            port: uri.port_u16().unwrap_or(defaults.port),
            socket,
            user: user_part.filter(|user| !user.is_empty()).map(percent_decode).transpose()?,
            database: (!database.is_empty()).then(|| percent_decode(database)).transpose()?,
            tls,
        })
    }
}

/// Refuses an address with a password, given what follows its scheme.
fn refuse_password(rest: &str) -> Result<(), AddressError> {
    // A password may contain `/`, `?` or `#`, so the whole rest is searched.
    if rest.rsplit_once('@').is_some_and(|(user_info, _)| user_info.contains(':')) {
        return Err(AddressError(
            "an address must not hold a password, which others would read in the process list: leave it out \
             and set JSONATHLON_PASSWORD_<NAME> in the environment"
                .into(),
        ));
    }
    Ok(())
}

/// Applies the parameters of an address to the TLS settings that hold without them. Also returns the path of
/// the socket.
fn tls_and_socket(
    query: &str,
    scheme: &str,
    mut tls: Option<Tls>,
) -> Result<(Option<Tls>, Option<PathBuf>), AddressError> {
    let fail = |message: String| Err(AddressError(message));
    let (mut settings, mut has_files, mut socket) = (Tls::default(), false, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode(value)?;
        match (name, value.as_str()) {
            ("tls", _) if scheme.starts_with("http") => {
                return fail("`tls` is said by the scheme here: http:// or https://".into());
            }
            ("tls", "on") => tls = Some(tls.unwrap_or_default()),
            ("tls", "off") => tls = None,
            ("tls", other) => return fail(format!("`tls={other}`: it is on or off")),
            (file @ ("ca" | "cert" | "key"), path) if !path.is_empty() => {
                let field = match file {
                    "ca" => &mut settings.ca,
                    "cert" => &mut settings.certificate,
                    _ => &mut settings.key,
                };
                *field = Some(PathBuf::from(path));
                has_files = true;
            }
            ("socket", _) if scheme.starts_with("http") => {
                return fail("HTTP is spoken over TCP only: leave `socket` out".into());
            }
            ("socket", path) if path.starts_with('/') => socket = Some(PathBuf::from(path)),
            ("ca" | "cert" | "key" | "socket", _) => return fail(format!("`{name}` needs a path")),
            (other, _) => {
                let parameters = PARAMETERS.join(", ");
                return fail(format!("`{other}` is no parameter of an address; there is {parameters}"));
            }
        }
    }
    if socket.is_some() {
        tls = None;
    }
    if settings.certificate.is_some() != settings.key.is_some() {
        return fail("`cert` and `key` belong together: name both files, or neither".into());
    }
    match &mut tls {
        Some(tls) => *tls = settings,
        None if has_files => {
            let message = "`ca`, `cert` and `key` have a meaning only where the connection is encrypted";
            return fail(format!("{message}: add tls=on"));
        }
        None => {}
    }
    Ok((tls, socket))
}

/// Formats host and port as in a URL: an IPv6 address is put in brackets.
pub fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.socket {
            Some(path) => write!(f, "{}", path.display()),
            None => f.write_str(&authority(&self.host, self.port)),
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Decodes percent-encoding: `%41` becomes `A`.
fn percent_decode(text: &str) -> Result<String, AddressError> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        if byte == b'%' {
            let digits = text.get(position + 1..position + 3);
            let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            decoded.push(code.ok_or_else(|| AddressError(format!("`{text}`: two digits follow a %")))?);
            position += 3;
        } else {
            decoded.push(byte);
            position += 1;
        }
    }
    String::from_utf8(decoded).map_err(|_| AddressError(format!("`{text}` is no UTF-8")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_says_where_and_as_whom() {
        let address = Address::parse("postgres://me@db.example.org/app", "postgres").unwrap();
        assert_eq!(
            address,
            Address {
                host: "db.example.org".into(),
                port: 5432,
                socket: None,
                user: Some("me".into()),
                database: Some("app".into()),
                tls: Some(Tls::default()),
            }
        );
        let address = Address::parse("mysql://a%40b@[::1]:33/x%20y?tls=on&ca=/etc/ca.pem", "mysql").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("::1", 33));
        assert_eq!((address.user.as_deref(), address.database.as_deref()), (Some("a@b"), Some("x y")));
        assert_eq!(address.tls, Some(Tls { ca: Some("/etc/ca.pem".into()), ..Tls::default() }));
        assert_eq!(address.to_string(), "[::1]:33");
        let address = Address::parse("mysql://host?cert=/etc/me.pem&key=/etc/me.key", "mysql").unwrap();
        let tls = Tls { ca: None, certificate: Some("/etc/me.pem".into()), key: Some("/etc/me.key".into()) };
        assert_eq!(address.tls, Some(tls));
        let address = Address::parse("postgres://localhost?socket=/run/.s.PGSQL.5432", "postgres").unwrap();
        assert_eq!(address.to_string(), "/run/.s.PGSQL.5432");
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_said_otherwise() {
        for (text, protocol, is_encrypted) in [
            ("postgres://localhost", "postgres", false),
            ("postgres://127.0.0.1", "postgres", false),
            ("postgres://10.0.0.1", "postgres", true),
            ("postgres://10.0.0.1?tls=off", "postgres", false),
            ("mongodb://localhost?tls=on", "mongodb", true),
            ("https://localhost:9200", "elasticsearch", true),
            ("http://far.example.org:9200", "elasticsearch", false),
        ] {
            assert_eq!(Address::parse(text, protocol).unwrap().tls.is_some(), is_encrypted, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (text, protocol, expected) in [
            ("postgres://me:secret@host", "postgres", "JSONATHLON_PASSWORD_<NAME>"),
            ("postgres://me:@host", "postgres", "JSONATHLON_PASSWORD_<NAME>"),
            ("postgres://me:se/secret@host", "postgres", "JSONATHLON_PASSWORD_<NAME>"),
            ("postgres://host:65536", "postgres", "up to 65535"),
            ("postgres://host:5433x/db", "postgres", "up to 65535"),
            ("postgres://[::1]:0x1", "postgres", "up to 65535"),
            ("https://host/?socket=/x", "clickhouse", "leave `socket` out"),
            ("mysql://host", "postgres", "postgres:// or postgresql://"),
            ("postgres://", "postgres", "is no address"),
            ("postgres://host?sslmode=require", "postgres", "there is tls, ca, cert, key, socket"),
            ("postgres://host?tls=maybe", "postgres", "on or off"),
            ("postgres://localhost?ca=/x", "postgres", "tls=on"),
            ("postgres://localhost?cert=/x&key=/y", "postgres", "tls=on"),
            ("postgres://host?cert=/x", "postgres", "belong together"),
            ("postgres://host?key=/x", "postgres", "belong together"),
            ("postgres://host?socket=relative", "postgres", "needs a path"),
            ("https://host?tls=off", "elasticsearch", "http:// or https://"),
            ("mongodb://a,b,c/x", "mongodb", "several hosts"),
            ("sqlite://x", "sqlite", "inside the program"),
            ("postgres://host/%zz", "postgres", "two digits"),
        ] {
            let error = Address::parse(text, protocol).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_or_an_error_and_never_repeats_a_password(
            user in "[a-z]{0,5}", password in "[A-Z]{6}[/?#]?[A-Z]{6}", rest in "\\PC{0,20}"
        ) {
            let text = format!("postgres://{user}:{password}@host/{rest}");
            let error = Address::parse(&text, "postgres").unwrap_err().to_string();
            prop_assert!(!error.contains(&password));
            let _ = Address::parse(&rest, "postgres");
        }
    }
}
