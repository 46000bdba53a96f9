//! Throws of dice.

pub mod parse;
pub mod range;

pub use parse::{parse, Throw};
pub use range::{highest, lowest};
