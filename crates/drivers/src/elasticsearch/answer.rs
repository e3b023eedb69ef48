//! Decoding of HTTP responses, and the error messages in them.

use serde_json::Value as Json;

use crate::http::HttpResponse;

/// Content type of a body with one JSON value.
pub(super) const JSON: &str = "application/json";
/// Content type of a body with one JSON value per line.
pub(super) const LINES: &str = "application/x-ndjson";

impl HttpResponse {
    /// Parses the body as JSON. The error text shows the status and up to 200 characters of the body.
    pub(super) fn json(&self) -> std::result::Result<Json, String> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let text = String::from_utf8_lossy(&self.body);
            let excerpt: String = text.chars().take(200).collect();
            format!("status {}, {error}: {excerpt}", self.status)
        })
    }

    /// Returns the reason that a failed response states.
    pub(super) fn reason(&self) -> String {
        match self.json() {
            Ok(body) => reason(body.get("error").unwrap_or(&body)),
            Err(message) => message,
        }
    }
}

/// Returns the server's message for an error: the outermost reason, followed by up to 7 causes.
pub(super) fn reason(error: &Json) -> String {
    if let Some(text) = error.as_str() {
        return text.to_owned();
    }
    let mut texts: Vec<String> = Vec::new();
    let mut next_cause = Some(error);
    while let Some(cause) = next_cause {
        let kind = cause.get("type").and_then(Json::as_str);
        let message = cause.get("reason").and_then(Json::as_str);
        // Further lines only give the position of the server's parser in its own buffer.
        let message = message.and_then(|message| message.lines().next());
        let text = match (kind, message) {
            (Some(kind), Some(message)) => format!("{kind}: {message}"),
            (Some(text), None) | (None, Some(text)) => text.to_owned(),
            (None, None) => cause.to_string(),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
        let shard_reason = cause.pointer("/failed_shards/0/reason");
        next_cause = shard_reason.or_else(|| cause.get("caused_by")).filter(|_| texts.len() < 8);
    }
    texts.join("; caused by ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_reason_goes_back_to_the_first_cause() {
        let error = json!({
            "type": "search_phase_execution_exception", "reason": "all shards failed",
            "failed_shards": [{"reason": {"type": "a", "reason": "b", "caused_by": {"type": "c", "reason": "d\n at [Source: e]"}}}]
        });
        assert_eq!(
            reason(&error),
            "search_phase_execution_exception: all shards failed; caused by a: b; caused by c: d"
        );
        assert_eq!(reason(&json!("plain")), "plain");
        assert_eq!(reason(&json!({"x": 1})), r#"{"x":1}"#);
    }

    #[test]
    fn what_is_no_json_is_shown() {
        let answer = HttpResponse {
            status: 502,
            headers: ureq::http::HeaderMap::new(),
            body: b"Bad gateway".to_vec(),
        };
        assert!(answer.reason().contains("status 502") && answer.reason().contains("Bad gateway"));
    }
}
