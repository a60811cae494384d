//! Shows people the place in their JSON that a verdict is about.

use serde_json::Value;

use crate::text::{json_line, short};

/// How much of one scalar is shown, in characters.
const SCALAR: usize = 72;
/// Lines shown before and after the place.
const AROUND: usize = 2;

/// One step from a value to one inside it.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(String),
    Index(usize),
}

/// The lines of `value` around the place that `path` names, with carets under it.
///
/// A path is what verdicts carry, such as `work.writes[1]`, where `root` (`work`) stands for `value` itself. When
/// nothing stands at the path, the carets are under what should hold it.
pub(super) fn point(value: &Value, root: &str, path: &str) -> String {
    let steps = steps(path.strip_prefix(root).unwrap_or(path));
    let mut printer = Printer::default();
    printer.print(value, Some(&steps));
    printer.end_line();
    let Some((row, column, width)) = printer.found else {
        return String::new();
    };
    let first = row.saturating_sub(AROUND);
    let shown = printer.lines.iter().enumerate().skip(first);
    let last = row.saturating_add(AROUND);
    let mut text = String::new();
    for (number, line) in shown.take_while(|(number, _)| *number <= last) {
        text.push_str(&format!("  {line}\n"));
        if number == row {
            let (indent, carets) = (" ".repeat(column), "^".repeat(width.max(1)));
            text.push_str(&format!("  {indent}{carets}\n"));
        }
    }
    text
}

/// The steps of a path like `a.b[0].c`, a leading dot allowed.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for piece in path.split(['.', '[']).filter(|piece| !piece.is_empty()) {
        let index = piece.strip_suffix(']').and_then(|index| index.parse().ok());
        steps.push(index.map_or_else(|| Step::Member(piece.to_owned()), Step::Index));
    }
    steps
}

/// Writes JSON over several lines and notes where the value at a path begins.
#[derive(Default)]
struct Printer {
    lines: Vec<String>,
    line: String,
    depth: usize,
    /// Row, column and width of what was looked for.
    found: Option<(usize, usize, usize)>,
}

impl Printer {
    /// Writes a value. `path` is what is left of the way to the place, `None` off that way.
    fn print(&mut self, value: &Value, path: Option<&[Step]>) {
        let here = path.is_some_and(|path| !leads_on(value, path));
        if here {
            let width = if value.is_object() || value.is_array() {
                1
            } else {
                scalar(value).chars().count()
            };
            self.found = Some((self.lines.len(), self.line.chars().count(), width));
        }
        match value {
            Value::Object(members) if !members.is_empty() => {
                let entries = members.iter().map(|(name, value)| {
                    let on_the_way = Step::Member(name.clone());
                    (
                        format!("{}: ", scalar(&Value::String(name.clone()))),
                        on_the_way,
                        value,
                    )
                });
                self.block('{', entries, path, '}');
            }
            Value::Array(items) if !items.is_empty() => {
                let entries = items
                    .iter()
                    .enumerate()
                    .map(|(index, value)| (String::new(), Step::Index(index), value));
                self.block('[', entries, path, ']');
            }
            scalar_or_empty => self.line.push_str(&scalar(scalar_or_empty)),
        }
    }

    fn block<'a>(
        &mut self,
        open: char,
        entries: impl ExactSizeIterator<Item = (String, Step, &'a Value)>,
        path: Option<&[Step]>,
        close: char,
    ) {
        self.line.push(open);
        self.depth = self.depth.saturating_add(1);
        let mut left = entries.len();
        for (name, step, value) in entries {
            self.end_line();
            self.line.push_str(&name);
            let rest = path
                .and_then(|path| path.split_first())
                .filter(|(first, _)| **first == step);
            self.print(value, rest.map(|(_, rest)| rest));
            left = left.saturating_sub(1);
            if left > 0 {
                self.line.push(',');
            }
        }
        self.depth = self.depth.saturating_sub(1);
        self.end_line();
        self.line.push(close);
    }

    fn end_line(&mut self) {
        let next = "  ".repeat(self.depth);
        self.lines.push(std::mem::replace(&mut self.line, next));
    }
}

/// Whether the next step of `path` leads to something inside `value`.
fn leads_on(value: &Value, path: &[Step]) -> bool {
    match path.first() {
        Some(Step::Member(name)) => value.get(name).is_some(),
        Some(Step::Index(index)) => value.get(index).is_some(),
        None => false,
    }
}

/// A value on one line, not too long.
fn scalar(value: &Value) -> String {
    short(&json_line(value), SCALAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn carets_stand_under_the_value_at_fault() {
        let value = json!({"skill": "handoff", "title": "T", "writes": ["src/", "../x"], "labels": []});
        assert_eq!(
            point(&value, "work", "work.writes[1]"),
            "    \"writes\": [\n      \"src/\",\n      \"../x\"\n      ^^^^^^\n    ],\n    \"labels\": []\n"
        );
    }

    #[test]
    fn what_is_missing_is_pointed_at_where_it_should_be() {
        let value = json!({"skill": "handoff"});
        assert_eq!(
            point(&value, "work", "work.title"),
            "  {\n  ^\n    \"skill\": \"handoff\"\n  }\n"
        );
    }

    #[test]
    fn the_whole_can_be_at_fault() {
        assert_eq!(point(&json!(12), "work", "work"), "  12\n  ^^\n");
        assert_eq!(point(&json!([]), "work", "work"), "  []\n  ^\n");
    }

    #[test]
    fn a_path_without_the_root_is_read_from_the_value() {
        let value = json!({"refs": [{"type": "é"}]});
        let shown = point(&value, "envelope", "refs[0].type");
        assert!(
            shown.contains("\n        \"type\": \"é\"\n                ^^^\n"),
            "{shown}"
        );
    }

    #[test]
    fn long_and_unsafe_text_is_cut_and_escaped() {
        let value = json!({"title": format!("\u{1b}[2J{}", "x".repeat(300))});
        let shown = point(&value, "work", "work.title");
        assert!(shown.contains(r#""\u001b[2Jxxx"#), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() < 100), "{shown}");
    }
}
