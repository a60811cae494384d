//! Components that are put together: what one imports is what another exports.

use std::fs;
use std::path::{Path, PathBuf};

use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, plug};

use crate::component::{self, put};
use crate::files::read;
use crate::process::target_dir;
use crate::{Failure, Outcome};

/// One component of two: `socket` with the exports of `part` for its imports.
///
/// # Errors
/// One of them is no component, or the part has nothing that the socket imports.
pub fn join(socket: Vec<u8>, part: Vec<u8>) -> Outcome<Vec<u8>> {
    let fault = |error: &dyn std::fmt::Display| Failure::new(format!("cannot compose: {error:#}"));
    let mut graph = CompositionGraph::new();
    let mut package = |name: &str, bytes: Vec<u8>| {
        let package = Package::from_bytes(name, None, bytes, graph.types_mut());
        let package = package.map_err(|error| fault(&error))?;
        graph.register_package(package).map_err(|error| fault(&error))
    };
    let (socket, part) = (package("socket", socket)?, package("part", part)?);
    plug(&mut graph, vec![part], socket).map_err(|error| fault(&error))?;
    graph
        .encode(EncodeOptions::default())
        .map_err(|error| fault(&error))
}

/// The core with the extension of a file in it: a component of the world `core`, beside the others in the target directory.
///
/// # Errors
/// The file is no component of the world `extension`, or imports anything.
pub fn extended(extension: &Path) -> Outcome<PathBuf> {
    let part = fs::read(extension)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", extension.display())))?;
    let composed = join(read(&component::build(component::EXTENSIBLE)?)?, part)?;
    component::imports_only(&composed, &[])
        .map_err(|failure| Failure::new(format!("{}: {failure}", extension.display())))?;
    put(&target_dir().join("a2a-edge-extended.wasm"), &composed)
}
