//! The Cloudflare host in workerd, the platform's own runtime: started on a free port, with a state of its own.

mod config;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use a2a_edge_stories::server::{OPERATOR, PATIENCE, Running};
pub use config::{Deployment, Directory};
use tempfile::TempDir;
use xtask::{npm, workers};

/// Whatever goes wrong when a runtime is started.
pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// The bundle and the runtime, built and installed once.
#[derive(Clone, Debug)]
pub struct Platform {
    bundle: PathBuf,
    workerd: PathBuf,
    modules: PathBuf,
}

impl Platform {
    /// Builds the bundle as `cargo xtask workers` does, and installs the runtime if it is not there.
    ///
    /// # Errors
    /// One of them fails.
    pub fn prepare() -> Outcome<Self> {
        let bundle = workers::build()
            .map_err(|failure| format!("`cargo xtask workers` must work before its tests can: {failure}"))?;
        let modules = npm::install("tests/workers/tools", "workers-tests")?;
        let workerd = npm::native_program(&modules, "@cloudflare", "workerd-", "workerd")?;
        Ok(Self {
            bundle,
            workerd,
            modules,
        })
    }

    /// Where npm put its packages.
    #[must_use]
    pub fn modules(&self) -> &Path {
        &self.modules
    }

    /// The directory of the bundle.
    #[must_use]
    pub fn bundle(&self) -> &Path {
        &self.bundle
    }

    /// Starts a deployment whose objects are kept in a folder of `place`, and waits until it listens.
    ///
    /// # Errors
    /// The runtime does not start, or ends at once.
    pub fn start(&self, deployment: &Deployment, place: &Path) -> Outcome<Running> {
        fs::create_dir_all(place.join("state"))?;
        for file in workers::FILES {
            fs::copy(self.bundle.join(file), place.join(file))?;
        }
        deployment.write(place)?;
        serve(&self.workerd, "deployment.capnp", place)
    }

    /// Builds the module whose objects are stores and nothing else.
    ///
    /// # Errors
    /// It does not compile.
    pub fn store_module(&self) -> Outcome<StoreModule> {
        let folder = tempfile::tempdir()?;
        let entry = folder.path().join("store.js");
        fs::write(&entry, include_str!("store.js"))?;
        workers::module("a2a-edge-workers-store", &entry, folder.path())?;
        Ok(StoreModule {
            folder,
            workerd: self.workerd.clone(),
        })
    }
}

/// A module whose objects are the host's store, each of one session, and nothing else.
#[derive(Debug)]
pub struct StoreModule {
    folder: TempDir,
    workerd: PathBuf,
}

impl StoreModule {
    /// Starts it with the objects that are kept in a folder of `place`, and waits until it listens.
    ///
    /// # Errors
    /// The runtime does not start, or ends at once.
    pub fn start(&self, place: &Path) -> Outcome<Running> {
        fs::create_dir_all(place.join("state"))?;
        for file in workers::FILES {
            fs::copy(self.folder.path().join(file), place.join(file))?;
        }
        fs::write(place.join("store.capnp"), include_str!("store.capnp"))?;
        serve(&self.workerd, "store.capnp", place)
    }
}

/// Starts the runtime on a configuration that lies in `place`.
fn serve(workerd: &Path, configuration: &str, place: &Path) -> Outcome<Running> {
    let mut command = Command::new(workerd);
    command
        .args(["serve", configuration, "--experimental", "--control-fd=1"])
        .current_dir(place);
    Ok(Running::start(&mut command)?)
}
