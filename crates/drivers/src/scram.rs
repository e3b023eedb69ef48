//! Client side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding.
//!
//! Passwords are not normalised: SASLprep would change only those with non-ASCII characters.

use std::fs::File;
use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// Accepted iteration counts. Servers ask for no fewer, and more would make the login take too long.
const ITERATIONS: std::ops::RangeInclusive<u32> = 4096..=1_000_000;

/// Client state of one login.
pub(crate) struct Scram {
    password: String,
    /// First message without its GS2 header (`n,,`), as it is signed.
    first_message: String,
    nonce: String,
    /// Signature that the server must send in its last message. `None` before [`Scram::answer`].
    signature: Option<[u8; 32]>,
}

impl Scram {
    /// Starts a login with a random nonce.
    pub(crate) fn new(user: &str, password: &str) -> std::io::Result<Self> {
        let mut random = [0; 18];
        File::open("/dev/urandom")?.read_exact(&mut random)?;
        Ok(Self::with_nonce(user, password, BASE64.encode(random)))
    }

    fn with_nonce(user: &str, password: &str, nonce: String) -> Self {
        let user = user.replace('=', "=3D").replace(',', "=2C");
        let first_message = format!("n={user},r={nonce}");
        Self { password: password.to_owned(), first_message, nonce, signature: None }
    }

    /// Returns the client's first message.
    pub(crate) fn first(&self) -> String {
        format!("n,,{}", self.first_message)
    }

    /// Returns the client's last message, which answers the server's first one.
    pub(crate) fn answer(&mut self, server_message: &str) -> Result<String, String> {
        let nonce = attribute(server_message, "r=")?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err("the server's nonce does not continue the client's".into());
        }
        let salt =
            BASE64.decode(attribute(server_message, "s=")?).map_err(|error| format!("the salt: {error}"))?;
        let iterations: u32 =
            attribute(server_message, "i=")?.parse().map_err(|error| format!("the iterations: {error}"))?;
        if !ITERATIONS.contains(&iterations) {
            return Err(format!("{iterations} iterations are out of bounds"));
        }
        let salted = salted(self.password.as_bytes(), &salt, iterations);
        let client_key = mac(&salted, &[b"Client Key"]);
        let stored_key: [u8; 32] = Sha256::digest(client_key).into();
        let last_message = format!("c=biws,r={nonce}");
        let signed_parts: [&[u8]; 5] =
            [self.first_message.as_bytes(), b",", server_message.as_bytes(), b",", last_message.as_bytes()];
        let client_signature = mac(&stored_key, &signed_parts);
        let mut proof = client_key;
        proof.iter_mut().zip(client_signature).for_each(|(byte, mask)| *byte ^= mask);
        self.signature = Some(mac(&mac(&salted, &[b"Server Key"]), &signed_parts));
        Ok(format!("{last_message},p={}", BASE64.encode(proof)))
    }

    /// Checks the server's signature, which proves that the server knows the password.
    pub(crate) fn verify(&self, server_message: &str) -> Result<(), String> {
        let signature = BASE64
            .decode(attribute(server_message, "v=")?)
            .map_err(|error| format!("the signature: {error}"))?;
        match self.signature {
            Some(expected) if signature == expected => Ok(()),
            _ => Err("the server does not know the password itself".into()),
        }
    }
}

fn attribute<'a>(message: &'a str, name: &str) -> Result<&'a str, String> {
    message
        .split(',')
        .find_map(|part| part.strip_prefix(name))
        .ok_or_else(|| format!("the server's message has no `{name}`"))
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC accepts keys of any length, so this cannot fail.
    let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) else { return [0; 32] };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Function `Hi` of RFC 5802, section 2.2.
fn salted(password: &[u8], salt: &[u8], iterations: u32) -> [u8; 32] {
    let mut block = mac(password, &[salt, &1_u32.to_be_bytes()]);
    let mut result = block;
    for _ in 1..iterations {
        block = mac(password, &[&block]);
        result.iter_mut().zip(block).for_each(|(byte, other)| *byte ^= other);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7677_comes_out() {
        let mut scram = Scram::with_nonce("user", "pencil", "rOprNGfwEbeRWgbNEkqO".into());
        assert_eq!(scram.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        assert_eq!(
            scram.answer(server).unwrap(),
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
             p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        );
        scram.verify("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").unwrap();
        assert!(scram.verify("v=AAAA").is_err());
    }

    #[test]
    fn a_server_that_is_none_is_refused() {
        for (server_message, expected) in [
            ("r=other,s=W22Z,i=4096", "does not continue"),
            ("r=mine,s=W22Z,i=4096", "does not continue"),
            ("r=mine+,s=W22Z,i=1", "out of bounds"),
            ("r=mine+,i=4096", "has no `s=`"),
            ("r=mine+,s=?,i=4096", "the salt"),
        ] {
            let error = Scram::with_nonce("a,b", "c", "mine".into()).answer(server_message).unwrap_err();
            assert!(error.contains(expected), "{server_message}: {error}");
        }
        assert_eq!(Scram::with_nonce("a,b=c", "", "n".into()).first(), "n,,n=a=2Cb=3Dc,r=n");
    }
}
