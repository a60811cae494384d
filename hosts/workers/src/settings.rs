//! What the deployment is configured to be: the Worker's variables and secrets, as the core's settings.

use std::cell::RefCell;
use std::rc::Rc;

use a2a_edge::desk::settings::NAMES;
use a2a_edge::serve::{Config, ConfigError, Desk};
use worker::{Env, Url};

/// What every variable's name begins with; the rest is a setting's name in capitals.
const PREFIX: &str = "A2A_EDGE_";
/// The setting that creates sessions, a secret.
const OPERATOR_TOKEN: &str = "operator_token";
/// Where clients reach the agent; the origin of each request unless it is set.
const BASE_URL: &str = "base_url";

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

fn config(env: &Env, origin: &str) -> Result<Config, String> {
    if set(env, OPERATOR_TOKEN).is_none() {
        let rule = "expected a secret: set it with `npx wrangler secret put`";
        return Err(format!("{}: {rule}", variable(OPERATOR_TOKEN)));
    }
    let config = Config::from_texts(|name| {
        let text = set(env, name);
        text.or_else(|| (name == BASE_URL).then(|| origin.to_owned()))
    });
    config.map_err(|error| by_variable(&error))
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
    let known = NAMES.contains(&error.setting);
    let place = if known {
        variable(error.setting)
    } else {
        error.setting.to_owned()
    };
    format!("{place}: {}", error.rule)
}
