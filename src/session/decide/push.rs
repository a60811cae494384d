//! Push notification configs: set, deleted, and what came of sending (A2A 1.0, §3.1.7, §3.1.10 and §4.3).

use serde_json::json;

use super::{Answer, Draft};
use crate::a2a::{AuthenticationInfo, TaskPushNotificationConfig};
use crate::refusal::Refusal;
use crate::session::event::{Commit, Event};
use crate::session::id::{Draw, sha256};
use crate::session::push::{FIRST_WAIT_MS, LONGEST_WAIT_MS, Landed, Outcome, PushRecord, TRIES, Then};
use crate::session::{Session, limits};
use crate::time::Timestamp;

/// A push notification config that a client sets, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewPush {
    /// Chosen by the client; none is made by the server.
    pub config_id: Option<String>,
    /// The webhook.
    pub url: String,
    /// By which the webhook knows what it is told of.
    pub token: Option<String>,
    /// What the webhook asks for.
    pub authentication: Option<AuthenticationInfo>,
    /// The extensions that are active.
    pub extensions: Vec<String>,
}

impl Draft<'_> {
    pub(super) fn set_push_of(&mut self, task_id: &str, new: &NewPush) -> Result<Answer, Refusal> {
        let task = self.session.own_task(task_id, self.caller())?;
        let known = self.session.push_beginning(task, self.now());
        let config = self.set_push(task_id, known, new)?;
        Ok(Answer::Object(json!(config)))
    }

    /// A config that begins behind the change `known`, of a task that is there or is being opened.
    pub(super) fn set_push(
        &mut self,
        task_id: &str,
        known: usize,
        new: &NewPush,
    ) -> Result<TaskPushNotificationConfig, Refusal> {
        let config_id = new.config_id.clone().unwrap_or_else(|| self.draw.id("push"));
        let of_task = self.session.pushes().of_task(task_id);
        let others = of_task.filter(|record| record.config.id != config_id).count();
        self.room_for(limits::Kind::PushConfigs, others)?;
        let config = TaskPushNotificationConfig {
            id: config_id,
            task_id: task_id.to_owned(),
            url: new.url.clone(),
            token: new.token.clone(),
            authentication: new.authentication.clone(),
        };
        self.push(Event::PushConfigSet {
            record: Box::new(PushRecord {
                config: config.clone(),
                extensions: new.extensions.clone(),
                set_by: self.session.seq().saturating_add(1),
                known,
                failures: 0,
                due: None,
                given_up_at: None,
            }),
        });
        Ok(config)
    }

    /// Deleting what is not there is done already.
    pub(super) fn delete_push(&mut self, task_id: &str, config_id: &str) -> Result<Answer, Refusal> {
        self.session.own_task(task_id, self.caller())?;
        if self.session.pushes().get(task_id, config_id).is_some() {
            self.push(Event::PushConfigDeleted {
                task_id: task_id.to_owned(),
                config_id: config_id.to_owned(),
            });
        }
        Ok(Answer::Object(json!({})))
    }
}

impl Session {
    /// The commit that records what came of sending; none when nothing changes by it. `entropy` is
    /// 32 random bytes, fresh for this commit.
    #[must_use]
    pub fn land(&self, landed: &[Landed], now: Timestamp, entropy: [u8; 32]) -> Option<Commit> {
        let told = landed.iter().flat_map(|landed| self.landed(landed, now));
        // What was due by time alone and turned out to be nothing is due no more once it is recorded.
        let events: Vec<Event> = self.lapsed(now).into_iter().chain(told).collect();
        if events.is_empty() {
            return None;
        }
        Some(Commit {
            seq: self.seq.saturating_add(1),
            at: now,
            by: None,
            nonce: Draw::new(entropy).short(),
            events,
            remembered: None,
        })
    }

    fn landed(&self, landed: &Landed, now: Timestamp) -> Vec<Event> {
        let Some(record) = self.pushes.at(&landed.place) else {
            return Vec::new();
        };
        let mut events = Vec::new();
        let task_id = landed.place.task_id.clone();
        let config_id = landed.place.config_id.clone();
        let moved = landed.known > record.known;
        if moved {
            events.push(Event::PushDelivered {
                task_id: task_id.clone(),
                config_id: config_id.clone(),
                known: landed.known,
            });
        }
        let tries = if moved {
            1
        } else {
            record.failures.saturating_add(1)
        };
        let then = match landed.outcome {
            Outcome::Taken => return events,
            Outcome::Failed if tries < TRIES => Then::RetryAt(now.plus_millis(wait(landed, tries))),
            Outcome::Failed | Outcome::Refused => Then::GiveUp,
        };
        events.push(Event::PushFailed {
            task_id,
            config_id,
            then,
        });
        events
    }
}

/// How long the try behind so many is put off, in milliseconds. What failed together is not tried together again: each
/// waits up to a quarter longer, as the change and the number of tries have it.
fn wait(landed: &Landed, tries: u32) -> i64 {
    let doublings = tries.saturating_sub(1).min(30);
    let wait = FIRST_WAIT_MS
        .saturating_mul(2_i64.saturating_pow(doublings))
        .min(LONGEST_WAIT_MS);
    let Landed { place, known, .. } = landed;
    let text = format!(
        "{}\n{}\n{}\n{known}\n{tries}",
        place.task_id, place.config_id, place.set_by
    );
    let spread = sha256(&[b"a2a-edge/push/v1", text.as_bytes()]);
    let spread = spread.first().copied().map_or(0, i64::from);
    // Up to 255 of 1,024 parts more.
    wait.saturating_add(wait.saturating_mul(spread) >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::push::Place;

    fn landed(config_id: &str) -> Landed {
        Landed {
            place: Place {
                task_id: "task-1".into(),
                config_id: config_id.into(),
                set_by: 3,
            },
            known: 1,
            outcome: Outcome::Failed,
        }
    }

    #[test]
    fn each_wait_is_twice_the_one_before_up_to_an_hour_and_up_to_a_quarter_more() {
        for (tries, least) in [
            (1, 5_000),
            (2, 10_000),
            (3, 20_000),
            (10, 2_560_000),
            (11, 3_600_000),
            (u32::MAX, 3_600_000),
        ] {
            let wait = wait(&landed("a"), tries);
            assert!((least..least + least / 4).contains(&wait), "{tries}: {wait}");
        }
    }

    #[test]
    fn what_failed_together_is_not_tried_together_again() {
        assert_eq!(wait(&landed("a"), 1), wait(&landed("a"), 1));
        let waits: std::collections::BTreeSet<i64> =
            (0..20).map(|it| wait(&landed(&it.to_string()), 1)).collect();
        assert!(waits.len() > 15, "{waits:?}");
    }
}
