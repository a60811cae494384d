//! What an operation is: its name, what it needs, what it takes, and what carries it out.

use super::Call;
use crate::params::Param;
use crate::refusal::Refusal;
use crate::session::{Decided, Idempotency, Scope, Session};

/// What carries an operation out, once its scope and fields are checked.
pub type Handler = fn(&Session, &Call<'_>, Option<Idempotency>) -> Result<Decided, Refusal>;

/// An operation of the extension.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its dotted name, such as `requests.update`.
    pub name: &'static str,
    /// What the caller's credential must have.
    pub scope: Scope,
    /// Whether it changes nothing, whatever it is sent.
    pub read_only: bool,
    /// What it takes, beside `idempotencyKey` where it is no read.
    pub params: &'static [Param],
    /// What it does, for people.
    pub about: &'static str,
    /// What carries it out.
    pub handler: Handler,
}
