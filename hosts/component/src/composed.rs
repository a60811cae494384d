//! The extension that is composed in: the world `extensible` imports its hooks.

use a2a_edge::desk::{Config, ConfigError, Desk, built_in};
use a2a_edge::extension::RequestContext;
use a2a_edge::extension::text::{
    self, Called, Entry, HandledRequest, HandledResponse, Hooks, Kind, TextExtension, Trouble,
};

use crate::bindings::a2a_edge::core::hooks;

/// What faults of the extension are told as.
const SETTING: &str = "extension_options";

/// A desk with the extension behind those that are built in. The options are its own.
///
/// # Errors
/// The first setting at fault.
pub(crate) fn desk(mut config: Config) -> Result<Desk, ConfigError> {
    let options = config.extension_options.take();
    let extension = TextExtension::new(Import, "that is composed in", options.as_ref());
    let extension = extension.map_err(|rule| ConfigError {
        setting: SETTING,
        rule,
    })?;
    Desk::with(config, built_in().with(extension))
}

/// The imported hooks. A trap in them is one of the whole component: no call ever comes to nothing otherwise.
struct Import;

impl Hooks for Import {
    fn declaration(&self, options: Option<&str>) -> Called<Result<Entry, (String, String)>> {
        let declared = hooks::declaration(options);
        Ok(declared
            .map_err(|fault| (fault.name, fault.rule))
            .map(|entry| Entry {
                uri: entry.uri,
                description: entry.description,
                required: entry.required,
                params: entry.params,
            }))
    }

    fn activate(
        &self,
        options: Option<&str>,
        requested: &[String],
        context: &RequestContext,
    ) -> Called<Option<String>> {
        let context = hooks::Context {
            method: context.method.map(|method| method.name().to_owned()),
            now: context.now.as_millis(),
            tenant: context.tenant.clone(),
        };
        match hooks::activate(options, requested, &context).map_err(refused)? {
            hooks::Activation::Active(value) => Ok(Some(value)),
            hooks::Activation::Skip => Ok(None),
        }
    }

    fn handle_request(&self, request: &text::Request, activation: &str) -> Called<HandledRequest> {
        let request = hooks::Request {
            method: request.method.clone(),
            now: request.now,
            message: request.message.clone(),
            params: request.params.clone(),
        };
        let handled = hooks::handle_request(&request, activation).map_err(refused)?;
        Ok(HandledRequest {
            message: handled.message,
            params: handled.params,
            activation: handled.activation,
        })
    }

    fn handle_response(&self, response: &text::Response, activation: &str) -> Called<HandledResponse> {
        let response = hooks::Response {
            method: response.method.clone(),
            now: response.now,
            params: response.params.clone(),
            kind: match response.kind {
                Kind::Task => hooks::PayloadKind::Task,
                Kind::Message => hooks::PayloadKind::Message,
                Kind::StatusUpdate => hooks::PayloadKind::StatusUpdate,
                Kind::ArtifactUpdate => hooks::PayloadKind::ArtifactUpdate,
            },
            payload: response.payload.clone(),
        };
        let handled = hooks::handle_response(&response, activation);
        Ok(HandledResponse {
            payload: handled.payload,
            activation: handled.activation,
        })
    }
}

/// A refusal that the extension decided on.
fn refused(refusal: hooks::Refusal) -> Trouble {
    let violations = refusal.violations.into_iter();
    let violations = violations.map(|violation| (violation.field, violation.description));
    Trouble::refused(refusal.code as u8, refusal.message, violations)
}
