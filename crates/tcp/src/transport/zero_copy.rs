//! Zero copy by vmsplice: the sender hands pages to the kernel, and only the receiver copies.

use std::io;

use oxmpi_os::pages::PagePipe;
use oxmpi_os::tcp::Stream;

use super::bulk_trials::KernelCopy;

/// Consecutive bytes that go by page, and then as many by copy, in [`KernelCopy::Alternate`].
const SPAN: u64 = 256 << 10;

/// Shortest piece that goes by page: for fewer bytes a copy takes less time.
const MIN_LEN: usize = 16 << 10;

/// One pipe for pages. One peer uses it at a time.
#[derive(Debug)]
pub(super) struct ZeroCopy {
    /// The longest transfer that may go by page.
    max_len: u64,
    pipe: Option<PagePipe>,
    /// The peer whose bytes are in the pipe.
    owner: Option<u32>,
    used: bool,
}

impl ZeroCopy {
    /// Zero copy for transfers of up to `max_len` bytes.
    pub(super) const fn new(max_len: u64) -> Self {
        Self {
            max_len,
            pipe: None,
            owner: None,
            used: false,
        }
    }

    /// Whether the kernel has got any page.
    pub(super) const fn was_used(&self) -> bool {
        self.used
    }

    /// Whether a transfer of `len` bytes may go by page.
    pub(super) const fn takes(&self, len: u64) -> bool {
        len <= self.max_len
    }

    /// The number of the next `bytes`, from the region's byte `at` on, that go to `peer` alike, and
    /// whether they go by page.
    fn span(&self, peer: u32, (protocol, at): (KernelCopy, u64), bytes: usize) -> (usize, bool) {
        let in_flight = self.owner == Some(peer);
        if protocol == KernelCopy::Copy && !in_flight {
            return (bytes, false);
        }
        let left = (SPAN - at % SPAN) as usize;
        let len = bytes.min(left);
        let is_page_span = protocol == KernelCopy::Pages || (at / SPAN).is_multiple_of(2);
        let by_page = protocol != KernelCopy::Copy && is_page_span && len >= MIN_LEN;
        (len, by_page || in_flight)
    }

    /// Takes the first of `bytes`, which begin at the given byte of a region that goes by the given protocol.
    /// Returns their number, and their pages if they go by page.
    pub(super) fn take(
        &mut self,
        peer: u32,
        of: (KernelCopy, u64),
        bytes: &[u8],
    ) -> (usize, Option<TakenPages<'_>>) {
        let (len, by_page) = self.span(peer, of, bytes.len());
        let free = self.owner.is_none_or(|owner| owner == peer);
        if !(by_page && free && self.fill_pipe(peer, &bytes[..len])) {
            return (len, None);
        }
        (len, Some(TakenPages(self)))
    }

    /// Fills the pipe with `bytes`, the first of which may be in it already. False: the pipe is empty.
    fn fill_pipe(&mut self, peer: u32, bytes: &[u8]) -> bool {
        if self.pipe.is_none() {
            // With room for a page that starts before the span, and for one that ends behind it.
            self.pipe = PagePipe::new(2 * SPAN as usize).ok();
        }
        let taken = match &mut self.pipe {
            Some(pipe) => {
                let next = bytes.get(pipe.held()..).unwrap_or_default();
                pipe.take(next).map(|()| pipe.held())
            }
            None => Err(io::ErrorKind::Unsupported.into()),
        };
        match taken {
            Ok(held) => {
                self.owner = (held > 0).then_some(peer);
                self.used = true;
            }
            // A refusal is permanent. Pages that are in the pipe still leave.
            Err(_) => self.max_len = 0,
        }
        self.owner.is_some()
    }

    /// Drops the pages in the pipe if they are for the lost `peer`.
    pub(super) fn lose(&mut self, peer: u32) {
        if self.owner == Some(peer) {
            (self.pipe, self.owner) = (None, None);
        }
    }
}

/// The pages in the pipe, ready to be written.
#[derive(Debug)]
pub(super) struct TakenPages<'a>(&'a mut ZeroCopy);

impl TakenPages<'_> {
    /// Writes `head` and then the pages to `stream`. Returns how many bytes of both the kernel accepted.
    ///
    /// # Errors
    /// As [`Stream::write`].
    pub(super) fn write(self, head: &[u8], stream: &Stream) -> io::Result<usize> {
        let sent = match head {
            [] => 0,
            head => stream.write_more(head)?,
        };
        let Some(pipe) = self.0.pipe.as_mut().filter(|_| sent == head.len()) else {
            return Ok(sent);
        };
        match pipe.give(stream) {
            Ok(count) => {
                if pipe.held() == 0 {
                    self.0.owner = None;
                }
                Ok(sent + count)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && sent > 0 => Ok(sent),
            Err(error) => Err(error),
        }
    }
}
