//! The window of linear algorithms, in which a rank exchanges with every other rank: how many exchanges are
//! under way at a time.

/// The most exchanges under way; at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window(u32);

impl Window {
    /// A window of 0 counts as 1.
    pub(crate) const fn new(window: u32) -> Self {
        Window(if window == 0 { 1 } else { window })
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// The steps that step `i` needs, so that no more steps than the window run at a time.
    pub(crate) const fn needs(self, i: u32) -> u32 {
        (i + 1).saturating_sub(self.0)
    }
}
