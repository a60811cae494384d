//! What only a deciding participant does: approving, declining and dropping.

use serde_json::{Value, json};

use super::requests::NewRequest;
use super::{Answer, Draft, not_owner, precondition};
use crate::dispatch::SYSTEM_ADDRESS;
use crate::dispatch::envelope::Kind;
use crate::refusal::{Code, Refusal};
use crate::session::event::Event;
use crate::session::request::RequestChange;
use crate::session::task::{Choice, Ending, Gate, Mail, Skill, TASK_PROPOSAL, TaskRecord};

impl Draft<'_> {
    /// A task that is still open, for a caller who decides.
    fn task_to_judge(&self, task_id: &str) -> Result<TaskRecord, Refusal> {
        self.only_deciders()?;
        let task = self.session.known_task(task_id)?;
        self.still_going(task)?;
        Ok(task.clone())
    }

    /// Whether something may still happen to a task.
    pub(super) fn still_going(&self, task: &TaskRecord) -> Result<(), Refusal> {
        if self.session.standing(task, self.now()).state.is_terminal() {
            return Err(precondition(
                "TASK_CLOSED",
                "the task has ended and never changes again",
            ));
        }
        Ok(())
    }

    fn ending(&self, text: Option<&str>) -> Ending {
        Ending {
            at: self.now(),
            by: self.caller().participant_id.clone(),
            text: text.map(str::to_owned),
        }
    }

    fn judged(&self, task: &TaskRecord) -> Answer {
        Answer::Task(task.task_id.clone())
    }

    /// Raises the gate of a handoff's proposal.
    pub(super) fn raise_proposal(&mut self, task: &TaskRecord, work_item_id: &str, client: &str) {
        let data = json!({
            "type": TASK_PROPOSAL,
            "task": work_item_id,
            "proposedBy": client,
            "message": task.root,
        });
        self.raise_gate(task, TASK_PROPOSAL, "Approve the handoff?", data);
    }

    /// Raises a gate about work under way, for whoever does it.
    pub(super) fn raise_hold(&mut self, task: &TaskRecord, gate_type: &str, reason: &str) {
        let data = json!({ "type": gate_type, "raisedFor": self.caller().participant_id });
        self.raise_gate(task, gate_type, reason, data);
    }

    /// Raises a gate: the system's question to the owner, which no client sees.
    fn raise_gate(&mut self, task: &TaskRecord, gate_type: &str, body: &str, data: Value) {
        let owner = self.session.owner().map(|owner| owner.address());
        let id = self.draw.id("gate");
        let question = Mail {
            id: id.clone(),
            thread: id.clone(),
            from: SYSTEM_ADDRESS.to_owned(),
            blocking: true,
            choices: vec![
                Choice::Approve.as_str().to_owned(),
                Choice::Decline.as_str().to_owned(),
            ],
            data: Some(data),
            ..self.mail(Kind::Question, "", owner.into_iter().collect(), body.to_owned())
        };
        let gate = Gate {
            id,
            gate_type: gate_type.to_owned(),
            opened_at: self.now(),
            decision: None,
        };
        self.post(task, question);
        self.push(Event::GateOpened {
            task_id: task.task_id.clone(),
            gate,
        });
    }

    /// The answer of the one who decides to a gate, which no client sees.
    fn reply_to_gate(&mut self, gate: &Gate, choice: Choice) -> Mail {
        let decider = self.caller().participant_id.clone();
        let to = vec![SYSTEM_ADDRESS.to_owned()];
        Mail {
            thread: gate.id.clone(),
            reply_to: Some(gate.id.clone()),
            choice: Some(choice.as_str().to_owned()),
            ..self.mail(Kind::Answer, &decider, to, String::new())
        }
    }

    /// Decides a gate about work under way, which goes on either way; those who do it read what was decided.
    fn decide_hold(
        &mut self,
        task: &TaskRecord,
        gate: &Gate,
        choice: Choice,
        reason: Option<&str>,
    ) -> Answer {
        let reply = self.reply_to_gate(gate, choice);
        let answer = self.post(task, reply);
        self.push(Event::GateDecided {
            task_id: task.task_id.clone(),
            gate_id: gate.id.clone(),
            answer,
            choice,
        });
        if let Some(request_id) = task.request_id.clone() {
            let verdict = match choice {
                Choice::Approve => "Approved.",
                Choice::Decline => "Declined.",
            };
            let note = self.note(Some(reason.unwrap_or(verdict)));
            self.push(Event::RequestChanged {
                request_id,
                change: RequestChange::Noted { note },
            });
        }
        self.judged(task)
    }

    pub(super) fn decide_proposal(
        &mut self,
        task_id: &str,
        choice: &str,
        reason: Option<&str>,
    ) -> Result<Answer, Refusal> {
        let task = self.task_to_judge(task_id)?;
        let choice =
            Choice::parse(choice).ok_or_else(|| Refusal::invalid("choice", "expected approve or decline"))?;
        let gate = task
            .open_gates()
            .next()
            .cloned()
            .ok_or_else(|| precondition("NO_OPEN_GATE", "nothing of this task waits for a decision"))?;
        let Some(item) = task.work_item.clone().filter(|_| gate.gate_type == TASK_PROPOSAL) else {
            return Ok(self.decide_hold(&task, &gate, choice, reason));
        };
        let reply = self.reply_to_gate(&gate, choice);
        let (told, verdict) = match choice {
            Choice::Approve => ("Approved by the project owner.", "accept"),
            Choice::Decline => (reason.unwrap_or("Declined by the project owner."), "decline"),
        };
        let to_client = Mail {
            from: SYSTEM_ADDRESS.to_owned(),
            reply_to: Some(task.root.clone()),
            choice: Some(verdict.to_owned()),
            ..self.mail_to_client(&task, Kind::Answer, told.to_owned())
        };
        let answer = to_client.id.clone();
        for mail in [reply, to_client] {
            self.push(Event::MailPosted {
                mail: Box::new(mail),
                task_id: Some(task_id.to_owned()),
            });
        }
        self.push(Event::GateDecided {
            task_id: task_id.to_owned(),
            gate_id: gate.id,
            answer,
            choice,
        });
        if choice == Choice::Approve {
            let body = self.session.mail(&task.root).map(|mail| mail.body.clone());
            let new = NewRequest {
                title: item.draft.title.clone(),
                body,
                to: Vec::new(),
                max_assignees: 1,
                expires_in_seconds: None,
                priority: item.draft.priority,
                labels: item.draft.labels.clone(),
                acceptance: item.draft.acceptance,
                workstream_id: None,
            };
            let mut request = self.new_request(&new, &task.opened_by, task_id)?;
            request.notes.extend(self.note(reason));
            self.push(Event::RequestCreated {
                request: Box::new(request),
            });
        }
        Ok(self.judged(&task))
    }

    pub(super) fn decline(&mut self, task_id: &str, reason: Option<&str>) -> Result<Answer, Refusal> {
        let task = self.task_to_judge(task_id)?;
        if task.skill == Skill::Handoff || task.open_gates().next().is_some() {
            return self.decide_proposal(task_id, Choice::Decline.as_str(), reason);
        }
        let ending = self.ending(reason);
        self.close_request(&task, None);
        self.push(Event::TaskDeclined {
            task_id: task_id.to_owned(),
            ending,
        });
        Ok(self.judged(&task))
    }

    /// Closes an ask by the system's word, so that it has failed (work/v1's projection, row 3).
    pub(super) fn close_task(&mut self, task_id: &str, reason: Option<&str>) -> Result<Answer, Refusal> {
        let task = self.task_to_judge(task_id)?;
        if task.skill != Skill::Ask {
            return Err(precondition(
                "NOT_AN_ASK",
                "only an ask is closed; decline or drop a handoff",
            ));
        }
        let mut data = json!({ "type": "x-closed" });
        if let (Some(data), Some(reason)) = (data.as_object_mut(), reason) {
            data.insert("reason".to_owned(), json!(reason));
        }
        let said = reason.unwrap_or_default().to_owned();
        let mail = Mail {
            from: SYSTEM_ADDRESS.to_owned(),
            reply_to: Some(task.root.clone()),
            data: Some(data),
            ..self.mail_to_client(&task, Kind::Answer, said)
        };
        let mail_id = self.post(&task, mail);
        self.close_request(&task, reason);
        self.push(Event::TaskAnswered {
            task_id: task_id.to_owned(),
            mail_id,
            directly: false,
        });
        Ok(self.judged(&task))
    }

    pub(super) fn drop_work(&mut self, task_id: &str, reason: Option<&str>) -> Result<Answer, Refusal> {
        let task = self.task_to_judge(task_id)?;
        match &task.work_item {
            None => {
                return Err(precondition(
                    "NO_WORK_ITEM",
                    "only a handoff has work to drop; decline an ask",
                ));
            }
            Some(item) if !item.approved => {
                return Err(precondition(
                    "NOT_APPROVED",
                    "the handoff is still a proposal; decline it",
                ));
            }
            Some(_) => {}
        }
        let ending = self.ending(reason);
        self.close_requests(&task, reason);
        self.push(Event::TaskDropped {
            task_id: task_id.to_owned(),
            ending,
        });
        Ok(self.judged(&task))
    }

    /// Cancels the requests that nobody can do anything for any more once a task has ended: its own, which says why,
    /// and those of what was asked of its work item.
    fn close_requests(&mut self, task: &TaskRecord, why: Option<&str>) {
        self.close_request(task, why);
        self.close_asked_of(task);
    }

    /// Cancels the requests of what was asked of a task's work item, which is being dropped.
    pub(super) fn close_asked_of(&mut self, task: &TaskRecord) {
        let asked = task.work_item.iter().flat_map(|item| self.session.asked_of(item));
        for asked in asked.collect::<Vec<_>>() {
            self.close_request(asked, None);
        }
    }

    /// Cancels the request that carries a task, if it is still open, with a note to those who read it.
    fn close_request(&mut self, task: &TaskRecord, why: Option<&str>) {
        let request = task.request_id.as_ref().and_then(|id| self.session.request(id));
        if let Some(request) = request.filter(|request| !request.state_at(self.now()).is_closed()) {
            let request_id = request.request_id.clone();
            let note = self.note(why);
            self.push(Event::RequestChanged {
                request_id,
                change: RequestChange::Cancelled { note },
            });
        }
    }

    pub(super) fn cancel_task(&mut self, task_id: &str) -> Result<Answer, Refusal> {
        let task = self.session.visible_task(task_id, self.caller())?.clone();
        if task.opened_by != self.caller().participant_id && !self.caller().role.decides() {
            return Err(not_owner(
                "only who opened the task, an owner or an admin cancels it",
            ));
        }
        if self.session.standing(&task, self.now()).state.is_terminal() {
            let message = "the task has ended and can't be canceled";
            return Err(
                Refusal::a2a(Code::FailedPrecondition, "TASK_NOT_CANCELABLE", message)
                    .with_fact("taskId", task_id),
            );
        }
        let ending = self.ending(None);
        self.close_requests(&task, None);
        self.push(Event::TaskCanceled {
            task_id: task_id.to_owned(),
            ending,
        });
        Ok(self.judged(&task))
    }
}
