//! What a server says when it begins to listen.

use a2a_edge::dispatch::WORK_URI;
use serde_json::{Map, Value, json};

use crate::bootstrap::Tokens;
use crate::text::{facts, json_line};

/// Where the server is and, on its first start, who may call it.
pub(super) struct Welcome {
    /// The address for clients on this machine.
    pub(super) url: String,
    /// The session of the first start.
    pub(super) session: String,
    /// Its tokens, on the first start only.
    pub(super) tokens: Option<Tokens>,
}

impl Welcome {
    /// For machines: one object on one line.
    pub(super) fn json(&self) -> String {
        let mut object = Map::new();
        object.insert("url".to_owned(), json!(self.url));
        object.insert("sessionId".to_owned(), json!(self.session));
        if let Some(Tokens {
            owner,
            member,
            client,
        }) = &self.tokens
        {
            let tokens = json!({"owner": owner, "member": member, "client": client});
            object.insert("tokens".to_owned(), tokens);
        }
        format!("{}\n", json_line(&Value::Object(object)))
    }

    /// For people: what they need to try it, ready to paste.
    pub(super) fn text(&self) -> String {
        let place = facts(&[("listening", self.url.clone()), ("session", self.session.clone())]);
        match &self.tokens {
            Some(tokens) => format!("{place}{}", self.first_steps(tokens)),
            None => format!(
                "{place}\nIts tokens were shown when it was made. Add somebody: a2a-edge participant add NAME\n\
                 Make another session: a2a-edge session create --owner NAME\n"
            ),
        }
    }

    fn first_steps(&self, tokens: &Tokens) -> String {
        let Tokens {
            owner,
            member,
            client,
        } = tokens;
        let url = &self.url;
        let curl = self.curl(client);
        format!(
            "\nThese tokens are shown this once; whoever has one acts as its participant:\n\n  \
             export OWNER={owner}\n  export MEMBER={member}\n  export CLIENT={client}\n  \
             export A2A_EDGE_URL={url}\n\n\
             A client hands over work:\n\n  {curl}\n\n\
             or, shorter:\n\n  \
             A2A_EDGE_TOKEN=$CLIENT a2a-edge send --handoff 'Fix the flaky login test'\n\n\
             The owner sees it and lets it run; a member does it; the client reads what came of it:\n\n  \
             A2A_EDGE_TOKEN=$OWNER a2a-edge task open\n  \
             A2A_EDGE_TOKEN=$OWNER a2a-edge approve TASK\n  \
             A2A_EDGE_TOKEN=$MEMBER a2a-edge requests list --state open\n  \
             A2A_EDGE_TOKEN=$MEMBER a2a-edge requests claim REQUEST\n  \
             A2A_EDGE_TOKEN=$MEMBER a2a-edge requests progress REQUEST --stage review\n  \
             A2A_EDGE_TOKEN=$MEMBER a2a-edge requests complete REQUEST --answer 'Fixed'\n  \
             A2A_EDGE_TOKEN=$CLIENT a2a-edge task get TASK\n\n"
        )
    }

    /// One line that sends a handoff.
    fn curl(&self, client: &str) -> String {
        let body = json!({"message": {
            "messageId": "first-handoff",
            "role": "ROLE_USER",
            "parts": [{"text": "It fails one time in ten."}],
            "metadata": {WORK_URI: {"skill": "handoff", "title": "Fix the flaky login test"}},
        }});
        format!(
            "curl -sS {}/message:send -H 'Authorization: Bearer {client}' -H 'Content-Type: application/a2a+json' \
             -H 'A2A-Version: 1.0' -H 'A2A-Extensions: {WORK_URI}' -d '{body}'",
            self.url
        )
    }
}
