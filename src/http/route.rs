//! Which operation a method and a path call.

use std::borrow::Cow;

use http::Method as Verb;

use super::answer::Form;
use super::document;
use crate::coordination::reference::Page;
use crate::extension::Method;
use crate::refusal::{Code, Refusal};
use crate::session::credential::is_session_id;

/// The path of the JSON-RPC binding.
pub const RPC: &str = "rpc";

/// A request's destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The session that the path names.
    pub tenant: Option<String>,
    /// What is called.
    pub target: Target,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The agent's card.
    Card,
    /// Something that is published about an extension.
    Page(Page),
    /// A document of the deployment's own, by its name.
    Document(String),
    /// A core operation; with the members of its request that the path names.
    Core(Method, Vec<(&'static str, String)>),
    /// The JSON-RPC binding of the core operations: the body says which.
    Rpc,
    /// An operation of an extension, by the path of its operations and its own segment.
    Extension {
        /// `extensions/<name>/<version>`.
        path: String,
        /// `{resource}:{verb}`.
        segment: String,
    },
    /// A verb of the owner, `{resource}:{verb}`.
    Operator(String),
    /// What may be done at the path: the methods that it takes.
    Options(&'static str),
}

impl Target {
    /// In whose form it is answered that there is no such call.
    #[must_use]
    pub const fn form(&self) -> Form<'static> {
        match self {
            Self::Card | Self::Page(_) | Self::Document(_) | Self::Core(..) | Self::Options(_) => Form::Core,
            Self::Rpc => Form::Rpc(Some(&serde_json::Value::Null)),
            Self::Extension { .. } | Self::Operator(_) => Form::Coordination,
        }
    }
}

/// Why a request has no destination.
#[derive(Clone, Debug, PartialEq)]
pub struct NoRoute {
    /// What is answered.
    pub refusal: Refusal,
    /// The methods that the path does take.
    pub allow: Option<&'static str>,
    /// In whose form it is answered.
    pub form: Form<'static>,
}

/// Why there is no destination at a path.
pub(crate) fn nothing_here() -> NoRoute {
    let refusal = Refusal::a2a(
        Code::NotFound,
        "METHOD_NOT_FOUND",
        "there is nothing at this path",
    );
    NoRoute {
        refusal,
        allow: None,
        form: Form::Core,
    }
}

/// A segment of a path with its escapes undone, or `None` if they are no UTF-8.
pub(super) fn unescape(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('%') {
        return Some(Cow::Borrowed(segment));
    }
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits)
            .ok()
            .filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// What a path takes that is only read.
const READ: &str = "GET, HEAD, OPTIONS";
/// What a path takes that does something.
const ACT: &str = "POST, OPTIONS";
/// What a path takes that is read, and does something.
const READ_OR_ACT: &str = "GET, HEAD, POST, OPTIONS";
/// What a path takes that is read, and removed.
const READ_OR_REMOVE: &str = "GET, HEAD, DELETE, OPTIONS";

/// Finds the destination of a request. One trailing slash is forgiven. A HEAD goes where a GET does.
///
/// # Errors
/// 404 for a path that nothing answers to, 405 with the allowed methods for one that does not take the method.
pub fn route(verb: &Verb, path: &str) -> Result<Route, NoRoute> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let Some(segments) = path.split('/').map(unescape).collect::<Option<Vec<_>>>() else {
        return Err(nothing_here());
    };
    let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
    if let Some(target) = target(verb, &segments) {
        return target.map(|target| Route { tenant: None, target });
    }
    if let Some((tenant, rest)) = segments.split_first()
        && is_session_id(tenant)
        && !matches!(rest.first(), Some(&"operator" | &"documents"))
        && let Some(target) = target(verb, rest)
    {
        return target.map(|target| Route {
            tenant: Some((*tenant).to_owned()),
            target,
        });
    }
    Err(nothing_here())
}

/// What a path without its tenant calls, or `None` if nothing answers to it.
fn target(verb: &Verb, segments: &[&str]) -> Option<Result<Target, NoRoute>> {
    let only = |allow: &'static str, target: Target| {
        if *verb == Verb::OPTIONS {
            return Ok(Target::Options(allow));
        }
        if allow.split(", ").any(|allowed| allowed == verb.as_str()) {
            return Ok(target);
        }
        let refusal = Refusal::new(
            Code::Unimplemented,
            format!("expected one of these methods: {allow}"),
        )
        .with_reason(crate::refusal::A2A_DOMAIN, "METHOD_NOT_ALLOWED")
        .with_http(405);
        Err(NoRoute {
            refusal,
            allow: Some(allow),
            form: target.form(),
        })
    };
    let core = |allow, method| Some(only(allow, Target::Core(method, Vec::new())));
    let of_task =
        |allow, method, task: &str| Some(only(allow, Target::Core(method, vec![("id", task.to_owned())])));
    let configs = |method, task: &str| {
        let named = vec![("taskId", task.to_owned())];
        Some(only(READ_OR_ACT, Target::Core(method, named)))
    };
    let config = |method, task: &str, id: &str| {
        let named = vec![("taskId", task.to_owned()), ("id", id.to_owned())];
        Some(only(READ_OR_REMOVE, Target::Core(method, named)))
    };
    if let Some(page) = Page::at(segments) {
        return Some(only(READ, Target::Page(page)));
    }
    match segments {
        [".well-known", "agent-card.json"] => Some(only(READ, Target::Card)),
        ["documents", name] if document::is_name(name) => {
            Some(only(READ, Target::Document((*name).to_owned())))
        }
        [RPC] => Some(only(ACT, Target::Rpc)),
        ["message:send"] => core(ACT, Method::SendMessage),
        ["message:stream"] => core(ACT, Method::SendStreamingMessage),
        ["extendedAgentCard"] => core(READ, Method::GetExtendedAgentCard),
        ["tasks"] => core(READ, Method::ListTasks),
        ["tasks", task] => match task.rsplit_once(':') {
            Some((task, "cancel")) => of_task(ACT, Method::CancelTask, task),
            Some((task, "subscribe")) => of_task(READ_OR_ACT, Method::SubscribeToTask, task),
            _ => of_task(READ, Method::GetTask, task),
        },
        ["tasks", task, "pushNotificationConfigs"] if *verb == Verb::POST => {
            configs(Method::CreateTaskPushNotificationConfig, task)
        }
        ["tasks", task, "pushNotificationConfigs"] => configs(Method::ListTaskPushNotificationConfigs, task),
        ["tasks", task, "pushNotificationConfigs", id] if *verb == Verb::DELETE => {
            config(Method::DeleteTaskPushNotificationConfig, task, id)
        }
        ["tasks", task, "pushNotificationConfigs", id] => {
            config(Method::GetTaskPushNotificationConfig, task, id)
        }
        ["extensions", name, version, segment] => Some(only(
            if segment.ends_with(":stream") { READ } else { ACT },
            Target::Extension {
                path: format!("extensions/{name}/{version}"),
                segment: (*segment).to_owned(),
            },
        )),
        ["operator", "v1", segment] => Some(only(ACT, Target::Operator((*segment).to_owned()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(method: Method, named: &[(&'static str, &str)], tenant: Option<&str>) -> Result<Route, NoRoute> {
        let named = named.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let target = Target::Core(method, named.collect());
        Ok(Route {
            tenant: tenant.map(str::to_owned),
            target,
        })
    }

    const CONFIG: [(&str, &str); 2] = [("taskId", "t"), ("id", "c")];

    #[test]
    fn every_core_operation_has_its_path_with_and_without_a_tenant() {
        for (verb, path, method, named) in [
            (Verb::POST, "message:send", Method::SendMessage, &[][..]),
            (
                Verb::POST,
                "message:stream",
                Method::SendStreamingMessage,
                &[][..],
            ),
            (Verb::GET, "tasks", Method::ListTasks, &[][..]),
            (Verb::GET, "tasks/t-1", Method::GetTask, &[("id", "t-1")]),
            (
                Verb::POST,
                "tasks/t-1:cancel",
                Method::CancelTask,
                &[("id", "t-1")],
            ),
            (
                Verb::GET,
                "tasks/t-1:subscribe",
                Method::SubscribeToTask,
                &[("id", "t-1")],
            ),
            (
                Verb::POST,
                "tasks/t-1:subscribe",
                Method::SubscribeToTask,
                &[("id", "t-1")],
            ),
            (
                Verb::POST,
                "tasks/t/pushNotificationConfigs",
                Method::CreateTaskPushNotificationConfig,
                &[("taskId", "t")],
            ),
            (
                Verb::GET,
                "tasks/t/pushNotificationConfigs",
                Method::ListTaskPushNotificationConfigs,
                &[("taskId", "t")],
            ),
            (
                Verb::GET,
                "tasks/t/pushNotificationConfigs/c",
                Method::GetTaskPushNotificationConfig,
                &CONFIG,
            ),
            (
                Verb::DELETE,
                "tasks/t/pushNotificationConfigs/c",
                Method::DeleteTaskPushNotificationConfig,
                &CONFIG,
            ),
            (
                Verb::GET,
                "extendedAgentCard",
                Method::GetExtendedAgentCard,
                &[][..],
            ),
        ] {
            assert_eq!(
                route(&verb, &format!("/{path}")),
                core(method, named, None),
                "{path}"
            );
            assert_eq!(
                route(&verb, &format!("/{path}/")),
                core(method, named, None),
                "{path}/"
            );
            assert_eq!(
                route(&verb, &format!("/s1/{path}")),
                core(method, named, Some("s1")),
                "{path}"
            );
        }
    }

    #[test]
    fn json_rpc_has_one_path_with_and_without_a_tenant() {
        for (path, tenant) in [
            ("/rpc", None),
            ("/rpc/", None),
            ("/s1/rpc", Some("s1")),
            ("/rpc/rpc/", Some("rpc")),
        ] {
            let expected = Route {
                tenant: tenant.map(str::to_owned),
                target: Target::Rpc,
            };
            assert_eq!(route(&Verb::POST, path), Ok(expected), "{path}");
            assert_eq!(route(&Verb::GET, path).unwrap_err().allow, Some(ACT), "{path}");
        }
    }

    #[test]
    fn a_task_id_is_cut_at_the_last_colon_and_unescaped() {
        assert_eq!(
            route(&Verb::POST, "/tasks/a:b:cancel"),
            core(Method::CancelTask, &[("id", "a:b")], None)
        );
        assert_eq!(
            route(&Verb::GET, "/tasks/a%2Fb%C3%A9"),
            core(Method::GetTask, &[("id", "a/bé")], None)
        );
        assert_eq!(
            route(&Verb::GET, "/tasks/a:b"),
            core(Method::GetTask, &[("id", "a:b")], None)
        );
    }

    #[test]
    fn a_path_that_nothing_answers_to_is_404_and_a_wrong_method_405_with_what_is_allowed() {
        for path in [
            "/",
            "",
            "/nothing",
            "/tasks/a/b",
            "/s1/operator/v1/tasks:list",
            "/documents",
            "/documents/",
            "/documents/..",
            "/documents/a%2Fb",
            "/documents/a/b",
            "/s1/documents/a",
            "/s_1/tasks",
            "/tasks/%FF",
            "/tasks/%4",
        ] {
            let none = route(&Verb::GET, path).unwrap_err();
            assert_eq!((none.refusal.status(), none.allow), (404, None), "{path}");
        }
        for (verb, path, allow) in [
            (Verb::GET, "/message:send", "POST, OPTIONS"),
            (Verb::HEAD, "/message:send", "POST, OPTIONS"),
            (Verb::PUT, "/tasks", "GET, HEAD, OPTIONS"),
            (Verb::DELETE, "/tasks/t", "GET, HEAD, OPTIONS"),
            (Verb::GET, "/tasks/t:cancel", "POST, OPTIONS"),
            (Verb::PUT, "/tasks/t:subscribe", "GET, HEAD, POST, OPTIONS"),
            (
                Verb::PUT,
                "/tasks/t/pushNotificationConfigs",
                "GET, HEAD, POST, OPTIONS",
            ),
            (
                Verb::POST,
                "/tasks/t/pushNotificationConfigs/c",
                "GET, HEAD, DELETE, OPTIONS",
            ),
            (
                Verb::PUT,
                "/extensions/session-coordination/v1/requests:list",
                "POST, OPTIONS",
            ),
            (
                Verb::POST,
                "/extensions/session-coordination/v1/events:stream",
                "GET, HEAD, OPTIONS",
            ),
            (Verb::GET, "/operator/v1/tasks:list", "POST, OPTIONS"),
            (Verb::POST, "/.well-known/agent-card.json", "GET, HEAD, OPTIONS"),
            (Verb::PUT, "/documents/guide.md", "GET, HEAD, OPTIONS"),
        ] {
            let wrong = route(&verb, path).unwrap_err();
            assert_eq!(
                (wrong.refusal.status(), wrong.allow),
                (405, Some(allow)),
                "{path}"
            );
            let options = route(&Verb::OPTIONS, path).unwrap();
            assert_eq!(options.target, Target::Options(allow), "{path}");
        }
    }

    #[test]
    fn a_document_is_named_by_its_path() {
        let named = Target::Document("guide.md".to_owned());
        assert_eq!(route(&Verb::GET, "/documents/guide.md").unwrap().target, named);
        assert_eq!(
            route(&Verb::HEAD, "/documents/guide%2Emd/").unwrap().target,
            named
        );
    }

    #[test]
    fn a_head_goes_where_a_get_does() {
        for path in [
            "/.well-known/agent-card.json",
            "/tasks",
            "/s1/tasks/t",
            "/tasks/t:subscribe",
            "/tasks/t/pushNotificationConfigs",
            "/tasks/t/pushNotificationConfigs/c",
            "/extendedAgentCard",
            "/extensions/session-coordination/v1/events:stream",
        ] {
            assert_eq!(route(&Verb::HEAD, path), route(&Verb::GET, path), "{path}");
        }
    }
}
