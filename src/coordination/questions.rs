//! `questions.*`: what participants ask each other, and the clients of their tasks (session coordination, §9).

use super::{Call, Handler, Operation};
use crate::params::{Fields, Param, Rule, Shape};
use crate::refusal::Refusal;
use crate::session::decide::{Command, Decided, Idempotency, NewQuestion};
use crate::session::{Scope, Session};

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
    rules: &[Rule::Either("to", "capability")],
    about: "Asks participants of the session, or the client of a request's task",
    answer: "`question`",
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
    rules: &[Rule::Some(&["body", "choice"])],
    about: "Answers a question, once",
    answer: "`question` with `answer`",
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
    call.decide(session, idempotency, &Command::AskQuestion(Box::new(new)))
}

fn answer(session: &Session, call: &Call<'_>, idempotency: Option<Idempotency>) -> Result<Decided, Refusal> {
    let fields = Fields(call.body);
    let command = Command::AnswerQuestion {
        question_id: fields.owned("questionId").unwrap_or_default(),
        body: fields.owned("body"),
        choice: fields.owned("choice"),
    };
    call.decide(session, idempotency, &command)
}
