//! The inbox: what each participant is told of, made from the events and from nothing else (session coordination, §9).
//!
//! An item is kept once, whoever it is for; what a participant makes of it is a mark on it. That bounds what inboxes
//! take: the session keeps its last [`ADDRESSED`] items to participants by name and its last [`BROADCASTS`] to all of
//! them, so that at worst there is a mark, of some eight bytes in a snapshot, for each of the latter and each
//! participant. That a claim lapsed is read from the claims, so that it is told the moment it happens, and nothing but
//! a mark is ever kept of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Session;
use super::claim::Claim;
use super::credential::Role;
use super::event::{Commit, Event};
use super::knowledge::ProposalState;
use super::question::{QuestionAnswer, QuestionState};
use super::request::{Request, RequestChange};
use crate::text;
use crate::time::Timestamp;

/// The most items to participants by name that a session keeps; beyond, the oldest go.
pub const ADDRESSED: usize = 10_000;

/// The most items to everyone, or to whoever can do something, that a session keeps; beyond, the oldest go.
pub const BROADCASTS: usize = 1_000;

/// For how many days a participant is told that a claim of its lapsed.
pub const LAPSED_DAYS: i64 = 30;

/// The most lapsed claims that a participant is told of: the latest.
pub const LAPSED: usize = 1_000;

/// The longest preview, in characters.
pub const PREVIEW_CHARS: usize = 120;

const LAPSED_MS: i64 = LAPSED_DAYS * 86_400_000;

/// What an item tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A question is put to the reader.
    Question,
    /// A question of the reader's is answered.
    Answer,
    /// There is work that the reader may take.
    Request,
    /// A request was given to the reader, or taken from it.
    Reassignment,
    /// Something was decided.
    Decision,
    /// A proposal waits for the reader's review.
    Proposal,
    /// A proposal of the reader's was reviewed.
    Review,
    /// A claim of the reader's lapsed.
    ClaimLapsed,
}

impl Kind {
    /// The names on the wire.
    pub const NAMES: &'static [&'static str] = &[
        "question",
        "answer",
        "request",
        "reassignment",
        "decision",
        "proposal",
        "review",
        "claim-lapsed",
    ];
}

/// What the reader makes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ItemState {
    /// It waits.
    Pending,
    /// The reader has seen it.
    Acknowledged,
    /// Nothing is left to be done.
    Resolved,
}

/// An item as its reader sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item<'a> {
    /// Made by the server.
    pub item_id: String,
    /// What it tells of.
    pub kind: Kind,
    /// The question, request, decision, proposal or claim, by its id.
    pub subject_id: &'a str,
    /// Whose doing it was; nobody's when a claim lapsed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<&'a str>,
    /// Since when.
    pub at: Timestamp,
    /// What the reader makes of it.
    pub state: ItemState,
    /// The first line of it that is not blank, of at most [`PREVIEW_CHARS`] characters.
    pub preview: Cow<'a, str>,
    /// Where it stands among the reader's items: these sort by time.
    #[serde(skip)]
    pub place: String,
}

/// Whom an item is for; participants by where they stand in the order of their admission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Audience {
    /// These.
    Named(BTreeSet<usize>),
    /// Who last announced that it can do this.
    Capability(String),
    /// All who took part when it was made.
    Everyone,
}

/// What one reader made of an item. There may be many, so that a snapshot holds each as a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
struct Mark {
    state: ItemState,
    /// Whether the matter was settled by then.
    settled: bool,
}

const SETTLED: u8 = 4;

impl From<Mark> for u8 {
    fn from(mark: Mark) -> Self {
        let state = match mark.state {
            ItemState::Pending => 0,
            ItemState::Acknowledged => 1,
            ItemState::Resolved => 2,
        };
        state | if mark.settled { SETTLED } else { 0 }
    }
}

impl From<u8> for Mark {
    fn from(digit: u8) -> Self {
        Self {
            state: match digit & !SETTLED {
                0 => ItemState::Pending,
                1 => ItemState::Acknowledged,
                _ => ItemState::Resolved,
            },
            settled: digit & SETTLED != 0,
        }
    }
}

/// An item as the session keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    kind: Kind,
    subject_id: String,
    from: String,
    at: Timestamp,
    preview: String,
    to: Audience,
    /// By reader; who made nothing of it yet has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    marks: BTreeMap<usize, Mark>,
}

/// The items of a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inbox {
    /// The number of the next item.
    next: u64,
    addressed: BTreeMap<u64, Kept>,
    broadcasts: BTreeMap<u64, Kept>,
    /// By participant: the number of the first item after its admission.
    joined: Vec<u64>,
    /// What the holder of a claim makes of its lapse, by claim.
    lapsed: BTreeMap<String, ItemState>,
    /// By participant: the numbers of those that are addressed to it. In no snapshot.
    #[serde(skip)]
    boxes: BTreeMap<usize, BTreeSet<u64>>,
}

impl Inbox {
    /// Derives what no snapshot holds.
    pub(super) fn derive(&mut self) {
        self.boxes.clear();
        for (number, item) in &self.addressed {
            sort_in(&mut self.boxes, *number, item);
        }
    }

    fn put(&mut self, item: Kept) {
        let number = self.next;
        self.next = number.saturating_add(1);
        if !matches!(item.to, Audience::Named(_)) {
            self.broadcasts.insert(number, item);
            if self.broadcasts.len() > BROADCASTS {
                self.broadcasts.pop_first();
            }
            return;
        }
        sort_in(&mut self.boxes, number, &item);
        self.addressed.insert(number, item);
        if self.addressed.len() > ADDRESSED
            && let Some((oldest, item)) = self.addressed.pop_first()
            && let Audience::Named(readers) = item.to
        {
            for reader in readers {
                if let Some(numbers) = self.boxes.get_mut(&reader) {
                    numbers.remove(&oldest);
                    if numbers.is_empty() {
                        self.boxes.remove(&reader);
                    }
                }
            }
        }
    }

    fn get(&self, number: u64) -> Option<&Kept> {
        let broadcast = self.broadcasts.get(&number);
        broadcast.or_else(|| self.addressed.get(&number))
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut Kept> {
        let broadcast = self.broadcasts.get_mut(&number);
        broadcast.or_else(|| self.addressed.get_mut(&number))
    }
}

fn sort_in(boxes: &mut BTreeMap<usize, BTreeSet<u64>>, number: u64, item: &Kept) {
    if let Audience::Named(readers) = &item.to {
        for reader in readers {
            boxes.entry(*reader).or_default().insert(number);
        }
    }
}

/// The first line of a text that is not blank, cut to [`PREVIEW_CHARS`] characters.
fn first_line(body: &str) -> String {
    let mut lines = body.split(text::is_line_break);
    let line = lines.find(|line| !text::is_blank(line)).unwrap_or_default();
    line.chars().take(PREVIEW_CHARS).collect()
}

/// The id of an item: `item-` and its number, or `lapsed-` and what the id of a claim has after its kind.
enum ItemId<'a> {
    Kept(u64),
    Lapsed(&'a str),
}

impl<'a> ItemId<'a> {
    /// Reads an id; there is one way to write each.
    fn parse(id: &'a str) -> Option<Self> {
        if let Some(claim) = id.strip_prefix("lapsed-") {
            return Some(Self::Lapsed(claim));
        }
        let number = id.strip_prefix("item-")?.parse().ok()?;
        (kept_id(number) == id).then_some(Self::Kept(number))
    }
}

fn kept_id(number: u64) -> String {
    format!("item-{number}")
}

fn claim_id(rest: &str) -> String {
    format!("claim-{rest}")
}

fn lapsed_id(claim_id: &str) -> String {
    format!("lapsed-{}", claim_id.strip_prefix("claim-").unwrap_or(claim_id))
}

/// Where an item stands: by time, then by its number.
fn place(at: Timestamp, number: u64) -> String {
    format!("{:020}.{number:020}", at.as_millis())
}

/// Somebody who reads its inbox.
#[derive(Clone, Copy)]
struct Reader<'a> {
    id: &'a str,
    /// Where it stands in the order of admission.
    order: usize,
    now: Timestamp,
}

impl Session {
    /// Makes the item of an event that is about to be applied.
    pub(super) fn deliver(&mut self, event: &Event, commit: &Commit) {
        if matches!(event, Event::ParticipantAdded { .. }) {
            self.inbox.joined.push(self.inbox.next);
        }
        if let Some(item) = self.news(event, commit.by.as_deref().unwrap_or_default()) {
            self.inbox.put(item);
        }
    }

    /// Who is told of what: the item of an event by `by`, if it is news to anybody.
    fn news(&self, event: &Event, by: &str) -> Option<Kept> {
        let named = |ids: &mut dyn Iterator<Item = &String>| self.named(ids, by);
        let (kind, subject_id, body, to) = match event {
            Event::QuestionAsked { question } => {
                let to = match &question.capability {
                    Some(capability) => Audience::Capability(capability.clone()),
                    None if question.to.is_empty() => Audience::Everyone,
                    None => named(&mut question.to.iter())?,
                };
                (Kind::Question, &question.question_id, question.body.as_str(), to)
            }
            Event::AnswerGiven { question_id, answer } => {
                let asker = &self.question(question_id)?.from;
                let to = named(&mut std::iter::once(asker))?;
                (Kind::Answer, question_id, said(answer), to)
            }
            Event::RequestCreated { request } => {
                let to = match request.to.as_slice() {
                    [] => Audience::Everyone,
                    to => named(&mut to.iter())?,
                };
                (Kind::Request, &request.request_id, request.title.as_str(), to)
            }
            Event::RequestChanged {
                request_id,
                change: RequestChange::Reassigned { participant_id, .. },
            } => {
                let request = self.request(request_id)?;
                let before = request.assignees.iter().map(|one| &one.participant_id);
                let to = named(&mut before.chain([participant_id]))?;
                (Kind::Reassignment, request_id, request.title.as_str(), to)
            }
            Event::DecisionRecorded { decision } => {
                let title = decision.title.as_str();
                (Kind::Decision, &decision.decision_id, title, Audience::Everyone)
            }
            Event::KnowledgeProposed { proposal, .. } => {
                let deciders = self.participants().filter(|one| one.role.decides());
                let to = named(&mut deciders.map(|one| &one.participant_id))?;
                (Kind::Proposal, &proposal.proposal_id, proposal.title.as_str(), to)
            }
            Event::ProposalDecided { proposal_id, .. } => {
                let proposal = self.knowledge.proposal(proposal_id)?;
                let to = named(&mut std::iter::once(&proposal.proposed_by))?;
                (Kind::Review, proposal_id, proposal.title.as_str(), to)
            }
            _ => return None,
        };
        Some(Kept {
            kind,
            subject_id: subject_id.clone(),
            from: by.to_owned(),
            at: self.latest,
            preview: first_line(body),
            to,
            marks: BTreeMap::new(),
        })
    }

    /// Those of some participants who have an inbox and did not do it themselves; none if there are none.
    fn named(&self, ids: &mut dyn Iterator<Item = &String>, by: &str) -> Option<Audience> {
        let others = ids.filter(|id| *id != by);
        let readers: BTreeSet<usize> = others.filter_map(|id| self.reads_at(id)).collect();
        (!readers.is_empty()).then_some(Audience::Named(readers))
    }

    /// Where somebody who has an inbox stands in the order of admission. Clients have none, nor has who is out.
    fn reads_at(&self, participant_id: &str) -> Option<usize> {
        let participant = self.participant(participant_id)?;
        let reads = participant.role != Role::Client && participant.revoked_at.is_none();
        let mut order = self.participant_order.iter();
        reads.then(|| order.position(|id| id == participant_id)).flatten()
    }

    fn reader<'r>(&self, participant_id: &'r str, now: Timestamp) -> Option<Reader<'r>> {
        Some(Reader {
            id: participant_id,
            order: self.reads_at(participant_id)?,
            now: self.time(now),
        })
    }

    /// A participant's items as of `now`, oldest first.
    #[must_use]
    pub fn inbox_of(&self, participant_id: &str, now: Timestamp) -> Vec<Item<'_>> {
        let Some(reader) = self.reader(participant_id, now) else {
            return Vec::new();
        };
        let mut items: Vec<Item<'_>> = self
            .kept_for(reader)
            .map(|(number, item)| self.shown(number, item, reader))
            .collect();
        items.extend(self.lapses_for(reader).map(|claim| self.lapse(claim)));
        items.sort_by(|a, b| a.place.cmp(&b.place));
        items
    }

    /// How many of a participant's items are pending as of `now`.
    #[must_use]
    pub fn inbox_pending(&self, participant_id: &str, now: Timestamp) -> usize {
        let Some(reader) = self.reader(participant_id, now) else {
            return 0;
        };
        let kept = self
            .kept_for(reader)
            .map(|(_, item)| self.state_for(item, reader));
        let lapses = self.lapses_for(reader).map(|claim| self.state_of_lapse(claim));
        kept.chain(lapses)
            .filter(|state| *state == ItemState::Pending)
            .count()
    }

    /// The items that are kept for a reader.
    fn kept_for<'s, 'r>(&'s self, reader: Reader<'r>) -> impl Iterator<Item = (u64, &'s Kept)> + use<'s, 'r> {
        let numbers = self.inbox.boxes.get(&reader.order).into_iter().flatten();
        let addressed = numbers.filter_map(|number| self.inbox.addressed.get(number).map(|it| (*number, it)));
        let broadcasts = self.inbox.broadcasts.iter().map(|(number, item)| (*number, item));
        addressed.chain(broadcasts.filter(move |(number, item)| self.reaches(*number, item, reader)))
    }

    /// One of a participant's items as of `now`; none for another's and for one that does not exist.
    #[must_use]
    pub fn inbox_item(&self, participant_id: &str, item_id: &str, now: Timestamp) -> Option<Item<'_>> {
        let reader = self.reader(participant_id, now)?;
        match ItemId::parse(item_id)? {
            ItemId::Kept(number) => {
                let item = self.inbox.get(number)?;
                self.reaches(number, item, reader)
                    .then(|| self.shown(number, item, reader))
            }
            ItemId::Lapsed(rest) => {
                let claim = self.claims.get(&claim_id(rest))?;
                let lapsed = claim.released_at.is_none()
                    && (told_since(reader.now)..=reader.now).contains(&claim.expires_at);
                (lapsed && claim.participant_id == reader.id).then(|| self.lapse(claim))
            }
        }
    }

    /// Whether an item is for a reader.
    fn reaches(&self, number: u64, item: &Kept, reader: Reader<'_>) -> bool {
        let told = || item.from != reader.id;
        match &item.to {
            Audience::Named(readers) => readers.contains(&reader.order),
            Audience::Capability(capability) => told() && self.announces(reader.id, capability),
            Audience::Everyone => {
                let joined = self.inbox.joined.get(reader.order);
                told() && joined.is_some_and(|joined| *joined <= number)
            }
        }
    }

    /// Whether nothing is left for a reader to do about an item.
    fn is_settled(&self, item: &Kept, reader: Reader<'_>) -> bool {
        let request = || self.request(&item.subject_id);
        let closed = |request: &Request| request.state_at(reader.now).is_closed();
        match item.kind {
            Kind::Question => self
                .question(&item.subject_id)
                .is_some_and(|question| question.state == QuestionState::Answered),
            Kind::Request => request().is_some_and(|request| {
                closed(request) || request.is_full() || request.is_assigned_to(reader.id)
            }),
            Kind::Reassignment => request().is_some_and(closed),
            Kind::Proposal => self
                .knowledge
                .proposal(&item.subject_id)
                .is_some_and(|proposal| proposal.state != ProposalState::Pending),
            _ => false,
        }
    }

    fn state_for(&self, item: &Kept, reader: Reader<'_>) -> ItemState {
        match (item.marks.get(&reader.order), self.is_settled(item, reader)) {
            (Some(mark), settled) if mark.settled || !settled => mark.state,
            (_, true) => ItemState::Resolved,
            (_, false) => ItemState::Pending,
        }
    }

    fn shown<'s>(&'s self, number: u64, item: &'s Kept, reader: Reader<'_>) -> Item<'s> {
        Item {
            item_id: kept_id(number),
            kind: item.kind,
            subject_id: &item.subject_id,
            from: Some(&item.from),
            at: item.at,
            state: self.state_for(item, reader),
            preview: Cow::Borrowed(&item.preview),
            place: place(item.at, number),
        }
    }

    /// The claims of a reader that it is told have lapsed.
    fn lapses_for(&self, reader: Reader<'_>) -> impl Iterator<Item = &Claim> {
        let lapses = self
            .claims
            .lapses_of(reader.id, told_since(reader.now), reader.now);
        lapses.take(LAPSED)
    }

    fn state_of_lapse(&self, claim: &Claim) -> ItemState {
        let mark = self.inbox.lapsed.get(&claim.claim_id);
        mark.copied().unwrap_or(ItemState::Pending)
    }

    fn lapse<'s>(&'s self, claim: &'s Claim) -> Item<'s> {
        Item {
            item_id: lapsed_id(&claim.claim_id),
            kind: Kind::ClaimLapsed,
            subject_id: &claim.claim_id,
            from: None,
            at: claim.expires_at,
            state: self.state_of_lapse(claim),
            preview: Cow::Owned(first_line(&claim.resource_id)),
            place: place(claim.expires_at, claim.fence),
        }
    }

    /// What a participant makes of some of its items from now on.
    pub(super) fn mark(&mut self, participant_id: &str, item_ids: &[String], state: ItemState) {
        let Some(reader) = self.reader(participant_id, self.latest) else {
            return;
        };
        for item_id in item_ids {
            match ItemId::parse(item_id) {
                Some(ItemId::Kept(number)) => {
                    let item = self.inbox.get(number);
                    let settled = item.is_some_and(|item| self.is_settled(item, reader));
                    if let Some(item) = self.inbox.get_mut(number) {
                        item.marks.insert(reader.order, Mark { state, settled });
                    }
                }
                Some(ItemId::Lapsed(rest)) => {
                    self.inbox.lapsed.insert(claim_id(rest), state);
                }
                None => {}
            }
        }
        let told = told_since(self.latest);
        let claims = &self.claims;
        self.inbox
            .lapsed
            .retain(|id, _| claims.get(id).is_some_and(|claim| claim.expires_at >= told));
    }
}

/// Since when a lapse is told of at `now`.
const fn told_since(now: Timestamp) -> Timestamp {
    now.plus_millis(-LAPSED_MS)
}

/// What an answer says.
fn said(answer: &QuestionAnswer) -> &str {
    let said = answer.body.as_deref().or(answer.choice.as_deref());
    said.unwrap_or_default()
}
