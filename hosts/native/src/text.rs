//! Text for people: nothing that a stranger wrote reaches a terminal raw.

use a2a_edge::text::is_line_break;
use serde_json::Value;

/// Whether a character could move a cursor, hide text, or turn its order around.
///
/// Controls (C0, DEL, C1), the line separators, bidirectional marks, embeddings and isolates, the byte order
/// mark, and the tag characters, which no reader sees but a model may.
#[must_use]
const fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{61C}' | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}')
}

/// `text` on one line, with everything unsafe written as an escape such as `\u{1b}`.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            c if is_unsafe(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

/// `text` as a block of which every line is marked as somebody else's words.
#[must_use]
pub fn quoted(text: &str) -> String {
    // A carriage return before a line feed is half of one line break.
    let text = text.replace("\r\n", "\n");
    let lines = text.split(is_line_break).map(|line| {
        let line = format!("> {}", visible(line));
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `text` on one line of at most `limit` characters, cut with an ellipsis.
#[must_use]
pub fn short(text: &str, limit: usize) -> String {
    let line = visible(text);
    if line.chars().count() <= limit {
        return line;
    }
    let mut cut: String = line.chars().take(limit.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Compact JSON in which nothing unsafe stands raw: `serde_json` escapes C0 only.
#[must_use]
pub fn json_line(value: &Value) -> String {
    let compact = value.to_string();
    let mut line = String::with_capacity(compact.len());
    for c in compact.chars() {
        if is_unsafe(c) {
            // Outside of strings JSON is ASCII, so an escape is always right here.
            let mut units = [0_u16; 2];
            for unit in c.encode_utf16(&mut units) {
                line.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            line.push(c);
        }
    }
    line
}

/// Rows of cells in aligned columns, two spaces apart, each row a line.
///
/// Cells are shown as they are: what a stranger wrote goes through [`visible`] or [`short`] first.
#[must_use]
pub fn columns(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Named facts, one a line, the values aligned.
#[must_use]
pub fn facts(facts: &[(&str, String)]) -> String {
    let rows: Vec<Vec<String>> = facts
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![(*name).to_owned(), value.clone()])
        .collect();
    columns(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn controls_are_shown_and_not_obeyed() {
        assert_eq!(
            visible("a\u{1b}[2J\tb\u{9b}1m\r\n"),
            "a\\u{1b}[2J\\tb\\u{9b}1m\\u{d}\\n"
        );
        assert_eq!(visible("né \u{202e}x\u{e0041}"), "né \\u{202e}x\\u{e0041}");
    }

    #[test]
    fn every_line_of_a_quote_is_marked() {
        assert_eq!(
            quoted("one\r\ntwo\u{2028}three\r> four\n"),
            "> one\n> two\n> three\n> > four\n>"
        );
    }

    #[test]
    fn a_short_text_is_whole_up_to_its_limit() {
        assert_eq!(short("éééé", 4), "éééé");
        assert_eq!(short("ééééé", 4), "ééé…");
    }

    #[test]
    fn json_escapes_what_a_terminal_would_obey_and_means_the_same() {
        let value = json!({"a": "\u{9b}1m\u{202e}\u{e0041}é"});
        let line = json_line(&value);
        assert_eq!(line, r#"{"a":"\u009b1m\u202e\udb40\udc41é"}"#);
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [
            vec!["é".to_owned(), "1".to_owned()],
            vec!["abc".to_owned(), "22".to_owned()],
        ];
        assert_eq!(columns(&rows), "é    1\nabc  22\n");
    }
}
