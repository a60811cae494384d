//! What the extension says of a task on the core objects (session coordination, §15).

use serde_json::{Map, Value, json};

use crate::session::request::RequestStanding;

/// The value of [`super::METADATA_KEY`] on the task that a request projects onto, and on what tells of its status:
/// `{j5RequestId, requestState, assignees[], claimedAt?, unclaimedAt?, expiredAt?}`.
#[must_use]
pub fn metadata(request_id: &str, standing: &RequestStanding) -> Value {
    let mut map = Map::new();
    map.insert("j5RequestId".to_owned(), json!(request_id));
    map.insert("requestState".to_owned(), json!(standing.state.as_str()));
    map.insert("assignees".to_owned(), json!(standing.assignees));
    let times = [
        ("claimedAt", standing.claimed_at),
        ("unclaimedAt", standing.unclaimed_at),
        ("expiredAt", standing.expired_at),
    ];
    for (name, at) in times {
        if let Some(at) = at {
            map.insert(name.to_owned(), json!(at));
        }
    }
    Value::Object(map)
}
