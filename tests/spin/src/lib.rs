//! The Spin application over wasmtime, with the interfaces that Spin offers: composed as Spin composes it, and served by
//! instances that are used again and serve several requests at once.

pub mod backend;
pub mod instance;
pub mod outbound;
pub mod redis;
pub mod serve;

use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use a2a_edge_stories::server::{OPERATOR, Running};
use xtask::component::World;
use xtask::{Failure, component, compose, spin};

/// Whatever goes wrong when the application is built or started.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// The application, built and composed once.
#[derive(Clone, Debug)]
pub struct Platform {
    application: PathBuf,
}

/// How an application is started.
#[derive(Clone, Debug)]
pub struct Deployment {
    store: String,
    settings: Vec<(String, String)>,
}

impl Deployment {
    /// On a store: `memory`, `careless`, `sqlite:<path>` or `redis:<port>`.
    #[must_use]
    pub fn on(store: impl Into<String>) -> Self {
        Self {
            store: store.into(),
            settings: vec![("operator_token".to_owned(), OPERATOR.to_owned())],
        }
    }

    /// With a variable set, or one of the manners of the host: `instances`, `requests`, `at_once`, `schemes`.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With webhooks on this machine, which only a manifest that was opened for them lets it call.
    #[must_use]
    pub fn with_local_webhooks(self) -> Self {
        self.with("push", "local").with("schemes", "http,https")
    }

    /// Without a variable.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.settings.retain(|(known, _)| known != name);
        self
    }
}

impl Platform {
    /// Builds the application as `cargo xtask spin` does, composes it, and compiles it into a folder.
    ///
    /// # Errors
    /// It does not build, or its parts do not fit.
    pub fn prepare(place: &Path) -> Outcome<Self> {
        Self::of(&component::build(component::CORE).map_err(unbuilt)?, place)
    }

    /// The same with the component of an extension composed in.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare) has.
    pub fn extended(extension: World, place: &Path) -> Outcome<Self> {
        let extension = component::build(extension).map_err(unbuilt)?;
        Self::of(&compose::extended(&extension).map_err(unbuilt)?, place)
    }

    fn of(core: &Path, place: &Path) -> Outcome<Self> {
        let host = fs::read(spin::build().map_err(unbuilt)?.join(spin::HOST))?;
        // As the manifest's dependency makes it.
        let composed = compose::join(host, fs::read(core)?).map_err(unbuilt)?;
        let mut hasher = DefaultHasher::new();
        composed.hash(&mut hasher);
        let application = place.join(format!("application-{:016x}.cwasm", hasher.finish()));
        if !application.is_file() {
            let compiled = serve::engine()?.precompile_component(&composed)?;
            // Renamed into place, so that nobody loads half of it.
            let draft = place.join(format!("application.{}", std::process::id()));
            fs::write(&draft, compiled)?;
            fs::rename(&draft, &application)?;
        }
        Ok(Self { application })
    }

    /// The file that it is compiled into.
    #[must_use]
    pub fn application(&self) -> &Path {
        &self.application
    }

    /// Starts it with a program that serves it, and waits until it listens.
    ///
    /// # Errors
    /// It does not start, or ends at once.
    pub fn start(&self, program: &str, deployment: &Deployment) -> Outcome<Running> {
        let mut command = Command::new(program);
        command.arg(&self.application).arg(&deployment.store);
        let settings = deployment.settings.iter();
        command.args(settings.map(|(name, value)| format!("{name}={value}")));
        Ok(Running::start(&mut command)?)
    }
}

fn unbuilt(failure: Failure) -> String {
    format!("`cargo xtask spin` must work before its tests can: {failure}")
}
