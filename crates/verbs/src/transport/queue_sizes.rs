//! [`QueueSizes`]: which receive queue a message takes.

use super::control::Control;
use super::receive_queues::ReceiveQueue;

/// The receive queues of a rank by the size of their buffers.
#[derive(Debug, Clone)]
pub(super) struct QueueSizes {
    /// Bytes of a body, and the queue, the smallest first.
    by_size: Vec<(u32, u8)>,
    accesses: u8,
}

impl QueueSizes {
    /// Those of [checked](ReceiveQueue::check_all) queues.
    pub(super) fn new(queues: &[ReceiveQueue]) -> Self {
        let sizes = queues.iter().map(ReceiveQueue::size);
        let mut by_size: Vec<(u32, u8)> = sizes.zip(0..).collect();
        by_size.sort_unstable();
        // Of a queue pair that takes receives from a shared queue, some are lost if accesses end it.
        let own = queues.iter().position(|queue| !queue.is_shared());
        Self {
            by_size,
            accesses: own.unwrap_or(0) as u8,
        }
    }

    /// The same queues on another rail: queues are numbered by rail, and there by their place in the setting.
    pub(super) fn on_rail(&self, rail: u8) -> Self {
        let moved = |queue: u8| queue % self.count() + rail * self.count();
        let by_size = self.by_size.iter();
        Self {
            by_size: by_size
                .map(|(size, queue)| (*size, moved(*queue)))
                .collect(),
            accesses: moved(self.accesses),
        }
    }

    /// The rail of a queue.
    pub(super) fn rail_of(&self, queue: u8) -> u8 {
        queue / self.count()
    }

    /// All queues of a rail.
    pub(super) fn queues_of(&self, rail: u8) -> std::ops::Range<usize> {
        let first = usize::from(rail) * self.by_size.len();
        first..first + self.by_size.len()
    }

    /// The queue of the smallest buffers that hold a body of `len` bytes.
    ///
    /// # Panics
    /// If none does.
    #[inline]
    pub(super) fn smallest(&self, len: u32) -> u8 {
        let found = self.by_size.iter().find(|(size, _)| *size >= len);
        found.expect("the longest frame fits the largest buffers").1
    }

    /// Bytes of a body that the smallest buffers hold, and their queue.
    pub(super) fn smallest_of_all(&self) -> (u32, u8) {
        self.by_size[0]
    }

    /// The queue of the transport's own frames.
    pub(super) fn of_control(&self) -> u8 {
        self.smallest(Control::LEN as u32)
    }

    /// The queue by whose queue pair memory is read and written.
    pub(super) const fn of_accesses(&self) -> u8 {
        self.accesses
    }

    /// Queues of a rail.
    pub(super) fn count(&self) -> u8 {
        self.by_size.len() as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_takes_the_smallest_buffers_that_hold_it() {
        let queues = ReceiveQueue::parse_all("S,4096:P,128:S,2048:P,32").unwrap();
        let sizes = QueueSizes::new(&queues);
        for (len, queue) in [(0, 3), (32, 3), (33, 1), (128, 1), (129, 2), (4096, 0)] {
            assert_eq!(sizes.smallest(len), queue, "{len} B");
        }
        assert_eq!((sizes.of_control(), sizes.of_accesses()), (1, 1));
    }

    #[test]
    fn each_rail_has_queues_of_its_own() {
        let queues = ReceiveQueue::parse_all("S,4096:P,128").unwrap();
        let sizes = QueueSizes::new(&queues).on_rail(3).on_rail(2);
        let found = [100, 200].map(|len| sizes.smallest(len));
        assert_eq!((found, sizes.of_accesses()), ([5, 4], 5));
        let rails = [4, 5, 6].map(|queue| sizes.rail_of(queue));
        assert_eq!((rails, sizes.queues_of(2)), ([2, 2, 3], 4..6));
    }
}
