//! `knowledge.*`: what the session holds to be so. It is read and proposed here, and never written (session
//! coordination, §9.1).

use serde_json::json;

use super::{Call, Handler, Operation, page};
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Command, Decided, Idempotency, NewProposal};
use crate::session::known::not_found;
use crate::session::{Scope, Session};

/// `knowledge.list`.
pub const LIST: Operation = Operation {
    name: "knowledge.list",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::optional(
            "tag",
            Shape::Line(50),
            "Only those with this tag, as it is written",
        ),
        Param::optional(
            "query",
            Shape::Line(200),
            "Only those with this in their title or a tag, in any case",
        ),
        page::SIZE,
        page::TOKEN,
    ],
    rules: &[],
    about: "Lists the entries of the knowledge without their bodies, oldest first",
    answer: "`entries[]` without `body`, `nextPageToken`",
    handler: Handler::Session(list),
};

/// `knowledge.read`.
pub const READ: Operation = Operation {
    name: "knowledge.read",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::required("knowledgeId", Shape::Id, "Which"),
        Param::optional(
            "version",
            Shape::Integer(1, u32::MAX),
            "In which version; without it, the latest",
        ),
    ],
    rules: &[],
    about: "Shows an entry of the knowledge",
    answer: "`entry` with `body`",
    handler: Handler::Session(read),
};

/// `knowledge.propose`.
pub const PROPOSE: Operation = Operation {
    name: "knowledge.propose",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::optional(
            "knowledgeId",
            Shape::Id,
            "The entry to change; without it, a new one",
        ),
        Param::required("title", Shape::Line(200), "What it is about"),
        Param::required("body", Shape::Text(65_536), "What is so"),
        Param::optional("tags", Shape::List(10, &Shape::Line(50)), "Keywords"),
        Param::optional("rationale", Shape::Text(2_000), "Why, for who decides"),
        Param::optional(
            "baseVersion",
            Shape::Integer(1, u32::MAX),
            "The version of the entry that it goes out from (the latest)",
        ),
    ],
    rules: &[],
    about: "Proposes an entry or a change of one, which an owner or admin decides about",
    answer: "`proposal`",
    handler: Handler::Session(propose),
};

fn list(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let (tag, query) = (fields.text("tag"), fields.text("query"));
    let list = format!("knowledge.list {} {tag:?} {query:?}", call.caller.participant_id);
    let all = session.knowledge().entries().enumerate();
    let wanted = all.filter(|(_, entry)| entry.matches(tag, query));
    let found = wanted.filter_map(|(place, entry)| Some((place, entry.record(None, false)?)));
    let page = page::of(session, &list, fields, found, |entry| entry)?;
    Ok(Decided::read(
        json!({ "entries": page.items, "nextPageToken": page.next }),
    ))
}

fn read(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let entry = session.known_entry(fields.text("knowledgeId").unwrap_or_default())?;
    let record = entry.record(fields.number("version"), true).ok_or_else(|| {
        not_found("KNOWLEDGE_VERSION_NOT_FOUND", "the entry has no such version")
            .with_fact("version", entry.version().to_string())
    })?;
    Ok(Decided::read(json!({ "entry": record })))
}

fn propose(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let new = NewProposal {
        knowledge_id: fields.owned("knowledgeId"),
        title: fields.owned("title").unwrap_or_default(),
        body: fields.owned("body").unwrap_or_default(),
        tags: fields.texts("tags"),
        rationale: fields.owned("rationale"),
        base_version: fields.number("baseVersion"),
    };
    if new.base_version.is_some() && new.knowledge_id.is_none() {
        let rule = "expected with knowledgeId alone: a new entry goes out from no version";
        return Err(Refusal::invalid("baseVersion", rule));
    }
    call.decide(session, idempotency, &Command::ProposeKnowledge(Box::new(new)))
}
