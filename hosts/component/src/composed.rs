//! The extension that is composed in: the world `extensible` imports its hooks.

use a2a_edge::desk::{Config, ConfigError, Desk, built_in};
use a2a_edge::extension::RequestContext;
use a2a_edge::extension::text::{self, Called, Entry, HandledRequest, HandledResponse, Hooks, TextExtension};

use crate::bindings::a2a_edge::core::hooks;

a2a_edge::translate_hooks!(hooks);

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
        Ok(declared.map(Into::into).map_err(|fault| (fault.name, fault.rule)))
    }

    fn activate(
        &self,
        options: Option<&str>,
        requested: &[String],
        context: &RequestContext,
    ) -> Called<Option<String>> {
        Ok(hooks::activate(options, requested, &context.into())?.into())
    }

    fn handle_request(&self, request: &text::Request, activation: &str) -> Called<HandledRequest> {
        Ok(hooks::handle_request(&request.into(), activation)?.into())
    }

    fn handle_response(&self, response: &text::Response, activation: &str) -> Called<HandledResponse> {
        Ok(hooks::handle_response(&response.into(), activation).into())
    }
}
