//! [`Order`]: the order of the frames of one peer, which come by several queue pairs.
//!
//! A queue pair keeps the order of its own messages only. So the sender numbers its frames, and a frame that comes
//! before an earlier one waits here. Its buffer is free at once: a frame that is late never waits for a buffer that
//! holds a later one.
//!
//! The sender has frames of at most [`WINDOW`] successive numbers in flight. Those that have arrived and are not polled
//! are in buffers, so no frame is further ahead than the window and all buffers.

use oxmpi_wire::{Header, Take};
use std::collections::BTreeMap;

/// Successive numbers from the oldest frame that is in flight on.
pub(super) const WINDOW: u32 = 256;

/// A frame that waits for an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) header: Header,
    pub(super) body: Vec<u8>,
}

impl Held {
    /// Keeps a frame with its body.
    #[cold]
    pub(super) fn take(header: Header, from: &mut impl Take) -> Self {
        let mut body = vec![0; from.left()];
        from.take(&mut body);
        Self { header, body }
    }
}

/// The frames of a peer in order.
#[derive(Debug)]
pub(super) struct Order {
    /// The number of the next one.
    next: u32,
    /// The most that a number is ahead.
    most: u32,
    /// The sender repeats frames that have failed, though they may have arrived.
    repeats: bool,
    /// Frames that wait, by number.
    held: BTreeMap<u32, Held>,
}

/// What to do with a frame that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the next one.
    Next,
    /// It is early: [hold](Order::hold) it.
    Early,
    /// It came before: drop it.
    Before,
}

impl Order {
    /// That of a new connection whose receiver has so many buffers, and whose sender `repeats` frames or does not.
    pub(super) const fn new(buffers: u32, repeats: bool) -> Self {
        Self {
            next: 0,
            most: WINDOW.saturating_add(buffers),
            repeats,
            held: BTreeMap::new(),
        }
    }

    /// Whether the frame `number` is the next one, which then counts as taken.
    #[inline(always)]
    pub(super) fn takes(&mut self, number: u32) -> bool {
        let is_next = number == self.next;
        self.next = self.next.wrapping_add(u32::from(is_next));
        is_next
    }

    /// The place of the frame `number`, which counts as taken if it is the next one.
    ///
    /// # Errors
    /// The rule that the peer broke.
    #[inline]
    pub(super) fn place(&mut self, number: u32) -> Result<Place, &'static str> {
        match number.wrapping_sub(self.next) {
            0 => {
                self.next = self.next.wrapping_add(1);
                Ok(Place::Next)
            }
            ahead if ahead > self.most => self.before(ahead > u32::MAX / 2),
            _ if self.held.contains_key(&number) => self.before(true),
            _ => Ok(Place::Early),
        }
    }

    /// What to do with a frame that came before, if it `is_before`.
    #[cold]
    const fn before(&self, is_before: bool) -> Result<Place, &'static str> {
        match self.repeats && is_before {
            true => Ok(Place::Before),
            false => Err("a frame that came before, or far too early"),
        }
    }

    /// Keeps a frame whose place is [`Place::Early`].
    pub(super) fn hold(&mut self, number: u32, held: Held) {
        self.held.insert(number, held);
    }

    /// Whether the next frame waits here. To be called after each frame that was taken: a copy of it may wait here.
    #[inline]
    pub(super) fn has_next(&mut self) -> bool {
        !self.held.is_empty() && self.find_next()
    }

    /// Drops the copy of the frame that was taken last, which was repeated before its turn came.
    fn find_next(&mut self) -> bool {
        self.held.remove(&self.next.wrapping_sub(1));
        self.held.contains_key(&self.next)
    }

    /// Takes the next frame if it waits here.
    pub(super) fn take_next(&mut self) -> Option<Held> {
        let held = self.held.remove(&self.next)?;
        self.next = self.next.wrapping_add(1);
        Some(held)
    }

    /// Forgets the frames that wait.
    pub(super) fn clear(&mut self) {
        self.held.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame_head::own_header;
    use super::*;
    use proptest::prelude::*;

    fn held(number: u32) -> Held {
        Held {
            header: own_header(0),
            body: number.to_le_bytes().to_vec(),
        }
    }

    proptest! {
        /// Frames in any order within the window leave in theirs, also where the numbers wrap.
        #[test]
        fn frames_leave_in_order(start: u32, keys in prop::collection::vec(0..100u32, 1..400)) {
            let mut order = Order { next: start, ..Order::new(0, false) };
            // A shuffle in which no frame comes more than about 100 places early.
            let mut arrivals: Vec<(u32, u32)> = (0..).zip(&keys).map(|(at, key)| (at + key, at)).collect();
            arrivals.sort_unstable();
            let mut left = Vec::new();
            for (_, at) in arrivals {
                let number = start.wrapping_add(at);
                match order.place(number) {
                    Ok(Place::Next) => left.push(at),
                    Ok(Place::Early) => order.hold(number, held(at)),
                    Ok(Place::Before) => prop_assert!(false, "it came once"),
                    Err(why) => prop_assert!(false, "{}", why),
                }
                while order.has_next() {
                    let body = order.take_next().unwrap().body;
                    left.push(u32::from_le_bytes(body.try_into().unwrap()));
                }
            }
            prop_assert_eq!(left, (0..keys.len() as u32).collect::<Vec<_>>());
            prop_assert!(order.take_next().is_none());
        }
    }

    #[test]
    fn frames_that_came_before_or_too_early_are_refused() {
        let mut order = Order::new(10, false);
        assert_eq!(order.place(0), Ok(Place::Next));
        assert!(order.place(0).is_err(), "it came before");
        assert_eq!(order.place(1 + WINDOW + 10), Ok(Place::Early));
        assert!(order.place(2 + WINDOW + 10).is_err(), "too early");
        assert_eq!(order.place(5), Ok(Place::Early));
        order.hold(5, held(5));
        assert!(order.place(5).is_err(), "it waits");
        order.clear();
        assert_eq!(order.place(5), Ok(Place::Early));
    }

    #[test]
    fn repeated_frames_are_dropped() {
        let mut order = Order::new(10, true);
        assert_eq!(
            [0, 1].map(|number| order.place(number)),
            [Ok(Place::Next); 2]
        );
        order.hold(5, held(5));
        assert_eq!(
            [0, 1, 5].map(|number| order.place(number)),
            [Ok(Place::Before); 3]
        );
        assert!(order.place(3 + WINDOW + 10).is_err(), "too early");
    }

    /// A frame that came early and is repeated with the one before it is handed over once, also when the numbers come round.
    #[test]
    fn a_repeated_frame_leaves_no_copy_of_itself() {
        type Taking = fn(&mut Order, u32) -> bool;
        let both: [Taking; 2] = [Order::takes, |order, number| {
            order.place(number) == Ok(Place::Next)
        }];
        for takes in both {
            let mut order = Order {
                next: u32::MAX,
                ..Order::new(10, true)
            };
            assert_eq!(order.place(0), Ok(Place::Early));
            order.hold(0, held(0));
            assert!(takes(&mut order, u32::MAX) && order.has_next());
            assert!(takes(&mut order, 0) && !order.has_next());
            assert!(order.held.is_empty(), "{:?}", order.held);
            assert_eq!(order.take_next(), None);
        }
    }
}
