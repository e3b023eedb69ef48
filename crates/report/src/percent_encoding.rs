//! Percent-encodes text for addresses (RFC 3986, section 2.1).

/// Percent-encodes text for an address.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.extend(["%".to_owned(), format!("{byte:02X}")]);
        }
    }
    encoded
}
