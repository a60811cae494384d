//! Who takes part: the first owner with the session, then whom owners and admins admit.

use serde_json::json;

use super::{Answer, Draft, not_found, not_owner};
use crate::refusal::{Code, Refusal};
use crate::session::credential::{Credential, Role, SecretDigest, Token};
use crate::session::event::{Commit, Event};
use crate::session::id::Draw;
use crate::session::limits;
use crate::session::participant::{Kind, Participant};
use crate::session::request::RequestChange;
use crate::time::Timestamp;

/// A session that is about to begin.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Name of the owner, for people.
    pub owner_name: String,
    /// What the owner is.
    pub owner_kind: Kind,
}

/// A session's first commit, with what its creator must be told.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The new session's id.
    pub session_id: String,
    /// To be kept before the answer leaves.
    pub commit: Commit,
    /// The first owner.
    pub owner: Participant,
    /// The first owner's token: shown once, and kept nowhere.
    pub token: Token,
}

impl NewSession {
    /// The commit that creates the session, with an id that is drawn.
    #[must_use]
    pub fn begin(&self, now: Timestamp, entropy: [u8; 32]) -> Begun {
        self.begin_at(None, now, entropy)
    }

    /// The commit that creates the session, with this id: it must be unlike that of any session there ever was.
    #[must_use]
    pub fn begin_as(&self, session_id: String, now: Timestamp, entropy: [u8; 32]) -> Begun {
        self.begin_at(Some(session_id), now, entropy)
    }

    fn begin_at(&self, given: Option<String>, now: Timestamp, entropy: [u8; 32]) -> Begun {
        let mut draw = Draw::new(entropy);
        let nonce = draw.short();
        let drawn = draw.short();
        let session_id = given.unwrap_or(drawn);
        let page_key = draw.bytes();
        let (owner, credential, token) = new_participant(
            &mut draw,
            &session_id,
            &self.owner_name,
            self.owner_kind,
            Role::Owner,
            now,
        );
        let events = vec![
            Event::SessionCreated {
                session_id: session_id.clone(),
                page_key,
            },
            Event::ParticipantAdded {
                participant: owner.clone(),
                credential,
            },
        ];
        let commit = Commit {
            seq: 1,
            at: now,
            by: None,
            nonce,
            events,
            remembered: None,
        };
        Begun {
            session_id,
            commit,
            owner,
            token,
        }
    }
}

fn new_participant(
    draw: &mut Draw,
    session_id: &str,
    display_name: &str,
    kind: Kind,
    role: Role,
    now: Timestamp,
) -> (Participant, Credential, Token) {
    let (issued, token) = new_secret(draw, session_id);
    let participant = Participant {
        participant_id: draw.id("p"),
        display_name: display_name.to_owned(),
        kind,
        role,
        added_at: now,
        revoked_at: None,
    };
    let credential = credential(issued, &participant, now);
    (participant, credential, token)
}

/// A secret that is drawn: what is kept of it, and the token that is shown once.
fn new_secret(draw: &mut Draw, session_id: &str) -> (SecretDigest, Token) {
    let secret = draw.secret();
    (SecretDigest::of(&secret), Token::new(session_id, &secret))
}

fn credential(digest: SecretDigest, of: &Participant, now: Timestamp) -> Credential {
    Credential {
        credential_id: digest.credential_id(),
        participant_id: of.participant_id.clone(),
        digest,
        scopes: of.role.scopes(),
        issued_at: now,
        revoked_at: None,
    }
}

impl Draft<'_> {
    pub(super) fn add(&mut self, display_name: &str, kind: Kind, role: Role) -> Result<Answer, Refusal> {
        self.only_deciders()?;
        if role == Role::Owner && self.caller().role != Role::Owner {
            return Err(not_owner("only an owner admits another owner"));
        }
        let there = self.session.participants().filter(|one| one.revoked_at.is_none());
        self.room_for(limits::Kind::Participants, there.count())?;
        let now = self.now();
        let (participant, credential, token) =
            new_participant(&mut self.draw, self.session.id(), display_name, kind, role, now);
        let answer = json!({ "participant": participant, "token": token.to_string() });
        self.push(Event::ParticipantAdded {
            participant,
            credential,
        });
        Ok(Answer::Object(answer))
    }

    /// Gives a participant another token in place of those that it has.
    pub(super) fn rotate(&mut self, participant_id: &str) -> Result<Answer, Refusal> {
        self.only_deciders()?;
        let participant = self.taking_part(participant_id)?;
        if participant.role == Role::Owner && self.caller().role != Role::Owner {
            return Err(not_owner("only an owner rotates the credential of an owner"));
        }
        let (digest, token) = new_secret(&mut self.draw, self.session.id());
        let answer = json!({ "participant": participant, "token": token.to_string() });
        self.push(Event::CredentialRotated {
            credential: credential(digest, participant, self.now()),
        });
        Ok(Answer::Object(answer))
    }

    pub(super) fn revoke(&mut self, participant_id: &str) -> Result<Answer, Refusal> {
        self.only_deciders()?;
        let participant = self
            .session
            .participant(participant_id)
            .ok_or_else(|| not_found("PARTICIPANT_NOT_FOUND", "no such participant"))?;
        if participant.role == Role::Owner && self.caller().role != Role::Owner {
            return Err(not_owner("only an owner revokes another owner"));
        }
        let owners = self.session.participants().filter(|one| one.role == Role::Owner);
        let left = owners.filter(|one| one.revoked_at.is_none() && one.participant_id != participant_id);
        if participant.role == Role::Owner && left.count() == 0 {
            return Err(Refusal::coordination(
                Code::FailedPrecondition,
                "LAST_OWNER",
                "the session needs an owner; admit another before revoking the last",
            ));
        }
        let mut revoked = participant.clone();
        if revoked.revoked_at.is_none() {
            revoked.revoked_at = Some(self.now());
            self.push(Event::ParticipantRevoked {
                participant_id: participant_id.to_owned(),
            });
            self.give_back_requests_of(participant_id);
        }
        Ok(Answer::Object(json!({ "participant": revoked })))
    }

    /// What a participant has that will never come back to it goes back to those who may take it: unlike a claim, a
    /// request that is taken does not lapse.
    fn give_back_requests_of(&mut self, participant_id: &str) {
        let (session, now) = (self.session, self.now());
        let theirs = session
            .requests()
            .filter(|it| it.is_assigned_to(participant_id) && !it.state_at(now).is_closed());
        for request in theirs {
            self.push(Event::RequestChanged {
                request_id: request.request_id.clone(),
                change: RequestChange::Unclaimed {
                    participant_id: participant_id.to_owned(),
                    note: None,
                },
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_the_id_it_is_given_and_its_owner_s_token_leads_there() {
        let new = NewSession {
            owner_name: "owner".to_owned(),
            owner_kind: Kind::Human,
        };
        let drawn = new.begin(Timestamp::EPOCH, [7; 32]);
        let named = new.begin_as("here".to_owned(), Timestamp::EPOCH, [7; 32]);
        assert_eq!(
            (named.session_id.as_str(), named.token.session()),
            ("here", "here")
        );
        assert_eq!(drawn.token.session(), drawn.session_id);
        // All else is drawn as it would have been.
        assert_eq!(named.owner.participant_id, drawn.owner.participant_id);
    }
}
