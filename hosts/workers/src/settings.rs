//! What the deployment is configured to be: the Worker's variables and secrets, as the core's settings.

use std::cell::RefCell;
use std::rc::Rc;

use a2a_edge::agent::card::Document;
use a2a_edge::desk::settings::NAMES;
use a2a_edge::serve::place::shows_card;
use a2a_edge::serve::{Config, ConfigError, Desk};
use a2a_edge::time::Timestamp;
use http::{Request, Uri};
use serde_json::{Value, json};
use worker::js_sys::{JSON, Reflect};
use worker::{Env, console_warn};

use crate::directory::Directory;

/// What every variable's name begins with; the rest is a setting's name in capitals.
const PREFIX: &str = "A2A_EDGE_";
/// The setting that creates sessions, a secret.
const OPERATOR_TOKEN: &str = "operator_token";
/// The binding that tells which deployment this is.
const DEPLOYMENT: &str = "CF_VERSION_METADATA";
/// The address of an agent whose address nobody sees.
const NOWHERE: &str = "https://session.invalid";

thread_local! {
    /// The desk of the last request, and the origin that it was made for: as a rule there is only one.
    static DESK: RefCell<Option<(String, Rc<Desk>)>> = const { RefCell::new(None) };
    /// The last desk with the directory's document, and what it was made of.
    static SHOWING: RefCell<Option<Showing>> = const { RefCell::new(None) };
}

/// A desk with the directory's document on its card.
struct Showing {
    text: String,
    plain: Rc<Desk>,
    desk: Rc<Desk>,
}

/// The desk for a request. What the directory has of the card is only asked for where a card is shown, so that nothing
/// else can depend on it.
///
/// # Errors
/// The first variable at fault, with the rule it breaks.
pub async fn desk(env: &Env, request: &Request<Vec<u8>>) -> Result<Rc<Desk>, String> {
    let plain = plain(env, origin(request.uri()).as_deref())?;
    if !shows_card(request) {
        return Ok(plain);
    }
    let Some(text) = Directory::new(env).card().await else {
        return Ok(plain);
    };
    let known = SHOWING.with_borrow(|made| {
        let made = made.as_ref();
        let made = made.filter(|made| made.text == text && Rc::ptr_eq(&made.plain, &plain));
        made.map(|made| Rc::clone(&made.desk))
    });
    if let Some(desk) = known {
        return Ok(desk);
    }
    match Document::parse(text.as_bytes()) {
        Ok(document) => {
            let desk = Rc::new(plain.showing(document));
            SHOWING.set(Some(Showing {
                text,
                plain,
                desk: Rc::clone(&desk),
            }));
            Ok(desk)
        }
        Err(error) => {
            let line = json!({"event": "card", "why": error.to_string()});
            console_warn!("{line}");
            Ok(plain)
        }
    }
}

/// The desk of the settings alone, for requests to an origin or for what no request asks for.
///
/// # Errors
/// As [`desk`] has.
pub fn plain(env: &Env, origin: Option<&str>) -> Result<Rc<Desk>, String> {
    let known = DESK.with_borrow(|made| {
        let made = made.as_ref()?;
        origin
            .is_none_or(|origin| origin == made.0)
            .then(|| Rc::clone(&made.1))
    });
    if let Some(desk) = known {
        return Ok(desk);
    }
    if set(env, OPERATOR_TOKEN).is_none() {
        let rule = "expected a secret: set it with `wrangler secret put`";
        return Err(format!("{}: {rule}", variable(OPERATOR_TOKEN)));
    }
    let origin = origin.unwrap_or(NOWHERE);
    let config = Config::from_texts(|name| {
        set(env, name).or_else(|| match name {
            "base_url" => Some(origin.to_owned()),
            "card_modified" => deployed(env),
            "push" => Some("on".to_owned()),
            _ => None,
        })
    });
    let desk = Rc::new(config.and_then(Desk::new).map_err(|error| by_variable(&error))?);
    DESK.set(Some((origin.to_owned(), Rc::clone(&desk))));
    Ok(desk)
}

/// Where a request was sent to.
fn origin(uri: &Uri) -> Option<String> {
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}

/// When the deployment was made, if the platform tells a time.
fn deployed(env: &Env) -> Option<String> {
    let deployment = env.object_var::<Value>(DEPLOYMENT).ok()?;
    let time: Timestamp = deployment.get("timestamp")?.as_str()?.parse().ok()?;
    Some(time.to_string())
}

/// The text of a setting's variable or secret; an empty one is as good as none. A variable may be JSON as well: a number,
/// or the card's document.
fn set(env: &Env, setting: &str) -> Option<String> {
    let value = Reflect::get(env, &variable(setting).into()).ok()?;
    if value.is_null() {
        return None;
    }
    let json = || JSON::stringify(&value).ok()?.as_string();
    let text = value.as_string().or_else(json)?;
    (!text.is_empty()).then_some(text)
}

/// The variable that gives a setting.
fn variable(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_ascii_uppercase())
}

/// A setting at fault, by the variable that gave it.
fn by_variable(error: &ConfigError) -> String {
    if NAMES.contains(&error.setting) {
        format!("{}: {}", variable(error.setting), error.rule)
    } else {
        error.to_string()
    }
}
