//! Whether what many callers saw at once could have come of one call after another.
//!
//! A history is linearizable if its calls can be put in an order that keeps to real time (what was answered before
//! another began comes before it) and in which a plain sequential object gives every caller the answer it got. The
//! search is Wing and Gong's, with Lowe's memo: a set of calls and the state they lead to is tried once, whatever the
//! order in between. Without the memo the search takes as many steps as there are orders; the tester of the
//! `stateright` crate has none, and did not come to an end on histories of 15 calls.
//!
//! A call whose answer was lost may have happened at any time after it began, or never. A call reads the clock at some
//! time between its beginning and its end, which need not be the moment it takes effect: a commit is decided first and
//! made durable later.

pub mod capacity;
pub mod claims;
pub mod keys;
pub mod knowledge;
pub mod trial;
pub mod versions;

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// Why a call was refused, and the numbers that the refusal carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub reason: String,
    pub facts: Vec<u64>,
}

/// What a call came to.
pub type Answer<T> = Result<T, Refused>;

pub fn refused<T>(reason: &str, facts: &[u64]) -> Answer<T> {
    Err(Refused {
        reason: reason.to_owned(),
        facts: facts.to_vec(),
    })
}

/// What the calls are about, as one caller alone would find it.
pub trait Object: Clone + Debug + Eq + Hash {
    type Op: Debug;
    type Good: Clone + Debug + PartialEq;

    /// Carries a call out by a clock that says `now`.
    fn run(&mut self, op: &Self::Op, now: i64) -> Answer<Self::Good>;
}

/// A call of a history.
#[derive(Debug)]
pub struct Call<O: Object> {
    pub client: usize,
    pub op: O::Op,
    /// `None`: the caller never learned what came of it.
    pub answer: Option<Answer<O::Good>>,
    /// When it began and ended, in steps of the history.
    pub from: usize,
    pub to: usize,
    /// What the clock said meanwhile.
    pub clock: Vec<i64>,
}

/// An order of the calls that explains every answer; else the most calls that could be put in order.
pub fn linearized<O: Object>(start: &O, calls: &[Call<O>]) -> Result<Vec<usize>, Vec<usize>> {
    assert!(calls.len() <= 64, "a set of calls is kept in 64 bits");
    let mut search = Search {
        calls,
        tried: HashSet::new(),
        order: Vec::new(),
        longest: Vec::new(),
    };
    if search.goes_on(0, start) {
        Ok(search.order)
    } else {
        Err(search.longest)
    }
}

struct Search<'a, O: Object> {
    calls: &'a [Call<O>],
    tried: HashSet<(u64, O)>,
    order: Vec<usize>,
    longest: Vec<usize>,
}

impl<O: Object> Search<'_, O> {
    /// Whether the calls that are not in `done` can follow on `state`.
    fn goes_on(&mut self, done: u64, state: &O) -> bool {
        let calls = self.calls;
        let left = || (0..calls.len()).filter(move |index| done >> index & 1 == 0);
        let answered = left().filter(|index| calls[*index].answer.is_some());
        // Whichever comes next began before the first of these ended.
        let Some(first_end) = answered.map(|index| calls[index].to).min() else {
            return true;
        };
        if self.order.len() > self.longest.len() {
            self.longest.clone_from(&self.order);
        }
        if !self.tried.insert((done, state.clone())) {
            return false;
        }
        for index in left().filter(|index| calls[*index].from < first_end) {
            let call = &calls[index];
            for now in &call.clock {
                let mut next = state.clone();
                let answer = next.run(&call.op, *now);
                let explains = match &call.answer {
                    Some(known) => *known == answer,
                    // One that changes nothing need not have happened.
                    None => next != *state,
                };
                if explains {
                    self.order.push(index);
                    if self.goes_on(done | 1 << index, &next) {
                        return true;
                    }
                    self.order.pop();
                }
            }
        }
        false
    }
}
