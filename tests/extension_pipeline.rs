//! Requests through the whole extension pipeline, from the header's values to the echo, over a desk that answers
//! in the protocol's own objects.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use a2a_edge::a2a::card::AgentExtension;
use a2a_edge::a2a::{Message, SendMessageResponse, StreamResponse, Task};
use a2a_edge::extension::client::Wanted;
use a2a_edge::extension::timestamp::{self, TimestampExtension};
use a2a_edge::extension::{
    Activation, Activations, Builder, Extension, HasMetadata, HookRequest, HookResponse, Method, Payload,
    Registry, RequestContext, header,
};
use a2a_edge::refusal::Refusal;
use a2a_edge::time::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

const ARRIVED: Timestamp = Timestamp::from_millis(1_784_250_000_000);

/// A client's call, decoded.
struct Call<'a> {
    method: Method,
    header: &'a [&'a str],
    message: Option<Message>,
    params: Value,
}

impl<'a> Call<'a> {
    fn new(method: Method, header: &'a [&'a str]) -> Self {
        let hello = method.carries_message().then(|| Message::agent("m-1", "hello"));
        Self {
            method,
            header,
            message: hello,
            params: json!({"tenant": "s-1"}),
        }
    }
}

/// What the client gets, and what the agent saw of the request.
#[derive(Debug)]
struct Answer {
    /// The objects of the answer in the order they left.
    objects: Vec<Value>,
    echo: Option<String>,
    message: Option<Message>,
    params: Value,
    context: Value,
}

impl Answer {
    /// What an extension put on each object; null where it put nothing.
    fn data(&self, uri: &str) -> Vec<Value> {
        self.objects
            .iter()
            .map(|object| object["metadata"][uri].clone())
            .collect()
    }
}

fn arriving(method: Method) -> RequestContext {
    RequestContext {
        method: Some(method),
        now: ARRIVED,
        tenant: None,
    }
}

/// Takes a call through the pipeline.
fn serve(registry: &Registry, call: Call<'_>) -> Result<Answer, Refusal> {
    let Call {
        method,
        header,
        mut message,
        mut params,
    } = call;
    let in_message = message.as_ref().map_or(&[][..], |message| &message.extensions);
    let requested = header::requested(header, in_message);
    let mut active = registry.negotiate(&requested, &arriving(method))?;
    active.run_request(&mut HookRequest {
        method,
        now: ARRIVED,
        message: message.as_mut(),
        params: &mut params,
    })?;
    let context = json!(active.to_context_map());
    let objects = answer(method, &params, &mut active);
    Ok(Answer {
        objects,
        echo: active.echo(),
        message,
        params,
        context,
    })
}

/// The desk's answer to each method, each object of it past the response hooks.
fn answer(method: Method, params: &Value, active: &mut Activations) -> Vec<Value> {
    let mut leaving = Leaving {
        method,
        params,
        active,
    };
    match method {
        Method::SendMessage => vec![leaving.hooked(SendMessageResponse::Task(task("t-1")))],
        Method::GetTask | Method::CancelTask => vec![leaving.hooked(task("t-1"))],
        Method::ListTasks => ["t-1", "t-2"].map(|id| leaving.hooked(task(id))).into(),
        Method::SendStreamingMessage | Method::SubscribeToTask => {
            stream().into_iter().map(|event| leaving.hooked(event)).collect()
        }
        _ => Vec::new(),
    }
}

struct Leaving<'a> {
    method: Method,
    params: &'a Value,
    active: &'a mut Activations,
}

impl Leaving<'_> {
    /// An object as it leaves, without the member that names the kind of an answer or event.
    fn hooked<T: Serialize>(&mut self, mut object: T) -> Value
    where
        for<'a> Payload<'a>: From<&'a mut T>,
    {
        let mut response = HookResponse {
            method: self.method,
            now: ARRIVED.plus_seconds(1),
            params: self.params,
            payload: (&mut object).into(),
        };
        self.active.run_response(&mut response).unwrap();
        let wire = serde_json::to_value(object).unwrap();
        ["task", "message", "statusUpdate", "artifactUpdate"]
            .iter()
            .find_map(|kind| wire.get(kind).cloned())
            .unwrap_or(wire)
    }
}

fn task(id: &str) -> Task {
    let wire = json!({"id": id, "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}});
    serde_json::from_value(wire).unwrap()
}

/// A task, a change of its status, its artifact, and its end.
fn stream() -> [StreamResponse; 4] {
    let status =
        |state| json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": state}}});
    let artifact = json!({"artifactId": "answer", "parts": [{"text": "42"}]});
    [
        json!({"task": task("t-1")}),
        status("TASK_STATE_WORKING"),
        json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact}}),
        status("TASK_STATE_COMPLETED"),
    ]
    .map(|wire| serde_json::from_value(wire).unwrap())
}

fn declared(uri: &str) -> AgentExtension {
    AgentExtension {
        uri: uri.into(),
        description: None,
        required: false,
        params: None,
    }
}

/// Numbers everything that passes: the request is 1, and each object of the answer one more. It also signs a list
/// in the parameters on the way in, and the list on each object on the way out, so that the order shows.
struct Counter(AgentExtension);

impl Counter {
    fn new(uri: &str) -> Self {
        Self(declared(uri))
    }
}

fn count(activation: &mut Value) -> u64 {
    let next = activation.as_u64().unwrap().saturating_add(1);
    *activation = json!(next);
    next
}

impl Extension for Counter {
    fn declaration(&self) -> &AgentExtension {
        &self.0
    }

    fn activate(&self, _requested: &[String], _context: &RequestContext) -> Result<Activation, Refusal> {
        Ok(Activation::Active(json!(0)))
    }

    fn handle_request(&self, request: &mut HookRequest<'_>, activation: &mut Value) -> Result<(), Refusal> {
        count(activation);
        let signed = request.params["signed"].as_str().unwrap_or_default();
        request.params["signed"] = json!(format!("{signed}>{}", self.0.uri));
        if let Some(message) = &mut request.message {
            message.put_metadata(&self.0.uri, json!("received"));
        }
        Ok(())
    }

    fn handle_response(
        &self,
        response: &mut HookResponse<'_>,
        activation: &mut Value,
    ) -> Result<(), Refusal> {
        response
            .payload
            .put_metadata(&self.0.uri, json!(count(activation)));
        Ok(())
    }
}

/// Refuses every request that reaches its hook.
struct Guard(AgentExtension);

impl Extension for Guard {
    fn declaration(&self) -> &AgentExtension {
        &self.0
    }

    fn handle_request(&self, _request: &mut HookRequest<'_>, _activation: &mut Value) -> Result<(), Refusal> {
        Err(Refusal::invalid("params", "expected a password"))
    }
}

/// Cannot go on when there is something to answer.
struct Stuck(AgentExtension);

impl Extension for Stuck {
    fn declaration(&self) -> &AgentExtension {
        &self.0
    }

    fn handle_response(
        &self,
        _response: &mut HookResponse<'_>,
        _activation: &mut Value,
    ) -> Result<(), Refusal> {
        Err(Refusal::internal())
    }
}

/// Shows on an object what is on it already, so that the order of the response hooks shows.
struct Mirror(AgentExtension);

impl Extension for Mirror {
    fn declaration(&self) -> &AgentExtension {
        &self.0
    }

    fn handle_response(
        &self,
        response: &mut HookResponse<'_>,
        _activation: &mut Value,
    ) -> Result<(), Refusal> {
        let before: Vec<String> = response.payload.slots().metadata.keys().cloned().collect();
        response.payload.put_metadata(
            &self.0.uri,
            json!([before, response.method.name(), response.params]),
        );
        Ok(())
    }
}

fn registry(builder: Builder) -> Registry {
    builder.build().unwrap()
}

#[test]
fn a_response_hook_that_cannot_go_on_takes_the_answers_place_and_ends_the_chain() {
    let registry = registry(
        Registry::builder()
            .with(Counter::new("urn:before"))
            .with(Stuck(declared("urn:stuck")))
            .with(Counter::new("urn:behind")),
    );
    let requested = ["urn:before", "urn:stuck", "urn:behind"].map(str::to_owned);
    let mut active = registry
        .negotiate(&requested, &arriving(Method::GetTask))
        .unwrap();
    let mut task = task("t-1");
    let refused = active.run_response(&mut HookResponse {
        method: Method::GetTask,
        now: ARRIVED,
        params: &json!({}),
        payload: (&mut task).into(),
    });
    assert_eq!(refused, Err(Refusal::internal()));
    assert_eq!(active.get("urn:before"), Some(&json!(1)));
    assert_eq!(active.get("urn:behind"), Some(&json!(0)));
}

fn counting() -> Registry {
    registry(Registry::builder().with(Counter::new("urn:count")))
}

/// The numbers that a counter gave the objects of the answer to this method.
fn counted(method: Method) -> Vec<Value> {
    let answer = serve(&counting(), Call::new(method, &["urn:count"])).unwrap();
    assert_eq!(answer.echo.as_deref(), Some("urn:count"));
    answer.data("urn:count")
}

#[test]
fn hooks_run_for_a_send() {
    assert_eq!(counted(Method::SendMessage), [2]);
}

#[test]
fn hooks_run_for_a_get() {
    assert_eq!(counted(Method::GetTask), [2]);
}

#[test]
fn hooks_run_for_a_cancel() {
    assert_eq!(counted(Method::CancelTask), [2]);
}

#[test]
fn hooks_run_for_every_task_of_a_list() {
    assert_eq!(counted(Method::ListTasks), [2, 3]);
}

#[test]
fn an_activation_changes_from_the_request_through_every_event_of_a_stream() {
    assert_eq!(counted(Method::SendStreamingMessage), [2, 3, 4, 5]);
}

#[test]
fn hooks_run_for_every_event_of_a_subscription() {
    assert_eq!(counted(Method::SubscribeToTask), [2, 3, 4, 5]);
}

#[test]
fn hooks_run_for_a_direct_message() {
    let requested = ["urn:count".to_owned()];
    let mut active = counting()
        .negotiate(&requested, &arriving(Method::SendMessage))
        .unwrap();
    let mut leaving = Leaving {
        method: Method::SendMessage,
        params: &json!({}),
        active: &mut active,
    };
    let message = leaving.hooked(SendMessageResponse::Message(Message::agent("m-2", "hi")));
    assert_eq!(message["metadata"]["urn:count"], 1);
    assert_eq!(message["extensions"], json!(["urn:count"]));
}

#[test]
fn request_hooks_run_for_every_method_and_its_answer_echoes_them() {
    for method in Method::ALL {
        let answer = serve(&counting(), Call::new(method, &["urn:count"])).unwrap();
        assert_eq!(answer.params["signed"], ">urn:count", "{method}");
        assert_eq!(answer.echo.as_deref(), Some("urn:count"), "{method}");
    }
}

#[test]
fn a_required_extension_is_required_of_every_method() {
    let required = AgentExtension {
        required: true,
        ..declared("urn:required")
    };
    let registry = registry(Registry::builder().with(required));
    for method in Method::ALL {
        let refusal = serve(&registry, Call::new(method, &[])).unwrap_err();
        assert_eq!(
            (refusal.status(), refusal.json_rpc_code()),
            (400, -32008),
            "{method}"
        );
        assert!(
            serve(&registry, Call::new(method, &["urn:required"])).is_ok(),
            "{method}"
        );
    }
}

#[test]
fn an_extension_that_nobody_asked_for_changes_nothing() {
    let call = Call::new(Method::SendStreamingMessage, &["urn:other"]);
    let message = call.message.clone();
    let answer = serve(&counting(), call).unwrap();
    assert_eq!(answer.echo, None);
    assert_eq!(answer.message, message);
    assert_eq!(answer.params, json!({"tenant": "s-1"}));
    assert_eq!(answer.context, json!({}));
    assert!(
        answer
            .objects
            .iter()
            .all(|object| object.get("metadata").is_none())
    );
}

#[test]
fn a_message_alone_activates() {
    let mut call = Call::new(Method::SendMessage, &[]);
    call.message.as_mut().unwrap().extensions = vec!["urn:count".into()];
    let answer = serve(&counting(), call).unwrap();
    assert_eq!(answer.echo.as_deref(), Some("urn:count"));
    assert_eq!(answer.data("urn:count"), [2]);
}

#[test]
fn the_agent_gets_the_message_and_the_parameters_that_request_hooks_changed() {
    let answer = serve(&counting(), Call::new(Method::SendMessage, &["urn:count"])).unwrap();
    let message = answer.message.unwrap();
    assert_eq!(message.metadata["urn:count"], "received");
    assert_eq!(message.extensions, ["urn:count"]);
    assert_eq!(answer.params, json!({"tenant": "s-1", "signed": ">urn:count"}));
}

#[test]
fn the_agent_reads_the_activation_values_by_uri() {
    let builder = Registry::builder()
        .with(Counter::new("urn:count"))
        .with(declared("urn:data"));
    let call = Call::new(Method::GetTask, &["urn:data,urn:count"]);
    let answer = serve(&registry(builder), call).unwrap();
    assert_eq!(answer.context, json!({"urn:count": 1, "urn:data": null}));
}

#[test]
fn hooks_run_in_declaration_order_whatever_the_header_says() {
    let builder = ["urn:b", "urn:c", "urn:a"].map(Counter::new).into_iter();
    let registry = registry(builder.fold(Registry::builder(), Builder::with));
    let call = Call::new(Method::GetTask, &["urn:a", "urn:c, urn:b"]);
    let answer = serve(&registry, call).unwrap();
    assert_eq!(answer.params["signed"], ">urn:b>urn:c>urn:a");
    let metadata = answer.objects[0]["metadata"].as_object().unwrap();
    assert!(metadata.keys().eq(["urn:b", "urn:c", "urn:a"]));
    assert_eq!(answer.echo.as_deref(), Some("urn:b,urn:c,urn:a"));
}

#[test]
fn each_extension_keeps_its_own_activation() {
    let builder = ["urn:a", "urn:b"].map(Counter::new).into_iter();
    let registry = registry(builder.fold(Registry::builder(), Builder::with));
    let answer = serve(&registry, Call::new(Method::ListTasks, &["urn:a,urn:b"])).unwrap();
    assert_eq!(answer.data("urn:a"), [2, 3]);
    assert_eq!(answer.data("urn:b"), [2, 3]);
}

#[test]
fn a_response_hook_sees_what_earlier_ones_did_and_how_the_request_ended_up() {
    let builder = Registry::builder().with(Counter::new("urn:count"));
    let registry = registry(builder.with(Mirror(declared("urn:mirror"))));
    let answer = serve(&registry, Call::new(Method::GetTask, &["urn:mirror,urn:count"])).unwrap();
    let seen = json!([["urn:count"], "GetTask", {"tenant": "s-1", "signed": ">urn:count"}]);
    assert_eq!(answer.data("urn:mirror"), [seen]);
}

#[test]
fn a_request_hooks_refusal_aborts_the_request() {
    let registry = registry(Registry::builder().with(Guard(declared("urn:guard"))));
    for method in Method::ALL {
        let refusal = serve(&registry, Call::new(method, &["urn:guard"])).unwrap_err();
        assert_eq!(
            refusal,
            Refusal::invalid("params", "expected a password"),
            "{method}"
        );
    }
}

#[test]
fn hooks_after_a_refusal_do_not_run() {
    let guarded = Registry::builder()
        .with(Counter::new("urn:before"))
        .with(Guard(declared("urn:guard")));
    let registry = registry(guarded.with(Counter::new("urn:after")));
    let requested = ["urn:before", "urn:guard", "urn:after"].map(String::from);
    let mut active = registry
        .negotiate(&requested, &arriving(Method::GetTask))
        .unwrap();
    let mut params = json!({});
    let outcome = active.run_request(&mut HookRequest {
        method: Method::GetTask,
        now: ARRIVED,
        message: None,
        params: &mut params,
    });
    assert!(outcome.is_err());
    assert_eq!(params, json!({"signed": ">urn:before"}));
    assert_eq!(active.get("urn:after"), Some(&json!(0)));
}

#[test]
fn one_registry_keeps_requests_apart() {
    let registry = counting();
    for _ in 0..2 {
        let answer = serve(&registry, Call::new(Method::GetTask, &["urn:count"])).unwrap();
        assert_eq!(answer.data("urn:count"), [2]);
    }
}

#[test]
fn activation_values_are_read_by_their_exact_uri() {
    let requested = ["urn:count".to_owned()];
    let active = counting()
        .negotiate(&requested, &arriving(Method::GetTask))
        .unwrap();
    assert!(active.is_active("urn:count"));
    assert_eq!(active.get("urn:count"), Some(&json!(0)));
    assert!(!active.is_active("urn:count/v2"));
    assert_eq!(active.get("urn:count/v2"), None);
}

#[test]
fn a_client_learns_from_the_echo_what_ran() {
    let registry = registry(
        Registry::builder()
            .with_options::<TimestampExtension>(&json!({"label": "edge-1"}))
            .with(Counter::new("urn:count")),
    );
    let wanted = Wanted::new([timestamp::URI, "urn:nowhere"]).unwrap();
    let sent = wanted.header().unwrap();
    let answer = serve(&registry, Call::new(Method::SendStreamingMessage, &[&sent])).unwrap();

    let ran = wanted.echoed(answer.echo.iter());
    assert!(ran.activated(timestamp::URI));
    assert!(!ran.activated("urn:nowhere"));
    let stamp = json!({"receivedAt": "2026-07-17T01:00:00.000Z", "label": "edge-1",
        "answeredAt": "2026-07-17T01:00:01.000Z"});
    assert_eq!(answer.data(timestamp::URI), vec![stamp; 4]);
}

#[test]
fn an_extension_that_skips_is_neither_echoed_nor_run() {
    let registry = registry(Registry::builder().with_options::<TimestampExtension>(&Value::Null));
    let call = Call::new(Method::GetExtendedAgentCard, &[timestamp::URI]);
    let answer = serve(&registry, call).unwrap();
    assert_eq!(answer.echo, None);
    assert_eq!(answer.context, json!({}));
}
