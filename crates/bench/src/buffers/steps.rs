//! Where successive messages lie in a buffer.

use super::OffCache;

/// The places of messages of one length, each `stride` bytes after the one before, until the space is used
/// up; then again from its beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    /// Bytes of the buffer.
    space: usize,
    length: usize,
    /// 0: all messages use one place.
    stride: usize,
    /// Where the next message starts.
    next: usize,
}

impl Steps {
    /// One place for all messages.
    pub(crate) const fn still(length: usize) -> Self {
        Steps {
            space: length,
            length,
            stride: 0,
            next: 0,
        }
    }

    /// Places through `space` bytes; one place for empty messages.
    pub(crate) fn walking(space: usize, length: usize, off_cache: OffCache) -> Self {
        Steps {
            space,
            stride: if length == 0 {
                0
            } else {
                off_cache.stride(length)
            },
            ..Steps::still(length)
        }
    }

    /// Bytes of a message.
    #[inline]
    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    /// Bytes of the buffer.
    #[cfg(feature = "alloc")]
    pub(crate) const fn space(&self) -> usize {
        self.space
    }

    /// Where the next message starts; 0 begins another walk through the space.
    #[inline]
    pub(crate) fn advance(&mut self) -> usize {
        let start = self.next;
        self.next += self.stride;
        if self.next + self.length > self.space {
            self.next = 0;
        }
        start
    }

    /// Where the message of a repetition starts.
    pub(crate) fn of(&self, repetition: usize) -> usize {
        repetition % self.places() * self.stride
    }

    /// The number of places.
    pub(crate) fn places(&self) -> usize {
        let further = (self.space - self.length).checked_div(self.stride);
        1 + further.unwrap_or(0)
    }

    /// Starts again with the first place. Returns where the further places of the next `repetitions` messages start.
    pub(crate) fn restart(&mut self, repetitions: usize) -> impl Iterator<Item = usize> + use<> {
        self.next = 0;
        let stride = self.stride;
        (1..self.places().min(repetitions)).map(move |place| place * stride)
    }
}
