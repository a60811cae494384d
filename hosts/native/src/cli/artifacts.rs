//! What finished work yielded, from options to A2A artifacts with work/v1's metadata (work/v1, §8.6).

use std::path::{Path, PathBuf};

use a2a_edge::dispatch::WORK_URI;
use a2a_edge::dispatch::artifact::WorkArtifact;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::{input, word};
use crate::failure::Failure;

/// Options that say what the work yielded.
#[derive(Debug, Args)]
pub(super) struct Results {
    /// The answer, as text; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    answer: Option<String>,
    /// The pull request: URL#NUMBER, or a URL that ends in its number
    #[arg(long, visible_alias = "pr-url", value_name = "URL#NUMBER")]
    pr: Option<String>,
    /// Number of the pull request, where its URL does not tell
    #[arg(long, value_name = "NUMBER", requires = "pr")]
    pr_number: Option<u64>,
    /// Whether the pull request is merged
    #[arg(long, requires = "pr")]
    pr_state: Option<PrState>,
    /// What changed: a file with `git diff --numstat`, or its totals as JSON; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    diffstat: Option<PathBuf>,
    /// A check that was run; once for each, at most 50
    #[arg(long, value_name = "CHECK")]
    evidence: Vec<String>,
    /// A file with an A2A artifact or a chunk {artifact, append, lastChunk}, or a list of them; once for each
    #[arg(long = "artifact", value_name = "FILE")]
    artifacts: Vec<PathBuf>,
}

/// Where a pull request stands.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PrState {
    Open,
    Merged,
}

impl Results {
    /// The artifacts: the files' own first, then answer, pr, diffstat and evidence.
    pub(super) fn artifacts(&self) -> Result<Vec<Value>, Failure> {
        let mut artifacts = from_files(&self.artifacts)?;
        if let Some(answer) = &self.answer {
            artifacts.push(answered(&input::text(answer)?));
        }
        if let Some(pr) = &self.pr {
            artifacts.push(pull_request(pr, self.pr_number, self.pr_state)?);
        }
        if let Some(file) = &self.diffstat {
            artifacts.push(diffstat(&input::read(Some(file))?)?);
        }
        if !self.evidence.is_empty() {
            let items: Result<Vec<Value>, Failure> =
                self.evidence.iter().map(|check| evidence_item(check)).collect();
            artifacts.push(artifact(
                "--evidence",
                &json!({"kind": "evidence", "items": items?}),
            )?);
        }
        Ok(artifacts)
    }
}

/// The artifacts that files hold: an object each, or a list of them.
pub(super) fn from_files(files: &[PathBuf]) -> Result<Vec<Value>, Failure> {
    let mut artifacts = Vec::new();
    for file in files {
        match input::read_json(Some(file))? {
            Value::Array(list) => artifacts.extend(list),
            artifact @ Value::Object(_) => artifacts.push(artifact),
            _ => return Err(bad(file, "expected an A2A artifact, or a list of them")),
        }
    }
    Ok(artifacts)
}

fn bad(file: &Path, why: &str) -> Failure {
    Failure::Usage(format!("{}: {why}", file.display()))
}

/// The A2A artifact of what work/v1 says of it; `option` names the whole in what is wrong with it.
fn artifact(option: &str, facts: &Value) -> Result<Value, Failure> {
    let artifact = WorkArtifact::read(facts, option)
        .map_err(|fault| Failure::Usage(format!("{}: {}", fault.field, fault.message)))?;
    serde_json::to_value(artifact.render(true)).map_err(|error| Failure::Local(format!("{option}: {error}")))
}

/// An answer; the message that it is gets its id from the desk.
fn answered(text: &str) -> Value {
    json!({
        "artifactId": "answer",
        "name": "answer",
        "parts": [{"text": text}],
        "metadata": {WORK_URI: {"kind": "answer"}},
        "extensions": [WORK_URI],
    })
}

fn pull_request(pr: &str, number: Option<u64>, state: Option<PrState>) -> Result<Value, Failure> {
    let (url, told) = match pr.rsplit_once('#') {
        Some((url, number)) => (url, number.parse().ok()),
        None => (pr, pr.rsplit('/').next().and_then(|last| last.parse().ok())),
    };
    let number: u64 = number.or(told).ok_or_else(|| {
        Failure::Usage("--pr: expected URL#NUMBER, or --pr-number beside the URL".to_owned())
    })?;
    let mut facts = json!({"kind": "pr", "url": url, "number": number});
    if let (Some(state), Some(facts)) = (state, facts.as_object_mut()) {
        facts.insert("state".to_owned(), json!(word(state)));
    }
    artifact("--pr", &facts)
}

/// A diffstat from what `git diff --numstat` prints, or from its totals as JSON.
fn diffstat(text: &str) -> Result<Value, Failure> {
    let mut facts = match text.trim_start().starts_with('{') {
        true => input::parse_json(text)?,
        false => numstat(text)?,
    };
    if let Some(facts) = facts.as_object_mut() {
        facts.insert("kind".to_owned(), json!("diffstat"));
    }
    artifact("--diffstat", &facts)
}

/// Totals and files of `insertions TAB deletions TAB path` lines; a binary file's counts are `-`.
fn numstat(text: &str) -> Result<Value, Failure> {
    let (mut insertions, mut deletions) = (0_u64, 0_u64);
    let mut per_file = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (added, removed, path) = numstat_line(line).ok_or_else(|| {
            let line = crate::text::short(line, 60);
            Failure::Usage(format!(
                "--diffstat: expected a line of git diff --numstat: {line}"
            ))
        })?;
        insertions = insertions.saturating_add(added);
        deletions = deletions.saturating_add(removed);
        per_file.push(json!({"path": path, "insertions": added, "deletions": removed}));
    }
    Ok(json!({
        "files": per_file.len(),
        "insertions": insertions,
        "deletions": deletions,
        "perFile": per_file,
    }))
}

fn numstat_line(line: &str) -> Option<(u64, u64, &str)> {
    let count = |cell: &str| if cell == "-" { Some(0) } else { cell.parse().ok() };
    let (added, rest) = line.split_once('\t')?;
    let (removed, path) = rest.split_once('\t')?;
    Some((count(added)?, count(removed)?, path))
}

/// A check from `COMMAND => EXIT in TIME: SUMMARY`, of which only time and summary may be missing, or from JSON.
fn evidence_item(check: &str) -> Result<Value, Failure> {
    if check.trim_start().starts_with('{') {
        return input::parse_json(check);
    }
    let fail = || {
        let check = crate::text::short(check, 60);
        Failure::Usage(format!(
            "--evidence: expected 'COMMAND => EXIT CODE in TIME: SUMMARY', not {check}"
        ))
    };
    let (command, outcome) = check.rsplit_once(" => ").ok_or_else(fail)?;
    let (head, summary) = outcome.split_once(':').unwrap_or((outcome, ""));
    let (code, time) = match head.split_once(" in ") {
        Some((code, time)) => (code, Some(time)),
        None => (head, None),
    };
    let code: i32 = code.trim().parse().map_err(|_| fail())?;
    let millis = match time {
        Some(time) => millis(time.trim()).ok_or_else(fail)?,
        None => 0,
    };
    Ok(json!({
        "command": command.trim(),
        "exitCode": code,
        "durationMs": millis,
        "summary": summary.trim(),
    }))
}

/// Milliseconds of `350ms`, `41s` or `2.5s`.
fn millis(time: &str) -> Option<u64> {
    if let Some(millis) = time.strip_suffix("ms") {
        return millis.parse().ok();
    }
    let (whole, fraction) = match time.strip_suffix('s')?.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (time.strip_suffix('s')?, ""),
    };
    if fraction.len() > 3 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<3}").parse().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_request_takes_its_number_from_the_url_or_beside_it() {
        let facts =
            |pr, number| pull_request(pr, number, None).map(|it| it["metadata"][WORK_URI].to_string());
        let twelve = r#"{"kind":"pr","url":"https://x/pull/12","number":12}"#;
        assert_eq!(facts("https://x/pull/12", None).as_deref(), Ok(twelve));
        assert_eq!(facts("https://x/pull/12#12", None).as_deref(), Ok(twelve));
        assert_eq!(facts("https://x/pull/12#x", Some(12)).as_deref(), Ok(twelve));
        for bad in ["https://x/pull", "https://x/#0", "ftp://x/1", "12"] {
            assert!(facts(bad, None).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_artifact_stands_as_work_v1_has_it() {
        let made = pull_request("https://x/1", None, Some(PrState::Merged)).unwrap();
        let expected = json!({
            "artifactId": "pr", "name": "pr",
            "parts": made["parts"],
            "metadata": {WORK_URI: {"kind": "pr", "url": "https://x/1", "number": 1, "state": "merged"}},
            "extensions": [WORK_URI],
        });
        assert_eq!(made.to_string(), expected.to_string());
    }

    #[test]
    fn a_numstat_is_counted_whole_and_listed_up_to_200_files() {
        let text: String = (0..201).map(|n| format!("2\t1\tsrc/{n}.rs\n")).collect();
        let made = diffstat(&format!("{text}-\t-\ta b.png\n")).unwrap();
        let facts = &made["metadata"][WORK_URI];
        assert_eq!(facts["files"], 202);
        assert_eq!(
            (&facts["insertions"], &facts["deletions"]),
            (&json!(402), &json!(201))
        );
        assert_eq!(facts["perFile"].as_array().unwrap().len(), 200);
        for bad in ["x\t1\ta", "1\t1", " 3 files changed"] {
            assert!(diffstat(bad).is_err(), "{bad}");
        }
        assert!(diffstat(r#"{"files":1,"insertions":2,"deletions":3,"perFile":[]}"#).is_ok());
        assert!(diffstat(r#"{"files":1}"#).is_err());
    }

    #[test]
    fn a_check_is_read_from_a_line_or_from_json() {
        let item = |check| evidence_item(check).map(|item| item.to_string());
        let ok = |command: &str, code: i32, ms: u64, summary: &str| {
            Ok(
                json!({"command": command, "exitCode": code, "durationMs": ms, "summary": summary})
                    .to_string(),
            )
        };
        assert_eq!(
            item("cargo test => 0 in 41s: 212 passed"),
            ok("cargo test", 0, 41_000, "212 passed")
        );
        assert_eq!(item("a => b => -1 in 2.5s: x: y"), ok("a => b", -1, 2500, "x: y"));
        assert_eq!(item("make => 2"), ok("make", 2, 0, ""));
        assert_eq!(item("make => 2 in 7ms"), ok("make", 2, 7, ""));
        assert_eq!(item(r#"{"command":"x"}"#), Ok(r#"{"command":"x"}"#.to_owned()));
        for bad in ["make", "make => x", "make => 0 in x", "make => 0 in 1.2345s", "{"] {
            assert!(item(bad).is_err(), "{bad}");
        }
    }
}
