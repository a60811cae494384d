//! Questions that participants ask each other, or the client of a task (session coordination, §9).

use serde::{Deserialize, Serialize};

use super::Session;
use crate::time::Timestamp;

/// Whether a question waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionState {
    /// For its answer.
    Open,
    /// No longer: it has its one answer.
    Answered,
}

/// The one answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// Who gave it.
    pub from: String,
    /// At most 16,384 characters; a client's may be longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// One of the question's choices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A question as the session keeps it and as the wire shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Made by the server.
    pub question_id: String,
    /// Who asks.
    pub from: String,
    /// Whom it is put to by name, at most 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Whom it is put to by what they can do; neither this nor `to` means everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// At most 16,384 characters.
    pub body: String,
    /// What may be chosen from: at most 20, each one line of at most 200 characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether it still waits.
    pub state: QuestionState,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<QuestionAnswer>,
    /// The request it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The workstream it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workstream_id: Option<String>,
    /// The A2A task that waits for its answer, when it was put to the client of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The message of that task which puts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
}

impl Question {
    /// The question with its answer.
    #[must_use]
    pub fn answered(&self, answer: QuestionAnswer) -> Self {
        Self {
            state: QuestionState::Answered,
            answer: Some(answer),
            ..self.clone()
        }
    }
}

impl Session {
    /// The questions, in the order they were asked in.
    pub fn questions(&self) -> impl DoubleEndedIterator<Item = &Question> {
        self.question_order.iter().filter_map(|id| self.questions.get(id))
    }

    /// A question.
    #[must_use]
    pub fn question(&self, question_id: &str) -> Option<&Question> {
        self.questions.get(question_id)
    }

    /// The open question that a message puts to the client of a task.
    #[must_use]
    pub fn question_put_by(&self, message_id: &str) -> Option<&Question> {
        self.question(self.put_to_clients.get(message_id)?)
    }

    /// Whether a participant last announced that it can do something.
    #[must_use]
    pub fn announces(&self, participant_id: &str, capability: &str) -> bool {
        let presence = self.presence(participant_id);
        presence.is_some_and(|presence| presence.capabilities.iter().any(|it| it == capability))
    }

    /// Whether a question is put to a participant within the session: by name, by what it last announced that it can
    /// do, or as one of everybody.
    #[must_use]
    pub fn is_put_to(&self, question: &Question, participant_id: &str) -> bool {
        match &question.capability {
            Some(capability) => self.announces(participant_id, capability),
            None => question.to.is_empty() || question.to.iter().any(|it| it == participant_id),
        }
    }

    /// A question was asked.
    pub(super) fn asked(&mut self, question: &Question) {
        let question_id = &question.question_id;
        if let Some(message_id) = &question.message_id {
            self.put_to_clients
                .insert(message_id.clone(), question_id.clone());
        }
        self.question_order.push(question_id.clone());
        self.questions.insert(question_id.clone(), question.clone());
    }

    /// A question was answered.
    pub(super) fn answered(&mut self, question_id: &str, answer: &QuestionAnswer) {
        if let Some(question) = self.questions.get_mut(question_id) {
            if let Some(message_id) = &question.message_id {
                self.put_to_clients.remove(message_id);
            }
            *question = question.answered(answer.clone());
        }
    }
}
