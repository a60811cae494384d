//! What the deployment is configured to be: the Worker's variables and secrets, as the core's settings.

use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;
use std::thread::LocalKey;

use a2a_edge::agent::card::Document;
use a2a_edge::desk::Anonymous;
use a2a_edge::extension::Method;
use a2a_edge::guard::Reach;
use a2a_edge::http::route::{Target, route};
use a2a_edge::serve::{Config, ConfigError, Desk};
use a2a_edge::time::{NotATime, Timestamp};
use serde_json::Value;
use worker::{Env, Url, console_warn};

use crate::directory::Directory;

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
/// Media types that are taken beside the usual ones, with commas between them.
const INPUT_MODES: &str = "A2A_EDGE_INPUT_MODES";
/// Whom callers without a token act as: `SESSION/PARTICIPANT`.
const ANONYMOUS: &str = "A2A_EDGE_ANONYMOUS";
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

/// A desk, with the origin and the card's document that it was made for.
struct Made {
    origin: String,
    document: Option<String>,
    desk: Rc<Desk>,
}

thread_local! {
    /// The desk of the last request: as a rule there is only one origin.
    static DESK: RefCell<Option<Made>> = const { RefCell::new(None) };
    /// That of the last request for a card with a document.
    static SHOWN: RefCell<Option<Made>> = const { RefCell::new(None) };
}

/// The desk for a request to a URL. What the directory has of the card is only asked for where a card is shown, so that
/// nothing else can depend on it.
///
/// # Errors
/// The first variable at fault, with the rule it breaks.
pub async fn desk<B>(env: &Env, url: &Url, head: &http::Request<B>) -> Result<Rc<Desk>, String> {
    let origin = url.origin().ascii_serialization();
    let plain = made(&DESK, &origin, None, || config(env, &origin))?;
    if shows_a_card(head) {
        shown(env, &origin, plain).await
    } else {
        Ok(plain)
    }
}

/// The desk for a request whose body says what it asks for: another than `plain` where that is a card.
///
/// # Errors
/// As [`desk`] has.
pub async fn desk_of_body<B>(
    env: &Env,
    url: &Url,
    head: &http::Request<B>,
    body: &[u8],
    plain: &Rc<Desk>,
) -> Result<Rc<Desk>, String> {
    let name = Method::GetExtendedAgentCard.name().as_bytes();
    let target = route(head.method(), head.uri().path()).map(|route| route.target);
    if target == Ok(Target::Rpc) && body.windows(name.len()).any(|bytes| bytes == name) {
        shown(env, &url.origin().ascii_serialization(), Rc::clone(plain)).await
    } else {
        Ok(Rc::clone(plain))
    }
}

/// A desk whose card says what the directory has of it, as far as that is to be had.
async fn shown(env: &Env, origin: &str, plain: Rc<Desk>) -> Result<Rc<Desk>, String> {
    let Some(text) = Directory::new(env).card().await else {
        return Ok(plain);
    };
    match Document::parse(text.as_bytes()) {
        Ok(document) => made(&SHOWN, origin, Some(text), || {
            Ok(Config {
                card: document,
                // When the document last changed is not known.
                card_modified: None,
                ..plain.config().clone()
            })
        }),
        Err(error) => {
            let line = serde_json::json!({"event": "card", "why": error.to_string()});
            console_warn!("{line}");
            Ok(plain)
        }
    }
}

/// The desk that was made last, if it is for the same, or a new one.
fn made(
    last: &'static LocalKey<RefCell<Option<Made>>>,
    origin: &str,
    document: Option<String>,
    config: impl FnOnce() -> Result<Config, String>,
) -> Result<Rc<Desk>, String> {
    let same = |made: &&Made| made.origin == origin && made.document == document;
    let known = last.with_borrow(|last| last.as_ref().filter(same).map(|made| Rc::clone(&made.desk)));
    if let Some(desk) = known {
        return Ok(desk);
    }
    let desk = Rc::new(Desk::new(config()?).map_err(|error| by_variable(&error))?);
    last.set(Some(Made {
        origin: origin.to_owned(),
        document,
        desk: Rc::clone(&desk),
    }));
    Ok(desk)
}

/// The desk for what no request asks for: the last one's, or one that nobody sees the address of.
///
/// # Errors
/// As for [`desk`].
pub fn last_desk(env: &Env) -> Result<Rc<Desk>, String> {
    let known = DESK.with_borrow(|made| made.as_ref().map(|made| Rc::clone(&made.desk)));
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

/// Whether the answer is a card.
fn shows_a_card<B>(head: &http::Request<B>) -> bool {
    let target = route(head.method(), head.uri().path()).map(|route| route.target);
    matches!(
        target,
        Ok(Target::Card | Target::Core(Method::GetExtendedAgentCard, _))
    )
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
    for limit in list(env, LIMITS) {
        limits.set(&limit).map_err(|rule| fault(LIMITS, rule))?;
    }
    let base_url = set(env, BASE_URL).map(|url| url.trim_end_matches('/').to_owned());
    Ok(Config {
        base_url: base_url.unwrap_or_else(|| origin.to_owned()),
        name: set(env, NAME).unwrap_or(defaults.name),
        description: set(env, DESCRIPTION).unwrap_or(defaults.description),
        version: set(env, VERSION).unwrap_or(defaults.version),
        card_modified: card_modified(env)?,
        input_modes: list(env, INPUT_MODES),
        anonymous: anonymous(env)?,
        operator_token: Some(operator_token),
        blocking_limit_ms: millis(env, WAIT_LIMIT)?.unwrap_or(defaults.blocking_limit_ms),
        streaming,
        keep_alive_ms: millis(env, KEEP_ALIVE)?.unwrap_or(defaults.keep_alive_ms),
        webhooks,
        limits,
        ..defaults
    })
}

/// Whom callers without a token act as.
fn anonymous(env: &Env) -> Result<Option<Anonymous>, String> {
    let anonymous = set(env, ANONYMOUS).map(|text| text.parse());
    anonymous.transpose().map_err(|rule: &str| fault(ANONYMOUS, rule))
}

/// A variable's entries, with commas between them.
fn list(env: &Env, variable: &str) -> Vec<String> {
    let text = set(env, variable).unwrap_or_default();
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(str::to_owned).collect()
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
        "input_modes" => fault(INPUT_MODES, &error.rule),
        setting => fault(setting, &error.rule),
    }
}

fn fault(variable: &str, rule: impl Display) -> String {
    format!("{variable}: {rule}")
}
