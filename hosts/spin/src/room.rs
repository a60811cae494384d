//! How much room an instance has for swaps, and who may use it.
//!
//! Spin keeps a swap that has taken place until its instance ends, and has room for 256. So each request takes a share of
//! the room as it begins, for itself and for the notifications that it may have sent, and while little is left the platform
//! brings no more: what it has goes to another instance. One that has made too many swaps to take anything more ends when
//! it has done what it has.
//!
//! Only a request that begins closes the door, before it waits for anything: whatever the platform has brought until then
//! has begun, and nothing waits behind a door that never opens again. What notifications use meanwhile is seen by the next.

use std::cell::Cell;

use a2a_edge::http::route::{Target, route};
use a2a_edge::http::rpc::BATCH;
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use spin_sdk::wit_bindgen::{backpressure_dec, backpressure_inc};

/// With so many swaps made or promised nothing more is brought, and no more notifications are begun. Whoever finds the door
/// open all the same may need 106, for the longest batch, and what is on its way then the rest.
const TAKEN: u32 = 120;

/// Behind a door that is closed nobody is to be reckoned with, and notifications go on until so many are.
const LAST: u32 = 240;

/// What sending the notifications of a session may need at a time: a lease is taken, renewed and given up, and what came of
/// it recorded.
const DELIVERY: u32 = 6;

/// What a commit may need: a swap that another instance was quicker than, and one that is in.
const COMMIT: u32 = 2;

/// Shorter than any call of a batch that commits something, in bytes.
const CALL: usize = 64;

struct Room {
    made: Cell<u32>,
    promised: Cell<u32>,
    closed: Cell<bool>,
    /// What a request may need for notifications.
    delivery: Cell<u32>,
}

thread_local! {
    static ROOM: Room = const {
        Room {
            made: Cell::new(0),
            promised: Cell::new(0),
            closed: Cell::new(false),
            delivery: Cell::new(DELIVERY),
        }
    };
}

impl Room {
    fn taken(&self) -> u32 {
        self.made.get().saturating_add(self.promised.get())
    }

    fn promise(&self, swaps: u32) {
        self.promised.set(self.promised.get().saturating_add(swaps));
    }

    /// Takes a promise back, which may open the door again.
    fn release(&self, swaps: u32) {
        self.promised.set(self.promised.get().saturating_sub(swaps));
        if self.closed.get() {
            self.tell();
        }
    }

    /// Tells the platform whether to bring more, where that has changed.
    fn tell(&self) {
        let close = self.taken() >= TAKEN;
        match (self.closed.replace(close), close) {
            (false, true) => backpressure_inc(),
            (true, false) => backpressure_dec(),
            _ => {}
        }
    }
}

/// Counts a swap.
pub fn swapped() {
    ROOM.with(|room| room.made.set(room.made.get().saturating_add(1)));
}

/// Whether what is left is for what is under way.
pub fn is_short() -> bool {
    ROOM.with(|room| room.taken() >= if room.closed.get() { LAST } else { TAKEN })
}

/// No request needs room for notifications.
pub fn notifies_nobody() {
    ROOM.with(|room| room.delivery.set(0));
}

/// What is kept for a request until it is answered, or for notifications until they are sent.
pub struct Share {
    swaps: u32,
    /// That part of it which is for notifications.
    delivery: u32,
}

impl Share {
    /// As much as a request may need by its head. To be taken before anything is waited for.
    pub fn of(head: &Parts) -> Self {
        let target = route(&head.method, head.uri.path()).map(|route| route.target);
        let swaps = if matches!(target, Ok(Target::Rpc)) {
            let length = head.headers.get(CONTENT_LENGTH);
            let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
            batch(length.unwrap_or(usize::MAX))
        } else {
            COMMIT
        };
        ROOM.with(|room| {
            let delivery = room.delivery.get();
            let swaps = swaps.saturating_add(delivery);
            room.promise(swaps);
            room.tell();
            Self { swaps, delivery }
        })
    }

    /// As much as notifications may need, which a request begins that has kept it for them.
    pub fn of_delivery() -> Self {
        ROOM.with(|room| room.promise(DELIVERY));
        Self {
            swaps: DELIVERY,
            delivery: DELIVERY,
        }
    }

    /// Gives back what a request's body turns out not to need.
    pub fn settle(&mut self, body: &[u8]) {
        let is_batch = body.trim_ascii_start().starts_with(b"[");
        let needed = if is_batch { batch(body.len()) } else { COMMIT };
        let excess = self.swaps.saturating_sub(needed.saturating_add(self.delivery));
        self.swaps = self.swaps.saturating_sub(excess);
        ROOM.with(|room| room.release(excess));
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        ROOM.with(|room| room.release(self.swaps));
    }
}

/// What a batch of so many bytes may need.
fn batch(bytes: usize) -> u32 {
    let calls = bytes.div_euclid(CALL).saturating_add(1).min(BATCH);
    u32::try_from(calls).unwrap_or(u32::MAX).saturating_mul(COMMIT)
}
