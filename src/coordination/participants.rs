//! `participants.list`: who takes part, and who of them is there (session coordination, §9.3).

use serde_json::json;

use super::{Call, Handler, Operation, page};
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::presence::{Presence, PresenceState, record};
use crate::session::{Decided, Idempotency, Scope, Session};

/// `participants.list`.
pub const LIST: Operation = Operation {
    name: "participants.list",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::optional(
            "includeOffline",
            Shape::Flag,
            "Whether also those who are not there (true)",
        ),
        page::SIZE,
        page::TOKEN,
    ],
    rules: &[],
    about: "Lists who takes part in the session, in the order they were admitted in",
    answer: "`participants[]`, `nextPageToken`",
    handler: Handler::Session(list),
};

fn list(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let include_offline = fields.flag("includeOffline").unwrap_or(true);
    let list = format!(
        "participants.list {} {include_offline}",
        call.caller.participant_id
    );
    let now = session.time(call.now);
    let there = |presence: Option<&Presence>| {
        presence.is_some_and(|presence| presence.state_at(now) != PresenceState::Offline)
    };
    let all = session
        .participants_in_order()
        .enumerate()
        .filter(|(_, participant)| participant.revoked_at.is_none())
        .map(|(place, participant)| {
            (
                place,
                (participant, session.presence(&participant.participant_id)),
            )
        })
        .filter(|(_, (_, presence))| include_offline || there(*presence));
    let page = page::of(session, &list, fields, all, |(participant, presence)| {
        record(participant, presence, now)
    })?;
    Ok(Decided::read(
        json!({ "participants": page.items, "nextPageToken": page.next }),
    ))
}
