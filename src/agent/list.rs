//! ListTasks: the caller's own tasks, newest status first, a page at a time (A2A 1.0, §3.1.4).

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Call;
use super::view::{Shape, View, history_length};
use crate::a2a::decode::{self, Decoder, member};
use crate::a2a::{Task, TaskState};
use crate::coordination::page::Room;
use crate::json::compact_len;
use crate::refusal::Refusal;
use crate::session::task::TaskRecord;
use crate::session::{Caller, Session};
use crate::time::Timestamp;

const PAGE_SIZE: usize = 50;
const PAGE_SIZE_MAX: usize = 100;

/// A page of tasks that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Page {
    caller: Arc<Caller>,
    context_id: Option<String>,
    state: Option<TaskState>,
    since: Option<Timestamp>,
    size: usize,
    after: Option<String>,
    shape: Shape,
    /// Filled in when the tasks are looked up.
    total: usize,
    next: String,
}

/// Where a task stands in the list: texts sort as the list does, newest first.
fn position(at: Timestamp, task_id: &str) -> String {
    let age = i64::MAX.saturating_sub(at.as_millis());
    format!("{age:020} {task_id}")
}

/// Reads `pageSize`.
pub(super) fn page_size(decoder: &mut Decoder, params: &Map<String, Value>) -> usize {
    let Some(size) = decoder.int(params, "pageSize", "") else {
        return PAGE_SIZE;
    };
    let size = usize::try_from(size).ok();
    let size = size.filter(|size| (1..=PAGE_SIZE_MAX).contains(size));
    size.unwrap_or_else(|| {
        let rule = format!("expected a whole number from 1 to {PAGE_SIZE_MAX}");
        decoder.fault("pageSize", rule);
        PAGE_SIZE
    })
}

/// Reads `pageToken`: where the page of a list begins.
pub(super) fn page_after(
    decoder: &mut Decoder,
    session: &Session,
    list: &str,
    params: &Map<String, Value>,
) -> Option<String> {
    let token = decoder.text(params, "pageToken", "")?;
    let after = session.page_position(list, &token);
    if after.is_none() {
        decoder.fault("pageToken", "expected nextPageToken of the same list, unaltered");
    }
    after
}

impl Page {
    /// Reads what page is asked for.
    pub(super) fn read(
        session: &Session,
        call: &Call<'_>,
        params: &Map<String, Value>,
    ) -> Result<Self, Refusal> {
        let mut decoder = Decoder::new();
        let size = page_size(&mut decoder, params);
        let state = member(params, "status")
            .filter(|value| **value != json!(0))
            .and_then(|value| {
                let state = decode::task_state(value);
                if state.is_none() {
                    decoder.fault(
                        "status",
                        "expected the name of a task state, such as TASK_STATE_WORKING",
                    );
                }
                state
            });
        let since = decoder.text(params, "statusTimestampAfter", "").and_then(|text| {
            let time = text.parse::<Timestamp>();
            if let Err(rule) = time {
                decoder.fault("statusTimestampAfter", rule.to_string());
            }
            time.ok()
        });
        let mut page = Self {
            caller: Arc::clone(call.caller),
            context_id: decoder.context_id(params, ""),
            state,
            since,
            size,
            after: None,
            shape: Shape {
                history: history_length(&mut decoder, params, ""),
                artifacts: decoder.flag(params, "includeArtifacts", "").unwrap_or_default(),
            },
            total: 0,
            next: String::new(),
        };
        page.after = page_after(&mut decoder, session, &page.list(), params);
        decoder.finish(page).map_err(Refusal::violations)
    }

    /// Names the list that a page token belongs to: its reader and its filters.
    fn list(&self) -> String {
        let Self {
            caller,
            context_id,
            state,
            since,
            ..
        } = self;
        format!(
            "tasks {} {context_id:?} {state:?} {since:?}",
            caller.participant_id
        )
    }

    fn wants(&self, task: &TaskRecord, state: TaskState, at: Timestamp) -> bool {
        Session::may_see(task, &self.caller)
            && self
                .context_id
                .as_ref()
                .is_none_or(|context| task.context_id == *context)
            && self.state.is_none_or(|wanted| state == wanted)
            && self.since.is_none_or(|since| at >= since)
    }

    /// The tasks of the page: fewer than asked for where they are long.
    pub(super) fn tasks(&mut self, view: &View<'_>) -> Vec<Task> {
        let session = view.session();
        let mut found: Vec<(String, &TaskRecord)> = session
            .tasks()
            .filter_map(|task| {
                let shown = session.standing(task, view.now());
                let wanted = self.wants(task, shown.state, shown.at);
                wanted.then(|| (position(shown.at, &task.task_id), task))
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        self.total = found.len();
        found.retain(|(position, _)| self.after.as_ref().is_none_or(|after| position > after));
        let (mut tasks, mut room) = (Vec::new(), Room::default());
        let mut last = None;
        for (position, task) in &found {
            let task = (tasks.len() < self.size).then(|| view.task(task, self.shape));
            let Some(task) = task.filter(|task| room.takes(compact_len(task))) else {
                self.next = last.map_or_else(String::new, |last| session.page_token(&self.list(), last));
                break;
            };
            tasks.push(task);
            last = Some(position);
        }
        tasks
    }

    /// The answer: `{tasks, nextPageToken, pageSize, totalSize}`.
    pub(super) fn answer(&self, tasks: &[Task]) -> Value {
        json!({
            "tasks": tasks,
            "nextPageToken": self.next,
            "pageSize": self.size,
            "totalSize": self.total,
        })
    }
}
