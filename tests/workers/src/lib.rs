//! The Cloudflare host in workerd, the platform's own runtime: started on a free port, with a state of its own.

mod config;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use a2a_edge_stories::server::{OPERATOR, PATIENCE, Running};
pub use config::{Deployment, Directory};
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
        let mut command = Command::new(&self.workerd);
        command
            .args(["serve", "deployment.capnp", "--experimental", "--control-fd=1"])
            .current_dir(place);
        Ok(Running::start(&mut command)?)
    }
}
