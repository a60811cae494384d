//! `questions.*`: what participants ask each other, and the clients of their tasks (session coordination, §9).

use super::{Call, Handler, Operation};
use crate::params::{Fields, Param, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Command, Decided, Idempotency, NewQuestion};
use crate::session::{Scope, Session};
use crate::text;

const BODY: Shape = Shape::Text(16_384);

/// `questions.ask`.
pub const ASK: Operation = Operation {
    name: "questions.ask",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::required("body", BODY, "What is asked"),
        Param::optional(
            "to",
            Shape::List(50, &Shape::Id),
            "Participants who may answer; without it and capability, everyone",
        ),
        Param::optional(
            "capability",
            Shape::Line(64),
            "Instead of to: whoever announces that it can do this",
        ),
        Param::optional(
            "choices",
            Shape::Set(20, &Shape::Line(200)),
            "What may be chosen from",
        ),
        Param::optional(
            "requestId",
            Shape::Id,
            "The request it is about; with to its client alone, its task waits for the answer",
        ),
        Param::optional("workstreamId", Shape::Id, "The workstream it belongs to"),
    ],
    about: "Asks participants of the session, or the client of a request's task",
    handler: Handler::Session(ask),
};

/// `questions.answer`.
pub const ANSWER: Operation = Operation {
    name: "questions.answer",
    scope: Scope::SessionWrite,
    read_only: false,
    params: &[
        Param::required("questionId", Shape::Id, "Which"),
        Param::optional("body", BODY, "The answer; it or choice is required"),
        Param::optional("choice", Shape::Line(200), "One of the question's choices"),
    ],
    about: "Answers a question, once",
    handler: Handler::Session(answer),
};

fn ask(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let new = NewQuestion {
        body: fields.owned("body").unwrap_or_default(),
        to: fields.texts("to"),
        capability: fields.owned("capability"),
        choices: fields.texts("choices"),
        request_id: fields.owned("requestId"),
        workstream_id: fields.owned("workstreamId"),
    };
    if !new.to.is_empty() && new.capability.is_some() {
        let rule = "expected either to or capability, not both";
        return Err(Refusal::invalid("capability", rule));
    }
    call.decide(session, idempotency, &Command::AskQuestion(Box::new(new)))
}

fn answer(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let (body, choice) = (fields.owned("body"), fields.owned("choice"));
    if choice.is_none() && body.as_deref().is_none_or(text::is_blank) {
        return Err(Refusal::invalid(
            "body",
            "required without choice: expected text, not blank",
        ));
    }
    let question_id = fields.owned("questionId").unwrap_or_default();
    let command = Command::AnswerQuestion {
        question_id,
        body,
        choice,
    };
    call.decide(session, idempotency, &command)
}
