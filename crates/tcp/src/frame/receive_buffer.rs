//! [`ReceiveBuffer`]: bytes that were read from one peer, until they are whole frames.

use oxmpi_wire::{Header, Kind};

use super::{Control, ProtocolViolation, frame_len};

/// What is next in the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Inbound<'a> {
    /// A frame with its whole body.
    Frame(Header, &'a [u8]),
    /// A control frame. Its bulk follows: see [`ReceiveBuffer::bulk`].
    Control(Control),
}

/// A bounded buffer of bytes that arrived. Allocates only in [`ReceiveBuffer::new`].
#[derive(Debug)]
pub struct ReceiveBuffer {
    buffer: Box<[u8]>,
    /// The bytes `start..end` have not been handed out yet.
    start: usize,
    end: usize,
    /// Bytes of the last control frame's bulk that have not been handed out yet.
    bulk: u64,
    max: u32,
    max_bulk: u32,
}

impl ReceiveBuffer {
    /// A buffer for bodies of up to `max` bytes; one frame announces up to `max_bulk` bytes of bulk.
    #[must_use]
    pub fn new(max: u32, max_bulk: u32) -> Self {
        // Two whole frames: an incomplete one is rarely moved.
        let bytes = 2 * frame_len(max.max(Control::LEN as u32) as usize);
        Self {
            buffer: vec![0; bytes].into(),
            start: 0,
            end: 0,
            bulk: 0,
            max,
            max_bulk,
        }
    }

    /// The next frame, if it is whole. While [`ReceiveBuffer::bulk`] is not 0, there is none.
    ///
    /// # Errors
    /// [`ProtocolViolation`]; the rest of the stream is meaningless. An invalid header is an error as soon as
    /// it has arrived, whatever length it claims.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "the item borrows from the buffer"
    )]
    pub fn next(&mut self) -> Result<Option<Inbound<'_>>, ProtocolViolation> {
        let waiting = &self.buffer[self.start..self.end];
        if self.bulk > 0 || waiting.len() < Header::LEN {
            return Ok(None);
        }
        let head = Header::parse(waiting)?;
        if head.kind == Kind::Transport {
            return self.control(head);
        }
        if head.len > self.max {
            let (len, max) = (head.len, self.max);
            return Err(ProtocolViolation::Length { len, max });
        }
        let whole = frame_len(head.len as usize);
        if waiting.len() < whole {
            return Ok(None);
        }
        let body = self.start + Header::LEN..self.start + whole;
        self.advance(whole);
        Ok(Some(Inbound::Frame(head, &self.buffer[body])))
    }

    fn control(&mut self, head: Header) -> Result<Option<Inbound<'_>>, ProtocolViolation> {
        let max = Control::LEN as u32 + self.max_bulk;
        if head.len > max {
            return Err(ProtocolViolation::Length { len: head.len, max });
        }
        if head.len < Control::LEN as u32 {
            return Err(ProtocolViolation::Control(Control::LENGTH));
        }
        let body = &self.buffer[self.start + Header::LEN..self.end];
        let Some(bytes) = body.first_chunk() else {
            return Ok(None);
        };
        let control = Control::parse(bytes, head.len)?;
        if control.header() != head {
            return Err(ProtocolViolation::Control("flags in its header"));
        }
        self.advance(frame_len(Control::LEN));
        self.bulk = control.bulk().into();
        Ok(Some(Inbound::Control(control)))
    }

    fn advance(&mut self, len: usize) {
        self.start += len;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Bytes of bulk that are next in the stream.
    #[inline]
    #[must_use]
    pub fn bulk(&self) -> u64 {
        self.bulk
    }

    /// Hands out the bytes of the bulk that have arrived.
    pub fn take_bulk(&mut self) -> &[u8] {
        let len = self.bulk.min((self.end - self.start) as u64) as usize;
        let at = self.start;
        self.bulk -= len as u64;
        self.advance(len);
        &self.buffer[at..at + len]
    }

    /// Room to read into. Never empty, unless a whole frame or bulk waits to be handed out.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        // An incomplete frame fills half of the buffer at most, so each byte is moved at most once.
        if self.start > 0 && self.buffer.len() - self.end < self.buffer.len() / 2 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.buffer[self.end..]
    }

    /// Bytes were read: `direct` bytes of bulk into the user's memory, and `count` to the front of
    /// [`ReceiveBuffer::space`].
    ///
    /// # Panics
    /// If there is less room, or less bulk.
    #[inline]
    pub fn received(&mut self, direct: u64, count: usize) {
        assert!(direct <= self.bulk && count <= self.buffer.len() - self.end);
        self.bulk -= direct;
        self.end += count;
    }

    /// Whether no bytes wait and no bulk is to come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start == self.end && self.bulk == 0
    }

    /// Whether bytes wait.
    #[inline]
    #[must_use]
    pub fn has_bytes(&self) -> bool {
        self.start != self.end
    }
}
