//! `claims.*`: leases on paths, globs and opaque ids, which end by themselves (session coordination, §9.1).

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{Call, Handler, Operation};
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::claim::{ClaimType, Wanted};
use crate::session::decide::{Command, Decided, Idempotency, NewClaim, named};
use crate::session::{Scope, Session};

const LEASE_SECONDS: u32 = 900;

const RESOURCE: Param = Param::required(
    "resourceId",
    Shape::Resource,
    "What: a path, a glob or an id with a scheme",
);
const TYPE: Param = Param::optional(
    "claimType",
    Shape::Choice(&["exclusive", "shared"]),
    "Whom the claim tolerates: nobody, or others that share (exclusive)",
);

/// `claims.check`.
pub const CHECK: Operation = Operation {
    name: "claims.check",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[Param::required(
        "resources",
        Shape::List(50, &Shape::Object(&[RESOURCE, TYPE])),
        "What the caller would claim",
    )],
    rules: &[],
    about: "Tells which live claims would be in the way of the caller's",
    answer: "`results[]` in the order of `resources`: `available`, `conflicts[]`, `truncated?`",
    handler: Handler::Session(check),
};

/// `claims.acquire`.
pub const ACQUIRE: Operation = Operation {
    name: "claims.acquire",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        RESOURCE,
        TYPE,
        Param::optional(
            "leaseSeconds",
            Shape::Integer(30, 86_400),
            "How long the claim holds without being renewed (900)",
        ),
        Param::optional("reason", Shape::Text(500), "What for"),
        Param::optional("workstreamId", Shape::Id, "The workstream it belongs to"),
        Param::optional("requestId", Shape::Id, "The request it is for"),
    ],
    rules: &[],
    about: "Claims a resource for a while, or renews the caller's claim on it",
    answer: "`claim`",
    handler: Handler::Session(acquire),
};

/// `claims.release`.
pub const RELEASE: Operation = Operation {
    name: "claims.release",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[Param::required("claimId", Shape::Id, "Which")],
    rules: &[],
    about: "Gives a claim up before it lapses",
    answer: "`claim` with `releasedAt`",
    handler: Handler::Session(release),
};

fn claim_type(fields: Fields<'_>) -> ClaimType {
    fields
        .raw("claimType")
        .and_then(|name| ClaimType::deserialize(name).ok())
        .unwrap_or(ClaimType::Exclusive)
}

fn check(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let now = session.time(call.now);
    let result = |asked: Fields<'_>| {
        let resource = asked.resource("resourceId")?;
        let wanted = Wanted {
            resource: &resource,
            claim_type: claim_type(asked),
            participant_id: &call.caller.participant_id,
        };
        let conflicts = session.claims().conflicts(&wanted, now);
        let mut result = json!({ "available": conflicts.is_empty() });
        if let (Some(result), Value::Object(named)) = (result.as_object_mut(), named(&conflicts)) {
            result.extend(named);
        }
        Some(result)
    };
    let results: Vec<Value> = Fields(call.body)
        .objects("resources")
        .filter_map(result)
        .collect();
    Ok(Decided::read(json!({ "results": results })))
}

fn acquire(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let new = NewClaim {
        resource: fields
            .resource("resourceId")
            .ok_or_else(|| Refusal::invalid("resourceId", "expected a resource id"))?,
        claim_type: claim_type(fields),
        lease_seconds: fields.number("leaseSeconds").unwrap_or(LEASE_SECONDS),
        reason: fields.owned("reason"),
        workstream_id: fields.owned("workstreamId"),
        request_id: fields.owned("requestId"),
    };
    call.decide(session, idempotency, &Command::AcquireClaim(Box::new(new)))
}

fn release(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let claim_id = Fields(call.body).owned("claimId").unwrap_or_default();
    call.decide(session, idempotency, &Command::ReleaseClaim { claim_id })
}
