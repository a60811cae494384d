//! Resource ids: what a claim is on, and whether two of them overlap (session coordination, §9.1).
//!
//! A resource id is one line of 1 to [`CHARS`] characters, not blank, without control characters. It is:
//!
//! - **an opaque id**, `scheme:rest`: a letter, then letters, digits, `+`, `-` and `.`, then a colon and
//!   something (RFC 3986's scheme). `pr:12` overlaps `pr:12` and nothing else; no character of it is
//!   special, no case folded.
//! - **a path**, relative to the repository: it names itself. If it may be a directory, it also names all
//!   that is below, for a claim on `src/app` is meant to keep others out of `src/app/x.rs`. The desk can't
//!   look, so it goes by what is written: a path is taken for a directory when a `/` ends it, when its last
//!   segment has no `.` after the first character (`src/app`, `.github`, not `x.rs`), and when the other
//!   resource id leads on below it.
//! - **a glob**, which names the paths that it matches, in full: `src/*` names `src/x.rs`, not
//!   `src/app/x.rs`. If a `/` ends it, or its last segment has neither wildcards nor a `.` after the first
//!   character, it names all that is below those paths as well: `crates/*/tests` names
//!   `crates/a/tests/b.rs`.
//!
//! Two resource ids overlap when there is a path that both name: exactly, whether or not the file exists.
//!
//! | in a glob | matches |
//! |---|---|
//! | `*` | any characters of one segment, or none; a leading `.` too |
//! | `**` as a segment | any segments, or none: `src/**` names `src`, `a/**/b` names `a/b` |
//! | `**` within a segment | as `*` |
//! | `?` | one character |
//! | `[abc]`, `[a-z]`, `[!a]`, `[^a]` | one character of the class, or none of it; never `/` |
//! | `{a,b/c,}` | as if each alternative were written out, nested or empty ones too |
//! | `\` and a punctuation mark | that mark |
//!
//! Paths are never normalised but for leading `./`. A path is made of segments that are not empty, `.` or
//! `..`; a character is a Unicode scalar value; case counts.

mod automaton;
mod charset;
mod compile;
mod fault;
mod glob;
mod index;

pub use fault::ResourceFault;
pub use index::{Candidate, ResourceIndex};

use automaton::{Automaton, Place, Product};

use crate::text;

/// The longest resource id, in characters.
pub const CHARS: usize = 512;

/// The most states of a pattern, after its leading literal segments.
///
/// A pattern has about as many as it has characters there; only wildcards and literals as alternatives of
/// each other, with a long rest behind them, make more. Two patterns have `STATES * STATES * 5` states in
/// common at most, each looked at once to decide whether they overlap.
pub const STATES: usize = 256;

/// A resource id that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceId {
    text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Opaque,
    Paths(Paths),
}

/// A set of paths: those that start with the prefix and go on as the automaton says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Paths {
    /// Whole literal segments, each ended by a `/`.
    prefix: String,
    rest: Automaton,
    /// Whether it is a path, and the prefix the whole of it.
    literal: bool,
}

impl ResourceId {
    /// Understands a resource id.
    ///
    /// # Errors
    /// The first rule that the text breaks. None of it is corrected: what can't be what it seems is refused.
    pub fn parse(text: &str) -> Result<Self, ResourceFault> {
        if text::is_blank(text) || text.chars().nth(CHARS).is_some() {
            return Err(ResourceFault::Length);
        }
        if text
            .chars()
            .any(|c| text::is_line_break(c) || c.is_ascii_control())
        {
            return Err(ResourceFault::Line);
        }
        Ok(Self {
            kind: Kind::parse(text)?,
            text: text.to_owned(),
        })
    }

    /// The text, as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is an opaque id, which overlaps itself alone.
    #[must_use]
    pub const fn is_opaque(&self) -> bool {
        matches!(self.kind, Kind::Opaque)
    }

    /// Whether there is something that both name. Symmetric; every resource id overlaps itself.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Paths(a), Kind::Paths(b)) => Meeting::of(a, b).is_some_and(|meeting| meeting.is_met()),
            _ => self.text == other.text,
        }
    }

    /// How many pairs of states [`overlaps`](Self::overlaps) looks at, at most, for each of five places in a segment.
    #[must_use]
    pub const fn cost(&self, other: &Self) -> usize {
        match (&self.kind, &other.kind) {
            (Kind::Paths(a), Kind::Paths(b)) => a.rest.states().saturating_mul(b.rest.states()),
            _ => 1,
        }
    }

    /// Something that both name, for a person to see why they overlap: a short path, or the opaque id.
    ///
    /// There is one when they overlap, and only then. Costs more than [`overlaps`](Self::overlaps).
    #[must_use]
    pub fn overlap_witness(&self, other: &Self) -> Option<String> {
        match (&self.kind, &other.kind) {
            (Kind::Paths(a), Kind::Paths(b)) => Meeting::of(a, b)?.witness(),
            _ => (self.text == other.text).then(|| self.text.clone()),
        }
    }
}

impl Kind {
    fn parse(text: &str) -> Result<Self, ResourceFault> {
        if let Some((scheme, rest)) = text.split_once(':')
            && is_scheme(scheme)
        {
            return match rest.chars().next() {
                Some('/' | '\\') if scheme.len() == 1 => Err(ResourceFault::Absolute),
                _ if text::is_blank(rest) => Err(ResourceFault::Scheme),
                _ => Ok(Self::Opaque),
            };
        }
        let compiled = glob::compile(text)?;
        Ok(Self::Paths(Paths {
            prefix: compiled.prefix,
            rest: compiled.rest,
            literal: compiled.literal,
        }))
    }
}

/// Whether `text` is a scheme (RFC 3986, §3.1).
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Two sets of paths of which one's prefix starts with the other's, after the longer prefix.
struct Meeting<'a> {
    /// Whether the shorter is a path that the longer leads on below, or to: all that the longer names is in
    /// both.
    below: bool,
    /// What follows of the shorter, in these states.
    left: &'a Automaton,
    states: Vec<automaton::State>,
    longer: &'a Paths,
}

impl<'a> Meeting<'a> {
    /// Without one, no path is in both.
    fn of(a: &'a Paths, b: &'a Paths) -> Option<Self> {
        let order = |paths: &Paths| (paths.prefix.len(), !paths.literal);
        let (shorter, longer) = if order(a) <= order(b) { (a, b) } else { (b, a) };
        let between = longer.prefix.strip_prefix(shorter.prefix.as_str())?;
        let below = shorter.literal;
        let (left, states) = if below {
            (&longer.rest, vec![0])
        } else {
            (&shorter.rest, shorter.rest.after(between))
        };
        (!states.is_empty()).then_some(Self {
            below,
            left,
            states,
            longer,
        })
    }

    fn product(&self) -> Product<'_> {
        Product {
            left: self.left,
            from: &self.states,
            right: &self.longer.rest,
            place: if self.longer.prefix.is_empty() {
                Place::Nothing
            } else {
                Place::Start
            },
        }
    }

    fn is_met(&self) -> bool {
        self.below || self.product().meets()
    }

    fn witness(&self) -> Option<String> {
        let rest = self.product().witness()?;
        let mut path = format!("{}{rest}", self.longer.prefix);
        path.pop();
        Some(path)
    }
}

#[cfg(test)]
mod tests;
