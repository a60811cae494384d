//! A Worker whose objects are nothing but the Cloudflare host's store, so that the suite of every store can be run against
//! it in the platform's runtime. It is never deployed, and the host knows nothing of it.

mod kept;
#[path = "../../../../hosts/workers/src/store.rs"]
mod store;
mod wire;

use wire::Call;
use worker::{Context, Env, Method, Request, RequestInit, Response, Result, event};

/// Hands a call to the object of its session.
#[event(fetch)]
async fn fetch(mut request: Request, env: Env, _: Context) -> Result<Response> {
    let text = request.text().await?;
    let call: Call = serde_json::from_str(&text)?;
    let mut init = RequestInit::new();
    init.with_method(Method::Post).with_body(Some(text.into()));
    let request = Request::new_with_init("https://store.invalid/", &init)?;
    let object = env.durable_object("STORES")?.get_by_name(&call.session)?;
    object.fetch_with_request(request).await
}
