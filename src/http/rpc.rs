//! The JSON-RPC 2.0 binding of the core operations: what an envelope says, and the envelope of an answer (A2A 1.0, §9).
//!
//! A call is `{"jsonrpc": "2.0", "id", "method", "params"}`, the method by its name in [`Method`] and the parameters the
//! request object of the protocol. Without an id it is a notification, which is done and not answered. Several calls in
//! an array are a batch.

use http::Request;
use serde::Serialize;
use serde_json::{Map, Number, Value, json};

use super::read;
use crate::extension::Method;
use crate::json;
use crate::refusal::{Code, Refusal};

/// The most calls in a batch.
pub const BATCH: usize = 50;

/// The most bytes of an id that is text: every event of a stream repeats it.
pub const ID_LIMIT: usize = 256;

/// The HTTP statuses that stay what they are: who calls, how the call was carried, and that the desk is out of reach.
/// Every other refusal is an error within a 200.
pub(super) const STATUSES: [u16; 6] = [401, 403, 405, 413, 415, 503];

/// One call, as its envelope says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the answer repeats: text, a number or null; none in a notification.
    pub id: Option<Value>,
    /// What is called, or why the envelope is none.
    asked: Result<Asked, Refusal>,
}

/// What is called. Whether there is such a method is not known yet.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    method: String,
    params: Value,
}

/// What the body of a request holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Calls {
    /// One call.
    One(Call),
    /// A batch.
    Batch(Vec<Call>),
}

/// Reads the body of a request. What is wrong with it is found in its calls: it is told to nobody who was not let in.
#[must_use]
pub fn read(request: &Request<Vec<u8>>) -> Calls {
    let parsed = read::content(request).and_then(|bytes| {
        json::parse(bytes).map_err(|error| read::invalid_json(format!("expected JSON as body: {error}")))
    });
    match parsed {
        Err(refusal) => Calls::One(Call::invalid(refusal)),
        Ok(Value::Array(calls)) if calls.is_empty() || calls.len() > BATCH => {
            let message = format!("expected a batch of 1 to {BATCH} calls");
            Calls::One(Call::invalid(invalid_request(message)))
        }
        Ok(Value::Array(calls)) => {
            let calls = calls.into_iter().map(|call| Call::read(call).within_batch());
            Calls::Batch(calls.collect())
        }
        Ok(call) => Calls::One(Call::read(call)),
    }
}

fn invalid_request(message: impl Into<String>) -> Refusal {
    Refusal::a2a(Code::InvalidArgument, "INVALID_REQUEST", message)
}

fn invalid_member(name: &str, rule: impl Into<String>) -> Refusal {
    Refusal::invalid(name, rule).with_reason(crate::refusal::A2A_DOMAIN, "INVALID_REQUEST")
}

impl Call {
    /// What is no call is answered as one whose id is null.
    const fn invalid(refusal: Refusal) -> Self {
        Self {
            id: Some(Value::Null),
            asked: Err(refusal),
        }
    }

    fn read(envelope: Value) -> Self {
        let Value::Object(mut envelope) = envelope else {
            return Self::invalid(invalid_request("expected a call as a JSON object"));
        };
        let id = match envelope.shift_remove("id") {
            Some(Value::String(id)) if id.len() > ID_LIMIT => {
                let rule = format!("expected at most {ID_LIMIT} bytes");
                return Self::invalid(invalid_member("id", rule));
            }
            Some(Value::Number(id)) if !is_kept(&id) => {
                let rule = "expected a string, or a number that is kept exactly";
                return Self::invalid(invalid_member("id", rule));
            }
            id @ (None | Some(Value::Null | Value::Number(_) | Value::String(_))) => id,
            Some(_) => return Self::invalid(invalid_member("id", "expected a string, a number or null")),
        };
        let asked = Asked::read(&mut envelope);
        // Only what is a call can be a notification.
        let id = if asked.is_ok() {
            id
        } else {
            id.or(Some(Value::Null))
        };
        Self { id, asked }
    }

    /// A stream has no place in a batch.
    fn within_batch(self) -> Self {
        if self.method().is_some_and(Method::streams) {
            let message = "expected a method without a stream within a batch";
            return self.refused(Refusal::unsupported(message));
        }
        self
    }

    /// The same call, refused.
    #[must_use]
    pub(crate) fn refused(self, refusal: Refusal) -> Self {
        Self {
            asked: Err(refusal),
            ..self
        }
    }

    /// The method that is called, where there is one.
    pub(crate) fn method(&self) -> Option<Method> {
        Method::from_name(&self.asked.as_ref().ok()?.method)
    }

    /// Whether the envelope is one.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.asked.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// The operation that is called and its parameters.
    ///
    /// # Errors
    /// The envelope is none, there is no such method, or its parameters are no object.
    pub(crate) fn operation(&self) -> Result<(Method, Map<String, Value>), Refusal> {
        let Asked { method, params } = self.asked.as_ref().map_err(Clone::clone)?;
        let method = Method::from_name(method).ok_or_else(|| {
            let message = "expected the name of a method of A2A 1.0, such as SendMessage";
            Refusal::a2a(Code::NotFound, "METHOD_NOT_FOUND", message)
        })?;
        match params {
            Value::Object(params) => Ok((method, params.clone())),
            _ => Err(Refusal::invalid(
                "params",
                "expected an object: parameters go by their names",
            )),
        }
    }
}

impl Asked {
    fn read(envelope: &mut Map<String, Value>) -> Result<Self, Refusal> {
        if envelope.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(invalid_member("jsonrpc", "expected \"2.0\""));
        }
        let Some(Value::String(method)) = envelope.shift_remove("method") else {
            return Err(invalid_member("method", "expected a string"));
        };
        let params = match envelope.shift_remove("params") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(params @ (Value::Object(_) | Value::Array(_))) => params,
            Some(_) => return Err(invalid_member("params", "expected an object")),
        };
        Ok(Self { method, params })
    }
}

/// The envelope of a result.
#[derive(Debug, Serialize)]
pub struct Success<'a, T> {
    jsonrpc: &'static str,
    id: &'a Value,
    result: T,
}

/// The envelope of a result.
#[must_use]
pub const fn result<T: Serialize>(id: &Value, result: T) -> Success<'_, T> {
    let jsonrpc = "2.0";
    Success { jsonrpc, id, result }
}

/// The envelope of an error: `code`, `message`, and as `data` the details that HTTP+JSON has, too (A2A 1.0, §9.5).
#[must_use]
pub(super) fn error(id: Option<&Value>, refusal: &Refusal, details: Vec<Value>) -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": refusal.json_rpc_code(),
            "message": refusal.message,
            "data": details,
        },
    })
}

/// Whether a number goes back as it came: one beyond all integers may have lost digits when it was read.
fn is_kept(number: &Number) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.is_u64() || number.is_i64() || number.as_f64().is_some_and(|number| number.abs() < EXACT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(body: &str) -> Calls {
        let request = Request::post("/rpc").header("content-type", "application/json");
        read(&request.body(body.as_bytes().to_vec()).unwrap())
    }

    fn one(text: &str) -> Call {
        match body(text) {
            Calls::One(call) => call,
            Calls::Batch(_) => panic!("a batch: {text}"),
        }
    }

    fn code(call: &Call) -> i32 {
        call.operation()
            .map_or_else(|refusal| refusal.json_rpc_code(), |_| 0)
    }

    #[test]
    fn a_call_names_a_method_and_its_parameters() {
        let call = one(r#"{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t"},"more":1}"#);
        assert_eq!(call.id, Some(json!(7)));
        let (method, params) = call.operation().unwrap();
        assert_eq!((method, json!(params)), (Method::GetTask, json!({"id": "t"})));
        for absent in ["", r#","params":null"#, r#","params":{}"#] {
            let call = one(&format!(r#"{{"jsonrpc":"2.0","method":"ListTasks"{absent}}}"#));
            assert_eq!(call.id, None);
            assert_eq!(call.operation().unwrap(), (Method::ListTasks, Map::new()));
        }
    }

    #[test]
    fn what_is_no_call_is_told_by_its_code_and_by_its_id_where_it_has_one() {
        let long = |length: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"{}","method":"ListTasks"}}"#,
                "x".repeat(length)
            )
        };
        assert_eq!(code(&one(&long(ID_LIMIT))), 0);
        for (text, expected, id) in [
            ("", -32700, json!(null)),
            ("{", -32700, json!(null)),
            ("7", -32600, json!(null)),
            ("[]", -32600, json!(null)),
            (&*long(ID_LIMIT + 1), -32600, json!(null)),
            (
                r#"{"jsonrpc":"2.0","id":[],"method":"ListTasks"}"#,
                -32600,
                json!(null),
            ),
            (
                r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ListTasks"}"#,
                -32600,
                json!(null),
            ),
            (
                r#"{"jsonrpc":"2.0","id":true,"method":"ListTasks"}"#,
                -32600,
                json!(null),
            ),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ListTasks"}"#,
                -32600,
                json!(1),
            ),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ListTasks"}"#, -32600, json!(1)),
            (r#"{"id":1,"method":"ListTasks"}"#, -32600, json!(1)),
            (r#"{"method":"ListTasks"}"#, -32600, json!(null)),
            (r#"{"jsonrpc":"2.0","id":"a"}"#, -32600, json!("a")),
            (r#"{"jsonrpc":"2.0","id":"a","method":1}"#, -32600, json!("a")),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ListTasks","params":"x"}"#,
                -32600,
                json!(1.5),
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ListTasks","params":[]}"#,
                -32602,
                json!(null),
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"message/send"}"#,
                -32601,
                json!(1),
            ),
        ] {
            let call = one(text);
            assert_eq!((code(&call), call.id), (expected, Some(id)), "{text}");
        }
    }

    #[test]
    fn a_batch_of_fifty_is_read_and_one_more_is_refused() {
        let batch = |length: usize| {
            format!(
                "[{}]",
                vec![r#"{"jsonrpc":"2.0","method":"ListTasks"}"#; length].join(",")
            )
        };
        assert!(matches!(body(&batch(BATCH)), Calls::Batch(calls) if calls.len() == BATCH));
        assert_eq!(code(&one(&batch(BATCH + 1))), -32600);
    }

    #[test]
    fn within_a_batch_nothing_streams() {
        let Calls::Batch(calls) = body(
            r#"[{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask"},
                {"jsonrpc":"2.0","id":2,"method":"SendStreamingMessage"},{"jsonrpc":"2.0","id":3,"method":"GetTask"},4]"#,
        ) else {
            panic!("no batch");
        };
        let told: Vec<_> = calls
            .iter()
            .map(|call| (code(call), call.id.clone().unwrap()))
            .collect();
        let expected = [
            (-32004, json!(1)),
            (-32004, json!(2)),
            (0, json!(3)),
            (-32600, json!(null)),
        ];
        assert_eq!(told, expected);
    }
}
