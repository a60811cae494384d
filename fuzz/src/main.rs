//! `a2a-edge-fuzz [TARGET…] [--minutes N] [--case NUMBER]`: see `cargo xtask fuzz`.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use a2a_edge_fuzz::{Corpus, case, run, targets};

/// What the command line asks for.
struct Asked {
    names: Vec<String>,
    minutes: u64,
    case: Option<u64>,
}

fn asked() -> Result<Asked, String> {
    let mut asked = Asked {
        names: Vec::new(),
        minutes: 10,
        case: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let number = words.next().and_then(|word| word.parse().ok());
            number.ok_or_else(|| format!("{word}: expected a number"))
        };
        match word.as_str() {
            "--minutes" => asked.minutes = number()?,
            "--case" => asked.case = Some(number()?),
            _ => asked.names.push(word),
        }
    }
    Ok(asked)
}

fn main() -> ExitCode {
    match fuzz() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn fuzz() -> Result<(), String> {
    let asked = asked()?;
    let mut targets = targets();
    if let Some(unknown) = asked
        .names
        .iter()
        .find(|name| targets.iter().all(|target| target.name() != *name))
    {
        let names: Vec<&str> = targets.iter().map(|target| target.name()).collect();
        return Err(format!("{unknown}: expected one of {}", names.join(", ")));
    }
    targets.retain(|target| asked.names.is_empty() || asked.names.iter().any(|name| name == target.name()));
    let corpus = Corpus::new();
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    // Each run begins elsewhere; the cases of one follow each other.
    let first = u64::from(now.subsec_nanos()).wrapping_add(now.as_secs() << 32);
    for target in targets {
        if let Some(number) = asked.case {
            case(target.as_ref(), &corpus, number)?;
            println!("{}: case {number} holds", target.name());
            continue;
        }
        let time = Duration::from_secs(asked.minutes.saturating_mul(60));
        let cases = run(target.as_ref(), &corpus, first, time)?;
        println!("{}: {cases} cases", target.name());
    }
    Ok(())
}
