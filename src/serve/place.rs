//! Which session a request needs, for hosts that keep every session in a place of its own.

use http::{Request, Response};

use crate::desk::Desk;
use crate::exchange::{self, CREATE_SESSION, Credential, Plan};
use crate::extension::Method;
use crate::http::answer;
use crate::http::read;
use crate::http::route::{Route, Target, route};
use crate::session::id::Draw;

/// Where a request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anywhere: no session has a say in the answer.
    Anywhere,
    /// Wherever the deployment's own documents are, if the host has any: by its name. [Anywhere](Self::Anywhere) there is
    /// none.
    Document(String),
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
        (Target::Document(name), _) => Place::Document(name.clone()),
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

/// The answer to a request that is answered [anywhere](Place::Anywhere); none to another. Its body is not looked at.
#[must_use]
pub fn answer(desk: &Desk, request: Request<Vec<u8>>) -> Option<Response<Vec<u8>>> {
    let (grant, method) = (desk.grant(&request), request.method().clone());
    let Plan::Answer(answer) = exchange::plan(desk, request) else {
        return None;
    };
    let mut answer = answer::to(&method, answer);
    grant.put(&mut answer);
    Some(answer)
}

/// Whether a request may ask for a card, public or extended: for a host that has the card's document from elsewhere, and
/// lets nothing else depend on it. Without the body, what is asked by JSON-RPC is not known.
#[must_use]
pub fn shows_card(request: &Request<Vec<u8>>) -> bool {
    let name = Method::GetExtendedAgentCard.name().as_bytes();
    match route(request.method(), request.uri().path()).map(|route| route.target) {
        Ok(Target::Card | Target::Core(Method::GetExtendedAgentCard, _)) => true,
        Ok(Target::Rpc) => request.body().windows(name.len()).any(|bytes| bytes == name),
        _ => false,
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

    fn desk() -> Desk {
        Desk::new(Config {
            operator_token: Some(OPERATOR.to_owned()),
            ..Config::default()
        })
        .unwrap()
    }

    fn request(line: &str, bearer: Option<&str>) -> Request<Vec<u8>> {
        let (method, path) = line.split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(path);
        if let Some(bearer) = bearer {
            request = request.header("authorization", format!("Bearer {bearer}"));
        }
        request.body(Vec::new()).unwrap()
    }

    fn placed(line: &str, bearer: Option<&str>) -> Place {
        place(&desk(), &request(line, bearer))
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
        for (line, bearer, status) in [
            ("GET /.well-known/agent-card.json", None, 200),
            ("OPTIONS /s1/tasks", Some(OPERATOR), 204),
            ("GET /nothing", Some(OPERATOR), 404),
            ("DELETE /tasks", Some(OPERATOR), 405),
            ("GET /s1/tasks", None, 401),
            ("GET /s1/tasks", Some("a2ae_s1_short"), 401),
            ("POST /operator/v1/sessions:create", None, 401),
            (
                "POST /operator/v1/sessions:create",
                Some("another operator's token, no shorter"),
                401,
            ),
        ] {
            assert_eq!(placed(line, bearer), Place::Anywhere, "{line}");
            let answer = answer(&desk(), request(line, bearer)).unwrap();
            assert_eq!(answer.status(), status, "{line}");
        }
    }

    #[test]
    fn what_a_session_has_a_say_in_is_not_answered_anywhere() {
        let token = Token::new("s1", &"x".repeat(43)).to_string();
        for (line, bearer) in [
            ("GET /s1/.well-known/agent-card.json", None),
            ("GET /tasks", Some(token.as_str())),
            ("POST /rpc", Some(token.as_str())),
        ] {
            assert!(answer(&desk(), request(line, bearer)).is_none(), "{line}");
        }
    }

    #[test]
    fn a_head_is_answered_without_a_body() {
        let line = "/.well-known/agent-card.json";
        let [head, get] =
            ["HEAD", "GET"].map(|verb| answer(&desk(), request(&format!("{verb} {line}"), None)).unwrap());
        assert_eq!(head.headers()["etag"], get.headers()["etag"]);
        assert!(head.body().is_empty() && !get.body().is_empty());
    }

    #[test]
    fn a_card_is_shown_by_three_paths_and_by_a_call_of_json_rpc() {
        let shows =
            |line: &str, body: &str| shows_card(&request(line, None).map(|_| body.as_bytes().to_vec()));
        for line in [
            "GET /.well-known/agent-card.json",
            "HEAD /s1/.well-known/agent-card.json",
            "GET /extendedAgentCard",
        ] {
            assert!(shows(line, ""), "{line}");
        }
        let call = r#"[{"method":"GetTask"},{"method":"GetExtendedAgentCard"}]"#;
        assert!(shows("POST /rpc", call) && shows("POST /s1/rpc", call));
        for (line, body) in [
            ("POST /rpc", r#"{"method":"GetTask"}"#),
            ("POST /rpc", ""),
            ("POST /message:send", call),
            ("OPTIONS /extendedAgentCard", ""),
            ("GET /tasks", ""),
        ] {
            assert!(!shows(line, body), "{line} {body}");
        }
    }

    #[test]
    fn a_document_is_nobody_s_session() {
        for bearer in [None, Some(OPERATOR)] {
            let line = "GET /documents/guide.md";
            assert_eq!(placed(line, bearer), Place::Document("guide.md".to_owned()));
            assert_eq!(answer(&desk(), request(line, bearer)).unwrap().status(), 404);
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
