//! Which session a request needs, for hosts that keep every session in a place of its own.

use http::Request;

use crate::desk::Desk;
use crate::exchange::{CREATE_SESSION, Credential};
use crate::http::read;
use crate::http::route::{Route, Target, route};
use crate::session::id::Draw;

/// Where a request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anywhere: no session has a say in the answer.
    Anywhere,
    /// Where this session is, if it exists.
    Session(String),
    /// Wherever this session is known to exist, or not to: of its state the answer needs no more.
    Card(String),
    /// Where a session is yet to be created.
    New,
}

/// Says where a request is answered. Of the request only method, path and headers are looked at.
///
/// This decides nothing but the way: the answer is [`handle`](super::handle)'s in every place. A credential that is
/// missing or malformed is refused anywhere; any other names a session, and only that session can tell whether the
/// credential is good. A new session is for those with the operator's token.
#[must_use]
pub fn place<B>(desk: &Desk, request: &Request<B>) -> Place {
    let Ok(Route { tenant, target }) = route(request.method(), request.uri().path()) else {
        return Place::Anywhere;
    };
    match (&target, tenant) {
        (Target::Card, Some(tenant)) => Place::Card(tenant),
        (Target::Card, None) | (Target::Page(_) | Target::Options(_), _) => Place::Anywhere,
        (Target::Operator(verb), _) if verb == CREATE_SESSION => {
            if desk.is_operator(read::bearer(request.headers())) {
                Place::New
            } else {
                Place::Anywhere
            }
        }
        (target, tenant) => match Credential::of(desk, request.headers(), target, tenant.as_deref()) {
            Ok(credential) => Place::Session(credential.session_id().to_owned()),
            Err(_) => Place::Anywhere,
        },
    }
}

/// An id for a new session, from random bytes that nothing else is made of.
#[must_use]
pub fn new_session_id(entropy: [u8; 32]) -> String {
    Draw::new(entropy).short()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Config;
    use crate::session::Token;
    use crate::session::credential::is_session_id;

    const OPERATOR: &str = "an operator's token of 32 letters";

    fn placed(line: &str, bearer: Option<&str>) -> Place {
        let desk = Desk::new(Config {
            operator_token: Some(OPERATOR.to_owned()),
            ..Config::default()
        })
        .unwrap();
        let (method, path) = line.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(path);
        if let Some(bearer) = bearer {
            request = request.header("authorization", format!("Bearer {bearer}"));
        }
        place(&desk, &request.body(()).unwrap())
    }

    #[test]
    fn a_credential_leads_to_its_session_whatever_the_path_names() {
        let token = Token::new("s1", &"x".repeat(43)).to_string();
        for line in [
            "POST /message:send",
            "GET /s1/tasks",
            "GET /s2/tasks",
            "POST /extensions/session-coordination/v1/requests:list",
            "POST /operator/v1/participants:add",
        ] {
            assert_eq!(
                placed(line, Some(&token)),
                Place::Session("s1".to_owned()),
                "{line}"
            );
        }
    }

    #[test]
    fn what_no_session_has_a_say_in_is_answered_anywhere() {
        for (line, bearer) in [
            ("GET /.well-known/agent-card.json", None),
            ("OPTIONS /s1/tasks", Some(OPERATOR)),
            ("GET /nothing", Some(OPERATOR)),
            ("DELETE /tasks", Some(OPERATOR)),
            ("GET /s1/tasks", None),
            ("GET /s1/tasks", Some("a2ae_s1_short")),
            ("POST /operator/v1/sessions:create", None),
            (
                "POST /operator/v1/sessions:create",
                Some("another operator's token, no shorter"),
            ),
        ] {
            assert_eq!(placed(line, bearer), Place::Anywhere, "{line}");
        }
    }

    #[test]
    fn a_session_s_card_needs_its_existence_alone() {
        let card = placed("GET /s1/.well-known/agent-card.json", None);
        assert_eq!(card, Place::Card("s1".to_owned()));
    }

    #[test]
    fn only_the_operator_s_token_leads_to_a_new_session() {
        assert_eq!(
            placed("POST /operator/v1/sessions:create", Some(OPERATOR)),
            Place::New
        );
    }

    #[test]
    fn a_new_session_s_id_is_one() {
        assert!(is_session_id(&new_session_id([7; 32])));
        assert_ne!(new_session_id([7; 32]), new_session_id([8; 32]));
    }
}
