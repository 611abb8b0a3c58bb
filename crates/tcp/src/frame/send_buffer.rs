//! [`SendBuffer`]: frames that wait to be written to one peer.

use oxmpi_wire::{Header, Put, Slot};

use super::frame_len;

/// The bytes of frames in their order, and the place of one chunk of bulk between them.
///
/// The bulk itself stays in the user's memory: it is written after [`SendBuffer::head`] and before
/// [`SendBuffer::tail`]. One chunk at a time keeps the order of the stream; frames pass between chunks.
#[derive(Debug)]
pub struct SendBuffer {
    buffer: Box<[u8]>,
    /// The bytes `start..end` wait.
    start: usize,
    end: usize,
    /// Where in `buffer` the bulk belongs; meaningless without bulk.
    cut: usize,
    bulk: u64,
}

impl SendBuffer {
    /// A buffer of `bytes` bytes. The system provides its memory at first use.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            buffer: vec![0; bytes].into(),
            start: 0,
            end: 0,
            cut: 0,
            bulk: 0,
        }
    }

    /// Whether there is room for a frame with a body of `len` bytes.
    ///
    /// # Cost
    /// A compare. At the end of the buffer, waiting bytes move to its front if they fill at most half of
    /// it: on average a byte moves less than once.
    #[inline]
    pub fn has_room(&mut self, len: usize) -> bool {
        let wanted = frame_len(len);
        if wanted <= self.buffer.len() - self.end {
            return true;
        }
        self.move_up(wanted)
    }

    #[cold]
    #[inline(never)]
    fn move_up(&mut self, wanted: usize) -> bool {
        let waiting = self.end - self.start;
        let half = self.buffer.len() / 2;
        if waiting > half || wanted > self.buffer.len() - waiting {
            return false;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.cut = self.cut.saturating_sub(self.start);
        (self.start, self.end) = (0, waiting);
        true
    }

    /// Begins a frame, if there is room: put its body of `head.len` bytes, then send.
    #[inline]
    pub fn begin(&mut self, head: &Header) -> Option<FrameSlot<'_>> {
        self.begin_with(head, head.len as usize)
    }

    /// Begins a frame whose body has `len` bytes in the buffer; the rest is bulk.
    #[inline]
    fn begin_with(&mut self, head: &Header, len: usize) -> Option<FrameSlot<'_>> {
        if !self.has_room(len) {
            return None;
        }
        let body = self.end + Header::LEN;
        self.buffer[self.end..body].copy_from_slice(&head.bytes());
        Some(FrameSlot {
            at: body,
            limit: body + len,
            buffer: self,
        })
    }

    /// Puts the frame `head` with the body `control`, and the place of its bulk, which the caller writes.
    /// False: no room, or the bulk before is not all written.
    pub fn announce(&mut self, head: &Header, control: &[u8]) -> bool {
        if self.bulk > 0 {
            return false;
        }
        let Some(mut slot) = self.begin_with(head, control.len()) else {
            return false;
        };
        slot.put(control);
        slot.send();
        self.cut = self.end;
        self.bulk = u64::from(head.len) - control.len() as u64;
        true
    }

    /// Keeps the rest of a frame whose first bytes have been written.
    ///
    /// # Panics
    /// If there is no room. An empty buffer has room for one frame.
    pub fn keep(&mut self, rest: [&[u8]; 2]) {
        for bytes in rest {
            let end = self.end + bytes.len();
            self.buffer[self.end..end].copy_from_slice(bytes);
            self.end = end;
        }
    }

    /// Whether nothing waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end && self.bulk == 0
    }

    /// Whether a chunk of bulk is under way.
    #[must_use]
    pub fn has_bulk(&self) -> bool {
        self.bulk > 0
    }

    /// The bytes to write first.
    #[inline]
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.buffer[self.start..if self.bulk > 0 { self.cut } else { self.end }]
    }

    /// Bytes of bulk to write after [`SendBuffer::head`].
    #[inline]
    #[must_use]
    pub fn bulk(&self) -> u64 {
        self.bulk
    }

    /// The bytes to write after the bulk.
    #[must_use]
    pub fn tail(&self) -> &[u8] {
        &self.buffer[if self.bulk > 0 { self.cut } else { self.end }..self.end]
    }

    /// `count` more bytes of head, bulk and tail were written. Returns how many of them are bulk.
    ///
    /// # Panics
    /// If fewer bytes waited.
    pub fn sent(&mut self, count: u64) -> u64 {
        let head = (self.head().len() as u64).min(count);
        let bulk = self.bulk.min(count - head);
        let tail = count - head - bulk;
        self.bulk -= bulk;
        self.start += (head + tail) as usize;
        assert!(self.start <= self.end, "more bytes written than waited");
        if self.start == self.end && self.bulk == 0 {
            (self.start, self.end, self.cut) = (0, 0, 0);
        }
        bulk
    }

    /// Drops all that waits.
    pub fn clear(&mut self) {
        (self.start, self.end, self.cut, self.bulk) = (0, 0, 0, 0);
    }
}

/// A frame under construction in a [`SendBuffer`]. Dropped without [`Slot::send`], it leaves nothing.
#[derive(Debug)]
pub struct FrameSlot<'a> {
    buffer: &'a mut SendBuffer,
    at: usize,
    limit: usize,
}

impl Put for FrameSlot<'_> {
    #[inline]
    fn room(&self) -> usize {
        self.limit - self.at
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "a body longer than announced");
        let end = self.at + bytes.len();
        self.buffer.buffer[self.at..end].copy_from_slice(bytes);
        self.at = end;
    }
}

impl Slot for FrameSlot<'_> {
    #[inline]
    fn send(self) {
        assert!(self.at == self.limit, "a body shorter than announced");
        self.buffer.end = self.at;
    }
}
