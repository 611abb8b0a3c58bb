//! What waits to be written to one peer.

use oxmpi_wire::{Header, Put, Slot};

use super::framed;

/// Frames in the order in which they were sent, as bytes, and one run of bulk between them.
///
/// The bulk is not in here: it is written from where it lies, after [`Outbox::head`] and before
/// [`Outbox::tail`]. One run at a time keeps the order of the stream, and lets frames pass between two
/// runs.
#[derive(Debug)]
pub struct Outbox {
    buffer: Box<[u8]>,
    /// The bytes that wait are those of `start..end`.
    start: usize,
    end: usize,
    /// Where in `buffer` the run of bulk stands; of no meaning without one.
    cut: usize,
    bulk: u64,
}

impl Outbox {
    /// Takes up to `bytes` at once. Memory that is not used costs none.
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

    /// Whether a frame with a body of `len` bytes can be begun now.
    ///
    /// # Cost
    /// A compare. When the end of the buffer is reached, what waits moves to its front, but only if it
    /// is at most half of it: so a byte is moved less than once, on average.
    #[inline]
    pub fn has_room(&mut self, len: usize) -> bool {
        let wanted = framed(len);
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

    /// Begins a frame, if there is room for it: put its body of `head.len` bytes, then send.
    #[inline]
    pub fn begin(&mut self, head: &Header) -> Option<Draft<'_>> {
        self.begin_with(head, head.len as usize)
    }

    /// Begins a frame of which only `len` bytes of the body are put here, and the rest is bulk.
    #[inline]
    fn begin_with(&mut self, head: &Header, len: usize) -> Option<Draft<'_>> {
        if !self.has_room(len) {
            return None;
        }
        let body = self.end + Header::LEN;
        self.buffer[self.end..body].copy_from_slice(&head.bytes());
        Some(Draft {
            at: body,
            limit: body + len,
            outbox: self,
        })
    }

    /// Puts the frame `head` with the body `control`, after which `head` tells of bulk that the caller
    /// writes itself. False: no room, or a run of bulk is not all written yet.
    pub fn announce(&mut self, head: &Header, control: &[u8]) -> bool {
        if self.bulk > 0 {
            return false;
        }
        let Some(mut draft) = self.begin_with(head, control.len()) else {
            return false;
        };
        draft.put(control);
        draft.send();
        self.cut = self.end;
        self.bulk = u64::from(head.len) - control.len() as u64;
        true
    }

    /// Takes the rest of a frame, of which the first bytes have been written.
    ///
    /// # Panics
    /// If there is no room for it. There is for one frame in an empty outbox.
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

    /// Whether a run of bulk is under way.
    #[must_use]
    pub fn has_bulk(&self) -> bool {
        self.bulk > 0
    }

    /// Bytes to write first.
    #[inline]
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.buffer[self.start..if self.bulk > 0 { self.cut } else { self.end }]
    }

    /// Bytes of bulk to write after [`Outbox::head`].
    #[inline]
    #[must_use]
    pub fn bulk(&self) -> u64 {
        self.bulk
    }

    /// Bytes to write after the bulk.
    #[must_use]
    pub fn tail(&self) -> &[u8] {
        &self.buffer[if self.bulk > 0 { self.cut } else { self.end }..self.end]
    }

    /// `count` more bytes of head, bulk and tail have been written. Returns how many of them are bulk.
    ///
    /// # Panics
    /// If there were not as many.
    pub fn wrote(&mut self, count: u64) -> u64 {
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

    /// Forgets what waits.
    pub fn clear(&mut self) {
        (self.start, self.end, self.cut, self.bulk) = (0, 0, 0, 0);
    }
}

/// A frame under construction in an [`Outbox`]. Dropped, it leaves nothing.
#[derive(Debug)]
pub struct Draft<'a> {
    outbox: &'a mut Outbox,
    at: usize,
    limit: usize,
}

impl Put for Draft<'_> {
    #[inline]
    fn room(&self) -> usize {
        self.limit - self.at
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.room(), "a body longer than announced");
        let end = self.at + bytes.len();
        self.outbox.buffer[self.at..end].copy_from_slice(bytes);
        self.at = end;
    }
}

impl Slot for Draft<'_> {
    #[inline]
    fn send(self) {
        assert!(self.at == self.limit, "a body shorter than announced");
        self.outbox.end = self.at;
    }
}
