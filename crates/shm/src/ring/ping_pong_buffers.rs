//! Buffers that two sides write in turn.
//!
//! In a dialogue the side that has just read a buffer writes the next message, so it may as well
//! write it there: the lines are in its cache, and the two directions use one buffer where they
//! would go through all of theirs. Who has consumed a buffer last may write it next. Each side keeps
//! that in a flag of its own: the ring's own order carries the buffer over, and nothing is shared.
//!
//! A pair has two such buffers, one that each side begins with, so that both sides may write at once.

use super::Corrupt;

/// Buffers of a pair.
pub const PING_PONG_BUFFERS: usize = 2;

/// Which of a pair's buffers this side may write.
#[derive(Clone, Copy, Debug)]
pub struct PingPongBuffers {
    mine: [bool; PING_PONG_BUFFERS],
    /// The one that came last: its lines are near.
    latest: u8,
}

impl PingPongBuffers {
    /// This side begins with buffer 0 by its own count; the other one counts them the other way
    /// round.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            mine: [true, false],
            latest: 0,
        }
    }

    /// No buffers: for a rank's link to itself.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            mine: [false; PING_PONG_BUFFERS],
            latest: 0,
        }
    }

    /// What the other side calls buffer `i`, and the reverse.
    #[must_use]
    pub const fn peer_index(i: usize) -> usize {
        PING_PONG_BUFFERS - 1 - i
    }

    /// The buffer to write next, if there is one.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> Option<usize> {
        let latest = self.latest as usize;
        let other = Self::peer_index(latest);
        if self.mine[latest] {
            Some(latest)
        } else if self.mine[other] {
            Some(other)
        } else {
            None
        }
    }

    /// Buffer `i`, which [`PingPongBuffers::next`] has shown, goes over with the message that is published
    /// next.
    #[inline]
    pub const fn give(&mut self, i: usize) {
        debug_assert!(self.mine[i]);
        self.mine[i] = false;
    }

    /// A message says that it is in buffer `i`.
    ///
    /// # Errors
    /// [`Corrupt`] when there is no such buffer, or it is this side's.
    #[inline]
    pub const fn check(&self, i: usize) -> Result<(), Corrupt> {
        if i < PING_PONG_BUFFERS && !self.mine[i] {
            Ok(())
        } else {
            Err(Corrupt("a buffer out of turn"))
        }
    }

    /// What was in buffer `i`, which [`PingPongBuffers::check`] has allowed, is read.
    #[inline]
    pub const fn gain(&mut self, i: usize) {
        self.mine[i] = true;
        self.latest = i as u8;
    }
}

impl Default for PingPongBuffers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::PingPongBuffers;

    #[test]
    fn a_dialogue_needs_one_buffer_and_a_stream_none() {
        let (mut a, mut b) = (PingPongBuffers::new(), PingPongBuffers::new());
        for _ in 0..3 {
            let out = a.next().unwrap();
            a.give(out);
            assert_eq!(out, 0);
            let came = PingPongBuffers::peer_index(out);
            b.check(came).unwrap();
            b.gain(came);
            let back = b.next().unwrap();
            assert_eq!(back, came);
            b.give(back);
            a.check(PingPongBuffers::peer_index(back)).unwrap();
            a.gain(PingPongBuffers::peer_index(back));
        }
        a.give(0);
        assert_eq!(a.next(), None);
    }

    #[test]
    fn both_at_once() {
        let (mut a, mut b) = (PingPongBuffers::new(), PingPongBuffers::new());
        for _ in 0..3 {
            let (from_a, from_b) = (a.next().unwrap(), b.next().unwrap());
            a.give(from_a);
            b.give(from_b);
            for (side, came) in [(&mut b, from_a), (&mut a, from_b)] {
                side.check(PingPongBuffers::peer_index(came)).unwrap();
                side.gain(PingPongBuffers::peer_index(came));
            }
        }
    }

    #[test]
    fn out_of_turn_is_told() {
        let side = PingPongBuffers::new();
        assert!(
            side.check(0).is_err() && side.check(2).is_err() && side.check(usize::MAX).is_err()
        );
        assert!(PingPongBuffers::none().next().is_none());
    }
}
