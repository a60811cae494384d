//! What an accepted handoff becomes before anybody has approved it (work/v1, §8.6).

use serde::{Deserialize, Serialize};

use super::verdict::{self, Fault};
use super::work::{self, Handoff, Handoffs, LABEL_BYTES, Priority, WorkRequest};

/// The label that every handoff bears.
const CLIENT_LABEL: &str = "a2a";

/// How dangerous a piece of work is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// The host's highest, so that no gate of it decides itself. A client chooses no risk.
    Highest,
}

/// A drafted work item.
///
/// As JSON: `{"title","acceptance":[],"writes":[],"priority","labels":["a2a"],"risk":"highest"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// As the client sent it.
    pub title: String,
    /// As the client sent them.
    pub acceptance: Vec<String>,
    /// As the client sent them.
    pub writes: Vec<String>,
    /// At most medium.
    pub priority: Priority,
    /// `a2a` first, then the client's under `a2a/`.
    pub labels: Vec<String>,
    /// Always the highest.
    pub risk: Risk,
}

impl Draft {
    /// The draft of a handoff.
    #[must_use]
    pub fn of(handoff: &Handoff<'_>) -> Self {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Self {
            title: handoff.title.to_owned(),
            acceptance: owned(&handoff.acceptance),
            writes: owned(&handoff.writes),
            priority: capped(handoff.priority),
            labels: labels(&handoff.labels),
            risk: Risk::Highest,
        }
    }
}

const fn capped(priority: Option<Priority>) -> Priority {
    match priority {
        None | Some(Priority::Urgent | Priority::High | Priority::Medium) => Priority::Medium,
        Some(lower) => lower,
    }
}

fn labels(sent: &[&str]) -> Vec<String> {
    let mut labels = vec![CLIENT_LABEL.to_owned()];
    for label in sent {
        let kept: String = label
            .chars()
            .map(lower)
            .filter(|c| matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-'))
            .take(LABEL_BYTES)
            .collect();
        let label = format!("{CLIENT_LABEL}/{kept}");
        if !kept.is_empty() && !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// The lower case of a character as far as a label holds it. Beyond ASCII two letters have one: Unicode's full table
/// would weigh more than all else that is done here.
const fn lower(c: char) -> char {
    match c {
        '\u{130}' => 'i',
        '\u{212A}' => 'k',
        _ => c.to_ascii_lowercase(),
    }
}

/// The text door: a work/v1 handoff as JSON in, its draft as `result` or the fault out.
#[must_use]
pub fn shape_json(request: &str) -> String {
    let shape = |request| match work::validate(Some(&request), Handoffs::Taken)? {
        Some(WorkRequest::Handoff(handoff)) => Ok(Draft::of(&handoff)),
        _ => Err(Fault::invalid("work.skill", "expected handoff")),
    };
    verdict::answer(verdict::read(request, "work").and_then(shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_lowered_as_unicode_does_where_a_label_holds_it() {
        for c in '\0'..=char::MAX {
            let held = |c: &char| matches!(c, 'a'..='z' | '0'..='9' | '.' | '_' | '-');
            let ours: Vec<char> = [lower(c)].into_iter().filter(held).collect();
            let unicode: Vec<char> = c.to_lowercase().filter(held).collect();
            assert_eq!(ours, unicode, "{c:?}");
        }
    }

    #[test]
    fn labels_lose_what_a_label_cannot_hold() {
        assert_eq!(
            labels(&["API", "a2a", "Hot fix!"]),
            ["a2a", "a2a/api", "a2a/a2a", "a2a/hotfix"]
        );
        assert_eq!(labels(&["é", "!", "A", "a", "a!"]), ["a2a", "a2a/a"]);
        assert_eq!(labels(&["v1.0_x-y"]), ["a2a", "a2a/v1.0_x-y"]);
        assert_eq!(labels(&[]), ["a2a"]);
    }

    #[test]
    fn a_label_is_cut_to_50_and_the_prefix_does_not_count() {
        let long = "X".repeat(60);
        assert_eq!(
            labels(&[&long]),
            ["a2a".to_owned(), format!("a2a/{}", "x".repeat(50))]
        );
    }

    #[test]
    fn a_priority_is_at_most_medium() {
        for (sent, kept) in [
            (None, Priority::Medium),
            (Some(Priority::Urgent), Priority::Medium),
            (Some(Priority::High), Priority::Medium),
            (Some(Priority::Medium), Priority::Medium),
            (Some(Priority::Low), Priority::Low),
            (Some(Priority::None), Priority::None),
        ] {
            assert_eq!(capped(sent), kept);
        }
    }

    #[test]
    fn the_text_door_gives_the_draft_in_the_order_of_its_members() {
        assert_eq!(
            shape_json(r#"{"skill":"handoff","title":" T ","labels":["x"],"risk":"low","writes":["a//b"]}"#),
            r#"{"ok":true,"result":{"title":" T ","acceptance":[],"writes":["a//b"],"priority":"medium","labels":["a2a","a2a/x"],"risk":"highest"}}"#
        );
        for none in ["null", r#"{"skill":"status"}"#] {
            assert!(shape_json(none).contains(r#""field":"work.skill""#), "{none}");
        }
    }
}
