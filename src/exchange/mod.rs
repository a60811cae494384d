//! One request on its way to an answer, without I/O.
//!
//! [`plan`] says of a request what it takes to answer it. Whoever has that drives the rest: it reads the session that
//! an [`Exchange`] names, makes durable what it decides, and looks again when the session has moved on. Neither time
//! nor randomness is taken from anywhere but the arguments, so that every host answers the same.

mod batch;
mod creation;
mod credential;
mod operation;
mod recall;
mod stream;
mod work;

use std::sync::Arc;

use http::{HeaderMap, Request, Response};

pub use batch::Batch;
pub use creation::Creation;
pub(crate) use creation::VERB as CREATE_SESSION;
pub(crate) use credential::Credential;
pub use stream::Advance;

use crate::agent::{self, Failed};
use crate::coordination::catalogue;
use crate::coordination::reference::Page;
use crate::desk::Desk;
use crate::extension::Method;
use crate::http::answer::{self, Form, failure, success};
use crate::http::conditional::Kept;
use crate::http::route::{NoRoute, Route, Target, nothing_here, route};
use crate::http::rpc::{self, Call, Calls};
use crate::refusal::{A2A_DOMAIN, Code, Refusal};
use crate::session::event::Span;
use crate::session::{Caller, Commit, Session};
use crate::time::Timestamp;
use work::{Outcome, Work};

/// What it takes to answer a request.
#[derive(Debug)]
pub enum Plan {
    /// Nothing more: no session has a say in it.
    Answer(Response<Vec<u8>>),
    /// To know whether a session exists, whose card is asked for.
    Card(Card),
    /// A session.
    Call(Box<Exchange>),
    /// A session, several times.
    Batch(Box<Batch>),
    /// To create a session.
    Create(Creation),
}

/// Says what it takes to answer a request: every path, every error. A HEAD is answered as a GET: whoever sends the
/// answer leaves out its body ([`answer::to`]).
///
/// The body must have been read up to [`read::BODY_LIMIT`] bytes and one more; what is longer is refused either way.
#[must_use]
pub fn plan(desk: &Desk, request: Request<Vec<u8>>) -> Plan {
    let Route { tenant, target } = match route(request.method(), request.uri().path()) {
        Ok(route) => route,
        Err(none) => return Plan::Answer(nowhere(&none)),
    };
    let form = target.form();
    let refused = |refusal: Refusal| Plan::Answer(failure(form, &refusal, None));
    match target {
        Target::Options(allow) => Plan::Answer(answer::options(allow)),
        Target::Page(page) => Plan::Answer(published(desk, page, request.headers())),
        // Whoever has documents has answered already.
        Target::Document(_) => Plan::Answer(nowhere(&nothing_here())),
        Target::Card => match tenant {
            Some(session_id) => Plan::Card(Card {
                session_id,
                headers: request.into_parts().0.headers,
            }),
            None => Plan::Answer(public_card(desk, None, request.headers())),
        },
        Target::Operator(verb) if verb == CREATE_SESSION => match Creation::read(desk, &request) {
            Ok(creation) => Plan::Create(creation),
            Err(refusal) => refused(refusal),
        },
        target => match Credential::of(desk, request.headers(), &target, tenant.as_deref()) {
            Ok(credential) => call(request, tenant, target, credential),
            Err(refusal) => refused(refusal),
        },
    }
}

/// What it takes to answer somebody who may call.
fn call(request: Request<Vec<u8>>, tenant: Option<String>, target: Target, credential: Credential) -> Plan {
    let (request, ask) = match target {
        Target::Rpc => {
            let calls = rpc::read(&request);
            let request = request.map(|_| Vec::new());
            match calls {
                Calls::One(call) => (request, Ask::Rpc(call)),
                Calls::Batch(calls) => {
                    return Plan::Batch(Box::new(Batch::new(request, tenant, credential, calls)));
                }
            }
        }
        target => (request, Ask::Http(target)),
    };
    Plan::Call(Box::new(Exchange {
        request,
        tenant,
        ask,
        credential,
        entered: None,
    }))
}

/// The answer to a request without a destination.
fn nowhere(none: &NoRoute) -> Response<Vec<u8>> {
    let mut response = failure(none.form, &none.refusal, None);
    if let Some(allow) = none.allow {
        answer::set(&mut response, "allow", allow);
    }
    response
}

/// The whole answer to a request for the agent's card, or for that of a tenant that is known to exist: for a host
/// that knows so without its store.
#[must_use]
pub fn card<B>(desk: &Desk, tenant: Option<&str>, request: &Request<B>) -> Response<Vec<u8>> {
    let card = public_card(desk, tenant, request.headers());
    let mut card = answer::to(request.method(), card);
    desk.grant(request).put(&mut card);
    card
}

/// The card, unless the one that the client kept still holds. That of no session is made once.
fn public_card(desk: &Desk, tenant: Option<&str>, headers: &HeaderMap) -> Response<Vec<u8>> {
    let card = || {
        let whole = success(Form::Plain, &agent::card::card(desk, tenant), None);
        Kept::new(whole, desk.config.card_modified)
    };
    match tenant {
        Some(_) => card().answer(headers),
        None => desk.card.get_or_init(card).answer(headers),
    }
}

/// What is published, unless what the client kept still holds.
fn published(desk: &Desk, page: Page, headers: &HeaderMap) -> Response<Vec<u8>> {
    let mut whole = Response::new(page.text(&desk.config.base_url).into_bytes());
    answer::set(&mut whole, "content-type", page.media_type());
    Kept::new(whole, None).answer(headers)
}

/// The same for a session that is another's and one that does not exist.
fn no_such_session() -> Refusal {
    Refusal::new(Code::NotFound, "no such session").with_reason(A2A_DOMAIN, "NOT_FOUND")
}

/// A question for the card of a session.
#[derive(Clone, Debug)]
pub struct Card {
    session_id: String,
    /// Those of the request.
    headers: HeaderMap,
}

impl Card {
    /// In whose form errors are written.
    pub const FORM: Form<'static> = Form::Core;

    /// The session.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The answer, for a session that exists or does not.
    #[must_use]
    pub fn answer(&self, desk: &Desk, exists: bool) -> Response<Vec<u8>> {
        if exists {
            public_card(desk, Some(&self.session_id), &self.headers)
        } else {
            failure(Self::FORM, &no_such_session(), None)
        }
    }
}

/// A request that is answered from a session.
///
/// [`decide`](Self::decide) comes first, and again where another commit was quicker than the one it gave, looked at or
/// not. Then [`poll`](Self::poll) until there is an answer.
#[derive(Debug)]
pub struct Exchange {
    request: Request<Vec<u8>>,
    tenant: Option<String>,
    ask: Ask,
    credential: Credential,
    entered: Option<Entered>,
}

/// What is asked, in the binding that it came in.
#[derive(Debug)]
enum Ask {
    /// By method and path.
    Http(Target),
    /// By an envelope.
    Rpc(Call),
}

impl Ask {
    const fn form(&self) -> Form<'_> {
        match self {
            Self::Http(target) => target.form(),
            Self::Rpc(call) => Form::Rpc(call.id.as_ref()),
        }
    }
}

/// An exchange whose caller is known.
#[derive(Debug)]
struct Entered {
    caller: Arc<Caller>,
    work: Work,
    outcome: Option<Outcome>,
}

impl Entered {
    const fn new(caller: Arc<Caller>, work: Work) -> Self {
        Self {
            caller,
            work,
            outcome: None,
        }
    }
}

/// What looking for an answer came to.
#[derive(Debug)]
pub enum Poll {
    /// The answer.
    Ready(Response<Vec<u8>>),
    /// Nothing yet: look again when the session has moved on, at the latest then.
    Wait(Timestamp),
    /// Nothing without these commits of the session's log: [`supply`](Exchange::supply) them, then look again.
    Log(Span),
    /// The answer is a stream, and this its beginning: from now on [`advance`](Exchange::advance).
    Stream(Response<()>),
}

impl Exchange {
    /// The session that the request's credential names; whether there is one is for the host to find out.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.credential.session_id()
    }

    /// Whether nothing is ever committed for it, whatever else it says.
    #[must_use]
    pub fn only_looks(&self) -> bool {
        match &self.ask {
            Ask::Http(Target::Core(method, _)) => method.reads(),
            Ask::Http(Target::Extension { segment, .. }) => {
                let operation = catalogue::find(&segment.replacen(':', ".", 1));
                operation.is_some_and(|operation| operation.read_only)
            }
            Ask::Http(_) => false,
            Ask::Rpc(call) => call.method().is_some_and(Method::reads),
        }
    }

    /// In whose form the answer is written.
    #[must_use]
    pub const fn form(&self) -> Form<'_> {
        self.ask.form()
    }

    /// A refusal as the answer.
    #[must_use]
    pub fn refuse(&self, failed: &Failed) -> Response<Vec<u8>> {
        failure(self.form(), &failed.refusal, failed.echo.as_deref())
    }

    /// Decides the request in the session as it stands; `session` is none where none exists. A commit is to be made
    /// durable and applied before the answer is looked for; none means that nothing changes. `entropy` is 32 random
    /// bytes, fresh at every call.
    ///
    /// # Errors
    /// What the request is refused with; the exchange is over.
    pub fn decide(
        &mut self,
        desk: &Desk,
        session: Option<&Session>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<Option<Commit>, Failed> {
        let entered = match self.entered.take() {
            Some(entered) => entered,
            None => self.enter(desk, session, now)?,
        };
        let Entered { caller, work, .. } = &entered;
        let session = still(session, caller)?;
        let (commit, mut outcome) = work.decide(desk, session, caller, now, entropy)?;
        if self.form() == Form::Rpc(None) {
            outcome.wait_no_longer();
        }
        self.entered = Some(Entered {
            outcome: Some(outcome),
            ..entered
        });
        Ok(commit)
    }

    /// Finds out who calls, and reads the request.
    fn enter(&self, desk: &Desk, session: Option<&Session>, now: Timestamp) -> Result<Entered, Failed> {
        let caller = session.and_then(|session| self.credential.caller(session));
        let caller = caller.map(Arc::new).ok_or_else(Refusal::unauthenticated)?;
        let session_id = self.session_id();
        if self.tenant.as_deref().is_some_and(|tenant| tenant != session_id) {
            return Err(no_such_session().into());
        }
        let target = match &self.ask {
            Ask::Http(target) => target,
            Ask::Rpc(call) => {
                let work = Work::rpc(&self.request, session_id, desk, call, now)?;
                return Ok(Entered::new(caller, work));
            }
        };
        let work = match target {
            Target::Core(method, named) => Work::core(&self.request, session_id, desk, *method, named, now)?,
            Target::Extension { path, segment } => {
                Work::extension(&self.request, session_id, desk, path, segment, &caller, now)?
            }
            Target::Operator(segment) => Work::operator(&self.request, segment, &caller)?,
            Target::Card | Target::Page(_) | Target::Document(_) | Target::Rpc | Target::Options(_) => {
                return Err(no_such_session().into());
            }
        };
        Ok(Entered::new(caller, work))
    }

    /// Looks for the answer in the session as it stands.
    ///
    /// # Errors
    /// What the request is refused with; the exchange is over.
    pub fn poll(&mut self, desk: &Desk, session: Option<&Session>, now: Timestamp) -> Result<Poll, Failed> {
        let Some(Entered {
            caller,
            outcome: Some(outcome),
            ..
        }) = &mut self.entered
        else {
            return Err(Refusal::unauthenticated().into());
        };
        outcome.poll(desk, self.ask.form(), || still(session, caller), now)
    }

    /// The commits that [`Poll::Log`] asked for, in order and without a gap; fewer where the log ends before.
    pub fn supply(&mut self, commits: Vec<Commit>) {
        if let Some(Entered {
            outcome: Some(outcome),
            ..
        }) = &mut self.entered
        {
            outcome.supply(commits);
        }
    }

    /// What comes next of an answer that is a stream, in the session as it stands. It ends with the caller's
    /// credential.
    pub fn advance(&mut self, desk: &Desk, session: Option<&Session>, now: Timestamp) -> Advance {
        match &mut self.entered {
            Some(Entered {
                caller,
                outcome: Some(Outcome::Stream(stream)),
                ..
            }) => match still(session, caller) {
                Ok(session) => stream.advance(desk, session, self.ask.form(), now),
                Err(_) => Advance::End,
            },
            _ => Advance::End,
        }
    }

    /// From now on the answer is what there is.
    pub fn wait_no_longer(&mut self) {
        if let Some(Entered {
            outcome: Some(outcome),
            ..
        }) = &mut self.entered
        {
            outcome.wait_no_longer();
        }
    }
}

/// The session, unless the caller's credential was revoked since it was looked at.
fn still<'a>(session: Option<&'a Session>, caller: &Caller) -> Result<&'a Session, Refusal> {
    let session = session.filter(|session| session.is_current(caller));
    session.ok_or_else(Refusal::unauthenticated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::Config;
    use crate::session::Token;

    const OPERATOR: &str = "an operator's token of 32 letters";
    const NOW: Timestamp = Timestamp::from_millis(1_784_250_000_000);

    fn desk() -> Desk {
        let operator_token = Some(OPERATOR.to_owned());
        Desk::new(Config {
            operator_token,
            ..Config::default()
        })
        .unwrap()
    }

    fn planned(desk: &Desk, line: &str, bearer: &str) -> Plan {
        let (method, path) = line.split_once(' ').unwrap();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {bearer}"));
        plan(desk, request.body(Vec::new()).unwrap())
    }

    fn call(desk: &Desk, line: &str, bearer: &str) -> Exchange {
        match planned(desk, line, bearer) {
            Plan::Call(exchange) => *exchange,
            other => panic!("{other:?}"),
        }
    }

    fn created(desk: &Desk) -> (Session, String) {
        let Plan::Create(creation) = planned(desk, "POST /operator/v1/sessions:create", OPERATOR) else {
            panic!("no creation");
        };
        let begun = creation.begin(NOW, [7; 32]);
        assert_eq!(Creation::answer(&begun).status(), 200);
        let mut session = Session::default();
        assert!(session.apply(&Commit::read(&begun.commit.to_bytes()).unwrap()));
        (session, begun.token.to_string())
    }

    #[test]
    fn what_is_called_says_whether_it_only_looks() {
        let token = Token::new("s", &"x".repeat(43)).to_string();
        let desk = desk();
        for (line, looks) in [
            ("GET /tasks/t", true),
            ("HEAD /tasks/t", true),
            ("POST /tasks/t:subscribe", true),
            ("POST /message:send", false),
            ("POST /tasks/t:cancel", false),
            ("DELETE /tasks/t/pushNotificationConfigs/c", false),
            ("POST /extensions/session-coordination/v1/digest:get", true),
            ("GET /extensions/session-coordination/v1/events:stream", true),
            ("POST /extensions/session-coordination/v1/claims:acquire", false),
            ("POST /extensions/session-coordination/v1/nothing:get", false),
            ("POST /operator/v1/participants:list", false),
        ] {
            assert_eq!(call(&desk, line, &token).only_looks(), looks, "{line}");
        }
        for (method, looks) in [("GetTask", true), ("CancelTask", false), ("Nothing", false)] {
            let request = Request::post("/rpc")
                .header("authorization", format!("Bearer {token}"))
                .header("content-type", "application/json");
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
            let Plan::Call(exchange) = plan(&desk, request.body(body.into_bytes()).unwrap()) else {
                panic!("no call");
            };
            assert_eq!(exchange.only_looks(), looks, "{method}");
        }
    }

    #[test]
    fn a_session_is_begun_and_answers_without_any_io() {
        let desk = desk();
        let (session, token) = created(&desk);
        let mut exchange = call(&desk, "POST /operator/v1/participants:list", &token);
        assert_eq!(exchange.session_id(), session.id());
        let decided = exchange.decide(&desk, Some(&session), NOW, [8; 32]).unwrap();
        assert!(decided.is_none());
        let Poll::Ready(answer) = exchange.poll(&desk, Some(&session), NOW).unwrap() else {
            panic!("an answer waits for nothing");
        };
        assert_eq!(answer.status(), 200);
    }

    #[test]
    fn nobody_is_answered_from_a_session_that_is_not_theirs() {
        let desk = desk();
        let (session, token) = created(&desk);
        for known in [None, Some(&Session::default())] {
            let mut exchange = call(&desk, "GET /tasks", &token);
            let failed = exchange.decide(&desk, known, NOW, [8; 32]).unwrap_err();
            assert_eq!(exchange.refuse(&failed).status(), 401);
        }
        let mut exchange = call(&desk, "GET /another/tasks", &token);
        let failed = exchange.decide(&desk, Some(&session), NOW, [8; 32]).unwrap_err();
        assert_eq!(exchange.refuse(&failed).status(), 404);
    }

    #[test]
    fn there_is_no_answer_before_a_decision() {
        let desk = desk();
        let (session, token) = created(&desk);
        let mut exchange = call(&desk, "GET /tasks", &token);
        assert!(exchange.poll(&desk, Some(&session), NOW).is_err());
    }
}
