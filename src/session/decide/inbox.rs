//! What a participant makes of the items of its inbox (session coordination, §9).

use serde_json::json;

use super::{Answer, Draft, not_found};
use crate::refusal::Refusal;
use crate::session::event::Event;
use crate::session::inbox::{Item, ItemState};

impl Draft<'_> {
    /// All of the items, or none: one that is not the caller's is refused as one that does not exist.
    pub(super) fn update_inbox(&mut self, item_ids: &[String], state: ItemState) -> Result<Answer, Refusal> {
        let (now, me) = (self.now(), self.caller().participant_id.clone());
        let mut items: Vec<Item<'_>> = Vec::new();
        for item_id in item_ids {
            let item = self.session.inbox_item(&me, item_id, now).ok_or_else(|| {
                not_found("INBOX_ITEM_NOT_FOUND", "no such item in the caller's inbox")
                    .with_fact("itemId", item_id)
            })?;
            // Naming an item twice is allowed, and updates it once.
            if !items.iter().any(|known| known.item_id == item.item_id) {
                items.push(item);
            }
        }
        let changed = items.iter().filter(|item| item.state != state);
        let changed: Vec<String> = changed.map(|item| item.item_id.clone()).collect();
        items.iter_mut().for_each(|item| item.state = state);
        if !changed.is_empty() {
            self.push(Event::InboxUpdated {
                participant_id: me,
                item_ids: changed,
                state,
            });
        }
        Ok(Answer::Object(json!({ "items": items })))
    }
}
