//! A client's message: what it opens, continues or only delivers.

use serde_json::Value;

use super::requests::NewRequest;
use super::{Answer, Draft, NewPush};
use crate::a2a::Message;
use crate::dispatch::draft::Draft as WorkDraft;
use crate::dispatch::envelope::{Kind, RefType, Reference};
use crate::dispatch::verdict::Fault;
use crate::dispatch::work::Priority;
use crate::refusal::Refusal;
use crate::session::event::Event;
use crate::session::facts::WORK_ITEM;
use crate::session::request::Request;
use crate::session::task::{Mail, Origin, Skill, TaskRecord, WorkItem, WorkStatus};
use crate::session::{SendRecord, Session};
use crate::text;
use crate::time::Timestamp;

/// The most characters of a title that is taken from a message.
const TITLE_CHARS: usize = 200;

/// What a valid message is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Opening {
    /// Goes on with a task.
    Continue {
        /// Which.
        task_id: String,
    },
    /// Opens an ask.
    Ask,
    /// Opens a handoff with this draft.
    Handoff(Box<WorkDraft>),
    /// Opens nothing: it is delivered, and answered with a message.
    Deliver(Kind),
}

/// A client's message, decoded and validated.
#[derive(Clone, Debug)]
pub struct Send {
    /// As it was sent.
    pub message: Message,
    /// Its text.
    pub body: String,
    /// Its data, wrapped.
    pub data: Option<Value>,
    /// What it is to do.
    pub opening: Opening,
    /// Addresses of its recipients; empty means the owner.
    pub to: Vec<String>,
    /// Whether its author waits for the answer.
    pub blocking: Option<bool>,
    /// What may be chosen from.
    pub choices: Vec<String>,
    /// What was chosen.
    pub choice: Option<String>,
    /// Tasks and messages it refers to.
    pub refs: Vec<Reference>,
    /// SHA-256 of the request's canonical form when a repeat is to be recognised by its message id; then a
    /// conversation must also be one that the client has.
    pub fingerprint: Option<String>,
    /// Where its author wants to be notified of what becomes of the task; of no use where there is none.
    pub push: Option<NewPush>,
    /// Until when its author waits for what comes of it, without having been told of a task.
    pub awaited_until: Option<Timestamp>,
}

fn forbidden(index: usize) -> Refusal {
    let rule = "expected the owner's address or a work item of one's own approved handoff";
    Fault::forbidden(format!("to[{index}]"), rule).to_refusal()
}

fn no_such_context() -> Refusal {
    Refusal::invalid(
        "message.contextId",
        "expected a conversation of the caller, or none to begin one",
    )
}

impl Session {
    /// A task of this client by the id of its work item.
    fn own_work_item(&self, work_item_id: &str, client: &str) -> Option<&TaskRecord> {
        self.task_of_work_item(work_item_id)
            .filter(|task| task.opened_by == client)
    }

    /// Whether a message is one that the client wrote or was sent, and no gate traffic.
    fn client_sees_mail(&self, mail_id: &str, client: &str) -> bool {
        let address = self.address_of(client);
        self.mail(mail_id).is_some_and(|mail| {
            (mail.from == address || mail.to.contains(&address)) && !self.is_gate_traffic(mail)
        })
    }
}

impl Draft<'_> {
    pub(super) fn send(&mut self, send: &Send) -> Result<Answer, Refusal> {
        if let Some(known) = self.known_send(send)? {
            return Ok(known
                .task_id
                .map_or_else(|| Answer::Mail(known.mail_id), Answer::Task));
        }
        match &send.opening {
            Opening::Continue { task_id } => self.go_on(send, task_id),
            _ => self.open(send),
        }
    }

    /// What a repeat of the same send came to the first time.
    fn known_send(&self, send: &Send) -> Result<Option<SendRecord>, Refusal> {
        let Some(fingerprint) = &send.fingerprint else {
            return Ok(None);
        };
        let client = &self.caller().participant_id;
        match self.session.send_record(client, &send.message.message_id) {
            Some(known) if known.fingerprint == *fingerprint => Ok(Some(known.clone())),
            Some(_) => {
                let rule = "expected an id that no other request of the caller has used";
                Err(Refusal::invalid("message.messageId", rule))
            }
            None => Ok(None),
        }
    }

    fn record_send(&mut self, send: &Send, task_id: Option<String>, mail_id: String) {
        if let Some(fingerprint) = send.fingerprint.clone() {
            self.push(Event::SendRecorded {
                participant_id: self.caller().participant_id.clone(),
                message_id: send.message.message_id.clone(),
                fingerprint,
                task_id,
                mail_id,
            });
        }
    }

    fn check_refs(&self, send: &Send) -> Result<(), Refusal> {
        let client = &self.caller().participant_id;
        for (index, reference) in send.refs.iter().enumerate() {
            let id = &reference.id;
            let seen = match reference.r#type {
                RefType::Task => {
                    let own = self.session.task(id).filter(|task| task.opened_by == *client);
                    own.or_else(|| self.session.own_work_item(id, client)).is_some()
                }
                RefType::Message => self.session.client_sees_mail(id, client),
            };
            if !seen {
                let rule = "expected a task or message of the caller";
                return Err(Fault::not_found(format!("refs[{index}]"), rule).to_refusal());
            }
        }
        Ok(())
    }

    /// Who the message goes to: the owner unless it says otherwise, and then only whom a client may address.
    fn recipients(&self, send: &Send) -> Result<Vec<String>, Refusal> {
        let client = &self.caller().participant_id;
        let owner = self
            .session
            .owner()
            .map(|owner| owner.address())
            .unwrap_or_default();
        for (index, address) in send.to.iter().enumerate() {
            let reachable = match address.strip_prefix(WORK_ITEM) {
                Some(id) => {
                    let own = self.session.own_work_item(id, client);
                    own.and_then(|task| task.work_item.as_ref())
                        .is_some_and(|item| item.approved)
                }
                None => *address == owner,
            };
            if !reachable {
                return Err(forbidden(index));
            }
        }
        if send.to.is_empty() {
            return Ok(vec![owner]);
        }
        let mut to: Vec<String> = Vec::new();
        for address in &send.to {
            // Naming somebody twice is allowed, and delivers once.
            if !to.contains(address) {
                to.push(address.clone());
            }
        }
        Ok(to)
    }

    /// The conversation that the message belongs to.
    fn context(&mut self, send: &Send) -> Result<String, Refusal> {
        let client = &self.caller().participant_id;
        match &send.message.context_id {
            None => Ok(self.draw.id("ctx")),
            // A client that activates nothing may bring a name of its own. It is a conversation of that client
            // alone, so another client's of the same name is neither joined nor betrayed.
            Some(context) if send.fingerprint.is_none() => Ok(context.clone()),
            Some(context) => {
                let mut own = self.session.tasks().filter(|task| task.opened_by == *client);
                if own.any(|task| task.context_id == *context) {
                    Ok(context.clone())
                } else {
                    Err(no_such_context())
                }
            }
        }
    }

    fn client_mail(&mut self, send: &Send, kind: Kind, to: Vec<String>) -> Mail {
        let client = self.caller().participant_id.clone();
        let mail = self.mail(kind, &client, to, send.body.clone());
        Mail {
            choices: send.choices.clone(),
            choice: send.choice.clone(),
            refs: send.refs.clone(),
            data: send.data.clone(),
            sent: Some(send.message.clone()),
            ..mail
        }
    }

    fn open(&mut self, send: &Send) -> Result<Answer, Refusal> {
        let to = self.recipients(send)?;
        self.check_refs(send)?;
        let context_id = self.context(send)?;
        let (kind, skill) = match &send.opening {
            Opening::Deliver(kind) => {
                let mail = self.client_mail(send, *kind, to);
                let mail_id = mail.id.clone();
                self.push(Event::MailPosted {
                    mail: Box::new(mail),
                    task_id: None,
                });
                self.record_send(send, None, mail_id.clone());
                return Ok(Answer::Mail(mail_id));
            }
            Opening::Handoff(_) => (Kind::Handoff, Skill::Handoff),
            _ => (Kind::Question, Skill::Ask),
        };
        let root = Mail {
            blocking: send.blocking.unwrap_or(true),
            ..self.client_mail(send, kind, to)
        };
        let mut task = self.new_task(&root, Origin::Client, skill, Some(context_id));
        task.awaited_until = send.awaited_until;
        let (task_id, mail_id) = (task.task_id.clone(), root.id.clone());
        if let Opening::Handoff(draft) = &send.opening {
            let item = WorkItem {
                id: self.draw.id("work"),
                draft: (**draft).clone(),
                status: WorkStatus::Draft,
                approved: false,
            };
            task.work_item = Some(item.clone());
            let client = root.from.clone();
            self.push(Event::MailPosted {
                mail: Box::new(root),
                task_id: None,
            });
            self.push(Event::TaskOpened {
                task: Box::new(task.clone()),
            });
            self.raise_proposal(&task, &item.id, &client);
        } else {
            // Nobody is to take up what is asked of a work item that was dropped.
            let stranded = self.session.is_stranded(root.to.iter().map(String::as_str));
            let request = match stranded {
                true => None,
                false => Some(Box::new(self.request_of_ask(&root, &task_id)?)),
            };
            self.push(Event::MailPosted {
                mail: Box::new(root),
                task_id: None,
            });
            self.push(Event::TaskOpened { task: Box::new(task) });
            if let Some(request) = request {
                self.push(Event::RequestCreated { request });
            }
        }
        self.notify_of(send, &task_id, 0)?;
        self.record_send(send, Some(task_id.clone()), mail_id);
        Ok(Answer::Task(task_id))
    }

    /// Notifies the author of a message of what follows the changes `known` of its task.
    fn notify_of(&mut self, send: &Send, task_id: &str, known: usize) -> Result<(), Refusal> {
        match &send.push {
            Some(new) => self.set_push(task_id, known, new).map(drop),
            None => Ok(()),
        }
    }

    fn request_of_ask(&mut self, root: &Mail, task_id: &str) -> Result<Request, Refusal> {
        let first = root
            .body
            .split(text::is_line_break)
            .find(|line| !text::is_blank(line));
        let new = NewRequest {
            title: first.unwrap_or("(no text)").chars().take(TITLE_CHARS).collect(),
            body: Some(root.body.clone()),
            to: Vec::new(),
            max_assignees: 1,
            expires_in_seconds: None,
            priority: Priority::None,
            labels: Vec::new(),
            acceptance: Vec::new(),
            workstream_id: None,
        };
        let client = self.caller().participant_id.clone();
        self.new_request(&new, &client, task_id)
    }

    /// A task that `root` opens, still to be pushed.
    pub(super) fn new_task(
        &mut self,
        root: &Mail,
        origin: Origin,
        skill: Skill,
        context_id: Option<String>,
    ) -> TaskRecord {
        TaskRecord {
            task_id: self.draw.id("task"),
            context_id: context_id.unwrap_or_else(|| self.draw.id("ctx")),
            opened_by: self.caller().participant_id.clone(),
            origin,
            skill,
            opened_at: self.now(),
            awaited_until: None,
            root: root.id.clone(),
            scope: Vec::new(),
            open_questions: Vec::new(),
            answer: None,
            answered_directly: false,
            request_id: None,
            work_item: None,
            gates: Vec::new(),
            delivered: false,
            canceled: None,
            declined: None,
            dropped: None,
            quoted: None,
            changes: Vec::new(),
            forgotten: 0,
            stood: None,
        }
    }

    fn go_on(&mut self, send: &Send, task_id: &str) -> Result<Answer, Refusal> {
        let task = self.session.visible_task(task_id, self.caller())?.clone();
        if send
            .message
            .context_id
            .as_ref()
            .is_some_and(|context| *context != task.context_id)
        {
            return Err(no_such_context());
        }
        if self.session.standing(&task, self.now()).state.is_terminal() {
            return Err(Refusal::unsupported(
                "the task has ended; send a message without a task to begin another",
            )
            .with_fact("taskId", task_id));
        }
        self.check_refs(send)?;
        let question = task
            .open_questions
            .first()
            .and_then(|id| self.session.mail(id))
            .cloned();
        if let (Some(question), Some(choice)) = (&question, &send.choice)
            && !question.choices.is_empty()
            && !question.choices.contains(choice)
        {
            let rule = format!("expected one of: {}", question.choices.join(", "));
            return Err(Fault::invalid("choice", rule).to_refusal());
        }
        let to = match &question {
            Some(question) => vec![question.from.clone()],
            None => self
                .session
                .owner()
                .map(|owner| owner.address())
                .into_iter()
                .collect(),
        };
        let kind = if question.is_some() {
            Kind::Answer
        } else {
            Kind::Message
        };
        let mail = Mail {
            thread: task.root.clone(),
            reply_to: question.as_ref().map(|question| question.id.clone()),
            choices: Vec::new(),
            ..self.client_mail(send, kind, to)
        };
        let mail_id = mail.id.clone();
        self.push(Event::MailPosted {
            mail: Box::new(mail),
            task_id: Some(task_id.to_owned()),
        });
        if let Some(question) = question {
            self.push(Event::QuestionAnswered {
                task_id: task_id.to_owned(),
                mail_id: question.id.clone(),
            });
            self.client_answers(&question.id, &send.body, send.choice.as_deref());
        }
        if send.push.is_some() {
            self.session.own_task(task_id, self.caller())?;
        }
        self.notify_of(send, task_id, task.told())?;
        self.record_send(send, Some(task_id.to_owned()), mail_id);
        Ok(Answer::Task(task_id.to_owned()))
    }
}
