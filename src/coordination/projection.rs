//! What the extension says of a task on the core objects (session coordination, §15).

use serde_json::{Map, Value, json};

use crate::session::request::Request;
use crate::time::Timestamp;

/// The value of [`super::METADATA_KEY`] on the task that a request projects onto:
/// `{j5RequestId, requestState, assignees[], claimedAt?, unclaimedAt?, expiredAt?}`.
#[must_use]
pub fn metadata(request: &Request, now: Timestamp) -> Value {
    let state = request.state_at(now);
    let mut map = Map::new();
    map.insert("j5RequestId".to_owned(), json!(request.request_id));
    map.insert("requestState".to_owned(), json!(state.as_str()));
    let assignees: Vec<&str> = request
        .assignees
        .iter()
        .map(|one| one.participant_id.as_str())
        .collect();
    map.insert("assignees".to_owned(), json!(assignees));
    let expired_at = request
        .expires_at
        .filter(|_| state == crate::session::request::RequestState::Expired);
    let times = [
        ("claimedAt", request.claimed_at),
        ("unclaimedAt", request.unclaimed_at),
        ("expiredAt", expired_at),
    ];
    for (name, at) in times {
        if let Some(at) = at {
            map.insert(name.to_owned(), json!(at));
        }
    }
    Value::Object(map)
}
