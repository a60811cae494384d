//! What a client of a session that plays sends.

use a2a_edge::a2a::Message;
use a2a_edge::a2a::decode::Decoder;
use a2a_edge::dispatch::draft::Draft;
use a2a_edge::dispatch::envelope::{Kind, RefType, Reference};
use a2a_edge::dispatch::inbound::inbound;
use a2a_edge::dispatch::work::{self, Handoffs, WorkRequest};
use a2a_edge::session::decide::{Opening, Send};
use serde_json::{Value, json};

use super::Play;

impl Play {
    pub(super) fn send(&mut self, client: usize) -> Send {
        let me = self.callers[client].participant_id.clone();
        let own: Vec<String> = self
            .session
            .tasks()
            .filter(|task| task.opened_by == me)
            .map(|task| task.task_id.clone())
            .collect();
        let opening = match self.random.below(8) {
            0..=1 => Opening::Ask,
            2..=4 => Opening::Handoff(Box::new(draft())),
            5 => Opening::Deliver(Kind::Notice),
            _ if own.is_empty() || self.random.one_in(5) => Opening::Continue {
                task_id: self.task_id(),
            },
            _ => Opening::Continue {
                task_id: self.random.pick(&own).clone(),
            },
        };
        let message = self.message(&opening);
        let taken = inbound(&message.parts).unwrap();
        Send {
            message,
            body: taken.body,
            data: taken.data,
            opening,
            to: self.recipients(),
            blocking: self.random.one_in(2).then_some(true),
            choices: vec!["yes".into(), "no".into()],
            choice: self.random.one_in(2).then(|| "west".into()),
            refs: self.references(),
            fingerprint: self
                .random
                .one_in(3)
                .then(|| format!("print-{}", self.random.below(2))),
            push: self.random.one_in(3).then(|| self.new_push()),
            awaited_until: self.random.one_in(2).then(|| self.now.plus_seconds(60)),
        }
    }

    fn message(&mut self, opening: &Opening) -> Message {
        let parts = [
            json!([{"text": "Is /sessions final?"}]),
            json!([{"text": "see data"}, {"data": {"type": "task-proposal", "task": "t"}}]),
            json!([{"data": null}]),
            json!([{"data": [1, 2.5, -0.0, 1e300]}, {"url": "https://example.com/a", "filename": "a"}]),
        ];
        let contexts: Vec<String> = self.session.tasks().map(|task| task.context_id.clone()).collect();
        let mut message = json!({
            "messageId": format!("m-{}", self.random.below(6)),
            "role": "ROLE_USER",
            "parts": self.random.pick(&parts),
            "metadata": {"urn:mine": {"deep": [[null]]}},
            "referenceTaskIds": ["elsewhere"],
        });
        if let Opening::Continue { task_id } = opening {
            message["taskId"] = json!(task_id);
        }
        if !contexts.is_empty() && self.random.one_in(4) {
            message["contextId"] = json!(self.random.pick(&contexts));
        }
        Decoder::new().message(&message, "message").unwrap()
    }

    fn recipients(&mut self) -> Vec<String> {
        let owner = self.session.owner().unwrap().address();
        let mut all: Vec<String> = self
            .session
            .tasks()
            .filter_map(|task| task.work_item.as_ref().filter(|item| item.approved))
            .map(|item| format!("task:{}", item.id))
            .collect();
        all.extend([owner, "human:nobody".into()]);
        let count = if all.len() > 2 || self.random.one_in(3) {
            self.random.below(3)
        } else {
            0
        };
        // Work items come first, so that asks are addressed to them while there are any.
        let known = if all.len() > 2 { all.len() - 1 } else { all.len() };
        (0..count)
            .map(|_| all[self.random.below(known)].clone())
            .collect()
    }

    fn references(&mut self) -> Vec<Reference> {
        if !self.random.one_in(6) {
            return Vec::new();
        }
        let id = self.task_id();
        vec![Reference {
            r#type: RefType::Task,
            id,
        }]
    }
}

fn draft() -> Draft {
    let request: Value = json!({"skill": "handoff", "title": "Add rate limiting", "labels": ["API"]});
    match work::validate(Some(&request), Handoffs::Taken) {
        Ok(Some(WorkRequest::Handoff(handoff))) => Draft::of(&handoff),
        other => panic!("{other:?}"),
    }
}
