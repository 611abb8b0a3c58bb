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

    /// Starts again with the first place.
    pub(crate) fn restart(&mut self) {
        self.next = 0;
    }

    /// Copies the content of the first place in `bytes` to the places of `repetitions` messages.
    pub(crate) fn copy_first(&self, bytes: &mut [u8], repetitions: usize) {
        for place in 1..self.places().min(repetitions) {
            bytes.copy_within(..self.length, place * self.stride);
        }
    }

    /// The number of whole places in the first `most` bytes, at least one, and the bytes from the first of them to the one
    /// after the last.
    #[cfg(feature = "alloc")]
    pub(crate) fn chunk(&self, most: usize) -> (usize, usize) {
        match most.checked_div(self.stride) {
            None => (1, self.length),
            Some(fit) => {
                let places = fit.clamp(1, self.places());
                (places, places * self.stride)
            }
        }
    }

    /// The bytes from the start of the first place to the end of that of the last of `repetitions` messages.
    #[cfg(feature = "alloc")]
    pub(crate) fn extent(&self, repetitions: usize) -> usize {
        let places = self.places().min(repetitions);
        places.saturating_sub(1) * self.stride + self.length
    }
}
