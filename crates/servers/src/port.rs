//! Choice of TCP ports for servers, and a check of the loopback interface.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use crate::error::ServerError;

/// Lowest port that is chosen.
pub(crate) const LOWEST_PORT: u16 = 15_000;
/// Number of ports that are tried before the kernel chooses one.
const TRIES: u16 = 500;
/// Timeout of the test connection over the loopback interface.
const LOOPBACK_LIMIT: Duration = Duration::from_secs(5);
/// File with the kernel's range of ephemeral ports: ip(7).
const EPHEMERAL: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// Chooses a port that is free and, if possible, not in the kernel's ephemeral range. An ephemeral port may
/// be taken by a client or by another socket of the server before the server listens, or while it is
/// restarted.
pub(crate) fn choose_port() -> io::Result<u16> {
    let end = std::fs::read_to_string(EPHEMERAL)
        .ok()
        .and_then(|text| least_ephemeral(&text))
        .unwrap_or(LOWEST_PORT);
    first_free(candidates(end, RandomState::new().build_hasher().finish())).map_or_else(ephemeral_port, Ok)
}

fn first_free(mut ports: impl Iterator<Item = u16>) -> Option<u16> {
    ports.find(|port| is_free(*port))
}

/// Checks that connections over the loopback interface work: listens on it and connects.
///
/// # Errors
/// [`ServerError::Unavailable`] if the connection fails; the message says why and what to do.
pub(crate) fn loopback() -> Result<(), ServerError> {
    let connection = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| {
        let address = listener.local_addr()?;
        TcpStream::connect_timeout(&address, LOOPBACK_LIMIT)
    });
    match connection {
        Ok(_) => Ok(()),
        Err(error) => Err(ServerError::Unavailable(format!(
            "no server can be reached on this machine's loopback interface ({}: {error}): bring it up with the address \
             127.0.0.1 (`ip link set lo up`), or reach servers by a Unix socket (--transport unix)",
            Ipv4Addr::LOCALHOST
        ))),
    }
}

/// Returns `true` if the port can be bound on the loopback interface.
pub(crate) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Asks the kernel for an ephemeral port.
fn ephemeral_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Up to [`TRIES`] distinct ports from [`LOWEST_PORT`] to below `end`, starting at a random one.
fn candidates(end: u16, random: u64) -> impl Iterator<Item = u16> {
    let count = end.saturating_sub(LOWEST_PORT);
    let first = u16::try_from(random % u64::from(count.max(1))).unwrap_or(0);
    (0..count.min(TRIES)).map(move |step| LOWEST_PORT + (first + step) % count)
}

fn least_ephemeral(text: &str) -> Option<u16> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_none_that_the_kernel_gives_away() {
        let least = least_ephemeral(&std::fs::read_to_string(EPHEMERAL).unwrap()).unwrap();
        let port = choose_port().unwrap();
        assert!(port < least || least <= LOWEST_PORT, "{port}");
    }

    /// Only a port that the test itself holds is certain: a port that was free a moment ago may be open in a
    /// process that another test has just started.
    #[test]
    fn a_port_on_which_somebody_listens_is_passed_over() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(!is_free(port));
        assert_eq!(first_free([port, port].into_iter()), None);
        let free_port = first_free(std::iter::once(port).chain(candidates(LOWEST_PORT + TRIES, 0))).unwrap();
        assert!((LOWEST_PORT..LOWEST_PORT + TRIES).contains(&free_port), "{free_port}");
    }

    #[test]
    fn candidates_go_round_and_stay_below() {
        let ports: Vec<u16> = candidates(LOWEST_PORT + 3, 2).collect();
        assert_eq!(ports, [LOWEST_PORT + 2, LOWEST_PORT, LOWEST_PORT + 1]);
        assert_eq!(candidates(32_768, u64::MAX).count(), usize::from(TRIES));
        assert!(candidates(32_768, 17_767).all(|port| (LOWEST_PORT..32_768).contains(&port)));
        assert_eq!(candidates(1024, 5).count(), 0);
        assert_eq!(least_ephemeral("32768\t60999\n"), Some(32_768));
        assert_eq!(least_ephemeral(""), None);
    }
}
