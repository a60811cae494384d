//! The owner's verbs, `POST /operator/v1/{resource}:{verb}`: admitting, approving, declining and dropping.
//!
//! They are no part of any extension (session coordination, §10). To a participant whose role does not
//! decide they do not exist, whatever it activates.

use serde_json::{Map, Value, json};

use crate::coordination::{idempotency_key, page};
use crate::params::{self, Fields, Param, Shape};
use crate::refusal::{Code, Refusal};
use crate::session::decide::Verdict;
use crate::session::knowledge::{Proposal, ProposalState};
use crate::session::participant::Kind;
use crate::session::task::TaskRecord;
use crate::session::{Answer, Caller, Command, Commit, Context, Idempotency, Role, Session, SessionLimits};
use crate::time::Timestamp;

const NAME: Shape = Shape::Line(80);
const KIND: Shape = Shape::Choice(&["human", "agent", "service"]);
const REASON: Shape = Shape::Text(2_000);
const PROPOSAL: Param = Param::required("proposalId", Shape::Id, "The proposal");
const TASK: Param = Param::required("taskId", Shape::Id, "The A2A task");

/// A verb of the owner.
#[derive(Clone, Copy, Debug)]
pub struct Verb {
    /// The last segment of its path, such as `tasks:approve`.
    pub segment: &'static str,
    /// What it takes, beside `idempotencyKey` where a repeat can be answered.
    pub params: &'static [Param],
    /// What it does, for people.
    pub about: &'static str,
    effect: Effect,
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    /// Changes nothing.
    Read(fn(&Session, Fields<'_>, Timestamp) -> Result<Value, Refusal>),
    /// Changes something.
    Write(fn(Fields<'_>) -> Command),
    /// Shows a token, which is kept nowhere: a repeat can't be given the same answer.
    Issue(fn(Fields<'_>) -> Command),
}

/// The `owner` of `sessions:create`, which needs the operator's own token instead of a session's.
pub const OWNER: &[Param] = &[
    Param::optional("displayName", NAME, "Name of the owner, for people"),
    Param::optional("kind", KIND, "What the owner is (human)"),
];

/// What is said of a verb that does not exist, and of every verb to a caller whose role does not decide.
#[must_use]
pub fn nothing_here() -> Refusal {
    Refusal::a2a(
        Code::NotFound,
        "METHOD_NOT_FOUND",
        "there is nothing at this path",
    )
}

/// The verbs within a session.
pub const VERBS: &[Verb] = &[
    Verb {
        segment: "participants:add",
        params: &[
            Param::required("displayName", NAME, "For people"),
            Param::optional("kind", KIND, "What it is (agent)"),
            Param::optional(
                "role",
                Shape::Choice(&["owner", "admin", "member", "client"]),
                "What it will be (member)",
            ),
        ],
        about: "Admits a participant and shows its token, once",
        effect: Effect::Issue(|fields| Command::AddParticipant {
            display_name: fields.owned("displayName").unwrap_or_default(),
            kind: kind(fields.text("kind")).unwrap_or(Kind::Agent),
            role: match fields.text("role") {
                Some("owner") => Role::Owner,
                Some("admin") => Role::Admin,
                Some("client") => Role::Client,
                _ => Role::Member,
            },
        }),
    },
    Verb {
        segment: "participants:revoke",
        params: &[Param::required("participantId", Shape::Id, "Who")],
        about: "Stops a participant's credentials from working",
        effect: Effect::Write(|fields| Command::RevokeParticipant {
            participant_id: fields.owned("participantId").unwrap_or_default(),
        }),
    },
    Verb {
        segment: "credentials:rotate",
        params: &[Param::required("participantId", Shape::Id, "Whose")],
        about: "Gives a participant another token, shown once; those it had no longer work",
        effect: Effect::Issue(|fields| Command::RotateCredential {
            participant_id: fields.owned("participantId").unwrap_or_default(),
        }),
    },
    Verb {
        segment: "participants:list",
        params: &[],
        about: "Lists who takes part, in the order of their admission",
        effect: Effect::Read(participants),
    },
    Verb {
        segment: "tasks:list",
        params: &[
            Param::optional("state", Shape::Choice(&["open", "closed", "all"]), "Which (open)"),
            page::SIZE,
            page::TOKEN,
        ],
        about: "Lists the tasks of the session, oldest first, with what is long in them cut",
        effect: Effect::Read(tasks),
    },
    Verb {
        segment: "tasks:get",
        params: &[TASK],
        about: "Shows a task whole",
        effect: Effect::Read(task),
    },
    Verb {
        segment: "tasks:approve",
        params: &[
            TASK,
            Param::optional("note", REASON, "A word to those who do the work"),
        ],
        about: "Approves the proposal of a handoff: its work can be claimed",
        effect: Effect::Write(|fields| Command::DecideProposal {
            task_id: fields.owned("taskId").unwrap_or_default(),
            choice: "approve".to_owned(),
            reason: fields.owned("note"),
        }),
    },
    Verb {
        segment: "tasks:decline",
        params: &[TASK, Param::optional("reason", REASON, "What the client is told")],
        about: "Declines an ask, or the proposal of a handoff",
        effect: Effect::Write(|fields| Command::Decline {
            task_id: fields.owned("taskId").unwrap_or_default(),
            reason: fields.owned("reason"),
        }),
    },
    Verb {
        segment: "tasks:close",
        params: &[TASK, Param::optional("reason", REASON, "What the client is told")],
        about: "Closes an ask that nobody will answer: it has failed",
        effect: Effect::Write(|fields| Command::CloseTask {
            task_id: fields.owned("taskId").unwrap_or_default(),
            reason: fields.owned("reason"),
        }),
    },
    Verb {
        segment: "tasks:drop",
        params: &[TASK, Param::optional("reason", REASON, "For the members")],
        about: "Drops the work of a handoff that was approved",
        effect: Effect::Write(|fields| Command::DropWork {
            task_id: fields.owned("taskId").unwrap_or_default(),
            reason: fields.owned("reason"),
        }),
    },
    Verb {
        segment: "tasks:ask",
        params: &[
            TASK,
            Param::required("body", Shape::Text(16_384), "What the client is asked"),
            Param::optional(
                "choices",
                Shape::Set(20, &Shape::Line(200)),
                "What may be chosen from",
            ),
        ],
        about: "Asks the client of a task something; the task waits for the answer",
        effect: Effect::Write(|fields| Command::AskClient {
            task_id: fields.owned("taskId").unwrap_or_default(),
            body: fields.owned("body").unwrap_or_default(),
            choices: fields.texts("choices"),
        }),
    },
    Verb {
        segment: "knowledge:proposals",
        params: &[
            Param::optional(
                "state",
                Shape::Choice(&["pending", "accepted", "rejected", "all"]),
                "Which (pending)",
            ),
            page::SIZE,
            page::TOKEN,
        ],
        about: "Lists the proposals for the knowledge without their bodies, oldest first",
        effect: Effect::Read(proposals),
    },
    Verb {
        segment: "knowledge:review",
        params: &[PROPOSAL],
        about: "Shows a proposal whole, beside the entry that it would change",
        effect: Effect::Read(review),
    },
    Verb {
        segment: "knowledge:accept",
        params: &[
            PROPOSAL,
            Param::optional(
                "confirm",
                Shape::Flag,
                "Whether also when the entry has moved on since (false)",
            ),
        ],
        about: "Makes a proposal a version of its entry",
        effect: Effect::Write(|fields| Command::RuleOnProposal {
            proposal_id: fields.owned("proposalId").unwrap_or_default(),
            verdict: Verdict::Accept {
                confirm: fields.flag("confirm").unwrap_or(false),
            },
        }),
    },
    Verb {
        segment: "knowledge:reject",
        params: &[
            PROPOSAL,
            Param::optional("reason", REASON, "What its author is told"),
        ],
        about: "Turns a proposal down",
        effect: Effect::Write(|fields| Command::RuleOnProposal {
            proposal_id: fields.owned("proposalId").unwrap_or_default(),
            verdict: Verdict::Reject {
                reason: fields.owned("reason"),
            },
        }),
    },
];

/// The verb of a path's last segment.
#[must_use]
pub fn find(segment: &str) -> Option<&'static Verb> {
    VERBS.iter().find(|verb| verb.segment == segment)
}

/// The kind of a name on the wire.
#[must_use]
pub fn kind(name: Option<&str>) -> Option<Kind> {
    match name? {
        "human" => Some(Kind::Human),
        "agent" => Some(Kind::Agent),
        "service" => Some(Kind::Service),
        _ => None,
    }
}

/// What a verb came to: the commit to make durable, and the answer before it is looked up.
#[derive(Clone, Debug)]
pub struct Ruled {
    /// To be made durable and applied before the answer leaves.
    pub commit: Option<Commit>,
    /// What the answer is made from.
    pub answer: Answer,
}

/// Checks the fields of a verb and decides it.
///
/// # Errors
/// 404 to a caller whose role does not decide; every field at fault; whatever the session refuses.
pub fn rule(
    session: &Session,
    verb: &Verb,
    body: &Map<String, Value>,
    caller: &Caller,
    now: Timestamp,
    entropy: [u8; 32],
    limits: SessionLimits,
) -> Result<Ruled, Refusal> {
    if !caller.role.decides() {
        return Err(nothing_here());
    }
    let mut found = params::violations(verb.params, &[], body);
    let key = match verb.effect {
        Effect::Read(_) => None,
        Effect::Write(_) => idempotency_key(body, &mut found),
        Effect::Issue(_) => {
            if body.contains_key("idempotencyKey") {
                let description = "not taken here: the answer shows a token, which is not kept for a repeat";
                found.push(crate::refusal::Violation {
                    field: "idempotencyKey".to_owned(),
                    description: description.to_owned(),
                });
            }
            None
        }
    };
    if !found.is_empty() {
        return Err(Refusal::violations(found));
    }
    let fields = Fields(body);
    let command = match verb.effect {
        Effect::Read(read) => {
            return Ok(Ruled {
                commit: None,
                answer: Answer::Object(read(session, fields, now)?),
            });
        }
        Effect::Write(command) | Effect::Issue(command) => command(fields),
    };
    let idempotency = key.map(|key| Idempotency::of_body(key, verb.segment, body));
    let context = Context {
        now,
        entropy,
        caller: caller.clone(),
        limits,
        idempotency,
    };
    let decided = session.decide(&command, &context)?;
    Ok(Ruled {
        commit: decided.commit,
        answer: decided.answer,
    })
}

fn participants(session: &Session, _: Fields<'_>, _: Timestamp) -> Result<Value, Refusal> {
    let found: Vec<_> = session.participants_in_order().collect();
    Ok(json!({ "participants": found }))
}

fn tasks(session: &Session, fields: Fields<'_>, now: Timestamp) -> Result<Value, Refusal> {
    let wanted = fields.text("state").unwrap_or("open");
    let is_closed = |task: &TaskRecord| session.standing(task, now).state.is_terminal();
    let is_wanted = |task: &&TaskRecord| wanted == "all" || is_closed(task) == (wanted == "closed");
    let place = |task: &TaskRecord| format!("{:020} {}", task.opened_at.as_millis(), task.task_id);
    let found = session.tasks().filter(is_wanted).map(|task| (place(task), task));
    let mut found: Vec<(String, &TaskRecord)> = found.collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let page = page::of(
        session,
        &format!("tasks:list {wanted}"),
        fields,
        found.into_iter(),
        |task| session.brief(task, now),
    )?;
    Ok(json!({ "tasks": page.items, "nextPageToken": page.next }))
}

fn task(session: &Session, fields: Fields<'_>, now: Timestamp) -> Result<Value, Refusal> {
    let task_id = fields.text("taskId").unwrap_or_default();
    let task = session
        .task(task_id)
        .ok_or_else(|| Refusal::task_not_found(task_id))?;
    Ok(json!({ "task": session.summary(task, now) }))
}

fn proposals(session: &Session, fields: Fields<'_>, _: Timestamp) -> Result<Value, Refusal> {
    let name = fields.text("state").unwrap_or(ProposalState::Pending.as_str());
    let state = ProposalState::parse(name);
    let wanted = |proposal: &Proposal| state.is_none_or(|state| proposal.state == state);
    let all = session.knowledge().proposals().enumerate();
    let found = all.filter(|(_, proposal)| wanted(proposal));
    let list = format!("knowledge:proposals {name}");
    let page = page::of(session, &list, fields, found, |proposal| json!(proposal))?;
    Ok(json!({ "proposals": page.items, "nextPageToken": page.next }))
}

fn review(session: &Session, fields: Fields<'_>, _: Timestamp) -> Result<Value, Refusal> {
    let knowledge = session.knowledge();
    let proposal = session.known_proposal(fields.text("proposalId").unwrap_or_default())?;
    let mut shown = json!(proposal);
    if let (Some(shown), Some(body)) = (shown.as_object_mut(), knowledge.body(proposal)) {
        shown.insert("body".to_owned(), json!(body));
    }
    let mut answer = json!({ "proposal": shown });
    let entry = proposal.knowledge_id.as_ref().and_then(|id| knowledge.entry(id));
    if let (Some(answer), Some(entry)) = (answer.as_object_mut(), entry) {
        answer.insert("entry".to_owned(), json!(entry.record(None, true)));
    }
    Ok(answer)
}
