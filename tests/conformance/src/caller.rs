//! Calling a desk.

use a2a_edge::coordination;
use a2a_edge_stories::{Http, Target as _};
use http::Request;
use serde_json::{Value, json};

use crate::host::REQUIRED_EXTENSION;
use crate::{Failure, Outcome};

/// Somebody with a token, or nobody.
#[derive(Debug)]
pub struct Caller {
    http: Http,
    token: Option<String>,
}

impl Caller {
    /// A caller of the desk at this address.
    #[must_use]
    pub fn new(url: &str, token: Option<String>) -> Self {
        Self {
            http: Http::new(url),
            token,
        }
    }

    /// Calls an operation of session coordination, such as `requests:update`.
    ///
    /// # Errors
    /// No answer, or a refusal.
    pub fn coordinate(&self, operation: &str, body: &Value) -> Outcome<Value> {
        let path = format!("/extensions/session-coordination/v1/{operation}");
        self.call("POST", &path, Some(body))
    }

    /// Calls a verb of the owner's or the operator's, such as `participants:add`.
    ///
    /// # Errors
    /// As for [`Caller::coordinate`].
    pub fn operate(&self, verb: &str, body: &Value) -> Outcome<Value> {
        self.call("POST", &format!("/operator/v1/{verb}"), Some(body))
    }

    /// A task with its history.
    ///
    /// # Errors
    /// As for [`Caller::coordinate`].
    pub fn task(&self, task_id: &str) -> Outcome<Value> {
        self.call("GET", &format!("/tasks/{task_id}"), None)
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Outcome<Value> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("a2a-version", "1.0")
            .header("a2a-extensions", coordination::URI)
            .header("a2a-extensions", REQUIRED_EXTENSION);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(body.map_or_else(Vec::new, |body| body.to_string().into_bytes()))?;
        let answer = self.http.call(request)?;
        let status = answer.status();
        let value: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        if status.is_success() {
            return Ok(value);
        }
        Err(Failure::new(format!("{method} {path}: {status} {value}")).into())
    }
}

/// Who plays in a session.
#[derive(Debug)]
pub struct Cast {
    /// The token of the member, which does the work.
    pub member: String,
    /// The token of the client, which sends it.
    pub client: String,
    /// The client as the setting for callers without a credential names it: `SESSION/PARTICIPANT`.
    pub anonymous: String,
}

/// Creates a session and admits a member and a client.
///
/// # Errors
/// The desk refuses it.
pub fn cast(url: &str, operator: &str) -> Outcome<Cast> {
    let created = Caller::new(url, Some(operator.to_owned())).operate("sessions:create", &json!({}))?;
    let owner = Caller::new(url, Some(text(&created, "/token")?));
    let admit = |role: &str| owner.operate("participants:add", &json!({"displayName": role, "role": role}));
    let (member, client) = (admit("member")?, admit("client")?);
    Ok(Cast {
        member: text(&member, "/token")?,
        client: text(&client, "/token")?,
        anonymous: format!(
            "{}/{}",
            text(&created, "/sessionId")?,
            text(&client, "/participant/participantId")?
        ),
    })
}

/// A member of an answer that must be there.
pub(crate) fn text(answer: &Value, pointer: &str) -> Outcome<String> {
    let found = answer.pointer(pointer).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(format!("expected {pointer} in {answer}")).into())
}
