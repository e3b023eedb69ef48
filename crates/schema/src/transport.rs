//! Transports between sessions and servers, and their names in files and on the command line.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Transport by which sessions reach a server on the machine of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Unencrypted TCP on the loopback interface.
    #[default]
    Tcp,
    /// TCP with TLS on the loopback interface.
    Tls,
    /// Unix domain socket, for systems that support it.
    Unix,
}

impl Transport {
    /// All transports, in the order in which reports describe them.
    pub const ALL: [Self; 3] = [Self::Tcp, Self::Tls, Self::Unix];

    /// Returns the name in files and on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Unix => "unix",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports_are_written_as_their_words() {
        for transport in Transport::ALL {
            assert_eq!(serde_json::to_value(transport).unwrap(), transport.word());
            assert_eq!(serde_json::from_value::<Transport>(transport.word().into()).unwrap(), transport);
        }
    }
}
