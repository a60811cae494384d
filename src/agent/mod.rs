//! The core operations of A2A 1.0 as reads and commands of a session, inside the extensions' pipeline.
//!
//! An operation runs in two steps. [`begin`] negotiates extensions, decodes, validates and decides; if that comes
//! to a commit, the driver makes it durable and applies it. [`Follow::poll`] then looks at the session and gives
//! the answer, or says until when to wait for news: a blocking send waits for its task.

pub mod card;
pub mod courier;
mod list;
pub mod operator;
pub mod push;
mod send;
pub mod stream;
mod view;

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::a2a::decode::Decoder;
use crate::a2a::{Message, SendMessageResponse, Task};
use crate::coordination::scope_required;
use crate::desk::Desk;
use crate::extension::{Activations, HookRequest, HookResponse, Method, Payload, RequestContext, header};
use crate::refusal::Refusal;
use crate::session::{Answer, Caller, Command, Commit, Context, Scope, Session};
use crate::time::Timestamp;
use view::{Shape, View};

/// A call of a core operation, authenticated but not yet decoded.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Which operation.
    pub method: Method,
    /// The request object of the protocol, `message` included, members named as they came.
    pub params: &'a Map<String, Value>,
    /// The values of the A2A-Extensions header.
    pub requested: &'a [String],
    /// Who calls.
    pub caller: &'a Arc<Caller>,
    /// Now.
    pub now: Timestamp,
    /// 32 random bytes, fresh for this call.
    pub entropy: [u8; 32],
    /// The number of the last change of its task that a client of a stream has already ([`stream::known`]).
    pub known: Option<usize>,
}

/// What an operation has come to before its answer.
#[derive(Debug)]
pub struct Step {
    /// To be made durable and applied before the answer is looked for.
    pub commit: Option<Commit>,
    /// Looks for the answer.
    pub follow: Follow,
}

/// A refusal, with the extensions that were active when it came.
#[derive(Debug)]
pub struct Failed {
    /// The value of the answer's A2A-Extensions header.
    pub echo: Option<String>,
    /// Why.
    pub refusal: Refusal,
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self { echo: None, refusal }
    }
}

/// An operation that waits for its answer.
#[derive(Debug)]
pub struct Follow {
    method: Method,
    params: Value,
    caller: Arc<Caller>,
    activations: Activations,
    goal: Goal,
}

/// What the answer is made from.
#[derive(Debug)]
enum Goal {
    /// This message.
    Message(Box<Message>),
    /// A word that a message was received which opened no task.
    Received { mail_id: String },
    /// The task, bare (get, cancel) or as the answer to a send.
    Task {
        task_id: String,
        shape: Shape,
        wrapped: bool,
        deadline: Option<Timestamp>,
    },
    /// A page of tasks.
    Page(list::Page),
    /// What is no task's.
    Answer(Value),
    /// The card for those with a credential.
    Card,
}

impl Goal {
    /// A task as it stands, with its artifacts.
    const fn task(task_id: String, history: Option<usize>, wrapped: bool) -> Self {
        let shape = Shape {
            history,
            artifacts: true,
        };
        Self::Task {
            task_id,
            shape,
            wrapped,
            deadline: None,
        }
    }
}

/// The answer of an operation, which is written as what it holds.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// A task.
    Task(Task),
    /// What a send comes to.
    Sent(SendMessageResponse),
    /// Anything else.
    Other(Value),
}

/// What looking for the answer came to.
#[allow(
    clippy::large_enum_variant,
    reason = "it mostly is the answer, and soon written"
)]
#[derive(Debug, PartialEq)]
pub enum Poll {
    /// The answer, with the value of its A2A-Extensions header.
    Ready(Reply, Option<String>),
    /// Nothing yet: look again when the session has moved on, at the latest then.
    Wait(Timestamp),
}

/// Begins an operation.
///
/// # Errors
/// In this order: a required extension that was not requested, an extension that aborts, a field at fault, and
/// whatever the operation itself refuses.
pub fn begin(desk: &Desk, session: &Session, call: Call<'_>) -> Result<Step, Failed> {
    if !call.caller.may(Scope::TasksSend) {
        return Err(scope_required(Scope::TasksSend).into());
    }
    if call.method == Method::GetExtendedAgentCard && call.caller.is_anonymous() {
        return Err(Refusal::unauthenticated().into());
    }
    let named = send::named_extensions(call.params);
    let requested = header::requested(call.requested, &named);
    let context = RequestContext {
        method: Some(call.method),
        now: call.now,
        tenant: Some(session.id().to_owned()),
    };
    let mut activations = desk.registry.negotiate(&requested, &context)?;
    let result = run(desk, session, &call, &mut activations);
    match result {
        Ok((commit, params, goal)) => Ok(Step {
            commit,
            follow: Follow {
                method: call.method,
                params,
                caller: Arc::clone(call.caller),
                activations,
                goal,
            },
        }),
        Err(refusal) => Err(Failed {
            echo: activations.echo(),
            refusal,
        }),
    }
}

type Begun = (Option<Commit>, Value, Goal);

fn run(
    desk: &Desk,
    session: &Session,
    call: &Call<'_>,
    activations: &mut Activations,
) -> Result<Begun, Refusal> {
    if call.method.streams() && !desk.config.streaming {
        let mut params = Value::Object(call.params.clone());
        hook(call, activations, None, &mut params)?;
        return Err(not_offered(call.method));
    }
    if call.method.carries_message() {
        return send::send(desk, session, call, activations);
    }
    let mut params = Value::Object(call.params.clone());
    hook(call, activations, None, &mut params)?;
    let object = params.as_object().unwrap_or(call.params);
    let mut decoder = Decoder::new();
    match call.method {
        Method::GetTask => {
            let task_id = task_id(&mut decoder, object);
            let history = view::history_length(&mut decoder, object, "");
            let (task_id, history) = decoder.finish((task_id, history)).map_err(Refusal::violations)?;
            session.visible_task(&task_id, call.caller)?;
            Ok((None, params, Goal::task(task_id, history, false)))
        }
        Method::SubscribeToTask => {
            let task_id = task_id(&mut decoder, object);
            let task_id = decoder.finish(task_id).map_err(Refusal::violations)?;
            let record = session.visible_task(&task_id, call.caller)?;
            if !stream::has_more(session, record, call.known, call.now) {
                return Err(
                    Refusal::unsupported("the task has ended: nothing of it is to come")
                        .with_fact("taskId", task_id),
                );
            }
            Ok((None, params, Goal::task(task_id, None, true)))
        }
        Method::ListTasks => {
            let page = list::Page::read(session, call, object)?;
            Ok((None, params, Goal::Page(page)))
        }
        Method::CancelTask => {
            let task_id = task_id(&mut decoder, object);
            let task_id = decoder.finish(task_id).map_err(Refusal::violations)?;
            let commit = decide(
                desk,
                session,
                call,
                &Command::CancelTask {
                    task_id: task_id.clone(),
                },
            )?
            .0;
            Ok((commit, params, Goal::task(task_id, None, false)))
        }
        Method::CreateTaskPushNotificationConfig
        | Method::GetTaskPushNotificationConfig
        | Method::ListTaskPushNotificationConfigs
        | Method::DeleteTaskPushNotificationConfig => {
            let (commit, answer) = push::run(desk, session, call, object)?;
            Ok((commit, params, Goal::Answer(answer)))
        }
        Method::GetExtendedAgentCard => {
            card::extended(desk, session.id())?;
            Ok((None, params, Goal::Card))
        }
        _ => Err(not_offered(call.method)),
    }
}

/// What is said of an operation that the card does not offer (A2A 1.0, §3.3.4).
#[must_use]
pub fn not_offered(method: Method) -> Refusal {
    let message = format!("this agent does not offer {}", method.name());
    if method.name().contains("PushNotificationConfig") {
        return push::not_supported(message);
    }
    Refusal::unsupported(message)
}

fn task_id(decoder: &mut Decoder, object: &Map<String, Value>) -> String {
    decoder.text(object, "id", "").unwrap_or_else(|| {
        decoder.fault("id", "expected the id of a task");
        String::new()
    })
}

fn hook(
    call: &Call<'_>,
    activations: &mut Activations,
    message: Option<&mut Message>,
    params: &mut Value,
) -> Result<(), Refusal> {
    activations.run_request(&mut HookRequest {
        method: call.method,
        now: call.now,
        message,
        params,
    })
}

fn decide(
    desk: &Desk,
    session: &Session,
    call: &Call<'_>,
    command: &Command,
) -> Result<(Option<Commit>, Answer), Refusal> {
    let context = Context {
        now: call.now,
        entropy: call.entropy,
        caller: Caller::clone(call.caller),
        limits: desk.config.limits,
        idempotency: None,
    };
    session
        .decide(command, &context)
        .map(|decided| (decided.commit, decided.answer))
}

impl Follow {
    /// Looks for the answer in the session as it stands at `now`.
    ///
    /// # Errors
    /// When the task is no longer the caller's to see, or an extension cannot go on.
    pub fn poll(&mut self, desk: &Desk, session: &Session, now: Timestamp) -> Result<Poll, Failed> {
        let reply = match &self.goal {
            Goal::Message(message) => self.direct((**message).clone(), now)?,
            Goal::Received { mail_id } => {
                let mail = session
                    .mail(mail_id)
                    .map(|mail| self.view(desk, session, now).received(mail));
                self.direct(mail.unwrap_or_else(|| Message::agent(mail_id, "")), now)?
            }
            Goal::Task {
                task_id,
                shape,
                wrapped,
                deadline,
            } => {
                let record = session
                    .visible_task(task_id, &self.caller)
                    .map_err(|refusal| self.fail(refusal))?;
                if let Some(deadline) = deadline.filter(|deadline| *deadline > now) {
                    let state = session.standing(record, now).state;
                    if !state.is_terminal() && !state.is_interrupted() {
                        return Ok(Poll::Wait(deadline));
                    }
                }
                let view = self.view(desk, session, now);
                if self.method == Method::SendMessage
                    && let Some(message) = view.direct_answer(record)
                {
                    let answer = self.direct(message, now)?;
                    return Ok(Poll::Ready(answer, self.activations.echo()));
                }
                let (wrapped, mut task) = (*wrapped, view.task(record, *shape));
                self.respond((&mut task).into(), now)?;
                if wrapped {
                    Reply::Sent(SendMessageResponse::Task(task))
                } else {
                    Reply::Task(task)
                }
            }
            Goal::Page(page) => {
                let mut page = page.clone();
                let mut tasks = page.tasks(&self.view(desk, session, now));
                for task in &mut tasks {
                    self.respond(task.into(), now)?;
                }
                Reply::Other(page.answer(&tasks))
            }
            Goal::Answer(answer) => Reply::Other(answer.clone()),
            Goal::Card => {
                let card = card::extended(desk, session.id());
                Reply::Other(card.map_err(|refusal| self.fail(refusal))?)
            }
        };
        Ok(Poll::Ready(reply, self.activations.echo()))
    }

    /// From now on the answer is what there is.
    pub fn wait_no_longer(&mut self) {
        if let Goal::Task { deadline, .. } = &mut self.goal {
            *deadline = None;
        }
    }

    fn view<'a>(&'a self, desk: &'a Desk, session: &'a Session, now: Timestamp) -> View<'a> {
        View::new(desk, session, &self.activations, now)
    }

    /// A message as the answer to a send.
    fn direct(&mut self, mut message: Message, now: Timestamp) -> Result<Reply, Failed> {
        self.respond((&mut message).into(), now)?;
        Ok(Reply::Sent(SendMessageResponse::Message(message)))
    }

    fn respond(&mut self, payload: Payload<'_>, now: Timestamp) -> Result<(), Failed> {
        let (method, params) = (self.method, &self.params);
        let ran = self.activations.run_response(&mut HookResponse {
            method,
            now,
            params,
            payload,
        });
        ran.map_err(|refusal| self.fail(refusal))
    }

    fn fail(&self, refusal: Refusal) -> Failed {
        Failed {
            echo: self.activations.echo(),
            refusal,
        }
    }
}

/// The id that a client may know a task's status message by when no message of the session gives one.
fn status_message_id(task: &str, state: &str) -> String {
    let state = state.to_ascii_lowercase().replace('_', "-");
    ["status-", task, "-", &state].concat()
}
