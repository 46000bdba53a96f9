//! What a throw can give.

use crate::parse::Throw;

/// The lowest sum of a throw.
pub fn lowest(throw: &Throw) -> i64 {
    throw.count + throw.plus
}

/// The highest sum of a throw.
pub fn highest(throw: &Throw) -> i64 {
    throw.count * throw.sides + throw.plus
}
