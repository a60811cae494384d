//! What the deployment is configured to be: the Worker's variables and secrets, as the core's settings.

use std::cell::RefCell;
use std::rc::Rc;

use a2a_edge::desk::settings::NAMES;
use a2a_edge::serve::{Config, ConfigError, Desk};
use a2a_edge::time::Timestamp;
use serde_json::Value;
use worker::{Env, Url};

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
