//! The agent card: who the agent is, where it is and what it can do (A2A 1.0, §4.4 and §8).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An extension that the agent supports (A2A 1.0, §4.4.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentExtension {
    /// Identifies the extension and its version.
    pub uri: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether every request must activate it; left out when not.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// What else a client should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Value>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Where and how the agent is reached (A2A 1.0, §4.4.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// Absolute, without a trailing slash.
    pub url: String,
    /// `HTTP+JSON` or `JSONRPC`.
    pub protocol_binding: String,
    /// `1.0`.
    pub protocol_version: String,
    /// To be sent with every request: the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// Who runs the agent (A2A 1.0, §4.4.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProvider {
    /// Of the organization.
    pub url: String,
    /// Its name.
    pub organization: String,
}

/// What the agent can do beyond sending (A2A 1.0, §4.4.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// Server-sent events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Webhooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// A card for authenticated callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_agent_card: Option<bool>,
    /// The extensions it supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<AgentExtension>,
}

/// Something the agent is good for (A2A 1.0, §4.4.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Unique within the card.
    pub id: String,
    /// For people.
    pub name: String,
    /// For people.
    pub description: String,
    /// Keywords; at least one.
    pub tags: Vec<String>,
    /// What one might ask.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// The schemes that a request must satisfy together, each with its scopes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityRequirement {
    /// By name of a scheme on the card.
    pub schemes: BTreeMap<String, StringList>,
}

/// A list of texts, as the protocol wraps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StringList {
    /// The texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
}

/// The agent's card (A2A 1.0, §4.4.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// For people.
    pub name: String,
    /// For people.
    pub description: String,
    /// At least one; the first is preferred.
    pub supported_interfaces: Vec<AgentInterface>,
    /// Who runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The agent's own version.
    pub version: String,
    /// Where its documentation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// What it can do.
    pub capabilities: AgentCapabilities,
    /// How callers authenticate, by name; each value is a `SecurityScheme`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, Value>,
    /// Any one of these suffices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
    /// Media types it takes.
    pub default_input_modes: Vec<String>,
    /// Media types it gives.
    pub default_output_modes: Vec<String>,
    /// At least one.
    pub skills: Vec<AgentSkill>,
    /// Over the rest of the card.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<AgentCardSignature>,
    /// Where its picture is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

/// A signature of the card: a JWS in its JSON form, whose payload is the card without its signatures in canonical form
/// (A2A 1.0, §8.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCardSignature {
    /// The protected header, in base64url.
    pub protected: String,
    /// The signature, in base64url.
    pub signature: String,
}
