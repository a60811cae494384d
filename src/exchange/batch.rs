//! Several calls in one request: each is an exchange of its own, in their order, and their answers are one array.

use std::vec;

use http::{Request, Response, StatusCode};

use super::{Ask, Credential, Exchange};
use crate::extension::header::{self, NAME as EXTENSIONS};
use crate::http::answer;
use crate::http::rpc::Call;
use crate::refusal::{Code, Refusal};

/// With what the first call is answered for all: who calls is not known, or the desk is out of reach.
const FOR_ALL: [StatusCode; 2] = [StatusCode::UNAUTHORIZED, StatusCode::SERVICE_UNAVAILABLE];

/// How many bytes of answers are enough: what is called behind them is not done.
const ENOUGH: usize = 1 << 22;

/// A batch on its way: take the [`next`](Self::next) exchange, see it through, [`add`](Self::add) its answer, and when
/// there is none left give the [`answer`](Self::answer).
#[derive(Debug)]
pub struct Batch {
    request: Request<Vec<u8>>,
    tenant: Option<String>,
    credential: Credential,
    calls: vec::IntoIter<Call>,
    /// The answers, each behind a comma but the first.
    answers: Vec<u8>,
    /// The extensions that were active in any call.
    active: Vec<String>,
    /// Whether a call was answered.
    begun: bool,
    /// The answer to all of it, where the first call's is.
    refused: Option<Response<Vec<u8>>>,
}

impl Batch {
    /// `request` is the one that the calls came in, without its body.
    pub(super) fn new(
        request: Request<Vec<u8>>,
        tenant: Option<String>,
        credential: Credential,
        calls: Vec<Call>,
    ) -> Self {
        Self {
            request,
            tenant,
            credential,
            calls: calls.into_iter(),
            answers: Vec::new(),
            active: Vec::new(),
            begun: false,
            refused: None,
        }
    }

    /// The next call, none of which is answered with a stream.
    #[allow(
        clippy::should_implement_trait,
        reason = "each needs its answer before the next"
    )]
    pub fn next(&mut self) -> Option<Exchange> {
        if self.refused.is_some() {
            return None;
        }
        let call = self.calls.next()?;
        let full = self.answers.len() > ENOUGH && call.id.is_some();
        let call = if full {
            let message = "the batch's answers have become too long; call again in another";
            call.refused(Refusal::new(Code::ResourceExhausted, message))
        } else {
            call
        };
        Some(Exchange {
            request: self.request.clone(),
            tenant: self.tenant.clone(),
            ask: Ask::Rpc(call),
            credential: self.credential.clone(),
            entered: None,
        })
    }

    /// Takes the answer to the call that came last.
    pub fn add(&mut self, answer: Response<Vec<u8>>) {
        if !self.begun && FOR_ALL.contains(&answer.status()) {
            self.refused = Some(answer);
            return;
        }
        self.begun = true;
        for uri in header::parse(answer.headers().get_all(EXTENSIONS)) {
            if !self.active.contains(&uri) {
                self.active.push(uri);
            }
        }
        if !answer.body().is_empty() {
            self.answers
                .push(if self.answers.is_empty() { b'[' } else { b',' });
            self.answers.extend(answer.into_body());
        }
    }

    /// The answer to all of it: an array, or nothing where there were only notifications.
    #[must_use]
    pub fn answer(self) -> Response<Vec<u8>> {
        if let Some(refused) = self.refused {
            return refused;
        }
        let mut body = self.answers;
        let mut response = Response::new(Vec::new());
        if body.is_empty() {
            *response.status_mut() = StatusCode::NO_CONTENT;
        } else {
            body.push(b']');
            answer::set(&mut response, "content-type", "application/json");
            *response.body_mut() = body;
        }
        if let Some(echo) = header::format(&self.active) {
            answer::set(&mut response, EXTENSIONS, &echo);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::rpc::{self, Calls};
    use crate::session::Token;

    /// What a batch of so many calls comes to when they are answered with these statuses and bodies.
    fn answered(answers: &[(u16, &str)]) -> (u16, String) {
        let request = Request::new(Vec::new());
        let token = Token::new("s1", &"x".repeat(43));
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#;
        let calls = format!("[{}]", vec![call; answers.len()].join(","));
        let posted = Request::post("/rpc").header("content-type", "application/json");
        let Calls::Batch(calls) = rpc::read(&posted.body(calls.into_bytes()).unwrap()) else {
            panic!("no batch");
        };
        let mut batch = Batch::new(request, None, Credential::Token(token), calls);
        for (status, body) in answers {
            if batch.next().is_none() {
                break;
            }
            let mut answer = Response::new(body.as_bytes().to_vec());
            *answer.status_mut() = StatusCode::from_u16(*status).unwrap();
            batch.add(answer);
        }
        assert!(batch.next().is_none());
        let answer = batch.answer();
        (
            answer.status().as_u16(),
            String::from_utf8(answer.into_body()).unwrap(),
        )
    }

    #[test]
    fn answers_are_one_array_whatever_became_of_them() {
        let whole = |body: &str| (200, body.to_owned());
        assert_eq!(answered(&[(200, "1"), (204, ""), (403, "2")]), whole("[1,2]"));
        assert_eq!(
            answered(&[(403, "1"), (200, "2"), (503, "3"), (401, "4")]),
            whole("[1,2,3,4]")
        );
        assert_eq!(answered(&[(204, ""), (204, "")]), (204, String::new()));
    }

    #[test]
    fn a_stranger_and_a_desk_without_its_storage_are_told_at_once() {
        for status in [401, 503] {
            assert_eq!(answered(&[(status, "1"), (200, "2")]), (status, "1".to_owned()));
        }
    }
}
