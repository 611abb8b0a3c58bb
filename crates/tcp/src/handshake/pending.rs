//! [`PendingQueue`]: a bounded number of connections in the handshake, each for a bounded time.

/// The connections in the handshake. The caller gives the time, in any unit.
///
/// The queue's own clock advances at most an eighth of the timeout from one call to the next: each
/// connection is read several times before its time is over, however seldom the rank polls.
///
/// A full queue drops its oldest connection: silent connections keep a peer out only until as many others
/// have come.
#[derive(Debug)]
pub struct PendingQueue<T> {
    entries: Vec<PendingEntry<T>>,
    capacity: usize,
    timeout: u64,
    /// The time of the last call.
    last_call: u64,
    /// The time of the queue's own clock.
    clock: u64,
}

#[derive(Debug)]
struct PendingEntry<T> {
    number: u64,
    until: u64,
    connection: T,
}

impl<T> PendingQueue<T> {
    /// A queue of `capacity` connections, at least one, with a `timeout` each.
    #[must_use]
    pub fn new(capacity: usize, timeout: u64) -> Self {
        Self {
            entries: Vec::new(),
            capacity: capacity.max(1),
            timeout,
            last_call: 0,
            clock: 0,
        }
    }

    /// Advances the clock.
    fn advance_clock(&mut self, now: u64) {
        let passed = now
            .saturating_sub(self.last_call)
            .min(self.timeout.div_ceil(8));
        self.clock = self.clock.saturating_add(passed);
        self.last_call = now;
    }

    /// Adds `connection` under `number`, which is greater than all before. Returns the one dropped for it.
    pub fn insert(&mut self, number: u64, connection: T, now: u64) -> Option<T> {
        self.advance_clock(now);
        let is_full = self.entries.len() >= self.capacity;
        let dropped = if is_full { self.remove_oldest() } else { None };
        self.entries.push(PendingEntry {
            number,
            until: self.clock.saturating_add(self.timeout),
            connection,
        });
        dropped
    }

    /// The connection `number`.
    pub fn get(&mut self, number: u64) -> Option<&mut T> {
        let at = self.at(number)?;
        Some(&mut self.entries[at].connection)
    }

    /// Removes the connection `number`.
    pub fn remove(&mut self, number: u64) -> Option<T> {
        let at = self.at(number)?;
        Some(self.entries.remove(at).connection)
    }

    /// Removes a connection whose time is over. Call it after all bytes that arrived have been read.
    pub fn overdue(&mut self, now: u64) -> Option<T> {
        self.advance_clock(now);
        let first = self.entries.first()?;
        (first.until <= self.clock).then(|| self.entries.remove(0).connection)
    }

    /// Removes the oldest connection, to make room.
    pub fn remove_oldest(&mut self) -> Option<T> {
        (!self.entries.is_empty()).then(|| self.entries.remove(0).connection)
    }

    /// Number of connections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn at(&self, number: u64) -> Option<usize> {
        let found = self.entries.binary_search_by_key(&number, |p| p.number);
        found.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_and_time_are_bounded() {
        let mut queue = PendingQueue::new(2, 10);
        assert_eq!(queue.insert(1, 'a', 0), None);
        assert_eq!(queue.insert(2, 'b', 5), None);
        assert_eq!(queue.insert(3, 'c', 6), Some('a'), "the oldest is dropped");
        assert_eq!((queue.len(), queue.get(1)), (2, None));
        assert_eq!(queue.get(2), Some(&mut 'b'));
        for now in 7..15 {
            assert_eq!(queue.overdue(now), None);
        }
        assert_eq!(queue.overdue(15), Some('b'));
        assert_eq!(queue.overdue(15), None);
        assert_eq!((queue.remove(3), queue.remove(3)), (Some('c'), None));
        assert!(queue.is_empty());
    }

    #[test]
    fn time_without_a_call_is_not_counted() {
        let mut queue = PendingQueue::new(2, 800);
        assert_eq!(queue.insert(1, 'a', 10_000), None);
        let calls = (11..).map(|call| queue.overdue(call * 10_000));
        assert_eq!(calls.take_while(Option::is_none).count(), 7);
    }
}
