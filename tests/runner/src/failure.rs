//! Why a story failed: where, and what was expected and came instead.

use std::fmt;

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `status`, `header allow`, `body.task.status`.
    pub place: String,
    /// What the story says, if it says something.
    pub expected: Option<String>,
    /// What came, if something came.
    pub actual: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "  {}", self.place)?;
        for (sign, text) in [('-', &self.expected), ('+', &self.actual)] {
            match text {
                Some(text) => writeln!(out, "    {sign} {text}")?,
                None => writeln!(out, "    {sign}")?,
            }
        }
        Ok(())
    }
}

/// A step whose answer is not the one of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The story's name.
    pub story: String,
    /// Which step, from 1; 0 is the setting up of its session.
    pub step: usize,
    /// What the step does, in words.
    pub does: String,
    /// Who calls what.
    pub call: String,
    /// Every difference.
    pub problems: Vec<Problem>,
    /// The whole body that came.
    pub answer: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            story,
            step,
            does,
            call,
            problems,
            answer,
        } = self;
        writeln!(
            out,
            "{story}, step {step}: {does}\n  {call}\n  (- expected, + came)"
        )?;
        for problem in problems {
            problem.fmt(out)?;
        }
        writeln!(out, "  the whole answer: {answer}")
    }
}

impl std::error::Error for Failure {}
