//! Public documents in Workers KV: they are shown, and decide nothing, however old they are.

use a2a_edge_stories::{Http, Target as _};
use a2a_edge_workers_tests::{Deployment, Directory};
use http::{Request, Response};
use serde_json::{Value, json};

use crate::party::{Party, Session};

fn get(party: &Party, path: &str, header: Option<(&str, &str)>) -> Response<Vec<u8>> {
    let request = header
        .into_iter()
        .fold(Request::get(path), |request, (name, value)| {
            request.header(name, value)
        });
    let http = Http::new(party.running.url());
    http.call(request.body(Vec::new()).unwrap()).unwrap()
}

#[test]
fn a_document_is_shown_to_everybody_until_what_they_kept_no_longer_holds() {
    let party = Party::new(&Deployment::default().old("document/guide.md", "# Guide"));
    let answer = get(&party, "/documents/guide.md", None);
    assert_eq!(
        (answer.status().as_u16(), answer.body().as_slice()),
        (200, &b"# Guide"[..])
    );
    for (name, value) in [
        ("content-type", "text/markdown; charset=utf-8"),
        ("cache-control", "public, max-age=300"),
        ("content-security-policy", "sandbox"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(answer.headers()[name], value);
    }
    assert!(answer.headers().contains_key("x-request-id"));
    let tag = answer.headers()["etag"].to_str().unwrap();
    let kept = get(&party, "/documents/guide.md", Some(("if-none-match", tag)));
    assert_eq!((kept.status().as_u16(), kept.body().len()), (304, 0));
    assert!(party.running.line_with(&["\"route\":\"document\""]).is_some());
    // One can't be written from outside.
    let put = party
        .caller
        .call("PUT /documents/guide.md", &party.session.owner, &json!("mine"));
    assert_eq!((put.status, put.reason()), (405, "METHOD_NOT_ALLOWED"));
}

/// By no name of a document does anybody see what else is in the directory.
#[test]
fn only_documents_are_shown() {
    let party = Party::new(&Deployment::default().old("card", "{}").old("document/a", "a"));
    let session = &party.session.id;
    for path in [
        "/documents/none.md",
        "/documents/card",
        "/documents/..%2Fcard",
        "/documents/%2e%2e/card",
        "/documents/",
        "/documents/a/b",
        &format!("/documents/session%2F{session}"),
        &format!("/{session}/documents/a"),
    ] {
        let answer = get(&party, path, None);
        assert_eq!(answer.status(), 404, "{path}");
    }
    for directory in [Directory::Failing, Directory::Absent] {
        let party = Party::new(&Deployment::default().directory(directory).old("document/a", "a"));
        assert_eq!(get(&party, "/documents/a", None).status(), 404, "{directory:?}");
    }
}

/// A document that has long been changed, and says what was never true of who may do what, is still shown. Who may is
/// decided by the session all the same, at once, and nothing but a request for a document ever reads one.
#[test]
fn an_old_document_makes_no_credential_and_no_claim_wrong() {
    let deployment = Deployment::default()
        .directory(Directory::Stale)
        .old("document/policy.json", r#"{"owners":["*"],"claims":[]}"#);
    let party = Party::new(&deployment);
    let owner = &party.session.owner;
    let members = ["First", "Second"].map(|name| Session::admit(&party.caller, owner, "member", name));
    let [first, second] = members;
    let claim = json!({"resourceId": "src/**", "claimType": "exclusive"});
    let acquire = |token: &str| party.caller.coordinate(token, "claims:acquire", &claim);
    acquire(&first.0).ok();
    assert_eq!(acquire(&second.0).reason(), "CLAIM_CONFLICT");
    party
        .caller
        .operate(owner, "participants:revoke", &json!({"participantId": first.1}));
    assert_eq!(acquire(&first.0).status, 401);
    let decide = party
        .caller
        .call("POST /operator/v1/tasks:list", &second.0, &json!({}));
    assert_eq!(decide.status, 404);
    let read = |lines: &[String]| lines.iter().filter(|line| line.contains("document/")).count();
    assert_eq!(read(&party.lines()), 0);
    let shown = get(&party, "/documents/policy.json", None);
    let shown: Value = serde_json::from_slice(shown.body()).unwrap();
    assert_eq!(shown["owners"], json!(["*"]));
    assert_eq!(read(&party.lines()), 1);
}
