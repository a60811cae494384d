//! Pages of a list: `pageSize` and `pageToken` in, `nextPageToken` out (session coordination, §9.2).

use std::str::FromStr;

use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::Session;

/// `pageSize`.
pub(crate) const SIZE: Param = Param::optional("pageSize", Shape::Integer(1, 100), "How many at most (50)");

/// `pageToken`.
pub(crate) const TOKEN: Param = Param::optional(
    "pageToken",
    Shape::Text(1_024),
    "Where to go on: nextPageToken of the page before",
);

const DEFAULT_SIZE: u32 = 50;

/// A page.
pub(crate) struct Page<T> {
    /// What is on it.
    pub(crate) items: Vec<T>,
    /// Token of the next; empty when there is none.
    pub(crate) next: String,
}

/// How much a page is to hold.
pub(super) fn size(fields: Fields<'_>) -> usize {
    usize::try_from(fields.number("pageSize").unwrap_or(DEFAULT_SIZE)).unwrap_or(usize::MAX)
}

/// Where the page begins, if not where the list does.
///
/// # Errors
/// INVALID_ARGUMENT on `pageToken`.
pub(super) fn position<P: FromStr>(
    session: &Session,
    list: &str,
    fields: Fields<'_>,
) -> Result<Option<P>, Refusal> {
    let Some(token) = fields.text("pageToken").filter(|token| !token.is_empty()) else {
        return Ok(None);
    };
    let position = session.page_position(list, token);
    match position.and_then(|position| position.parse().ok()) {
        Some(position) => Ok(Some(position)),
        None => Err(Refusal::invalid(
            "pageToken",
            "expected nextPageToken of the same list, unaltered",
        )),
    }
}

/// The page that the fields ask for, of items with their places in an order that no item moves in.
///
/// `list` names the list, its filters and its reader: its tokens are good for nothing else.
///
/// # Errors
/// INVALID_ARGUMENT on `pageToken`.
pub(crate) fn of<P: Ord + ToString + FromStr, T>(
    session: &Session,
    list: &str,
    fields: Fields<'_>,
    items: impl Iterator<Item = (P, T)>,
) -> Result<Page<T>, Refusal> {
    let from: Option<P> = position(session, list, fields)?;
    let mut rest = items.skip_while(|(place, _)| from.as_ref().is_some_and(|from| place < from));
    let page = rest.by_ref().take(size(fields)).map(|(_, item)| item).collect();
    let next = rest
        .next()
        .map(|(place, _)| session.page_token(list, &place.to_string()));
    Ok(Page {
        items: page,
        next: next.unwrap_or_default(),
    })
}
