//! What happens next: a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path problem",
//! 1990).
//!
//! Time only goes forward, so an event is kept in the bucket of the highest bit in which its time differs from now. A bucket
//! is opened when the lower ones are empty, and its events move to lower ones: an event is touched a few times, and memory
//! is read in order, however many events there are. Events of one time come in the order of their tie breakers.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Something that happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// Picoseconds from the start.
    pub(super) time: u64,
    /// What comes first among events of one time.
    pub(super) tie: u64,
    /// The message, as its place in a slab; the rank of [`What::Met`].
    pub(super) message: u32,
    pub(super) kind: EventKind,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EventKind {
    /// The sending node's adapter is asked to send it.
    Inject,
    /// Its first byte reaches the receiving node's adapter.
    Arrive,
    /// It is in the receiving rank's memory.
    Deliver,
    /// The sender may write its buffer again.
    Sent,
    /// What the rank does together with others is done.
    Met,
}

/// Buckets: time's bits.
const BUCKETS: usize = 64;

/// All that will happen, in order.
pub(super) struct Events {
    now: u64,
    /// What happens at this moment, last first.
    current: Vec<Event>,
    /// What was added for this moment after it had begun.
    late: BinaryHeap<Reverse<Event>>,
    later: [Vec<Event>; BUCKETS],
}

impl Events {
    /// Nothing happens, and it is time 0.
    pub(super) fn new() -> Self {
        Events {
            now: 0,
            current: Vec::new(),
            late: BinaryHeap::new(),
            later: [const { Vec::new() }; BUCKETS],
        }
    }

    /// Adds an event, which is not in the past.
    pub(super) fn push(&mut self, event: Event) {
        debug_assert!(event.time >= self.now, "time goes forward");
        match (event.time ^ self.now).checked_ilog2() {
            None => self.late.push(Reverse(event)),
            Some(bit) => self.later[bit as usize].push(event),
        }
    }

    /// Takes what happens next.
    pub(super) fn pop(&mut self) -> Option<Event> {
        if self.current.is_empty() && self.late.is_empty() {
            self.advance()?;
        }
        let late = self.late.peek().map(|event| event.0);
        match self.current.last() {
            Some(&event) if late.is_none_or(|late| event <= late) => self.current.pop(),
            _ => self.late.pop().map(|event| event.0),
        }
    }

    /// Goes to the next time at which something happens.
    fn advance(&mut self) -> Option<()> {
        let bucket = self.later.iter_mut().find(|bucket| !bucket.is_empty())?;
        let events = core::mem::take(bucket);
        self.now = events.iter().map(|event| event.time).min()?;
        for event in events {
            match (event.time ^ self.now).checked_ilog2() {
                None => self.current.push(event),
                Some(bit) => self.later[bit as usize].push(event),
            }
        }
        self.current.sort_unstable_by(|a, b| b.cmp(a));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventKind, Events};
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order(steps in prop::collection::vec((0_u64..1 << 40, 0_u64..4, any::<bool>()), 1..300)) {
            let (mut events, mut oracle, mut now) = (Events::new(), BTreeSet::new(), 0);
            for (message, (delay, tie, near)) in (0..).zip(steps) {
                let time = now + if near { delay % 3 } else { delay };
                let event = Event { time, tie, message, kind: EventKind::Inject };
                events.push(event);
                oracle.insert(event);
                if message % 3 == 2 {
                    let next = events.pop();
                    prop_assert_eq!(next, oracle.pop_first());
                    now = next.map_or(now, |event| event.time);
                }
            }
            while let Some(event) = oracle.pop_first() {
                prop_assert_eq!(events.pop(), Some(event));
            }
            prop_assert_eq!(events.pop(), None);
        }
    }
}
