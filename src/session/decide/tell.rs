//! What the client of a task hears of what happens to the request that carries it.

use serde_json::Value;

use super::Draft;
use crate::a2a::Artifact;
use crate::dispatch::WORK_URI;
use crate::dispatch::artifact::{Answer, WorkArtifact};
use crate::dispatch::envelope::Kind;
use crate::session::event::Event;
use crate::session::request::{Note, Request, RequestChange};
use crate::session::task::{Ending, Mail, Skill, TaskRecord};
use crate::text;

/// The answer among what was handed in, if there is one.
fn answer_in(artifacts: &[Artifact]) -> Option<Answer> {
    artifacts
        .iter()
        .rev()
        .find_map(|artifact| match WorkArtifact::of(artifact, "") {
            Ok(Some(WorkArtifact::Answer(answer))) => Some(answer),
            _ => None,
        })
}

/// Names the message that carries an answer in the artifact that it was handed in with.
fn sign(artifacts: &mut [Artifact], mail_id: &str) {
    for artifact in artifacts {
        if let Some(Value::Object(state)) = artifact.metadata.get_mut(WORK_URI)
            && state.get("kind").is_some_and(|kind| kind == "answer")
        {
            state.insert("messageId".to_owned(), Value::from(mail_id));
        }
    }
}

impl Draft<'_> {
    /// Turns a change of a request into messages to the client, and into the end of its task where it is one.
    pub(super) fn tell_client(&mut self, request: &Request, task: &TaskRecord, change: &mut RequestChange) {
        match change {
            RequestChange::Progressed { note, artifacts, .. } => {
                self.tell_progress(task, note.as_ref(), artifacts)
            }
            RequestChange::Completed {
                note,
                artifacts,
                as_message,
            } if task.skill == Skill::Ask => {
                let given = answer_in(artifacts).or_else(|| answer_in(&request.artifacts));
                let mail_id = self.tell_answer(task, note.as_ref(), given, *as_message);
                sign(artifacts, &mail_id);
            }
            RequestChange::Completed { note, artifacts, .. } => {
                self.tell_progress(task, note.as_ref(), artifacts)
            }
            RequestChange::Cancelled { .. } => {
                let (at, by) = (self.now(), self.caller().participant_id.clone());
                let ending = Ending { at, by, text: None };
                self.close_asked_of(task);
                self.push(Event::TaskCanceled {
                    task_id: task.task_id.clone(),
                    ending,
                });
            }
            _ => {}
        }
    }

    /// A message of a task; tells its id.
    pub(super) fn post(&mut self, task: &TaskRecord, mail: Mail) -> String {
        let mail_id = mail.id.clone();
        self.push(Event::MailPosted {
            mail: Box::new(mail),
            task_id: Some(task.task_id.clone()),
        });
        mail_id
    }

    /// A remark, and an answer that does not end the task, are messages of their own.
    fn tell_progress(&mut self, task: &TaskRecord, note: Option<&Note>, artifacts: &mut [Artifact]) {
        if let Some(note) = note {
            let mail = self.mail_to_client(task, Kind::Message, note.body.clone());
            self.post(task, mail);
        }
        if let Some(answer) = answer_in(artifacts) {
            let mail = self.mail_to_client(task, Kind::Message, answer.text);
            let mail_id = self.post(
                task,
                Mail {
                    choice: answer.choice,
                    ..mail
                },
            );
            sign(artifacts, &mail_id);
        }
    }

    /// The message that answers an ask: what was handed in as its answer, else the remark.
    fn tell_answer(
        &mut self,
        task: &TaskRecord,
        note: Option<&Note>,
        given: Option<Answer>,
        directly: bool,
    ) -> String {
        let (body, choice) = given.map_or((None, None), |answer| (Some(answer.text), answer.choice));
        let body = body
            .filter(|body| !text::is_blank(body))
            .or_else(|| note.map(|note| note.body.clone()));
        let mail = self.mail_to_client(task, Kind::Answer, body.unwrap_or_else(|| "Done.".to_owned()));
        let mail_id = self.post(
            task,
            Mail {
                reply_to: Some(task.root.clone()),
                choice,
                ..mail
            },
        );
        self.push(Event::TaskAnswered {
            task_id: task.task_id.clone(),
            mail_id: mail_id.clone(),
            directly,
        });
        mail_id
    }
}
