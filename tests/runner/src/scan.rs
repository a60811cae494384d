//! Checking a story before it plays: every name known where it is used, and used where it is given.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::form::{Form, Kind, form};
use crate::names::{CONSTANTS, PLACES, Piece, pieces, token_of};
use crate::story::{Cast, Header, Step, Story};

/// The names of a story up to some step, with whether they were used.
struct Scan {
    names: BTreeMap<String, bool>,
    /// The streams, likewise.
    streams: BTreeMap<String, bool>,
}

fn is_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(inner)
}

/// Checks all that can be known of a story without playing it.
pub(crate) fn check(story: &Story) -> Result<(), String> {
    let mut scan = Scan {
        names: BTreeMap::new(),
        streams: BTreeMap::new(),
    };
    let given = CONSTANTS.iter().map(|(name, _)| *name).chain(PLACES);
    for name in given.chain(["operator.token", "owner", "owner.token"]) {
        scan.names.insert(name.to_owned(), true);
    }
    scan.cast(&story.cast)?;
    if story.shows.trim().is_empty() || story.steps.is_empty() {
        return Err("expected a story that shows something in at least one step".to_owned());
    }
    for (index, step) in story.steps.iter().enumerate() {
        let number = index.saturating_add(1);
        scan.step(step)
            .map_err(|rule| format!("step {number} ({}): {rule}", step.does))?;
    }
    scan.cast_is_used(&story.cast)?;
    if let Some((silent, _)) = scan.streams.iter().find(|(_, told)| !**told) {
        return Err(format!("nothing is told by {silent}"));
    }
    let unused: Vec<&str> = scan
        .names
        .iter()
        .filter(|(_, used)| !**used)
        .map(|(name, _)| name.as_str())
        .collect();
    match unused.as_slice() {
        [] => Ok(()),
        names => Err(format!(
            "never used: {}; write {{\"$some\": …}} for what no step refers to",
            names.join(", ")
        )),
    }
}

impl Scan {
    fn define(&mut self, name: &str, used: bool) -> Result<(), String> {
        let plain = name.strip_suffix(".token").unwrap_or(name);
        if !is_name(plain) {
            return Err(format!("expected a name of a-z, 0-9 and hyphens, not {name:?}"));
        }
        match self.names.insert(name.to_owned(), used) {
            None => Ok(()),
            Some(_) => Err(format!("something is called {name} already")),
        }
    }

    fn cast(&mut self, cast: &BTreeMap<String, Cast>) -> Result<(), String> {
        for name in cast.keys() {
            self.define(name, false)?;
            self.define(&token_of(name), false)?;
        }
        Ok(())
    }

    /// A participant is used when it acts or is spoken of.
    fn cast_is_used(&mut self, cast: &BTreeMap<String, Cast>) -> Result<(), String> {
        for name in cast.keys() {
            let used = [self.names.remove(name), self.names.remove(&token_of(name))];
            if !used.contains(&Some(true)) {
                return Err(format!("{name} of the cast has no part in the story"));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        if step.who != "nobody" {
            self.use_name(&token_of(&step.who))?;
        }
        let (method, path) = step
            .method_and_path()
            .ok_or("expected call to be a method and a path")?;
        if !method.bytes().all(|byte| byte.is_ascii_uppercase())
            || !(path.starts_with('/') || path.starts_with("${"))
        {
            return Err(format!(
                "expected a method and a path, such as GET /tasks, not {:?}",
                step.call
            ));
        }
        self.text(path)?;
        for name in step.headers.keys().chain(step.expect.headers.keys()) {
            if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return Err(format!("expected header names in lower case, not {name}"));
            }
        }
        for value in step.headers.values().flat_map(Header::values) {
            self.text(value)?;
        }
        if step.body.is_some() && step.raw.is_some() {
            return Err("expected body or raw, not both".to_owned());
        }
        for sent in step.body.iter().chain(&step.raw) {
            self.value(sent, false)?;
        }
        if !(200..600).contains(&step.expect.status) {
            return Err("expected status to be that of a final answer".to_owned());
        }
        if step.expect.body.is_some() && step.expect.error.is_some() {
            return Err("expected body or error in what is expected, not both".to_owned());
        }
        for value in step.expect.headers.values() {
            self.value(value, true)?;
        }
        let body = step.expect.whole_body(path);
        body.iter().try_for_each(|body| self.value(body, true))?;
        self.streams(step)
    }

    fn streams(&mut self, step: &Step) -> Result<(), String> {
        if let Some(name) = &step.stream {
            if !is_name(name) {
                return Err(format!("expected a name of a-z, 0-9 and hyphens, not {name:?}"));
            }
            if step.expect.body.is_some() || step.expect.error.is_some() {
                return Err("expected what a stream tells in tells, not in expect".to_owned());
            }
            if self.streams.insert(name.clone(), false).is_some() {
                return Err(format!("a stream is called {name} already"));
            }
        }
        for (name, tells) in &step.tells {
            match self.streams.get_mut(name) {
                Some(told) => *told = true,
                None => return Err(format!("no stream is called {name} here")),
            }
            tells
                .events
                .iter()
                .try_for_each(|event| self.value(event, true))?;
        }
        Ok(())
    }

    fn use_name(&mut self, name: &str) -> Result<(), String> {
        match self.names.get_mut(name) {
            Some(used) => {
                *used = true;
                Ok(())
            }
            None => Err(format!("nothing is called {name} here")),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), String> {
        pieces(text)?.iter().try_for_each(|piece| match piece {
            Piece::Name(name) => self.use_name(name),
            Piece::Text(_) => Ok(()),
        })
    }

    fn value(&mut self, value: &Value, answer: bool) -> Result<(), String> {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().try_for_each(|item| self.value(item, answer)),
            Value::Object(object) => match form(object)? {
                Some(form) => self.form(&form, answer),
                None => self.members(object, answer),
            },
            _ => Ok(()),
        }
    }

    fn members(&mut self, object: &Map<String, Value>, answer: bool) -> Result<(), String> {
        object.iter().try_for_each(|(key, value)| {
            self.text(key)?;
            self.value(value, answer)
        })
    }

    fn form(&mut self, form: &Form<'_>, answer: bool) -> Result<(), String> {
        let brings = matches!(form, Form::Bind(..) | Form::Some(_) | Form::After(..));
        if brings && !answer {
            return Err("expected a value that is known: only an answer brings new ones".to_owned());
        }
        match form {
            Form::Bind(Kind::Token, name) => self.define(&token_of(name), false),
            Form::Bind(_, name) => self.define(name, false),
            Form::Some(_) => Ok(()),
            Form::After(name, _) => self.use_name(name),
            Form::Repeat(value, _) | Form::List(value, _) => self.value(value, false),
            Form::Concat(pieces) => pieces.iter().try_for_each(|piece| self.value(piece, false)),
        }
    }
}
