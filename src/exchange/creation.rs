//! Creating a session, which is the operator's to ask for.

use http::{Request, Response};
use serde_json::{Map, Value, json};

use crate::agent::operator;
use crate::desk::Desk;
use crate::http::answer::{Form, success};
use crate::http::read;
use crate::params::{self, Fields};
use crate::refusal::{Refusal, Violation};
use crate::session::NewSession;
use crate::session::decide::Begun;
use crate::session::participant::Kind;
use crate::time::Timestamp;

/// The last segment of the path that creates a session.
pub(crate) const VERB: &str = "sessions:create";

/// A session to be created.
#[derive(Clone, Debug)]
pub struct Creation {
    new: NewSession,
}

impl Creation {
    /// In whose form errors are written.
    pub const FORM: Form<'static> = Form::Coordination;

    /// Reads the operator's request.
    ///
    /// # Errors
    /// The operator's token is missing, or the body breaks a rule.
    pub(super) fn read(desk: &Desk, request: &Request<Vec<u8>>) -> Result<Self, Refusal> {
        if !desk.is_operator(read::bearer(request.headers())) {
            return Err(Refusal::unauthenticated());
        }
        let body = read::body(request)?;
        let new = new_session(&body)?;
        Ok(Self { new })
    }

    /// The session that comes of it; its commit is to be made durable as the first of its session before
    /// [`answer`](Self::answer) leaves. `entropy` is 32 random bytes.
    #[must_use]
    pub fn begin(&self, now: Timestamp, entropy: [u8; 32]) -> Begun {
        self.new.begin(now, entropy)
    }

    /// The same, with an id for the session: it must be unlike that of any session there ever was.
    #[must_use]
    pub fn begin_as(&self, session_id: String, now: Timestamp, entropy: [u8; 32]) -> Begun {
        self.new.begin_as(session_id, now, entropy)
    }

    /// The answer: the session's id and its owner's token, shown this once.
    #[must_use]
    pub fn answer(begun: &Begun) -> Response<Vec<u8>> {
        let answer = json!({
            "sessionId": begun.session_id,
            "participant": begun.owner,
            "token": begun.token.to_string(),
        });
        success(Self::FORM, &answer, None)
    }
}

/// Reads `{"owner": {"displayName"?, "kind"?}}`; without it the owner is a person called owner.
fn new_session(body: &Map<String, Value>) -> Result<NewSession, Refusal> {
    let nobody = Map::new();
    let owner = match body.get("owner") {
        None => &nobody,
        Some(Value::Object(owner)) => owner,
        Some(_) => return Err(Refusal::invalid("owner", "expected an object")),
    };
    let found = params::violations(operator::OWNER, &[], owner);
    if !found.is_empty() {
        let within = |violation: Violation| Violation {
            field: format!("owner.{}", violation.field),
            ..violation
        };
        return Err(Refusal::violations(found.into_iter().map(within).collect()));
    }
    let fields = Fields(owner);
    Ok(NewSession {
        owner_name: fields.owned("displayName").unwrap_or_else(|| "owner".to_owned()),
        owner_kind: operator::kind(fields.text("kind")).unwrap_or(Kind::Human),
    })
}
