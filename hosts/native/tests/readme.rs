//! README's transcript is true: its commands, run by bash against the built binary, say what it says they say.
//!
//! The transcript is what stands between its markers in `bash` blocks: commands, and below each its output as
//! comments, so that a whole block can be pasted. Ids, tokens and times are new with every run; they are compared
//! by the order in which they first appear.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on should stop where it is"
)]

mod support;

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use a2a_edge::time::Timestamp;
use support::{Scratch, run, untold};

const BEGIN: &str = "<!-- transcript -->";
const END: &str = "<!-- end of transcript -->";
/// Stands behind the output of each step, with its exit code.
const SEAM: char = '\u{1E}';

/// Commands, and what they print.
#[derive(Debug, Default, PartialEq)]
struct Step {
    commands: Vec<String>,
    output: Vec<String>,
}

/// The steps of the `bash` blocks between the markers.
fn steps(readme: &str) -> Vec<Step> {
    let (_, rest) = readme.split_once(BEGIN).unwrap();
    let (transcript, _) = rest.split_once(END).unwrap();
    let mut steps = vec![Step::default()];
    let mut inside = false;
    for line in transcript.lines() {
        match (inside, line) {
            (false, _) => inside = line == "```bash",
            (true, "```") => inside = false,
            (true, _) => {
                let printed = line.strip_prefix("# ").or((line == "#").then_some(""));
                if printed.is_none() && steps.last().is_some_and(|step| !step.output.is_empty()) {
                    steps.push(Step::default());
                }
                let step = steps.last_mut().unwrap();
                match printed {
                    Some(printed) => step.output.push(printed.to_owned()),
                    None => step.commands.push(line.to_owned()),
                }
            }
        }
    }
    steps
}

/// A script that runs the commands on this port and prints a seam behind each step.
fn script(steps: &[Step], port: u16) -> String {
    let seam = "printf '\\036%s\\036' $?";
    let commands = steps
        .iter()
        .map(|step| format!("{}\n{seam}\n", step.commands.join("\n")));
    let listen = format!("a2a-edge serve --listen 127.0.0.1:{port}");
    commands.collect::<String>().replace("a2a-edge serve", &listen)
}

/// Where a script writes its process group.
const GROUP_FILE: &str = "group";

/// Ends whatever a script in this directory has started, however the test ends.
struct Group<'a>(&'a Path);

impl Drop for Group<'_> {
    fn drop(&mut self) {
        let script = format!("kill -KILL -- -$(cat {GROUP_FILE})");
        let mut command = Command::new("sh");
        let _ = command.args(["-c", &script]).current_dir(self.0).output();
    }
}

/// Texts with what is new at every run numbered by its first appearance.
#[derive(Default)]
struct Numbers(Vec<String>);

impl Numbers {
    fn text(&mut self, text: &str) -> String {
        let of_word = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
        let pieces = text.split_inclusive(|c| !of_word(c));
        pieces.map(|piece| self.word(piece)).collect()
    }

    /// A word and what separates it from the next.
    fn word(&mut self, piece: &str) -> String {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let numbered = if word.parse::<Timestamp>().is_ok() {
            self.number("time", word)
        } else if word.starts_with("a2ae_") {
            self.number("token", word)
        } else {
            let parts = word.split('-').map(|part| match is_drawn(part) {
                true => self.number("new", part),
                false => part.to_owned(),
            });
            parts.collect::<Vec<_>>().join("-")
        };
        numbered + piece.strip_prefix(word).unwrap_or_default()
    }

    fn number(&mut self, kind: &str, word: &str) -> String {
        let known = self.0.iter().position(|known| known == word);
        let number = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push(word.to_owned());
        }
        format!("<{kind} {number}>")
    }
}

/// Whether a word was drawn at random: the id of a session, or the end of any other.
fn is_drawn(word: &str) -> bool {
    let base32 = |byte: u8| byte.is_ascii_lowercase() || (b'2'..=b'7').contains(&byte);
    word.len() == 16 && word.bytes().all(base32)
}

/// Runs a script in a directory; what each step printed.
fn play(script: &str, directory: &Path) -> Vec<String> {
    let built = Path::new(env!("CARGO_BIN_EXE_a2a-edge")).parent().unwrap();
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap());
    let script = format!("echo $$ > {GROUP_FILE}\n{script}");
    let mut command = untold(Command::new("bash"));
    command
        .args(["-c", &script])
        .env("PATH", path)
        .current_dir(directory)
        .process_group(0);
    let group = Group(directory);
    let said = run(&mut command, "").ended(0);
    drop(group);
    let mut pieces = said.out.split(SEAM);
    let mut printed = Vec::new();
    while let (Some(output), Some(code)) = (pieces.next(), pieces.next()) {
        assert_eq!(code, "0", "{said:?}");
        printed.push(output.to_owned());
    }
    printed
}

#[test]
fn the_transcript_of_the_readme_is_true() {
    let readme = include_str!("../../../README.md");
    let steps = steps(readme);
    assert!(steps.len() >= 5, "{steps:?}");
    let scratch = Scratch::new();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let printed = play(&script(&steps, port), scratch.0.path());
    let address = format!("127.0.0.1:{port}");
    let printed: Vec<_> = printed
        .iter()
        .map(|text| text.replace(&address, "127.0.0.1:8420"))
        .collect();
    assert_eq!(printed.len(), steps.len());

    let (mut of_readme, mut of_run) = (Numbers::default(), Numbers::default());
    let mut fresh = String::new();
    let mut same = true;
    for (step, printed) in steps.iter().zip(&printed) {
        let expected: Vec<_> = step.output.iter().map(|line| of_readme.text(line)).collect();
        let came: Vec<_> = printed.lines().map(|line| of_run.text(line.trim_end())).collect();
        same &= expected == came;
        let comments = printed
            .lines()
            .map(|line| format!("# {line}").trim_end().to_owned());
        let lines: Vec<_> = step.commands.iter().cloned().chain(comments).collect();
        fresh.push_str(&format!("{}\n", lines.join("\n")));
    }
    assert!(
        same,
        "README's transcript is not what the binary says, which is:\n\n{fresh}"
    );
}

#[test]
fn what_is_new_at_every_run_is_numbered() {
    let mut numbers = Numbers::default();
    let text =
        "task-aaaaaaaaaaaaaaaa (req-bbbbbbbbbbbbbbbb) 2026-07-17T01:00:00.000Z, task-aaaaaaaaaaaaaaaa.";
    assert_eq!(
        numbers.text(text),
        "task-<new 0> (req-<new 1>) <time 2>, task-<new 0>."
    );
    assert_eq!(numbers.text("a2ae_s_x rate-limiting"), "<token 3> rate-limiting");
}

#[test]
fn a_transcript_is_commands_and_their_output() {
    let readme = "# a\n<!-- transcript -->\n```bash\na &\nb\n# 1\n#\n# 2\nc\n```\nprose\n```bash\nd\n# 3\n```\n\
        <!-- end of transcript -->\n";
    let step = |commands: &[&str], output: &[&str]| Step {
        commands: commands.iter().map(ToString::to_string).collect(),
        output: output.iter().map(ToString::to_string).collect(),
    };
    let expected = [step(&["a &", "b"], &["1", "", "2"]), step(&["c", "d"], &["3"])];
    assert_eq!(steps(readme), expected);
}
