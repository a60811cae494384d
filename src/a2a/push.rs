//! Where notifications about a task go (A2A 1.0, §4.3).

use serde::{Deserialize, Serialize};

/// A push notification config of a task (A2A 1.0, §4.3.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// Unique within its task.
    pub id: String,
    /// The task.
    pub task_id: String,
    /// The webhook.
    pub url: String,
    /// By which the webhook knows what it is told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What the webhook asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

/// What is sent as the `Authorization` of a notification (A2A 1.0, §4.3.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthenticationInfo {
    /// A scheme of HTTP, such as `Bearer`.
    pub scheme: String,
    /// What goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
}
