//! The free pages of an area, by first fit: [`FreePages`].

use std::collections::BTreeMap;

/// The free pages of an area, numbered from 0.
///
/// First fit keeps the low pages in use, so that what was once touched is touched again.
#[derive(Debug)]
pub(super) struct FreePages {
    /// Extents of free pages: first page and number. No two are adjacent.
    extents: BTreeMap<u64, u64>,
    left: u64,
}

impl FreePages {
    /// An area of `pages` free pages.
    pub(super) fn new(pages: u64) -> Self {
        Self {
            extents: (pages > 0).then_some((0, pages)).into_iter().collect(),
            left: pages,
        }
    }

    /// Number of free pages.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Number of pages of the longest free extent.
    pub(super) fn longest(&self) -> u64 {
        self.extents.values().copied().max().unwrap_or(0)
    }

    /// Takes `pages` adjacent pages, at least one, and returns the first.
    ///
    /// # Cost
    /// A look at each free extent before the one that fits.
    pub(super) fn take(&mut self, pages: u64) -> Option<u64> {
        let (&first, &len) = self.extents.iter().find(|(_, len)| **len >= pages)?;
        self.extents.remove(&first);
        if len > pages {
            self.extents.insert(first + pages, len - pages);
        }
        self.left -= pages;
        Some(first)
    }

    /// Gives back the `pages` pages from `first` on, which [`FreePages::take`] returned.
    pub(super) fn give(&mut self, first: u64, pages: u64) {
        let (mut start, mut len) = (first, pages);
        if let Some((&before, &run)) = self.extents.range(..first).next_back() {
            debug_assert!(before + run <= first, "pages given back twice");
            if before + run == first {
                self.extents.remove(&before);
                (start, len) = (before, run + len);
            }
        }
        if let Some(after) = self.extents.remove(&(first + pages)) {
            len += after;
        }
        self.extents.insert(start, len);
        self.left += pages;
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const PAGES: u64 = 64;

    /// The longest extent of free pages.
    fn longest(used: &[bool]) -> u64 {
        let runs = used.split(|used| *used);
        runs.map(|run| run.len() as u64).max().unwrap_or(0)
    }

    proptest! {
        /// Compared with a map of single pages: taken pages were free and the first that fit, a refusal means
        /// that no extent is long enough, and all of it comes back as one extent.
        #[test]
        fn as_a_map_of_pages(steps in vec((any::<bool>(), 1..=24u64, any::<usize>()), 0..200)) {
            let mut free = FreePages::new(PAGES);
            let mut used = [false; PAGES as usize];
            let mut held: Vec<(u64, u64)> = Vec::new();
            for (take, pages, which) in steps {
                if take {
                    let n = pages as usize;
                    let fits = used.windows(n).position(|run| run.iter().all(|used| !used));
                    let taken = free.take(pages);
                    prop_assert_eq!(taken, fits.map(|at| at as u64));
                    if let Some(at) = fits {
                        used[at..at + n].fill(true);
                        held.push((at as u64, pages));
                    }
                } else if !held.is_empty() {
                    let (at, pages) = held.swap_remove(which % held.len());
                    used[at as usize..(at + pages) as usize].fill(false);
                    free.give(at, pages);
                }
                let left = used.iter().filter(|used| !**used).count() as u64;
                prop_assert_eq!((free.left(), free.longest()), (left, longest(&used)));
            }
            for (at, pages) in held {
                free.give(at, pages);
            }
            prop_assert_eq!(free.take(PAGES), Some(0));
        }
    }

    #[test]
    fn an_area_without_pages_gives_none() {
        let mut none = FreePages::new(0);
        assert_eq!((none.left(), none.longest(), none.take(1)), (0, 0, None));
    }
}
