//! Larger buffers that both ranks of a pair write alternately: [`PingPongBuffers`].
//!
//! In a request-reply exchange the side that has just read a buffer writes the next message there: the lines
//! are in its cache, and the two directions share one buffer where they would go through all of theirs. The
//! side that last consumed a buffer may write it next. Each side keeps this in flags of its own: the ring's
//! order carries the buffer over, and nothing is shared.
//!
//! A pair has two such buffers, one that each side begins with, so that both sides may write at once.

use super::Corrupt;

/// Ping-pong buffers of a pair.
pub const PING_PONG_BUFFERS: usize = 2;

/// Which of the pair's buffers this side may write.
#[derive(Clone, Copy, Debug)]
pub struct PingPongBuffers {
    owned: [bool; PING_PONG_BUFFERS],
    /// The buffer read last: its lines are in this side's cache.
    latest: u8,
}

impl PingPongBuffers {
    /// The state before the first message: this side owns its buffer 0. The peer counts the buffers the other
    /// way round.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            owned: [true, false],
            latest: 0,
        }
    }

    /// No buffers: for the link of a rank to itself.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            owned: [false; PING_PONG_BUFFERS],
            latest: 0,
        }
    }

    /// The index that the peer has for buffer `i`, and the reverse.
    #[must_use]
    pub const fn peer_index(i: usize) -> usize {
        PING_PONG_BUFFERS - 1 - i
    }

    /// The buffer to write next, if this side owns one.
    #[inline]
    #[must_use]
    pub const fn next(&self) -> Option<usize> {
        let latest = self.latest as usize;
        let other = Self::peer_index(latest);
        if self.owned[latest] {
            Some(latest)
        } else if self.owned[other] {
            Some(other)
        } else {
            None
        }
    }

    /// Buffer `i`, which [`PingPongBuffers::next`] returned, goes to the peer with the message that is
    /// published next.
    #[inline]
    pub const fn give(&mut self, i: usize) {
        debug_assert!(self.owned[i]);
        self.owned[i] = false;
    }

    /// Checks a message's claim to be in buffer `i`.
    ///
    /// # Errors
    /// [`Corrupt`] when there is no such buffer, or this side owns it.
    #[inline]
    pub const fn check(&self, i: usize) -> Result<(), Corrupt> {
        if i < PING_PONG_BUFFERS && !self.owned[i] {
            Ok(())
        } else {
            Err(Corrupt("a buffer that the receiver owns"))
        }
    }

    /// The message in buffer `i`, which [`PingPongBuffers::check`] has allowed, is read: this side owns the
    /// buffer.
    #[inline]
    pub const fn gain(&mut self, i: usize) {
        self.owned[i] = true;
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
    fn an_exchange_needs_one_buffer_and_a_stream_none() {
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
    fn a_buffer_of_the_receiver_is_refused() {
        let side = PingPongBuffers::new();
        assert!(
            side.check(0).is_err() && side.check(2).is_err() && side.check(usize::MAX).is_err()
        );
        assert!(PingPongBuffers::none().next().is_none());
    }
}
