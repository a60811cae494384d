//! envelope/v1: who a message is for, what kind it is, what may be chosen, and what it refers to (envelope/v1, §8.4).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facts::Note;
use super::field::{Line, Null, Object, Path, expected_word};
use super::verdict::{self, Fault};
use super::work::{self, Handoffs, WorkRequest};
use super::{ENVELOPE_URI, WORK_URI};

/// At most so many recipients.
pub const RECIPIENTS_MAX: usize = 50;
/// A recipient: one line of at most so many bytes.
pub const RECIPIENT_BYTES: usize = 512;
/// A message id: one line of at most so many bytes.
pub const REPLY_TO_BYTES: usize = 512;
/// At most so many choices.
pub const CHOICES_MAX: usize = 20;
/// A choice: one line of at most so many bytes.
pub const CHOICE_BYTES: usize = 200;
/// At most so many references.
pub const REFS_MAX: usize = 50;
/// The id of a reference: one line of at most so many bytes.
pub const REF_ID_BYTES: usize = 512;

/// What a client's message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words are envelope/v1's own")]
pub enum Kind {
    Message,
    Question,
    Answer,
    Handoff,
    Notice,
}

impl Kind {
    const WORDS: [(&'static str, Self); 5] = [
        ("message", Self::Message),
        ("question", Self::Question),
        ("answer", Self::Answer),
        ("handoff", Self::Handoff),
        ("notice", Self::Notice),
    ];

    /// The word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Question => "question",
            Self::Answer => "answer",
            Self::Handoff => "handoff",
            Self::Notice => "notice",
        }
    }
}

/// What a reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words are envelope/v1's own")]
pub enum RefType {
    Task,
    Message,
}

impl RefType {
    pub(super) const WORDS: [(&'static str, Self); 2] = [("task", Self::Task), ("message", Self::Message)];
}

/// A task or message that a message refers to: `{"type","id"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference<S = String> {
    /// What it names.
    pub r#type: RefType,
    /// One line of at most [`REF_ID_BYTES`].
    pub id: S,
}

impl Reference<&str> {
    /// The same reference, owning its id.
    #[must_use]
    pub fn to_owned(self) -> Reference {
        Reference {
            r#type: self.r#type,
            id: self.id.to_owned(),
        }
    }
}

impl Reference {
    /// The same reference, borrowing its id.
    #[must_use]
    pub fn borrowed(&self) -> Reference<&str> {
        Reference {
            r#type: self.r#type,
            id: &self.id,
        }
    }
}

/// What a client says of its message. Of an empty list and an absent one, neither says anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// Whom it is for: at most [`RECIPIENTS_MAX`] lines of at most [`RECIPIENT_BYTES`]; empty means the owner.
    pub to: Vec<&'a str>,
    /// What it is.
    pub kind: Option<Kind>,
    /// The message it replies to: one line of at most [`REPLY_TO_BYTES`].
    pub reply_to: Option<&'a str>,
    /// Whether its sender waits for an answer.
    pub blocking: Option<bool>,
    /// The answers it offers: at most [`CHOICES_MAX`] lines of at most [`CHOICE_BYTES`].
    pub choices: Vec<&'a str>,
    /// The answer it picks: one line of at most [`CHOICE_BYTES`].
    pub choice: Option<&'a str>,
    /// What it refers to: at most [`REFS_MAX`].
    pub refs: Vec<Reference<&'a str>>,
}

impl Envelope<'_> {
    /// Checks that the client may address everybody the message is for: the owner or the humans named for the client
    /// in the owner's place, and the work items of its own approved handoffs.
    ///
    /// # Errors
    /// Forbidden on the first that it may not, `to[i]`, the same for one that exists and for one that does not.
    pub fn check_recipients(&self, may_address: impl Fn(&str) -> bool) -> Result<(), Fault> {
        match self.to.iter().position(|address| !may_address(address)) {
            Some(index) => Err(Fault::forbidden(
                format!("to[{index}]"),
                "expected the owner or a work item of your own approved handoffs",
            )),
            None => Ok(()),
        }
    }

    /// Checks that the client may see all that the message refers to.
    ///
    /// # Errors
    /// Not found on the first that it may not, `refs[i]`, the same for one that exists and for one that does not.
    pub fn check_refs(&self, may_see: impl Fn(&Reference<&str>) -> bool) -> Result<(), Fault> {
        match self.refs.iter().position(|reference| !may_see(reference)) {
            Some(index) => Err(Fault::not_found(
                format!("refs[{index}]"),
                "expected a task or message of yours",
            )),
            None => Ok(()),
        }
    }
}

/// Reads an envelope/v1 request, `Message.metadata[<envelope/v1 URI>]`; absent and null are no request.
///
/// `from`, `id` and `thread` are the host's to set and ignored, as is every unknown member.
///
/// # Errors
/// The first fault, in this order: the request is no object (`envelope`), `urgent` and `wake` (forbidden), `to`,
/// `kind`, `replyTo`, `blocking`, `choices`, `choice`, `refs`, a list before its entries. Paths are bare: `to[0]`.
pub fn validate(request: Option<&Value>) -> Result<Option<Envelope<'_>>, Fault> {
    let Some(request) = request.filter(|request| !request.is_null()) else {
        return Ok(None);
    };
    let request = Object::read(request, Path::Root("envelope"), Null::Value)?.named("");
    if request.get("urgent").and_then(Value::as_bool) == Some(true) {
        return Err(Fault::forbidden(
            "urgent",
            "expected a message that is not urgent",
        ));
    }
    if request.get("wake").and_then(Value::as_str) == Some("request") {
        return Err(Fault::forbidden("wake", "expected no request to wake a session"));
    }
    let choice = Line::within(CHOICE_BYTES);
    // The order of the members is the order of the checks.
    Ok(Some(Envelope {
        to: request.lines("to", RECIPIENTS_MAX, Line::within(RECIPIENT_BYTES))?,
        kind: kind(&request)?,
        reply_to: request.line("replyTo", Line::within(REPLY_TO_BYTES))?,
        blocking: request.flag("blocking")?,
        choices: request.lines("choices", CHOICES_MAX, choice)?,
        choice: request.line("choice", choice)?,
        refs: request.list("refs", REFS_MAX, reference)?,
    }))
}

fn kind(request: &Object<'_, '_>) -> Result<Option<Kind>, Fault> {
    match request.get("kind") {
        Some(Value::String(kind)) if kind.starts_with("x-") => {
            Err(Fault::forbidden("kind", expected_word(&Kind::WORDS)))
        }
        _ => request.word("kind", &Kind::WORDS),
    }
}

fn reference<'a>(value: &'a Value, path: Path<'_>) -> Result<Reference<&'a str>, Fault> {
    let entry = Object::read(value, path, Null::Value)?;
    let r#type = entry.word("type", &RefType::WORDS)?;
    let r#type = r#type.ok_or_else(|| entry.fault("type", expected_word(&RefType::WORDS)))?;
    if entry.get("at").is_some() {
        return Err(entry.fault("at", "expected no anchor"));
    }
    let id = entry.required_line("id", Line::within(REF_ID_BYTES))?;
    Ok(Reference { r#type, id })
}

/// What a message that names no task opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Opening {
    /// A task: a handoff.
    Handoff,
    /// No task: it is answered with a `Message` that says how handoffs stand.
    Status,
    /// A task: a question to those it is for.
    Ask,
    /// No task: it is passed on and answered with a `Message`.
    Note,
}

/// What a message opens that names no task: its work skill decides first, then its envelope's kind.
///
/// # Errors
/// An answer or a handoff without a work skill is invalid on `kind`.
pub fn opening(work: Option<&WorkRequest<'_>>, envelope: Option<&Envelope<'_>>) -> Result<Opening, Fault> {
    match (work, envelope.and_then(|envelope| envelope.kind)) {
        (Some(WorkRequest::Handoff(_)), _) => Ok(Opening::Handoff),
        (Some(WorkRequest::Status { .. }), _) => Ok(Opening::Status),
        (None, None | Some(Kind::Question)) => Ok(Opening::Ask),
        (None, Some(Kind::Message | Kind::Notice)) => Ok(Opening::Note),
        (None, Some(Kind::Answer | Kind::Handoff)) => Err(Fault::invalid(
            "kind",
            "expected question, message or notice on a message that names no task",
        )),
    }
}

/// What the host writes back of a message, `Message.metadata[<envelope/v1 URI>]`, its members in this order.
/// Never `to`, `urgent` or `wake`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Written<'a> {
    /// The message's id at the host.
    pub id: &'a str,
    /// The message that began the thread.
    pub thread: &'a str,
    /// The address it is from.
    pub from: &'a str,
    /// What it is; a host's own kinds begin with `x-`.
    pub kind: &'a str,
    /// The message it replies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<&'a str>,
    /// Written only when true.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocking: bool,
    /// The answers it offers; written when there are any.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub choices: &'a [&'a str],
    /// The answer it picks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<&'a str>,
    /// What it refers to; always written.
    pub refs: &'a [Reference<&'a str>],
}

/// The text door of [`validate`]: the request as JSON in, `{"ok":true}` or the fault out.
#[must_use]
pub fn validate_json(request: &str) -> String {
    fault_json(request).unwrap_or_else(verdict::ok)
}

/// The same, with nothing for `{"ok":true}`: what most requests are told, and the quickest to carry across a boundary.
#[must_use]
pub fn fault_json(request: &str) -> Option<String> {
    let outcome = verdict::read(request, "envelope").and_then(|request| validate(Some(&request)).map(|_| ()));
    verdict::fault(outcome)
}

/// The text door of [`opening`]: a message's whole `metadata` as JSON in; `{"opens":"handoff"}`, `status`, `ask`
/// or `note` as `result`, or the first fault of its work/v1 request, its envelope and the two together, out.
#[must_use]
pub fn opening_json(metadata: &str, handoffs: Handoffs) -> String {
    #[derive(Serialize)]
    struct Opens {
        opens: Opening,
    }
    let opens = |metadata: Value| {
        let members = Object::read(&metadata, Path::Root("message.metadata"), Null::Absent)?;
        let work = work::validate(members.get(WORK_URI), handoffs)?;
        let envelope = validate(members.get(ENVELOPE_URI))?;
        opening(work.as_ref(), envelope.as_ref()).map(|opens| Opens { opens })
    };
    verdict::answer(verdict::read(metadata, "message.metadata").and_then(opens))
}

/// The text door of [`Written`]: a message inside the host as JSON in, what is written back of it as `result` out. One
/// without an `id` or a `from` is invalid on that.
#[must_use]
pub fn write_back_json(message: &str) -> String {
    let write = |message: Value| {
        let note = Note::read(&message, "message")?;
        let missing = if note.id.is_none() {
            "message.id"
        } else {
            "message.from"
        };
        let written = note.written().map(serde_json::to_value).and_then(Result::ok);
        written.ok_or_else(|| Fault::invalid(missing, "expected a string"))
    };
    verdict::answer(verdict::read(message, "message").and_then(write))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::verdict::FaultCode;
    use serde_json::json;

    fn opens(work: &Value, envelope: &Value) -> String {
        let metadata = json!({WORK_URI: work, ENVELOPE_URI: envelope}).to_string();
        opening_json(&metadata, Handoffs::Taken)
    }

    #[test]
    fn a_work_skill_decides_first_and_then_the_kind() {
        let handoff = json!({"skill": "handoff", "title": "T"});
        let status = json!({"skill": "status"});
        for (work, envelope, opening) in [
            (&json!(null), json!(null), "ask"),
            (&json!(null), json!({}), "ask"),
            (&json!(null), json!({"kind": "question"}), "ask"),
            (&json!(null), json!({"kind": "message"}), "note"),
            (&json!(null), json!({"kind": "notice"}), "note"),
            (&handoff, json!({"kind": "answer"}), "handoff"),
            (&status, json!({"kind": "handoff"}), "status"),
        ] {
            let expected = format!(r#"{{"ok":true,"result":{{"opens":"{opening}"}}}}"#);
            assert_eq!(opens(work, &envelope), expected, "{work} {envelope}");
        }
    }

    #[test]
    fn an_answer_or_a_handoff_opens_nothing_and_a_kind_must_be_valid_beside_a_skill() {
        for (work, kind, code) in [
            (json!(null), "answer", "invalid"),
            (json!(null), "handoff", "invalid"),
            (json!({"skill": "status"}), "shout", "invalid"),
            (json!({"skill": "status"}), "x-shout", "forbidden"),
        ] {
            let said = opens(&work, &json!({"kind": kind}));
            assert!(
                said.contains(&format!(r#""code":"{code}","field":"kind""#)),
                "{said}"
            );
        }
    }

    #[test]
    fn recipients_and_references_out_of_reach_are_named_by_their_slot() {
        let request = json!({"to": ["human:wyat", "human:alice"], "refs": [{"type": "task", "id": "mine"},
            {"type": "task", "id": "theirs"}]});
        let envelope = validate(Some(&request)).unwrap().unwrap();
        assert_eq!(envelope.check_recipients(|_| true), Ok(()));
        assert_eq!(envelope.check_refs(|_| true), Ok(()));
        let to = envelope
            .check_recipients(|address| address == "human:wyat")
            .unwrap_err();
        assert_eq!((to.code, to.field.as_str()), (FaultCode::Forbidden, "to[1]"));
        let seen = envelope
            .check_refs(|reference| reference.id == "mine")
            .unwrap_err();
        assert_eq!((seen.code, seen.field.as_str()), (FaultCode::NotFound, "refs[1]"));
    }

    #[test]
    fn what_is_written_back_stands_in_its_order() {
        let written = Written {
            id: "m-2",
            thread: "m-1",
            from: "human:wyat",
            kind: "question",
            reply_to: Some("m-1"),
            blocking: true,
            choices: &["a", "b"],
            choice: Some("a"),
            refs: &[Reference {
                r#type: RefType::Task,
                id: "t",
            }],
        };
        assert_eq!(
            serde_json::to_string(&written).unwrap(),
            r#"{"id":"m-2","thread":"m-1","from":"human:wyat","kind":"question","replyTo":"m-1","blocking":true,"choices":["a","b"],"choice":"a","refs":[{"type":"task","id":"t"}]}"#
        );
        let bare = Written {
            reply_to: None,
            blocking: false,
            choices: &[],
            choice: None,
            refs: &[],
            ..written
        };
        assert_eq!(
            serde_json::to_string(&bare).unwrap(),
            r#"{"id":"m-2","thread":"m-1","from":"human:wyat","kind":"question","refs":[]}"#
        );
    }
    #[test]
    fn the_text_door_writes_back_what_the_host_knows() {
        assert_eq!(
            write_back_json(
                r#"{"id":"m-2","from":"human:wyat","to":["human:ada"],"blocking":false,"choices":[],"wake":"request"}"#
            ),
            r#"{"ok":true,"result":{"id":"m-2","thread":"m-2","from":"human:wyat","kind":"message","refs":[]}}"#
        );
        for (message, field) in [
            (r#"{"from":"human:wyat"}"#, "message.id"),
            (r#"{"id":"m-2"}"#, "message.from"),
            (r#"{"id":1}"#, "message.id"),
            ("[]", "message"),
        ] {
            let said = write_back_json(message);
            assert!(said.contains(&format!(r#""field":"{field}""#)), "{said}");
        }
    }
}
