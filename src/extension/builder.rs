//! Putting a registry together, and what does not fit into one.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::header::{self, Unrequestable};
use super::{Extension, FromOptions, InitError, Operations, Registry};
use crate::a2a::card::AgentExtension;

/// Puts a [`Registry`] together.
#[derive(Default)]
pub struct Builder {
    extensions: Vec<Result<Arc<dyn Extension>, InitError>>,
}

impl Builder {
    /// Adds an extension that is ready.
    #[must_use]
    pub fn with(mut self, extension: impl Extension + 'static) -> Self {
        self.extensions.push(Ok(Arc::new(extension)));
        self
    }

    /// Makes an extension from its options and adds it; a bad option is reported by [`build`](Self::build).
    #[must_use]
    pub fn with_options<E: FromOptions + 'static>(mut self, options: &Value) -> Self {
        let extension = E::init(options).map(|extension| Arc::new(extension) as Arc<dyn Extension>);
        self.extensions.push(extension);
        self
    }

    /// The registry.
    ///
    /// # Errors
    /// The first extension, in the order they were added, that cannot be made or does not fit the others.
    pub fn build(self) -> Result<Registry, RegistryError> {
        let mut registry = Registry::default();
        for extension in self.extensions {
            let extension = extension.map_err(RegistryError::Init)?;
            check(extension.as_ref(), &registry)?;
            registry.extensions.push(extension);
        }
        Ok(registry)
    }
}

/// Whether the extension may stand beside those that are in already.
fn check(extension: &dyn Extension, registry: &Registry) -> Result<(), RegistryError> {
    let AgentExtension { uri, params, .. } = extension.declaration();
    header::check_uri(uri).map_err(RegistryError::Unrequestable)?;
    if registry.declared_uris().any(|declared| declared == uri) {
        return Err(RegistryError::DoubledUri { uri: uri.clone() });
    }
    if params.as_ref().is_some_and(|params| !params.is_object()) {
        return Err(RegistryError::Params { uri: uri.clone() });
    }
    let Some(operations) = extension.operations() else {
        return Ok(());
    };
    check_operations(operations)?;
    if registry.at_path(&operations.path).is_some() {
        let path = operations.path.clone();
        return Err(RegistryError::DoubledPath { path });
    }
    Ok(())
}

fn check_operations(operations: &Operations) -> Result<(), RegistryError> {
    if !operations.path_is_valid() {
        return Err(RegistryError::Path {
            path: operations.path.clone(),
        });
    }
    let mut names = BTreeSet::new();
    for operation in &operations.list {
        if !operation.name_is_valid() {
            return Err(RegistryError::OperationName {
                name: operation.name.clone(),
            });
        }
        if !names.insert(&operation.name) {
            return Err(RegistryError::DoubledPath {
                path: format!("{}/{}", operations.path, operation.segment()),
            });
        }
    }
    Ok(())
}

/// Why extensions do not make a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegistryError {
    /// An option is not what the extension takes.
    Init(InitError),
    /// No header could ever ask for the URI.
    Unrequestable(Unrequestable),
    /// Two extensions declare the URI.
    DoubledUri {
        /// As declared.
        uri: String,
    },
    /// The declaration's `params` are not an object.
    Params {
        /// Of the extension.
        uri: String,
    },
    /// The path of an extension's operations is not `extensions/<name>/<version>`.
    Path {
        /// As registered.
        path: String,
    },
    /// An operation's name is not `resource.verb`.
    OperationName {
        /// As registered.
        name: String,
    },
    /// Two operations, or the operations of two extensions, are called by the same path.
    DoubledPath {
        /// As registered.
        path: String,
    },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Init(error) => error.fmt(out),
            Self::Unrequestable(error) => error.fmt(out),
            Self::DoubledUri { uri } => {
                write!(out, "extension URI {uri:?}: expected only one extension of it")
            }
            Self::Params { uri } => write!(out, "params of extension {uri:?}: expected an object"),
            Self::Path { path } => write!(
                out,
                "operations path {path:?}: expected extensions/<name>/<version>, of letters, digits and -._~"
            ),
            Self::OperationName { name } => write!(
                out,
                "operation {name:?}: expected resource.verb, of letters, digits, - and _"
            ),
            Self::DoubledPath { path } => write!(out, "path {path:?}: expected only one use of it"),
        }
    }
}

impl std::error::Error for RegistryError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::fixtures::{Desk, declared};
    use crate::extension::timestamp::TimestampExtension;
    use serde_json::json;

    fn refused<E: Extension + 'static>(extensions: impl IntoIterator<Item = E>) -> RegistryError {
        let builder = extensions.into_iter().fold(Registry::builder(), Builder::with);
        builder.build().unwrap_err()
    }

    #[test]
    fn an_extension_is_made_from_its_options() {
        let builder = Registry::builder().with_options::<TimestampExtension>(&json!({"label": "edge-1"}));
        let registry = builder.build().unwrap();
        let declaration = registry.declarations().next().unwrap();
        assert_eq!(declaration.params, Some(json!({"label": "edge-1"})));
    }

    #[test]
    fn a_bad_option_names_itself() {
        let builder = Registry::builder().with_options::<TimestampExtension>(&json!({"label": 7}));
        let error = builder.with(declared("")).build().unwrap_err();
        assert!(matches!(&error, RegistryError::Init(error) if error.option == "label"));
        assert!(error.to_string().starts_with("option label of extension urn:"));
    }

    #[test]
    fn a_uri_that_no_header_could_name_is_refused() {
        for uri in ["", "urn:a,b", "urn:a b", "urn:é"] {
            let error = refused([declared(uri)]);
            assert_eq!(error, RegistryError::Unrequestable(Unrequestable(uri.into())));
        }
    }

    #[test]
    fn a_doubled_uri_is_refused() {
        let error = refused([declared("urn:a"), declared("urn:b"), declared("urn:a")]);
        assert_eq!(error, RegistryError::DoubledUri { uri: "urn:a".into() });
    }

    #[test]
    fn params_that_are_no_object_are_refused() {
        let with = |params: Value| AgentExtension {
            params: Some(params),
            ..declared("urn:a")
        };
        assert_eq!(
            refused([with(json!([1]))]),
            RegistryError::Params { uri: "urn:a".into() }
        );
        assert!(Registry::builder().with(with(json!({}))).build().is_ok());
    }

    #[test]
    fn operations_outside_their_own_part_of_the_paths_are_refused() {
        let error = refused([Desk::new("urn:a", "tasks", &["a.b"])]);
        assert_eq!(error, RegistryError::Path { path: "tasks".into() });
    }

    #[test]
    fn an_operation_that_is_no_resource_and_verb_is_refused() {
        let error = refused([Desk::new("urn:a", "extensions/a/v1", &["a.b", "cancel"])]);
        assert_eq!(
            error,
            RegistryError::OperationName {
                name: "cancel".into()
            }
        );
    }

    #[test]
    fn a_doubled_operation_is_refused() {
        let error = refused([Desk::new("urn:a", "extensions/a/v1", &["a.b", "c.d", "a.b"])]);
        let path = "extensions/a/v1/a:b".into();
        assert_eq!(error, RegistryError::DoubledPath { path });
    }

    #[test]
    fn a_path_that_two_extensions_use_is_refused() {
        let path = "extensions/a/v1";
        let error = refused([
            Desk::new("urn:a", path, &["a.b"]),
            Desk::new("urn:b", path, &["c.d"]),
        ]);
        assert_eq!(error, RegistryError::DoubledPath { path: path.into() });
    }
}
