//! The configured extensions, compiled once and shared by every request.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::{Activation, Activations, Builder, Extension, Operation, Operations, RequestContext};
use crate::a2a::card::{AgentCard, AgentExtension};
use crate::refusal::Refusal;

/// The extensions that the agent supports, in declaration order: the order they were added in.
#[derive(Clone, Default)]
pub struct Registry {
    pub(super) extensions: Vec<Arc<dyn Extension>>,
}

impl Registry {
    /// Begins a registry.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// What each extension declares, in declaration order.
    pub fn declarations(&self) -> impl Iterator<Item = &AgentExtension> {
        self.extensions.iter().map(|extension| extension.declaration())
    }

    /// The URI of each extension, in declaration order.
    pub fn declared_uris(&self) -> impl Iterator<Item = &str> {
        self.declarations().map(|declaration| declaration.uri.as_str())
    }

    /// The URIs that every request must ask for, in declaration order.
    pub fn required_uris(&self) -> impl Iterator<Item = &str> {
        let required = self.declarations().filter(|declaration| declaration.required);
        required.map(|declaration| declaration.uri.as_str())
    }

    /// Adds the declarations to the card's `capabilities.extensions`, after its own. An entry that the card has
    /// for a URI stays, and no URI stands there twice.
    pub fn merge_into(&self, card: &mut AgentCard) {
        let listed = &mut card.capabilities.extensions;
        listed.extend(self.declarations().cloned());
        let mut seen = BTreeSet::new();
        listed.retain(|declaration| seen.insert(declaration.uri.clone()));
    }

    /// Holds a request to the required extensions, whatever its method (A2A 1.0, §3.3.4).
    ///
    /// # Errors
    /// ExtensionSupportRequiredError, naming every required extension that was not requested.
    pub fn validate_required(&self, requested: &[String]) -> Result<(), Refusal> {
        let missing: Vec<String> = self
            .required_uris()
            .filter(|uri| !names(requested, uri))
            .map(str::to_owned)
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Refusal::extensions_required(&missing))
        }
    }

    /// Asks each extension that was requested to take part, in declaration order. URIs that no extension declares
    /// are ignored.
    ///
    /// # Errors
    /// The first refusal of an extension; those after it are not asked.
    pub fn activate(&self, requested: &[String], context: &RequestContext) -> Result<Activations, Refusal> {
        let mut activations = Activations::default();
        for extension in &self.extensions {
            if names(requested, &extension.declaration().uri)
                && let Activation::Active(value) = extension.activate(requested, context)?
            {
                activations.push(Arc::clone(extension), value);
            }
        }
        Ok(activations)
    }

    /// [`validate_required`](Self::validate_required), then [`activate`](Self::activate): what every request goes
    /// through.
    ///
    /// # Errors
    /// As each of them has.
    pub fn negotiate(&self, requested: &[String], context: &RequestContext) -> Result<Activations, Refusal> {
        self.validate_required(requested)?;
        self.activate(requested, context)
    }

    /// The extension whose own operations are called under this path, such as
    /// `extensions/session-coordination/v1`, with them.
    #[must_use]
    pub fn at_path(&self, path: &str) -> Option<(&dyn Extension, &Operations)> {
        self.extensions.iter().find_map(|extension| {
            let operations = extension
                .operations()
                .filter(|operations| operations.path == path)?;
            Some((extension.as_ref(), operations))
        })
    }

    /// The operation that `{path}/{segment}` calls, such as `requests:update` under
    /// `extensions/session-coordination/v1`, and whose it is.
    #[must_use]
    pub fn operation(&self, path: &str, segment: &str) -> Option<(&dyn Extension, &Operation)> {
        let (extension, operations) = self.at_path(path)?;
        Some((extension, operations.find(segment)?))
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.declared_uris()).finish()
    }
}

fn names(requested: &[String], uri: &str) -> bool {
    requested.iter().any(|named| named == uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::Method;
    use crate::extension::fixtures::{Desk, declared, required};
    use crate::time::Timestamp;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// Takes part with its value, unless that is `skip`, `refuse`, or asks for the `context`.
    struct Door(AgentExtension, Value);

    impl Extension for Door {
        fn declaration(&self) -> &AgentExtension {
            &self.0
        }

        fn activate(&self, requested: &[String], context: &RequestContext) -> Result<Activation, Refusal> {
            match self.1.as_str() {
                Some("skip") => Ok(Activation::Skip),
                Some("refuse") => Err(Refusal::unsupported(format!("{} refuses", self.0.uri))),
                Some("context") => Ok(Activation::Active(json!([
                    requested,
                    context.now,
                    context.tenant
                ]))),
                _ => Ok(Activation::Active(self.1.clone())),
            }
        }
    }

    fn door(uri: &str, answer: Value) -> Door {
        Door(declared(uri), answer)
    }

    fn registry<E: Extension + 'static>(extensions: impl IntoIterator<Item = E>) -> Registry {
        let builder = extensions.into_iter().fold(Registry::builder(), Builder::with);
        builder.build().unwrap()
    }

    fn asking(uris: &[&str]) -> Vec<String> {
        uris.iter().map(|uri| (*uri).to_owned()).collect()
    }

    fn context() -> RequestContext {
        RequestContext {
            method: Some(Method::GetTask),
            now: Timestamp::EPOCH,
            tenant: Some("s-1".into()),
        }
    }

    fn active(registry: &Registry, uris: &[&str]) -> Vec<String> {
        let activations = registry.activate(&asking(uris), &context()).unwrap();
        activations.uris().map(str::to_owned).collect()
    }

    fn card(extensions: &[AgentExtension]) -> AgentCard {
        serde_json::from_value(json!({
            "name": "desk", "description": "d", "supportedInterfaces": [], "version": "1",
            "capabilities": {"extensions": extensions},
            "defaultInputModes": [], "defaultOutputModes": [], "skills": [],
        }))
        .unwrap()
    }

    #[test]
    fn declarations_keep_the_order_they_were_added_in() {
        let registry = registry([declared("urn:b"), required("urn:c"), declared("urn:a")]);
        assert!(registry.declared_uris().eq(["urn:b", "urn:c", "urn:a"]));
        assert!(registry.required_uris().eq(["urn:c"]));
        assert_eq!(registry.declarations().next(), Some(&declared("urn:b")));
    }

    #[test]
    fn a_registry_serves_many_threads() {
        fn shared<T: Send + Sync + Clone + 'static>() {}
        shared::<Registry>();
        shared::<Activations>();
    }

    #[test]
    fn an_operation_is_found_with_its_extension() {
        let registry = registry([
            Desk::new("urn:a/v1", "extensions/a/v1", &["x.get"]),
            Desk::new("urn:a/v2", "extensions/a/v2", &["x.get", "x.put"]),
        ]);
        let (extension, operation) = registry.operation("extensions/a/v2", "x:put").unwrap();
        assert_eq!(extension.declaration().uri, "urn:a/v2");
        assert_eq!(operation, &Operation::write("x.put"));
    }

    #[test]
    fn an_unknown_operation_still_belongs_to_the_extension_of_its_path() {
        let registry = registry([Desk::new("urn:a", "extensions/a/v1", &["x.get"])]);
        assert!(registry.operation("extensions/a/v1", "x:put").is_none());
        assert!(registry.operation("extensions/a/v2", "x:get").is_none());
        let (extension, _) = registry.at_path("extensions/a/v1").unwrap();
        assert_eq!(extension.declaration().uri, "urn:a");
        assert!(registry.at_path("extensions/a/v2").is_none());
    }

    #[test]
    fn declarations_go_onto_the_card_after_its_own() {
        let mut card = card(&[declared("urn:z")]);
        registry([declared("urn:b"), required("urn:a")]).merge_into(&mut card);
        let listed = [declared("urn:z"), declared("urn:b"), required("urn:a")];
        assert_eq!(card.capabilities.extensions, listed);
    }

    #[test]
    fn the_cards_own_entry_for_a_uri_wins() {
        let own = AgentExtension {
            description: Some("the card's".into()),
            ..declared("urn:a")
        };
        let mut card = card(std::slice::from_ref(&own));
        registry([required("urn:a")]).merge_into(&mut card);
        assert_eq!(card.capabilities.extensions, [own]);
    }

    #[test]
    fn merging_twice_doubles_nothing() {
        let registry = registry([declared("urn:a"), declared("urn:b")]);
        let mut card = card(&[declared("urn:z"), declared("urn:z")]);
        registry.merge_into(&mut card);
        registry.merge_into(&mut card);
        let uris = card
            .capabilities
            .extensions
            .iter()
            .map(|entry| entry.uri.as_str());
        assert!(uris.eq(["urn:z", "urn:a", "urn:b"]));
    }

    #[test]
    fn every_missing_required_extension_is_named() {
        let registry = registry([
            required("urn:a"),
            declared("urn:b"),
            required("urn:c"),
            required("urn:d"),
        ]);
        let refusal = registry.validate_required(&asking(&["urn:c"])).unwrap_err();
        assert_eq!(
            refusal,
            Refusal::extensions_required(&asking(&["urn:a", "urn:d"]))
        );
        assert_eq!((refusal.status(), refusal.json_rpc_code()), (400, -32008));
    }

    #[test]
    fn a_request_that_asks_for_all_required_extensions_passes() {
        let registry = registry([required("urn:a"), required("urn:c")]);
        assert_eq!(
            registry.validate_required(&asking(&["urn:c", "urn:x", "urn:a"])),
            Ok(())
        );
    }

    #[test]
    fn another_version_of_a_required_extension_does_not_do() {
        let registry = registry([required("urn:a/v1")]);
        assert!(
            registry
                .validate_required(&asking(&["urn:a/v2", "urn:a", "urn:a/v1/"]))
                .is_err()
        );
    }

    #[test]
    fn required_extensions_are_checked_before_any_is_activated() {
        let builder = Registry::builder()
            .with(door("urn:a", json!("refuse")))
            .with(required("urn:b"));
        let registry = builder.build().unwrap();
        let refusal = registry.negotiate(&asking(&["urn:a"]), &context()).unwrap_err();
        assert_eq!(refusal.reason(), Some("EXTENSION_SUPPORT_REQUIRED"));
        let refusal = registry
            .negotiate(&asking(&["urn:a", "urn:b"]), &context())
            .unwrap_err();
        assert_eq!(refusal.reason(), Some("UNSUPPORTED_OPERATION"));
    }

    #[test]
    fn only_requested_extensions_are_activated() {
        let registry = registry([declared("urn:a"), declared("urn:b")]);
        assert_eq!(active(&registry, &["urn:b"]), ["urn:b"]);
        assert!(active(&registry, &[]).is_empty());
    }

    #[test]
    fn an_unknown_uri_is_ignored() {
        let registry = registry([declared("urn:a")]);
        assert_eq!(active(&registry, &["urn:x", "urn:a"]), ["urn:a"]);
    }

    #[test]
    fn another_version_is_never_activated() {
        let registry = registry([declared("urn:a/v1")]);
        assert!(active(&registry, &["urn:a/v2", "urn:a", "urn:A/v1", "urn:a/v1/"]).is_empty());
    }

    #[test]
    fn an_extension_takes_part_with_null_by_default() {
        let activations = registry([declared("urn:a")]).activate(&asking(&["urn:a"]), &context());
        assert_eq!(activations.unwrap().get("urn:a"), Some(&Value::Null));
    }

    #[test]
    fn an_extension_that_skips_is_not_active() {
        let registry = registry([door("urn:a", json!("skip")), door("urn:b", json!(1))]);
        assert_eq!(active(&registry, &["urn:a", "urn:b"]), ["urn:b"]);
    }

    #[test]
    fn the_first_refusal_ends_the_activation() {
        let doors = ["urn:a", "urn:b", "urn:c"].map(|uri| {
            let answer = if uri == "urn:a" { "take part" } else { "refuse" };
            door(uri, json!(answer))
        });
        let refusal = registry(doors).activate(&asking(&["urn:c", "urn:b", "urn:a"]), &context());
        assert_eq!(refusal.unwrap_err().message, "urn:b refuses");
    }

    #[test]
    fn an_extension_sees_what_was_requested_and_by_whom_when() {
        let registry = registry([door("urn:a", json!("context"))]);
        let activations = registry
            .activate(&asking(&["urn:x", "urn:a"]), &context())
            .unwrap();
        let seen = json!([["urn:x", "urn:a"], "1970-01-01T00:00:00.000Z", "s-1"]);
        assert_eq!(activations.get("urn:a"), Some(&seen));
    }

    proptest! {
        #[test]
        fn activation_follows_the_declarations_whatever_the_request(
            declared_numbers in proptest::collection::btree_set(0..20_u8, 0..10)
                .prop_flat_map(|set| Just(Vec::from_iter(set)).prop_shuffle()),
            requested in proptest::collection::vec(0..20_u8, 0..30),
        ) {
            let uri = |number: &u8| format!("urn:{number}");
            let registry = registry(declared_numbers.iter().map(|number| declared(&uri(number))));
            let requested: Vec<String> = requested.iter().map(uri).collect();
            let activations = registry.activate(&requested, &context()).unwrap();
            let expected: Vec<String> =
                declared_numbers.iter().map(uri).filter(|uri| requested.contains(uri)).collect();
            prop_assert_eq!(activations.uris().collect::<Vec<_>>(), expected);
        }
    }
}
