//! The event queue: a radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest
//! path problem", 1990).
//!
//! Time never goes back, so an event lies in the bucket of the highest bit in which its time differs from
//! now. When all lower buckets are empty, a bucket is opened and its events move to lower ones. Each
//! event moves a few times only, and memory is read sequentially, however many events there are.
//! Simultaneous events are ordered by their tie breakers.

use alloc::collections::{BinaryHeap, TryReserveError};
use alloc::vec::Vec;
use core::cmp::Reverse;

/// An event of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// Picoseconds from the start.
    pub(super) time: u64,
    /// The order among simultaneous events.
    pub(super) tie: u64,
    /// The index of the message; for [`EventKind::PhaseEnd`] the rank.
    pub(super) message: u32,
    pub(super) kind: EventKind,
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EventKind {
    /// The message is handed to the sending node's adapter.
    Inject,
    /// The first byte reaches the receiving node's adapter.
    Arrive,
    /// The message is in the receiving rank's memory.
    Deliver,
    /// The sender may write its buffer again.
    Sent,
    /// An intra-node phase ends on the rank.
    PhaseEnd,
}

/// One bucket per bit of a time.
const BUCKETS: usize = 64;

/// The queue of future events.
pub(super) struct EventQueue {
    now: u64,
    /// The events of the present time, last first.
    current: Vec<Event>,
    /// Events added for the present time while it is processed.
    late: BinaryHeap<Reverse<Event>>,
    later: [Vec<Event>; BUCKETS],
}

impl EventQueue {
    /// An empty queue at time 0.
    pub(super) fn new() -> Self {
        EventQueue {
            now: 0,
            current: Vec::new(),
            late: BinaryHeap::new(),
            later: [const { Vec::new() }; BUCKETS],
        }
    }

    /// The time of the last event removed.
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        let later = self.later.iter().map(Vec::len);
        self.current.len() + self.late.len() + later.sum::<usize>()
    }

    /// Adds an event, which must not be in the past.
    ///
    /// # Errors
    /// If memory is lacking; the event is lost.
    pub(super) fn push(&mut self, event: Event) -> Result<(), TryReserveError> {
        debug_assert!(event.time >= self.now, "an event is not in the past");
        match (event.time ^ self.now).checked_ilog2() {
            None => {
                self.late.try_reserve(1)?;
                self.late.push(Reverse(event));
                Ok(())
            }
            Some(bit) => append(&mut self.later[bit as usize], event),
        }
    }

    /// Removes the next event.
    ///
    /// # Errors
    /// If memory is lacking; some events are lost.
    pub(super) fn pop(&mut self) -> Result<Option<Event>, TryReserveError> {
        if self.current.is_empty() && self.late.is_empty() && !self.advance()? {
            return Ok(None);
        }
        let late = self.late.peek().map(|event| event.0);
        Ok(match self.current.last() {
            Some(&event) if late.is_none_or(|late| event <= late) => self.current.pop(),
            _ => self.late.pop().map(|event| event.0),
        })
    }

    /// Moves on to the next time that has events. Returns whether there is one.
    fn advance(&mut self) -> Result<bool, TryReserveError> {
        let mut buckets = self.later.iter_mut();
        let Some(bucket) = buckets.find(|bucket| !bucket.is_empty()) else {
            return Ok(false);
        };
        let events = core::mem::take(bucket);
        let first = events.iter().map(|event| event.time).min();
        self.now = first.unwrap_or(self.now);
        for event in events {
            match (event.time ^ self.now).checked_ilog2() {
                None => append(&mut self.current, event)?,
                Some(bit) => append(&mut self.later[bit as usize], event)?,
            }
        }
        self.current.sort_unstable_by(|a, b| b.cmp(a));
        Ok(true)
    }
}

fn append(events: &mut Vec<Event>, event: Event) -> Result<(), TryReserveError> {
    events.try_reserve(1)?;
    events.push(event);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Event, EventKind, EventQueue};
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order(steps in prop::collection::vec((0_u64..1 << 40, 0_u64..4, any::<bool>()), 1..300)) {
            let (mut events, mut oracle, mut now) = (EventQueue::new(), BTreeSet::new(), 0);
            for (message, (delay, tie, near)) in (0..).zip(steps) {
                let time = now + if near { delay % 3 } else { delay };
                let event = Event { time, tie, message, kind: EventKind::Inject };
                events.push(event).expect("room");
                oracle.insert(event);
                if message % 3 == 2 {
                    let next = events.pop().expect("room");
                    prop_assert_eq!(next, oracle.pop_first());
                    now = next.map_or(now, |event| event.time);
                }
            }
            while let Some(event) = oracle.pop_first() {
                prop_assert_eq!(events.pop(), Ok(Some(event)));
            }
            prop_assert_eq!(events.pop(), Ok(None));
        }
    }
}
