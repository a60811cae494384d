//! `requests.*`: work that participants take, up to a capacity (session coordination, §9.3 and §9.1).

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{Call, Handler, Operation, page};
use crate::a2a::{Chunk, Handover};
use crate::dispatch::artifact::WorkArtifact;
use crate::dispatch::work::Priority;
use crate::params::{Fields, Param, Rule, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Action, Command, Decided, Idempotency, NewRequest};
use crate::session::request::{Request, RequestState, Stage};
use crate::session::{Scope, Session};

const BODY: Shape = Shape::Text(16_384);
const ARTIFACTS: Shape = Shape::List(20, &Shape::Handover);

/// `requests.create`.
pub const CREATE: Operation = Operation {
    name: "requests.create",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::required("title", Shape::Line(200), "What is to be done"),
        Param::optional("body", BODY, "The whole of it"),
        Param::optional(
            "to",
            Shape::List(50, &Shape::Id),
            "Participants who may take it; without it, any member",
        ),
        Param::optional(
            "maxAssignees",
            Shape::Integer(1, 50),
            "How many may have it at once (1)",
        ),
        Param::optional(
            "expiresInSeconds",
            Shape::Integer(60, 2_592_000),
            "When it expires",
        ),
        Param::optional(
            "priority",
            Shape::Choice(&["urgent", "high", "medium", "low", "none"]),
            "How much it matters (none)",
        ),
        Param::optional("labels", Shape::List(10, &Shape::Line(50)), "Keywords"),
        Param::optional(
            "acceptance",
            Shape::List(20, &Shape::Line(500)),
            "When it counts as done",
        ),
        Param::optional("workstreamId", Shape::Id, "The workstream it belongs to"),
    ],
    rules: &[],
    about: "Asks the participants of the session for a piece of work",
    answer: "`request`",
    handler: Handler::Session(create),
};

/// `requests.list`.
pub const LIST: Operation = Operation {
    name: "requests.list",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::optional(
            "state",
            Shape::Choice(&["open", "claimed", "completed", "cancelled", "expired"]),
            "Only those that stand so",
        ),
        Param::optional(
            "assignee",
            Shape::Id,
            "Only those that this participant, or \"me\", has",
        ),
        Param::optional(
            "createdBy",
            Shape::Id,
            "Only those that this participant, or \"me\", asked for",
        ),
        Param::optional("workstreamId", Shape::Id, "Only those of this workstream"),
        page::SIZE,
        page::TOKEN,
    ],
    rules: &[],
    about: "Lists the requests of the session, oldest first",
    answer: "`requests[]`, `nextPageToken`",
    handler: Handler::Session(list),
};

/// `requests.update`.
pub const UPDATE: Operation = Operation {
    name: "requests.update",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::required("requestId", Shape::Id, "Which"),
        Param::required(
            "action",
            Shape::Choice(&[
                "claim", "unclaim", "progress", "complete", "cancel", "reassign", "hold",
            ]),
            "What is to happen to it",
        ),
        Param::optional(
            "note",
            BODY,
            "A remark; with progress and complete the client reads it too",
        ),
        Param::optional(
            "stage",
            Shape::ChoiceOrNull(&["review", "landing"]),
            "How far it has come (progress)",
        ),
        Param::optional(
            "artifacts",
            ARTIFACTS,
            "What is handed in (progress, complete): artifacts, or with progress chunks {`artifact`, `append`, `lastChunk`}",
        ),
        Param::optional(
            "asMessage",
            Shape::Flag,
            "Whether a send that still waits is answered with a message in place of its task (complete)",
        ),
        Param::optional("assignee", Shape::Id, "Who gets it (reassign)"),
        Param::optional(
            "gate",
            Shape::Choice(&["tool-approval", "scope"]),
            "What an owner or admin must approve (hold)",
        ),
        Param::optional(
            "reason",
            Shape::Filled(2_000),
            "What exactly, for those who decide alone (hold)",
        ),
    ],
    rules: &[
        Rule::With {
            param: "action",
            is: "reassign",
            needs: &["assignee"],
        },
        Rule::With {
            param: "action",
            is: "hold",
            needs: &["gate", "reason"],
        },
    ],
    about: "Takes a request, gives it back, moves it on, ends it",
    answer: "`request`",
    handler: Handler::Session(update),
};

fn create(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let new = NewRequest {
        title: fields.owned("title").unwrap_or_default(),
        body: fields.owned("body"),
        to: fields.texts("to"),
        max_assignees: fields.number("maxAssignees").unwrap_or(1),
        expires_in_seconds: fields.number("expiresInSeconds"),
        priority: fields
            .raw("priority")
            .and_then(|name| Priority::deserialize(name).ok())
            .unwrap_or(Priority::None),
        labels: fields.texts("labels"),
        acceptance: fields.texts("acceptance"),
        workstream_id: fields.owned("workstreamId"),
    };
    call.decide(session, idempotency, &Command::CreateRequest(Box::new(new)))
}

fn update(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let note = fields.owned("note");
    let artifacts = fields.handovers("artifacts");
    let stage = fields.raw("stage").map(|stage| match stage.as_str() {
        Some("review") => Some(Stage::Review),
        Some(_) => Some(Stage::Landing),
        None => None,
    });
    let action = match fields.text("action").unwrap_or_default() {
        "claim" => Action::Claim { note },
        "unclaim" => Action::Unclaim { note },
        "progress" => Action::Progress {
            note,
            stage,
            artifacts,
        },
        "complete" => complete(fields, note, artifacts)?,
        "cancel" => Action::Cancel { note },
        "hold" => Action::Hold {
            gate: fields.owned("gate").unwrap_or_default(),
            reason: fields.owned("reason").unwrap_or_default(),
            note,
        },
        _ => Action::Reassign {
            assignee: fields.owned("assignee").unwrap_or_default(),
            note,
        },
    };
    let request_id = fields.owned("requestId").unwrap_or_default();
    call.decide(
        session,
        idempotency,
        &Command::UpdateRequest { request_id, action },
    )
}

fn complete(fields: Fields<'_>, note: Option<String>, handed_in: Vec<Handover>) -> Result<Action, Refusal> {
    if let Some(chunk) = handed_in.iter().position(|it| it.chunk != Chunk::WHOLE) {
        let rule = "expected a whole artifact with complete: chunks come with progress";
        return Err(Refusal::invalid(format!("artifacts[{chunk}]"), rule));
    }
    let as_message = fields.flag("asMessage").unwrap_or_default();
    let is_answer = |it: &Handover| {
        matches!(
            WorkArtifact::of(&it.artifact, ""),
            Ok(Some(WorkArtifact::Answer(_)))
        )
    };
    if let Some(other) = handed_in.iter().position(|it| !is_answer(it))
        && as_message
    {
        let rule = "expected nothing but the answer with asMessage: a message hands nothing in";
        return Err(Refusal::invalid(format!("artifacts[{other}]"), rule));
    }
    Ok(Action::Complete {
        note,
        artifacts: handed_in.into_iter().map(|it| it.artifact).collect(),
        as_message,
    })
}

/// A request as of `now`: one whose time has run out is expired, recorded or not.
pub(super) fn shown(request: &Request, call: &Call<'_>) -> Value {
    let mut shown = request.clone();
    shown.state = request.state_at(call.now);
    json!(shown)
}

fn list(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let me = |who: Option<&str>| {
        who.map(|who| {
            if who == "me" {
                call.caller.participant_id.clone()
            } else {
                who.to_owned()
            }
        })
    };
    let (assignee, created_by) = (me(fields.text("assignee")), me(fields.text("createdBy")));
    let state = fields.text("state").and_then(RequestState::parse);
    let workstream = fields.text("workstreamId");
    let list = format!(
        "requests.list {} {state:?} {assignee:?} {created_by:?} {workstream:?}",
        call.caller.participant_id
    );
    let wanted = |request: &Request| {
        state.is_none_or(|state| request.state_at(call.now) == state)
            && assignee.as_ref().is_none_or(|who| request.is_assigned_to(who))
            && created_by.as_ref().is_none_or(|who| request.created_by == *who)
            && workstream.is_none_or(|of| request.workstream_id.as_deref() == Some(of))
    };
    let all = session.requests().enumerate();
    let found = all.filter(|(_, request)| wanted(request));
    let page = page::of(session, &list, fields, found, |request| shown(request, call))?;
    Ok(Decided::read(
        json!({ "requests": page.items, "nextPageToken": page.next }),
    ))
}
