//! work/v1 requests: a handoff of work, or a look at how one's handoffs stand (work/v1, §8.6).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::field::{Line, Null, Object, Path};
use super::verdict::{self, Fault};

/// A title: one line of at most so many bytes.
pub const TITLE_BYTES: usize = 200;
/// At most so many acceptance criteria.
pub const ACCEPTANCE_MAX: usize = 20;
/// An acceptance criterion: one line of at most so many bytes.
pub const CRITERION_BYTES: usize = 500;
/// At most so many paths to write to.
pub const WRITES_MAX: usize = 50;
/// A path to write to: one line of at most so many bytes.
pub const WRITE_BYTES: usize = 512;
/// At most so many labels.
pub const LABELS_MAX: usize = 10;
/// A label: one line of at most so many bytes.
pub const LABEL_BYTES: usize = 50;
/// A task id: one line of at most so many bytes.
pub const TASK_ID_BYTES: usize = 512;

/// How much a piece of work matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words are work/v1's own")]
pub enum Priority {
    Urgent,
    High,
    Medium,
    Low,
    None,
}

impl Priority {
    const WORDS: [(&'static str, Self); 5] = [
        ("urgent", Self::Urgent),
        ("high", Self::High),
        ("medium", Self::Medium),
        ("low", Self::Low),
        ("none", Self::None),
    ];
}

/// A piece of work that a client hands over, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff<'a> {
    /// What it is: one line of at most [`TITLE_BYTES`].
    pub title: &'a str,
    /// When it is done: at most [`ACCEPTANCE_MAX`] lines of at most [`CRITERION_BYTES`].
    pub acceptance: Vec<&'a str>,
    /// Paths or globs in the repository that it will write to: at most [`WRITES_MAX`] of at most [`WRITE_BYTES`].
    pub writes: Vec<&'a str>,
    /// How much it matters to the client.
    pub priority: Option<Priority>,
    /// At most [`LABELS_MAX`] lines of at most [`LABEL_BYTES`].
    pub labels: Vec<&'a str>,
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkRequest<'a> {
    /// To take a piece of work over.
    Handoff(Handoff<'a>),
    /// How its handoffs stand.
    Status {
        /// The A2A task of one of them; absent means all. An id that is none of the caller's handoffs is no
        /// error: the list is empty, as for an id that never was.
        task: Option<&'a str>,
    },
}

/// Whether a host takes handoffs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handoffs {
    /// It does.
    #[default]
    Taken,
    /// It does not: a handoff is invalid on `work.skill`, like a skill that does not exist.
    Refused,
}

/// Reads a work/v1 request, `Message.metadata[<work/v1 URI>]`; absent and null are no request.
///
/// # Errors
/// The first fault, in this order: the request is no object (`work`), `work.skill`, and then `work.task`, or
/// `work.title`, `work.acceptance`, `work.writes`, `work.priority`, `work.labels`, a list before its entries.
pub fn validate(request: Option<&Value>, handoffs: Handoffs) -> Result<Option<WorkRequest<'_>>, Fault> {
    let Some(request) = request.filter(|request| !request.is_null()) else {
        return Ok(None);
    };
    let request = Object::read(request, Path::Root("work"), Null::Value)?;
    match (request.get("skill").and_then(Value::as_str), handoffs) {
        (Some("status"), _) => status(&request),
        (Some("handoff"), Handoffs::Taken) => handoff(&request),
        (_, Handoffs::Taken) => Err(request.fault("skill", "expected handoff or status")),
        (_, Handoffs::Refused) => Err(request.fault("skill", "expected status: no handoffs are taken here")),
    }
    .map(Some)
}

fn status<'a>(request: &Object<'a, '_>) -> Result<WorkRequest<'a>, Fault> {
    Ok(WorkRequest::Status {
        task: request.line("task", Line::within(TASK_ID_BYTES))?,
    })
}

fn handoff<'a>(request: &Object<'a, '_>) -> Result<WorkRequest<'a>, Fault> {
    let write = Line::within(WRITE_BYTES).and(outside_the_repository);
    // The order of the members is the order of the checks.
    Ok(WorkRequest::Handoff(Handoff {
        title: request.required_line("title", Line::within(TITLE_BYTES))?,
        acceptance: request.lines("acceptance", ACCEPTANCE_MAX, Line::within(CRITERION_BYTES))?,
        writes: request.lines("writes", WRITES_MAX, write)?,
        priority: request.word("priority", &Priority::WORDS)?,
        labels: request.lines("labels", LABELS_MAX, Line::within(LABEL_BYTES))?,
    }))
}

/// What was expected of a path that leaves the repository, or might on some system.
fn outside_the_repository(path: &str) -> Option<&'static str> {
    let drive = match path.as_bytes() {
        [letter, b':', ..] => letter.is_ascii_alphabetic(),
        _ => false,
    };
    let outside = path.starts_with('/')
        || path.contains('\\')
        || drive
        || path.split('/').any(|segment| segment == "..");
    outside.then_some(
        "expected a path inside the repository: no leading /, no drive letter, no backslash, no .. segment",
    )
}

/// The text door of [`validate`]: the request as JSON in, `{"ok":true}` or the fault out.
#[must_use]
pub fn validate_json(request: &str, handoffs: Handoffs) -> String {
    fault_json(request, handoffs).unwrap_or_else(verdict::ok)
}

/// The same, with nothing for `{"ok":true}`: what most requests are told, and the quickest to carry across a boundary.
#[must_use]
pub fn fault_json(request: &str, handoffs: Handoffs) -> Option<String> {
    let outcome =
        verdict::read(request, "work").and_then(|request| validate(Some(&request), handoffs).map(|_| ()));
    verdict::fault(outcome)
}
