//! `cargo xtask bench --load`: requests per second, p50 and p99 of send, get and card, beside the servers of three SDKs.
//!
//! All servers are up the whole time, and take turns in short rounds, so that what else the machine does meanwhile hurts
//! all of them alike.

mod http;
mod measure;
mod peer;

use std::process::ExitCode;
use std::time::Duration;

use measure::{Operation, Times, agree, load};
use peer::Peer;
use xtask::{Failure, Outcome};

/// Clients that ask at once.
const CONNECTIONS: usize = 64;
/// How often every server takes its turn at each operation.
const ROUNDS: usize = 5;
/// How long a turn takes.
const TURN: Duration = Duration::from_secs(2);
/// How long a server is asked before anything counts.
const WARM_UP: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime
        .map_err(|error| Failure::new(error.to_string()))
        .and_then(|runtime| runtime.block_on(run(if quick { 1 } else { ROUNDS })));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("load: {failure}");
            ExitCode::FAILURE
        }
    }
}

struct Contender {
    peer: Peer,
    tasks: Vec<String>,
    times: [Times; 3],
}

async fn run(rounds: usize) -> Outcome {
    let mut contenders = Vec::new();
    for peer in [
        peer::native(1).await?,
        peer::native(16).await?,
        peer::rust()?,
        peer::javascript()?,
        peer::python()?,
    ] {
        contenders.push(Contender {
            tasks: agree(&peer).await?,
            peer,
            times: Default::default(),
        });
    }
    println!(
        "All servers answer rightly; {CONNECTIONS} connections, {rounds} rounds of {} s.\n",
        TURN.as_secs()
    );
    for (index, operation) in Operation::ALL.into_iter().enumerate() {
        for contender in &contenders {
            let mut ignored = Times::default();
            load(
                &contender.peer,
                &contender.tasks,
                operation,
                CONNECTIONS,
                WARM_UP,
                &mut ignored,
            )
            .await?;
        }
        for _ in 0..rounds {
            for contender in &mut contenders {
                if let Some(times) = contender.times.get_mut(index) {
                    load(
                        &contender.peer,
                        &contender.tasks,
                        operation,
                        CONNECTIONS,
                        TURN,
                        times,
                    )
                    .await?;
                }
            }
        }
    }
    print(&mut contenders);
    Ok(())
}

fn print(contenders: &mut [Contender]) {
    println!("| server | an acknowledged task survives | | requests/s | p50 ms | p99 ms |");
    println!("|---|---|---|--:|--:|--:|");
    for (index, operation) in Operation::ALL.into_iter().enumerate() {
        for contender in contenders.iter_mut() {
            let (name, keeps) = (&contender.peer.name, contender.peer.keeps);
            if let Some(times) = contender.times.get_mut(index) {
                let (rate, half, most) = (times.per_second(), times.percentile(50), times.percentile(99));
                println!(
                    "| {name} | {keeps} | {} | {rate:.0} | {half:.1} | {most:.1} |",
                    operation.name()
                );
            }
        }
    }
}
