//! Why a text is no resource id.

use std::fmt;

/// The rule that a text breaks as a resource id (session coordination, §9.1).
///
/// Its [`Display`](fmt::Display) is the rule itself, as a fragment that says what was expected: the
/// description of a field violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceFault {
    /// Empty, blank, or more than [`CHARS`](super::CHARS) characters.
    Length,
    /// A line break or a control character.
    Line,
    /// A scheme with nothing after its colon.
    Scheme,
    /// A path from the root of a machine: a leading `/`, or a drive letter.
    Absolute,
    /// A leading `!`, which excludes elsewhere and nothing here.
    Exclusion,
    /// Two slashes with no name between them, in one alternative at least.
    Segment,
    /// A segment `.` or `..`, in one alternative at least.
    Dots,
    /// One alternative names nothing at all.
    Nothing,
    /// Three stars or more as a segment.
    Stars,
    /// A `\` before anything but a punctuation mark.
    Escape,
    /// A `[`, `]`, `{` or `}` without its other half.
    Unpaired,
    /// Braces around fewer than two alternatives.
    Alternatives,
    /// A class of nothing, or with an unescaped `[` or a `/` in it.
    Class,
    /// A range that runs backwards, or one end that two ranges share.
    Range,
    /// More than [`STATES`](super::STATES) states.
    States,
}

impl fmt::Display for ResourceFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Length => "expected 1 to 512 characters, not blank",
            Self::Line => "expected one line, without control characters",
            Self::Scheme => "expected an id after the scheme and its colon",
            Self::Absolute => "expected a path relative to the repository, without leading / or drive letter",
            Self::Exclusion => r"expected no leading !, which excludes nothing here; \! is the character",
            Self::Segment => "expected a name between two slashes, in every alternative",
            Self::Dots => "expected no segment . or .., in any alternative; ** is the whole repository",
            Self::Nothing => "expected every alternative to name a path",
            Self::Stars => "expected a segment of * or **, not of more stars",
            Self::Escape => r"expected a punctuation mark after \, and / between segments",
            Self::Unpaired => r"expected [ ] and { } in pairs; \ before one makes it a character",
            Self::Alternatives => r"expected two or more alternatives between { and }; \{ is the character",
            Self::Class => r"expected characters between [ and ], without / and [; \[ is the character",
            Self::Range => r"expected ranges from low to high that share no end; \- is the character",
            Self::States => "expected a pattern of at most 256 states, about one a character; claim its alternatives apart",
        })
    }
}

impl std::error::Error for ResourceFault {}
