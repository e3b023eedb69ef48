//! Authentication plugins: how a password is proven or sent.

use jsonathlon_driver_api::endpoint::ConnectFailure;
use rsa::PublicKey;
use rsa::pkcs8::DecodePublicKey;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::ever;
use crate::socket::Privacy;

/// Why a user whose password was set by a very old server cannot log in.
pub(super) const BEFORE_4_1: &str =
    "it holds a password hash from before MySQL 4.1 for this user: set the password again on the server";
/// Requests for the server's public key, by `caching_sha2_password` and by `sha256_password`.
const KEY_REQUESTS: [u8; 2] = [2, 1];
/// Messages of `caching_sha2_password`: the server has found the hash in its cache, or needs the password.
const FOUND: &[u8] = &[3];
const NEEDS_PASSWORD: &[u8] = &[4];

/// Authentication plugin of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plugin {
    /// Proves the password by SHA-1.
    NativePassword,
    /// Proves the password by SHA-256. A server that has not cached the password's hash asks for the
    /// password.
    CachingSha2,
    /// Sends the password, encrypted.
    Sha256,
    /// Sends the password as it is.
    ClearPassword,
}

impl Plugin {
    /// Returns the plugin of a name. `None` if it is not supported.
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        [Self::NativePassword, Self::CachingSha2, Self::Sha256, Self::ClearPassword]
            .into_iter()
            .find(|plugin| plugin.name().as_bytes() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NativePassword => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::Sha256 => "sha256_password",
            Self::ClearPassword => "mysql_clear_password",
        }
    }

    /// Returns what is sent first. A server takes a password for `sha256_password` as it is only over an
    /// encrypted connection, and asks for it to be encrypted with its key over a Unix socket too.
    ///
    /// # Errors
    /// If the password would be sent where others can read it.
    pub(super) fn secret(
        self,
        nonce: &[u8],
        password: &str,
        privacy: Privacy,
    ) -> Result<Vec<u8>, ConnectFailure> {
        if password.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            Self::NativePassword => Ok(proof::<Sha1>(password, |double_hash| [nonce, double_hash].concat())),
            Self::CachingSha2 => Ok(proof::<Sha256>(password, |double_hash| [double_hash, nonce].concat())),
            Self::Sha256 if privacy == Privacy::Encrypted => Ok(zero_terminated(password)),
            Self::ClearPassword if privacy != Privacy::Exposed => Ok(zero_terminated(password)),
            Self::Sha256 => Ok(vec![KEY_REQUESTS[1]]),
            Self::ClearPassword => Err(ever(
                "it asks for the password in clear text, which is sent over encrypted connections only: \
                 add ?tls=on",
            )),
        }
    }

    /// Returns the answer to a further message of the server. `None` if it needs none.
    ///
    /// # Errors
    /// If the message is unknown, or its key cannot be used.
    pub(super) fn answer(
        self,
        message: &[u8],
        nonce: &[u8],
        password: &str,
        privacy: Privacy,
    ) -> Result<Option<Vec<u8>>, ConnectFailure> {
        match (self, message) {
            (Self::CachingSha2, FOUND) => Ok(None),
            (Self::CachingSha2, NEEDS_PASSWORD) if privacy != Privacy::Exposed => {
                Ok(Some(zero_terminated(password)))
            }
            (Self::CachingSha2, NEEDS_PASSWORD) => Ok(Some(vec![KEY_REQUESTS[0]])),
            (Self::CachingSha2 | Self::Sha256, key) => encrypt(key, nonce, password).map(Some).map_err(ever),
            (Self::NativePassword | Self::ClearPassword, _) => {
                Err(ever(format!("its plugin {} continues in a way that is not supported here", self.name())))
            }
        }
    }
}

/// Error for a server that asks for a plugin which is not supported.
pub(super) fn unsupported(plugin: &[u8]) -> ConnectFailure {
    let plugin = String::from_utf8_lossy(plugin);
    ever(format!(
        "it asks for a login by {plugin}; supported are caching_sha2_password, sha256_password, \
         mysql_native_password and mysql_clear_password, one of which the server can be configured to use for this user"
    ))
}

fn zero_terminated(password: &str) -> Vec<u8> {
    [password.as_bytes(), &[0]].concat()
}

/// Proves that the client knows a password: its hash, masked by a hash of `challenge`, which gets the hash of
/// the hash, as the server stores it.
fn proof<D: Digest>(password: &str, challenge: impl FnOnce(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let hash = D::digest(password);
    let mask = D::digest(challenge(&D::digest(&hash)));
    hash.iter().zip(mask.iter()).map(|(byte, mask)| byte ^ mask).collect()
}

/// Encrypts a password, masked by the nonce, with the server's public key (RSA with OAEP padding and SHA-1).
fn encrypt(key: &[u8], nonce: &[u8], password: &str) -> Result<Vec<u8>, String> {
    let unusable = |reason: String| format!("its public key cannot be used: {reason}");
    let pem = std::str::from_utf8(key).map_err(|error| unusable(error.to_string()))?;
    let key = PublicKey::from_public_key_pem(pem.trim()).map_err(|error| unusable(error.to_string()))?;
    let masked: Vec<u8> =
        zero_terminated(password).iter().zip(nonce.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    key.oaep_encrypt::<Sha1>(&masked).map_err(|error| unusable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &[u8] = b"abcdefghijklmnopqrst";

    #[test]
    fn proofs_are_those_of_the_manual() {
        // SHA1(password) XOR SHA1(nonce + SHA1(SHA1(password))), and XOR of SHA256 with the nonce behind, by
        // another program.
        let native = Plugin::NativePassword.secret(NONCE, "secret", Privacy::Exposed).unwrap();
        assert_eq!(hex(&native), "8817c50fa779daef010ee7577825b0847df9842e");
        let sha2 = Plugin::CachingSha2.secret(NONCE, "secret", Privacy::Exposed).unwrap();
        assert_eq!(hex(&sha2), "c76e2898612a4cf042c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae809");
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn error(result: Result<impl Sized, ConnectFailure>) -> String {
        match result {
            Err(ConnectFailure::Permanent(reason)) => reason,
            Err(ConnectFailure::Transient(reason)) => panic!("{reason} is tried again"),
            Ok(_) => panic!("it is no error"),
        }
    }

    #[test]
    fn a_password_is_sent_where_nobody_else_reads_it() {
        use Privacy::{Encrypted, Exposed, OnThisMachine};

        let secret = |plugin: Plugin, privacy| plugin.secret(NONCE, "secret", privacy).unwrap();
        assert_eq!(secret(Plugin::ClearPassword, Encrypted), b"secret\0");
        assert_eq!(secret(Plugin::ClearPassword, OnThisMachine), b"secret\0");
        assert!(error(Plugin::ClearPassword.secret(NONCE, "secret", Exposed)).contains("?tls=on"));
        assert_eq!(secret(Plugin::Sha256, Encrypted), b"secret\0");
        assert_eq!(secret(Plugin::Sha256, OnThisMachine), [1]);
        assert_eq!(secret(Plugin::Sha256, Exposed), [1]);
        assert_eq!(Plugin::Sha256.secret(NONCE, "", Exposed).unwrap(), b"");
        let answer =
            |message, privacy| Plugin::CachingSha2.answer(message, NONCE, "secret", privacy).unwrap();
        assert_eq!(answer(FOUND, Exposed), None);
        assert_eq!(answer(NEEDS_PASSWORD, OnThisMachine).unwrap(), b"secret\0");
        assert_eq!(answer(NEEDS_PASSWORD, Exposed).unwrap(), [2]);
    }

    #[test]
    fn a_password_is_encrypted_for_the_server_alone() {
        use rand_chacha::ChaCha8Rng;
        use rand_chacha::rand_core::SeedableRng;
        use rsa::pkcs8::EncodePublicKey;

        let private_key = rsa::PrivateKey::new(&mut ChaCha8Rng::from_seed([7; 32]), 1024).unwrap();
        let pem = private_key.to_public_key().to_public_key_pem(Default::default()).unwrap();
        let ciphertext =
            Plugin::CachingSha2.answer(pem.as_bytes(), NONCE, "secret", Privacy::Exposed).unwrap().unwrap();
        let masked = private_key.oaep_decrypt::<Sha1>(&ciphertext).unwrap();
        let password: Vec<u8> = masked.iter().zip(NONCE).map(|(byte, mask)| byte ^ mask).collect();
        assert_eq!(password, b"secret\0");
        let result = Plugin::Sha256.answer(b"no key", NONCE, "secret", Privacy::Exposed);
        assert!(error(result).contains("public key"));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        assert_eq!(Plugin::from_name(b"client_ed25519"), None);
        assert!(error(Err::<(), _>(unsupported(b"client_ed25519"))).contains("a login by client_ed25519;"));
    }
}
