//! How one request of an instance wakes another.
//!
//! To the platform each request is a task of its own, which sleeps until something that it asked the platform for has come.
//! The wakers of Spin's SDK work inside their own task only: calling one from another, when a session is free again or has
//! gone on, is a panic. So whatever runs here gets wakers that know where they are called. In its own task that is the
//! platform's; from another one they write a byte into a stream that the sleeper reads from.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::{FutureExt as _, LocalBoxFuture};
use futures_util::stream::Stream;
use spin_sdk::wasip3::wit_bindgen::{StreamReader, StreamWriter};
use spin_sdk::wasip3::wit_stream;

thread_local! {
    /// Whose turn it is: an address that tells who runs apart. None while the platform delivers what came.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}

/// Lets a future be woken by other requests.
pub async fn roused<F: Future>(future: F) -> F::Output {
    let mut sleeper = Sleeper::new(Box::pin(future));
    poll_fn(|context| sleeper.poll(context, |future, context| future.as_mut().poll(context))).await
}

/// A stream whose items may be waited for while other requests go on.
pub struct Roused<S>(Sleeper<Pin<Box<S>>>);

impl<S: Stream> Roused<S> {
    pub fn new(stream: S) -> Self {
        Self(Sleeper::new(Box::pin(stream)))
    }
}

impl<S: Stream> Stream for Roused<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let next = |stream: &mut Pin<Box<S>>, context: &mut Context<'_>| stream.as_mut().poll_next(context);
        self.0.poll(context, next)
    }
}

/// What sleeps, and the end of the stream that it listens at.
struct Sleeper<T> {
    inner: Option<T>,
    alarm: Arc<Alarm>,
    listening: Option<LocalBoxFuture<'static, StreamReader<u8>>>,
}

/// The waker of a sleeper.
#[derive(Default)]
struct Alarm {
    /// What wakes it in its own task.
    own: Mutex<Option<Waker>>,
    /// What others write into, once it has slept.
    bell: Mutex<Option<StreamWriter<u8>>>,
    /// It was written to, and the sleeper has not heard it yet.
    rung: AtomicBool,
    /// Nobody sleeps here any more.
    over: AtomicBool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.over.load(Ordering::Relaxed) {
            return;
        }
        let running = RUNNING.get();
        if running == 0 || running == self.place() {
            if let Some(own) = locked(&self.own).as_ref() {
                own.wake_by_ref();
            }
        } else if !self.rung.swap(true, Ordering::Relaxed)
            && let Some(bell) = locked(&self.bell).as_mut()
        {
            // The sleeper is reading, so this is done at once.
            let _done = bell.write(vec![0]).now_or_never();
        }
    }
}

impl Alarm {
    fn place(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    /// Does something as the one whose turn it is.
    fn in_turn<T>(self: &Arc<Self>, run: impl FnOnce() -> T) -> T {
        let before = RUNNING.replace(self.place());
        let done = run();
        RUNNING.set(before);
        done
    }
}

impl<T> Sleeper<T> {
    fn new(inner: T) -> Self {
        Self {
            inner: Some(inner),
            alarm: Arc::default(),
            listening: None,
        }
    }

    fn poll<O>(
        &mut self,
        context: &mut Context<'_>,
        poll: impl FnOnce(&mut T, &mut Context<'_>) -> Poll<O>,
    ) -> Poll<O> {
        let Some(inner) = &mut self.inner else {
            return Poll::Pending;
        };
        locked(&self.alarm.own).replace(context.waker().clone());
        let waker = Waker::from(Arc::clone(&self.alarm));
        let polled = self
            .alarm
            .in_turn(|| poll(inner, &mut Context::from_waker(&waker)));
        if polled.is_pending() {
            self.listen(context);
        }
        polled
    }

    /// Sees to it that somebody else can wake this.
    fn listen(&mut self, context: &mut Context<'_>) {
        let listening = self.listening.get_or_insert_with(|| {
            let (bell, reader) = wit_stream::new();
            locked(&self.alarm.bell).replace(bell);
            read(reader)
        });
        if let Poll::Ready(reader) = pin!(&mut *listening).poll(context) {
            self.alarm.rung.store(false, Ordering::Relaxed);
            *listening = read(reader);
            // Nobody has written yet.
            let _waits = pin!(listening).poll(context);
        }
    }
}

impl<T> Drop for Sleeper<T> {
    fn drop(&mut self) {
        self.alarm.over.store(true, Ordering::Relaxed);
        // What is let go of here may wake others.
        let alarm = Arc::clone(&self.alarm);
        alarm.in_turn(|| drop(self.inner.take()));
    }
}

fn read(mut reader: StreamReader<u8>) -> LocalBoxFuture<'static, StreamReader<u8>> {
    async move {
        let _rung = reader.read(Vec::with_capacity(1)).await;
        reader
    }
    .boxed_local()
}
