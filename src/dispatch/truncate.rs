//! Cutting what is too large, so that as much of it as possible stays.

use crate::a2a::Artifact;
use crate::json;

use super::BUDGET;

/// The largest count up to `total` that `fits`, by bisection; zero when none does.
///
/// `fits` must hold for every count below one that it holds for.
fn most_that_fit(total: usize, fits: impl Fn(usize) -> bool) -> usize {
    // `low` fits or is zero; `high` is one more than what may still fit.
    let (mut low, mut high) = (0, total.saturating_add(1));
    while high.saturating_sub(low) > 1 {
        let middle = low.midpoint(high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Builds an artifact with as many of `total` units as fit the budget; `build` is told how many units to keep and
/// whether that cuts something off.
///
/// What is kept is decided for the largest form, so that it is the same in every form of the artifact.
pub(super) fn fitted(total: usize, largest: impl Fn(usize, bool) -> Artifact) -> (usize, bool) {
    let fits = |artifact: &Artifact| json::compact_len(artifact) <= BUDGET;
    if fits(&largest(total, false)) {
        return (total, false);
    }
    (most_that_fit(total, |count| fits(&largest(count, true))), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_finds_the_last_that_fits() {
        for total in 0..40 {
            for limit in 0..45 {
                assert_eq!(most_that_fit(total, |count| count <= limit), total.min(limit));
            }
        }
        assert_eq!(most_that_fit(9, |_| false), 0);
        assert_eq!(most_that_fit(usize::MAX, |count| count <= 7), 7);
    }
}
