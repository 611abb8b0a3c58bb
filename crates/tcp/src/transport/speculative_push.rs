//! Speculative push: the first bytes of a region follow its key before the receiver requests them.
//!
//! ```text
//!  key(region, number, len), Push{number} + bytes ->   get: without these bytes
//!                        <- Get{the rest}
//!                  Data + bytes ->
//! ```
//!
//! A receive that waits gets its first bytes without a round trip. A receiver that does not wait drops the
//! push and requests all bytes: it keeps no bytes without a receive. A sender has at most one push under way
//! to a peer. After a dropped push it pauses, twice as long each time, and starts with a short push again.
//! After a push whose receive waited, the next one is twice as long, up to the setting.

use std::collections::VecDeque;

use oxmpi_wire::regions::RegionId;

use crate::frame::{OperationId, Push};

/// Most bytes of a peer's first push, and of the first one after a dropped push.
const FIRST_LEN: u64 = 256 << 10;

/// Most consecutive transfers without a push.
const LONGEST_PAUSE: u32 = 1023;

/// The pushes of this rank to one peer.
#[derive(Debug)]
pub(super) struct PushSender {
    next_number: u64,
    /// Most bytes of the next push.
    max_len: u64,
    /// The region of the last push, until its transfer ends.
    open: Option<RegionId>,
    /// Transfers left in the current pause.
    left: u32,
    /// Transfers in the current pause, or in the last one.
    pause: u32,
}

impl Default for PushSender {
    fn default() -> Self {
        Self {
            next_number: 0,
            max_len: FIRST_LEN,
            open: None,
            left: 0,
            pause: 0,
        }
    }
}

impl PushSender {
    /// Whether the transfer that begins now may have a push.
    pub(super) const fn may_begin(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.open.is_none()
    }

    /// Begins the push of a region, of `max` bytes at most.
    pub(super) fn begin(&mut self, region: RegionId, max: u64) -> Push {
        self.open = Some(region);
        self.next_number += 1;
        Push {
            number: self.next_number - 1,
            len: max.min(self.max_len),
        }
    }

    /// The peer gets `region` from its first byte on, or this rank puts it: the peer has dropped a push of it.
    pub(super) fn dropped(&mut self, region: RegionId) {
        if self.open == Some(region) && self.left == 0 {
            self.pause = (2 * self.pause + 1).min(LONGEST_PAUSE);
            self.left = self.pause;
            self.max_len = FIRST_LEN;
        }
    }

    /// Ends the transfer of `region`.
    pub(super) fn ended(&mut self, region: RegionId) {
        if self.open == Some(region) {
            self.open = None;
            if self.left == 0 {
                self.pause = 0;
                self.max_len = self.max_len.saturating_mul(2);
            }
        }
    }
}

/// The pushes of one peer to this rank.
#[derive(Debug, Default)]
pub(super) struct PushReceiver {
    /// All pushes below this number have begun to arrive.
    seen: u64,
    /// Pushes that an operation waits for.
    awaited: VecDeque<AwaitedPush>,
}

#[derive(Debug)]
struct AwaitedPush {
    number: u64,
    id: OperationId,
    /// Bytes that have been announced.
    at: u64,
    len: u64,
}

impl PushReceiver {
    /// Whether no byte of `push` has arrived yet, and no operation waits for it.
    pub(super) fn is_outstanding(&self, push: Push) -> bool {
        let awaited = self.awaited.iter().any(|other| other.number == push.number);
        push.len > 0 && push.number >= self.seen && !awaited
    }

    /// Lets the operation `id` wait for `push`.
    pub(super) fn await_push(&mut self, push: Push, id: OperationId) {
        let Push { number, len } = push;
        let at = 0;
        self.awaited.push_back(AwaitedPush {
            number,
            id,
            at,
            len,
        });
    }

    /// Counts `len` bytes of push `number` from byte `at` on. Returns the operation that waits for them.
    ///
    /// # Errors
    /// The rule that the peer violated.
    pub(super) fn arriving(
        &mut self,
        number: u64,
        at: u64,
        len: u64,
    ) -> Result<Option<OperationId>, &'static str> {
        self.seen = self.seen.max(number.saturating_add(1));
        let found = self.awaited.iter().position(|push| push.number == number);
        let Some(index) = found else {
            return Ok(None);
        };
        let push = &mut self.awaited[index];
        if at != push.at || len == 0 || len > push.len - push.at {
            return Err("bytes that were not announced");
        }
        push.at += len;
        let id = push.id;
        if push.at == push.len {
            self.awaited.remove(index);
        }
        Ok(Some(id))
    }

    /// Drops the later bytes for the operation `id`, which has ended.
    pub(super) fn forget(&mut self, id: OperationId) {
        self.awaited.retain(|push| push.id != id);
    }

    /// Forgets all pushes, since the peer is lost.
    pub(super) fn clear(&mut self) {
        self.awaited.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: RegionId = RegionId::from_word(7);

    /// The number of pushes in `transfers` transfers.
    fn pushes(sender: &mut PushSender, transfers: u32, dropped: bool) -> u32 {
        let mut count = 0;
        for _ in 0..transfers {
            if sender.may_begin() {
                sender.begin(REGION, 1);
                count += 1;
            }
            if dropped {
                sender.dropped(REGION);
            }
            sender.ended(REGION);
        }
        count
    }

    #[test]
    fn a_peer_that_drops_pushes_gets_ever_fewer() {
        let mut sender = PushSender::default();
        assert_eq!(pushes(&mut sender, 100, false), 100);
        assert!(pushes(&mut sender, 10_000, true) <= 20);
        assert!(pushes(&mut sender, 2 * LONGEST_PAUSE, false) >= LONGEST_PAUSE - 1);
        assert_eq!(pushes(&mut sender, 100, false), 100);
    }

    #[test]
    fn one_push_is_in_flight_at_most() {
        let mut sender = PushSender::default();
        assert!(sender.may_begin());
        assert_eq!(sender.begin(REGION, 5), Push { number: 0, len: 5 });
        assert!(!sender.may_begin());
        sender.ended(RegionId::from_word(8));
        assert!(!sender.may_begin());
        sender.ended(REGION);
        assert!(sender.may_begin());
        assert_eq!(sender.begin(REGION, 5), Push { number: 1, len: 5 });
    }

    #[test]
    fn a_peer_that_waits_gets_longer_pushes() {
        let mut sender = PushSender::default();
        let mut next = |dropped| {
            while !sender.may_begin() {
                sender.ended(REGION);
            }
            let push = sender.begin(REGION, 3 * FIRST_LEN);
            if dropped {
                sender.dropped(REGION);
            }
            sender.ended(REGION);
            push.len / FIRST_LEN
        };
        assert_eq!([false; 4].map(&mut next), [1, 2, 3, 3]);
        assert_eq!([true, false, false].map(&mut next), [3, 1, 2]);
    }

    #[test]
    fn a_push_goes_to_the_operation_that_waits_for_it() {
        let (id, push) = (OperationId(5), |number| Push { number, len: 10 });
        let mut receiver = PushReceiver::default();
        assert!(receiver.is_outstanding(push(0)));
        assert_eq!(receiver.arriving(0, 0, 4), Ok(None));
        assert!(
            !receiver.is_outstanding(push(0)),
            "its first bytes were dropped"
        );
        assert_eq!(receiver.arriving(0, 4, 6), Ok(None));
        assert!(!receiver.is_outstanding(Push { number: 1, len: 0 }));
        assert!(receiver.is_outstanding(push(1)) && receiver.is_outstanding(push(2)));
        receiver.await_push(push(2), id);
        assert!(
            !receiver.is_outstanding(push(2)),
            "another operation waits for it"
        );
        assert_eq!(receiver.arriving(1, 0, 10), Ok(None));
        assert_eq!(receiver.arriving(2, 0, 4), Ok(Some(id)));
        for wrong in [(0, 4), (4, 7), (4, 0), (5, 1), (u64::MAX, 1)] {
            assert!(receiver.arriving(2, wrong.0, wrong.1).is_err(), "{wrong:?}");
        }
        assert_eq!(receiver.arriving(2, 4, 6), Ok(Some(id)));
        assert_eq!(receiver.arriving(2, 4, 6), Ok(None));
        receiver.await_push(push(3), id);
        receiver.forget(id);
        assert_eq!(receiver.arriving(3, 0, 4), Ok(None));
        assert_eq!(receiver.arriving(u64::MAX, 0, 1), Ok(None));
    }
}
