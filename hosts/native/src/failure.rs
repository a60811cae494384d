//! Why a command did not do what it was asked, and the exit code that says so.

use serde_json::{Value, json};

use crate::text::visible;

/// What a command ends with; `a2a-edge --help` lists the same numbers.
pub mod exit {
    /// Done.
    pub const DONE: u8 = 0;
    /// The server refused, or the verdict is that the input is not valid.
    pub const REFUSED: u8 = 1;
    /// The command line, or a file it names, is not as it must be.
    pub const USAGE: u8 = 2;
    /// No server answers at the address.
    pub const UNREACHABLE: u8 = 3;
    /// The token is missing, unknown or not enough.
    pub const NOT_AUTHORIZED: u8 = 4;
    /// The server failed, what it answered cannot be read, or this machine stands in the way.
    pub const BROKEN: u8 = 5;
    /// Nothing came before the time to wait was up.
    pub const NOTHING: u8 = 6;
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The command line, or a file it names, is not as it must be.
    Usage(String),
    /// No answer at all.
    Unreachable {
        /// The address that was tried.
        url: String,
        /// What the system says.
        why: String,
    },
    /// The server answered with an error.
    Refused(Refused),
    /// The server's answer is none that A2A has.
    Unreadable(String),
    /// This machine does not let the command do its work.
    Local(String),
}

/// An error that a server answered (A2A 1.0, §11.6).
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// The HTTP status.
    pub http: u16,
    /// The `error` object of the answer.
    pub error: Value,
}

impl Refused {
    fn text(&self, member: &str) -> Option<&str> {
        self.error.get(member).and_then(Value::as_str)
    }

    fn details(&self, name: &'static str) -> impl Iterator<Item = &Value> {
        let details = self.error.get("details").and_then(Value::as_array);
        details.into_iter().flatten().filter(move |detail| {
            let kind = detail.get("@type").and_then(Value::as_str);
            kind.is_some_and(|kind| kind.rsplit('.').next() == Some(name))
        })
    }

    /// The stable reason, if the server gave one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.details("ErrorInfo")
            .find_map(|info| info.get("reason").and_then(Value::as_str))
    }

    /// Each field at fault, with the rule it breaks.
    fn violations(&self) -> impl Iterator<Item = (&str, &str)> {
        let lists = self.details("BadRequest");
        let violations = lists.filter_map(|detail| detail.get("fieldViolations").and_then(Value::as_array));
        violations.flatten().filter_map(|violation| {
            let text = |member| violation.get(member).and_then(Value::as_str);
            Some((text("field")?, text("description").unwrap_or_default()))
        })
    }

    fn hint(&self) -> Option<&'static str> {
        match (self.http, self.reason()) {
            (401, _) => Some("name a token with --token or A2A_EDGE_TOKEN"),
            (403, Some("SCOPE_REQUIRED")) => Some("this token's role may not do that"),
            (404, Some("TASK_NOT_FOUND")) => Some("list yours with: a2a-edge task list"),
            (404, Some("METHOD_NOT_FOUND")) => {
                Some("the owner's verbs answer the token of an owner or an admin only")
            }
            (429 | 503, _) => Some("try again in a few seconds"),
            _ => None,
        }
    }

    fn lines(&self) -> String {
        let mut lines = format!(
            "{} (HTTP {}{})",
            visible(self.text("message").unwrap_or("the server gave no reason")),
            self.http,
            self.text("status")
                .map_or_else(String::new, |status| format!(", {}", visible(status)))
        );
        if let Some(reason) = self.reason() {
            lines.push_str(&format!("\n  reason  {}", visible(reason)));
        }
        for (field, rule) in self.violations() {
            lines.push_str(&format!(
                "\n  field   {}\n  rule    {}",
                visible(field),
                visible(rule)
            ));
        }
        lines
    }
}

impl Failure {
    /// The exit code that tells this failure from the others.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => exit::USAGE,
            Self::Unreachable { .. } => exit::UNREACHABLE,
            Self::Refused(Refused { http: 401 | 403, .. }) => exit::NOT_AUTHORIZED,
            Self::Refused(Refused { http: 500.., .. }) | Self::Unreadable(_) | Self::Local(_) => exit::BROKEN,
            Self::Refused(_) => exit::REFUSED,
        }
    }

    /// The failure for people: what, why, the fields at fault, and what to do about it.
    #[must_use]
    pub fn text(&self) -> String {
        let (what, hint) = match self {
            Self::Usage(why) | Self::Local(why) => (why.clone(), None),
            Self::Unreachable { url, why } => (
                format!("no server answers at {}: {}", visible(url), visible(why)),
                Some("start one with: a2a-edge serve, or name another with --url or A2A_EDGE_URL"),
            ),
            Self::Refused(refused) => (refused.lines(), refused.hint()),
            Self::Unreadable(why) => (
                format!("the server's answer cannot be read: {}", visible(why)),
                Some("is this the address of an A2A agent? look with: a2a-edge card"),
            ),
        };
        let hint = hint.map_or_else(String::new, |hint| format!("\n  hint    {hint}"));
        format!("error: {what}{hint}\n")
    }

    /// The failure for machines: the server's own `error` object, or one in its form.
    #[must_use]
    pub fn json(&self) -> Value {
        let own = |status: &str, message: &str| json!({"error": {"status": status, "message": message}});
        match self {
            Self::Usage(why) => own("USAGE", why),
            Self::Unreachable { why, .. } => own("UNREACHABLE", why),
            Self::Refused(refused) => json!({"error": refused.error}),
            Self::Unreadable(why) => own("UNREADABLE", why),
            Self::Local(why) => own("LOCAL", why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(http: u16) -> Failure {
        Failure::Refused(Refused {
            http,
            error: json!({
                "code": http, "status": "INVALID_ARGUMENT", "message": "two fields\u{1b}[2J",
                "details": [
                    {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "WHY", "domain": "d"},
                    {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
                        {"field": "a", "description": "expected a number"},
                        {"field": "b[1]", "description": "expected one line"},
                    ]},
                ],
            }),
        })
    }

    #[test]
    fn a_refusal_shows_every_field_and_its_rule() {
        assert_eq!(
            refused(400).text(),
            "error: two fields\\u{1b}[2J (HTTP 400, INVALID_ARGUMENT)\n  reason  WHY\n  \
             field   a\n  rule    expected a number\n  field   b[1]\n  rule    expected one line\n"
        );
    }

    #[test]
    fn the_exit_code_tells_the_kinds_apart() {
        let codes = [400, 401, 403, 404, 409, 429, 500, 503].map(|http| refused(http).exit_code());
        assert_eq!(codes, [1, 4, 4, 1, 1, 1, 5, 5]);
        assert_eq!(Failure::Usage(String::new()).exit_code(), 2);
        let unreachable = Failure::Unreachable {
            url: String::new(),
            why: String::new(),
        };
        assert_eq!(unreachable.exit_code(), 3);
        assert_eq!(Failure::Unreadable(String::new()).exit_code(), 5);
    }
}
