//! Sums of money in cents, and how they are shared.

/// Shares `cents` among `people`; the first ones get a cent more where it does not come out even.
///
/// Returns `None` where there is nobody to share with.
pub fn shares(cents: u32, people: u32) -> Option<Vec<u32>> {
    let each = cents.checked_div(people)?;
    Some((0..people).map(|_| each).collect())
}
