//! `workstreams.*`: scopes of coordination, versioned, with a history that nobody rewrites (session coordination, §9.1).

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Call, Handler, Operation, page};
use crate::params::{Fields, Param, Rule, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Command, Decided, Edit, Idempotency, Move, NewWorkstream};
use crate::session::workstream::{Lifecycle, Resource, Update, Workstream};
use crate::session::{Scope, Session};

const TITLE: Shape = Shape::Line(200);
/// Blank is no intent, though an update may leave the member out.
const INTENT: Shape = Shape::Filled(4_000);
const PARTICIPANTS: Shape = Shape::Set(50, &Shape::Id);
/// How far a workstream may be.
pub const LIFECYCLES: &[&str] = &["proposed", "active", "paused", "completed", "archived"];
/// What a workstream may be linked to.
pub const LINK_KINDS: &[&str] = &[
    "request",
    "claim",
    "question",
    "decision",
    "knowledge",
    "task",
    "external",
];
const LIFECYCLE: Shape = Shape::Choice(LIFECYCLES);
const WHICH: Param = Param::required("workstreamId", Shape::Id, "Which");
const VERSION: Param = Param::required(
    "expectedVersion",
    Shape::Integer(1, u32::MAX),
    "The version that the caller knows; of any other nothing is changed",
);
const RESOURCE: Param = Param::required(
    "resource",
    Shape::Object(&[
        Param::required("kind", Shape::Choice(LINK_KINDS), "What it is"),
        Param::required("id", Shape::Line(512), "Its id"),
    ]),
    "A record of the session, or something outside",
);

/// `workstreams.list`.
pub const LIST: Operation = Operation {
    name: "workstreams.list",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::optional("lifecycle", LIFECYCLE, "Only those that are so far"),
        Param::optional(
            "includeArchived",
            Shape::Flag,
            "Whether also those that are archived (false)",
        ),
        page::SIZE,
        page::TOKEN,
    ],
    rules: &[],
    about: "Lists the workstreams of the session, oldest first",
    answer: "`workstreams[]`, `nextPageToken`",
    handler: Handler::Session(list),
};

/// `workstreams.create`.
pub const CREATE: Operation = Operation {
    name: "workstreams.create",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::required("title", TITLE, "What it is called"),
        Param::required("intent", INTENT, "What it is to come to"),
        Param::optional("participants", PARTICIPANTS, "Who works on it beside the caller"),
    ],
    rules: &[],
    about: "Makes a workstream, with the caller as its owner",
    answer: "`workstream`",
    handler: Handler::Session(create),
};

/// `workstreams.get`.
pub const GET: Operation = Operation {
    name: "workstreams.get",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        WHICH,
        Param::optional(
            "includeHistory",
            Shape::Flag,
            "Whether also what happened to it, oldest first (false)",
        ),
        page::SIZE,
        page::TOKEN,
    ],
    rules: &[],
    about: "Shows a workstream, and its history in pages",
    answer: "`workstream`, `history[]?`, `nextPageToken`",
    handler: Handler::Session(get),
};

/// `workstreams.update`.
pub const UPDATE: Operation = Operation {
    name: "workstreams.update",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        WHICH,
        VERSION,
        Param::optional("title", TITLE, "What it is called"),
        Param::optional("intent", INTENT, "What it is to come to"),
        Param::optional("owner", Shape::Id, "Who answers for it"),
        Param::optional("participants", PARTICIPANTS, "Who works on it: all of them"),
        Param::optional("lifecycle", LIFECYCLE, "How far it is; archived is for good"),
        Param::optional(
            "addEvidence",
            Shape::List(
                20,
                &Shape::Object(&[
                    Param::required("kind", Shape::Line(40), "What it is"),
                    Param::required("summary", Shape::Text(1_000), "What it shows"),
                    Param::optional("url", Shape::HttpsUrl(2_048), "Where it is"),
                ]),
            ),
            "What shows how it stands, behind what is there",
        ),
        Param::optional(
            "checkpoint",
            Shape::Object(&[
                Param::required("summary", Shape::Text(4_000), "Where it stands"),
                Param::optional("next", Shape::Text(2_000), "How it goes on"),
            ]),
            "Where whoever takes it up starts, in place of the one before",
        ),
    ],
    rules: &[Rule::Some(&[
        "title",
        "intent",
        "owner",
        "participants",
        "lifecycle",
        "addEvidence",
        "checkpoint",
    ])],
    about: "Sets parts of a workstream anew",
    answer: "`workstream`",
    handler: Handler::Session(update),
};

/// `workstreams.link`.
pub const LINK: Operation = Operation {
    name: "workstreams.link",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        WHICH,
        VERSION,
        RESOURCE,
        Param::optional(
            "from",
            Shape::Object(&[WHICH, VERSION]),
            "The workstream that holds it, to move it from there",
        ),
    ],
    rules: &[Rule::Apart {
        within: "from",
        param: "workstreamId",
    }],
    about: "Links a resource to a workstream, or moves it there from another",
    answer: "`workstream`, `link`, `movedFrom?`",
    handler: Handler::Session(link),
};

/// `workstreams.unlink`.
pub const UNLINK: Operation = Operation {
    name: "workstreams.unlink",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[WHICH, VERSION, RESOURCE],
    rules: &[],
    about: "Takes a resource's link away from a workstream",
    answer: "`workstream`",
    handler: Handler::Session(unlink),
};

/// A value whose form the parameters have been checked for.
fn read<T: DeserializeOwned>(value: &Value, field: &str) -> Result<T, Refusal> {
    T::deserialize(value).map_err(|error| Refusal::invalid(field, error.to_string()))
}

fn resource(fields: Fields<'_>) -> Result<Resource, Refusal> {
    read(fields.raw("resource").unwrap_or(&Value::Null), "resource")
}

fn list(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let lifecycle: Option<Lifecycle> = fields
        .raw("lifecycle")
        .map(|name| read(name, "lifecycle"))
        .transpose()?;
    let archived = fields.flag("includeArchived").unwrap_or(false);
    let list = format!(
        "workstreams.list {} {lifecycle:?} {archived}",
        call.caller.participant_id
    );
    let wanted = |workstream: &Workstream| match lifecycle {
        Some(lifecycle) => workstream.lifecycle == lifecycle,
        None => archived || workstream.is_open(),
    };
    let all = session.workstreams().in_order().enumerate();
    let page = page::of(
        session,
        &list,
        fields,
        all.filter(|(_, one)| wanted(one)),
        |one| json!(one),
    )?;
    Ok(Decided::read(
        json!({ "workstreams": page.items, "nextPageToken": page.next }),
    ))
}

fn create(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let new = NewWorkstream {
        title: fields.owned("title").unwrap_or_default(),
        intent: fields.owned("intent").unwrap_or_default(),
        participants: fields.texts("participants"),
    };
    call.decide(session, idempotency, &Command::CreateWorkstream(Box::new(new)))
}

fn get(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let id = fields.text("workstreamId").unwrap_or_default();
    let workstreams = session.workstreams();
    let workstream = session.known_workstream(id)?;
    let with_history = fields.flag("includeHistory").unwrap_or(false);
    let list = format!("workstreams.get {} {id}", call.caller.participant_id);
    let history = if with_history {
        workstreams.history(id)
    } else {
        &[]
    };
    let page = page::of(session, &list, fields, history.iter().enumerate(), |event| {
        event.record()
    })?;
    let mut answer = json!({ "workstream": workstream });
    if let Some(answer) = answer.as_object_mut() {
        if with_history {
            answer.insert("history".to_owned(), Value::Array(page.items));
        }
        answer.insert("nextPageToken".to_owned(), json!(page.next));
    }
    Ok(Decided::read(answer))
}

/// What an update sets, of what it may.
fn changes(fields: Fields<'_>) -> Result<Update, Refusal> {
    Ok(Update {
        title: fields.owned("title"),
        intent: fields.owned("intent"),
        owner: fields.owned("owner"),
        participants: fields.raw("participants").map(|_| fields.texts("participants")),
        lifecycle: fields
            .raw("lifecycle")
            .map(|name| read(name, "lifecycle"))
            .transpose()?,
        add_evidence: fields
            .raw("addEvidence")
            .map(|evidence| read(evidence, "addEvidence"))
            .transpose()?
            .unwrap_or_default(),
        checkpoint: fields
            .raw("checkpoint")
            .map(|checkpoint| read(checkpoint, "checkpoint"))
            .transpose()?,
    })
}

fn update(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let edit = Edit::Update(changes(Fields(call.body))?);
    decide(session, call, idempotency, edit)
}

fn link(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let from = fields.object("from").map(|from| Move {
        workstream_id: from.owned("workstreamId").unwrap_or_default(),
        expected_version: from.number("expectedVersion").unwrap_or_default(),
    });
    let resource = resource(fields)?;
    decide(session, call, idempotency, Edit::Link { resource, from })
}

fn unlink(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let resource = resource(Fields(call.body))?;
    decide(session, call, idempotency, Edit::Unlink { resource })
}

fn decide(
    session: &Session,
    call: &Call<'_>,
    idempotency: Option<Idempotency>,
    edit: Edit,
) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let command = Command::EditWorkstream {
        workstream_id: fields.owned("workstreamId").unwrap_or_default(),
        expected_version: fields.number("expectedVersion").unwrap_or_default(),
        edit: Box::new(edit),
    };
    call.decide(session, idempotency, &command)
}
