//! Showing what a client wrote to a model or a person, so that it cannot pass for the host's words.

use super::facts::{Facts, Note};
use super::verdict::{self, Fault};
use crate::text;

/// A digest shows at most so many bytes of the body.
pub const DIGEST_BYTES: usize = 200;

/// Whether a character could move or hide what stands around it: controls but for the tab, and the marks that
/// turn the direction of writing.
fn is_tricky(c: char) -> bool {
    let turns = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}');
    turns || (c.is_control() && c != '\t')
}

/// The text in one line: each line break is a space, each character that could mislead a U+FFFD.
pub(super) fn flatten(text: &str) -> String {
    let lines: Vec<String> = lines(text).collect();
    lines.join(" ")
}

/// The lines of a text by every line break there is, CR LF being one, with U+FFFD for what could mislead.
fn lines(text: &str) -> impl Iterator<Item = String> {
    let mut after_return = false;
    let mut ends = text.split(move |c: char| {
        let second_half = after_return && c == '\n';
        after_return = c == '\r';
        text::is_line_break(c) && !second_half
    });
    std::iter::from_fn(move || {
        let line = ends.next()?;
        // What is left of a CR LF after its CR.
        let line = line.strip_prefix('\n').unwrap_or(line);
        Some(
            line.chars()
                .map(|c| if is_tricky(c) { '\u{FFFD}' } else { c })
                .collect(),
        )
    })
}

/// `[message from agent:wyat/a2a.acme · question · m-1]`: the host's own words.
fn header(note: &Note<'_>) -> String {
    let known = |text: Option<&str>| flatten(text.unwrap_or("unknown"));
    let (from, kind, id) = (known(note.from), known(note.kind), known(note.id));
    format!("[message from {from} · {kind} · {id}]")
}

/// The message in full: a line of the host's, then every line that carries its sender's text, the body, the
/// choices it offers and the one it makes, behind `> `.
#[must_use]
pub fn push(note: &Note<'_>) -> String {
    let mut shown = header(note);
    let mut quote = |mark: &str, text: &str| {
        for line in lines(text) {
            shown.push_str("\n> ");
            shown.push_str(mark);
            shown.push_str(&line);
        }
    };
    quote("", note.body);
    for choice in &note.choices {
        quote("- ", choice);
    }
    if let Some(choice) = note.choice {
        quote("choice: ", choice);
    }
    shown
}

/// The message in one line that begins with the host's words and shows at most [`DIGEST_BYTES`] of the body.
#[must_use]
pub fn digest(note: &Note<'_>) -> String {
    let body = flatten(note.body);
    let excerpt = text::prefix_within(&body, DIGEST_BYTES);
    let more = if excerpt.len() < body.len() { "…" } else { "" };
    format!("{} {excerpt}{more}", header(note))
}

fn render_json(message: &str, form: impl Fn(&Note<'_>) -> String) -> String {
    let render = || {
        // A message among facts is read the same wherever it stands; `root` gives its faults their names.
        let message = verdict::read(message, "message")?;
        let facts = serde_json::Value::Object(serde_json::Map::from_iter([("root".to_owned(), message)]));
        let facts = Facts::read(&facts)?;
        let note = facts
            .root
            .ok_or_else(|| Fault::invalid("message", "expected an object"))?;
        Ok(form(&note))
    };
    verdict::answer(render())
}

/// The text door of [`push`]: `{"id","from","kind","body","choices"?,"choice"?}` in, the text as `result` out.
#[must_use]
pub fn push_json(message: &str) -> String {
    render_json(message, push)
}

/// The text door of [`digest`]: the same in, the line as `result` out.
#[must_use]
pub fn digest_json(message: &str) -> String {
    render_json(message, digest)
}
