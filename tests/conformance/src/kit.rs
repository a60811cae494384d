//! The kit: Python with what it needs, and one run of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use xtask::pip;
use xtask::process::output;

use crate::{Failure, Outcome};

/// Where the plugin is that writes the outcomes down.
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kit");

/// A checkout of the kit, and a Python that can run it.
#[derive(Debug)]
pub struct Kit {
    place: PathBuf,
    python: PathBuf,
}

/// How much the specification asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the words are RFC 2119's")]
pub enum Level {
    #[serde(alias = "must")]
    Must,
    #[serde(alias = "should")]
    Should,
    #[serde(alias = "may")]
    May,
}

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "they say it themselves")]
pub enum Result {
    Passed,
    Failed,
    Skipped,
}

/// A test of the kit.
#[derive(Clone, Debug, Deserialize)]
pub struct Test {
    /// Its name in pytest.
    pub id: String,
    /// How much its failure matters.
    pub level: Option<Level>,
    /// What came of it.
    pub outcome: Result,
    /// Why, unless it passed.
    pub reason: String,
}

/// A requirement of the kit.
#[derive(Clone, Debug, Deserialize)]
pub struct Requirement {
    /// How much it is asked for.
    pub level: Level,
    /// `PASS`, `FAIL`, `SKIPPED` or `NOT TESTED`.
    pub status: String,
    /// The tests that looked at it.
    #[serde(default)]
    pub test_ids: Vec<String>,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Of each test.
    pub tests: Vec<Test>,
    /// Of each requirement.
    pub requirements: BTreeMap<String, Requirement>,
}

#[derive(Deserialize)]
struct Report {
    per_requirement: BTreeMap<String, Requirement>,
}

impl Kit {
    /// Takes the kit in a directory, and installs what it needs unless it is installed.
    ///
    /// # Errors
    /// There is no kit, or no Python 3.11 or later that can install it.
    pub fn prepare(place: &Path) -> Outcome<Self> {
        if !place.join("tests/compatibility").is_dir() {
            let what = format!(
                "{} is no checkout of a2aproject/a2a-tck, branch 1.0-dev",
                place.display()
            );
            return Err(Failure::new(what).into());
        }
        Ok(Self {
            place: place.canonicalize()?,
            python: pip::install("tests/conformance/kit", "a2a-tck")?,
        })
    }

    /// The commit of the checkout, where git knows it.
    #[must_use]
    pub fn commit(&self) -> Option<String> {
        let commit = output(
            Command::new("git")
                .args(["rev-parse", "HEAD"])
                .current_dir(&self.place),
        )?;
        Some(commit.trim().to_owned())
    }

    /// Runs the kit over one binding, all of it or the tests that an expression chooses. The reports go to `reports`.
    ///
    /// # Errors
    /// The kit does not come to an end of its own.
    pub fn run(&self, url: &str, binding: &str, chosen: Option<&str>, reports: &Path) -> Outcome<Ran> {
        fs::create_dir_all(reports)?;
        let outcomes = reports.join("outcomes.jsonl");
        let compatibility = reports.join("compatibility");
        let log = fs::File::create(reports.join("kit.log"))?;
        let mut pytest = Command::new(&self.python);
        pytest
            .args(["-m", "pytest", "tests/compatibility/", "--tb=short", "-q"])
            .args(["-p", "outcomes", "-p", "no:cacheprovider"])
            .arg(format!("--sut-host={url}"))
            .arg(format!("--transport={binding}"))
            .args(["--webhook-host", "127.0.0.1"])
            .arg(format!("--compatibility-report={}", compatibility.display()))
            .arg(format!(
                "--junitxml={}",
                reports.join("junitreport.xml").display()
            ))
            .args(chosen.map(|chosen| ["-k", chosen]).into_iter().flatten())
            .current_dir(&self.place)
            .env("PYTHONPATH", PLUGIN)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("A2A_EDGE_OUTCOMES", &outcomes)
            .stdin(Stdio::null())
            .stderr(log.try_clone()?)
            .stdout(log);
        // 0: all passed; 1: some did not. Anything else is no outcome.
        let status = pytest.status()?;
        if !matches!(status.code(), Some(0 | 1)) {
            let what = format!(
                "the kit ended with {status}: {}",
                reports.join("kit.log").display()
            );
            return Err(Failure::new(what).into());
        }
        let lines = fs::read_to_string(&outcomes)?;
        let tests = lines
            .lines()
            .map(serde_json::from_str)
            .collect::<std::result::Result<_, _>>()?;
        let report: Report = serde_json::from_slice(&fs::read(compatibility.with_extension("json"))?)?;
        Ok(Ran {
            tests,
            requirements: report.per_requirement,
        })
    }
}
