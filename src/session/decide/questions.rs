//! Questions: who asks whom, and who answers (session coordination, §9).

use serde_json::json;

use super::{Answer, Draft, not_owner, precondition};
use crate::dispatch::envelope::Kind;
use crate::refusal::Refusal;
use crate::session::credential::Role;
use crate::session::event::Event;
use crate::session::question::{Question, QuestionAnswer, QuestionState};
use crate::session::request::Request;
use crate::session::task::{Mail, Origin, TaskRecord};

/// A question that somebody asks, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewQuestion {
    /// At most 16,384 characters.
    pub body: String,
    /// At most 50 participants; then there is no capability.
    pub to: Vec<String>,
    /// At most 64 characters.
    pub capability: Option<String>,
    /// What may be chosen from: at most 20, no two alike.
    pub choices: Vec<String>,
    /// The request it is about.
    pub request_id: Option<String>,
    /// The workstream it belongs to.
    pub workstream_id: Option<String>,
}

fn answer(question: &Question) -> Answer {
    Answer::Object(json!({ "question": question }))
}

impl<'s> Draft<'s> {
    pub(super) fn ask_question(&mut self, new: &NewQuestion) -> Result<Answer, Refusal> {
        self.names_workstream(new.workstream_id.as_deref())?;
        let request = new.request_id.as_ref().map(|id| self.session.known_request(id));
        let request = request.transpose()?;
        for participant_id in &new.to {
            self.taking_part(participant_id)?;
        }
        if let Some((request, task)) = request.and_then(|request| self.client_of(request, &new.to)) {
            self.may_ask_client(task)?;
            self.still_open(request)?;
            let workstream_id = new.workstream_id.clone();
            let question = self.put_to_client(task, &new.body, &new.choices, workstream_id);
            return Ok(answer(&question));
        }
        self.no_clients(&new.to)?;
        let question = Question {
            question_id: self.draw.id("question"),
            from: self.caller().participant_id.clone(),
            to: new.to.clone(),
            capability: new.capability.clone(),
            body: new.body.clone(),
            choices: new.choices.clone(),
            state: QuestionState::Open,
            asked_at: self.time(),
            answer: None,
            request_id: new.request_id.clone(),
            workstream_id: new.workstream_id.clone(),
            task_id: None,
            message_id: None,
        };
        let answer = answer(&question);
        self.push(Event::QuestionAsked {
            question: Box::new(question),
        });
        Ok(answer)
    }

    /// The task that a request carries, if a client sent it and that client is all of `to`.
    fn client_of(&self, request: &'s Request, to: &[String]) -> Option<(&'s Request, &'s TaskRecord)> {
        let task = self.session.task(request.task_id.as_ref()?)?;
        let asked = task.origin == Origin::Client && *to == [task.opened_by.as_str()];
        asked.then_some((request, task))
    }

    /// A client answers on its own task, and reads nothing else of a session.
    fn no_clients(&self, to: &[String]) -> Result<(), Refusal> {
        let is_client = |id: &String| {
            let participant = self.session.participant(id);
            participant.is_some_and(|participant| participant.role == Role::Client)
        };
        match to.iter().position(is_client) {
            None => Ok(()),
            Some(index) => Err(Refusal::invalid(
                format!("to[{index}]"),
                "expected a member of the session; a client is asked alone, with the requestId of its own task",
            )),
        }
    }

    /// Whether the client of a task is the caller's to ask.
    fn may_ask_client(&self, task: &TaskRecord) -> Result<(), Refusal> {
        let caller = self.caller();
        let request = self.session.request_of(task);
        let has_it = request.is_some_and(|request| request.is_assigned_to(&caller.participant_id));
        if has_it || caller.role.decides() {
            return Ok(());
        }
        Err(not_owner(
            "only who has claimed the task's request asks its client",
        ))
    }

    pub(super) fn ask_client(
        &mut self,
        task_id: &str,
        body: &str,
        choices: &[String],
    ) -> Result<Answer, Refusal> {
        let task = self.session.known_task(task_id)?;
        self.may_ask_client(task)?;
        self.still_going(task)?;
        self.put_to_client(task, body, choices, None);
        Ok(Answer::Task(task_id.to_owned()))
    }

    /// Asks the client of a task: a message to it, which the task waits for the answer to, and the question's record.
    fn put_to_client(
        &mut self,
        task: &TaskRecord,
        body: &str,
        choices: &[String],
        workstream_id: Option<String>,
    ) -> Question {
        let mail = Mail {
            reply_to: Some(task.root.clone()),
            blocking: true,
            choices: choices.to_vec(),
            ..self.mail_to_client(task, Kind::Question, body.to_owned())
        };
        let question = Question {
            question_id: self.draw.id("question"),
            from: self.caller().participant_id.clone(),
            to: vec![task.opened_by.clone()],
            capability: None,
            body: body.to_owned(),
            choices: choices.to_vec(),
            state: QuestionState::Open,
            asked_at: self.time(),
            answer: None,
            request_id: task.request_id.clone(),
            workstream_id,
            task_id: Some(task.task_id.clone()),
            message_id: Some(mail.id.clone()),
        };
        self.post(task, mail.clone());
        self.push(Event::QuestionOpened {
            task_id: task.task_id.clone(),
            mail_id: mail.id,
        });
        self.push(Event::QuestionAsked {
            question: Box::new(question.clone()),
        });
        question
    }

    pub(super) fn answer_question(
        &mut self,
        question_id: &str,
        body: Option<&str>,
        choice: Option<&str>,
    ) -> Result<Answer, Refusal> {
        let question = self.session.known_question(question_id)?;
        let caller = self.caller();
        if !self.session.is_put_to(question, &caller.participant_id) && !caller.role.decides() {
            return Err(precondition(
                "NOT_ADDRESSED",
                "the question is addressed to others",
            ));
        }
        if question.state == QuestionState::Answered {
            return Err(precondition(
                "QUESTION_CLOSED",
                "the question has its answer, and takes no other",
            ));
        }
        if choice.is_some_and(|choice| !question.choices.iter().any(|it| it == choice)) {
            return Err(no_choice_of(question));
        }
        let given = QuestionAnswer {
            from: caller.participant_id.clone(),
            body: body.map(str::to_owned),
            choice: choice.map(str::to_owned),
            at: self.time(),
        };
        self.answer_task(question, &given);
        let answered = question.answered(given.clone());
        self.push(Event::AnswerGiven {
            question_id: question_id.to_owned(),
            answer: given,
        });
        Ok(answer(&answered))
    }

    /// Lets the task go on that waits for the answer to a question, and its client read it.
    fn answer_task(&mut self, question: &Question, given: &QuestionAnswer) {
        let task = question.task_id.as_ref().and_then(|id| self.session.task(id));
        let (Some(task), Some(message_id)) = (task, &question.message_id) else {
            return;
        };
        if self.session.standing(task, self.now()).state.is_terminal() {
            return;
        }
        let to = vec![self.session.address_of(&question.from)];
        let body = given.body.as_ref().or(given.choice.as_ref()).cloned();
        let mail = Mail {
            thread: task.root.clone(),
            reply_to: Some(message_id.clone()),
            choice: given.choice.clone(),
            ..self.mail(Kind::Answer, &given.from, to, body.unwrap_or_default())
        };
        self.post(task, mail);
        self.push(Event::QuestionAnswered {
            task_id: task.task_id.clone(),
            mail_id: message_id.clone(),
        });
    }

    /// Records what the client answered to the question that a message put to it.
    pub(super) fn client_answers(&mut self, message_id: &str, body: &str, choice: Option<&str>) {
        if let Some(question) = self.session.question_put_by(message_id) {
            let answer = QuestionAnswer {
                from: self.caller().participant_id.clone(),
                body: Some(body.to_owned()),
                choice: choice.map(str::to_owned),
                at: self.time(),
            };
            self.push(Event::AnswerGiven {
                question_id: question.question_id.clone(),
                answer,
            });
        }
    }
}

/// INVALID_ARGUMENT on `choice`.
fn no_choice_of(question: &Question) -> Refusal {
    let rule = match question.choices.as_slice() {
        [] => "the question has no choices; answer it with a body".to_owned(),
        choices => format!("expected one of: {}", choices.join(", ")),
    };
    Refusal::invalid("choice", rule)
}
