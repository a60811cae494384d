//! What cases begin with: everything that the conformance vectors and the stories say.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use a2a_edge_stories::{Opened, Story, Target, directory, play};
use http::{Request, Response};
use serde_json::Value;

use crate::desk::OPERATOR;
use crate::story_bench::StoryBench;

/// A step of a story, as it came to the desk.
#[derive(Clone)]
pub enum Step {
    /// A request.
    Call(Box<Request<Vec<u8>>>),
    /// The clock moved on.
    Tick,
}

/// Values, texts and requests.
pub struct Corpus {
    /// Every object and list of the vectors and stories, and every member's value.
    pub values: Vec<Value>,
    /// Every text among them.
    pub texts: Vec<String>,
    /// The stories, each as what came to the desk.
    pub stories: Vec<Vec<Step>>,
}

impl Corpus {
    /// Reads the vectors and plays the stories.
    #[must_use]
    pub fn new() -> Self {
        let mut found = BTreeSet::new();
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors");
        for folder in [vectors, directory()] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "json") {
                    collect(
                        &serde_json::from_slice(&fs::read(path).unwrap()).unwrap(),
                        &mut found,
                    );
                }
            }
        }
        let values: Vec<Value> = found
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();
        let texts = values
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let stories = Story::read_all(&directory()).unwrap_or_else(|fault| panic!("{fault}"));
        Self {
            values,
            texts,
            stories: stories.iter().map(recorded).collect(),
        }
    }
}

impl Default for Corpus {
    fn default() -> Self {
        Self::new()
    }
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    found.insert(value.to_string());
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => members.values().for_each(|member| collect(member, found)),
        _ => {}
    }
}

/// A desk that keeps what came to it.
struct Recorder {
    bench: StoryBench,
    steps: RefCell<Vec<Step>>,
}

impl Target for Recorder {
    fn base_url(&self) -> &str {
        self.bench.base_url()
    }

    fn call(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, String> {
        self.steps
            .borrow_mut()
            .push(Step::Call(Box::new(request.clone())));
        self.bench.call(request)
    }

    fn open(&self, request: Request<Vec<u8>>) -> Result<Opened<'_>, String> {
        self.steps
            .borrow_mut()
            .push(Step::Call(Box::new(request.clone())));
        self.bench.open(request)
    }

    fn tick(&self) {
        self.steps.borrow_mut().push(Step::Tick);
        self.bench.tick();
    }
}

fn recorded(story: &Story) -> Vec<Step> {
    let recorder = Recorder {
        bench: StoryBench::new(),
        steps: RefCell::default(),
    };
    play(story, &recorder, OPERATOR).unwrap_or_else(|failure| panic!("{failure}"));
    recorder.steps.into_inner()
}
