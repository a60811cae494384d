//! What decides about notifications: the core in this process, or a component that was made of it.

use crate::agent::courier::{Courier, Next};
use crate::desk::Desk;
use crate::serve::{Decider, State};
use crate::session::push::{Landed, Outcome, Place, given_up};
use crate::session::{Commit, Session};
use crate::time::Timestamp;

/// What of a session is due to be sent, as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Configs of which something is due, the longest due first.
    pub places: Vec<Place>,
    /// When something is next due that is not due yet.
    pub later: Option<Timestamp>,
}

/// What came of sending, to be recorded.
#[derive(Clone, Debug)]
pub struct Landing<C> {
    /// The commit to be made durable as the next of its session.
    pub commit: C,
    /// The configs by which nothing more is sent once it is.
    pub given_up: Vec<Place>,
}

/// Decides what webhooks are sent, beside what requests are answered ([`deliver`](super::deliver)).
pub trait Notifier: Decider {
    /// Takes the changes of a task to one webhook, one behind the other.
    type Courier;

    /// What of a session is due at `now`, of so many places at `most`; nothing where no notifications are offered.
    fn due(&self, session: &Self::Session, now: Timestamp, most: usize) -> Due;

    /// A courier to a place that is due. It begins where the config stands.
    fn courier(&self, place: &Place) -> Self::Courier;

    /// What comes next for its webhook, with the session as it stands.
    fn next_change(
        &self,
        courier: &mut Self::Courier,
        session: Option<&Self::Session>,
        now: Timestamp,
    ) -> Next;

    /// The commits of the log that it asked for.
    fn supply_courier(&self, courier: &mut Self::Courier, commits: Vec<<Self::Session as State>::Commit>);

    /// The webhook has taken what was sent last.
    fn taken(&self, courier: &mut Self::Courier);

    /// What came of it all.
    fn landed(&self, courier: &Self::Courier, outcome: Outcome) -> Landed;

    /// Records what came of sending; none when nothing changes by it.
    fn land(
        &self,
        session: &Self::Session,
        landed: &[Landed],
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Option<Landing<<Self::Session as State>::Commit>>;
}

impl Notifier for Desk {
    type Courier = Courier;

    fn due(&self, session: &Session, now: Timestamp, most: usize) -> Due {
        if self.config.webhooks.is_none() {
            return Due::default();
        }
        let pushes = session.pushes();
        Due {
            places: pushes.due(now).take(most).collect(),
            later: pushes.due_after(now),
        }
    }

    fn courier(&self, place: &Place) -> Courier {
        Courier::new(place.clone())
    }

    fn next_change(&self, courier: &mut Courier, session: Option<&Session>, now: Timestamp) -> Next {
        courier.next(self, session, now)
    }

    fn supply_courier(&self, courier: &mut Courier, commits: Vec<Commit>) {
        courier.supply(commits);
    }

    fn taken(&self, courier: &mut Courier) {
        courier.taken();
    }

    fn landed(&self, courier: &Courier, outcome: Outcome) -> Landed {
        courier.landed(outcome)
    }

    fn land(
        &self,
        session: &Session,
        landed: &[Landed],
        now: Timestamp,
        entropy: [u8; 32],
    ) -> Option<Landing<Commit>> {
        let commit = session.land(landed, now, entropy)?;
        Some(Landing {
            given_up: given_up(&commit, landed),
            commit,
        })
    }
}
