//! Prints how long it takes to get a digest of a large session, and to acquire a claim among few and among many. `--quick`
//! takes fewer turns. It fails where either takes longer than it may.

use std::error::Error;
use std::time::Duration;

use a2a_edge_session_benches::claims::Acquiring;
use a2a_edge_session_benches::contest::{self, Contest};
use a2a_edge_session_benches::digest::Subject;
use mimalloc::MiMalloc;

/// That of the native host.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How long a digest of a session with 10,000 records may take.
const DIGEST: Duration = Duration::from_millis(10);

/// How many times as long it may take to acquire a claim among 10,000 as among 10.
const AMONG_MANY: f64 = 2.0;

fn main() -> Result<(), Box<dyn Error>> {
    let turns = contest::turns();
    digests(turns)?;
    claims(turns)
}

/// Digests of a large session, which must be quick enough.
fn digests(turns: usize) -> Result<(), Box<dyn Error>> {
    contest::head("a digest of 10,000 records");
    let subject = Subject::new()?;
    for most in [50, 200] {
        let length = subject.digest(most)?.len();
        let mut contest = Contest::new(format!("{most} of each kind, {length} bytes"), length);
        contest.enter("native", || subject.digest(most).map_or(0, |answer| answer.len()));
        for nanos in contest.run(turns) {
            if nanos > DIGEST.as_secs_f64() * 1e9 {
                return Err(format!("a digest takes longer than {DIGEST:?}").into());
            }
        }
    }
    Ok(())
}

/// Claims acquired among live ones, which must not cost more for their number.
fn claims(turns: usize) -> Result<(), Box<dyn Error>> {
    contest::head("claims.acquire, decided and applied");
    let title = |held: &str| format!("{held}, {} bytes", Acquiring::REQUEST_BYTES);
    for (held, holders) in [("held by 50 members", 50), ("all the caller's own", 1)] {
        let (few, many) = (Acquiring::among(10, holders)?, Acquiring::among(10_000, holders)?);
        let mut contest = Contest::new(title(held), Acquiring::REQUEST_BYTES);
        contest.enter_timed("among 10", |runs| few.time(runs));
        contest.enter_timed("among 10,000", |runs| many.time(runs));
        if let [few, many] = *contest.run(turns)
            && many > few * AMONG_MANY
        {
            return Err(format!("a claim among 10,000 takes over {AMONG_MANY} times as long").into());
        }
    }
    Ok(())
}
