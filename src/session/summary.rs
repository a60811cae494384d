//! A task as those who decide see it.

use serde_json::{Value, json};

use super::Session;
use super::task::{Gate, TASK_PROPOSAL, TaskRecord};
use crate::json::compact_len;
use crate::text::prefix_within;
use crate::time::Timestamp;

/// The most bytes of a text in a list of tasks.
const BRIEF: usize = 1_024;

impl Session {
    /// A task as its judge sees it: `{taskId, contextId, skill, client, state, text, title?, openedAt, gate?, draft?, requestId?}`.
    #[must_use]
    pub fn summary(&self, task: &TaskRecord, now: Timestamp) -> Value {
        let shown = self.standing(task, now);
        let mut summary = json!({
            "taskId": task.task_id,
            "contextId": task.context_id,
            "skill": task.skill,
            "client": task.opened_by,
            "state": shown.state,
            "text": shown.text,
        });
        let gate = task.open_gates().next();
        let members = [
            (
                "title",
                task.work_item.as_ref().map(|item| json!(item.draft.title)),
            ),
            ("body", self.mail(&task.root).map(|mail| json!(mail.body))),
            ("openedAt", Some(json!(task.opened_at))),
            ("gate", gate.map(|gate| self.gate_summary(gate))),
            ("draft", task.work_item.as_ref().map(|item| json!(item.draft))),
            ("requestId", task.request_id.as_ref().map(|id| json!(id))),
        ];
        if let Some(summary) = summary.as_object_mut() {
            for (name, value) in members {
                summary.extend(value.map(|value| (name.to_owned(), value)));
            }
        }
        summary
    }

    /// A task as it stands in a list: texts in it are cut to 1,024 bytes, and `truncated` names those that
    /// were. A draft's criteria and paths are left out, and named, where together they take more.
    #[must_use]
    pub fn brief(&self, task: &TaskRecord, now: Timestamp) -> Value {
        let mut summary = self.summary(task, now);
        let mut cut = Vec::new();
        for (name, pointer) in [
            ("text", "/text"),
            ("body", "/body"),
            ("gate.reason", "/gate/reason"),
        ] {
            if let Some(Value::String(text)) = summary.pointer_mut(pointer)
                && text.len() > BRIEF
            {
                *text = prefix_within(text, BRIEF).to_owned();
                cut.push(name);
            }
        }
        if let Some(Value::Object(draft)) = summary.get_mut("draft") {
            let lists = [("draft.acceptance", "acceptance"), ("draft.writes", "writes")];
            let sizes = lists
                .iter()
                .filter_map(|(_, list)| draft.get(*list))
                .map(compact_len);
            if sizes.fold(0, usize::saturating_add) > BRIEF {
                for (name, list) in lists {
                    cut.extend(draft.shift_remove(list).map(|_| name));
                }
            }
        }
        if let Some(summary) = summary.as_object_mut().filter(|_| !cut.is_empty()) {
            summary.insert("truncated".to_owned(), json!(cut));
        }
        summary
    }

    /// A gate as those who decide see it: `{id, type, openedAt, reason?}`. A proposal's reason is the handoff itself.
    fn gate_summary(&self, gate: &Gate) -> Value {
        let mut summary = json!({"id": gate.id, "type": gate.gate_type, "openedAt": gate.opened_at});
        let raised = self.mail(&gate.id).filter(|_| gate.gate_type != TASK_PROPOSAL);
        if let (Some(summary), Some(raised)) = (summary.as_object_mut(), raised) {
            summary.insert("reason".to_owned(), json!(raised.body));
        }
        summary
    }
}
