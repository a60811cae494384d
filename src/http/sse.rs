//! Server-sent events: how a stream looks in bytes (WHATWG HTML, §9.2; A2A 1.0, §11.7).

use crate::json;
use crate::stream::Event;

/// The media type of a stream.
pub const MEDIA_TYPE: &str = "text/event-stream";

/// A comment that says that the stream is still there.
pub const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// Events as bytes. An id is the server's own and its JSON is one line, so that no field holds a line break.
#[must_use]
pub fn encode(events: &[Event]) -> Vec<u8> {
    let mut text = String::new();
    for Event { id, data } in events {
        let fields = [("id", id.clone()), ("data", data.as_ref().map(json::to_string))];
        for (name, value) in fields {
            if let Some(value) = value {
                text.extend([name, ": ", &value, "\n"]);
            }
        }
        text.push('\n');
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn encoded(id: Option<&str>, data: Option<serde_json::Value>) -> String {
        let id = id.map(str::to_owned);
        String::from_utf8(encode(&[Event { id, data }])).unwrap()
    }

    #[test]
    fn an_event_is_its_id_and_one_line_of_json() {
        let data = json!({"text": "two\nlines \u{2028}\r"});
        assert_eq!(
            encoded(Some("7"), Some(data)),
            "id: 7\ndata: {\"text\":\"two\\nlines \u{2028}\\r\"}\n\n"
        );
    }

    #[test]
    fn an_event_may_lack_either() {
        assert_eq!(encoded(None, Some(json!({}))), "data: {}\n\n");
        assert_eq!(encoded(Some("7-0"), None), "id: 7-0\n\n");
    }
}
