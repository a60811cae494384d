//! A session that plays: participants of every role, and commands drawn at random, valid and not.

use a2a_edge::a2a::decode::Decoder;
use a2a_edge::a2a::{Artifact, Chunk, Handover};
use a2a_edge::coordination::resource::ResourceId;
use a2a_edge::dispatch::WORK_URI;
use a2a_edge::dispatch::work::Priority;
use a2a_edge::refusal::Refusal;
use a2a_edge::session::claim::ClaimType;
use a2a_edge::session::decide::{
    Action, Decided, NewClaim, NewDecision, NewPresence, NewPush, NewQuestion, NewRequest, NewStatus,
};
use a2a_edge::session::inbox::ItemState;
use a2a_edge::session::participant::Kind as Being;
use a2a_edge::session::presence::{Client, PresenceState};
use a2a_edge::session::push::{Landed, Outcome, Place};
use a2a_edge::session::request::Stage;
use a2a_edge::session::{
    Answer, Caller, Command, Commit, Context, Idempotency, NewSession, Role, Session, SessionLimits, Token,
};
use a2a_edge::time::Timestamp;
use serde_json::json;

use super::random::Random;

#[path = "flows.rs"]
mod flows;
#[path = "sends.rs"]
mod sends;

/// A session with its participants, and the commits that made it.
pub struct Play {
    pub session: Session,
    pub commits: Vec<Commit>,
    pub callers: Vec<Caller>,
    pub now: Timestamp,
    pub random: Random,
}

impl Play {
    /// A session with two owners, an admin, three members and three clients.
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let now = Timestamp::from_millis(1_784_250_000_000);
        let new = NewSession {
            owner_name: "wyat".into(),
            owner_kind: Being::Human,
        };
        let begun = new.begin(now, bytes(&mut random));
        let mut session = Session::default();
        assert!(session.apply(&begun.commit));
        let owner = session.authenticate(&begun.token).unwrap();
        let mut play = Self {
            session,
            commits: vec![begun.commit],
            callers: vec![owner],
            now,
            random,
        };
        for role in [
            Role::Owner,
            Role::Admin,
            Role::Member,
            Role::Member,
            Role::Member,
            Role::Client,
            Role::Client,
            Role::Client,
        ] {
            let add = add(role);
            let decided = play.decide(0, &add, None).unwrap();
            play.accept(&decided);
        }
        play
    }

    pub fn entropy(&mut self) -> [u8; 32] {
        bytes(&mut self.random)
    }

    pub fn with_role(&mut self, role: Role) -> usize {
        let of_role: Vec<usize> = (0..self.callers.len())
            .filter(|index| self.callers[*index].role == role)
            .collect();
        *self.random.pick(&of_role)
    }

    pub fn decide(
        &mut self,
        caller: usize,
        command: &Command,
        idempotency: Option<Idempotency>,
    ) -> Result<Decided, Refusal> {
        let context = Context {
            now: self.now,
            entropy: self.entropy(),
            caller: self.callers[caller].clone(),
            limits: SessionLimits::default(),
            idempotency,
        };
        self.session.decide(command, &context)
    }

    /// Applies what was decided, and lets in whom it admitted.
    pub fn accept(&mut self, decided: &Decided) {
        if let Some(commit) = &decided.commit {
            assert!(self.session.apply(commit), "a decided commit is the next one");
            self.commits.push(commit.clone());
        }
        if let Answer::Object(answer) = &decided.answer
            && let Some(token) = answer["token"].as_str().and_then(Token::parse)
        {
            // A repeat gives the token again, of somebody who may be out by now.
            self.callers.extend(self.session.authenticate(&token));
        }
    }

    /// What comes of sending what is due.
    pub fn land(&mut self) -> Option<Commit> {
        let due: Vec<Place> = self.session.pushes().due(self.now).collect();
        let mut landed = Vec::new();
        for place in due {
            let known = self.session.pushes().at(&place).unwrap().known;
            let changes = self.session.task(&place.task_id).unwrap().changes.len();
            let outcomes = [Outcome::Taken, Outcome::Taken, Outcome::Failed, Outcome::Refused];
            landed.push(Landed {
                place,
                known: known + self.random.below(changes.saturating_sub(known) + 1),
                outcome: *self.random.pick(&outcomes),
            });
        }
        let entropy = self.entropy();
        let commit = self.session.land(&landed, self.now, entropy)?;
        assert!(self.session.apply(&commit), "a decided commit is the next one");
        self.commits.push(commit.clone());
        Some(commit)
    }

    /// Lets some time pass: mostly little, now and then enough for requests to expire or keys to be forgotten.
    pub fn tick(&mut self) {
        let millis = match self.random.below(20) {
            0 => 90_000,
            1 => 7 * 3_600_000,
            2 => 0,
            _ => self.random.below(5_000) as i64,
        };
        self.now = self.now.plus_millis(millis);
    }

    /// Whoever would give this command, or sometimes somebody who may not.
    fn somebody(&mut self, role: Role) -> usize {
        if self.random.one_in(8) {
            let any = self.callers.len();
            let index = self.random.below(any);
            // A client's credential has no scope for the members' operations, so that they never get here.
            if role == Role::Client || self.callers[index].role != Role::Client {
                return index;
            }
        }
        self.with_role(role)
    }

    fn task_id(&mut self) -> String {
        let tasks: Vec<String> = self.session.tasks().map(|task| task.task_id.clone()).collect();
        if tasks.is_empty() || self.random.one_in(15) {
            return "task-nowhere".into();
        }
        self.random.pick(&tasks).clone()
    }

    fn request_id(&mut self) -> String {
        let open = self.session.requests().filter(|it| !it.state.is_closed());
        let mut ids: Vec<String> = open.map(|it| it.request_id.clone()).collect();
        if ids.is_empty() || self.random.one_in(6) {
            ids = self.session.requests().map(|it| it.request_id.clone()).collect();
        }
        if ids.is_empty() || self.random.one_in(20) {
            return "req-nowhere".into();
        }
        self.random.pick(&ids).clone()
    }

    fn participant_id(&mut self) -> String {
        if self.random.one_in(10) {
            return "p-nobody".into();
        }
        let index = self.random.below(self.callers.len());
        self.callers[index].participant_id.clone()
    }

    fn text(&mut self) -> Option<String> {
        let texts = [
            "",
            "Fine.",
            "Zwölf\nBoxkämpfer 😀",
            "{\"type\":\"task-proposal\"}",
        ];
        let text = *self.random.pick(&texts);
        (!self.random.one_in(3)).then(|| text.to_owned())
    }

    /// Who says what next.
    pub fn draw(&mut self) -> (usize, Command, Option<Idempotency>) {
        let (caller, command) = match self.random.below(49) {
            0..=5 => {
                let client = self.with_role(Role::Client);
                (client, Command::Send(Box::new(self.send(client))))
            }
            6..=13 => {
                let member = self.somebody(Role::Member);
                (member, self.update())
            }
            14..=15 => {
                let member = self.somebody(Role::Member);
                (member, Command::CreateRequest(Box::new(self.new_request())))
            }
            16..=18 => {
                let owner = self.somebody(Role::Owner);
                (owner, self.decision())
            }
            19 => {
                let (owner, task_id) = (self.somebody(Role::Owner), self.task_id());
                let reason = self.text();
                (owner, Command::Decline { task_id, reason })
            }
            20 => {
                let (owner, task_id) = (self.somebody(Role::Owner), self.task_id());
                let reason = self.text();
                (owner, Command::DropWork { task_id, reason })
            }
            21..=22 => {
                let (who, task_id) = (self.somebody(Role::Member), self.task_id());
                (who, self.question(task_id))
            }
            23 => {
                let client = self.somebody(Role::Client);
                let task_id = self.task_id();
                (client, Command::CancelTask { task_id })
            }
            46..=48 => {
                let client = self.somebody(Role::Client);
                (client, self.push_config())
            }
            24 => {
                let owner = self.somebody(Role::Owner);
                (owner, self.admission())
            }
            25..=26 => {
                let member = self.somebody(Role::Member);
                (member, self.announcement())
            }
            27..=29 => {
                let member = self.somebody(Role::Member);
                (member, self.claim())
            }
            30..=32 => {
                let member = self.somebody(Role::Member);
                (member, self.ask())
            }
            33..=34 => {
                let member = self.somebody(Role::Member);
                (member, self.answer())
            }
            35 => {
                let member = self.somebody(Role::Member);
                (member, self.record())
            }
            36..=37 => {
                let member = self.somebody(Role::Member);
                (member, self.tidy(member))
            }
            _ => self.flow(),
        };
        let idempotency = self.random.one_in(5).then(|| {
            let (key, asked) = (self.random.below(4), self.random.below(2));
            Idempotency::new(&format!("key-{key}"), "operation", &json!({ "asked": asked }))
        });
        (caller, command, idempotency)
    }

    fn decision(&mut self) -> Command {
        let choice = match self.random.below(6) {
            0 => "decline",
            1 => "perhaps",
            _ => "approve",
        };
        let gated: Vec<String> = self
            .session
            .tasks()
            .filter(|task| task.open_gates().next().is_some())
            .map(|task| task.task_id.clone())
            .collect();
        let task_id = if gated.is_empty() {
            self.task_id()
        } else {
            self.random.pick(&gated).clone()
        };
        Command::DecideProposal {
            task_id,
            choice: choice.into(),
            reason: self.text(),
        }
    }

    /// A config of few ids, so that they are set again and deleted.
    fn push_config(&mut self) -> Command {
        let task_id = self.task_id();
        if self.random.one_in(3) {
            let config_id = format!("c-{}", self.random.below(3));
            return Command::DeletePushConfig { task_id, config_id };
        }
        let new = Box::new(self.new_push());
        Command::SetPushConfig { task_id, new }
    }

    pub fn new_push(&mut self) -> NewPush {
        NewPush {
            config_id: (!self.random.one_in(4)).then(|| format!("c-{}", self.random.below(3))),
            url: "https://client.example/hook".into(),
            token: self.random.one_in(2).then(|| "t".into()),
            authentication: None,
            extensions: vec![WORK_URI.into()],
        }
    }

    fn question(&mut self, task_id: String) -> Command {
        let choices = if self.random.one_in(2) {
            vec!["east".into(), "west".into()]
        } else {
            Vec::new()
        };
        Command::AskClient {
            task_id,
            body: "Which region first?".into(),
            choices,
        }
    }

    /// A question to participants, to whoever can do something, to everyone, or to the client of a task.
    fn ask(&mut self) -> Command {
        let mut new = NewQuestion {
            body: "\nMerge first,\nor wait?".into(),
            to: Vec::new(),
            capability: None,
            choices: vec!["merge".into(), "wait".into()],
            request_id: None,
            workstream_id: self.random.one_in(12).then(|| "ws-nowhere".into()),
        };
        match self.random.below(4) {
            0 => new.to = (0..2).map(|_| self.participant_id()).collect(),
            1 => new.capability = Some("review".into()),
            2 => {
                let request_id = self.request_id();
                let task = self
                    .session
                    .request(&request_id)
                    .and_then(|it| it.task_id.as_ref());
                let task = task.and_then(|id| self.session.task(id));
                new.to = task.map(|task| task.opened_by.clone()).into_iter().collect();
                new.request_id = Some(request_id);
            }
            _ => {}
        }
        Command::AskQuestion(Box::new(new))
    }

    fn answer(&mut self) -> Command {
        let mut ids: Vec<String> = self
            .session
            .questions()
            .map(|it| it.question_id.clone())
            .collect();
        ids.push("question-nowhere".into());
        let choices = [None, Some("merge"), Some("east"), Some("north")];
        Command::AnswerQuestion {
            question_id: self.random.pick(&ids).clone(),
            body: self.text(),
            choice: self.random.pick(&choices).map(str::to_owned),
        }
    }

    fn record(&mut self) -> Command {
        let known: Vec<String> = self
            .session
            .decisions()
            .map(|it| it.decision_id.clone())
            .collect();
        let supersedes =
            (!known.is_empty() && self.random.one_in(2)).then(|| self.random.pick(&known).clone());
        Command::RecordDecision(Box::new(NewDecision {
            title: "One store".into(),
            decision: "PostgreSQL".into(),
            rationale: self.text(),
            alternatives: vec!["SQLite".into()],
            supersedes,
            workstream_id: None,
        }))
    }

    /// Some of the caller's items, and now and then one that is not.
    fn tidy(&mut self, caller: usize) -> Command {
        let me = &self.callers[caller].participant_id;
        let items = self.session.inbox_of(me, self.now);
        let ids: Vec<String> = items.into_iter().map(|item| item.item_id).collect();
        let mut item_ids: Vec<String> = ids
            .into_iter()
            .filter(|_| self.random.one_in(3))
            .take(100)
            .collect();
        if item_ids.is_empty() || self.random.one_in(10) {
            item_ids.push("item-0".into());
        }
        let states = [ItemState::Pending, ItemState::Acknowledged, ItemState::Resolved];
        let state = *self.random.pick(&states);
        Command::UpdateInbox { item_ids, state }
    }

    fn admission(&mut self) -> Command {
        if self.random.one_in(2) {
            let roles = [Role::Owner, Role::Member, Role::Client];
            return add(*self.random.pick(&roles));
        }
        // One member in a hundred steps: revoking everybody would end the play.
        let members = [Role::Owner, Role::Member];
        let role = *self.random.pick(&members);
        let index = self.with_role(role);
        let revoked = self.callers[index].participant_id.clone();
        let participant_id = if self.random.one_in(3) {
            revoked
        } else {
            "p-nobody".into()
        };
        Command::RevokeParticipant { participant_id }
    }

    fn announcement(&mut self) -> Command {
        if self.random.one_in(3) {
            return Command::AnnounceStatus(Box::new(NewStatus {
                status: "Half of the tests pass".into(),
                blocked_on: self.text(),
                workstream_id: self.random.one_in(4).then(|| self.workstream_id()),
                resources: vec!["src/**".into()],
            }));
        }
        let states = [PresenceState::Active, PresenceState::Idle, PresenceState::Away];
        let client = Client {
            name: "ide".into(),
            version: self.text(),
        };
        Command::AnnouncePresence(Box::new(NewPresence {
            state: *self.random.pick(&states),
            activity: self.random.one_in(2).then(|| "Reviewing".into()),
            ttl_seconds: 60,
            capabilities: self.random.one_in(2).then(|| vec!["review".into()]),
            client: self.random.one_in(2).then_some(client),
            renew_claims: !self.random.one_in(3),
        }))
    }

    fn claim(&mut self) -> Command {
        if self.random.one_in(3) {
            let mut ids: Vec<String> = self
                .session
                .claims()
                .all()
                .map(|it| it.claim_id.clone())
                .collect();
            ids.push("claim-nowhere".into());
            let claim_id = self.random.pick(&ids).clone();
            return Command::ReleaseClaim { claim_id };
        }
        let resources = [
            "src/**",
            "src/app/*.rs",
            "src/app",
            "src/*.rs",
            "docs/**/*.md",
            "pr:12",
        ];
        let types = [ClaimType::Exclusive, ClaimType::Shared, ClaimType::Shared];
        Command::AcquireClaim(Box::new(NewClaim {
            resource: ResourceId::parse(self.random.pick::<&str>(&resources)).unwrap(),
            claim_type: *self.random.pick(&types),
            lease_seconds: 30 + self.random.below(120) as u32,
            reason: self.text(),
            workstream_id: self.random.one_in(4).then(|| self.workstream_id()),
            request_id: self.random.one_in(4).then(|| self.request_id()),
        }))
    }

    fn new_request(&mut self) -> NewRequest {
        let to = (0..self.random.below(3)).map(|_| self.participant_id());
        NewRequest {
            title: "Look into the timeouts".into(),
            to: to.collect(),
            body: self.text(),
            max_assignees: 1 + self.random.below(3) as u32,
            expires_in_seconds: self.random.one_in(2).then_some(60),
            priority: Priority::High,
            labels: vec!["ops".into()],
            acceptance: vec!["No timeouts for a day".into()],
            workstream_id: self.random.one_in(4).then(|| self.workstream_id()),
        }
    }

    /// All of an artifact, or a chunk that may have nothing to go after.
    fn handover(&mut self, artifact: Artifact) -> Handover {
        let chunk = Chunk {
            append: self.random.one_in(4),
            last: !self.random.one_in(3),
        };
        Handover { artifact, chunk }
    }

    fn update(&mut self) -> Command {
        let request_id = self.request_id();
        let note = self.text();
        let artifacts = self.artifacts();
        let stages = [
            None,
            Some(None),
            Some(Some(Stage::Review)),
            Some(Some(Stage::Landing)),
        ];
        let action = match self.random.below(15) {
            0..=4 => Action::Claim { note: None },
            5..=6 => Action::Unclaim { note },
            7..=9 => Action::Progress {
                note,
                stage: *self.random.pick(&stages),
                artifacts: artifacts
                    .into_iter()
                    .map(|artifact| self.handover(artifact))
                    .collect(),
            },
            10 => Action::Complete {
                note,
                artifacts: Vec::new(),
                as_message: true,
            },
            11 => Action::Complete {
                note,
                artifacts,
                as_message: false,
            },
            12 => Action::Cancel { note },
            13 => Action::Hold {
                gate: self.random.pick::<&str>(&["tool-approval", "scope"]).to_string(),
                reason: "proposedBy: it needs the production keys".into(),
                note,
            },
            _ => Action::Reassign {
                assignee: self.participant_id(),
                note,
            },
        };
        Command::UpdateRequest { request_id, action }
    }

    fn artifacts(&mut self) -> Vec<Artifact> {
        let all = [
            json!({"artifactId": "answer", "parts": [{"text": "West."}], "metadata": {WORK_URI: {"kind": "answer", "messageId": "m", "choice": "west"}}}),
            json!({"artifactId": "pr", "parts": [{"text": "pr"}], "metadata": {WORK_URI: {"kind": "pr", "url": "https://example.com/7", "number": 7}}}),
            json!({"artifactId": "diffstat", "parts": [{"text": "d"}], "metadata": {WORK_URI: {"kind": "diffstat", "files": 1, "insertions": 2,
                "deletions": 3, "perFile": [{"path": "a", "insertions": 2, "deletions": 3}]}}}),
            json!({"artifactId": "evidence", "parts": [{"text": "e"}], "metadata": {WORK_URI: {"kind": "evidence", "items": [
                {"command": "t", "exitCode": 0, "durationMs": 5, "summary": "ok"}]}}}),
            json!({"artifactId": "log", "name": "log", "description": "all of it", "extensions": ["urn:x"],
                "parts": [{"data": null}, {"raw": "AQ=="}, {"data": {"n": 1e20, "z": -0.0, "u": u64::MAX}, "filename": "f"}]}),
        ];
        let count = self.random.below(3);
        (0..count)
            .filter_map(|_| Decoder::new().artifact(self.random.pick(&all), "artifact"))
            .collect()
    }
}

fn bytes(random: &mut Random) -> [u8; 32] {
    let mut bytes = [0; 32];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.next().to_be_bytes());
    }
    bytes
}

fn add(role: Role) -> Command {
    Command::AddParticipant {
        display_name: role.as_str().into(),
        kind: Being::Agent,
        role,
    }
}
