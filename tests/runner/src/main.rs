//! `a2a-edge-stories URL [STORY…]`: plays stories against a desk and prints their transcripts.
//!
//! The operator's token comes from the environment, as `A2A_EDGE_OPERATOR_TOKEN`.

use std::io::Write as _;
use std::process::ExitCode;

use a2a_edge_stories::{Http, Story, directory, play};

/// The variable that holds the operator's token.
const OPERATOR: &str = "A2A_EDGE_OPERATOR_TOKEN";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(url), Ok(operator)) = (words.next(), std::env::var(OPERATOR)) else {
        let _ = writeln!(
            std::io::stderr(),
            "usage: {OPERATOR}=… a2a-edge-stories URL [STORY…]"
        );
        return ExitCode::from(2);
    };
    match run(&Http::new(&url), &operator, &words.collect::<Vec<_>>()) {
        Ok(transcripts) if std::io::stdout().write_all(transcripts.as_bytes()).is_ok() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(target: &Http, operator: &str, chosen: &[String]) -> Result<String, Box<dyn std::error::Error>> {
    let mut transcripts = Vec::new();
    for story in Story::read_all(&directory())? {
        if chosen.is_empty() || chosen.contains(&story.name) {
            transcripts.push(play(&story, target, operator)?);
        }
    }
    Ok(transcripts.join("\n"))
}
