//! What the deployment is configured to be: the application's variables, as the core's settings.

use a2a_edge::desk::settings::NAMES;
use serde_json::{Map, Value};
use spin_sdk::variables::{self, Error};

/// Whether push notifications are offered; they are unless it is set.
const PUSH: &str = "push";

/// Whether notifications are sent with these settings.
pub fn notifies(settings: &Value) -> bool {
    settings.get(PUSH).is_none_or(|push| push != "off")
}

/// The settings that are set, as the component takes them.
///
/// # Errors
/// The first variable that can't be read, or the secret without which nothing is served.
pub async fn document() -> Result<Value, String> {
    let mut settings = Map::new();
    settings.insert(PUSH.to_owned(), Value::from("on"));
    for name in NAMES {
        match variables::get(name).await {
            Ok(text) if !text.is_empty() => {
                settings.insert(name.to_owned(), Value::String(text));
            }
            Ok(_) | Err(Error::Undefined(_)) => {}
            // What a provider says may name places that are nobody's business.
            Err(_) => return Err(format!("{name}: expected a variable that can be read")),
        }
    }
    if settings.contains_key("operator_token") {
        Ok(Value::Object(settings))
    } else {
        let rule =
            "expected a secret: set it with `SPIN_VARIABLE_OPERATOR_TOKEN` or another provider of variables";
        Err(format!("operator_token: {rule}"))
    }
}
