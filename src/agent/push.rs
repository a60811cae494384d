//! Push notification configs: set, read, listed and deleted by the client whose task it is (A2A 1.0, §3.1.7 to
//! §3.1.10).
//!
//! What a client sets is shown to it as it set it, credentials included, and to nobody else. Who calls without a credential
//! is shown no secrets.

use serde_json::{Map, Value, json};

use super::list::{page_after, page_size};
use super::{Call, decide};
use crate::a2a::decode::{Decoder, at, member};
use crate::a2a::{AuthenticationInfo, TaskPushNotificationConfig};
use crate::desk::Desk;
use crate::extension::{Activations, Method, RequestContext, header};
use crate::guard::Reach;
use crate::refusal::{Code, Refusal};
use crate::session::decide::NewPush;
use crate::session::{Command, Commit, Session};
use crate::text;

/// The most bytes of a config's id.
pub const ID_BYTES: usize = 256;
/// The most bytes of a config's token.
pub const TOKEN_BYTES: usize = 1024;
/// The most bytes of the name of an authentication scheme.
pub const SCHEME_BYTES: usize = 64;
/// The most bytes of credentials.
pub const CREDENTIALS_BYTES: usize = 8192;

/// PushNotificationNotSupportedError (A2A 1.0, §3.3.2).
pub(super) fn not_supported(message: impl Into<String>) -> Refusal {
    Refusal::a2a(
        Code::FailedPrecondition,
        "PUSH_NOTIFICATION_NOT_SUPPORTED",
        message,
    )
}

/// The task and the config that a request names.
#[derive(Default)]
struct Named {
    task_id: String,
    config_id: String,
}

/// Does one of the four operations; what comes of it is the answer.
pub(super) fn run(
    desk: &Desk,
    session: &Session,
    call: &Call<'_>,
    params: &Map<String, Value>,
) -> Result<(Option<Commit>, Value), Refusal> {
    let Some(reach) = desk.config.webhooks else {
        return Err(super::not_offered(call.method));
    };
    let mut decoder = Decoder::new();
    let mut named = Named {
        task_id: required(&mut decoder, params, "taskId", "expected the id of a task"),
        ..Named::default()
    };
    let command = match call.method {
        Method::CreateTaskPushNotificationConfig => {
            let told = subscribed(desk, session, call)?;
            let new = config(&mut decoder, params, "", reach, &told);
            let (task_id, new) = decoder
                .finish((named.task_id, Box::new(new)))
                .map_err(Refusal::violations)?;
            Command::SetPushConfig { task_id, new }
        }
        Method::ListTaskPushNotificationConfigs => return list(session, call, decoder, named, params),
        method => {
            let rule = "expected the id of a push notification config";
            named.config_id = required(&mut decoder, params, "id", rule);
            let Named { task_id, config_id } = decoder.finish(named).map_err(Refusal::violations)?;
            if method == Method::GetTaskPushNotificationConfig {
                session.own_task(&task_id, call.caller)?;
                let found = session.pushes().get(&task_id, &config_id);
                let found = found.ok_or_else(|| no_such_config(&task_id, &config_id))?;
                return Ok((None, json!(shown(&found.config, call))));
            }
            Command::DeletePushConfig { task_id, config_id }
        }
    };
    let (commit, answer) = decide(desk, session, call, &command)?;
    Ok((commit, answer.into_object()))
}

/// The extensions that take part in what is sent: those that would in a stream about the task.
fn subscribed(desk: &Desk, session: &Session, call: &Call<'_>) -> Result<Activations, Refusal> {
    let requested = header::requested(call.requested, &[]);
    let context = RequestContext {
        method: Some(Method::SubscribeToTask),
        now: call.now,
        tenant: Some(session.id().to_owned()),
    };
    desk.registry.activate(&requested, &context)
}

/// A config as its client reads it. All who call without a credential are one client, and what one of them keeps secret is
/// not for the others.
fn shown(config: &TaskPushNotificationConfig, call: &Call<'_>) -> TaskPushNotificationConfig {
    let mut shown = config.clone();
    if call.caller.is_anonymous() {
        shown.token = None;
        shown.authentication = shown.authentication.map(|authentication| AuthenticationInfo {
            credentials: None,
            ..authentication
        });
    }
    shown
}

/// The specification has no other error for it (A2A 1.0, §3.1.8).
fn no_such_config(task_id: &str, config_id: &str) -> Refusal {
    Refusal::a2a(
        Code::NotFound,
        "TASK_NOT_FOUND",
        "no such push notification config",
    )
    .with_fact("taskId", task_id)
    .with_fact("configId", config_id)
}

fn required(decoder: &mut Decoder, params: &Map<String, Value>, name: &str, rule: &str) -> String {
    // What is there and no text has been noted already.
    let value = decoder.text(params, name, "");
    if value.is_none() && member(params, name).is_none_or(Value::is_string) {
        decoder.fault(name, rule);
    }
    value.unwrap_or_default()
}

/// A page of configs, by id: `{configs, nextPageToken?}`.
fn list(
    session: &Session,
    call: &Call<'_>,
    mut decoder: Decoder,
    named: Named,
    params: &Map<String, Value>,
) -> Result<(Option<Commit>, Value), Refusal> {
    let task_id = named.task_id;
    let list = format!("push {} {task_id}", call.caller.participant_id);
    let size = page_size(&mut decoder, params);
    let after = page_after(&mut decoder, session, &list, params);
    let (size, after) = decoder.finish((size, after)).map_err(Refusal::violations)?;
    session.own_task(&task_id, call.caller)?;
    let mut configs = session
        .pushes()
        .of_task(&task_id)
        .map(|record| shown(&record.config, call))
        .filter(|config| after.as_ref().is_none_or(|after| config.id > *after));
    let page: Vec<_> = configs.by_ref().take(size).collect();
    let mut answer = json!({ "configs": page });
    let last = page.last().filter(|_| configs.next().is_some());
    if let (Some(last), Some(answer)) = (last, answer.as_object_mut()) {
        let token = session.page_token(&list, &last.id);
        answer.insert("nextPageToken".to_owned(), json!(token));
    }
    Ok((None, answer))
}

/// Reads the config that comes with a message, in `configuration.taskPushNotificationConfig`.
///
/// # Errors
/// PushNotificationNotSupportedError, when the agent offers none.
pub(super) fn inline(
    decoder: &mut Decoder,
    value: &Value,
    reach: Option<Reach>,
    activations: &Activations,
    task_id: Option<&str>,
) -> Result<Option<NewPush>, Refusal> {
    const PATH: &str = "configuration.taskPushNotificationConfig";
    let Some(reach) = reach else {
        return Err(not_supported("this agent does not offer push notifications"));
    };
    let Some(object) = decoder.object(value, PATH) else {
        return Ok(None);
    };
    let named = decoder.text(object, "taskId", PATH);
    if named.is_some() && named.as_deref() != task_id {
        decoder.fault(at(PATH, "taskId"), "expected nothing, or the message's own task");
    }
    Ok(Some(config(decoder, object, PATH, reach, activations)))
}

/// Reads a config but for its task.
fn config(
    decoder: &mut Decoder,
    object: &Map<String, Value>,
    path: &str,
    reach: Reach,
    activations: &Activations,
) -> NewPush {
    let config_id = decoder.text(object, "id", path);
    if let Some(id) = &config_id
        && (id.len() > ID_BYTES || text::is_blank(id) || text::has_line_break(id))
    {
        let rule = format!("expected one line of at most {ID_BYTES} bytes, not blank");
        decoder.fault(at(path, "id"), rule);
    }
    let url = match member(object, "url") {
        Some(Value::String(url)) => {
            if let Err(rule) = reach.check(url) {
                decoder.fault(at(path, "url"), rule);
            }
            url.clone()
        }
        _ => {
            decoder.fault(at(path, "url"), "expected an absolute https address");
            String::new()
        }
    };
    let token = decoder.text(object, "token", path);
    if token
        .as_ref()
        .is_some_and(|token| !stands_in_a_header(token, TOKEN_BYTES))
    {
        decoder.fault(at(path, "token"), header_rule(TOKEN_BYTES));
    }
    NewPush {
        config_id,
        url,
        token,
        authentication: authentication(decoder, object, path),
        extensions: activations.uris().map(str::to_owned).collect(),
    }
}

fn authentication(
    decoder: &mut Decoder,
    object: &Map<String, Value>,
    path: &str,
) -> Option<AuthenticationInfo> {
    let path = at(path, "authentication");
    let object = decoder.object(member(object, "authentication")?, &path)?;
    let scheme = decoder.text(object, "scheme", &path).unwrap_or_default();
    if !is_scheme(&scheme) {
        let rule =
            format!("expected the name of an HTTP authentication scheme, at most {SCHEME_BYTES} bytes");
        decoder.fault(at(&path, "scheme"), rule);
    }
    let credentials = decoder.text(object, "credentials", &path);
    if credentials
        .as_ref()
        .is_some_and(|credentials| !stands_in_a_header(credentials, CREDENTIALS_BYTES))
    {
        decoder.fault(at(&path, "credentials"), header_rule(CREDENTIALS_BYTES));
    }
    Some(AuthenticationInfo { scheme, credentials })
}

/// Whether a text can be a header's value, or the end of one, and comes out as it went in.
fn stands_in_a_header(text: &str, most: usize) -> bool {
    let bytes = text.as_bytes();
    let visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    bytes.len() <= most
        && visible(bytes.first())
        && visible(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ')
}

fn header_rule(most: usize) -> String {
    format!("expected at most {most} visible ASCII characters, and spaces only between them")
}

/// A token of RFC 9110, §5.6.2.
fn is_scheme(scheme: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    (1..=SCHEME_BYTES).contains(&scheme.len()) && scheme.bytes().all(is_token)
}
