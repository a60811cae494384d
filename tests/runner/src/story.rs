//! A story as its file says it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use a2a_edge::json;
use serde::Deserialize;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::scan;

/// What is wrong with a story's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The story's name.
    pub story: String,
    /// What was expected.
    pub rule: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.story, self.rule)
    }
}

impl std::error::Error for Fault {}

/// Requests in their order, with the answers that the contract gives them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Story {
    /// The file's name without its ending: what the story shows, in a few words.
    #[serde(skip)]
    pub name: String,
    /// What the story shows, in a sentence.
    pub shows: String,
    /// Participants beside the owner, by their names.
    #[serde(default)]
    pub cast: BTreeMap<String, Cast>,
    /// What happens.
    pub steps: Vec<Step>,
}

/// A participant that the owner admits before the story begins.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Cast {
    /// An agent of this role.
    Role(String),
    /// Of this role and kind.
    Full(Part),
}

/// A participant's role and kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// `owner`, `admin`, `member` or `client`.
    pub role: String,
    /// `human`, `agent` or `service`.
    pub kind: String,
}

/// One request and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Who calls: `owner`, one of the cast, `operator`, `nobody`, or whom a `$token` names.
    #[serde(rename = "as")]
    pub who: String,
    /// What the step does, in words.
    pub does: String,
    /// How often it happens, each time with the same answer; once unless it says so.
    #[serde(default = "once")]
    pub times: u32,
    /// Method and path, such as `GET /tasks/${task}`.
    pub call: String,
    /// Headers beside those that every request has.
    #[serde(default)]
    pub headers: BTreeMap<String, Header>,
    /// The body as JSON.
    pub body: Option<Value>,
    /// The body as text that may be no JSON.
    pub raw: Option<Value>,
    /// The answer.
    pub expect: Expect,
    /// What the stream is called that answers, and stays open.
    pub stream: Option<String>,
    /// What streams tell next, by what they are called.
    #[serde(default)]
    pub tells: BTreeMap<String, Tells>,
}

const fn once() -> u32 {
    1
}

/// What a stream tells.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tells {
    /// Its next events, `{"id"?, "data"?}`.
    #[serde(default)]
    pub events: Vec<Value>,
    /// Whether it ends with them.
    #[serde(default)]
    pub ends: bool,
}

/// A header of a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Header {
    /// Left out, though every request has it.
    Absent,
    /// With one value.
    One(String),
    /// Several times, each with a value of its own.
    Several(Vec<String>),
}

impl Header {
    /// Its values, in their order.
    #[must_use]
    pub fn values(&self) -> &[String] {
        match self {
            Self::Absent => &[],
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

/// An answer, exactly.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// HTTP status.
    pub status: u16,
    /// Headers beside the content type that the path has: texts, or forms that stand for them.
    #[serde(default)]
    pub headers: BTreeMap<String, Value>,
    /// The body.
    pub body: Option<Value>,
    /// The body of a refusal, in short. With neither there is no body.
    pub error: Option<Refusal>,
}

impl Expect {
    /// The body, written out.
    pub(crate) fn whole_body(&self, path: &str) -> Option<Value> {
        let error = self.error.as_ref().map(|error| error.body(self.status, path));
        self.body.clone().or(error)
    }
}

impl Step {
    pub(crate) fn method_and_path(&self) -> Option<(&str, &str)> {
        self.call.split_once(' ')
    }
}

impl Story {
    /// Reads a story and checks what can be checked before it plays.
    ///
    /// # Errors
    /// What is no story: not JSON, a member that the format does not have, a name that is not known where it is
    /// used or never used where it is given.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, Fault> {
        let fault = |rule: String| Fault {
            story: name.to_owned(),
            rule,
        };
        let value = json::parse(bytes).map_err(|error| fault(error.to_string()))?;
        let mut story: Self = serde_json::from_value(value).map_err(|error| fault(error.to_string()))?;
        name.clone_into(&mut story.name);
        scan::check(&story).map_err(fault)?;
        Ok(story)
    }

    /// Reads the stories of a directory, in the order of their names.
    ///
    /// # Errors
    /// The first that can't be read, and a directory without one.
    pub fn read_all(directory: &Path) -> Result<Vec<Self>, Fault> {
        let fault = |rule: String| Fault {
            story: directory.display().to_string(),
            rule,
        };
        let entries = std::fs::read_dir(directory).map_err(|error| fault(error.to_string()))?;
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| fault(error.to_string()))?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                files.push(path);
            }
        }
        files.sort();
        if files.is_empty() {
            return Err(fault("expected stories".to_owned()));
        }
        files.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Result<Self, Fault> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let bytes = std::fs::read(path).map_err(|error| Fault {
            story: name.to_string(),
            rule: error.to_string(),
        })?;
        Self::parse(&name, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The rule that a story breaks with this step in the place of a good one.
    fn rule(change: impl FnOnce(&mut Value)) -> Option<String> {
        let mut story = json!({
            "shows": "Something.",
            "cast": {"member": "member"},
            "steps": [
                {"as": "owner", "does": "makes it", "call": "POST /x", "body": {"to": "${member}"},
                    "expect": {"status": 200, "body": {"id": {"$id": "it"}}}},
                {"as": "nobody", "does": "reads it", "call": "GET /x/${it}", "expect": {"status": 404}},
            ],
        });
        change(&mut story);
        Story::parse("story", story.to_string().as_bytes())
            .err()
            .map(|fault| fault.rule)
    }

    #[test]
    fn a_good_story_is_read() {
        assert_eq!(rule(|_| {}), None);
    }

    #[test]
    fn what_is_misspelt_or_unused_is_told() {
        for (pointer, value, told) in [
            ("/steps/0/expects", json!({}), "unknown field `expects`"),
            ("/steps/0/expect/boby", json!({}), "unknown field `boby`"),
            ("/steps/0/as", json!("onwer"), "nothing is called onwer.token"),
            ("/steps/0/call", json!("POST"), "a method and a path"),
            ("/steps/0/body/to", json!({"$id": "x"}), "only an answer"),
            ("/steps/0/body/to", json!("you"), "member of the cast has no part"),
            ("/steps/0/raw", json!("x"), "not both"),
            ("/steps/0/headers", json!({"Accept": "x"}), "lower case"),
            ("/steps/0/expect/body/id", json!({"$ID": "it"}), "no such form"),
            (
                "/steps/0/expect/body/id",
                json!({"$id": "member"}),
                "called member already",
            ),
            ("/steps/0/expect/body/id", json!({"$id": "It"}), "expected a name"),
            ("/steps/0/expect/status", json!(20), "final answer"),
            ("/steps/1/call", json!("GET /x"), "never used: it"),
            ("/steps/1/call", json!("GET /x/${id}"), "nothing is called id"),
            ("/steps/0/stream", json!("It"), "expected a name"),
            ("/steps/1/stream", json!("s"), "nothing is told by s"),
            (
                "/steps/1/tells",
                json!({"s": {"ends": true}}),
                "no stream is called s",
            ),
            ("/shows", json!(""), "shows something"),
        ] {
            let found = rule(|story| {
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                story.pointer_mut(parent).unwrap()[key] = value.clone();
            });
            let found = found.unwrap_or_default();
            assert!(found.contains(told), "{pointer} {value}: {found}");
        }
        assert!(Story::parse("story", br#"{"shows": "a", "shows": "b", "steps": []}"#).is_err());
    }
}
