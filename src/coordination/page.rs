//! Pages of a list: `pageSize` and `pageToken` in, `nextPageToken` out (session coordination, §9.2).

use std::str::FromStr;

use serde_json::Value;

use crate::json::compact_len;
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

/// The most bytes of a page's items, about, its first left out.
const ROOM: usize = 4 << 20;

/// What an answer still has room for: items can be long, and many long ones more than a host holds.
pub(crate) struct Room {
    left: usize,
    begun: bool,
}

impl Default for Room {
    fn default() -> Self {
        Self::of(ROOM)
    }
}

impl Room {
    /// For so many bytes.
    pub(crate) const fn of(bytes: usize) -> Self {
        Self {
            left: bytes,
            begun: false,
        }
    }

    /// Whether one more fits that is so long; the first does in any case, and none after one that does not.
    pub(crate) fn takes(&mut self, bytes: usize) -> bool {
        let begun = std::mem::replace(&mut self.begun, true);
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        !begun || left.is_some()
    }
}

/// A page.
pub(crate) struct Page {
    /// What is on it.
    pub(crate) items: Vec<Value>,
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

/// The page that the fields ask for, of items with their places in an order that no item moves in. It has fewer where they
/// are long.
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
    show: impl Fn(T) -> Value,
) -> Result<Page, Refusal> {
    let from: Option<P> = position(session, list, fields)?;
    let rest = items.skip_while(|(place, _)| from.as_ref().is_some_and(|from| place < from));
    let (mut page, mut room, size) = (Vec::new(), Room::default(), size(fields));
    let mut next = String::new();
    for (place, item) in rest {
        let item = (page.len() < size).then(|| show(item));
        let Some(item) = item.filter(|item| room.takes(compact_len(item))) else {
            next = session.page_token(list, &place.to_string());
            break;
        };
        page.push(item);
    }
    Ok(Page { items: page, next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    #[test]
    fn an_answer_has_room_for_its_first_item_and_for_others_until_one_is_too_long() {
        let mut room = Room::of(10);
        assert!(room.takes(11) && !room.takes(1));
        let mut room = Room::of(10);
        assert!(room.takes(4) && room.takes(6) && !room.takes(1));
        let mut room = Room::of(10);
        assert!(room.takes(4) && !room.takes(7) && !room.takes(1));
    }

    #[test]
    fn a_text_is_as_long_as_it_is_written() {
        let session = Session::default();
        let items = (0..7).map(|number| (number, "\"".repeat(1 << 20)));
        let page = of(&session, "l", Fields(&Map::new()), items, |text| json!(text)).unwrap();
        assert_eq!(page.items.len(), 1);
    }

    #[test]
    fn pages_of_long_items_are_shorter_and_leave_none_out() {
        let session = Session::default();
        let text = |number: usize| number.to_string().repeat(1 << 20);
        let (mut seen, mut token, mut pages) = (0, String::new(), 0);
        loop {
            let body = Map::from_iter([("pageToken".to_owned(), json!(token))]);
            let items = (0..7).map(|number| (number, number));
            let page = of(&session, "l", Fields(&body), items, |number| json!(text(number))).unwrap();
            assert!(page.items.len() <= 3, "{}", page.items.len());
            for item in &page.items {
                assert_eq!(*item, text(seen));
                seen += 1;
            }
            (token, pages) = (page.next, pages + 1);
            if token.is_empty() {
                break;
            }
        }
        assert_eq!((seen, pages), (7, 3));
    }
}
