//! Why a client's mutation changes nothing.

use crate::runs::refuse::Refusal;
use crate::store::Outcome;

/// A conflict that is recorded with its key, or a refusal that is not.
pub(super) enum Refused {
    Recorded(Outcome),
    Not(Refusal),
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused::Not(refusal)
    }
}
