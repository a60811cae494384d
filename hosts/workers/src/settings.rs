//! What the deployment is configured to be: the Worker's variables and secrets, as the core's settings.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

use a2a_edge::guard::Reach;
use a2a_edge::serve::{Config, ConfigError, Desk};
use a2a_edge::time::{NotATime, Timestamp};
use serde_json::Value;
use worker::{Env, Url};

/// The secret that creates sessions.
const OPERATOR_TOKEN: &str = "A2A_EDGE_OPERATOR_TOKEN";
/// Where clients reach the agent; the origin of each request unless it is set.
const BASE_URL: &str = "A2A_EDGE_BASE_URL";
/// The agent's name on its card.
const NAME: &str = "A2A_EDGE_NAME";
/// What the agent is for, on its card.
const DESCRIPTION: &str = "A2A_EDGE_DESCRIPTION";
/// The agent's own version, on its card.
const VERSION: &str = "A2A_EDGE_VERSION";
/// When the agent's card last changed, as an RFC 3339 time; the time of the deployment unless it is set.
const CARD_MODIFIED: &str = "A2A_EDGE_CARD_MODIFIED";
/// The binding that tells which deployment this is.
const DEPLOYMENT: &str = "CF_VERSION_METADATA";
/// The longest that a send waits for its task, in seconds.
const WAIT_LIMIT: &str = "A2A_EDGE_WAIT_LIMIT";
/// How much each session may hold: limits such as `live-claims=500`, with commas between them.
const LIMITS: &str = "A2A_EDGE_LIMITS";
/// Whether the agent offers streams about tasks: `on` or `off`.
const STREAMS: &str = "A2A_EDGE_STREAMS";
/// Whether the agent offers push notifications, and where to: `on`, `off` or `local`.
const PUSH: &str = "A2A_EDGE_PUSH";
/// How long a stream is silent before a comment says that it is still there, in seconds.
const KEEP_ALIVE: &str = "A2A_EDGE_KEEP_ALIVE";
/// The range of [`WAIT_LIMIT`] and [`KEEP_ALIVE`], as that of the native host.
const SECONDS: std::ops::RangeInclusive<u32> = 1..=300;

thread_local! {
    /// The desk of the last request, and the origin that it was made for: as a rule there is only one.
    static DESK: RefCell<Option<(String, Rc<Desk>)>> = const { RefCell::new(None) };
}

/// The desk for requests to a URL.
///
/// # Errors
/// The first variable at fault, with the rule it breaks.
pub fn desk(env: &Env, url: &Url) -> Result<Rc<Desk>, String> {
    let origin = url.origin().ascii_serialization();
    let known = DESK.with_borrow(|desk| {
        desk.as_ref()
            .filter(|(of, _)| *of == origin)
            .map(|(_, desk)| Rc::clone(desk))
    });
    if let Some(desk) = known {
        return Ok(desk);
    }
    let desk = Desk::new(config(env, &origin)?).map_err(|error| by_variable(&error))?;
    let desk = Rc::new(desk);
    DESK.set(Some((origin, Rc::clone(&desk))));
    Ok(desk)
}

/// The desk for what no request asks for: the last one's, or one that nobody sees the address of.
///
/// # Errors
/// As for [`desk`].
pub fn last_desk(env: &Env) -> Result<Rc<Desk>, String> {
    let known = DESK.with_borrow(|desk| desk.as_ref().map(|(_, desk)| Rc::clone(desk)));
    match known {
        Some(desk) => Ok(desk),
        None => {
            let config = config(env, "https://session.invalid")?;
            Desk::new(config)
                .map(Rc::new)
                .map_err(|error| by_variable(&error))
        }
    }
}

fn config(env: &Env, origin: &str) -> Result<Config, String> {
    let defaults = Config::default();
    let Some(operator_token) = set(env, OPERATOR_TOKEN) else {
        return Err(fault(
            OPERATOR_TOKEN,
            "expected a secret: set it with `npx wrangler secret put`",
        ));
    };
    let streaming = match set(env, STREAMS).as_deref() {
        None => defaults.streaming,
        Some("on") => true,
        Some("off") => false,
        Some(_) => return Err(fault(STREAMS, "expected on or off")),
    };
    let webhooks = match set(env, PUSH).as_deref() {
        None | Some("on") => Some(Reach::Public),
        Some("off") => None,
        Some("local") => Some(Reach::Anywhere),
        Some(_) => return Err(fault(PUSH, "expected on, off or local")),
    };
    let mut limits = defaults.limits;
    let settings = set(env, LIMITS).unwrap_or_default();
    for limit in settings.split(',').filter(|limit| !limit.trim().is_empty()) {
        limits.set(limit).map_err(|rule| fault(LIMITS, rule))?;
    }
    let base_url = set(env, BASE_URL).map(|url| url.trim_end_matches('/').to_owned());
    Ok(Config {
        base_url: base_url.unwrap_or_else(|| origin.to_owned()),
        name: set(env, NAME).unwrap_or(defaults.name),
        description: set(env, DESCRIPTION).unwrap_or(defaults.description),
        version: set(env, VERSION).unwrap_or(defaults.version),
        card_modified: card_modified(env)?,
        operator_token: Some(operator_token),
        blocking_limit_ms: millis(env, WAIT_LIMIT)?.unwrap_or(defaults.blocking_limit_ms),
        streaming,
        keep_alive_ms: millis(env, KEEP_ALIVE)?.unwrap_or(defaults.keep_alive_ms),
        webhooks,
        limits,
    })
}

/// When the card last changed, unless neither a variable nor the platform tells.
fn card_modified(env: &Env) -> Result<Option<Timestamp>, String> {
    if let Some(text) = set(env, CARD_MODIFIED) {
        let time = text
            .parse()
            .map_err(|rule: NotATime| fault(CARD_MODIFIED, rule))?;
        return Ok(Some(time));
    }
    let deployment = env.object_var::<Value>(DEPLOYMENT).ok();
    let time = deployment.and_then(|it| it.get("timestamp")?.as_str()?.parse().ok());
    Ok(time)
}

/// A variable's or secret's text; an empty one is as good as none.
fn set(env: &Env, name: &str) -> Option<String> {
    let text = env.var(name).ok()?.to_string();
    (!text.is_empty()).then_some(text)
}

/// A variable's seconds as milliseconds.
fn millis(env: &Env, variable: &str) -> Result<Option<u32>, String> {
    let Some(text) = set(env, variable) else {
        return Ok(None);
    };
    let seconds: Option<u32> = text.parse().ok().filter(|seconds| SECONDS.contains(seconds));
    match seconds {
        Some(seconds) => Ok(Some(seconds.saturating_mul(1_000))),
        None => Err(fault(variable, "expected whole seconds from 1 to 300")),
    }
}

/// A setting at fault, by the variable that gave it.
fn by_variable(error: &ConfigError) -> String {
    match error.setting {
        "operator_token" => fault(OPERATOR_TOKEN, &error.rule),
        "base_url" => fault(BASE_URL, &error.rule),
        setting => fault(setting, &error.rule),
    }
}

fn fault(variable: &str, rule: impl Display) -> String {
    format!("{variable}: {rule}")
}
