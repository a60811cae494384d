//! Nondeterministic automata over the characters of a path, and whether two of them take one path.
//!
//! A path is read as its segments, each ended by a `/`: `src/app` is `src/app/`. Segments are never empty,
//! `.` or `..`; that rule is an automaton of five places, the third factor of the product.

use std::collections::{BTreeMap, VecDeque};

use super::STATES;
use super::charset::Charset;
use super::fault::ResourceFault;

/// The number of a state, less than [`STATES`].
pub type State = u16;

/// The number of a set of characters among those of one automaton.
type SetId = u16;

/// A step from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    /// What it takes; without it, nothing.
    set: Option<SetId>,
    to: State,
}

/// A finished automaton. State 0 is where it starts; from every state something is taken in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    /// The edges, those of one state next to each other, in the order of the states.
    edges: Vec<Edge>,
    /// Where the edges of each state end.
    ends: Vec<usize>,
    accepting: Vec<State>,
    sets: Vec<Charset>,
}

/// An automaton in the making.
#[derive(Debug)]
pub struct Builder {
    states: State,
    edges: Vec<(State, Edge)>,
    accepting: Vec<State>,
    sets: BTreeMap<Charset, SetId>,
}

impl Builder {
    /// An automaton of state 0 alone.
    pub const fn new() -> Self {
        Self {
            states: 1,
            edges: Vec::new(),
            accepting: Vec::new(),
            sets: BTreeMap::new(),
        }
    }

    /// A new state.
    ///
    /// # Errors
    /// [`ResourceFault::States`] when there are as many as can be numbered.
    pub fn state(&mut self) -> Result<State, ResourceFault> {
        let state = self.states;
        self.states = state.checked_add(1).ok_or(ResourceFault::States)?;
        Ok(state)
    }

    /// A step that takes one character of `set`.
    pub fn take(&mut self, from: State, set: Charset, to: State) {
        // There are never more sets than edges, and fewer than 512 characters make them.
        let fresh = SetId::try_from(self.sets.len()).unwrap_or(SetId::MAX);
        let set = Some(*self.sets.entry(set).or_insert(fresh));
        self.edges.push((from, Edge { set, to }));
    }

    /// A step that takes nothing.
    pub fn skip(&mut self, from: State, to: State) {
        self.edges.push((from, Edge { set: None, to }));
    }

    /// What is read up to here is taken.
    pub fn accept(&mut self, state: State) {
        self.accepting.push(state);
    }

    /// The automaton, without the states that do nothing but lead to another.
    ///
    /// # Errors
    /// [`ResourceFault::States`] when more than [`STATES`] are left.
    pub fn finish(mut self) -> Result<Automaton, ResourceFault> {
        self.edges.sort_unstable();
        self.edges.dedup();
        let leads = self.leads();
        let lead = |state: State| leads.get(usize::from(state)).copied().unwrap_or(state);
        let start = lead(0);
        let others = (0..self.states).filter(|state| *state != start && lead(*state) == *state);
        let numbers: BTreeMap<State, State> = std::iter::once(start).chain(others).zip(0..).collect();
        if numbers.len() > STATES {
            return Err(ResourceFault::States);
        }
        let number = |state: State| numbers.get(&lead(state)).copied().unwrap_or(0);
        let kept = self.edges.iter().filter(|(from, _)| lead(*from) == *from);
        let renumber = |(from, edge): &(State, Edge)| {
            let to = number(edge.to);
            (number(*from), Edge { set: edge.set, to })
        };
        let mut edges: Vec<(State, Edge)> = kept.map(renumber).collect();
        edges.sort_unstable();
        edges.dedup();
        let end = |state: State| edges.partition_point(|(from, _)| *from <= state);
        let mut sets: Vec<(Charset, SetId)> = self.sets.into_iter().collect();
        sets.sort_by_key(|(_, id)| *id);
        Ok(Automaton {
            ends: (0..).take(numbers.len()).map(end).collect(),
            edges: edges.iter().map(|(_, edge)| *edge).collect(),
            accepting: self.accepting.into_iter().map(number).collect(),
            sets: sets.into_iter().map(|(set, _)| set).collect(),
        })
    }

    /// For each state, itself, or the one that all it does is to lead to. Expects sorted edges.
    ///
    /// Steps that take nothing make no circles, for they lead on or out of braces; none leaves an accepting
    /// state.
    fn leads(&self) -> Vec<State> {
        let mut leads: Vec<State> = (0..self.states).collect();
        for edges in self.edges.chunk_by(|a, b| a.0 == b.0) {
            if let [(from, Edge { set: None, to })] = edges
                && let Some(lead) = leads.get_mut(usize::from(*from))
            {
                *lead = *to;
            }
        }
        let lead = |state: State| leads.get(usize::from(state)).copied().unwrap_or(state);
        let follow = |state: State| {
            let steps = std::iter::successors(Some(state), |at| Some(lead(*at)).filter(|next| next != at));
            steps.take(leads.len()).last().unwrap_or(state)
        };
        (0..self.states).map(follow).collect()
    }
}

impl Automaton {
    fn edges(&self, state: State) -> &[Edge] {
        let end = |state: usize| self.ends.get(state).copied().unwrap_or(0);
        let start = usize::from(state).checked_sub(1).map_or(0, end);
        self.edges.get(start..end(state.into())).unwrap_or_default()
    }

    fn set(&self, edge: Edge) -> Option<&Charset> {
        self.sets.get(usize::from(edge.set?))
    }

    /// How many states it has.
    pub const fn states(&self) -> usize {
        self.ends.len()
    }

    /// The states in which `text` may leave it; none when nothing that starts with `text` is taken.
    pub fn after(&self, text: &str) -> Vec<State> {
        let mut current = vec![0];
        let mut reached = Marks::new(self.states());
        reached.mark(0);
        for c in text.chars() {
            self.skip_on(&mut current, &mut reached);
            reached.clear();
            let mut next = Vec::new();
            for edge in current.iter().flat_map(|state| self.edges(*state)) {
                if self.set(*edge).is_some_and(|set| set.contains(c)) && reached.mark(edge.to.into()) {
                    next.push(edge.to);
                }
            }
            current = next;
            if current.is_empty() {
                break;
            }
        }
        current
    }

    /// Adds what is reached by steps that take nothing.
    fn skip_on(&self, states: &mut Vec<State>, reached: &mut Marks) {
        let mut done = 0_usize;
        while let Some(state) = states.get(done).copied() {
            done = done.saturating_add(1);
            for edge in self.edges(state) {
                if edge.set.is_none() && reached.mark(edge.to.into()) {
                    states.push(edge.to);
                }
            }
        }
    }
}

/// How far into a segment a path is: what keeps its segments from being empty, `.` or `..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Before the first segment.
    Nothing,
    /// After a segment.
    Start,
    /// After a segment's `.`.
    Dot,
    /// After a segment's `..`.
    Dots,
    /// After a name.
    Name,
}

impl Place {
    const COUNT: usize = 5;

    const fn after(self, c: char) -> Option<Self> {
        match (self, c) {
            (Self::Name, '/') => Some(Self::Start),
            (_, '/') => None,
            (Self::Nothing | Self::Start, '.') => Some(Self::Dot),
            (Self::Dot, '.') => Some(Self::Dots),
            _ => Some(Self::Name),
        }
    }
}

/// A state of the product.
type Node = (State, State, Place);

/// Two automata side by side: one has read something already, the other starts.
pub struct Product<'a> {
    pub left: &'a Automaton,
    /// Where the left one is.
    pub from: &'a [State],
    pub right: &'a Automaton,
    /// Where in a path both are.
    pub place: Place,
}

impl Product<'_> {
    /// Whether one path is taken by both.
    pub fn meets(&self) -> bool {
        self.search(|_, _, _| {}).is_some()
    }

    /// A path that both take, or rather what of it is yet to be read; the shortest, but for the characters.
    pub fn witness(&self) -> Option<String> {
        let mut trail = BTreeMap::new();
        let mut node = self.search(|from, c, to| {
            trail.insert(to, (from, c));
        })?;
        let mut reversed = Vec::new();
        while let Some((from, c)) = trail.get(&node) {
            reversed.extend(*c);
            node = *from;
        }
        Some(reversed.into_iter().rev().collect())
    }

    /// Looks at every state that both can be in, each once, steps that take nothing first, until both accept.
    ///
    /// There are at most `left.states() * right.states() * 5` of them. At each, every pair of edges is
    /// looked at.
    fn search(&self, mut reach: impl FnMut(Node, Option<char>, Node)) -> Option<Node> {
        let (left, right) = (self.left, self.right);
        let rows = left.states().saturating_mul(right.states());
        let mut seen = Marks::new(rows.saturating_mul(Place::COUNT));
        let number = |(a, b, place): Node| {
            let row = usize::from(a)
                .saturating_mul(right.states())
                .saturating_add(b.into());
            row.saturating_mul(Place::COUNT).saturating_add(place as usize)
        };
        let mut queue: VecDeque<Node> = self.from.iter().map(|state| (*state, 0, self.place)).collect();
        for node in &queue {
            seen.mark(number(*node));
        }
        while let Some(node) = queue.pop_front() {
            let (a, b, place) = node;
            if place == Place::Start && left.accepting.contains(&a) && right.accepting.contains(&b) {
                return Some(node);
            }
            let mut go = |c: Option<char>, to: Node| {
                if seen.mark(number(to)) {
                    reach(node, c, to);
                    match c {
                        None => queue.push_front(to),
                        Some(_) => queue.push_back(to),
                    }
                }
            };
            for edge in right.edges(b).iter().filter(|edge| edge.set.is_none()) {
                go(None, (a, edge.to, place));
            }
            for on_left in left.edges(a) {
                let Some(set) = left.set(*on_left) else {
                    go(None, (on_left.to, b, place));
                    continue;
                };
                for on_right in right.edges(b) {
                    let Some(other) = right.set(*on_right) else {
                        continue;
                    };
                    let common = set.common(other);
                    // Within a name, a dot is a character like any other.
                    let dot = common.dot && (place != Place::Name || common.other.is_none());
                    for c in common.other.into_iter().chain(dot.then_some('.')) {
                        if let Some(place) = place.after(c) {
                            go(Some(c), (on_left.to, on_right.to, place));
                        }
                    }
                }
            }
        }
        None
    }
}

/// Which of so many things were met.
struct Marks(Vec<u64>);

impl Marks {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    /// Marks one; whether it was not yet.
    fn mark(&mut self, index: usize) -> bool {
        let bit = 1_u64 << (index & 63);
        self.0.get_mut(index >> 6).is_some_and(|word| {
            let fresh = *word & bit == 0;
            *word |= bit;
            fresh
        })
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }
}
