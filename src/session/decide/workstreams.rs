//! Workstreams: who changes and links them, and against which version (session coordination, §9.1).

use serde_json::{Map, Value, json};

use super::{Answer, Draft, not_owner, precondition};
use crate::refusal::{COORDINATION_DOMAIN, Code, Refusal};
use crate::session::credential::Role;
use crate::session::event::Event;
use crate::session::limits;
use crate::session::workstream::{Lifecycle, Resource, ResourceKind, Update, Workstream, WorkstreamChange};

/// A workstream that somebody wants, with its fields within their limits.
#[derive(Clone, Debug)]
pub struct NewWorkstream {
    /// One line, at most 200 characters.
    pub title: String,
    /// At most 4,000 characters.
    pub intent: String,
    /// At most 50, each once.
    pub participants: Vec<String>,
}

/// What is to happen to a workstream, with its fields within their limits.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Some of it is set anew.
    Update(Update),
    /// A resource is linked to it.
    Link {
        /// What.
        resource: Resource,
        /// The workstream that it is to be moved from.
        from: Option<Move>,
    },
    /// A resource's link is taken away.
    Unlink {
        /// What.
        resource: Resource,
    },
}

/// Where a link is to be moved from: never the workstream that it is to be moved to.
#[derive(Clone, Debug)]
pub struct Move {
    /// Which.
    pub workstream_id: String,
    /// The version that the caller knows.
    pub expected_version: u32,
}

/// ABORTED VERSION_CONFLICT: what the caller knows of a record is no longer so.
pub(super) fn version_conflict(
    message: &str,
    (record, id): (&'static str, &str),
    expected: u32,
    current: u32,
) -> Refusal {
    let mut detail = Map::new();
    detail.insert(
        "@type".to_owned(),
        json!(format!("{COORDINATION_DOMAIN}/VersionConflict")),
    );
    detail.insert(record.to_owned(), json!(id));
    detail.insert("expected".to_owned(), json!(expected));
    detail.insert("current".to_owned(), json!(current));
    Refusal::coordination(Code::Aborted, "VERSION_CONFLICT", message)
        .with_fact(record, id)
        .with_detail(Value::Object(detail))
}

/// FAILED_PRECONDITION LINKED_ELSEWHERE: another workstream holds the resource.
fn linked_elsewhere(resource: &Resource, holder: &Workstream) -> Refusal {
    let detail = json!({
        "@type": format!("{COORDINATION_DOMAIN}/LinkConflict"),
        "resource": resource,
        "workstreamId": holder.workstream_id,
        "version": holder.version,
    });
    let message = "another workstream holds the resource; name it in `from` to move the link";
    precondition("LINKED_ELSEWHERE", message)
        .with_fact("workstreamId", &holder.workstream_id)
        .with_detail(detail)
}

fn not_linked(workstream: &Workstream) -> Refusal {
    precondition("NOT_LINKED", "the workstream has no link to the resource")
        .with_fact("workstreamId", &workstream.workstream_id)
}

fn check_open(workstream: &Workstream) -> Result<(), Refusal> {
    if workstream.is_open() {
        return Ok(());
    }
    let message = "the workstream is archived: it is read, and never changed again";
    Err(precondition("WORKSTREAM_ARCHIVED", message).with_fact("workstreamId", &workstream.workstream_id))
}

fn check_version(workstream: &Workstream, expected: u32) -> Result<(), Refusal> {
    if workstream.version == expected {
        return Ok(());
    }
    let message = "the workstream has another version; read it again before changing it";
    let id = &workstream.workstream_id;
    Err(version_conflict(
        message,
        ("workstreamId", id),
        expected,
        workstream.version,
    ))
}

impl<'s> Draft<'s> {
    /// Whether a new record may belong to the workstream that it names.
    pub(super) fn names_workstream(&self, workstream_id: Option<&str>) -> Result<(), Refusal> {
        match workstream_id {
            None => Ok(()),
            Some(id) => check_open(self.session.known_workstream(id)?),
        }
    }

    pub(super) fn create_workstream(&mut self, new: &NewWorkstream) -> Result<Answer, Refusal> {
        for participant_id in &new.participants {
            self.taking_part(participant_id)?;
        }
        let open = self.session.workstreams().open_count();
        self.room_for(limits::Kind::OpenWorkstreams, open)?;
        let now = self.time();
        let workstream = Workstream {
            workstream_id: self.draw.id("ws"),
            title: new.title.clone(),
            intent: new.intent.clone(),
            owner: self.caller().participant_id.clone(),
            participants: new.participants.clone(),
            lifecycle: Lifecycle::Proposed,
            evidence: Vec::new(),
            checkpoint: None,
            links: Vec::new(),
            version: 1,
            created_at: now,
            updated_at: now,
        };
        let answer = Answer::Object(json!({ "workstream": workstream }));
        self.push(Event::WorkstreamCreated {
            workstream: Box::new(workstream),
        });
        Ok(answer)
    }

    pub(super) fn edit_workstream(
        &mut self,
        workstream_id: &str,
        expected_version: u32,
        edit: &Edit,
    ) -> Result<Answer, Refusal> {
        let workstream = self.session.known_workstream(workstream_id)?;
        match edit {
            Edit::Update(update) => self.update_workstream(workstream, expected_version, update),
            Edit::Unlink { resource } => self.unlink(workstream, expected_version, resource),
            Edit::Link { resource, from: None } => self.link(workstream, expected_version, resource),
            Edit::Link {
                resource,
                from: Some(from),
            } => self.move_link(workstream, expected_version, resource, from),
        }
    }

    fn update_workstream(
        &mut self,
        workstream: &'s Workstream,
        expected_version: u32,
        update: &Update,
    ) -> Result<Answer, Refusal> {
        if let Some(owner) = &update.owner
            && self.taking_part(owner)?.role == Role::Client
        {
            let rule = "expected a member of the session: a client answers for no workstream";
            return Err(Refusal::invalid("owner", rule));
        }
        for participant_id in update.participants.iter().flatten() {
            self.taking_part(participant_id)?;
        }
        let allowed = self.leads(workstream) || (update.is_a_report() && self.works_on(workstream));
        if !allowed {
            return Err(not_owner(
                "only its owner, an owner or an admin changes a workstream; its participants give evidence and \
                 the checkpoint",
            ));
        }
        check_open(workstream)?;
        check_version(workstream, expected_version)?;
        let (held, more) = (workstream.evidence.len(), update.add_evidence.len());
        let limits = self.context.limits;
        limits.allow(limits::Kind::WorkstreamEvidence, held, more)?;
        let change = WorkstreamChange::Updated(Box::new(update.clone()));
        let after = self.change_workstream(workstream, change);
        Ok(Answer::Object(json!({ "workstream": after })))
    }

    fn link(
        &mut self,
        workstream: &'s Workstream,
        expected_version: u32,
        resource: &Resource,
    ) -> Result<Answer, Refusal> {
        self.check_exists(resource)?;
        self.check_linker(workstream)?;
        check_open(workstream)?;
        check_version(workstream, expected_version)?;
        if let Some(holder) = self.session.workstreams().holder(resource) {
            return Err(already_held(workstream, resource, holder));
        }
        self.room_for(limits::Kind::WorkstreamLinks, workstream.links.len())?;
        let change = WorkstreamChange::Linked {
            resource: resource.clone(),
        };
        let after = self.change_workstream(workstream, change);
        Ok(Answer::Object(
            json!({ "workstream": after, "link": after.link(resource) }),
        ))
    }

    fn move_link(
        &mut self,
        workstream: &'s Workstream,
        expected_version: u32,
        resource: &Resource,
        from: &Move,
    ) -> Result<Answer, Refusal> {
        let source = self.session.known_workstream(&from.workstream_id)?;
        self.check_exists(resource)?;
        self.check_linker(workstream)?;
        self.check_linker(source)?;
        check_open(workstream)?;
        check_open(source)?;
        check_version(workstream, expected_version)?;
        check_version(source, from.expected_version)?;
        match self.session.workstreams().holder(resource) {
            Some(holder) if holder.workstream_id == source.workstream_id => {}
            Some(holder) => return Err(already_held(workstream, resource, holder)),
            None => return Err(not_linked(source)),
        }
        self.room_for(limits::Kind::WorkstreamLinks, workstream.links.len())?;
        let change = WorkstreamChange::LinkMoved {
            resource: resource.clone(),
            from: source.workstream_id.clone(),
            to: workstream.workstream_id.clone(),
        };
        let moved_from = self.change_workstream(source, change.clone());
        let after = self.change_workstream(workstream, change);
        Ok(Answer::Object(
            json!({ "workstream": after, "link": after.link(resource), "movedFrom": moved_from }),
        ))
    }

    fn unlink(
        &mut self,
        workstream: &'s Workstream,
        expected_version: u32,
        resource: &Resource,
    ) -> Result<Answer, Refusal> {
        self.check_linker(workstream)?;
        check_open(workstream)?;
        check_version(workstream, expected_version)?;
        if workstream.link(resource).is_none() {
            return Err(not_linked(workstream));
        }
        let change = WorkstreamChange::Unlinked {
            resource: resource.clone(),
        };
        let after = self.change_workstream(workstream, change);
        Ok(Answer::Object(json!({ "workstream": after })))
    }

    /// Lets something happen to a workstream; how it is afterwards.
    fn change_workstream(&mut self, workstream: &Workstream, change: WorkstreamChange) -> Workstream {
        let after = workstream.changed(&change, &self.caller().participant_id, self.time());
        self.push(Event::WorkstreamChanged {
            workstream_id: workstream.workstream_id.clone(),
            change,
        });
        after
    }

    /// Whether the caller may change all of a workstream.
    fn leads(&self, workstream: &Workstream) -> bool {
        self.caller().role.decides() || workstream.owner == self.caller().participant_id
    }

    /// Whether the caller is among a workstream's participants.
    fn works_on(&self, workstream: &Workstream) -> bool {
        workstream.participants.contains(&self.caller().participant_id)
    }

    /// Whether the caller may link to a workstream, and unlink from it: whoever works on it.
    fn check_linker(&self, workstream: &Workstream) -> Result<(), Refusal> {
        if self.leads(workstream) || self.works_on(workstream) {
            return Ok(());
        }
        Err(not_owner(
            "only its owner, its participants, an owner or an admin link a workstream's resources",
        ))
    }

    /// Whether the session has what a link is to lead to.
    fn check_exists(&self, resource: &Resource) -> Result<(), Refusal> {
        let (session, id) = (self.session, resource.id.as_str());
        match resource.kind {
            ResourceKind::External => Ok(()),
            ResourceKind::Request => session.known_request(id).map(drop),
            ResourceKind::Claim => session.known_claim(id).map(drop),
            ResourceKind::Question => session.known_question(id).map(drop),
            ResourceKind::Decision => session.known_decision(id).map(drop),
            ResourceKind::Knowledge => session.known_entry(id).map(drop),
            ResourceKind::Task => session.known_task(id).map(drop),
        }
    }
}

/// Why a resource that some workstream holds is not linked to `workstream`.
fn already_held(workstream: &Workstream, resource: &Resource, holder: &Workstream) -> Refusal {
    if holder.workstream_id == workstream.workstream_id {
        return precondition(
            "ALREADY_LINKED",
            "the resource is linked to the workstream already",
        );
    }
    linked_elsewhere(resource, holder)
}
