//! What a request that was let in asks for, and what it came to.

use std::sync::Arc;

use http::Request;
use serde_json::{Map, Value, json};

use super::operation::{Invocation, Reading};
use super::recall::Recall;
use super::stream::{Source, Stream};
use super::{Poll, no_such_session};
use crate::agent::operator::{self, Verb};
use crate::agent::{self, Failed, Follow};
use crate::coordination::{self, catalogue};
use crate::desk::Desk;
use crate::extension::{Method, RequestContext, header as extensions};
use crate::http::answer::{Form, success};
use crate::http::read;
use crate::http::rpc::Call;
use crate::refusal::Refusal;
use crate::session::{Answer, Caller, Commit, Session};
use crate::time::Timestamp;

/// A request, authenticated and read.
#[derive(Debug)]
pub(super) enum Work {
    /// A core operation.
    Core {
        method: Method,
        params: Map<String, Value>,
        requested: Vec<String>,
        /// How much of its task a client of a stream knows already.
        known: Option<usize>,
    },
    /// An operation of session coordination.
    Extension(Invocation),
    /// A verb of those who decide.
    Operator {
        verb: &'static Verb,
        body: Map<String, Value>,
    },
}

/// What deciding came to, before the answer.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The answer is in the session.
    Follow(Box<Follow>),
    /// The answer, with the extensions that were active.
    Answer(Answer, Option<String>),
    /// The answer is in the session's log.
    Read(Box<Reading>),
    /// The answer was given before.
    Recall(Recall),
    /// The answer is a stream.
    Stream(Box<Stream>),
}

pub(super) type Decided = (Option<Commit>, Outcome);

impl Work {
    /// A core operation by its method and path.
    pub(super) fn core(
        request: &Request<Vec<u8>>,
        session_id: &str,
        desk: &Desk,
        method: Method,
        named: &[(&'static str, String)],
        now: Timestamp,
    ) -> Result<Self, Failed> {
        Self::by_path(request, session_id, method, named)
            .map_err(|refusal| early(request, session_id, desk, Some(method), now, refusal))
    }

    /// The same by its envelope.
    pub(super) fn rpc(
        request: &Request<Vec<u8>>,
        session_id: &str,
        desk: &Desk,
        call: &Call,
        now: Timestamp,
    ) -> Result<Self, Failed> {
        Self::by_envelope(request, session_id, call).map_err(|refusal| {
            let method = call.operation().ok().map(|(method, _)| method);
            early(request, session_id, desk, method, now, refusal)
        })
    }

    fn by_path(
        request: &Request<Vec<u8>>,
        session_id: &str,
        method: Method,
        named: &[(&'static str, String)],
    ) -> Result<Self, Refusal> {
        read::check_version(request)?;
        let mut params = if matches!(*request.method(), http::Method::GET | http::Method::HEAD) {
            read::query_params(request)
        } else {
            read::body(request)?
        };
        for (name, value) in named {
            params.insert((*name).to_owned(), json!(value));
        }
        Self::operation(request, session_id, method, params)
    }

    fn by_envelope(request: &Request<Vec<u8>>, session_id: &str, call: &Call) -> Result<Self, Refusal> {
        call.check()?;
        // Before the method is looked for: whoever speaks an older version does not know its name.
        read::check_version(request)?;
        let (method, params) = call.operation()?;
        Self::operation(request, session_id, method, params)
    }

    /// A core operation with its request object.
    fn operation(
        request: &Request<Vec<u8>>,
        session_id: &str,
        method: Method,
        params: Map<String, Value>,
    ) -> Result<Self, Refusal> {
        match params.get("tenant") {
            None | Some(Value::Null) => {}
            Some(Value::String(named)) if named.is_empty() || named == session_id => {}
            Some(Value::String(_)) => return Err(no_such_session()),
            Some(_) => return Err(Refusal::invalid("tenant", "expected a string")),
        }
        Ok(Self::Core {
            method,
            params,
            requested: extensions::parse(request.headers().get_all(extensions::NAME)),
            known: read::last_event_id(request.headers()).and_then(agent::stream::known),
        })
    }

    pub(super) fn extension(
        request: &Request<Vec<u8>>,
        session_id: &str,
        desk: &Desk,
        path: &str,
        segment: &str,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Self, Failed> {
        let registry = desk.registry();
        let requested = extensions::requested(request.headers().get_all(extensions::NAME), &[]);
        let context = RequestContext {
            method: None,
            now,
            tenant: Some(session_id.to_owned()),
        };
        let active = registry.negotiate(&requested, &context)?;
        let echo = active.echo();
        let refuse = |refusal: Refusal| Failed {
            echo: echo.clone(),
            refusal,
        };
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
        coordination::allow(operation, caller).map_err(refuse)?;
        let body = read::body(request).map_err(refuse)?;
        Ok(Self::Extension(Invocation {
            operation,
            body,
            limits: desk.config().limits,
            last_event_id: read::last_event_id(request.headers()).map(str::to_owned),
            echo,
        }))
    }

    pub(super) fn operator(
        request: &Request<Vec<u8>>,
        segment: &str,
        caller: &Caller,
    ) -> Result<Self, Refusal> {
        let verb = operator::find(segment).filter(|_| caller.role.decides());
        let verb = verb.ok_or_else(operator::nothing_here)?;
        let body = read::body(request)?;
        Ok(Self::Operator { verb, body })
    }

    pub(super) fn decide(
        &self,
        desk: &Desk,
        session: &Session,
        caller: &Arc<Caller>,
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Result<Decided, Failed> {
        match self {
            Self::Core {
                method,
                params,
                requested,
                known,
            } => {
                let call = agent::Call {
                    method: *method,
                    params,
                    requested,
                    caller,
                    now,
                    entropy,
                    known: *known,
                };
                let step = agent::begin(desk, session, call)?;
                let outcome = if method.streams() {
                    let stream = agent::stream::Stream::new(step.follow, *known);
                    let echo = stream.echo();
                    Outcome::Stream(Box::new(Stream::new(Source::Task(Box::new(stream)), echo)))
                } else {
                    Outcome::Follow(Box::new(step.follow))
                };
                Ok((step.commit, outcome))
            }
            Self::Extension(invocation) => invocation.decide(session, caller, now, entropy),
            Self::Operator { verb, body } => {
                let ruled = operator::rule(session, verb, body, caller, now, entropy, desk.config().limits)?;
                Ok((ruled.commit, Outcome::of(ruled.answer, None)))
            }
        }
    }
}

impl Outcome {
    /// The outcome whose answer is `answer`.
    pub(super) fn of(answer: Answer, echo: Option<String>) -> Self {
        match answer {
            Answer::Remembered(seq) => Self::Recall(Recall::new(seq, echo)),
            answer => Self::Answer(answer, echo),
        }
    }

    /// Looks for the answer; the session is only asked for where the answer is in it.
    pub(super) fn poll<'a>(
        &mut self,
        desk: &Desk,
        form: Form<'_>,
        session: impl FnOnce() -> Result<&'a Session, Refusal>,
        now: Timestamp,
    ) -> Result<Poll, Failed> {
        match self {
            Self::Follow(follow) => Ok(match follow.poll(desk, session()?, now)? {
                agent::Poll::Ready(reply, echo) => Poll::Ready(success(form, &reply, echo.as_deref())),
                agent::Poll::Wait(until) => Poll::Wait(until),
            }),
            Self::Answer(answer, echo) => {
                let object = answer.clone().into_object();
                Ok(Poll::Ready(success(Form::Coordination, &object, echo.as_deref())))
            }
            Self::Read(reading) => reading.poll(session()?, now),
            Self::Recall(recall) => recall.poll(),
            Self::Stream(stream) if form == Form::Rpc(None) => {
                Ok(Poll::Ready(success(form, &Value::Null, stream.echo())))
            }
            Self::Stream(stream) => Ok(Poll::Stream(stream.head())),
        }
    }

    /// What the answer is to be read from.
    pub(super) fn supply(&mut self, commits: Vec<Commit>) {
        match self {
            Self::Read(reading) => reading.supply(commits),
            Self::Recall(recall) => recall.supply(commits),
            Self::Stream(stream) => stream.supply(commits),
            Self::Follow(_) | Self::Answer(..) => {}
        }
    }

    pub(super) fn wait_no_longer(&mut self) {
        if let Self::Follow(follow) = self {
            follow.wait_no_longer();
        }
    }
}

/// A refusal that comes before all that is asked for is known: it still says what the header activates.
fn early(
    request: &Request<Vec<u8>>,
    session_id: &str,
    desk: &Desk,
    method: Option<Method>,
    now: Timestamp,
    refusal: Refusal,
) -> Failed {
    let requested = extensions::parse(request.headers().get_all(extensions::NAME));
    let context = RequestContext {
        method,
        now,
        tenant: Some(session_id.to_owned()),
    };
    let active = desk.registry().activate(&requested, &context).ok();
    Failed {
        echo: active.and_then(|active| active.echo()),
        refusal,
    }
}

/// An operation that no extension advertises.
fn unsupported(segment: &str) -> Refusal {
    let name = segment.replacen(':', ".", 1);
    Refusal::unsupported("expected an operation that the card advertises").with_fact("operation", name)
}
