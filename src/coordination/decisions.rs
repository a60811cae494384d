//! `decisions.record`: what was agreed on, and why (session coordination, §9).

use super::{Call, Handler, Operation};
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Command, Decided, Idempotency, NewDecision};
use crate::session::{Scope, Session};

/// `decisions.record`.
pub const RECORD: Operation = Operation {
    name: "decisions.record",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::required("title", Shape::Line(200), "What it is about"),
        Param::required("decision", Shape::Text(16_384), "What was decided"),
        Param::optional("rationale", Shape::Text(16_384), "Why"),
        Param::optional(
            "alternatives",
            Shape::List(20, &Shape::Text(500)),
            "What was not chosen",
        ),
        Param::optional("supersedes", Shape::Id, "The decision whose place it takes"),
        Param::optional("workstreamId", Shape::Id, "The workstream it belongs to"),
    ],
    rules: &[],
    about: "Records a decision for everyone in the session",
    answer: "`decision`",
    handler: Handler::Session(record),
};

fn record(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let new = NewDecision {
        title: fields.owned("title").unwrap_or_default(),
        decision: fields.owned("decision").unwrap_or_default(),
        rationale: fields.owned("rationale"),
        alternatives: fields.texts("alternatives"),
        supersedes: fields.owned("supersedes"),
        workstream_id: fields.owned("workstreamId"),
    };
    call.decide(session, idempotency, &Command::RecordDecision(Box::new(new)))
}
