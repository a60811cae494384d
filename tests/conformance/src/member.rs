//! The member that plays the kit's scenarios: it finds work in its inbox, does it, and hands it in, as any member would.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Outcome;
use crate::caller::{Caller, text};
use crate::scenario::{Step, steps};

/// How long the member rests when there is nothing to do.
const REST: Duration = Duration::from_millis(10);

/// A request that the member has taken.
#[derive(Clone, Debug)]
struct Work {
    request_id: String,
    task_id: String,
    client_id: String,
}

/// The member.
#[derive(Debug)]
pub struct Member {
    member: Caller,
    client: Caller,
    /// What it has asked clients, by the question.
    asked: BTreeMap<String, Work>,
    /// What it will go on with, and when.
    later: Vec<(Instant, Work, Vec<Step>)>,
}

impl Member {
    /// A member that coordinates as `member`, and reads what a client wrote as that client would: a request carries a
    /// message's text, and not its id.
    #[must_use]
    pub const fn new(member: Caller, client: Caller) -> Self {
        Self {
            member,
            client,
            asked: BTreeMap::new(),
            later: Vec::new(),
        }
    }

    /// Works until it is told to stop. What goes wrong with one piece of work is told and costs no other.
    pub fn work(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            match self.look() {
                Ok(true) => {}
                Ok(false) => thread::sleep(REST),
                Err(failure) => {
                    eprintln!("member: {failure}");
                    thread::sleep(REST);
                }
            }
        }
    }

    /// Does what waits; whether there was anything.
    fn look(&mut self) -> Outcome<bool> {
        let now = Instant::now();
        let (due, later) = std::mem::take(&mut self.later)
            .into_iter()
            .partition(|(at, ..)| *at <= now);
        self.later = later;
        let due: Vec<(Instant, Work, Vec<Step>)> = due;
        for (_, work, steps) in &due {
            self.told(|it| it.play(work, steps.clone()));
        }
        let kinds = json!({"kinds": ["request", "answer"], "pageSize": 100});
        let inbox = self.member.coordinate("inbox:list", &kinds)?;
        let items = inbox.get("items").and_then(Value::as_array);
        let items = items.map(Vec::as_slice).unwrap_or_default();
        for item in items {
            self.told(|it| it.take_up(item));
            let read = json!({"itemIds": [text(item, "/itemId")?], "state": "resolved"});
            self.told(|it| it.member.coordinate("inbox:update", &read));
        }
        Ok(!items.is_empty() || !due.is_empty())
    }

    fn told<T>(&mut self, mut act: impl FnMut(&mut Self) -> Outcome<T>) {
        if let Err(failure) = act(self) {
            eprintln!("member: {failure}");
        }
    }

    fn take_up(&mut self, item: &Value) -> Outcome {
        let subject = text(item, "/subjectId")?;
        let work = match text(item, "/kind")?.as_str() {
            "request" => self.claim(&subject)?,
            _ => match self.asked.remove(&subject) {
                Some(work) => work,
                None => return Ok(()),
            },
        };
        let steps = steps(&self.newest_message_id(&work)?);
        self.play(&work, steps)
    }

    fn claim(&self, request_id: &str) -> Outcome<Work> {
        let claimed = self.update(request_id, json!({"action": "claim"}))?;
        Ok(Work {
            request_id: request_id.to_owned(),
            task_id: text(&claimed, "/request/taskId")?,
            client_id: text(&claimed, "/request/createdBy")?,
        })
    }

    /// The id of the last message that the client sent about a piece of work.
    fn newest_message_id(&self, work: &Work) -> Outcome<String> {
        let task = self.client.task(&work.task_id)?;
        let history = task.get("history").and_then(Value::as_array);
        let mut newest_first = history.into_iter().flatten().rev();
        let newest = newest_first.find(|message| message.get("role").is_some_and(|role| role == "ROLE_USER"));
        text(newest.unwrap_or(&Value::Null), "/messageId")
    }

    fn play(&mut self, work: &Work, steps: Vec<Step>) -> Outcome {
        let mut steps = steps.into_iter();
        while let Some(step) = steps.next() {
            let body = match step {
                Step::Wait(time) => {
                    let at = Instant::now().checked_add(time).unwrap_or_else(Instant::now);
                    self.later.push((at, work.clone(), steps.collect()));
                    return Ok(());
                }
                Step::Ask => {
                    let question =
                        json!({"body": "What next?", "requestId": work.request_id, "to": [work.client_id]});
                    let asked = self.member.coordinate("questions:ask", &question)?;
                    let question_id = text(&asked, "/question/questionId")?;
                    self.asked.insert(question_id, work.clone());
                    continue;
                }
                Step::HandIn(artifact) => json!({"action": "progress", "artifacts": [artifact]}),
                Step::Hold => json!({"action": "hold", "gate": "scope", "reason": "The kit asks for it."}),
                Step::Complete(note, artifacts) => {
                    json!({"action": "complete", "note": note, "artifacts": artifacts})
                }
                Step::Answer(note) => json!({"action": "complete", "note": note, "asMessage": true}),
            };
            self.update(&work.request_id, body)?;
        }
        Ok(())
    }

    fn update(&self, request_id: &str, mut body: Value) -> Outcome<Value> {
        if let Some(body) = body.as_object_mut() {
            body.insert("requestId".to_owned(), json!(request_id));
        }
        self.member.coordinate("requests:update", &body)
    }
}
