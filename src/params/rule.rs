//! Rules that go across parameters: what one of them allows, or asks of another.

use serde_json::{Map, Value};

use super::{Param, Shape, Violation, check, fault, rule};
use crate::text;

/// A rule about several parameters. A text that is blank and a list that is empty say nothing; an empty set does.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Not both of these say something.
    Either(&'static str, &'static str),
    /// At least one of these says something.
    Some(&'static [&'static str]),
    /// When one parameter is this, others are required.
    With {
        /// The parameter.
        param: &'static str,
        /// Its value.
        is: &'static str,
        /// What is required then, of the same table.
        needs: &'static [&'static str],
    },
    /// A member of an object is not what a parameter of the same name is.
    Apart {
        /// The object.
        within: &'static str,
        /// The member, and the parameter.
        param: &'static str,
    },
}

impl Rule {
    /// Adds what breaks the rule, but for fields that are at fault already.
    pub(super) fn apply(&self, params: &[Param], body: &Map<String, Value>, found: &mut Vec<Violation>) {
        match self {
            Self::Either(one, other) => {
                if says(params, body, one) && says(params, body, other) {
                    add(
                        found,
                        other,
                        format!("expected either {one} or {other}, not both"),
                    );
                }
            }
            Self::Some(names) => {
                let said = names.iter().any(|name| says(params, body, name));
                if let (false, Some(first)) = (said, names.first()) {
                    add(
                        found,
                        first,
                        format!("expected at least one of: {}", names.join(", ")),
                    );
                }
            }
            Self::With { param, is, needs } => {
                if body.get(*param).and_then(Value::as_str) != Some(is) {
                    return;
                }
                let needed = params.iter().filter(|it| needs.contains(&it.name));
                for Param { name, shape, .. } in needed {
                    let mut faults = Vec::new();
                    match body.get(*name) {
                        Some(value) => check(*shape, true, value, name, &mut faults),
                        None => fault(&mut faults, name, rule(*shape, true)),
                    }
                    for violation in faults {
                        add(
                            found,
                            &violation.field,
                            format!("required with {is}: {}", violation.description),
                        );
                    }
                }
            }
            Self::Apart { within, param } => {
                let inner = body.get(*within).and_then(|object| object.get(*param));
                if inner.is_some() && inner == body.get(*param) {
                    let field = format!("{within}.{param}");
                    add(found, &field, format!("expected another than {param}"));
                }
            }
        }
    }
}

fn add(found: &mut Vec<Violation>, field: &str, description: String) {
    if !found.iter().any(|violation| violation.field == field) {
        fault(found, field, description);
    }
}

/// Whether a parameter says something.
fn says(params: &[Param], body: &Map<String, Value>, name: &str) -> bool {
    let shape = params.iter().find(|param| param.name == name).map(|it| it.shape);
    match (body.get(name), shape) {
        (None, _) => false,
        (Some(Value::Array(items)), Some(Shape::List(..))) => !items.is_empty(),
        (Some(Value::String(text)), _) => !text::is_blank(text),
        (Some(_), _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::violations;
    use super::*;
    use serde_json::json;

    const ITEM: Shape = Shape::Line(5);
    const PARAMS: &[Param] = &[
        Param::required("name", ITEM, ""),
        Param::optional("to", Shape::List(2, &ITEM), ""),
        Param::optional("can", ITEM, ""),
        Param::optional("body", Shape::Text(9), ""),
        Param::optional("all", Shape::Set(2, &ITEM), ""),
        Param::optional("from", Shape::Object(&[Param::required("name", ITEM, "")]), ""),
    ];

    fn faults(rule: Rule, body: &Value) -> Vec<(String, String)> {
        let found = violations(PARAMS, &[rule], body.as_object().unwrap());
        let pairs = found.into_iter().map(|it| (it.field, it.description));
        pairs.collect()
    }

    fn fields(rule: Rule, body: &Value) -> Vec<String> {
        faults(rule, body).into_iter().map(|(field, _)| field).collect()
    }

    #[test]
    fn of_two_that_exclude_each_other_one_may_speak() {
        let rule = Rule::Either("to", "can");
        for (body, expected) in [
            (json!({"name": "n", "to": ["a"]}), vec![]),
            (json!({"name": "n", "can": "a"}), vec![]),
            (json!({"name": "n", "to": [], "can": "a"}), vec![]),
            (json!({"name": "n", "to": ["a"], "can": "a"}), vec!["can"]),
        ] {
            assert_eq!(fields(rule, &body), expected, "{body}");
        }
    }

    #[test]
    fn one_at_least_says_something() {
        let rule = Rule::Some(&["body", "to", "all"]);
        for (body, expected) in [
            (json!({"name": "n", "body": "b"}), vec![]),
            (json!({"name": "n", "body": "", "to": ["a"]}), vec![]),
            (json!({"name": "n", "all": []}), vec![]),
            (json!({"name": "n"}), vec!["body"]),
            (json!({"name": "n", "body": " \n", "to": []}), vec!["body"]),
        ] {
            assert_eq!(fields(rule, &body), expected, "{body}");
        }
    }

    #[test]
    fn what_a_value_asks_for_is_as_if_it_were_required() {
        let rule = Rule::With {
            param: "name",
            is: "hold",
            needs: &["can", "body"],
        };
        for (body, expected) in [
            (json!({"name": "n"}), vec![]),
            (json!({"name": "hold", "can": "a", "body": "b"}), vec![]),
            (json!({"name": "hold", "can": "a", "body": " "}), vec!["body"]),
            (json!({"name": "hold", "body": "b"}), vec!["can"]),
        ] {
            assert_eq!(fields(rule, &body), expected, "{body}");
        }
        let (_, why) = faults(rule, &json!({"name": "hold", "body": "b"})).remove(0);
        assert_eq!(
            why,
            "required with hold: expected one line of at most 5 characters, not blank"
        );
    }

    #[test]
    fn two_that_are_to_differ_do() {
        let rule = Rule::Apart {
            within: "from",
            param: "name",
        };
        for (body, expected) in [
            (json!({"name": "n"}), vec![]),
            (json!({"name": "n", "from": {"name": "m"}}), vec![]),
            (json!({"name": "n", "from": {"name": "n"}}), vec!["from.name"]),
            (json!({"name": "n", "from": {}}), vec!["from.name"]),
            (json!({"name": "n", "from": "n"}), vec!["from"]),
        ] {
            assert_eq!(fields(rule, &body), expected, "{body}");
        }
    }

    #[test]
    fn a_field_is_at_fault_once_and_rules_come_behind_the_table() {
        let rule = Rule::Either("to", "can");
        let body = json!({"to": ["a"], "can": "\n", "body": 1});
        assert_eq!(fields(rule, &body), ["name", "can", "body"]);
        let body = json!({"to": ["a"], "can": "a", "body": 1});
        assert_eq!(fields(rule, &body), ["name", "body", "can"]);
    }
}
