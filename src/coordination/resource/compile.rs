//! From the tokens of a pattern to its automaton.
//!
//! Braces mean what their expansion means, without being expanded: where a pattern may be is a
//! [`Frontier`], one state for each way in which the current segment may have begun.

use super::automaton::{Automaton, Builder, State};
use super::charset::Charset;
use super::fault::ResourceFault;

/// How the current segment has begun, in one of the expansions at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begun {
    /// Nothing of the path is written yet.
    Path,
    /// Nothing of the segment is.
    Segment,
    /// It is `.`.
    Dot,
    /// It is `..`.
    Dots,
    /// A name without wildcards, and without a `.` but at its start.
    Fixed,
    /// A name without wildcards that looks like a file's: with a `.` after its start.
    File,
    /// A name with wildcards.
    Wild,
    /// It is `*`; the state is the one before.
    Star,
    /// It is `**`; the state is the one before.
    Tree,
}

impl Begun {
    const ALL: [Self; 9] = [
        Self::Path,
        Self::Segment,
        Self::Dot,
        Self::Dots,
        Self::Fixed,
        Self::File,
        Self::Wild,
        Self::Star,
        Self::Tree,
    ];

    const fn then(self, c: char) -> Self {
        match (self, c) {
            (Self::Path | Self::Segment, '.') => Self::Dot,
            (Self::Dot, '.') => Self::Dots,
            (Self::Fixed, '.') | (Self::Dots | Self::File, _) => Self::File,
            (Self::Path | Self::Segment | Self::Dot | Self::Fixed, _) => Self::Fixed,
            (Self::Wild | Self::Star | Self::Tree, _) => Self::Wild,
        }
    }
}

/// Where a pattern may be.
#[derive(Clone, Copy, Debug, Default)]
struct Frontier([Option<State>; Begun::ALL.len()]);

impl Frontier {
    fn at(begun: Begun, state: State) -> Self {
        let mut frontier = Self::default();
        *frontier.entry(begun) = Some(state);
        frontier
    }

    fn entry(&mut self, begun: Begun) -> &mut Option<State> {
        let [path, segment, dot, dots, fixed, file, wild, star, tree] = &mut self.0;
        match begun {
            Begun::Path => path,
            Begun::Segment => segment,
            Begun::Dot => dot,
            Begun::Dots => dots,
            Begun::Fixed => fixed,
            Begun::File => file,
            Begun::Wild => wild,
            Begun::Star => star,
            Begun::Tree => tree,
        }
    }

    fn states(self) -> impl Iterator<Item = (Begun, State)> {
        let all = Begun::ALL.into_iter().zip(self.0);
        all.filter_map(|(begun, state)| state.map(|state| (begun, state)))
    }
}

/// Whether a name has a `.` after its start.
fn is_file(name: &str) -> bool {
    name.char_indices().any(|(at, c)| at > 0 && c == '.')
}

/// Open braces.
#[derive(Debug)]
struct Group {
    entry: Frontier,
    exit: Frontier,
    alternatives: usize,
}

/// What a pattern comes to: the whole segments it starts with, as they are, and what may follow them.
pub struct Compiled {
    /// Literal segments, each ended by a `/`.
    pub prefix: String,
    /// What may follow.
    pub rest: Automaton,
    /// Whether all of it is literal: a path.
    pub literal: bool,
}

/// Takes tokens one by one.
pub struct Compiler {
    automaton: Builder,
    frontier: Frontier,
    groups: Vec<Group>,
    prefix: String,
    /// The current segment, while all is literal up to here.
    segment: Option<String>,
}

type Step = Result<(), ResourceFault>;

impl Compiler {
    pub fn new() -> Self {
        Self {
            automaton: Builder::new(),
            frontier: Frontier::at(Begun::Path, 0),
            groups: Vec::new(),
            prefix: String::new(),
            segment: Some(String::new()),
        }
    }

    /// A character that stands for itself; not the separator.
    pub fn character(&mut self, c: char) -> Step {
        if let Some(segment) = &mut self.segment {
            segment.push(c);
            return Ok(());
        }
        self.take(&Charset::One(c), |begun| begun.then(c))
    }

    /// One character of a set.
    pub fn one_of(&mut self, set: &Charset) -> Step {
        self.leave_the_literal()?;
        self.take(set, |_| Begun::Wild)
    }

    /// From here on there are states, the first of them for the segment that was begun.
    fn leave_the_literal(&mut self) -> Step {
        let Some(segment) = self.segment.take() else {
            return Ok(());
        };
        if !self.prefix.is_empty() {
            self.frontier = Frontier::at(Begun::Segment, 0);
        }
        segment.chars().try_for_each(|c| self.character(c))
    }

    /// The literal segment is whole and joins the prefix.
    fn end_segment(&mut self, segment: &str) -> Step {
        match segment {
            "" if self.prefix.is_empty() => Err(ResourceFault::Absolute),
            "" => Err(ResourceFault::Segment),
            "." | ".." => Err(ResourceFault::Dots),
            name => {
                self.prefix.push_str(name);
                self.prefix.push('/');
                Ok(())
            }
        }
    }

    fn take(&mut self, set: &Charset, then: impl Fn(Begun) -> Begun) -> Step {
        let mut next = Frontier::default();
        for (begun, state) in self.frontier.states() {
            let from = self.starred(begun, state)?;
            let to = self.open(&mut next, then(begun))?;
            self.automaton.take(from, set.clone(), to);
        }
        self.frontier = next;
        Ok(())
    }

    /// A `*`.
    pub fn star(&mut self) -> Step {
        self.leave_the_literal()?;
        let mut next = Frontier::default();
        for (begun, state) in self.frontier.states() {
            let (then, state) = match begun {
                Begun::Path | Begun::Segment => (Begun::Star, state),
                Begun::Star => (Begun::Tree, state),
                Begun::Tree => return Err(ResourceFault::Stars),
                Begun::Dot | Begun::Dots | Begun::Fixed | Begun::File | Begun::Wild => {
                    (Begun::Wild, self.any_name(state)?)
                }
            };
            self.join(&mut next, then, state)?;
        }
        self.frontier = next;
        Ok(())
    }

    /// A `/`.
    pub fn slash(&mut self) -> Step {
        if let Some(segment) = self.segment.take() {
            self.end_segment(&segment)?;
            self.segment = Some(String::new());
            return Ok(());
        }
        let mut next = Frontier::default();
        for (begun, state) in self.frontier.states() {
            match begun {
                Begun::Path => return Err(ResourceFault::Absolute),
                Begun::Segment => return Err(ResourceFault::Segment),
                Begun::Dot | Begun::Dots => return Err(ResourceFault::Dots),
                Begun::Tree => {
                    let tree = self.any_segments(state)?;
                    self.join(&mut next, Begun::Segment, tree)?;
                }
                Begun::Fixed | Begun::File | Begun::Wild | Begun::Star => {
                    let from = self.starred(begun, state)?;
                    let to = self.open(&mut next, Begun::Segment)?;
                    self.automaton.take(from, Charset::SLASH, to);
                }
            }
        }
        self.frontier = next;
        Ok(())
    }

    /// A `{`.
    pub fn open_group(&mut self) -> Step {
        self.leave_the_literal()?;
        self.groups.push(Group {
            entry: self.frontier,
            exit: Frontier::default(),
            alternatives: 1,
        });
        Ok(())
    }

    /// A `,`; whether it parts alternatives.
    ///
    /// # Errors
    /// As everything here: when there would be too many states.
    pub fn next_alternative(&mut self) -> Result<bool, ResourceFault> {
        let Some(mut group) = self.groups.pop() else {
            return Ok(false);
        };
        self.leave(&mut group)?;
        self.frontier = group.entry;
        group.alternatives = group.alternatives.saturating_add(1);
        self.groups.push(group);
        Ok(true)
    }

    /// A `}`.
    pub fn close_group(&mut self) -> Step {
        let mut group = self.groups.pop().ok_or(ResourceFault::Unpaired)?;
        if group.alternatives < 2 {
            return Err(ResourceFault::Alternatives);
        }
        self.leave(&mut group)?;
        self.frontier = group.exit;
        Ok(())
    }

    fn leave(&mut self, group: &mut Group) -> Step {
        for (begun, state) in self.frontier.states() {
            self.join(&mut group.exit, begun, state)?;
        }
        Ok(())
    }

    /// The end of the pattern.
    pub fn finish(mut self) -> Result<Compiled, ResourceFault> {
        if !self.groups.is_empty() {
            return Err(ResourceFault::Unpaired);
        }
        let literal = self.segment.take();
        if let Some(name) = &literal {
            if !name.is_empty() {
                self.end_segment(name)?;
            }
            if is_file(name) {
                self.automaton.accept(0);
                self.frontier = Frontier::default();
            } else if !self.prefix.is_empty() {
                self.frontier = Frontier::at(Begun::Segment, 0);
            }
        }
        for (begun, state) in self.frontier.states() {
            let end = match begun {
                Begun::Path => return Err(ResourceFault::Nothing),
                Begun::Dot | Begun::Dots => return Err(ResourceFault::Dots),
                Begun::Segment | Begun::Tree => self.any_segments(state)?,
                Begun::Fixed => {
                    let end = self.ended(state)?;
                    self.any_segments(end)?
                }
                Begun::File | Begun::Wild | Begun::Star => {
                    let from = self.starred(begun, state)?;
                    self.ended(from)?
                }
            };
            self.automaton.accept(end);
        }
        Ok(Compiled {
            prefix: self.prefix,
            rest: self.automaton.finish()?,
            literal: literal.is_some(),
        })
    }

    fn ended(&mut self, state: State) -> Result<State, ResourceFault> {
        let end = self.automaton.state()?;
        self.automaton.take(state, Charset::SLASH, end);
        Ok(end)
    }

    /// The state itself, or, where it is the one before a star, the one after.
    fn starred(&mut self, begun: Begun, state: State) -> Result<State, ResourceFault> {
        match begun {
            Begun::Star | Begun::Tree => self.any_name(state),
            _ => Ok(state),
        }
    }

    /// After any characters of one segment, or none.
    fn any_name(&mut self, from: State) -> Result<State, ResourceFault> {
        let name = self.automaton.state()?;
        self.automaton.skip(from, name);
        self.automaton.take(name, Charset::Any, name);
        Ok(name)
    }

    /// After any whole segments, or none.
    fn any_segments(&mut self, from: State) -> Result<State, ResourceFault> {
        let (between, within) = (self.automaton.state()?, self.automaton.state()?);
        self.automaton.skip(from, between);
        self.automaton.take(between, Charset::Any, within);
        self.automaton.take(within, Charset::Any, within);
        self.automaton.take(within, Charset::SLASH, between);
        Ok(between)
    }

    /// The state of `frontier` for a way to have begun.
    fn open(&mut self, frontier: &mut Frontier, begun: Begun) -> Result<State, ResourceFault> {
        let entry = frontier.entry(begun);
        let state = match *entry {
            Some(state) => state,
            None => self.automaton.state()?,
        };
        *entry = Some(state);
        Ok(state)
    }

    /// Leads `state` into the frontier.
    fn join(&mut self, frontier: &mut Frontier, begun: Begun, state: State) -> Step {
        let to = self.open(frontier, begun)?;
        self.automaton.skip(state, to);
        Ok(())
    }
}
