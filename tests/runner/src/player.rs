//! Playing a story: its session, its steps, and the transcript of what came.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use http::{HeaderMap, Request, Response};
use serde_json::{Value, json};

use crate::failure::{Failure, Problem};
use crate::matching::Matching;
use crate::names::{Names, token_of};
use crate::refusal::is_coordination;
use crate::story::{Cast, Part, Step, Story, Tells};
use crate::stream::Reader;
use crate::target::{Opened, Target};

/// Headers of an answer that the contract speaks of; a host may add others.
const HEADERS: [&str; 8] = [
    "content-type",
    "a2a-extensions",
    "www-authenticate",
    "allow",
    "retry-after",
    "cache-control",
    "etag",
    "last-modified",
];

/// Plays a story in a session of its own, which the operator's token creates, and gives its transcript: for each
/// step the request's first line and the whole answer, every id, time and token by its name.
///
/// # Errors
/// The first step whose answer is not the story's, with every difference.
pub fn play(story: &Story, target: &dyn Target, operator: &str) -> Result<String, Box<Failure>> {
    let mut player = Player {
        story,
        target,
        names: Names::new(target.base_url()),
        streams: BTreeMap::new(),
    };
    player
        .set_up(operator)
        .map_err(|rule| player.failure(0, "sets up its session", "", vec![problem(&rule)], ""))?;
    let mut transcript = format!("{}: {}\n", story.name, story.shows);
    for (index, step) in story.steps.iter().enumerate() {
        let number = index.saturating_add(1);
        let _ = write!(
            transcript,
            "\n# {number}. {}\n{}> {}\n",
            step.does, step.who, step.call
        );
        for _ in 0..step.times {
            transcript.push_str(&player.step(number, step)?);
            target.tick();
        }
    }
    Ok(transcript)
}

fn problem(rule: &str) -> Problem {
    Problem {
        place: "call".to_owned(),
        expected: None,
        actual: Some(rule.to_owned()),
    }
}

/// The content type of an answer's body, by the path (A2A 1.0, §11.1; session coordination, §9.2).
fn content_type(path: &str) -> &'static str {
    if is_coordination(path) || path.contains("/.well-known/") {
        "application/json"
    } else {
        "application/a2a+json"
    }
}

struct Player<'a> {
    story: &'a Story,
    target: &'a dyn Target,
    names: Names,
    streams: BTreeMap<String, Reader<'a>>,
}

impl Player<'_> {
    fn failure(
        &self,
        step: usize,
        does: &str,
        call: &str,
        problems: Vec<Problem>,
        answer: &str,
    ) -> Box<Failure> {
        Box::new(Failure {
            story: self.story.name.clone(),
            step,
            does: does.to_owned(),
            call: call.to_owned(),
            problems,
            answer: answer.to_owned(),
        })
    }

    /// Creates the session and admits the cast.
    fn set_up(&mut self, operator: &str) -> Result<(), String> {
        self.names.bind(&token_of("operator"), operator)?;
        let created = self.operate(
            "operator",
            "sessions:create",
            &json!({"owner": {"displayName": "owner"}}),
        )?;
        self.names.bind("session", &text(&created, "/sessionId")?)?;
        self.admitted("owner", &created)?;
        for (name, cast) in &self.story.cast {
            let (role, kind) = match cast {
                Cast::Role(role) => (role.as_str(), "agent"),
                Cast::Full(Part { role, kind }) => (role.as_str(), kind.as_str()),
            };
            let body = json!({"displayName": name, "role": role, "kind": kind});
            let added = self.operate("owner", "participants:add", &body)?;
            self.admitted(name, &added)?;
        }
        Ok(())
    }

    fn admitted(&mut self, name: &str, answer: &Value) -> Result<(), String> {
        self.names
            .bind(name, &text(answer, "/participant/participantId")?)?;
        self.names.bind(&token_of(name), &text(answer, "/token")?)
    }

    fn operate(&self, who: &str, verb: &str, body: &Value) -> Result<Value, String> {
        let request = Request::post(format!("/operator/v1/{verb}"))
            .header("content-type", "application/json")
            .header(
                "authorization",
                format!("Bearer {}", self.names.get(&token_of(who))?),
            )
            .body(body.to_string().into_bytes())
            .map_err(|error| error.to_string())?;
        let response = self.target.call(request)?;
        self.target.tick();
        let body = String::from_utf8_lossy(response.body());
        if response.status() != 200 {
            return Err(format!("{verb}: {} {body}", response.status()));
        }
        serde_json::from_str(&body).map_err(|error| format!("{verb}: {error}: {body}"))
    }

    fn step(&mut self, number: usize, step: &Step) -> Result<String, Box<Failure>> {
        let answer = self.request(step).and_then(|request| self.answer(step, request));
        let call = format!("{}> {}", step.who, step.call);
        let answer = match answer {
            Ok(answer) => answer,
            Err(rule) => return Err(self.failure(number, &step.does, &call, vec![problem(&rule)], "")),
        };
        let mut matching = Matching {
            names: &mut self.names,
            problems: Vec::new(),
        };
        let mut transcript = compare(&mut matching, step, &answer);
        for (name, tells) in &step.tells {
            match self.streams.get_mut(name) {
                Some(reader) => transcript.push_str(&compare_stream(&mut matching, name, reader, tells)),
                None => matching.differ(name, Some("a stream".to_owned()), None),
            }
        }
        let problems = matching.problems;
        if problems.is_empty() {
            return Ok(transcript);
        }
        Err(self.failure(
            number,
            &step.does,
            &call,
            problems,
            &String::from_utf8_lossy(answer.body()),
        ))
    }

    /// The answer; a stream's goes on under its name.
    fn answer(&mut self, step: &Step, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        let Some(name) = &step.stream else {
            return self.target.call(request);
        };
        Ok(match self.target.open(request)? {
            Opened::Whole(answer) => answer,
            Opened::Stream(head, chunks) => {
                self.streams.insert(name.clone(), Reader::new(chunks));
                head.map(|()| Vec::new())
            }
        })
    }

    fn request(&self, step: &Step) -> Result<Request<Vec<u8>>, String> {
        let (method, path) = step.method_and_path().unwrap_or_default();
        let body = match (&step.body, &step.raw) {
            (Some(body), _) => self.names.expand(body)?.to_string().into_bytes(),
            (None, Some(raw)) => match self.names.expand(raw)? {
                Value::String(raw) => raw.into_bytes(),
                other => return Err(format!("expected raw to be text, not {other}")),
            },
            (None, None) => Vec::new(),
        };
        let mut headers = vec![("a2a-version", "1.0".to_owned())];
        if step.who != "nobody" {
            headers.push((
                "authorization",
                format!("Bearer {}", self.names.get(&token_of(&step.who))?),
            ));
        }
        if !body.is_empty() {
            headers.push(("content-type", "application/json".to_owned()));
        }
        headers.retain(|(name, _)| !step.headers.contains_key(*name));
        let mut request = Request::builder().method(method).uri(self.names.write(path)?);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        for (name, header) in &step.headers {
            for value in header.values() {
                request = request.header(name, self.names.write(value)?);
            }
        }
        request.body(body).map_err(|error| error.to_string())
    }
}

fn text(answer: &Value, pointer: &str) -> Result<String, String> {
    let found = answer.pointer(pointer).and_then(Value::as_str);
    found
        .map(str::to_owned)
        .ok_or_else(|| format!("expected {pointer} in {answer}"))
}

/// Compares an answer with the step's and gives it with names: its part of the transcript.
fn compare(matching: &mut Matching<'_>, step: &Step, answer: &Response<Vec<u8>>) -> String {
    let (expect, status) = (&step.expect, answer.status().as_u16());
    if status != expect.status {
        matching.differ(
            "status",
            Some(expect.status.to_string()),
            Some(status.to_string()),
        );
    }
    let mut transcript = format!("< {status}\n");
    let path = step.method_and_path().map_or("", |(_, path)| path);
    let body = expect.whole_body(path);
    for name in HEADERS {
        let usual = match name {
            "content-type" if step.stream.is_some() => Some("text/event-stream"),
            "cache-control" if step.stream.is_some() => Some("no-store"),
            "content-type" if body.is_some() => Some(content_type(path)),
            _ => None,
        };
        let usual = usual.map(Value::from);
        let expected = expect.headers.get(name).or(usual.as_ref());
        transcript.push_str(&compare_header(matching, name, expected, answer.headers()));
    }
    // Over HTTP the answer to a HEAD has no body, whatever the desk said.
    let came = if step.call.starts_with("HEAD ") {
        &[]
    } else {
        answer.body().as_slice()
    };
    transcript.push_str(&compare_body(matching, body.as_ref(), came));
    transcript
}

/// Reads as many events of a stream as the step has and compares them; gives them with names.
fn compare_stream(matching: &mut Matching<'_>, name: &str, reader: &mut Reader<'_>, tells: &Tells) -> String {
    let mut transcript = String::new();
    for (index, expected) in tells.events.iter().enumerate() {
        let place = format!("{name}[{index}]");
        match reader.event() {
            Ok(Some(event)) => {
                let named = matching.value(&place, expected, &event);
                let _ = writeln!(transcript, "{name}< {named}");
            }
            Ok(None) => matching.differ(&place, Some(expected.to_string()), Some("the end".to_owned())),
            Err(why) => matching.differ(&place, Some(expected.to_string()), Some(why)),
        }
    }
    if tells.ends {
        match reader.event() {
            Ok(None) => {
                let _ = writeln!(transcript, "{name}< ends");
            }
            Ok(Some(event)) => matching.differ(name, Some("the end".to_owned()), Some(event.to_string())),
            Err(why) => matching.differ(name, Some("the end".to_owned()), Some(why)),
        }
    }
    transcript
}

fn compare_header(
    matching: &mut Matching<'_>,
    name: &str,
    expected: Option<&Value>,
    headers: &HeaderMap,
) -> String {
    let came: Vec<_> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    let came = (!came.is_empty()).then(|| came.join(", "));
    let place = format!("header {name}");
    match (expected, came) {
        (None, None) => String::new(),
        (Some(expected), Some(came)) => match matching.value(&place, expected, &Value::String(came)) {
            Value::String(named) => format!("< {name}: {named}\n"),
            _ => String::new(),
        },
        (expected, came) => {
            matching.differ(&place, expected.map(Value::to_string), came);
            String::new()
        }
    }
}

fn compare_body(matching: &mut Matching<'_>, expected: Option<&Value>, came: &[u8]) -> String {
    let whole = || Some(String::from_utf8_lossy(came).into_owned());
    match (expected, serde_json::from_slice::<Value>(came)) {
        (None, _) if came.is_empty() => String::new(),
        (None, _) => {
            matching.differ("body", None, whole());
            String::new()
        }
        (Some(expected), Err(_)) => {
            matching.differ("body", Some(expected.to_string()), whole());
            String::new()
        }
        (Some(expected), Ok(actual)) => {
            let named = matching.value("body", expected, &actual);
            // Hosts must agree in every byte, so an answer with spaces to spare would not do.
            if actual.to_string().as_bytes() != came {
                matching.differ("body", Some("compact JSON".to_owned()), whole());
            }
            format!("{named}\n")
        }
    }
}
