//! Whom a message reaches inside the host, and how: what row 11 of the projection looks at.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::address::{Address, recipients};
use super::field::{Null, Object, Path};
use super::verdict::{self, Fault};

/// How a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// It lies in a mailbox until its recipient, or the host on its behalf, comes for it.
    Held,
    /// Its recipient was told.
    Notified,
    /// Its recipient has answered.
    Answered,
    /// Anything else a host may say; it is not held.
    Other,
}

impl DeliveryState {
    /// The state by its word.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word {
            "held" => Self::Held,
            "notified" => Self::Notified,
            "answered" => Self::Answered,
            _ => Self::Other,
        }
    }

    /// Whether it lies in a mailbox.
    #[must_use]
    pub const fn is_held(self) -> bool {
        matches!(self, Self::Held)
    }
}

/// How a message came to a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// It names the recipient.
    Direct,
    /// It names a channel that the recipient is a member of.
    Channel,
}

/// One delivery: `{"recipient","via","state","session"}`, `session` null without a live one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delivery<'a> {
    /// Who gets the message.
    #[serde(serialize_with = "as_text")]
    pub recipient: Address<'a>,
    /// How it came.
    pub via: Via,
    /// How it stands.
    pub state: DeliveryState,
    /// The live session that was told, such as `run:r-9f2c01`.
    pub session: Option<&'a str>,
}

fn as_text<S: serde::Serializer>(address: &Address<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(address)
}

/// What a host knows of those who may get messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory<'a> {
    /// The channels, each by its name and with its members; of two with one name the last counts.
    pub channels: Vec<(&'a str, Vec<Address<'a>>)>,
    /// The work items that have a live session, each by its id and with that; of two with one id the last counts.
    pub sessions: Vec<(&'a str, &'a str)>,
}

/// What stands under a name. A message has few recipients, so that looking through is cheaper than an index.
fn last<'m, T>(pairs: &'m [(&str, T)], name: &str) -> Option<&'m T> {
    let found = pairs.iter().rev().find(|(it, _)| *it == name);
    found.map(|(_, what)| what)
}

/// Whom a message from `sender` to these addresses reaches, each recipient once, named directly before through a
/// channel.
///
/// A human is notified, and so is a live session, itself or that of a work item. All else is held: for a peer and
/// for the agent of a client until the host relays it, for a work item until a session takes it up. A sender gets
/// nothing through a channel.
#[must_use]
pub fn deliver<'a>(sender: &Address<'_>, to: &[Address<'a>], directory: &Directory<'a>) -> Vec<Delivery<'a>> {
    let direct = to
        .iter()
        .filter(|address| !matches!(address, Address::Channel(_)));
    let through = to.iter().filter_map(|address| match address {
        Address::Channel(name) => last(&directory.channels, name),
        _ => None,
    });
    let reached = direct.map(|address| (*address, Via::Direct)).chain(
        through
            .flatten()
            .filter(|member| *member != sender)
            .map(|member| (*member, Via::Channel)),
    );
    let mut deliveries: Vec<Delivery<'a>> = Vec::new();
    for (recipient, via) in reached {
        if deliveries.iter().any(|delivery| delivery.recipient == recipient) {
            continue;
        }
        let session = match recipient {
            Address::Task(id) => last(&directory.sessions, id).copied(),
            _ => None,
        };
        let told = session.is_some() || matches!(recipient, Address::Human(_) | Address::Run(_));
        deliveries.push(Delivery {
            recipient,
            via,
            state: if told {
                DeliveryState::Notified
            } else {
                DeliveryState::Held
            },
            session,
        });
    }
    deliveries
}

impl<'a> Directory<'a> {
    /// Reads `{"channels":[{"name","members":[]}],"workItems":[{"id","liveSession"?}]}`, both optional.
    ///
    /// # Errors
    /// The first member of the wrong type.
    pub fn read(value: &'a Value) -> Result<Self, Fault> {
        let directory = Object::read(value, Path::Root("directory"), Null::Absent)?;
        let channels = directory.objects("channels", |channel| {
            let members = channel.list("members", usize::MAX, |value, path| {
                Address::parse(value.as_str().unwrap_or_default()).map_err(|expected| path.fault(expected))
            })?;
            Ok((channel.required_text("name")?, members))
        })?;
        let sessions = directory.objects("workItems", |item| {
            Ok((item.required_text("id")?, item.text("liveSession")?))
        })?;
        let sessions = sessions.into_iter();
        Ok(Self {
            channels,
            sessions: sessions
                .filter_map(|(id, session)| Some((id, session?)))
                .collect(),
        })
    }
}

/// The text door of [`deliver`]: the sender's address, a message with `to` as JSON and what [`Directory::read`]
/// takes as JSON in, `{"deliveries":[…]}` as `result` out.
#[must_use]
pub fn deliver_json(sender: &str, message: &str, directory: &str) -> String {
    #[derive(Serialize)]
    struct Deliveries<'a> {
        deliveries: Vec<Delivery<'a>>,
    }
    let read = || {
        Ok((
            verdict::read(message, "message")?,
            verdict::read(directory, "directory")?,
        ))
    };
    let (message, directory) = match read() {
        Ok(both) => both,
        Err(fault) => return verdict::verdict::<()>(Err(fault)),
    };
    let deliver = || {
        let sender = Address::parse(sender).map_err(|expected| Fault::invalid("sender", expected))?;
        let to = recipients(&message)?;
        let directory = Directory::read(&directory)?;
        let deliveries = deliver(&sender, &to, &directory);
        Ok(Deliveries { deliveries })
    };
    verdict::answer(deliver())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reached(to: &[&str]) -> Vec<String> {
        let parse = |text| Address::parse(text).unwrap();
        let directory = Directory {
            channels: vec![("ops", ["human:ada", "human:wyat", "a2a:acme"].map(parse).to_vec())],
            sessions: vec![("t-1", "run:r-1")],
        };
        let to: Vec<Address<'_>> = to.iter().map(|text| parse(text)).collect();
        deliver(&parse("human:wyat"), &to, &directory)
            .iter()
            .map(|it| {
                format!(
                    "{} {:?} {:?} {}",
                    it.recipient,
                    it.via,
                    it.state,
                    it.session.unwrap_or("-")
                )
            })
            .collect()
    }

    #[test]
    fn of_two_entries_with_one_name_the_last_counts() {
        let directory = json!({
            "channels": [{"name": "ops", "members": ["human:ada"]}, {"name": "ops", "members": ["human:wyat"]}],
            "workItems": [{"id": "t-1", "liveSession": "run:r-1"}, {"id": "t-1", "liveSession": "run:r-2"}, {"id": "t-1"}],
        });
        let to = [Address::Channel("ops"), Address::Task("t-1")];
        let directory = Directory::read(&directory).unwrap();
        let deliveries = deliver(&Address::Human("x"), &to, &directory);
        let reached: Vec<(Address<'_>, Option<&str>)> = deliveries
            .iter()
            .map(|one| (one.recipient, one.session))
            .collect();
        assert_eq!(
            reached,
            [
                (Address::Task("t-1"), Some("run:r-2")),
                (Address::Human("wyat"), None)
            ]
        );
    }

    #[test]
    fn humans_and_live_sessions_are_told_and_all_else_is_held() {
        assert_eq!(
            reached(&[
                "human:ada",
                "a2a:acme",
                "agent:wyat/a2a.acme",
                "task:t-1",
                "task:t-2",
                "run:r-2"
            ]),
            [
                "human:ada Direct Notified -",
                "a2a:acme Direct Held -",
                "agent:wyat/a2a.acme Direct Held -",
                "task:t-1 Direct Notified run:r-1",
                "task:t-2 Direct Held -",
                "run:r-2 Direct Notified -",
            ]
        );
    }

    #[test]
    fn a_channel_reaches_its_other_members_once() {
        assert_eq!(
            reached(&["channel:ops", "human:ada", "channel:ops", "channel:none"]),
            ["human:ada Direct Notified -", "a2a:acme Channel Held -"]
        );
    }

    #[test]
    fn bad_input_is_named() {
        for (sender, message, directory, field) in [
            ("wyat", r#"{"to":["human:a"]}"#, "{}", "sender"),
            ("human:a", "{", "{}", "message"),
            ("human:a", r#"{"to":["b"]}"#, "{}", "to[0]"),
            ("human:a", r#"{"to":["human:b"]}"#, "[]", "directory"),
            (
                "human:a",
                r#"{"to":["human:b"]}"#,
                r#"{"channels":[{"name":"x","members":["y"]}]}"#,
                "directory.channels[0].members[0]",
            ),
        ] {
            let said = deliver_json(sender, message, directory);
            assert!(said.contains(&format!(r#""field":"{field}""#)), "{said}");
        }
    }
}
