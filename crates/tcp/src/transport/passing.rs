//! Bulk that goes by page: who sends hands its memory to the kernel, and who receives copies from there.

use std::io;

use oxmpi_os::pages::Pages;
use oxmpi_os::tcp::Stream;

use super::bulk_trials::BulkProtocol;

/// Bytes in a row that go by page, and then by copy.
const TURN: u64 = 256 << 10;

/// Fewer are copied in less time than it takes to hand over a page.
const LEAST: usize = 16 << 10;

/// A way by page for one peer at a time.
#[derive(Debug)]
pub(super) struct Passing {
    /// The longest transfer that takes it.
    most: u64,
    pages: Option<Pages>,
    /// Whose bytes are on the way.
    owner: Option<u32>,
    used: bool,
}

impl Passing {
    /// For transfers of up to `most` bytes.
    pub(super) const fn new(most: u64) -> Self {
        Self {
            most,
            pages: None,
            owner: None,
            used: false,
        }
    }

    /// Whether anything has gone this way.
    pub(super) const fn was_used(&self) -> bool {
        self.used
    }

    /// Whether a transfer of `len` bytes may go by page.
    pub(super) const fn takes(&self, len: u64) -> bool {
        len <= self.most
    }

    /// How many of the next `bytes`, from the region's byte `at` on, go in the same way to `peer`, and whether
    /// that is by page.
    fn turn(&self, peer: u32, (protocol, at): (BulkProtocol, u64), bytes: usize) -> (usize, bool) {
        let under_way = self.owner == Some(peer);
        if protocol == BulkProtocol::Copy && !under_way {
            return (bytes, false);
        }
        let left = (TURN - at % TURN) as usize;
        let turn = bytes.min(left);
        let its_turn = protocol == BulkProtocol::Pages || (at / TURN).is_multiple_of(2);
        let by_page = protocol != BulkProtocol::Copy && its_turn && turn >= LEAST;
        (turn, by_page || under_way)
    }

    /// Takes the first of `bytes`, which begin at this place of a region that goes by this protocol, and says how many
    /// are next: with the pages if they go so.
    pub(super) fn take(
        &mut self,
        peer: u32,
        of: (BulkProtocol, u64),
        bytes: &[u8],
    ) -> (usize, Option<Way<'_>>) {
        let (turn, by_page) = self.turn(peer, of, bytes.len());
        let free = self.owner.is_none_or(|owner| owner == peer);
        if !(by_page && free && self.hold(peer, &bytes[..turn])) {
            return (turn, None);
        }
        (turn, Some(Way(self)))
    }

    /// Holds some of `bytes`, the first of which may be held already; false: it cannot be done.
    fn hold(&mut self, peer: u32, bytes: &[u8]) -> bool {
        if self.pages.is_none() {
            // With room for a page that begins before the turn, and one that ends behind it.
            self.pages = Pages::new(2 * TURN as usize).ok();
        }
        let taken = match &mut self.pages {
            Some(pages) => {
                let next = bytes.get(pages.held()..).unwrap_or_default();
                pages.take(next).map(|()| pages.held())
            }
            None => Err(io::ErrorKind::Unsupported.into()),
        };
        match taken {
            Ok(held) => {
                self.owner = (held > 0).then_some(peer);
                self.used = true;
            }
            // What cannot be taken now cannot be later. What is held goes its way.
            Err(_) => self.most = 0,
        }
        self.owner.is_some()
    }

    /// `peer` is lost: what is on the way to it is dropped.
    pub(super) fn lose(&mut self, peer: u32) {
        if self.owner == Some(peer) {
            (self.pages, self.owner) = (None, None);
        }
    }
}

/// Bytes that were taken.
#[derive(Debug)]
pub(super) struct Way<'a>(&'a mut Passing);

impl Way<'_> {
    /// Writes `head`, then gives what was taken to `to`: how many bytes of both.
    ///
    /// # Errors
    /// As [`Stream::write`].
    pub(super) fn give(self, head: &[u8], to: &Stream) -> io::Result<usize> {
        let begun = match head {
            [] => 0,
            head => to.begin(head)?,
        };
        let Some(pages) = self.0.pages.as_mut().filter(|_| begun == head.len()) else {
            return Ok(begun);
        };
        match pages.give(to) {
            Ok(count) => {
                if pages.held() == 0 {
                    self.0.owner = None;
                }
                Ok(begun + count)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && begun > 0 => Ok(begun),
            Err(error) => Err(error),
        }
    }
}
