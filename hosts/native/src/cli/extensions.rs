//! The options of `serve` that load extensions.

use std::path::Path;

use a2a_edge::extension::Builder;
use a2a_edge::json;
use clap::Args;

use crate::extension::{Limits, Loader};
use crate::failure::Failure;
use crate::server::log::Log;

/// Extensions that come as components, and what they may take.
#[derive(Debug, Args)]
pub(super) struct Extensions {
    /// Take this extension too, a component with its options as JSON; once for each, in their order
    #[arg(long = "extension", value_name = "FILE[=OPTIONS]")]
    files: Vec<String>,
    /// Memory that a call of an extension may take, in MiB
    #[arg(long, value_name = "MIB", default_value_t = Limits::default().memory, value_parser = clap::value_parser!(u32).range(1..=1024))]
    extension_memory: u32,
    /// Instructions that a call of an extension may take, in millions
    #[arg(long, value_name = "MILLIONS", default_value_t = Limits::default().instructions, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    extension_instructions: u32,
    /// Longest that a call of an extension may take, in milliseconds
    #[arg(long, value_name = "MILLISECONDS", default_value_t = Limits::default().millis, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    extension_time: u32,
}

impl Extensions {
    /// Adds them to those that are in already.
    pub(super) fn add_to(&self, mut builder: Builder, log: Log) -> Result<Builder, Failure> {
        if self.files.is_empty() {
            return Ok(builder);
        }
        let limits = Limits {
            memory: self.extension_memory,
            instructions: self.extension_instructions,
            millis: self.extension_time,
        };
        let loader = Loader::new(limits, log)
            .map_err(|error| Failure::Local(format!("cannot run extensions: {error:#}")))?;
        for given in &self.files {
            let fault = |why: String| Failure::Usage(format!("--extension {}: {why}", given.escape_debug()));
            let (file, options) = match given.split_once('=') {
                Some((file, options)) => (file, Some(options)),
                None => (given.as_str(), None),
            };
            let options = options.map(|file| {
                let bytes = std::fs::read(file).map_err(|error| format!("options in {file}: {error}"))?;
                json::parse(&bytes).map_err(|error| format!("options in {file}: expected JSON: {error}"))
            });
            let options = options.transpose().map_err(fault)?;
            builder = builder.with(loader.load(Path::new(file), options.as_ref()).map_err(fault)?);
        }
        Ok(builder)
    }
}
