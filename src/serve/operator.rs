//! The owner's verbs over HTTP, and the operator's own: creating a session.

use serde_json::{Map, Value, json};

use super::sessions::{offer, record};
use super::{Answered, Exchange, Host, Trouble};
use crate::agent::operator;
use crate::http::answer::{Form, success};
use crate::http::read;
use crate::params::{self, Fields};
use crate::refusal::{Refusal, Violation};
use crate::session::NewSession;
use crate::session::participant::Kind;
use crate::store::{Bell as _, Store as _, StoreError};

pub(super) const CREATE_SESSION: &str = "sessions:create";

impl<H: Host> Exchange<'_, H> {
    pub(super) async fn operator(&self, segment: &str) -> Answered {
        if segment == CREATE_SESSION {
            return self.create_session().await;
        }
        let (mut seat, caller) = self.enter().await?;
        let verb = operator::find(segment).filter(|_| caller.role.decides());
        let verb = verb.ok_or_else(operator::nothing_here)?;
        let body = read::body(self.request)?;
        let answer = self
            .transact(&mut seat, &caller, |session, now, entropy| {
                let ruled = operator::rule(session, verb, &body, &caller, now, entropy)?;
                Ok((ruled.commit, ruled.answer))
            })
            .await?;
        Ok(success(Form::Coordination, &answer.into_object(), None))
    }

    async fn create_session(&self) -> Answered {
        if !self.desk.is_operator(read::bearer(self.request.headers())) {
            return Err(read::unauthenticated().into());
        }
        let body = read::body(self.request)?;
        let new = new_session(&body)?;
        let (now, entropy) = (self.host.now(), self.host.entropy());
        let begun = match self.host.session_to_create() {
            Some(id) => new.begin_as(id, now, entropy),
            None => new.begin(now, entropy),
        };
        let first = record(&begun.commit)?;
        if !offer(|| self.host.store().create(&begun.session_id, &first)).await? {
            let why = "a new session's id is taken".to_owned();
            return Err(Trouble::Fault(StoreError::Unavailable(why)));
        }
        self.host.bell().ring(&begun.session_id, begun.commit.seq);
        let answer = json!({
            "sessionId": begun.session_id,
            "participant": begun.owner,
            "token": begun.token.to_string(),
        });
        Ok(success(Form::Coordination, &answer, None))
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
    let found = params::violations(operator::OWNER, owner);
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
