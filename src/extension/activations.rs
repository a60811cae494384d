//! The extensions that take part in one request, and their hooks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{Extension, HookRequest, HookResponse, header};
use crate::refusal::Refusal;

/// The active extensions of one request in declaration order, each with its activation value.
///
/// It owns all it needs, so that a stream can keep it for as long as events come.
#[derive(Clone, Default)]
pub struct Activations {
    active: Vec<Active>,
}

#[derive(Clone)]
struct Active {
    extension: Arc<dyn Extension>,
    value: Value,
}

impl Active {
    fn uri(&self) -> &str {
        &self.extension.declaration().uri
    }
}

impl Activations {
    pub(super) fn push(&mut self, extension: Arc<dyn Extension>, value: Value) {
        self.active.push(Active { extension, value });
    }

    /// Runs the request hooks in declaration order. A value that a hook changes is what the same extension's later
    /// hooks get, and the agent.
    ///
    /// # Errors
    /// The first refusal of a hook, which ends the chain and the request; what hooks changed until then is of no
    /// use any more.
    pub fn run_request(&mut self, request: &mut HookRequest<'_>) -> Result<(), Refusal> {
        self.active
            .iter_mut()
            .try_for_each(|Active { extension, value }| extension.handle_request(request, value))
    }

    /// Runs the response hooks in declaration order on one object of the answer.
    ///
    /// Called for each task of a list and each event of a stream, in the order they leave: a value that a hook
    /// changes is what the same extension gets with the next of them.
    ///
    /// # Errors
    /// The first refusal of a hook, which ends the chain and takes the object's place.
    pub fn run_response(&mut self, response: &mut HookResponse<'_>) -> Result<(), Refusal> {
        self.active
            .iter_mut()
            .try_for_each(|Active { extension, value }| extension.handle_response(response, value))
    }

    /// The active URIs in declaration order.
    pub fn uris(&self) -> impl Iterator<Item = &str> {
        self.active.iter().map(Active::uri)
    }

    /// The value of the answer's `A2A-Extensions` header; none, and so no header, when nothing is active.
    #[must_use]
    pub fn echo(&self) -> Option<String> {
        header::format(self.uris())
    }

    /// Whether the extension of this URI is active.
    #[must_use]
    pub fn is_active(&self, uri: &str) -> bool {
        self.uris().any(|active| active == uri)
    }

    /// The activation value of the extension of this URI, if it is active.
    #[must_use]
    pub fn get(&self, uri: &str) -> Option<&Value> {
        let found = self.active.iter().find(|active| active.uri() == uri)?;
        Some(&found.value)
    }

    /// The activation values as they are now, by URI.
    #[must_use]
    pub fn to_context_map(&self) -> BTreeMap<String, Value> {
        self.active
            .iter()
            .map(|active| (active.uri().to_owned(), active.value.clone()))
            .collect()
    }
}

impl fmt::Debug for Activations {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.active.iter().map(|active| (active.uri(), &active.value));
        out.debug_map().entries(entries).finish()
    }
}
