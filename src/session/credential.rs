//! Who may call: tokens, roles and scopes (session coordination, §10).

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use super::id::{base32, sha256};
use crate::time::Timestamp;

const TOKEN_PREFIX: &str = "a2ae_";
const SECRET_LEN: usize = 43;
const SESSION_ID_LIMIT: usize = 64;

/// What a participant is to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Decides, and may do all that others may.
    Owner,
    /// Decides beside the owner.
    Admin,
    /// Works: takes requests and hands in results.
    Member,
    /// Stands outside: sends messages and sees its own tasks.
    Client,
}

impl Role {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Admin => "admin",
            Self::Member => "member",
            Self::Client => "client",
        }
    }

    /// Whether the role may approve, decline, drop and admit.
    #[must_use]
    pub const fn decides(self) -> bool {
        matches!(self, Self::Owner | Self::Admin)
    }

    /// The scopes that a credential of this role is given.
    #[must_use]
    pub fn scopes(self) -> Vec<Scope> {
        match self {
            Self::Client => vec![Scope::TasksSend],
            _ => vec![
                Scope::SessionRead,
                Scope::PresenceWrite,
                Scope::SessionWrite,
                Scope::TasksSend,
            ],
        }
    }
}

/// What a credential may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// Reading the session.
    #[serde(rename = "session:read")]
    SessionRead,
    /// Saying that one is there.
    #[serde(rename = "presence:write")]
    PresenceWrite,
    /// Changing the session.
    #[serde(rename = "session:write")]
    SessionWrite,
    /// The core A2A operations on one's own tasks.
    #[serde(rename = "tasks:send")]
    TasksSend,
}

impl Scope {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionRead => "session:read",
            Self::PresenceWrite => "presence:write",
            Self::SessionWrite => "session:write",
            Self::TasksSend => "tasks:send",
        }
    }
}

/// A bearer token, taken apart: `a2ae_<session>_<43 url-safe characters>`.
///
/// The session part routes; the secret is 256 random bits, of which the session keeps only the SHA-256.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    session: String,
    secret: String,
}

impl Token {
    /// The token of a credential of `session`.
    #[must_use]
    pub fn new(session: &str, secret: &str) -> Self {
        Self {
            session: session.to_owned(),
            secret: secret.to_owned(),
        }
    }

    /// Takes a token apart, or `None` if it has another shape.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (session, secret) = text.strip_prefix(TOKEN_PREFIX)?.split_once('_')?;
        let url_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let well_formed =
            secret.len() == SECRET_LEN && secret.bytes().all(url_safe) && is_session_id(session);
        well_formed.then(|| Self::new(session, secret))
    }

    /// The session that the token belongs to, if it is genuine.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    pub(crate) fn digest(&self) -> SecretDigest {
        SecretDigest::of(&self.secret)
    }
}

/// Whether a text could be the id of a session: 1 to 64 ASCII letters, digits and hyphens.
#[must_use]
pub fn is_session_id(text: &str) -> bool {
    (1..=SESSION_ID_LIMIT).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{TOKEN_PREFIX}{}_{}", self.session, self.secret)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{TOKEN_PREFIX}{}_…", self.session)
    }
}

/// SHA-256 of a secret, compared in constant time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SecretDigest([u8; 32]);

impl SecretDigest {
    /// The digest of a secret.
    #[must_use]
    pub fn of(secret: &str) -> Self {
        Self(sha256(&[b"a2a-edge/secret/v1", secret.as_bytes()]))
    }

    /// Whether both are digests of the same secret; takes the same time whatever they hold.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// The id of the credential with this secret: half of the digest's bits that nobody needs to guess.
    pub(crate) fn credential_id(&self) -> String {
        ["cred-", &base32(self.0.get(..10).unwrap_or_default())].concat()
    }
}

/// What the session keeps of a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    /// Names the credential; says nothing of the secret that could be used.
    pub credential_id: String,
    /// Whose it is.
    pub participant_id: String,
    /// SHA-256 of its secret.
    pub digest: SecretDigest,
    /// What it may be used for.
    pub scopes: Vec<Scope>,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it stopped working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// Who is calling: derived from the credential alone, never from what the request says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The participant that acts.
    pub participant_id: String,
    /// The credential it used: the scope of idempotency keys.
    pub credential_id: String,
    /// What it is to the session.
    pub role: Role,
    /// What the credential may be used for.
    pub scopes: Vec<Scope>,
}

/// What those without a credential are said to have used.
const NO_CREDENTIAL: &str = "anonymous";

impl Caller {
    /// A client that needs no credential.
    pub(super) fn anonymous(participant_id: &str) -> Self {
        Self {
            participant_id: participant_id.to_owned(),
            credential_id: NO_CREDENTIAL.to_owned(),
            role: Role::Client,
            scopes: Role::Client.scopes(),
        }
    }

    /// Whether the caller has shown no credential.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.credential_id == NO_CREDENTIAL
    }

    /// Whether the credential has a scope.
    #[must_use]
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_apart_as_it_was_put_together() {
        let secret = format!("{}_-", "x".repeat(41));
        let token = Token::new("k7wq2m4xvb3n6zp5", &secret);
        let parsed = Token::parse(&token.to_string()).unwrap();
        assert_eq!(parsed, token);
        assert!(parsed.digest().matches(&SecretDigest::of(&secret)));
    }

    #[test]
    fn a_token_of_another_shape_is_none() {
        let secret = "x".repeat(43);
        for text in [
            String::new(),
            "a2ae_".to_owned(),
            format!("a2ae__{secret}"),
            format!("a2ae_s_{secret}x"),
            format!("a2ae_s_{}", "x".repeat(42)),
            format!("a2ae_s/t_{secret}"),
            format!("a2ae_{}_{secret}", "s".repeat(65)),
            format!("A2AE_s_{secret}"),
            format!("a2ae_s_{}é", "x".repeat(41)),
            format!("a2ae_s_ {}", "x".repeat(42)),
        ] {
            assert_eq!(Token::parse(&text), None, "{text}");
        }
    }

    #[test]
    fn a_token_is_not_shown_in_full_where_it_might_be_logged() {
        let shown = format!("{:?}", Token::new("s", &"x".repeat(43)));
        assert_eq!(shown, "a2ae_s_…");
    }
}
