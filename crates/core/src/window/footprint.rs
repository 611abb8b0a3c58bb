//! What making a window takes, as `oxmpi explain window` foretells it: [`WindowFootprint`].

use oxmpi_coll::catalog::Call;
use oxmpi_shm::window::WindowWords;
use oxmpi_wire::Peer;

use super::creation::WORDS;
use super::near::Near;
use super::target::RankSize;

/// A window of so many ranks, as [`Window::create`](super::Window::create) makes it for one thread of each.
#[derive(Clone, Copy, Debug)]
pub struct WindowFootprint {
    /// Ranks of the window.
    pub ranks: u32,
    /// Those of a rank's node, itself included.
    pub on_node: u32,
}

impl WindowFootprint {
    /// The collectives in which the ranks make it, in order: they agree on a context, each says where its memory and its
    /// locks are, and all wait until each has its window.
    #[must_use]
    pub const fn calls(&self) -> [Call; 3] {
        [
            Call::allreduce(0, self.ranks, 1, size_of::<u32>() as u64),
            Call::allgather(0, self.ranks, size_of::<[u64; WORDS]>() as u64),
            Call::barrier(0, self.ranks),
        ]
    }

    /// Bytes that a rank has while the window is made.
    #[must_use]
    pub const fn bytes_meanwhile(&self) -> u64 {
        self.ranks as u64 * size_of::<[u64; WORDS]>() as u64
    }

    /// Bytes that a rank keeps for the ranks of all nodes, whose memory has `equal` sizes and units or not.
    #[must_use]
    pub const fn bytes_kept(&self, equal: bool) -> u64 {
        match equal {
            true => 0,
            false => self.ranks as u64 * size_of::<RankSize>() as u64,
        }
    }

    /// Bytes that a rank keeps for those of its node: how it reaches the memory and the locks of each. The locks themselves
    /// are [in shared memory](WindowWords::bytes).
    #[must_use]
    pub const fn bytes_kept_for_node(&self) -> u64 {
        // The words of a window are counted, by two words beside them.
        let words = size_of::<WindowWords>() + 2 * size_of::<usize>();
        let rank = size_of::<Option<Near>>() + size_of::<Peer>() + words;
        self.on_node as u64 * rank as u64
    }
}
