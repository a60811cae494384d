//! The agent's card, for the whole deployment or for one session.

use std::collections::BTreeMap;

use serde_json::json;

use crate::a2a::card::{
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, SecurityRequirement, StringList,
};
use crate::a2a::{PROTOCOL_VERSION, Part};
use crate::desk::Desk;
use crate::http::route::RPC;
use crate::refusal::Refusal;

const SCHEME: &str = "bearer";

fn skill(id: &str, name: &str, description: &str, tags: &[&str], example: &str) -> AgentSkill {
    AgentSkill {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        examples: vec![example.to_owned()],
    }
}

fn skills() -> Vec<AgentSkill> {
    vec![
        skill(
            "ask",
            "Ask",
            "Send a message to ask the project's owner and members something; the task completes with the answer",
            &["question", "answer"],
            "Is the export API rate limited?",
        ),
        skill(
            "handoff",
            "Hand off work",
            "With work/v1, propose a piece of work; once the owner approves it, a member does it and the task lands",
            &["handoff", "work", "draft"],
            "Add rate limiting to the export API",
        ),
        skill(
            "status",
            "Ask how handoffs stand",
            "With work/v1, list how your handoffs stand; answered with a message",
            &["status", "work"],
            "How are my handoffs?",
        ),
    ]
}

fn interface(url: String, binding: &str, tenant: Option<&str>) -> AgentInterface {
    AgentInterface {
        url,
        protocol_binding: binding.to_owned(),
        protocol_version: PROTOCOL_VERSION.to_owned(),
        tenant: tenant.map(str::to_owned),
    }
}

/// The media types that the agent takes and gives, unless a part says otherwise.
fn modes() -> Vec<String> {
    vec!["text/plain".to_owned(), "application/json".to_owned()]
}

/// Holds the parts of a message to the media types on the card (A2A 1.0, §3.3.2). A part that names none is taken for
/// what it is; parameters such as `charset` don't count.
///
/// # Errors
/// ContentTypeNotSupportedError on the first part's `mediaType` that is not among them.
pub(super) fn check_media_types(parts: &[Part]) -> Result<(), Refusal> {
    let taken = modes();
    for (index, part) in parts.iter().enumerate() {
        let Some(named) = &part.media_type else { continue };
        let essence = named.split(';').next().unwrap_or_default().trim();
        if !taken.iter().any(|mode| mode.eq_ignore_ascii_case(essence)) {
            let field = format!("message.parts[{index}].mediaType");
            let rule = format!(
                "expected one of the card's defaultInputModes: {}",
                taken.join(", ")
            );
            return Err(Refusal::content_type_not_supported(field, rule));
        }
    }
    Ok(())
}

/// The card; with a tenant its interfaces name that session, to be sent with every request.
#[must_use]
pub fn card(desk: &Desk, tenant: Option<&str>) -> AgentCard {
    let config = &desk.config;
    let mut schemes = BTreeMap::new();
    schemes.insert(SCHEME.to_owned(), StringList::default());
    let description = "A token of the session: a2ae_<session>_<secret>";
    let scheme = json!({ "httpAuthSecurityScheme": { "scheme": "Bearer", "description": description } });
    let mut card = AgentCard {
        name: config.name.clone(),
        description: config.description.clone(),
        supported_interfaces: vec![
            interface(config.base_url.clone(), "HTTP+JSON", tenant),
            interface(format!("{}/{RPC}", config.base_url), "JSONRPC", tenant),
        ],
        provider: None,
        version: config.version.clone(),
        documentation_url: None,
        capabilities: AgentCapabilities {
            streaming: Some(config.streaming),
            push_notifications: Some(config.webhooks.is_some()),
            ..AgentCapabilities::default()
        },
        security_schemes: BTreeMap::from([(SCHEME.to_owned(), scheme)]),
        security_requirements: vec![SecurityRequirement { schemes }],
        default_input_modes: modes(),
        default_output_modes: modes(),
        skills: skills(),
    };
    desk.registry.merge_into(&mut card);
    card
}
