//! What workerd is told: the deployment of `wrangler.toml`, with a directory that behaves as a test wants it to.

use std::path::Path;
use std::{fs, io};

use serde_json::{Map, Value};

use crate::OPERATOR;

/// `(module (func (export "trap") unreachable))`.
const TRAP: [u8; 35] = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 116, 114, 97, 112, 0, 0, 10, 5,
    1, 3, 0, 0, 11,
];

/// How Workers KV behaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directory {
    /// What was written is read.
    #[default]
    Honest,
    /// What was written is never read: KV that lags behind for good.
    Stale,
    /// Every session ever asked for is there: KV that has kept what is no more.
    Lavish,
    /// Nothing works.
    Failing,
    /// It answers nothing.
    Silent,
    /// It is not bound.
    Absent,
    /// What is bound by its name is no directory.
    Mistaken,
}

impl Directory {
    const fn name(self) -> &'static str {
        match self {
            Self::Honest => "honest",
            Self::Stale => "stale",
            Self::Lavish => "lavish",
            Self::Failing => "failing",
            Self::Silent => "silent",
            Self::Absent | Self::Mistaken => "unused",
        }
    }

    const fn binding(self) -> &'static str {
        match self {
            Self::Absent => "",
            Self::Mistaken => "    (name = \"DIRECTORY\", text = \"no directory\"),\n",
            _ => "    (name = \"DIRECTORY\", kvNamespace = \"directory\"),\n",
        }
    }
}

/// One deployment.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// Each with its type and value as workerd reads them.
    variables: Vec<(String, String)>,
    directory: Directory,
    old: Map<String, Value>,
    objects: bool,
    trapping: bool,
}

impl Default for Deployment {
    fn default() -> Self {
        Self {
            variables: [
                ("A2A_EDGE_OPERATOR_TOKEN", OPERATOR),
                ("A2A_EDGE_CARD_MODIFIED", "2026-07-17T01:00:00Z"),
            ]
            .map(|(name, value)| (name.to_owned(), format!("text = {value:?}")))
            .to_vec(),
            directory: Directory::Honest,
            old: Map::new(),
            objects: true,
            trapping: false,
        }
    }
}

impl Deployment {
    /// With a variable or secret set, or set to something else.
    #[must_use]
    pub fn with(self, name: &str, value: &str) -> Self {
        self.bound(name, format!("text = {value:?}"))
    }

    /// With a variable that is JSON, as one without quotes in `wrangler.toml` is.
    #[must_use]
    pub fn with_json(self, name: &str, json: &str) -> Self {
        self.bound(name, format!("json = {json:?}"))
    }

    fn bound(mut self, name: &str, value: String) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value));
        self
    }

    /// With no objects bound.
    #[must_use]
    pub const fn without_objects(mut self) -> Self {
        self.objects = false;
        self
    }

    /// With a directory that behaves like this.
    #[must_use]
    pub const fn directory(mut self, directory: Directory) -> Self {
        self.directory = directory;
        self
    }

    /// With a document of the card in the directory, which a directory that lags shows for good.
    #[must_use]
    pub fn card(self, document: &str) -> Self {
        self.old("card", document)
    }

    /// With an entry in the directory from before, which a directory that lags shows for good.
    #[must_use]
    pub fn old(mut self, key: &str, value: &str) -> Self {
        self.old.insert(key.to_owned(), Value::from(value));
        self
    }

    /// With a module that traps whenever it is asked to: see `trapping.js`.
    #[must_use]
    pub const fn trapping(mut self) -> Self {
        self.trapping = true;
        self
    }

    /// Writes everything that workerd reads, but for the bundle.
    pub(crate) fn write(&self, place: &Path) -> io::Result<()> {
        fs::write(place.join("directory.js"), include_str!("directory.js"))?;
        fs::write(place.join("trapping.js"), include_str!("trapping.js"))?;
        fs::write(place.join("trap.wasm"), TRAP)?;
        fs::write(place.join("deployment.capnp"), self.capnp())
    }

    fn capnp(&self) -> String {
        let variables: String = self
            .variables
            .iter()
            .map(|(name, value)| format!("    (name = {name:?}, {value}),\n"))
            .collect();
        let entry = if self.trapping {
            "    (name = \"trapping.js\", esModule = embed \"trapping.js\"),\n    \
             (name = \"trap.wasm\", wasm = embed \"trap.wasm\"),\n"
        } else {
            ""
        };
        let objects = if self.objects {
            "    (name = \"SESSIONS\", durableObjectNamespace = \"Session\"),\n"
        } else {
            ""
        };
        include_str!("deployment.capnp")
            .replace("    # variables\n", &variables)
            .replace("    # entry\n", entry)
            .replace("    # objects\n", objects)
            .replace("    # kv\n", self.directory.binding())
            .replace("# directory", self.directory.name())
            .replace(
                "# old",
                &format!("{:?}", Value::Object(self.old.clone()).to_string()),
            )
    }
}
