//! The operations of the protocol by name.

use std::fmt;

/// An operation of A2A itself (A2A 1.0, §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are A2A's own")]
pub enum Method {
    SendMessage,
    SendStreamingMessage,
    GetTask,
    ListTasks,
    CancelTask,
    SubscribeToTask,
    CreateTaskPushNotificationConfig,
    GetTaskPushNotificationConfig,
    ListTaskPushNotificationConfigs,
    DeleteTaskPushNotificationConfig,
    GetExtendedAgentCard,
}

impl Method {
    /// Every method, in the order of the specification's table.
    pub const ALL: [Self; 11] = [
        Self::SendMessage,
        Self::SendStreamingMessage,
        Self::GetTask,
        Self::ListTasks,
        Self::CancelTask,
        Self::SubscribeToTask,
        Self::CreateTaskPushNotificationConfig,
        Self::GetTaskPushNotificationConfig,
        Self::ListTaskPushNotificationConfigs,
        Self::DeleteTaskPushNotificationConfig,
        Self::GetExtendedAgentCard,
    ];

    /// The name in the proto, which is also that of the JSON-RPC method.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendMessage => "SendMessage",
            Self::SendStreamingMessage => "SendStreamingMessage",
            Self::GetTask => "GetTask",
            Self::ListTasks => "ListTasks",
            Self::CancelTask => "CancelTask",
            Self::SubscribeToTask => "SubscribeToTask",
            Self::CreateTaskPushNotificationConfig => "CreateTaskPushNotificationConfig",
            Self::GetTaskPushNotificationConfig => "GetTaskPushNotificationConfig",
            Self::ListTaskPushNotificationConfigs => "ListTaskPushNotificationConfigs",
            Self::DeleteTaskPushNotificationConfig => "DeleteTaskPushNotificationConfig",
            Self::GetExtendedAgentCard => "GetExtendedAgentCard",
        }
    }

    /// The method of this name, spelled exactly so.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether its request carries a message.
    #[must_use]
    pub const fn carries_message(self) -> bool {
        matches!(self, Self::SendMessage | Self::SendStreamingMessage)
    }

    /// Whether it changes nothing, whatever it is sent.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(
            self,
            Self::GetTask
                | Self::ListTasks
                | Self::SubscribeToTask
                | Self::GetTaskPushNotificationConfig
                | Self::ListTaskPushNotificationConfigs
                | Self::GetExtendedAgentCard
        )
    }

    /// Whether it is answered with a stream of events.
    #[must_use]
    pub const fn streams(self) -> bool {
        matches!(self, Self::SendStreamingMessage | Self::SubscribeToTask)
    }

    /// Whether its answer holds tasks, messages or their events, which are what response hooks see.
    #[must_use]
    pub const fn answers_with_tasks(self) -> bool {
        matches!(
            self,
            Self::SendMessage
                | Self::SendStreamingMessage
                | Self::GetTask
                | Self::ListTasks
                | Self::CancelTask
                | Self::SubscribeToTask
        )
    }
}

impl fmt::Display for Method {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_own_name() {
        for method in Method::ALL {
            assert_eq!(Method::from_name(&method.to_string()), Some(method));
        }
    }

    #[test]
    fn names_of_older_protocols_and_other_spellings_are_unknown() {
        for name in ["message/send", "sendMessage", "SENDMESSAGE", "", "SendMessage "] {
            assert_eq!(Method::from_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn sends_carry_a_message_and_two_methods_stream() {
        let such = |rule: fn(Method) -> bool| Method::ALL.into_iter().filter(move |method| rule(*method));
        assert!(such(Method::carries_message).eq([Method::SendMessage, Method::SendStreamingMessage]));
        assert!(such(Method::streams).eq([Method::SendStreamingMessage, Method::SubscribeToTask]));
        assert_eq!(such(Method::answers_with_tasks).count(), 6);
    }
}
