//! Comparing an answer with what a story expects: every member counts, an unexpected one too.

use a2a_edge::time::Timestamp;
use serde_json::{Map, Value};

use crate::failure::Problem;
use crate::form::{Form, Kind, form};
use crate::names::{Names, token_of};

/// Compares values, names what is new and collects differences.
pub(crate) struct Matching<'a> {
    pub(crate) names: &'a mut Names,
    pub(crate) problems: Vec<Problem>,
}

impl Matching<'_> {
    /// Notes a difference.
    pub(crate) fn differ(&mut self, place: &str, expected: Option<String>, actual: Option<String>) {
        self.problems.push(Problem {
            place: place.to_owned(),
            expected,
            actual,
        });
    }

    fn differ_by_rule(&mut self, place: &str, rule: String, actual: &Value) {
        self.differ(place, Some(rule), Some(actual.to_string()));
    }

    /// Compares a value with what is expected of it, and gives it back with names in the place of what has one.
    pub(crate) fn value(&mut self, place: &str, expected: &Value, actual: &Value) -> Value {
        match (expected, actual) {
            (Value::Object(object), _) => match form(object) {
                Ok(Some(form)) => return self.form(place, &form, actual),
                Err(rule) => self.differ_by_rule(place, rule, actual),
                Ok(None) => match actual {
                    Value::Object(actual) => return self.object(place, object, actual),
                    _ => self.differ_by_rule(place, "an object".to_owned(), actual),
                },
            },
            (Value::Array(expected), Value::Array(actual)) => return self.array(place, expected, actual),
            (Value::String(template), Value::String(text)) => match self.names.write(template) {
                Ok(written) if written == *text => return expected.clone(),
                Ok(_) => self.differ_by_rule(place, expected.to_string(), actual),
                Err(rule) => self.differ_by_rule(place, rule, actual),
            },
            _ if expected == actual => {}
            _ => self.differ_by_rule(place, expected.to_string(), actual),
        }
        actual.clone()
    }

    fn array(&mut self, place: &str, expected: &[Value], actual: &[Value]) -> Value {
        let longest = expected.len().max(actual.len());
        let mut named = Vec::new();
        for index in 0..longest {
            let place = format!("{place}[{index}]");
            match (expected.get(index), actual.get(index)) {
                (Some(expected), Some(actual)) => named.push(self.value(&place, expected, actual)),
                (expected, actual) => {
                    self.differ(
                        &place,
                        expected.map(Value::to_string),
                        actual.map(Value::to_string),
                    );
                }
            }
        }
        Value::Array(named)
    }

    /// Members are compared in the story's order, which is the order in which new names are given, and written in
    /// the order in which they came.
    fn object(&mut self, place: &str, expected: &Map<String, Value>, actual: &Map<String, Value>) -> Value {
        let mut matched = Map::new();
        let mut keys = Map::new();
        for (template, expected) in expected {
            let key = match self.names.write(template) {
                Ok(key) => key,
                Err(rule) => {
                    self.differ(place, Some(rule), None);
                    continue;
                }
            };
            let place = format!("{place}.{template}");
            match actual.get(&key) {
                Some(actual) => {
                    let named = self.value(&place, expected, actual);
                    matched.insert(key.clone(), named);
                }
                None => self.differ(&place, Some(expected.to_string()), None),
            }
            keys.insert(key, Value::String(template.clone()));
        }
        let mut named = Map::new();
        for (key, value) in actual {
            let template = keys.get(key).and_then(Value::as_str);
            if template.is_none() {
                self.differ(&format!("{place}.{key}"), None, Some(value.to_string()));
            }
            let value = matched.get(key).unwrap_or(value);
            named.insert(template.unwrap_or(key).to_owned(), value.clone());
        }
        Value::Object(named)
    }

    fn form(&mut self, place: &str, form: &Form<'_>, actual: &Value) -> Value {
        let text = actual.as_str().unwrap_or_default();
        let checked = match form {
            Form::Bind(kind, name) => self.bind(*kind, name, text),
            Form::Some(kind) if kind.fits(text) => Ok(format!("<{}>", kind.name())),
            Form::Some(kind) => Err(format!("some {}", kind.name())),
            Form::After(name, seconds) => self
                .after(name, *seconds, text)
                .map(|()| format!("${{{name}}}+{seconds}s")),
            _ => {
                return match self.names.make(form) {
                    Ok(made) => self.value(place, &made, actual),
                    Err(rule) => {
                        self.differ_by_rule(place, rule, actual);
                        actual.clone()
                    }
                };
            }
        };
        match checked {
            Ok(named) => Value::String(named),
            Err(rule) => {
                self.differ_by_rule(place, rule, actual);
                actual.clone()
            }
        }
    }

    /// Gives a new value its name, and says how it is written from here on.
    fn bind(&mut self, kind: Kind, name: &str, text: &str) -> Result<String, String> {
        if !kind.fits(text) {
            return Err(format!("a new {} to be called {name}", kind.name()));
        }
        let called = match kind {
            Kind::Token => token_of(name),
            _ => name.to_owned(),
        };
        match kind {
            Kind::Time => self.names.bind_time(&called, text),
            _ => self.names.bind(&called, text)?,
        }
        Ok(format!("${{{called}}}"))
    }

    fn after(&self, name: &str, seconds: i64, text: &str) -> Result<(), String> {
        let start = self.names.get(name)?;
        let start: Timestamp = start
            .parse()
            .map_err(|_| format!("expected ${{{name}}} to be a time"))?;
        let end = start.plus_seconds(seconds).to_string();
        if end == text { Ok(()) } else { Err(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn compare(expected: &Value, actual: &Value) -> (String, Vec<String>) {
        let mut names = Names::new("http://x");
        names.bind("task", "task-1").unwrap();
        let mut matching = Matching {
            names: &mut names,
            problems: Vec::new(),
        };
        let named = matching.value("body", expected, actual).to_string();
        (
            named,
            matching
                .problems
                .into_iter()
                .map(|problem| problem.place)
                .collect(),
        )
    }

    #[test]
    fn an_equal_answer_is_written_with_names_in_the_order_it_came() {
        let expected = json!({
            "id": "${task}", "made": {"$time": "made"}, "due": {"$after": ["made", 60]},
            "context": {"$id": "context"}, "parts": [{"text": "of ${task}"}], "${work}": {"$some": "id"},
        });
        let actual = json!({
            "context": "ctx-1", "id": "task-1", "due": "2026-07-17T01:01:00.000Z", "made": "2026-07-17T01:00:00.000Z",
            "parts": [{"text": "of task-1"}], "https://dispatch.foo/a2a/ext/work/v1": "w",
        });
        let named = r#"{"context":"${context}","id":"${task}","due":"${made}+60s","made":"${made}","parts":[{"text":"of ${task}"}],"${work}":"<id>"}"#;
        assert_eq!(compare(&expected, &actual), (named.to_owned(), vec![]));
    }

    #[test]
    fn every_difference_is_found_an_unexpected_member_too() {
        let expected = json!({"a": 1, "b": [1, 2], "c": {"$id": "c"}, "d": {"e": "x"}, "f": null});
        let actual = json!({"a": 1.0, "b": [1], "c": "task-1", "d": {"e": "x", "g": 0}});
        let (_, places) = compare(&expected, &actual);
        assert_eq!(places, ["body.a", "body.b[1]", "body.c", "body.d.g", "body.f"]);
    }
}
