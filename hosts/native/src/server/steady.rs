//! Work that goes on when nobody waits for it any more.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// Work that came to a panic.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Panicked;

/// Runs where it is waited for, which mostly is all there is to it; let go of, it becomes a task of its own. A panic ends
/// nothing else.
pub(super) struct Steady<F: Future + Send + 'static>
where
    F::Output: Send,
{
    work: Option<Pin<Box<F>>>,
}

impl<F: Future + Send + 'static> Steady<F>
where
    F::Output: Send,
{
    pub(super) fn new(work: F) -> Self {
        Self {
            work: Some(Box::pin(work)),
        }
    }
}

impl<F: Future + Send + 'static> Future for Steady<F>
where
    F::Output: Send,
{
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        // What panicked is dropped unseen.
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        let done = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(_) => Err(Panicked),
        };
        self.work = None;
        Poll::Ready(done)
    }
}

impl<F: Future + Send + 'static> Drop for Steady<F>
where
    F::Output: Send,
{
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::runtime::Builder;
    use tokio::sync::Notify;
    use tokio::task::yield_now;

    use super::*;

    fn run<F: Future>(future: F) -> F::Output {
        Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn what_is_waited_for_gives_its_output() {
        let work = async {
            yield_now().await;
            7
        };
        assert_eq!(run(Steady::new(work)), Ok(7));
    }

    #[test]
    fn a_panic_is_the_end_of_the_work_alone() {
        let work = async {
            yield_now().await;
            panic!("as it was meant to")
        };
        let outcome: Result<(), Panicked> = run(Steady::new(work));
        assert_eq!(outcome, Err(Panicked));
    }

    #[test]
    fn what_is_let_go_of_is_done_all_the_same() {
        run(let_go());
    }

    async fn let_go() {
        let (go_on, done) = (Arc::new(Notify::new()), Arc::new(AtomicU32::new(0)));
        let mut work = Steady::new({
            let (go_on, done) = (Arc::clone(&go_on), Arc::clone(&done));
            async move {
                go_on.notified().await;
                done.fetch_add(1, Ordering::Relaxed);
                go_on.notify_one();
            }
        });
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert_eq!(Pin::new(&mut work).poll(&mut context), Poll::Pending);
        drop(work);
        assert_eq!(done.load(Ordering::Relaxed), 0);
        go_on.notify_one();
        while done.load(Ordering::Relaxed) == 0 {
            yield_now().await;
        }
    }
}
