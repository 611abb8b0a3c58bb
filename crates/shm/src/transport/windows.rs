//! PingPongWindows that this rank writes in turn with each of its peers: the buffers of long messages.
//!
//! What one side has just read is in its cache, and the lines that the other side reads are dear to
//! write: on a Zen 4 a message of 64 KiB in a dialogue takes 1.0 us through a window that both write
//! in turn and 3.9 through one of each direction; far apart 2.7 and 15.6, 1 MiB 22 and 220. So who
//! has read a window has it next ([`PingPongBuffers`]). A stream one way comes to an end of them, and its
//! messages then go other ways.

use std::ops::Range;
use std::vec::Vec;

use crate::ring::{Corrupt, PING_PONG_BUFFERS, PingPongBuffers};
use crate::segment::area::{WINDOWS_PER_PAIR, pair_window_len};

/// Which windows are this rank's, by peer.
pub(super) struct PingPongWindows {
    pairs: Vec<PairWindows>,
    len: usize,
    me: u32,
}

#[derive(Clone)]
struct PairWindows {
    turns: [PingPongBuffers; WINDOWS_PER_PAIR / PING_PONG_BUFFERS],
    /// Which of those has the window that came last.
    latest: usize,
    /// By window: how many of its bytes this process has pages for.
    present: [usize; WINDOWS_PER_PAIR],
}

/// The place of window `i` among its pair's turns, and there. Both sides' counts run from the ends.
const fn turn(i: usize) -> (usize, usize) {
    let place = if i < WINDOWS_PER_PAIR / 2 {
        i
    } else {
        WINDOWS_PER_PAIR - 1 - i
    };
    (
        place,
        if i < WINDOWS_PER_PAIR / 2 {
            0
        } else {
            PING_PONG_BUFFERS - 1
        },
    )
}

/// The reverse.
const fn window(place: usize, turn: usize) -> usize {
    if turn == 0 {
        place
    } else {
        WINDOWS_PER_PAIR - 1 - place
    }
}

impl PingPongWindows {
    /// Those of rank `me` among so many. It has none with itself.
    pub(super) fn new(ranks: u32, me: u32) -> Self {
        let pair = |peer| PairWindows {
            turns: [if peer == me {
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

    /// Bytes of each; 0 where there are none.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// What the other side calls window `i`, and the reverse.
    pub(super) const fn across(i: usize) -> usize {
        WINDOWS_PER_PAIR - 1 - i
    }

    /// The window to write next to `peer`, if there is one, by this rank's count.
    pub(super) fn next(&self, peer: u32) -> Option<usize> {
        let pair = &self.pairs[peer as usize];
        if self.len == 0 {
            return None;
        }
        let others = (0..pair.turns.len()).filter(|&place| place != pair.latest);
        std::iter::once(pair.latest)
            .chain(others)
            .find_map(|place| Some(window(place, pair.turns[place].next()?)))
    }

    /// Whether `peer` may have a window, by this rank's count: one that is on its way is the peer's.
    pub(super) fn others(&self, peer: u32) -> bool {
        let others =
            |turns: &PingPongBuffers| (0..PING_PONG_BUFFERS).any(|i| turns.check(i).is_ok());
        self.len > 0 && peer != self.me && self.pairs[peer as usize].turns.iter().any(others)
    }

    /// The bytes of window `i` that this process lacks pages for, if a message of `len` bytes goes
    /// through it.
    pub(super) fn absent(&self, peer: u32, i: usize, len: u64) -> Range<usize> {
        let end = len.min(self.len as u64) as usize;
        let present = self.pairs[peer as usize].present[i];
        present.min(end)..end
    }

    /// It has pages for the first `end` bytes of window `i`.
    pub(super) fn found(&mut self, peer: u32, i: usize, end: usize) {
        let present = &mut self.pairs[peer as usize].present[i];
        *present = end.max(*present);
    }

    /// Window `i`, which [`PingPongWindows::next`] has shown, is under way to `peer`.
    pub(super) fn give(&mut self, peer: u32, i: usize) {
        let (place, turn) = turn(i);
        let pair = &mut self.pairs[peer as usize];
        pair.turns[place].give(turn);
    }

    /// A message of `peer` says that it is in window `i`.
    ///
    /// # Errors
    /// [`Corrupt`] if there is no such window, or it is this rank's.
    pub(super) fn check(&self, peer: u32, i: usize) -> Result<(), Corrupt> {
        if i >= WINDOWS_PER_PAIR || self.len == 0 {
            return Err(Corrupt("a window that there is not"));
        }
        let (place, turn) = turn(i);
        self.pairs[peer as usize].turns[place].check(turn)
    }

    /// Window `i` is this rank's: it has read what was in it, or the peer never saw it.
    pub(super) fn gain(&mut self, peer: u32, i: usize) {
        let (place, turn) = turn(i);
        let pair = &mut self.pairs[peer as usize];
        pair.turns[place].gain(turn);
        pair.latest = place;
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
            assert_eq!(
                out.len(),
                if round == 0 {
                    WINDOWS_PER_PAIR / 2
                } else {
                    WINDOWS_PER_PAIR
                }
            );
            for i in out {
                b.check(0, PingPongWindows::across(i)).unwrap();
                b.gain(0, PingPongWindows::across(i));
            }
            while let Some(i) = b.next(0) {
                b.give(0, i);
                a.check(1, PingPongWindows::across(i)).unwrap();
                a.gain(1, PingPongWindows::across(i));
            }
        }
    }

    #[test]
    fn the_one_that_came_last_goes_first() {
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
