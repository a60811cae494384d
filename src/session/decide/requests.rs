//! Requests: who may take, give back, finish and call off (session coordination, §9.1).

use serde_json::json;

use super::{Answer, Draft, not_found, not_owner, precondition};
use crate::a2a::{Artifact, Chunk, Handover};
use crate::dispatch::envelope;
use crate::dispatch::work::Priority;
use crate::refusal::Refusal;
use crate::session::credential::Role;
use crate::session::event::Event;
use crate::session::limits;
use crate::session::participant::Participant;
use crate::session::request::{Note, Request, RequestChange, RequestState, Stage, mark};
use crate::session::task::{Mail, Origin, Skill, TaskRecord};

/// Work for the participants of the session, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 16,384 characters.
    pub body: Option<String>,
    /// Who may take it; empty means any member.
    pub to: Vec<String>,
    /// 1 to 50.
    pub max_assignees: u32,
    /// 60 to 2,592,000 seconds.
    pub expires_in_seconds: Option<u32>,
    /// How much it matters.
    pub priority: Priority,
    /// Labels.
    pub labels: Vec<String>,
    /// When it counts as done.
    pub acceptance: Vec<String>,
    /// The workstream it belongs to.
    pub workstream_id: Option<String>,
}

/// What is to happen to a request.
#[derive(Clone, Debug)]
pub enum Action {
    /// The caller takes it.
    Claim {
        /// A remark.
        note: Option<String>,
    },
    /// The caller gives it back.
    Unclaim {
        /// Why.
        note: Option<String>,
    },
    /// The caller came further.
    Progress {
        /// A remark, also for the client.
        note: Option<String>,
        /// The new stage; `Some(None)` takes the stage away.
        stage: Option<Option<Stage>>,
        /// Handed in, whole or in chunks.
        artifacts: Vec<Handover>,
    },
    /// The caller is done.
    Complete {
        /// The answer of an ask, when no `answer` artifact gives it.
        note: Option<String>,
        /// Handed in.
        artifacts: Vec<Artifact>,
        /// The send that still waits is given the answer in place of its task (session coordination, §9).
        as_message: bool,
    },
    /// The request is called off.
    Cancel {
        /// Why.
        note: Option<String>,
    },
    /// An owner or admin gives it to somebody.
    Reassign {
        /// To whom.
        assignee: String,
        /// Why.
        note: Option<String>,
    },
    /// The caller needs a deciding participant's approval to go on.
    Hold {
        /// `tool-approval` or `scope`.
        gate: String,
        /// Of what, for those who decide alone: at most 2,000 characters.
        reason: String,
        /// A remark.
        note: Option<String>,
    },
}

/// Who can't have a request.
const NO_CLIENT: &str = "expected a member of the session: a client takes no requests";

fn answer(request: &Request) -> Answer {
    Answer::Object(json!({ "request": request }))
}

impl<'s> Draft<'s> {
    /// A participant whose credentials work.
    pub(super) fn taking_part(&self, participant_id: &str) -> Result<&'s Participant, Refusal> {
        let known = self.session.participant(participant_id);
        known.filter(|one| one.revoked_at.is_none()).ok_or_else(|| {
            not_found("PARTICIPANT_NOT_FOUND", "no such participant")
                .with_fact("participantId", participant_id)
        })
    }

    /// A remark of the caller on a request.
    pub(super) fn note(&self, body: Option<&str>) -> Option<Note> {
        body.map(|body| Note {
            from: self.caller().participant_id.clone(),
            body: body.to_owned(),
            at: self.now(),
        })
    }

    /// The request that carries a task, still to be pushed.
    ///
    /// # Errors
    /// SESSION_LIMIT.
    pub(super) fn new_request(
        &mut self,
        new: &NewRequest,
        created_by: &str,
        task_id: &str,
    ) -> Result<Request, Refusal> {
        let now = self.now();
        self.room_for(limits::Kind::OpenRequests, self.session.open_request_count(now))?;
        Ok(Request {
            request_id: self.draw.id("req"),
            title: new.title.clone(),
            body: new.body.clone(),
            state: RequestState::Open,
            created_by: created_by.to_owned(),
            created_at: now,
            updated_at: now,
            expires_at: new
                .expires_in_seconds
                .map(|seconds| now.plus_seconds(i64::from(seconds))),
            max_assignees: new.max_assignees,
            assignees: Vec::new(),
            stage: None,
            priority: new.priority,
            labels: new.labels.clone(),
            acceptance: new.acceptance.clone(),
            artifacts: Vec::new(),
            unfinished: Vec::new(),
            notes: Vec::new(),
            task_id: Some(task_id.to_owned()),
            workstream_id: new.workstream_id.clone(),
            to: new.to.clone(),
            claimed_at: None,
            unclaimed_at: None,
        })
    }

    pub(super) fn create_request(&mut self, new: &NewRequest) -> Result<Answer, Refusal> {
        for (index, participant_id) in new.to.iter().enumerate() {
            if self.taking_part(participant_id)?.role == Role::Client {
                return Err(Refusal::invalid(format!("to[{index}]"), NO_CLIENT));
            }
        }
        self.names_workstream(new.workstream_id.as_deref())?;
        let caller = self.caller().participant_id.clone();
        let to = match new.to.as_slice() {
            [] => vec!["channel:members".to_owned()],
            named => named.iter().map(|id| self.session.address_of(id)).collect(),
        };
        let body = new.body.clone().unwrap_or_else(|| new.title.clone());
        let root = Mail {
            blocking: true,
            ..self.mail(envelope::Kind::Question, &caller, to, body)
        };
        let task = self.new_task(&root, Origin::Session, Skill::Ask, None);
        let request = self.new_request(new, &caller, &task.task_id)?;
        self.push(Event::MailPosted {
            mail: Box::new(root),
            task_id: None,
        });
        self.push(Event::TaskOpened { task: Box::new(task) });
        self.push(Event::RequestCreated {
            request: Box::new(request.clone()),
        });
        Ok(answer(&request))
    }

    pub(super) fn update_request(&mut self, request_id: &str, action: &Action) -> Result<Answer, Refusal> {
        let request = self.session.known_request(request_id)?;
        self.may_act(request, action)?;
        self.still_open(request)?;
        let mut change = self.change(request, action)?;
        if let Some(task) = request.task_id.as_ref().and_then(|id| self.session.task(id)) {
            self.tell_client(request, task, &mut change);
            if let Action::Hold { gate, reason, .. } = action {
                self.raise_hold(task, gate, reason);
            }
        }
        let mut changed = request.clone();
        changed.change(&change, self.now());
        self.fits(request, &changed)?;
        self.push(Event::RequestChanged {
            request_id: request_id.to_owned(),
            change,
        });
        Ok(answer(&changed))
    }

    /// Whether a request may hold as much as it would after a change.
    fn fits(&self, before: &Request, after: &Request) -> Result<(), Refusal> {
        let parts = |request: &Request| request.artifacts.iter().map(|it| it.parts.len()).sum::<usize>();
        for (kind, held, holds) in [
            (limits::Kind::RequestNotes, before.notes.len(), after.notes.len()),
            (
                limits::Kind::RequestArtifacts,
                before.artifacts.len(),
                after.artifacts.len(),
            ),
            (limits::Kind::ArtifactParts, parts(before), parts(after)),
        ] {
            if holds > held {
                self.context.limits.allow(kind, holds, 0)?;
            }
        }
        Ok(())
    }

    /// Whether something may still happen to a request.
    pub(super) fn still_open(&self, request: &Request) -> Result<(), Refusal> {
        if request.state_at(self.now()).is_closed() {
            return Err(precondition(
                "REQUEST_CLOSED",
                "the request is closed and never changes again",
            ));
        }
        Ok(())
    }

    /// Whether the send that opened the task of a request waits for a first word of it.
    fn still_awaited(&self, request: &Request) -> Result<(), Refusal> {
        let task = request.task_id.as_ref().and_then(|id| self.session.task(id));
        if task.is_some_and(|task| task.is_awaited(self.now())) {
            return Ok(());
        }
        Err(precondition(
            "TASK_SHOWN",
            "the client has been told of the task; complete it without asMessage",
        ))
    }

    /// Whether the request is the caller's to do this to.
    fn may_act(&self, request: &Request, action: &Action) -> Result<(), Refusal> {
        let caller = self.caller();
        let decides = caller.role.decides();
        let allowed = match action {
            Action::Claim { .. } => return Ok(()),
            Action::Unclaim { .. }
            | Action::Progress { .. }
            | Action::Complete { .. }
            | Action::Hold { .. } => request.is_assigned_to(&caller.participant_id),
            Action::Cancel { .. } => decides || request.created_by == caller.participant_id,
            Action::Reassign { .. } => decides,
        };
        if allowed {
            return Ok(());
        }
        Err(not_owner(match action {
            Action::Cancel { .. } => "only its creator, an owner or an admin cancels a request",
            Action::Reassign { .. } => "only an owner or admin reassigns a request",
            _ => "only who has claimed the request does this; claim it first",
        }))
    }

    fn change(&self, request: &Request, action: &Action) -> Result<RequestChange, Refusal> {
        let caller = self.caller();
        Ok(match action {
            Action::Claim { note } => {
                if request.is_assigned_to(&caller.participant_id) {
                    return Err(precondition(
                        "ALREADY_CLAIMED",
                        "the caller has the request already",
                    ));
                }
                let addressed = request.to.is_empty() || request.to.contains(&caller.participant_id);
                if !addressed && !caller.role.decides() {
                    return Err(precondition(
                        "NOT_ADDRESSED",
                        "the request is addressed to others",
                    ));
                }
                if request.is_full() {
                    return Err(precondition(
                        "REQUEST_AT_CAPACITY",
                        "as many as may have the request have it",
                    ));
                }
                RequestChange::Claimed {
                    participant_id: caller.participant_id.clone(),
                    note: self.note(note.as_deref()),
                }
            }
            Action::Unclaim { note } => RequestChange::Unclaimed {
                participant_id: caller.participant_id.clone(),
                note: self.note(note.as_deref()),
            },
            Action::Progress {
                note,
                stage,
                artifacts,
            } => {
                goes_on(request, artifacts)?;
                RequestChange::Progressed {
                    note: self.note(note.as_deref()),
                    stage: *stage,
                    artifacts: artifacts.iter().map(|it| it.artifact.clone()).collect(),
                    chunks: chunks(artifacts),
                }
            }
            Action::Complete {
                note,
                artifacts,
                as_message,
            } => {
                if *as_message {
                    self.still_awaited(request)?;
                }
                RequestChange::Completed {
                    note: self.note(note.as_deref()),
                    artifacts: artifacts.clone(),
                    as_message: *as_message,
                }
            }
            Action::Cancel { note } => RequestChange::Cancelled {
                note: self.note(note.as_deref()),
            },
            Action::Hold { note, .. } => RequestChange::Noted {
                note: self.note(note.as_deref()),
            },
            Action::Reassign { assignee, note } => {
                if self.taking_part(assignee)?.role == Role::Client {
                    return Err(Refusal::invalid("assignee", NO_CLIENT));
                }
                RequestChange::Reassigned {
                    participant_id: assignee.clone(),
                    note: self.note(note.as_deref()),
                }
            }
        })
    }

    /// A message from the caller to the client of a task.
    pub(super) fn mail_to_client(&mut self, task: &TaskRecord, kind: envelope::Kind, body: String) -> Mail {
        let from = self.caller().participant_id.clone();
        let to = vec![self.session.address_of(&task.opened_by)];
        let thread = task.root.clone();
        Mail {
            thread,
            ..self.mail(kind, &from, to, body)
        }
    }

    /// A message of a participant that begins a thread of its own.
    pub(super) fn mail(&mut self, kind: envelope::Kind, from: &str, to: Vec<String>, body: String) -> Mail {
        let id = self.draw.id("msg");
        Mail {
            thread: id.clone(),
            id,
            from: self.session.address_of(from),
            to,
            kind,
            body,
            reply_to: None,
            blocking: false,
            choices: Vec::new(),
            choice: None,
            refs: Vec::new(),
            data: None,
            at: self.now(),
            sent: None,
        }
    }
}

/// Whether every chunk that is to go after others has some to go after.
fn goes_on(request: &Request, handed_in: &[Handover]) -> Result<(), Refusal> {
    let mut unfinished = request.unfinished.clone();
    for (index, Handover { artifact, chunk }) in handed_in.iter().enumerate() {
        if chunk.append && !unfinished.contains(&artifact.artifact_id) {
            let rule = "expected the id of an artifact whose last chunk has not come, as there is nothing to append to";
            return Err(Refusal::invalid(
                format!("artifacts[{index}].artifact.artifactId"),
                rule,
            ));
        }
        mark(&mut unfinished, &artifact.artifact_id, *chunk);
    }
    Ok(())
}

/// How much of each artifact is handed in; empty where all are whole.
fn chunks(handed_in: &[Handover]) -> Vec<Chunk> {
    let chunks = handed_in.iter().map(|it| it.chunk);
    if chunks.clone().all(|chunk| chunk == Chunk::WHOLE) {
        return Vec::new();
    }
    chunks.collect()
}
