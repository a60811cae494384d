//! The syntax of paths and globs: text to tokens.

use std::iter::Peekable;
use std::str::Chars;

use super::charset::Charset;
use super::compile::{Compiled, Compiler};
use super::fault::ResourceFault;

/// Reads a path or a glob.
pub fn compile(text: &str) -> Result<Compiled, ResourceFault> {
    let mut text = text;
    while let Some(rest) = text.strip_prefix("./") {
        text = rest;
    }
    if text.starts_with('!') {
        return Err(ResourceFault::Exclusion);
    }
    let mut compiler = Compiler::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' => compiler.slash()?,
            '*' => compiler.star()?,
            '?' => compiler.one_of(&Charset::Any)?,
            '[' => match class(&mut chars)? {
                Charset::One(c) => compiler.character(c)?,
                set => compiler.one_of(&set)?,
            },
            '{' => compiler.open_group()?,
            '}' => compiler.close_group()?,
            ',' if compiler.next_alternative()? => {}
            ']' => return Err(ResourceFault::Unpaired),
            '\\' => compiler.character(escaped(&mut chars)?)?,
            c => compiler.character(c)?,
        }
    }
    compiler.finish()
}

/// The character after a `\`.
fn escaped(chars: &mut Peekable<Chars<'_>>) -> Result<char, ResourceFault> {
    let next = chars.next().filter(|c| c.is_ascii_punctuation() && *c != '/');
    next.ok_or(ResourceFault::Escape)
}

/// The class that a `[` has opened, up to and with its `]`.
fn class(chars: &mut Peekable<Chars<'_>>) -> Result<Charset, ResourceFault> {
    let negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    let mut after_range = false;
    while chars.next_if_eq(&']').is_none() {
        let hyphen = chars.peek() == Some(&'-');
        let low = member(chars)?;
        if hyphen && after_range && chars.peek() != Some(&']') {
            return Err(ResourceFault::Range);
        }
        after_range = is_range(chars);
        let high = if after_range {
            chars.next();
            member(chars)?
        } else {
            low
        };
        if low > high {
            return Err(ResourceFault::Range);
        }
        ranges.push((low, high));
    }
    if ranges.is_empty() {
        return Err(ResourceFault::Class);
    }
    Ok(Charset::of(ranges, negated))
}

/// Whether a `-` and another member follow.
fn is_range(chars: &Peekable<Chars<'_>>) -> bool {
    let mut ahead = chars.clone();
    ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']')
}

/// One character of a class.
fn member(chars: &mut Peekable<Chars<'_>>) -> Result<char, ResourceFault> {
    match chars.next().ok_or(ResourceFault::Unpaired)? {
        '/' | '[' => Err(ResourceFault::Class),
        '\\' => escaped(chars),
        c => Ok(c),
    }
}
