//! `inbox.*`: what the caller is to look at (session coordination, §9).

use serde::Deserialize as _;
use serde_json::json;

use super::{Call, Handler, Operation, page};
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Command, Decided, Idempotency};
use crate::session::inbox::{Item, ItemState, Kind};
use crate::session::{Scope, Session};

/// `inbox.list`.
pub const LIST: Operation = Operation {
    name: "inbox.list",
    scope: Scope::SessionRead,
    read_only: true,
    params: &[
        Param::optional(
            "state",
            Shape::Choice(&["pending", "acknowledged", "resolved", "all"]),
            "Only those that stand so (pending)",
        ),
        Param::optional(
            "kinds",
            Shape::Set(8, &Shape::Choice(Kind::NAMES)),
            "Only those of these kinds",
        ),
        page::SIZE,
        page::TOKEN,
    ],
    rules: &[],
    about: "Lists what waits for the caller, oldest first",
    answer: "`items[]`, `nextPageToken`, `pendingCount`",
    handler: Handler::Session(list),
};

/// `inbox.update`.
pub const UPDATE: Operation = Operation {
    name: "inbox.update",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::required("itemIds", Shape::List(100, &Shape::Id), "Which"),
        Param::required(
            "state",
            Shape::Choice(&["acknowledged", "resolved", "pending"]),
            "What the caller makes of them",
        ),
    ],
    rules: &[],
    about: "Acknowledges, resolves or reopens items of the caller's inbox: all of them, or none",
    answer: "`items[]`",
    handler: Handler::Session(update),
};

fn state(fields: Fields<'_>) -> Option<ItemState> {
    let name = fields.raw("state")?;
    ItemState::deserialize(name).ok()
}

fn list(session: &Session, call: &Call<'_>, _: Option<Idempotency>) -> Result<Decided, Refusal> {
    let (fields, reader) = (Fields(call.body), &call.caller.participant_id);
    let kinds = fields
        .raw("kinds")
        .and_then(|names| Vec::<Kind>::deserialize(names).ok());
    let kinds = kinds.filter(|kinds| !kinds.is_empty());
    let wanted = match fields.text("state") {
        Some("all") => None,
        _ => Some(state(fields).unwrap_or(ItemState::Pending)),
    };
    let list = format!("inbox.list {reader} {wanted:?} {kinds:?}");
    let items = session.inbox_of(reader, call.now);
    let pending = items
        .iter()
        .filter(|item| item.state == ItemState::Pending)
        .count();
    let is_wanted = |item: &Item<'_>| {
        wanted.is_none_or(|state| item.state == state)
            && kinds.as_ref().is_none_or(|kinds| kinds.contains(&item.kind))
    };
    let all = items.into_iter().filter(is_wanted);
    let all = all.map(|item| (item.place.clone(), item));
    let page = page::of(session, &list, fields, all, |item| json!(item))?;
    Ok(Decided::read(json!({
        "items": page.items,
        "nextPageToken": page.next,
        "pendingCount": pending,
    })))
}

fn update(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let command = Command::UpdateInbox {
        item_ids: fields.texts("itemIds"),
        state: state(fields).unwrap_or(ItemState::Pending),
    };
    call.decide(session, idempotency, &command)
}
