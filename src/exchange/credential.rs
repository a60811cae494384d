//! What a request shows of who sends it.

use http::{HeaderMap, header};

use crate::desk::{Anonymous, Desk};
use crate::http::read;
use crate::http::route::Target;
use crate::refusal::Refusal;
use crate::session::{Caller, Session, Token};

/// A credential, or that none is needed.
#[derive(Clone, Debug)]
pub(crate) enum Credential {
    /// A token of a session.
    Token(Token),
    /// None: the request is the anonymous client's.
    Anonymous(Anonymous),
}

impl Credential {
    /// The credential of a request. Without any, a core operation is the anonymous client's, where there is one and the
    /// path names no other session; whatever else comes without is refused, and so is one that is malformed.
    ///
    /// # Errors
    /// UNAUTHENTICATED.
    pub(crate) fn of(
        desk: &Desk,
        headers: &HeaderMap,
        target: &Target,
        tenant: Option<&str>,
    ) -> Result<Self, Refusal> {
        let anonymous = desk.config().anonymous.as_ref();
        let anonymous = anonymous.filter(|it| {
            let own = tenant.is_none_or(|tenant| tenant == it.session_id);
            own && matches!(target, Target::Core(..) | Target::Rpc)
                && !headers.contains_key(header::AUTHORIZATION)
        });
        match anonymous {
            Some(anonymous) => Ok(Self::Anonymous(anonymous.clone())),
            None => read::token(headers).map(Self::Token),
        }
    }

    /// The session that it is of.
    pub(crate) fn session_id(&self) -> &str {
        match self {
            Self::Token(token) => token.session(),
            Self::Anonymous(anonymous) => &anonymous.session_id,
        }
    }

    /// Who calls with it, if it is good.
    pub(crate) fn caller(&self, session: &Session) -> Option<Caller> {
        match self {
            Self::Token(token) => session.authenticate(token),
            Self::Anonymous(anonymous) => session.anonymous(&anonymous.participant_id),
        }
    }
}
