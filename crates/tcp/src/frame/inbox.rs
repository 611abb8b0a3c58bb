//! What was read from one peer.

use oxmpi_wire::{Header, Kind};

use super::{Breach, Control, framed};

/// What stands next in the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// A frame with its whole body.
    Frame(Header, &'a [u8]),
    /// A frame of the transport's own. Its bulk follows: see [`Inbox::bulk`].
    Control(Control),
}

/// Bytes that came, until they are whole frames.
#[derive(Debug)]
pub struct Inbox {
    buffer: Box<[u8]>,
    /// The bytes that are not read yet are those of `start..end`.
    start: usize,
    end: usize,
    /// Bytes of the last control frame's bulk that are not taken yet.
    bulk: u64,
    most: u32,
    most_bulk: u32,
}

impl Inbox {
    /// Takes frames whose bodies have `most` bytes at most, and runs of bulk of up to `most_bulk`.
    #[must_use]
    pub fn new(most: u32, most_bulk: u32) -> Self {
        // Two whole frames: while one waits for its end, what follows need not be moved.
        let bytes = 2 * framed(most.max(Control::LEN as u32) as usize);
        Self {
            buffer: vec![0; bytes].into(),
            start: 0,
            end: 0,
            bulk: 0,
            most,
            most_bulk,
        }
    }

    /// The next frame, if it is whole. While [`Inbox::bulk`] is not 0, there is none.
    ///
    /// # Errors
    /// [`Breach`], and the stream has no meaning from there on. A wrong header is told as soon as it is
    /// here, whatever length it claims.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "what it gives borrows from it"
    )]
    pub fn next(&mut self) -> Result<Option<Arrival<'_>>, Breach> {
        let waiting = &self.buffer[self.start..self.end];
        if self.bulk > 0 || waiting.len() < Header::LEN {
            return Ok(None);
        }
        let head = Header::parse(waiting)?;
        if head.kind == Kind::Transport {
            return self.control(head);
        }
        if head.len > self.most {
            let (len, most) = (head.len, self.most);
            return Err(Breach::Length { len, most });
        }
        let whole = framed(head.len as usize);
        if waiting.len() < whole {
            return Ok(None);
        }
        let body = self.start + Header::LEN..self.start + whole;
        self.advance(whole);
        Ok(Some(Arrival::Frame(head, &self.buffer[body])))
    }

    fn control(&mut self, head: Header) -> Result<Option<Arrival<'_>>, Breach> {
        let most = Control::LEN as u32 + self.most_bulk;
        if head.len > most {
            return Err(Breach::Length {
                len: head.len,
                most,
            });
        }
        if head.len < Control::LEN as u32 {
            return Err(Breach::Control(Control::LENGTH));
        }
        let body = &self.buffer[self.start + Header::LEN..self.end];
        let Some(bytes) = body.first_chunk() else {
            return Ok(None);
        };
        let control = Control::parse(bytes, head.len)?;
        if control.header() != head {
            return Err(Breach::Control("marks in its header"));
        }
        self.advance(framed(Control::LEN));
        self.bulk = control.bulk().into();
        Ok(Some(Arrival::Control(control)))
    }

    fn advance(&mut self, len: usize) {
        self.start += len;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Bytes of bulk that stand next in the stream.
    #[inline]
    #[must_use]
    pub fn bulk(&self) -> u64 {
        self.bulk
    }

    /// Takes those bytes of the bulk that are here already.
    pub fn take_bulk(&mut self) -> &[u8] {
        let len = self.bulk.min((self.end - self.start) as u64) as usize;
        let at = self.start;
        self.bulk -= len as u64;
        self.advance(len);
        &self.buffer[at..at + len]
    }

    /// Room for what is read. Never empty, unless a whole frame or bulk waits to be taken.
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        // What is left of a frame has half of the buffer at most, so each byte is moved once at most.
        if self.start > 0 && self.buffer.len() - self.end < self.buffer.len() / 2 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.buffer[self.end..]
    }

    /// `count` bytes were read: as many of the bulk as `straight` went where they belong, the others
    /// are at the front of [`Inbox::space`].
    ///
    /// # Panics
    /// If there was no room for as many, or the bulk is not as long.
    #[inline]
    pub fn came(&mut self, straight: u64, count: usize) {
        assert!(straight <= self.bulk && count <= self.buffer.len() - self.end);
        self.bulk -= straight;
        self.end += count;
    }

    /// Whether nothing waits: no bytes, and no bulk is to come.
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
