//! Pages of other origins: what a host that one of them may call tells browsers.

use a2a_edge_stories::{Http, Target as _};
use http::Request;

/// The origin that the deployment has to name.
pub(crate) const PAGE: &str = "https://app.example.org";

/// Asks as a browser would for that page and for another.
pub(crate) fn only_the_page_may_call(url: &str) {
    for (line, status) in [
        ("GET /.well-known/agent-card.json", 200),
        ("OPTIONS /message:send", 204),
        ("GET /tasks", 401),
        ("GET /nowhere", 404),
    ] {
        let (method, path) = line.split_once(' ').unwrap();
        for (origin, granted) in [(PAGE, Some(PAGE)), ("https://other.example.org", None)] {
            let request = Request::builder()
                .method(method)
                .uri(path)
                .header("origin", origin)
                .header("access-control-request-method", "POST");
            let answer = Http::new(url).call(request.body(Vec::new()).unwrap()).unwrap();
            assert_eq!(answer.status(), status, "{line}");
            let told = answer.headers().get("access-control-allow-origin");
            let told = told.map(|told| told.to_str().unwrap());
            assert_eq!(told, granted, "{line} of {origin}");
            assert_eq!(answer.headers()["vary"], "origin", "{line}");
        }
    }
}
