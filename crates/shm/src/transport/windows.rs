//! Ping-pong windows: shared memory for long messages that the two sides of a pair write alternately.
//!
//! A side that has just read a window has it in its cache, and lines that the other side reads are slow to
//! write. So the reader has the window next ([`PingPongBuffers`]). A message of 64 KiB to and fro on a Zen 4
//! takes 1.0 us through one window, 3.9 through one for each direction; far apart 2.7 and 15.6, 1 MiB
//! 22 and 220. A one-way stream runs out of windows and then uses other protocols.

use std::ops::Range;
use std::vec::Vec;

use crate::ring::{Corrupt, PING_PONG_BUFFERS, PingPongBuffers};
use crate::segment::area::{WINDOWS_PER_PAIR, pair_window_len};

/// Which windows are this rank's to write, by peer.
pub(super) struct PingPongWindows {
    pairs: Vec<PairWindows>,
    len: usize,
    me: u32,
}

#[derive(Clone)]
struct PairWindows {
    buffers: [PingPongBuffers; WINDOWS_PER_PAIR / PING_PONG_BUFFERS],
    /// The entry of `buffers` whose window came last.
    latest: usize,
    /// By window: the bytes for which this process has pages.
    present: [usize; WINDOWS_PER_PAIR],
}

/// The entry of `buffers` that has window `i`, and its index there. The two sides count from opposite ends.
const fn locate(i: usize) -> (usize, usize) {
    if i < WINDOWS_PER_PAIR / 2 {
        (i, 0)
    } else {
        (WINDOWS_PER_PAIR - 1 - i, PING_PONG_BUFFERS - 1)
    }
}

/// The window of these indices: the reverse of [`locate`].
const fn window(entry: usize, index: usize) -> usize {
    if index == 0 {
        entry
    } else {
        WINDOWS_PER_PAIR - 1 - entry
    }
}

impl PingPongWindows {
    /// The windows of rank `me`; it has none with itself.
    pub(super) fn new(ranks: u32, me: u32) -> Self {
        let pair = |peer| PairWindows {
            buffers: [if peer == me {
                PingPongBuffers::none()
            } else {
                PingPongBuffers::new()
            }; WINDOWS_PER_PAIR / PING_PONG_BUFFERS],
            latest: 0,
            present: [0; WINDOWS_PER_PAIR],
        };
        Self {
            pairs: (0..ranks).map(pair).collect(),
            len: pair_window_len(ranks),
            me,
        }
    }

    /// Bytes of a window; 0 where there are none.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The number of window `i` at the other side.
    pub(super) const fn peer_index(i: usize) -> usize {
        WINDOWS_PER_PAIR - 1 - i
    }

    /// The next window to write to `peer`, if this rank has one.
    pub(super) fn next(&self, peer: u32) -> Option<usize> {
        let pair = &self.pairs[peer as usize];
        if self.len == 0 {
            return None;
        }
        let others = (0..pair.buffers.len()).filter(|&entry| entry != pair.latest);
        std::iter::once(pair.latest)
            .chain(others)
            .find_map(|entry| Some(window(entry, pair.buffers[entry].next()?)))
    }

    /// Whether `peer` may have a window. A window under way to it counts as the peer's.
    pub(super) fn may_belong_to(&self, peer: u32) -> bool {
        let others =
            |buffers: &PingPongBuffers| (0..PING_PONG_BUFFERS).any(|i| buffers.check(i).is_ok());
        self.len > 0 && peer != self.me && self.pairs[peer as usize].buffers.iter().any(others)
    }

    /// The bytes of window `i` for which this process lacks pages, for a message of `len` bytes.
    pub(super) fn absent(&self, peer: u32, i: usize, len: u64) -> Range<usize> {
        let end = len.min(self.len as u64) as usize;
        let present = self.pairs[peer as usize].present[i];
        present.min(end)..end
    }

    /// Records that this process has pages for the first `end` bytes of window `i`.
    pub(super) fn found(&mut self, peer: u32, i: usize, end: usize) {
        let present = &mut self.pairs[peer as usize].present[i];
        *present = end.max(*present);
    }

    /// Gives window `i`, which [`PingPongWindows::next`] returned, to `peer`.
    pub(super) fn give(&mut self, peer: u32, i: usize) {
        let (entry, index) = locate(i);
        self.pairs[peer as usize].buffers[entry].give(index);
    }

    /// Checks a message of `peer` that says it is in window `i`.
    ///
    /// # Errors
    /// There is no such window, or it is not the peer's to write.
    pub(super) fn check(&self, peer: u32, i: usize) -> Result<(), Corrupt> {
        if i >= WINDOWS_PER_PAIR || self.len == 0 {
            return Err(Corrupt("an unknown window"));
        }
        let (entry, index) = locate(i);
        self.pairs[peer as usize].buffers[entry].check(index)
    }

    /// Takes window `i`, which this rank has read or the peer has never seen.
    pub(super) fn gain(&mut self, peer: u32, i: usize) {
        let (entry, index) = locate(i);
        let pair = &mut self.pairs[peer as usize];
        pair.buffers[entry].gain(index);
        pair.latest = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_go_to_and_fro() {
        let (mut a, mut b) = (PingPongWindows::new(2, 0), PingPongWindows::new(2, 1));
        for round in 0..3 {
            let mut out = Vec::new();
            while let Some(i) = a.next(1) {
                a.give(1, i);
                out.push(i);
            }
            assert_eq!(out.len(), WINDOWS_PER_PAIR / [2, 1, 1][round]);
            for i in out {
                b.check(0, PingPongWindows::peer_index(i)).unwrap();
                b.gain(0, PingPongWindows::peer_index(i));
            }
            while let Some(i) = b.next(0) {
                b.give(0, i);
                a.check(1, PingPongWindows::peer_index(i)).unwrap();
                a.gain(1, PingPongWindows::peer_index(i));
            }
        }
    }

    #[test]
    fn the_window_that_came_last_goes_first() {
        let mut side = PingPongWindows::new(2, 0);
        for i in [WINDOWS_PER_PAIR - 1, WINDOWS_PER_PAIR - 2] {
            side.check(1, i).unwrap();
            side.gain(1, i);
            assert_eq!(side.next(1), Some(i));
        }
        assert!(
            side.check(1, WINDOWS_PER_PAIR - 1).is_err()
                && side.check(1, WINDOWS_PER_PAIR).is_err()
        );
        assert_eq!(side.next(0), None, "none with itself");
    }
}
