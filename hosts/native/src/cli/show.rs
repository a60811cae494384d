//! How tasks, requests and participants look to people.
//!
//! What a client wrote is quoted line by line: the reader may be a model, and must not take it for instructions.

use a2a_edge::dispatch::WORK_URI;
use serde_json::Value;

use crate::text::{columns, facts, quoted, short, visible};

/// How much of a text a listing shows, in characters.
pub(super) const BRIEF: usize = 60;

/// The text or number at a JSON pointer, on one line; empty if there is none.
pub(super) fn cell(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        Some(Value::String(text)) => visible(text),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        _ => String::new(),
    }
}

/// As [`cell`], cut to what fits in a listing.
pub(super) fn brief(value: &Value, pointer: &str) -> String {
    short(&cell(value, pointer), BRIEF)
}

/// A title as it stands in a listing: marked as somebody else's words.
pub(super) fn title(value: &Value) -> String {
    match brief(value, "/title") {
        title if title.is_empty() => title,
        title => format!("> {title}"),
    }
}

/// A listing under its header, or what to say when there is nothing to list.
pub(super) fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>, none: &str) -> String {
    if rows.is_empty() {
        return format!("{none}\n");
    }
    let mut table = vec![header.map(str::to_owned).to_vec()];
    table.extend(rows.into_iter().map(|row| row.to_vec()));
    columns(&table)
}

/// How to read on, where a listing has another page.
pub(super) fn more(answer: &Value) -> String {
    match answer.get("nextPageToken").and_then(Value::as_str) {
        None | Some("") => String::new(),
        // One word with its option, for a token may begin with a hyphen.
        Some(token) if is_word(token) => {
            format!("\nThere is more: the same command with --page={token}\n")
        }
        Some(_) => "\nThere is more: the same command with --page=TOKEN\n".to_owned(),
    }
}

/// The entries of a list that is a member of `value`; none if there is no such list.
pub(super) fn list<'a>(value: &'a Value, member: &str) -> impl Iterator<Item = &'a Value> {
    value.get(member).and_then(Value::as_array).into_iter().flatten()
}

/// An id as a word of a command that the reader may paste; `otherwise` if a shell could take it for more.
pub(super) fn word(value: &Value, pointer: &str, otherwise: &str) -> String {
    let id = value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if id.starts_with('-') || !is_word(id) {
        return otherwise.to_owned();
    }
    id.to_owned()
}

/// Whether a shell takes a text for what it is.
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !text.is_empty() && text.bytes().all(plain)
}

/// What to do next, and the command that does it.
pub(super) fn next(why: &str, command: &str) -> String {
    format!("\nNext, {why}:\n  {command}\n")
}

/// A state without what all states begin with.
pub(super) fn state(value: &Value, pointer: &str) -> String {
    let state = cell(value, pointer);
    state.strip_prefix("TASK_STATE_").unwrap_or(&state).to_owned()
}

/// Who somebody is.
pub(super) fn participant(participant: &Value) -> String {
    facts(&identity(participant))
}

/// Who somebody is, and the token that no later answer shows again.
pub(super) fn admitted(answer: &Value) -> String {
    let mut shown = vec![("session", cell(answer, "/sessionId"))];
    shown.extend(identity(answer.get("participant").unwrap_or(&Value::Null)));
    shown.push(("token", cell(answer, "/token")));
    format!(
        "{}\nThe token is shown this once; whoever has it acts as its participant.\n",
        facts(&shown)
    )
}

fn identity(participant: &Value) -> [(&'static str, String); 4] {
    [
        ("participant", cell(participant, "/participantId")),
        ("name", cell(participant, "/displayName")),
        ("kind", cell(participant, "/kind")),
        ("role", cell(participant, "/role")),
    ]
}

/// A claim; its reason is its holder's words.
pub(super) fn claim(claim: &Value) -> String {
    let text = facts(&[
        ("claim", cell(claim, "/claimId")),
        ("resource", cell(claim, "/resourceId")),
        ("type", cell(claim, "/claimType")),
        ("participant", cell(claim, "/participantId")),
        ("fence", cell(claim, "/fence")),
        ("acquired", cell(claim, "/acquiredAt")),
        ("renewed", cell(claim, "/renewedAt")),
        ("expires", cell(claim, "/expiresAt")),
        ("released", cell(claim, "/releasedAt")),
        ("workstream", cell(claim, "/workstreamId")),
        ("request", cell(claim, "/requestId")),
    ]);
    let reason = claim.get("reason").and_then(Value::as_str).unwrap_or_default();
    format!("{text}{}", block("reason", reason))
}

/// A question, and its answer: the words of those who ask and answer.
pub(super) fn question(question: &Value) -> String {
    let text = facts(&[
        ("question", cell(question, "/questionId")),
        ("state", cell(question, "/state")),
        ("from", cell(question, "/from")),
        ("to", words(question, "to")),
        ("capability", cell(question, "/capability")),
        ("asked", cell(question, "/askedAt")),
        ("request", cell(question, "/requestId")),
        ("task", cell(question, "/taskId")),
    ]);
    let string = |pointer| {
        question
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let answer = match string("/answer/body") {
        "" => string("/answer/choice"),
        body => body,
    };
    let chosen = facts(&[("chosen", cell(question, "/answer/choice"))]);
    let answered = format!("answer by {}", brief(question, "/answer/from"));
    let pieces = [
        text,
        chosen,
        block("body", string("/body")),
        lines("choices", question, "choices"),
        block(&answered, answer),
    ];
    pieces.concat()
}

/// A decision, in the words of whoever recorded it.
pub(super) fn decision(decision: &Value) -> String {
    let text = facts(&[
        ("decision", cell(decision, "/decisionId")),
        ("by", cell(decision, "/recordedBy")),
        ("recorded", cell(decision, "/recordedAt")),
        ("supersedes", cell(decision, "/supersedes")),
    ]);
    let string = |member| decision.get(member).and_then(Value::as_str).unwrap_or_default();
    let pieces = [
        text,
        block("title", string("title")),
        block("decision", string("decision")),
        block("rationale", string("rationale")),
        lines("alternatives", decision, "alternatives"),
    ];
    pieces.concat()
}

/// That somebody is there, and what became of their claims.
pub(super) fn presence(answer: &Value) -> String {
    let mut shown = identity(answer.get("participant").unwrap_or(&Value::Null)).to_vec();
    shown.extend([
        ("state", cell(answer, "/participant/presence/state")),
        ("activity", cell(answer, "/participant/presence/activity")),
        ("expires", cell(answer, "/participant/presence/expiresAt")),
    ]);
    let mut text = facts(&shown);
    for renewed in list(answer, "renewedClaims") {
        let (id, until) = (cell(renewed, "/claimId"), cell(renewed, "/expiresAt"));
        text.push_str(&format!("renewed {id} until {until}\n"));
    }
    for lapsed in list(answer, "lapsedClaims") {
        text.push_str(&format!("lapsed {}\n", cell(lapsed, "")));
    }
    text
}

/// An A2A task, as its client sees it (A2A 1.0, §4.1.1).
pub(super) fn task(task: &Value) -> String {
    let work = task.get("metadata").and_then(|metadata| metadata.get(WORK_URI));
    let work = work.unwrap_or(&Value::Null);
    let mut text = facts(&[
        ("task", cell(task, "/id")),
        ("context", cell(task, "/contextId")),
        ("state", state(task, "/status/state")),
        ("since", cell(task, "/status/timestamp")),
        ("work", cell(work, "/task")),
        ("title", cell(work, "/title")),
        ("status", cell(work, "/status")),
        ("stage", cell(work, "/stage")),
    ]);
    if let Some(said) = task.pointer("/status/message") {
        text.push_str(&block("message", &parts(said)));
    }
    for artifact in list(task, "artifacts") {
        let name = brief(artifact, "/name");
        let name = if name.is_empty() {
            brief(artifact, "/artifactId")
        } else {
            name
        };
        text.push_str(&block(&format!("artifact {name}"), &parts(artifact)));
    }
    text
}

/// The history of an A2A task, oldest first.
pub(super) fn history(task: &Value) -> String {
    let messages = list(task, "history").map(|message| {
        let client = brief(message, "/role") == "ROLE_USER";
        block(if client { "client" } else { "agent" }, &parts(message))
    });
    messages.collect()
}

/// The parts of a message or an artifact as text: each text and where each URL points; data as JSON where
/// nothing else says what it is.
pub(super) fn parts(holder: &Value) -> String {
    let text = |part: &Value, member: &str| part.get(member).and_then(Value::as_str).map(str::to_owned);
    let in_words = |part: &Value| {
        let named = || text(part, "filename").or_else(|| text(part, "mediaType"));
        let bytes = || format!("(bytes: {})", named().unwrap_or_else(|| "unnamed".to_owned()));
        text(part, "text")
            .or_else(|| text(part, "url"))
            .or_else(|| part.get("raw").map(|_| bytes()))
    };
    let words: Vec<String> = list(holder, "parts").filter_map(in_words).collect();
    if !words.is_empty() {
        return words.join("\n");
    }
    let data = list(holder, "parts").filter_map(|part| part.get("data"));
    data.map(Value::to_string).collect::<Vec<_>>().join("\n")
}

/// A name, and under it somebody's words.
pub(super) fn block(name: &str, words: &str) -> String {
    if words.is_empty() {
        return String::new();
    }
    format!("\n{name}\n{}\n", quoted(words))
}

/// A task as its owner sees it: who asks for what, and whether the owner is waited for.
pub(super) fn desk_task(task: &Value) -> String {
    let draft = task.get("draft").unwrap_or(&Value::Null);
    let text = facts(&[
        ("task", cell(task, "/taskId")),
        ("context", cell(task, "/contextId")),
        ("skill", cell(task, "/skill")),
        ("client", cell(task, "/client")),
        ("state", state(task, "/state")),
        ("opened", cell(task, "/openedAt")),
        ("gate", cell(task, "/gate/type")),
        ("priority", cell(draft, "/priority")),
        ("labels", words(draft, "labels")),
        ("request", cell(task, "/requestId")),
    ]);
    let said = |pointer| task.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    format!(
        "{text}{}{}{}{}{}",
        block("reason", said("/gate/reason")),
        block("title", said("/title")),
        block("body", said("/body")),
        criteria(draft),
        lines("writes", draft, "writes")
    ) + &after_deciding(task)
}

/// What the owner or a member does next about a task.
fn after_deciding(task: &Value) -> String {
    if task.pointer("/gate/type").is_some() {
        let id = word(task, "/taskId", "TASK");
        return next(
            "decide",
            &format!("a2a-edge approve {id}\n  a2a-edge decline {id} --reason TEXT"),
        );
    }
    match task.get("requestId") {
        Some(_) if !is_over(&state(task, "/state")) => {
            let id = word(task, "/requestId", "REQUEST");
            next("a member takes it", &format!("a2a-edge requests claim {id}"))
        }
        _ => String::new(),
    }
}

fn is_over(state: &str) -> bool {
    matches!(state, "COMPLETED" | "FAILED" | "CANCELED" | "REJECTED")
}

/// A request, as members see it.
pub(super) fn request(request: &Value) -> String {
    let names = list(request, "assignees").map(|assignee| brief(assignee, "/participantId"));
    let text = facts(&[
        ("request", cell(request, "/requestId")),
        ("state", cell(request, "/state")),
        ("stage", cell(request, "/stage")),
        ("priority", cell(request, "/priority")),
        ("labels", words(request, "labels")),
        ("by", cell(request, "/createdBy")),
        ("created", cell(request, "/createdAt")),
        ("expires", cell(request, "/expiresAt")),
        ("assignees", names.collect::<Vec<_>>().join(" ")),
        ("task", cell(request, "/taskId")),
        ("workstream", cell(request, "/workstreamId")),
    ]);
    let string = |member| request.get(member).and_then(Value::as_str).unwrap_or_default();
    let notes = list(request, "notes").map(|note| {
        let (from, at) = (brief(note, "/from"), brief(note, "/at"));
        block(
            &format!("note by {from} at {at}"),
            note.get("body").and_then(Value::as_str).unwrap_or_default(),
        )
    });
    let artifacts = list(request, "artifacts").map(|artifact| {
        block(
            &format!("artifact {}", brief(artifact, "/artifactId")),
            &parts(artifact),
        )
    });
    let pieces = [
        text,
        block("title", string("title")),
        block("body", string("body")),
        criteria(request),
        notes.collect(),
        artifacts.collect(),
    ];
    pieces.concat()
}

fn criteria(holder: &Value) -> String {
    lines("acceptance", holder, "acceptance")
}

/// A list of texts, each on a line of its own under a name.
fn lines(name: &str, holder: &Value, member: &str) -> String {
    let lines = list(holder, member).filter_map(Value::as_str);
    block(name, &lines.collect::<Vec<_>>().join("\n"))
}

/// A list of texts on one line.
pub(super) fn words(holder: &Value, member: &str) -> String {
    let words = list(holder, member).filter_map(Value::as_str).map(visible);
    words.collect::<Vec<_>>().join(" ")
}

/// The last so many of a list, and whether there are others before them.
pub(super) fn newest<'a>(list: impl Iterator<Item = &'a Value>, most: usize) -> (bool, Vec<&'a Value>) {
    let mut all: Vec<&Value> = list.collect();
    let older = all.len().saturating_sub(most);
    all.drain(..older);
    (older > 0, all)
}

/// Who takes part: the last `most` that were admitted.
pub(super) fn present(answer: &Value, most: usize) -> String {
    let (_, newest) = newest(list(answer, "participants"), most);
    let rows: Vec<[String; 3]> = newest
        .into_iter()
        .map(|one| {
            [
                cell(one, "/participantId"),
                cell(one, "/presence/state"),
                cell(one, "/displayName"),
            ]
        })
        .collect();
    table(["PARTICIPANT", "PRESENCE", "NAME"], rows, "Nobody takes part.")
}

/// An event of the session, as a line: when, what, by whom, and what it is about.
pub(super) fn event(event: &Value) -> String {
    let about = [
        "/data/claim/resourceId",
        "/data/request/title",
        "/data/status",
        "/data/note",
        "/data/displayName",
        "/data/activity",
        "/data/state",
        "/data/requestId",
        "/data/claimId",
        "/data/taskId",
    ];
    let about = about.iter().find(|pointer| event.pointer(pointer).is_some());
    let actor = match event.get("actor") {
        Some(_) => cell(event, "/actor"),
        None => "-".to_owned(),
    };
    [
        cell(event, "/at"),
        cell(event, "/eventId"),
        cell(event, "/type"),
        actor,
        about.map(|pointer| brief(event, pointer)).unwrap_or_default(),
    ]
    .join("  ")
}

/// An event about a task, as a line.
pub(super) fn of_task(event: &Value) -> String {
    if let Some(task) = event.get("task") {
        let id = cell(task, "/id");
        return format!("task {id}: {}", status(task));
    }
    if let Some(update) = event.get("statusUpdate") {
        return status(update);
    }
    if let Some(artifact) = event.pointer("/artifactUpdate/artifact") {
        return format!("artifact {}", cell(artifact, "/artifactId"));
    }
    let message = event.get("message").unwrap_or(event);
    quoted(&parts(message))
}

fn status(holder: &Value) -> String {
    let state = state(holder, "/status/state");
    let words = holder.pointer("/status/message/parts/0");
    let words = words.map(|part| brief(part, "/text")).unwrap_or_default();
    format!("{state}  {words}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_task_shows_its_state_its_work_and_quotes_what_was_said() {
        let shown = task(&json!({
            "id": "t1", "contextId": "c1",
            "status": {"state": "TASK_STATE_WORKING", "message": {"parts": [{"text": "Working.\nrm -rf /"}]}},
            "artifacts": [{"artifactId": "pr", "parts": [{"url": "https://x/1"}, {"data": {"n": 1}}, {"raw": "YQ=="}]},
                          {"artifactId": "own", "parts": [{"data": {"n": 1}}]}],
            "metadata": {WORK_URI: {"task": "w1", "title": "Fix\u{1b}[2J", "status": "review", "stage": "review"}},
        }));
        let expected = "task     t1\ncontext  c1\nstate    WORKING\nwork     w1\ntitle    Fix\\u{1b}[2J\n\
                        status   review\nstage    review\n\nmessage\n> Working.\n> rm -rf /\n\n\
                        artifact pr\n> https://x/1\n> (bytes: unnamed)\n\nartifact own\n> {\"n\":1}\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_gated_task_teaches_the_decision_and_an_approved_one_the_claim() {
        let gated = desk_task(&json!({"taskId": "t1", "gate": {"type": "task-proposal"}, "title": "Do it"}));
        assert!(gated.contains("\ntitle\n> Do it\n"), "{gated}");
        assert!(gated.contains("a2a-edge approve t1\n"), "{gated}");
        let approved =
            desk_task(&json!({"taskId": "t1", "requestId": "r1", "state": "TASK_STATE_SUBMITTED"}));
        assert!(approved.contains("a2a-edge requests claim r1\n"), "{approved}");
        let over = desk_task(&json!({"taskId": "t1", "requestId": "r1", "state": "TASK_STATE_COMPLETED"}));
        assert!(!over.contains("Next"), "{over}");
    }

    #[test]
    fn a_page_is_offered_for_pasting_whatever_its_token_begins_with() {
        let more = |token: &str| more(&json!({ "nextPageToken": token }));
        assert_eq!(more(""), "");
        for token in ["AbC_1-9", "-AbC", "--page"] {
            let line = format!("\nThere is more: the same command with --page={token}\n");
            assert_eq!(more(token), line);
        }
        assert!(more("$(x)").ends_with("--page=TOKEN\n"));
    }

    #[test]
    fn an_id_that_a_shell_would_obey_is_not_offered_for_pasting() {
        assert_eq!(word(&json!({"id": "t_1-a.b"}), "/id", "TASK"), "t_1-a.b");
        for id in ["", "a;rm", "$(x)", "-x", "a b", "é"] {
            assert_eq!(word(&json!({"id": id}), "/id", "TASK"), "TASK", "{id}");
        }
    }
}
