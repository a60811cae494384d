//! How much room an instance has for swaps, and who may use it.
//!
//! Spin keeps a swap that has taken place until its instance ends, and has room for 256. So each request takes a share of
//! the room as it begins, and while little is left unpromised the platform brings no more: what it has goes to another
//! instance. One that has made too many swaps to take anything more ends when it has answered what it has.
//!
//! The share is taken before the request waits for anything: until then nothing else is brought here, so that whatever is
//! finds its room.

use std::cell::Cell;

use a2a_edge::http::route::{Target, route};
use a2a_edge::http::rpc::BATCH;
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use spin_sdk::wit_bindgen::{backpressure_dec, backpressure_inc};

/// With so many swaps made or promised nothing more is brought. Whoever came last before may need 100, for the longest
/// batch, which leaves 28 for notifications.
const TAKEN: u32 = 128;

/// With so many nothing is begun that need not be.
const SHORT: u32 = 224;

/// What a commit may need: a swap that another instance was quicker than, and one that is in.
const COMMIT: u32 = 2;

/// Shorter than any call of a batch that commits something, in bytes.
const CALL: usize = 64;

#[derive(Default)]
struct Room {
    made: Cell<u32>,
    promised: Cell<u32>,
    closed: Cell<bool>,
}

thread_local! {
    static ROOM: Room = Room::default();
}

impl Room {
    fn taken(&self) -> u32 {
        self.made.get().saturating_add(self.promised.get())
    }

    fn promise(&self, swaps: u32) {
        self.promised.set(self.promised.get().saturating_add(swaps));
        self.tell();
    }

    fn release(&self, swaps: u32) {
        self.promised.set(self.promised.get().saturating_sub(swaps));
        self.tell();
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

/// Whether what is left is for the requests that are under way.
pub fn is_short() -> bool {
    ROOM.with(|room| room.taken() >= SHORT)
}

/// What is kept for a request, until it is answered.
pub struct Share {
    swaps: u32,
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
        ROOM.with(|room| room.promise(swaps));
        Self { swaps }
    }

    /// Gives back what its body turns out not to need.
    pub fn settle(&mut self, body: &[u8]) {
        let is_batch = body.trim_ascii_start().starts_with(b"[");
        let needed = if is_batch { batch(body.len()) } else { COMMIT };
        let excess = self.swaps.saturating_sub(needed);
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
