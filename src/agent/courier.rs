//! What a webhook is sent: each change of its task once, in order, as a stream tells it (A2A 1.0, §4.3.3).

use http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method as Verb, Request};
use serde_json::{Value, json};

use super::stream::{Changes, update};
use super::view::View;
use crate::a2a::{AuthenticationInfo, PROTOCOL_VERSION, StreamResponse};
use crate::desk::Desk;
use crate::extension::{HookResponse, Method, Payload, RequestContext, header};
use crate::http::answer::Form;
use crate::json;
use crate::session::event::Span;
use crate::session::push::{Landed, Outcome, Place, PushRecord};
use crate::session::{Commit, Session};
use crate::time::Timestamp;

/// By which a webhook knows what it is told of. The specification has no name for it; this is that of the SDKs.
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");
/// The same for every try of one change.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const VERSION: HeaderName = HeaderName::from_static("a2a-version");

/// What comes next.
#[derive(Debug)]
pub enum Next {
    /// To be sent; then [`taken`](Courier::taken) or, if it was not, [`landed`](Courier::landed).
    Send(Box<Request<Vec<u8>>>),
    /// Nothing without these commits of the session's log: [`supply`](Courier::supply) them.
    Log(Span),
    /// Nothing more, for now or for ever.
    Nothing(Outcome),
}

/// Takes the changes of a task to one webhook, one behind the other.
#[derive(Debug)]
pub struct Courier {
    place: Place,
    /// The number of the last change that the webhook has; none before it was looked up.
    known: Option<usize>,
    /// The number of the one that is on its way.
    sending: usize,
    /// Commits that the next artifacts are in.
    commits: Vec<Commit>,
    /// Whether it was asked for.
    asked: bool,
}

impl Courier {
    /// Begins where its config stands.
    #[must_use]
    pub const fn new(place: Place) -> Self {
        Self {
            place,
            known: None,
            sending: 0,
            commits: Vec::new(),
            asked: false,
        }
    }

    /// The commits that [`Next::Log`] asked for.
    pub fn supply(&mut self, commits: Vec<Commit>) {
        self.commits = commits;
    }

    /// The webhook has taken what was sent last.
    pub const fn taken(&mut self) {
        self.known = Some(self.sending);
    }

    /// What came of it all.
    #[must_use]
    pub fn landed(&self, outcome: Outcome) -> Landed {
        Landed {
            place: self.place.clone(),
            known: self.known.unwrap_or_default(),
            outcome,
        }
    }

    /// What comes next, with the session as it stands at `now`.
    pub fn next(&mut self, desk: &Desk, session: Option<&Session>, now: Timestamp) -> Next {
        let found = session.and_then(|session| {
            let record = session.pushes().at(&self.place)?;
            let task = session.task(&self.place.task_id)?;
            Some((session, record, task))
        });
        let (Some((session, record, task)), Some(reach)) = (found, desk.config.webhooks) else {
            return Next::Nothing(Outcome::Taken);
        };
        if reach.check(&record.config.url).is_err() {
            return Next::Nothing(Outcome::Refused);
        }
        let changes = Changes {
            record: task,
            due: session.due_change(task, now),
        };
        let context = RequestContext {
            method: Some(Method::SubscribeToTask),
            now,
            tenant: Some(session.id().to_owned()),
        };
        // An extension that is no longer there, or does not take part any more, has no say.
        let mut activations = desk
            .registry
            .activate(&record.extensions, &context)
            .unwrap_or_default();
        let view = View::new(desk, session, &activations, now);
        let known = *self.known.get_or_insert(record.known);
        for (change, number) in changes.after(known) {
            let told = match update(&view, task, change, &self.commits) {
                Ok(told) => told,
                // A log that lacks it.
                Err(_) if self.asked => return Next::Nothing(Outcome::Failed),
                Err(span) => {
                    self.asked = true;
                    return Next::Log(span);
                }
            };
            self.asked = false;
            self.sending = number;
            let Some(mut told) = told else {
                self.taken();
                continue;
            };
            let params = json!({ "id": task.task_id });
            let ran = activations.run_response(&mut HookResponse {
                method: Method::SubscribeToTask,
                now,
                params: &params,
                payload: Payload::from(&mut told),
            });
            if ran.is_err() {
                return Next::Nothing(Outcome::Failed);
            }
            let echo = activations.echo();
            return match request(record, number, &told, echo.as_deref()) {
                Some(request) => Next::Send(Box::new(request)),
                None => Next::Nothing(Outcome::Refused),
            };
        }
        Next::Nothing(Outcome::Taken)
    }
}

/// The request to a webhook. Its fields were held to what a request may have when the config was set.
fn request(
    record: &PushRecord,
    number: usize,
    told: &StreamResponse,
    extensions: Option<&str>,
) -> Option<Request<Vec<u8>>> {
    let config = &record.config;
    let body: Value = json!(told);
    let mut request = Request::new(json::to_string(&body).into_bytes());
    *request.method_mut() = Verb::POST;
    *request.uri_mut() = config.url.parse().ok()?;
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(Form::Core.media_type()));
    headers.insert(VERSION, HeaderValue::from_static(PROTOCOL_VERSION));
    headers.insert(
        USER_AGENT,
        HeaderValue::from_static(concat!("a2a-edge/", env!("CARGO_PKG_VERSION"))),
    );
    let key = format!("\"{}-{number}\"", config.task_id);
    headers.insert(IDEMPOTENCY_KEY, HeaderValue::from_str(&key).ok()?);
    if let Some(extensions) = extensions {
        headers.insert(header::NAME, HeaderValue::from_str(extensions).ok()?);
    }
    if let Some(token) = &config.token {
        headers.insert(TOKEN, secret(token)?);
    }
    if let Some(AuthenticationInfo { scheme, credentials }) = &config.authentication {
        let value = match credentials {
            Some(credentials) => secret(&format!("{scheme} {credentials}")),
            None => secret(scheme),
        };
        headers.insert(AUTHORIZATION, value?);
    }
    Some(request)
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
