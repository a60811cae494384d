//! A session with 10,000 records, and a digest of it: a request in, an answer out, with the session in memory and the
//! log as bytes, as a store gives it.

use a2a_edge::coordination::resource::ResourceId;
use a2a_edge::desk::{Config, Desk};
use a2a_edge::dispatch::work::Priority;
use a2a_edge::exchange::{Plan, Poll, plan};
use a2a_edge::session::claim::ClaimType;
use a2a_edge::session::decide::{
    NewClaim, NewDecision, NewProposal, NewQuestion, NewRequest, NewWorkstream, Verdict,
};
use a2a_edge::session::participant::Kind;
use a2a_edge::session::{
    Answer, Caller, Command, Commit, Context, NewSession, Role, Session, SessionLimits, Token,
};
use a2a_edge::time::Timestamp;
use http::Request;

/// How many records the session has, beside its participants.
pub const RECORDS: usize = 10_000;

pub(crate) const START: Timestamp = Timestamp::from_millis(1_784_250_000_000);

/// How a digest can fail here.
pub type Failure = Box<dyn std::error::Error>;

/// A session, its log, and a member of it.
pub struct Subject {
    desk: Desk,
    pub(crate) session: Session,
    log: Vec<Vec<u8>>,
    token: Token,
    drawn: u64,
}

impl Subject {
    /// A session in which 50 members have made the records: claims, requests, questions, decisions, workstreams, and
    /// proposals that became knowledge, by turns. Every second claim is shared and overlaps another's.
    ///
    /// # Errors
    /// The session refuses one of them.
    pub fn new() -> Result<Self, Failure> {
        let (mut subject, owner, members) = Self::with_members(50)?;
        for (number, member) in (0..RECORDS).zip(members.iter().cycle()) {
            subject.make(number, member, &owner)?;
        }
        Ok(subject)
    }

    /// A session of its owner and so many members, with nothing in it.
    pub(crate) fn with_members(count: usize) -> Result<(Self, Caller, Vec<Caller>), Failure> {
        let desk = Desk::new(Config::default())?;
        let new = NewSession {
            owner_name: "owner".to_owned(),
            owner_kind: Kind::Human,
        };
        let begun = new.begin(START, [1; 32]);
        let mut subject = Self {
            desk,
            session: Session::default(),
            log: Vec::new(),
            token: begun.token,
            drawn: 0,
        };
        subject.keep(&begun.commit);
        let owner = subject.caller()?;
        let mut members = Vec::new();
        for number in 0..count {
            let add = Command::AddParticipant {
                display_name: format!("member {number}"),
                kind: Kind::Agent,
                role: Role::Member,
            };
            let answer = subject.decide(&owner, &add)?.into_object();
            let token = answer.get("token").and_then(|token| token.as_str());
            subject.token = token.and_then(Token::parse).ok_or("no token")?;
            members.push(subject.caller()?);
        }
        Ok((subject, owner, members))
    }

    fn caller(&self) -> Result<Caller, Failure> {
        self.session
            .authenticate(&self.token)
            .ok_or_else(|| "nobody".into())
    }

    fn keep(&mut self, commit: &Commit) {
        self.session.apply(commit);
        self.log.push(commit.to_bytes());
    }

    pub(crate) fn decide(&mut self, caller: &Caller, command: &Command) -> Result<Answer, Failure> {
        self.drawn = self.drawn.saturating_add(1);
        let mut entropy = [0; 32];
        entropy
            .iter_mut()
            .zip(self.drawn.to_be_bytes())
            .for_each(|(to, from)| *to = from);
        let context = Context {
            now: START,
            entropy,
            caller: caller.clone(),
            limits: SessionLimits {
                open_workstreams: RECORDS,
                knowledge_entries: RECORDS,
                ..SessionLimits::default()
            },
            idempotency: None,
        };
        let decided = self
            .session
            .decide(command, &context)
            .map_err(|refusal| refusal.message)?;
        if let Some(commit) = &decided.commit {
            self.keep(commit);
        }
        Ok(decided.answer)
    }

    /// Makes a record; which, its number says.
    fn make(&mut self, number: usize, member: &Caller, owner: &Caller) -> Result<(), Failure> {
        let title = format!("Record {number} of the session");
        let body = format!(
            "{title}. {}",
            "It says something about the work at hand. ".repeat(8)
        );
        let command = match number % 10 {
            0..=2 => Command::AcquireClaim(Box::new(claim(number)?)),
            3..=5 => Command::CreateRequest(Box::new(NewRequest {
                title,
                body: Some(body),
                to: Vec::new(),
                max_assignees: 1,
                expires_in_seconds: None,
                priority: Priority::None,
                labels: vec!["bench".to_owned()],
                acceptance: Vec::new(),
                workstream_id: None,
            })),
            6 => Command::AskQuestion(Box::new(NewQuestion {
                body,
                to: Vec::new(),
                capability: None,
                choices: Vec::new(),
                request_id: None,
                workstream_id: None,
            })),
            7 => Command::RecordDecision(Box::new(NewDecision {
                title,
                decision: body,
                rationale: None,
                alternatives: Vec::new(),
                supersedes: None,
                workstream_id: None,
            })),
            8 => Command::CreateWorkstream(Box::new(NewWorkstream {
                title,
                intent: body,
                participants: Vec::new(),
            })),
            _ => return self.know(title, body, member, owner),
        };
        self.decide(member, &command).map(drop)
    }

    fn know(&mut self, title: String, body: String, member: &Caller, owner: &Caller) -> Result<(), Failure> {
        let new = NewProposal {
            knowledge_id: None,
            title,
            body,
            tags: Vec::new(),
            rationale: None,
            base_version: None,
        };
        let answer = self.decide(member, &Command::ProposeKnowledge(Box::new(new)))?;
        let answer = answer.into_object();
        let id = answer.pointer("/proposal/proposalId").and_then(|id| id.as_str());
        let accept = Command::RuleOnProposal {
            proposal_id: id.ok_or("no proposal")?.to_owned(),
            verdict: Verdict::Accept { confirm: false },
        };
        self.decide(owner, &accept).map(drop)
    }

    /// The last member's digest, with so many of each kind.
    ///
    /// # Errors
    /// There is none.
    pub fn digest(&self, most: usize) -> Result<Vec<u8>, Failure> {
        let request = Request::post("/extensions/session-coordination/v1/digest:get")
            .header("authorization", format!("Bearer {}", self.token))
            .header("a2a-extensions", a2a_edge::coordination::URI)
            .header("content-type", "application/json")
            .body(format!("{{\"maxItems\":{most}}}").into_bytes())?;
        let Plan::Call(mut exchange) = plan(&self.desk, request) else {
            return Err("no session is needed".into());
        };
        let session = Some(&self.session);
        let refused = |failed: a2a_edge::agent::Failed| failed.refusal.message;
        exchange
            .decide(&self.desk, session, START, [2; 32])
            .map_err(refused)?;
        loop {
            match exchange.poll(&self.desk, session, START).map_err(refused)? {
                Poll::Ready(answer) if answer.status() == 200 => return Ok(answer.into_body()),
                Poll::Log(span) => {
                    let behind = usize::try_from(span.after)?;
                    let records = self.log.iter().skip(behind).take(span.most);
                    let commits: Result<Vec<Commit>, String> =
                        records.map(|bytes| Commit::read(bytes)).collect();
                    exchange.supply(commits?);
                }
                other => return Err(format!("{other:?}").into()),
            }
        }
    }
}

fn claim(number: usize) -> Result<NewClaim, Failure> {
    // Of a shared claim on a directory and one on what is in it, different members hold each.
    let (resource, claim_type) = match number % 10 {
        0 => (format!("src/{}/**", number / 10), ClaimType::Shared),
        1 => (format!("src/{}/lib.rs", number / 10), ClaimType::Shared),
        _ => (format!("docs/{number}.md"), ClaimType::Exclusive),
    };
    Ok(NewClaim {
        resource: ResourceId::parse(&resource).map_err(|fault| fault.to_string())?,
        claim_type,
        lease_seconds: 86_400,
        reason: None,
        workstream_id: None,
        request_id: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_of_the_digests_has_its_records_and_is_cut_to_what_is_asked_for() {
        let subject = Subject::new().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&subject.digest(50).unwrap()).unwrap();
        let digest = &answer["digest"];
        let sections = [
            "claims",
            "conflicts",
            "openRequests",
            "openQuestions",
            "decisions",
            "knowledge",
            "workstreams",
        ];
        assert_eq!(digest["more"], serde_json::json!(sections));
        for section in sections.into_iter().chain(["events"]) {
            assert_eq!(digest[section].as_array().unwrap().len(), 50, "{section}");
        }
    }
}
