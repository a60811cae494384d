//! What the deployment is configured to be: the Worker's variables and secrets, as the core's settings.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread::LocalKey;

use a2a_edge::agent::card::Document;
use a2a_edge::desk::settings::NAMES;
use a2a_edge::extension::Method;
use a2a_edge::http::route::{Target, route};
use a2a_edge::serve::{Config, ConfigError, Desk};
use a2a_edge::time::Timestamp;
use serde_json::Value;
use worker::{Env, Url, console_warn};

use crate::directory::Directory;

/// What every variable's name begins with; the rest is a setting's name in capitals.
const PREFIX: &str = "A2A_EDGE_";
/// The setting that creates sessions, a secret.
const OPERATOR_TOKEN: &str = "operator_token";
/// Where clients reach the agent; the origin of each request unless it is set.
const BASE_URL: &str = "base_url";
/// When the agent's card last changed; the time of the deployment unless it is set.
const CARD_MODIFIED: &str = "card_modified";
/// Whether the agent offers push notifications; it does unless it is set.
const PUSH: &str = "push";
/// The binding that tells which deployment this is.
const DEPLOYMENT: &str = "CF_VERSION_METADATA";

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
    if set(env, OPERATOR_TOKEN).is_none() {
        let rule = "expected a secret: set it with `npx wrangler secret put`";
        return Err(format!("{}: {rule}", variable(OPERATOR_TOKEN)));
    }
    let config = Config::from_texts(|name| {
        set(env, name).or_else(|| match name {
            BASE_URL => Some(origin.to_owned()),
            CARD_MODIFIED => deployed(env),
            PUSH => Some("on".to_owned()),
            _ => None,
        })
    });
    config.map_err(|error| by_variable(&error))
}

/// When the deployment was made, if the platform tells a time.
fn deployed(env: &Env) -> Option<String> {
    let deployment = env.object_var::<Value>(DEPLOYMENT).ok()?;
    let time = deployment.get("timestamp")?.as_str()?;
    time.parse::<Timestamp>().ok().map(|time| time.to_string())
}

/// The text of a setting's variable or secret; an empty one is as good as none.
fn set(env: &Env, setting: &str) -> Option<String> {
    let text = env.var(&variable(setting)).ok()?.to_string();
    (!text.is_empty()).then_some(text)
}

/// The variable that gives a setting.
fn variable(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase())
}

/// A setting at fault, by the variable that gave it.
fn by_variable(error: &ConfigError) -> String {
    let place = if NAMES.contains(&error.setting) {
        variable(error.setting)
    } else {
        error.setting.to_owned()
    };
    format!("{place}: {}", error.rule)
}
