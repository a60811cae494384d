//! What work yields: the artifacts answer, pr, diffstat and evidence (work/v1, §8.6).
//!
//! Their parts say the same to every client; work/v1 metadata comes on top for those that activate it. No branch
//! names, commit ids, diffs or file contents have a place in them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::WORK_URI;
use super::field::{Null, Object, Path};
use super::inbound::{URL_BYTES, is_http_url};
use super::truncate::fitted;
use super::verdict::{self, Fault};
use crate::a2a::{Artifact, Content, Metadata, Part};
use crate::extension::HasMetadata as _;
use crate::text::{self, flatten};

/// A diffstat shows the first so many files.
pub const PER_FILE_MAX: usize = 200;
/// Evidence shows the first so many items.
pub const ITEMS_MAX: usize = 50;
/// The kinds of artifacts, which are their ids as well, in the order in which they are listed.
pub const KINDS: [&str; 4] = ["answer", "pr", "diffstat", "evidence"];

/// The answer to an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The message that answers.
    pub message_id: String,
    /// What it says.
    pub text: String,
    /// The answer it picks of those that were offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
}

/// How a pull request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words are work/v1's own")]
pub enum PrState {
    Open,
    Merged,
}

impl PrState {
    const WORDS: [(&'static str, Self); 2] = [("open", Self::Open), ("merged", Self::Merged)];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Merged => "merged",
        }
    }
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pr {
    /// Where it is: http or https, at most [`URL_BYTES`].
    pub url: String,
    /// Its number, from 1.
    pub number: u64,
    /// How it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<PrState>,
}

/// How much of one file changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStat {
    /// The file.
    pub path: String,
    /// Lines added.
    pub insertions: u64,
    /// Lines removed.
    pub deletions: u64,
}

/// How much changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Diffstat {
    /// Files changed, over all files.
    pub files: u64,
    /// Lines added, over all files.
    pub insertions: u64,
    /// Lines removed, over all files.
    pub deletions: u64,
    /// Each file; the first [`PER_FILE_MAX`] are shown.
    pub per_file: Vec<FileStat>,
}

/// A command that was run, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceItem {
    /// The command.
    pub command: String,
    /// Its exit code.
    pub exit_code: i64,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// What it showed.
    pub summary: String,
}

/// What shows that work is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The first [`ITEMS_MAX`] are shown.
    pub items: Vec<EvidenceItem>,
}

/// What a piece of work has yielded so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// Its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pr: Option<Pr>,
    /// How much it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diffstat: Option<Diffstat>,
    /// What shows that it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

impl Results {
    pub(super) fn read(results: Object<'_, '_>) -> Result<Self, Fault> {
        Ok(Self {
            pr: results.object("pr", Pr::read)?,
            diffstat: results.object("diffstat", Diffstat::read)?,
            evidence: results.object("evidence", Evidence::read)?,
        })
    }
}

/// One of the four artifacts of work/v1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are work/v1's own")]
pub enum WorkArtifact {
    Answer(Answer),
    Pr(Pr),
    Diffstat(Diffstat),
    Evidence(Evidence),
}

impl Answer {
    fn read(answer: Object<'_, '_>) -> Result<Self, Fault> {
        Ok(Self {
            message_id: answer.required_text("messageId")?.to_owned(),
            text: answer.text("text")?.unwrap_or_default().to_owned(),
            choice: answer.text("choice")?.map(str::to_owned),
        })
    }

    /// The A2A artifact: a text part and, with a choice, a data part. A text that does not fit is cut.
    #[must_use]
    pub fn render(&self, work_active: bool) -> Artifact {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct State<'a> {
            message_id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            choice: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Choice<'a> {
            choice: &'a str,
        }
        let form = |bytes: usize, truncated: bool, active: bool| {
            let mut parts = vec![Part::text(text::prefix_within(&self.text, bytes))];
            if let Some(choice) = &self.choice {
                parts.push(Part::data(value_of(&Choice { choice })));
            }
            let state = State {
                message_id: &self.message_id,
                choice: self.choice.as_deref(),
            };
            assemble("answer", parts, &state, truncated, active)
        };
        let (bytes, truncated) = fitted(self.text.len(), |bytes, truncated| form(bytes, truncated, true));
        form(bytes, truncated, work_active)
    }
}

impl Pr {
    fn read(pr: Object<'_, '_>) -> Result<Self, Fault> {
        let url = pr.required_text("url")?;
        if url.len() > URL_BYTES || !is_http_url(url) {
            let expected = format!("expected an http or https address of at most {URL_BYTES} bytes");
            return Err(pr.fault("url", expected));
        }
        Ok(Self {
            url: url.to_owned(),
            number: pr.required_count("number", 1)?,
            state: pr.word("state", &PrState::WORDS)?,
        })
    }

    /// The A2A artifact: a url part and a line of text.
    #[must_use]
    pub fn render(&self, work_active: bool) -> Artifact {
        let state = self.state.map(|state| format!(" ({})", state.as_str()));
        let line = format!("Pull request #{}{}", self.number, state.unwrap_or_default());
        let parts = vec![Part::new(Content::Url(self.url.clone())), Part::text(line)];
        assemble("pr", parts, self, false, work_active)
    }
}

impl Diffstat {
    fn read(diffstat: Object<'_, '_>) -> Result<Self, Fault> {
        let counts = |object: &Object<'_, '_>| {
            Ok((
                object.required_count("insertions", 0)?,
                object.required_count("deletions", 0)?,
            ))
        };
        let files = diffstat.required_count("files", 0)?;
        let (insertions, deletions) = counts(&diffstat)?;
        let per_file = diffstat.required_objects("perFile", |file| {
            let path = file.required_text("path")?.to_owned();
            let (insertions, deletions) = counts(&file)?;
            Ok(FileStat {
                path,
                insertions,
                deletions,
            })
        })?;
        Ok(Self {
            files,
            insertions,
            deletions,
            per_file,
        })
    }

    /// The A2A artifact: a line of text and a data part. Files that do not fit are cut; totals never change.
    #[must_use]
    pub fn render(&self, work_active: bool) -> Artifact {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct First<'a> {
            files: u64,
            insertions: u64,
            deletions: u64,
            per_file: &'a [FileStat],
        }
        let form = |count: usize, truncated: bool, active: bool| {
            let first = First {
                files: self.files,
                insertions: self.insertions,
                deletions: self.deletions,
                per_file: self.per_file.get(..count).unwrap_or(&self.per_file),
            };
            let line = [
                counted(self.files, "file changed", "files changed"),
                counted(self.insertions, "insertion", "insertions"),
                counted(self.deletions, "deletion", "deletions"),
            ];
            let parts = vec![Part::text(line.join(", ")), Part::data(value_of(&first))];
            assemble("diffstat", parts, &first, truncated, active)
        };
        let most = self.per_file.len().min(PER_FILE_MAX);
        let (count, truncated) = fitted(most, |count, truncated| form(count, truncated, true));
        form(count, truncated, work_active)
    }
}

impl EvidenceItem {
    fn line(&self) -> String {
        let (command, summary) = (flatten(&self.command), flatten(&self.summary));
        format!(
            "{command}: exit code {} in {} ms: {summary}",
            self.exit_code, self.duration_ms
        )
    }
}

impl Evidence {
    fn read(evidence: Object<'_, '_>) -> Result<Self, Fault> {
        let items = evidence.required_objects("items", |item| {
            Ok(EvidenceItem {
                command: item.required_text("command")?.to_owned(),
                exit_code: item.required_whole("exitCode", i64::MIN)?,
                duration_ms: item.required_count("durationMs", 0)?,
                summary: item.required_text("summary")?.to_owned(),
            })
        })?;
        Ok(Self { items })
    }

    /// The A2A artifact: a data part and, with any items, a line of text for each. Items that do not fit are cut.
    #[must_use]
    pub fn render(&self, work_active: bool) -> Artifact {
        #[derive(Serialize)]
        struct First<'a> {
            items: &'a [EvidenceItem],
        }
        let form = |count: usize, truncated: bool, active: bool| {
            let items = self.items.get(..count).unwrap_or(&self.items);
            let first = First { items };
            let mut parts = vec![Part::data(value_of(&first))];
            if !items.is_empty() {
                let lines: Vec<String> = items.iter().map(EvidenceItem::line).collect();
                parts.push(Part::text(lines.join("\n")));
            }
            assemble("evidence", parts, &first, truncated, active)
        };
        let most = self.items.len().min(ITEMS_MAX);
        let (count, truncated) = fitted(most, |count, truncated| form(count, truncated, true));
        form(count, truncated, work_active)
    }
}

fn counted(count: u64, one: &str, several: &str) -> String {
    let word = if count == 1 { one } else { several };
    format!("{count} {word}")
}

fn value_of(value: &impl Serialize) -> Value {
    // Only a map with keys that are no strings fails, and nothing here holds one.
    serde_json::to_value(value).unwrap_or_default()
}

fn assemble(
    kind: &str,
    parts: Vec<Part>,
    members: &impl Serialize,
    truncated: bool,
    work_active: bool,
) -> Artifact {
    let mut artifact = Artifact {
        artifact_id: kind.to_owned(),
        name: Some(kind.to_owned()),
        description: None,
        parts,
        metadata: Metadata::new(),
        extensions: Vec::new(),
    };
    if work_active {
        let mut state = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
        if let Value::Object(members) = value_of(members) {
            state.extend(members);
        }
        artifact.put_metadata(WORK_URI, Value::Object(state));
    }
    if truncated {
        artifact
            .metadata
            .insert("truncated".to_owned(), Value::Bool(true));
    }
    artifact
}

impl WorkArtifact {
    /// Reads `{"kind":"pr","url","number","state"?}` and the like, as work/v1 writes them; an answer's `text`
    /// stands beside its `messageId`. `path` names the whole in faults.
    ///
    /// # Errors
    /// The first member that is missing, of the wrong type or out of range; an unknown kind.
    pub fn read(value: &Value, path: &str) -> Result<Self, Fault> {
        let artifact = Object::read(value, Path::Root(path), Null::Value)?;
        match artifact.get("kind").and_then(Value::as_str) {
            Some("answer") => Answer::read(artifact).map(Self::Answer),
            Some("pr") => Pr::read(artifact).map(Self::Pr),
            Some("diffstat") => Diffstat::read(artifact).map(Self::Diffstat),
            Some("evidence") => Evidence::read(artifact).map(Self::Evidence),
            _ => Err(artifact.fault("kind", "expected answer, pr, diffstat or evidence")),
        }
    }

    /// Reads what an A2A artifact that a member hands in says under the work/v1 URI of its metadata; an answer's
    /// text is that of its text parts, and its `messageId`, which is the host's to set, may be left out. None for an artifact of the host's own, which says nothing there.
    ///
    /// # Errors
    /// As [`WorkArtifact::read`]; an artifact whose id is not its kind; one of the host's own with an id that is
    /// one of [`KINDS`].
    pub fn of(artifact: &Artifact, path: &str) -> Result<Option<Self>, Fault> {
        let id = artifact.artifact_id.as_str();
        let wrong_id = |expected: String| Err(Fault::invalid(format!("{path}.artifactId"), expected));
        let Some(state) = artifact.metadata.get(WORK_URI) else {
            return match KINDS.contains(&id) {
                true => wrong_id(format!("expected metadata of {WORK_URI} with this id")),
                false => Ok(None),
            };
        };
        let mut state = Cow::Borrowed(state);
        if state.get("kind").is_some_and(|kind| kind == "answer")
            && state.get("messageId").is_none()
            && let Value::Object(members) = state.to_mut()
        {
            members.insert("messageId".to_owned(), Value::from(""));
        }
        let mut read = Self::read(&state, &format!("{path}.metadata[{WORK_URI}]"))?;
        if id != read.kind() {
            return wrong_id(format!("expected {}, the artifact's kind", read.kind()));
        }
        if let Self::Answer(answer) = &mut read {
            let texts = artifact.parts.iter().filter_map(|part| match &part.content {
                Content::Text(text) => Some(text.as_str()),
                _ => None,
            });
            answer.text = texts.collect::<Vec<_>>().join("\n\n");
        }
        Ok(Some(read))
    }

    /// One of [`KINDS`].
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Answer(_) => "answer",
            Self::Pr(_) => "pr",
            Self::Diffstat(_) => "diffstat",
            Self::Evidence(_) => "evidence",
        }
    }

    /// The A2A artifact, at most [`BUDGET`](super::BUDGET) bytes of compact JSON, with work/v1 metadata if the
    /// extension is active.
    #[must_use]
    pub fn render(&self, work_active: bool) -> Artifact {
        match self {
            Self::Answer(answer) => answer.render(work_active),
            Self::Pr(pr) => pr.render(work_active),
            Self::Diffstat(diffstat) => diffstat.render(work_active),
            Self::Evidence(evidence) => evidence.render(work_active),
        }
    }
}

/// All artifacts of a task in their order: the host's own, answer, pr, diffstat, evidence.
#[must_use]
pub fn artifacts(
    host: Vec<Artifact>,
    answer: Option<&Answer>,
    results: &Results,
    work_active: bool,
) -> Vec<Artifact> {
    let mut all = host;
    all.extend(answer.map(|answer| answer.render(work_active)));
    all.extend(results.pr.as_ref().map(|pr| pr.render(work_active)));
    all.extend(
        results
            .diffstat
            .as_ref()
            .map(|diffstat| diffstat.render(work_active)),
    );
    all.extend(
        results
            .evidence
            .as_ref()
            .map(|evidence| evidence.render(work_active)),
    );
    all
}

/// The text door of [`WorkArtifact::read`]: an artifact as JSON in, `{"ok":true}` or the fault on `artifact` out.
#[must_use]
pub fn validate_json(artifact: &str) -> String {
    verdict::verdict(read_json(artifact))
}

/// The text door of [`WorkArtifact::render`]: an artifact as JSON in, the A2A artifact as `result` out.
#[must_use]
pub fn render_json(artifact: &str, work_active: bool) -> String {
    verdict::answer(read_json(artifact).map(|artifact| artifact.render(work_active)))
}

fn read_json(artifact: &str) -> Result<WorkArtifact, Fault> {
    WorkArtifact::read(&verdict::read(artifact, "artifact")?, "artifact")
}
