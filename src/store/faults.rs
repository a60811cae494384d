//! A key-value store that fails as real ones do, on demand.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use super::{KeyValue, StoreError};

/// What goes wrong with one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation does not happen, and fails.
    Lost,
    /// The operation happens, and fails: its answer is lost.
    Unanswered,
    /// A swap does not happen and says so, without a reason; another operation is lost.
    Refused,
    /// A swap happens as it should and reports the opposite; another operation goes unanswered.
    Misreported,
    /// The operation fails; if a swap, it happens after the next operation all the same; another is lost.
    Late,
    /// A swap happens, and comes again after the next operation; another operation happens as it should.
    Doubled,
    /// The operation does not happen, nor does any after it through the same handle: the process is dead.
    CrashBefore,
    /// The operation happens, and none after it through the same handle.
    CrashAfter,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Lost,
        Self::Unanswered,
        Self::Refused,
        Self::Misreported,
        Self::Late,
        Self::Doubled,
        Self::CrashBefore,
        Self::CrashAfter,
    ];
}

/// A handle on a key-value store whose operations fail as a function of their index says, counted from 0.
///
/// Each operation first yields once, so that a scheduler can put others' operations before it.
pub struct Faulty<K, F> {
    inner: K,
    fault: F,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    operations: usize,
    dead: bool,
    /// A swap that has yet to happen.
    pending: Option<[Vec<u8>; 3]>,
}

enum Operation {
    Get,
    Swap,
    Write,
}

/// How an operation goes.
struct Course {
    happens: bool,
    answered: bool,
    /// Whether the answer of a swap is turned around.
    lies: bool,
    /// Whether a swap happens (again) after the next operation.
    again: bool,
    dies: bool,
}

impl Course {
    fn of(fault: Option<Fault>, operation: &Operation) -> Self {
        let swap = matches!(operation, Operation::Swap);
        let fine = Self {
            happens: true,
            answered: true,
            lies: false,
            again: false,
            dies: false,
        };
        match fault {
            None => fine,
            Some(Fault::Lost) => Self {
                happens: false,
                answered: false,
                ..fine
            },
            Some(Fault::Unanswered) => Self {
                answered: false,
                ..fine
            },
            Some(Fault::Refused) => Self {
                happens: false,
                answered: swap,
                ..fine
            },
            Some(Fault::Misreported) => Self {
                answered: swap,
                lies: true,
                ..fine
            },
            Some(Fault::Late) => Self {
                happens: false,
                answered: false,
                again: swap,
                ..fine
            },
            Some(Fault::Doubled) => Self { again: swap, ..fine },
            Some(Fault::CrashBefore) => Self {
                happens: false,
                answered: false,
                dies: true,
                ..fine
            },
            Some(Fault::CrashAfter) => Self {
                answered: false,
                dies: true,
                ..fine
            },
        }
    }
}

impl<K: KeyValue, F: Fn(usize) -> Option<Fault>> Faulty<K, F> {
    /// A handle on `inner` whose operations go as `fault` says.
    pub fn new(inner: K, fault: F) -> Self {
        Self {
            inner,
            fault,
            state: Mutex::default(),
        }
    }

    /// How many operations were begun.
    pub fn operations(&self) -> usize {
        self.lock().operations
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn begin(&self, operation: &Operation) -> Result<Course, StoreError> {
        yield_once().await;
        let mut state = self.lock();
        if state.dead {
            return Err(StoreError::Unavailable("the process has crashed".to_owned()));
        }
        let course = Course::of((self.fault)(state.operations), operation);
        state.operations = state.operations.saturating_add(1);
        state.dead = course.dies;
        Ok(course)
    }

    /// Lets a late swap happen, then answers.
    async fn end<T>(&self, course: &Course, late: Option<[Vec<u8>; 3]>, answer: T) -> Result<T, StoreError> {
        let due = std::mem::replace(&mut self.lock().pending, late);
        if let Some([key, current, new]) = due {
            let key = String::from_utf8(key).unwrap_or_default();
            self.inner.swap(&key, &current, &new).await?;
        }
        if course.answered {
            Ok(answer)
        } else {
            Err(StoreError::Unavailable("no answer".to_owned()))
        }
    }
}

async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl<K: KeyValue, F: Fn(usize) -> Option<Fault>> KeyValue for Faulty<K, F> {
    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let course = self.begin(&Operation::Get).await?;
        let value = self.inner.get(key).await?;
        self.end(&course, None, value).await
    }

    async fn put(&self, key: &str, value: &[u8]) -> Result<(), StoreError> {
        let course = self.begin(&Operation::Write).await?;
        if course.happens {
            self.inner.put(key, value).await?;
        }
        self.end(&course, None, ()).await
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let course = self.begin(&Operation::Write).await?;
        if course.happens {
            self.inner.delete(key).await?;
        }
        self.end(&course, None, ()).await
    }

    async fn swap(&self, key: &str, current: &[u8], new: &[u8]) -> Result<bool, StoreError> {
        let course = self.begin(&Operation::Swap).await?;
        let swapped = course.happens && self.inner.swap(key, current, new).await?;
        let late = course
            .again
            .then(|| [key.as_bytes().to_vec(), current.to_vec(), new.to_vec()]);
        self.end(&course, late, swapped != course.lies).await
    }
}
