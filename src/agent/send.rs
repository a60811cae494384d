//! SendMessage: a message opens a task, continues one, or is answered directly (A2A 1.0, §3.1.1).

use serde_json::{Map, Value, json};

use super::card::check_media_types;
use super::view::{Shape, history_length};
use super::{Begun, Call, Goal, decide, hook, push};
use crate::a2a::decode::{Decoder, member};
use crate::a2a::{Message, Part, Role};
use crate::desk::Desk;
use crate::dispatch::draft::Draft;
use crate::dispatch::envelope::{self, Envelope, Opening, Reference};
use crate::dispatch::placement::{Active, metadata_budget};
use crate::dispatch::work::{self, Handoffs, WorkRequest};
use crate::dispatch::{ENVELOPE_URI, WORK_URI, inbound};
use crate::extension::Activations;
use crate::refusal::Refusal;
use crate::session::decide::{NewPush, Opening as Open, Send, fingerprint};
use crate::session::id::Draw;
use crate::session::task::{Skill, TaskRecord};
use crate::session::{Answer, Command, Session};

/// The extensions that a request's message names, before it is decoded.
pub(super) fn named_extensions(params: &Map<String, Value>) -> Vec<String> {
    let message = member(params, "message").and_then(Value::as_object);
    let named = message
        .and_then(|message| message.get("extensions"))
        .and_then(Value::as_array);
    named
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// How the answer to a send is to come.
struct Configuration {
    return_immediately: bool,
    history: Option<usize>,
    push: Option<NewPush>,
}

fn configuration(
    decoder: &mut Decoder,
    desk: &Desk,
    params: &Map<String, Value>,
    task_id: Option<&str>,
    activations: &Activations,
) -> Result<Configuration, Refusal> {
    let mut configuration = Configuration {
        return_immediately: false,
        history: None,
        push: None,
    };
    let Some(value) = member(params, "configuration") else {
        return Ok(configuration);
    };
    if let Some(object) = decoder.object(value, "configuration") {
        configuration.return_immediately = decoder
            .flag(object, "returnImmediately", "configuration")
            .unwrap_or_default();
        configuration.history = history_length(decoder, object, "configuration");
        decoder.texts(object, "acceptedOutputModes", "configuration");
        if let Some(inline) = member(object, "taskPushNotificationConfig") {
            configuration.push = push::inline(decoder, inline, desk.config.webhooks, activations, task_id)?;
        }
    }
    Ok(configuration)
}

fn decode(
    desk: &Desk,
    call: &Call<'_>,
    activations: &Activations,
) -> Result<(Message, Configuration), Refusal> {
    let mut decoder = Decoder::new();
    let message = match member(call.params, "message") {
        Some(message) => decoder.message(message, "message"),
        None => {
            decoder.fault("message", "expected a message");
            None
        }
    };
    if message.as_ref().is_some_and(|message| message.role != Role::User) {
        decoder.fault(
            "message.role",
            "expected ROLE_USER: a client does not speak for the agent",
        );
    }
    let task_id = message.as_ref().and_then(|message| message.task_id.clone());
    let configuration = configuration(&mut decoder, desk, call.params, task_id.as_deref(), activations)?;
    let (message, configuration) = decoder
        .finish((message, configuration))
        .map_err(Refusal::violations)?;
    let message = message.ok_or_else(|| Refusal::invalid("message", "expected a message"))?;
    Ok((message, configuration))
}

pub(super) fn send(
    desk: &Desk,
    session: &Session,
    call: &Call<'_>,
    activations: &mut Activations,
) -> Result<Begun, Refusal> {
    let (mut message, configuration) = decode(desk, call, activations)?;
    let uris: Vec<&str> = activations.uris().collect();
    let active = Active::of(&uris);
    metadata_budget(&message.metadata)?;
    let mut params = call.params.clone();
    params.shift_remove("message");
    let mut params = Value::Object(params);
    // What the hooks make of the message is what the desk reads and keeps; a repeat is told by what was sent.
    hook(call, activations, Some(&mut message), &mut params)?;

    let work = work::validate(message.metadata.get(WORK_URI), Handoffs::Taken)?;
    let envelope = envelope::validate(message.metadata.get(ENVELOPE_URI))?;
    let opening = match &message.task_id {
        Some(task_id) => Open::Continue {
            task_id: task_id.clone(),
        },
        None => match envelope::opening(work.as_ref(), envelope.as_ref())? {
            Opening::Status => {
                let task = match &work {
                    Some(WorkRequest::Status { task }) => *task,
                    _ => None,
                };
                check_media_types(desk, &message.parts)?;
                let answer = status(session, call, task);
                return Ok((None, params, Goal::Message(Box::new(answer))));
            }
            Opening::Ask => Open::Ask,
            Opening::Note => Open::Deliver(
                envelope
                    .as_ref()
                    .and_then(|it| it.kind)
                    .unwrap_or(envelope::Kind::Message),
            ),
            Opening::Handoff => match &work {
                Some(WorkRequest::Handoff(handoff)) => Open::Handoff(Box::new(Draft::of(handoff))),
                _ => Open::Ask,
            },
        },
    };
    let inbound = inbound::inbound(&message.parts)?;
    check_media_types(desk, &message.parts)?;
    let recognised = active.work || active.envelope;
    let body = Value::Object(call.params.clone());
    let limit = i64::from(desk.config.blocking_limit_ms);
    let deadline = (!configuration.return_immediately).then(|| call.now.plus_millis(limit));
    let send = Send {
        fingerprint: recognised.then(|| fingerprint("SendMessage", &body)),
        body: inbound.body,
        data: inbound.data,
        opening,
        push: configuration.push.clone(),
        awaited_until: deadline.filter(|_| !call.method.streams()),
        ..addressed(message.clone(), envelope.as_ref())
    };
    let (commit, answer) = decide(desk, session, call, &Command::Send(Box::new(send)))?;
    let goal = match answer {
        Answer::Task(task_id) => {
            let shape = Shape {
                history: configuration.history,
                artifacts: true,
            };
            Goal::Task {
                task_id,
                shape,
                wrapped: true,
                deadline,
            }
        }
        Answer::Mail(mail_id) => Goal::Received { mail_id },
        // A send is answered with neither.
        Answer::Object(_) | Answer::Remembered(_) => return Err(Refusal::internal()),
    };
    Ok((commit, params, goal))
}

/// What the envelope says of where a message goes and what it goes with.
fn addressed(message: Message, envelope: Option<&Envelope<'_>>) -> Send {
    let owned = |texts: &Vec<&str>| texts.iter().map(|text| (*text).to_owned()).collect();
    Send {
        message,
        body: String::new(),
        data: None,
        opening: Open::Ask,
        to: envelope.map(|it| owned(&it.to)).unwrap_or_default(),
        blocking: envelope.and_then(|it| it.blocking),
        choices: envelope.map(|it| owned(&it.choices)).unwrap_or_default(),
        choice: envelope.and_then(|it| it.choice).map(str::to_owned),
        refs: envelope
            .map(|it| it.refs.iter().copied().map(Reference::<&str>::to_owned).collect())
            .unwrap_or_default(),
        fingerprint: None,
        push: None,
        awaited_until: None,
    }
}

/// The answer to a status request: how the caller's handoffs stand, all or one. An id that is none of them yields
/// an empty list, never an error that would tell whether it exists.
fn status(session: &Session, call: &Call<'_>, task: Option<&str>) -> Message {
    let own = |record: &&TaskRecord| {
        record.opened_by == call.caller.participant_id
            && record.skill == Skill::Handoff
            && task.is_none_or(|id| record.task_id == id)
    };
    let mut handoffs: Vec<&TaskRecord> = session.tasks().filter(own).collect();
    handoffs.sort_by(|a, b| (a.opened_at, &a.task_id).cmp(&(b.opened_at, &b.task_id)));
    let mut lines = Vec::new();
    let mut list = Vec::new();
    for record in handoffs {
        let facts = session.facts(record, call.now);
        let projection = crate::dispatch::projection::project(&facts, crate::dispatch::SYSTEM_ADDRESS);
        let shown = session.standing_by(record, &projection, call.now);
        let Some(work) = projection.work_state() else {
            continue;
        };
        let mut entry = json!({ "id": record.task_id, "state": shown.state });
        if let (Some(entry), Ok(Value::Object(work))) = (entry.as_object_mut(), serde_json::to_value(work)) {
            entry.extend(work);
        }
        lines.push(format!(
            "{}: {} ({}) [{}]",
            work.title,
            shown.text,
            shown.state.short_name(),
            record.task_id
        ));
        list.push(entry);
    }
    let text = if lines.is_empty() {
        "No such handoffs.".to_owned()
    } else {
        lines.join("\n")
    };
    let mut message = Message::agent(Draw::new(call.entropy).id("msg"), text);
    message.parts.push(Part::data(json!({ "handoffs": list })));
    message
}
