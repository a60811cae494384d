//! The agent's card: for the whole deployment or for one session, for everybody or for those with a credential.

mod document;
#[cfg(feature = "card-signing")]
mod sign;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::a2a::card::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill, SecurityRequirement, StringList,
};
use crate::a2a::{PROTOCOL_VERSION, Part};
use crate::coordination::{self, reference};
use crate::desk::Desk;
use crate::http::route::RPC;
use crate::refusal::{Code, Refusal};

pub(crate) use document::fault;
pub use document::{DOCUMENT_LIMIT, Document, DocumentError, Extended, MEMBERS};
#[cfg(feature = "card-signing")]
pub use sign::{CardKey, NotAKey};

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

/// What the desk is good for, where nothing else says it.
fn skills() -> Vec<AgentSkill> {
    vec![
        skill(
            "ask",
            "Ask the project",
            "Ask the people and agents of the project something. Whoever knows answers, and the task ends with the answer.",
            &["question", "answer"],
            "Is the export API rate limited?",
        ),
        skill(
            "handoff",
            "Hand over work",
            "Propose a piece of work to the project (extension work/v1). Its owner approves or declines; once approved, \
             somebody does it, and the task tells how far it is and ends with the result.",
            &["handoff", "work", "draft"],
            "Add rate limiting to the export API",
        ),
        skill(
            "status",
            "See how your work stands",
            "Hear how everything that you have handed over stands, in one message (extension work/v1).",
            &["status", "work"],
            "How is my work getting on?",
        ),
    ]
}

/// The media types that the agent gives, and takes unless it takes more.
fn modes() -> Vec<String> {
    vec!["text/plain".to_owned(), "application/json".to_owned()]
}

/// The media types that the agent takes.
fn input_modes(desk: &Desk) -> Vec<String> {
    let mut taken = modes();
    for mode in &desk.config.input_modes {
        if !taken.contains(mode) {
            taken.push(mode.clone());
        }
    }
    taken
}

/// Whether a media type is, or is among, those of a media range such as `image/*`.
fn is_in(range: &str, essence: &str) -> bool {
    let same = |a: &str, b: &str| a == "*" || a.eq_ignore_ascii_case(b);
    match (range.split_once('/'), essence.split_once('/')) {
        (Some((of, all)), Some((kind, subtype))) => same(of, kind) && same(all, subtype),
        _ => false,
    }
}

/// Holds the parts of a message to the media types on the card (A2A 1.0, §3.3.2). A part that names none is taken for
/// what it is; parameters such as `charset` don't count.
///
/// # Errors
/// ContentTypeNotSupportedError on the first part's `mediaType` that is not among them.
pub(super) fn check_media_types(desk: &Desk, parts: &[Part]) -> Result<(), Refusal> {
    let taken = input_modes(desk);
    for (index, part) in parts.iter().enumerate() {
        let Some(named) = &part.media_type else { continue };
        let essence = named.split(';').next().unwrap_or_default().trim();
        if !taken.iter().any(|range| is_in(range, essence)) {
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

fn interface(url: String, binding: &str, tenant: Option<&str>) -> AgentInterface {
    AgentInterface {
        url,
        protocol_binding: binding.to_owned(),
        protocol_version: PROTOCOL_VERSION.to_owned(),
        tenant: tenant.map(str::to_owned),
    }
}

/// Says where session coordination is described (session coordination, §6.2).
fn point_to_reference(extension: &mut AgentExtension, base: &str) {
    let params = extension.params.as_mut().and_then(Value::as_object_mut);
    if let (coordination::URI, Some(params)) = (extension.uri.as_str(), params) {
        let at = |page: &str| json!(format!("{base}/{}/{page}", coordination::PATH));
        params.shift_insert(0, "specification".to_owned(), at(reference::SPECIFICATION));
        params.shift_insert(1, "schemas".to_owned(), at(reference::SCHEMAS));
    }
}

/// The card for everybody; with a tenant its interfaces name that session, to be sent with every request.
#[must_use]
pub fn card(desk: &Desk, tenant: Option<&str>) -> Value {
    signed(desk, &unsigned(desk, tenant))
}

/// The card for those with a credential of a session (A2A 1.0, §3.1.11).
///
/// # Errors
/// UnsupportedOperationError where the card does not speak of it (§3.3.4); ExtendedAgentCardNotConfiguredError where it
/// does and there is nothing that the public one does not say.
pub fn extended(desk: &Desk, session_id: &str) -> Result<Value, Refusal> {
    let Some(extended) = &desk.config.card.extended else {
        return Err(super::not_offered(crate::extension::Method::GetExtendedAgentCard));
    };
    if *extended == Extended::default() {
        return Err(Refusal::a2a(
            Code::FailedPrecondition,
            "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            "this agent has no other card than its public one",
        ));
    }
    let mut card = unsigned(desk, Some(session_id));
    if let Some(description) = &extended.description {
        card.description.clone_from(description);
    }
    for skill in &extended.skills {
        match card.skills.iter_mut().find(|known| known.id == skill.id) {
            Some(known) => known.clone_from(skill),
            None => card.skills.push(skill.clone()),
        }
    }
    // Whoever reads it has a credential, and is to go on using it.
    card.security_requirements = vec![requirement()];
    Ok(signed(desk, &card))
}

fn requirement() -> SecurityRequirement {
    SecurityRequirement {
        schemes: BTreeMap::from([(SCHEME.to_owned(), StringList::default())]),
    }
}

fn unsigned(desk: &Desk, tenant: Option<&str>) -> AgentCard {
    let config = &desk.config;
    let document = &config.card;
    let description = "A token of the session: a2ae_<session>_<secret>";
    let scheme = json!({ "httpAuthSecurityScheme": { "scheme": "Bearer", "description": description } });
    let own_skills = Some(&document.skills).filter(|skills| !skills.is_empty());
    let said = |own: &Option<String>, otherwise: &String| own.as_ref().unwrap_or(otherwise).clone();
    let mut card = AgentCard {
        name: said(&document.name, &config.name),
        description: said(&document.description, &config.description),
        supported_interfaces: vec![
            interface(config.base_url.clone(), "HTTP+JSON", tenant),
            interface(format!("{}/{RPC}", config.base_url), "JSONRPC", tenant),
        ],
        provider: document.provider.clone(),
        version: said(&document.version, &config.version),
        documentation_url: document.documentation_url.clone(),
        capabilities: AgentCapabilities {
            streaming: Some(config.streaming),
            push_notifications: Some(config.webhooks.is_some()),
            extended_agent_card: document.extended.as_ref().map(|_| true),
            ..AgentCapabilities::default()
        },
        security_schemes: BTreeMap::from([(SCHEME.to_owned(), scheme)]),
        security_requirements: vec![requirement()],
        default_input_modes: input_modes(desk),
        default_output_modes: modes(),
        skills: own_skills.cloned().unwrap_or_else(skills),
        signatures: Vec::new(),
        icon_url: document.icon_url.clone(),
    };
    let open = config.anonymous.as_ref();
    if open.is_some_and(|it| tenant.is_none_or(|tenant| tenant == it.session_id)) {
        // What is said here goes for every operation of the card (A2A 1.0, §4.4.1), and the core ones need none.
        card.security_requirements.clear();
    }
    desk.registry.merge_into(&mut card);
    for extension in &mut card.capabilities.extensions {
        point_to_reference(extension, &config.base_url);
    }
    card
}

#[cfg(feature = "card-signing")]
fn signed(desk: &Desk, card: &AgentCard) -> Value {
    match &desk.config.card_key {
        None => json!(card),
        Some(key) => {
            let signature = key.sign(&json!(card));
            json!(AgentCard {
                signatures: vec![signature],
                ..card.clone()
            })
        }
    }
}

#[cfg(not(feature = "card-signing"))]
fn signed(_: &Desk, card: &AgentCard) -> Value {
    json!(card)
}
