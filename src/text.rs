//! What the extensions mean by a line break, a blank text and one line.
//!
//! Lengths in work/v1 and envelope/v1 are UTF-8 bytes; session coordination counts Unicode scalar values.

/// Whether `c` ends a line: U+000A–U+000D, U+0085, U+2028, U+2029, and nothing else.
#[must_use]
pub const fn is_line_break(c: char) -> bool {
    matches!(c, '\u{A}'..='\u{D}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether `c` is white space as ECMAScript's `trim` sees it: U+FEFF is, U+0085 and U+200B are not.
#[must_use]
pub const fn is_blank_char(c: char) -> bool {
    matches!(c,
        '\u{9}'..='\u{D}' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{2028}' | '\u{2029}'
        | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}')
}

/// Whether nothing but white space is in `text`; the empty text is blank.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

/// Whether a line break stands anywhere in `text`.
#[must_use]
pub fn has_line_break(text: &str) -> bool {
    let first = text.as_bytes();
    if !may_break(first) {
        return false;
    }
    // Over bytes and without an early end, so that the compiler can look at many bytes at once.
    let second = first.get(1..).unwrap_or_default();
    let third = first.get(2..).unwrap_or_default();
    let one = first
        .iter()
        .fold(false, |found, byte| found | matches!(byte, 0xA..=0xD));
    let two = (first.iter().zip(second)).fold(false, |found, (a, b)| found | ((*a == 0xC2) & (*b == 0x85)));
    let three = (first.iter().zip(second).zip(third)).fold(false, |found, ((a, b), c)| {
        found | ((*a == 0xE2) & (*b == 0x80) & matches!(c, 0xA8 | 0xA9))
    });
    one | two | three
}

/// Whether a byte is there that can begin a line break; controls that cannot count, too. Eight at a time, for compilers
/// that would look at one.
fn may_break(bytes: &[u8]) -> bool {
    const EACH: u64 = u64::MAX / 255;
    let begins = |eight: &[u8; 8]| {
        let eight = u64::from_le_bytes(*eight);
        let control = eight.wrapping_sub(EACH * 0x20) & !eight;
        // 0xC2 and 0xE2 differ in one bit; without it, either is zero.
        let lead = (eight ^ (EACH * 0xC2)) & !(EACH * 0x20);
        let leads = lead.wrapping_sub(EACH) & !lead;
        (control | leads) & (EACH * 0x80)
    };
    let (eights, rest) = bytes.as_chunks();
    eights.iter().fold(0, |found, eight| found | begins(eight)) != 0
        || rest.iter().any(|byte| matches!(byte, 0xA..=0xD | 0xC2 | 0xE2))
}

/// The longest prefix of `text` that is at most `limit` bytes and ends between two characters.
#[must_use]
pub fn prefix_within(text: &str, limit: usize) -> &str {
    let mut end = 0_usize;
    for (start, c) in text.char_indices() {
        let next = start.saturating_add(c.len_utf8());
        if next > limit {
            break;
        }
        end = next;
    }
    text.get(..end).unwrap_or_default()
}

/// Whether a character could move or hide what stands around it: controls but for the tab, and the marks that
/// turn the direction of writing.
fn is_tricky(c: char) -> bool {
    let turns = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}');
    turns || (c.is_control() && c != '\t')
}

/// A stranger's text in one line, fit to be shown: each line break is a space, each character that could mislead a
/// U+FFFD.
#[must_use]
pub fn flatten(text: &str) -> String {
    let lines: Vec<String> = lines(text).collect();
    lines.join(" ")
}

/// The lines of a stranger's text, fit to be shown: by every line break there is, CR LF being one, with U+FFFD for
/// what could mislead.
pub fn lines(text: &str) -> impl Iterator<Item = String> {
    let mut after_return = false;
    let mut ends = text.split(move |c: char| {
        let second_half = after_return && c == '\n';
        after_return = c == '\r';
        is_line_break(c) && !second_half
    });
    std::iter::from_fn(move || {
        let line = ends.next()?;
        // What is left of a CR LF after its CR.
        let line = line.strip_prefix('\n').unwrap_or(line);
        Some(
            line.chars()
                .map(|c| if is_tricky(c) { '\u{FFFD}' } else { c })
                .collect(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_characters_break_a_line_and_no_other_does() {
        let breaks: Vec<u32> = (0..=0x0010_FFFF)
            .filter_map(char::from_u32)
            .filter(|c| is_line_break(*c))
            .map(u32::from)
            .collect();
        assert_eq!(breaks, [0xA, 0xB, 0xC, 0xD, 0x85, 0x2028, 0x2029]);
    }

    #[test]
    fn a_line_break_is_found_wherever_it_stands() {
        for c in (0..=0x0010_FFFF).filter_map(char::from_u32) {
            let text = format!("é\u{2027}{c}\u{2030}€");
            assert_eq!(has_line_break(&text), is_line_break(c), "{:x}", u32::from(c));
        }
        for c in ['\n', '\u{85}', '\u{2029}'] {
            for before in 0..20 {
                assert!(has_line_break(&format!("{}{c}", "x".repeat(before))));
            }
        }
        assert!(!has_line_break(""));
    }

    #[test]
    fn blank_is_what_ecmascript_trims() {
        let blanks: Vec<u32> = (0..=0x0010_FFFF)
            .filter_map(char::from_u32)
            .filter(|c| is_blank_char(*c))
            .map(u32::from)
            .collect();
        let mut expected: Vec<u32> = vec![9, 0xA, 0xB, 0xC, 0xD, 0x20, 0xA0, 0x1680];
        expected.extend(0x2000..=0x200A);
        expected.extend([0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF]);
        assert_eq!(blanks, expected);
        assert!(is_blank(""));
        assert!(is_blank("\u{FEFF} \t"));
        assert!(!is_blank("\u{85}"));
        assert!(!is_blank("\u{200B}"));
    }

    #[test]
    fn a_prefix_never_splits_a_character() {
        assert_eq!(prefix_within("aé€", 0), "");
        assert_eq!(prefix_within("aé€", 2), "a");
        assert_eq!(prefix_within("aé€", 3), "aé");
        assert_eq!(prefix_within("aé€", 5), "aé");
        assert_eq!(prefix_within("aé€", 6), "aé€");
    }
}
