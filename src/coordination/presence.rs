//! `presence.announce` and `status.announce`: that one is there, and how one is getting on (session coordination,
//! §9.3).

use serde::Deserialize as _;

use super::{Call, Handler, Operation};
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Command, Decided, Idempotency, NewPresence, NewStatus};
use crate::session::presence::{Client, PresenceState};
use crate::session::{Scope, Session};

const TTL_SECONDS: u32 = 120;

/// `presence.announce`.
pub const ANNOUNCE: Operation = Operation {
    name: "presence.announce",
    scope: Scope::PresenceWrite,
    read_only: false,
    params: &[
        Param::optional(
            "state",
            Shape::Choice(&["active", "idle", "away"]),
            "How the caller is there (active)",
        ),
        Param::optional("activity", Shape::Line(280), "What it is at"),
        Param::optional(
            "ttlSeconds",
            Shape::Integer(15, 3_600),
            "How long it counts as there without announcing itself again (120)",
        ),
        Param::optional(
            "capabilities",
            Shape::List(20, &Shape::Line(64)),
            "What it can do; without it, what it last said",
        ),
        Param::optional(
            "client",
            Shape::Object(&[
                Param::required("name", Shape::Text(80), "Its name"),
                Param::optional("version", Shape::Text(40), "Its version"),
            ]),
            "The program it uses; without it, what it last said",
        ),
        Param::optional(
            "renewClaims",
            Shape::Flag,
            "Whether its live claims get their lease anew (true)",
        ),
    ],
    rules: &[],
    about: "Says that the caller is there",
    answer: "`participant`, `renewedClaims[]`, `lapsedClaims[]`",
    handler: Handler::Session(announce),
};

/// `status.announce`.
pub const STATUS: Operation = Operation {
    name: "status.announce",
    scope: Scope::PresenceWrite,
    read_only: false,
    params: &[
        Param::required("status", Shape::Text(1_000), "How the caller is getting on"),
        Param::optional("blockedOn", Shape::Text(280), "What it waits for"),
        Param::optional("workstreamId", Shape::Id, "The workstream it belongs to"),
        Param::optional(
            "resources",
            Shape::List(20, &Shape::Resource),
            "What it is at: paths, globs or ids with a scheme",
        ),
    ],
    rules: &[],
    about: "Says how the caller is getting on, for the session's log",
    answer: "`event` {`eventId`, `seq`, `at`}",
    handler: Handler::Session(status),
};

fn announce(
    session: &Session,
    call: &Call<'_>,
    idempotency: Option<Idempotency>,
) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let client = |client: Fields<'_>| Client {
        name: client.owned("name").unwrap_or_default(),
        version: client.owned("version"),
    };
    let new = NewPresence {
        state: fields
            .raw("state")
            .and_then(|name| PresenceState::deserialize(name).ok())
            .unwrap_or(PresenceState::Active),
        activity: fields.owned("activity"),
        ttl_seconds: fields.number("ttlSeconds").unwrap_or(TTL_SECONDS),
        capabilities: fields.raw("capabilities").map(|_| fields.texts("capabilities")),
        client: fields.object("client").map(client),
        renew_claims: fields.flag("renewClaims").unwrap_or(true),
    };
    call.decide(session, idempotency, &Command::AnnouncePresence(Box::new(new)))
}

fn status(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let new = NewStatus {
        status: fields.owned("status").unwrap_or_default(),
        blocked_on: fields.owned("blockedOn"),
        workstream_id: fields.owned("workstreamId"),
        resources: fields.texts("resources"),
    };
    call.decide(session, idempotency, &Command::AnnounceStatus(Box::new(new)))
}
