//! Claims acquired in a session in which others are live: the fields checked, the call decided, its commit applied.

use std::hint::black_box;
use std::time::{Duration, Instant};

use a2a_edge::coordination::resource::ResourceId;
use a2a_edge::coordination::{Call, Reply, claims, invoke};
use a2a_edge::session::claim::ClaimType;
use a2a_edge::session::decide::NewClaim;
use a2a_edge::session::{Caller, Command, Session, SessionLimits};
use serde_json::{Map, Value, json};

use crate::digest::{Failure, START, Subject};

/// How many claims are acquired before the session is as it was again.
const AT_ONCE: u32 = 50;

/// How many are acquired first that are not timed: a session that was just copied is nowhere near the processor.
const UNTIMED: u32 = 25;

/// A session with live claims, and a member that wants more.
pub struct Acquiring {
    session: Session,
    member: Caller,
    /// What it wants.
    bodies: Vec<Map<String, Value>>,
}

impl Acquiring {
    /// The length of what is asked for.
    pub const REQUEST_BYTES: usize = 36;

    /// A session in which so many members hold so many live claims, on directories, files and ids outside; the first
    /// of them wants more.
    ///
    /// # Errors
    /// The session refuses one of them.
    pub fn among(live: usize, holders: usize) -> Result<Self, Failure> {
        let (mut subject, _, members) = Subject::with_members(holders)?;
        for (number, member) in (0..live).zip(members.iter().cycle()) {
            let resource = resource(number);
            let claim = NewClaim {
                resource: ResourceId::parse(&resource).map_err(|fault| fault.to_string())?,
                claim_type: ClaimType::Exclusive,
                lease_seconds: 86_400,
                reason: None,
                workstream_id: None,
                request_id: None,
            };
            subject.decide(member, &Command::AcquireClaim(Box::new(claim)))?;
        }
        let bodies = (0..AT_ONCE.saturating_add(UNTIMED)).map(|number| {
            let body = json!({"resourceId": format!("src/module-{number:05}.rs")});
            body.as_object().cloned().unwrap_or_default()
        });
        Ok(Self {
            session: subject.session,
            member: members.into_iter().next().ok_or("no members")?,
            bodies: bodies.collect(),
        })
    }

    /// How long it takes to acquire so many.
    #[must_use]
    pub fn time(&self, runs: u32) -> Duration {
        let mut time = Duration::ZERO;
        let mut left = runs;
        while left > 0 {
            let now = left.min(AT_ONCE);
            left = left.saturating_sub(now);
            let mut session = self.session.clone();
            let mut bodies = self.bodies.iter().zip(1..);
            for (body, number) in bodies.by_ref().take(UNTIMED as usize) {
                black_box(self.acquire(&mut session, body, number));
            }
            let begun = Instant::now();
            for (body, number) in bodies.take(now as usize) {
                black_box(self.acquire(&mut session, body, number));
            }
            time = time.saturating_add(begun.elapsed());
        }
        time
    }

    /// Whether the claim was acquired.
    fn acquire(&self, session: &mut Session, body: &Map<String, Value>, number: u32) -> bool {
        let mut entropy = [3; 32];
        entropy
            .iter_mut()
            .zip(number.to_be_bytes())
            .for_each(|(to, from)| *to = from);
        let call = Call {
            caller: self.member.clone(),
            now: START,
            entropy,
            limits: SessionLimits {
                live_claims: usize::MAX,
                ..SessionLimits::default()
            },
            body,
            last_event_id: None,
        };
        match invoke(session, &claims::ACQUIRE, &call) {
            Ok(Reply::Decided(decided)) => decided.commit.is_some_and(|commit| session.apply(&commit)),
            _ => false,
        }
    }
}

/// What the claim of this number is on.
fn resource(number: usize) -> String {
    match number % 3 {
        0 => format!("src/module-{number}/**"),
        1 => format!("docs/page-{number}.md"),
        _ => format!("pr:{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_claim_is_acquired_and_is_as_long_as_told() {
        let acquiring = Acquiring::among(10, 3).unwrap();
        let mut session = acquiring.session.clone();
        for (body, number) in acquiring.bodies.iter().zip(1..) {
            assert!(acquiring.acquire(&mut session, body, number));
            let text = Value::Object(body.clone()).to_string();
            assert_eq!(text.len(), Acquiring::REQUEST_BYTES);
        }
        assert_eq!(session.claims().live_count(START), 85);
        assert!(acquiring.time(25) > Duration::ZERO);
    }
}
