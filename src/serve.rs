//! The driver: load, decide, commit, answer; over whatever ports the host gives.
//!
//! It holds no state beyond a cache of sessions and reads no clock of its own. One session's requests take turns
//! within a process; across processes the store's compare-and-swap decides, and a loser decides again.

mod operator;
pub mod place;
mod sessions;

use http::{Request, Response};
use serde_json::{Value, json};

use crate::agent::{self, Call, Failed, Poll};
use crate::coordination::{self, catalogue};
use crate::extension::{Method, RequestContext, header as extensions};
use crate::http::answer::{self, Form, failure, success};
use crate::http::read;
use crate::http::route::{Target, route};
use crate::refusal::{A2A_DOMAIN, Code, Refusal};
use crate::session::{Caller, Session, Token};
use crate::store::{Bell, Store, StoreError};
use crate::time::Timestamp;

pub use crate::desk::{Config, ConfigError, Desk};
use sessions::Seat;
pub use sessions::Sessions;

/// How often a commit is decided again after another one took its number.
const ATTEMPTS: u32 = 8;

/// What a host lends to a request.
pub trait Host {
    /// Where sessions are kept.
    type Store: Store;
    /// How waiting requests are woken.
    type Bell: Bell;

    /// Where sessions are kept.
    fn store(&self) -> &Self::Store;
    /// How waiting requests are woken.
    fn bell(&self) -> &Self::Bell;
    /// The sessions that this process has in memory.
    fn sessions(&self) -> &Sessions;
    /// Now.
    fn now(&self) -> Timestamp;
    /// 32 bytes from a cryptographically secure source, fresh at every call.
    fn entropy(&self) -> [u8; 32];
    /// The id of the session that is created now, where the host has to know it before: one that keeps each
    /// session in a place of its own chooses it with the place ([`place::new_session_id`]). `None`: it is drawn.
    fn session_to_create(&self) -> Option<String> {
        None
    }
    /// Whether the host is about to end, so that nothing is waited for: a send is answered with its task as it stands.
    fn is_closing(&self) -> bool {
        false
    }
    /// Tells whoever runs the host of a failure that is no caller's fault.
    fn report(&self, fault: &StoreError) {
        let _ = fault;
    }
}

/// Why a request was not done.
#[derive(Debug)]
enum Trouble {
    /// The caller's to mend.
    Refused(Refusal, Option<String>),
    /// The host's to mend.
    Fault(StoreError),
    /// Others were quicker, again and again.
    Contended,
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal, None)
    }
}

impl From<Failed> for Trouble {
    fn from(failed: Failed) -> Self {
        Self::Refused(failed.refusal, failed.echo)
    }
}

impl From<StoreError> for Trouble {
    fn from(fault: StoreError) -> Self {
        Self::Fault(fault)
    }
}

/// Answers a request: every path, every error, on every host.
///
/// The body must have been read up to [`read::BODY_LIMIT`] bytes and one more; what is longer is refused either way.
pub async fn handle<H: Host>(host: &H, desk: &Desk, request: Request<Vec<u8>>) -> Response<Vec<u8>> {
    let route = match route(request.method(), request.uri().path()) {
        Ok(route) => route,
        Err(none) => {
            let form = if none.coordination {
                Form::Coordination
            } else {
                Form::Core
            };
            let mut response = failure(form, &none.refusal, None);
            if let Some(allow) = none.allow {
                answer::set(&mut response, "allow", allow);
            }
            return response;
        }
    };
    let form = if route.target.is_coordination() {
        Form::Coordination
    } else {
        Form::Core
    };
    let tenant = route.tenant.as_deref();
    let exchange = Exchange {
        host,
        desk,
        request: &request,
        tenant,
    };
    let outcome = match &route.target {
        Target::Card => exchange.card().await,
        Target::Core(method, task) => exchange.core(*method, task.as_deref()).await,
        Target::Extension { path, segment } => exchange.extension(path, segment).await,
        Target::Operator(segment) => exchange.operator(segment).await,
    };
    outcome.unwrap_or_else(|trouble| match trouble {
        Trouble::Refused(refusal, echo) => failure(form, &refusal, echo.as_deref()),
        Trouble::Contended => {
            let message = "too many changes at once; try again";
            failure(form, &Refusal::new(Code::Unavailable, message), None)
        }
        Trouble::Fault(fault) => {
            host.report(&fault);
            let refusal = match fault {
                StoreError::Unavailable(_) => {
                    Refusal::new(Code::Unavailable, "the desk can't reach its storage; try again")
                }
                StoreError::Corrupt(_) => Refusal::new(Code::Internal, "the desk met an internal error"),
            };
            failure(form, &refusal, None)
        }
    })
}

/// The agent's card, or that of a tenant that is known to exist: for a host that knows so without its store.
#[must_use]
pub fn card(desk: &Desk, tenant: Option<&str>) -> Response<Vec<u8>> {
    success(Form::Plain, &json!(agent::card::card(desk, tenant)), None)
}

/// Offers the store a snapshot of a session: for a host that does so in its own time rather than when a commit asks.
///
/// # Errors
/// What the store says; nothing is lost by it.
pub async fn compact<H: Host>(host: &H, session_id: &str) -> Result<(), StoreError> {
    let seat = host.sessions().seat(session_id).refreshed(host).await?;
    seat.compact(host).await
}

/// One request on its way to an answer.
struct Exchange<'a, H: Host> {
    host: &'a H,
    desk: &'a Desk,
    request: &'a Request<Vec<u8>>,
    tenant: Option<&'a str>,
}

type Answered = Result<Response<Vec<u8>>, Trouble>;

/// The same for a session that is another's and one that does not exist.
fn no_such_session() -> Refusal {
    Refusal::new(Code::NotFound, "no such session").with_reason(A2A_DOMAIN, "NOT_FOUND")
}

impl<H: Host> Exchange<'_, H> {
    fn requested(&self) -> Vec<String> {
        extensions::parse(self.request.headers().get_all(extensions::NAME))
    }

    async fn card(&self) -> Answered {
        if let Some(tenant) = self.tenant
            && self
                .host
                .sessions()
                .seat(tenant)
                .refreshed(self.host)
                .await?
                .session()
                .is_none()
        {
            return Err(no_such_session().into());
        }
        Ok(card(self.desk, self.tenant))
    }

    /// The session of the request's credential, refreshed, and who holds it.
    async fn enter(&self) -> Result<(Seat, Caller), Trouble> {
        let token: Token = read::token(self.request.headers())?;
        let seat = self
            .host
            .sessions()
            .seat(token.session())
            .refreshed(self.host)
            .await?;
        let caller = seat.session().and_then(|session| session.authenticate(&token));
        let caller = caller.ok_or_else(read::unauthenticated)?;
        if self.tenant.is_some_and(|tenant| tenant != token.session()) {
            return Err(no_such_session().into());
        }
        Ok((seat, caller))
    }

    async fn core(&self, method: Method, task: Option<&str>) -> Answered {
        let (mut seat, caller) = self.enter().await?;
        read::check_version(self.request)?;
        let mut params = if self.request.method() == http::Method::GET {
            read::query_params(self.request)
        } else {
            read::body(self.request)?
        };
        if params
            .get("tenant")
            .and_then(Value::as_str)
            .is_some_and(|named| !named.is_empty() && named != seat.id())
        {
            return Err(no_such_session().into());
        }
        if let Some(task) = task {
            let name = if method.name().contains("PushNotificationConfig") {
                "taskId"
            } else {
                "id"
            };
            params.insert(name.to_owned(), json!(task));
        }
        let requested = self.requested();
        let mut follow = self
            .transact(&mut seat, &caller, |session, now, entropy| {
                let (params, requested, caller) = (params.clone(), requested.clone(), caller.clone());
                let call = Call {
                    method,
                    params,
                    requested,
                    caller,
                    now,
                    entropy,
                };
                let step = agent::begin(self.desk, session, call)?;
                Ok((step.commit, step.follow))
            })
            .await?;
        loop {
            let now = self.host.now();
            let session = still(&seat, &caller)?;
            match follow.poll(self.desk, session, now)? {
                Poll::Ready(value, echo) => return Ok(success(Form::Core, &value, echo.as_deref())),
                Poll::Wait(_) if self.host.is_closing() => follow.wait_no_longer(),
                Poll::Wait(until) => {
                    let after = session.seq();
                    let absent = seat.leave();
                    self.host.bell().wait(absent.id(), after, until).await;
                    seat = absent.refreshed(self.host).await?;
                }
            }
        }
    }

    async fn extension(&self, path: &str, segment: &str) -> Answered {
        let (mut seat, caller) = self.enter().await?;
        let registry = self.desk.registry();
        let requested = extensions::requested(self.request.headers().get_all(extensions::NAME), &[]);
        let context = RequestContext {
            method: None,
            now: self.host.now(),
            tenant: Some(seat.id().to_owned()),
        };
        let active = registry.negotiate(&requested, &context)?;
        let echo = active.echo();
        let refuse = |refusal: Refusal| Trouble::Refused(refusal, echo.clone());
        let Some((extension, operations)) = registry.at_path(path) else {
            return Err(refuse(unsupported(segment)));
        };
        let uri = &extension.declaration().uri;
        if !active.is_active(uri) {
            return Err(refuse(Refusal::extensions_required(std::slice::from_ref(uri))));
        }
        let operation = operations
            .find(segment)
            .and_then(|operation| catalogue::find(&operation.name));
        let operation = operation.ok_or_else(|| refuse(unsupported(segment)))?;
        coordination::allow(operation, &caller).map_err(refuse)?;
        let body = read::body(self.request).map_err(refuse)?;
        let answer = self
            .transact(&mut seat, &caller, |session, now, entropy| {
                let call = coordination::Call {
                    caller: caller.clone(),
                    now,
                    entropy,
                    body: &body,
                };
                let decided = coordination::invoke(session, operation, &call);
                decided
                    .map(|decided| (decided.commit, decided.answer))
                    .map_err(refuse)
            })
            .await?;
        Ok(success(
            Form::Coordination,
            &answer.into_object(),
            echo.as_deref(),
        ))
    }

    /// Decides until the commit is in, or nothing needs to be committed.
    async fn transact<T>(
        &self,
        seat: &mut Seat,
        caller: &Caller,
        mut decide: impl FnMut(
            &Session,
            Timestamp,
            [u8; 32],
        ) -> Result<(Option<crate::session::Commit>, T), Trouble>,
    ) -> Result<T, Trouble> {
        for _ in 0..ATTEMPTS {
            let session = still(seat, caller)?;
            let (commit, result) = decide(session, self.host.now(), self.host.entropy())?;
            let Some(commit) = commit else { return Ok(result) };
            if seat.commit(self.host, &commit).await? {
                return Ok(result);
            }
        }
        Err(Trouble::Contended)
    }
}

/// The session, unless the caller's credential was revoked since it was looked at.
fn still<'a>(seat: &'a Seat, caller: &Caller) -> Result<&'a Session, Refusal> {
    let session = seat.session().filter(|session| session.is_current(caller));
    session.ok_or_else(read::unauthenticated)
}

/// An operation that no extension advertises.
fn unsupported(segment: &str) -> Refusal {
    let name = segment.replacen(':', ".", 1);
    Refusal::unsupported("expected an operation that the card advertises").with_fact("operation", name)
}
