//! `a2a-edge-stories [--rpc] URL [STORY…]`: plays stories against a desk and prints their transcripts; with `--rpc` the
//! core operations are called over JSON-RPC.
//!
//! The operator's token comes from the environment, as `A2A_EDGE_OPERATOR_TOKEN`.

use std::io::Write as _;
use std::process::ExitCode;

use a2a_edge_stories::{Http, Rpc, Story, Target, directory, play};

/// The variable that holds the operator's token.
const OPERATOR: &str = "A2A_EDGE_OPERATOR_TOKEN";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    let rpc = words.next_if(|word| word == "--rpc").is_some();
    let (Some(url), Ok(operator)) = (words.next(), std::env::var(OPERATOR)) else {
        let _ = writeln!(
            std::io::stderr(),
            "usage: {OPERATOR}=… a2a-edge-stories [--rpc] URL [STORY…]"
        );
        return ExitCode::from(2);
    };
    let http = Http::new(&url);
    let target: Box<dyn Target> = if rpc {
        Box::new(Rpc::new(http))
    } else {
        Box::new(http)
    };
    match run(target.as_ref(), &operator, &words.collect::<Vec<_>>()) {
        Ok(transcripts) if std::io::stdout().write_all(transcripts.as_bytes()).is_ok() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(target: &dyn Target, operator: &str, chosen: &[String]) -> Result<String, Box<dyn std::error::Error>> {
    let mut transcripts = Vec::new();
    for story in Story::read_all(&directory())? {
        if chosen.is_empty() || chosen.contains(&story.name) {
            transcripts.push(play(&story, target, operator)?);
        }
    }
    Ok(transcripts.join("\n"))
}
