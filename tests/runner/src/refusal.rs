//! What a step expects of a refusal, in short: written out, it is the whole body of the error.

use a2a_edge::coordination::METADATA_KEY;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// google.rpc's names with their numbers.
const CODES: [(&str, u16); 12] = [
    ("INVALID_ARGUMENT", 3),
    ("NOT_FOUND", 5),
    ("ALREADY_EXISTS", 6),
    ("PERMISSION_DENIED", 7),
    ("RESOURCE_EXHAUSTED", 8),
    ("FAILED_PRECONDITION", 9),
    ("ABORTED", 10),
    ("OUT_OF_RANGE", 11),
    ("UNIMPLEMENTED", 12),
    ("INTERNAL", 13),
    ("UNAVAILABLE", 14),
    ("UNAUTHENTICATED", 16),
];

/// An error (A2A 1.0, §11.6; session coordination, §9.2).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// google.rpc's name, such as `INVALID_ARGUMENT`.
    pub status: String,
    /// The ErrorInfo's reason.
    pub reason: String,
    /// The ErrorInfo's domain; absent for that of the path.
    pub domain: Option<String>,
    /// The ErrorInfo's metadata.
    pub metadata: Option<Map<String, Value>>,
    /// The message; absent when it is the first field and its description.
    pub message: Option<String>,
    /// The BadRequest's violations: field and description.
    #[serde(default)]
    pub fields: Vec<(String, String)>,
    /// Details beyond those.
    #[serde(default)]
    pub details: Vec<Value>,
}

/// Whether a path is one of session coordination's or the operator's, whose errors have google.rpc's number.
pub(crate) fn is_coordination(path: &str) -> bool {
    path.contains("/extensions/") || path.contains("/operator/")
}

impl Refusal {
    /// The whole body, for an answer of this HTTP status on this path.
    pub(crate) fn body(&self, http: u16, path: &str) -> Value {
        let coordination = is_coordination(path);
        let number = CODES
            .iter()
            .find(|(name, _)| *name == self.status)
            .map(|(_, number)| *number);
        let code = if coordination {
            number.unwrap_or_default()
        } else {
            http
        };
        let of_path = if coordination {
            METADATA_KEY
        } else {
            "a2a-protocol.org"
        };
        let mut info = json!({
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": self.reason,
            "domain": self.domain.as_deref().unwrap_or(of_path),
        });
        if let Some(metadata) = &self.metadata {
            info.as_object_mut()
                .map(|info| info.insert("metadata".to_owned(), json!(metadata)));
        }
        let mut details = vec![info];
        if !self.fields.is_empty() {
            let violations = self.fields.iter();
            let violations = violations.map(|(field, rule)| json!({"field": field, "description": rule}));
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": violations.collect::<Vec<_>>(),
            }));
        }
        details.extend(self.details.iter().cloned());
        let first = self
            .fields
            .first()
            .map(|(field, rule)| format!("{field}: {rule}"));
        let message = self.message.clone().or(first).unwrap_or_default();
        json!({"error": {"code": code, "status": self.status, "message": message, "details": details}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_decides_on_code_and_domain() {
        let refusal = json!({"status": "INVALID_ARGUMENT", "reason": "R", "fields": [["a", "expected b"]]});
        let refusal: Refusal = serde_json::from_value(refusal).unwrap();
        let body = refusal.body(400, "/tasks");
        assert_eq!(
            (&body["error"]["code"], &body["error"]["message"]),
            (&json!(400), &json!("a: expected b"))
        );
        assert_eq!(body["error"]["details"][0]["domain"], "a2a-protocol.org");
        let body = refusal.body(400, "/operator/v1/tasks:list");
        assert_eq!(body["error"]["code"], 3);
        assert_eq!(body["error"]["details"][0]["domain"], METADATA_KEY);
        let violation = json!([{"field": "a", "description": "expected b"}]);
        assert_eq!(body["error"]["details"][1]["fieldViolations"], violation);
    }
}
