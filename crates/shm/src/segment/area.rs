//! The part of a segment that bulk transfers use: offers, FIFOs and ping-pong windows ([`BulkArea`]).
//!
//! A process maps it when it first needs it; its pages cost memory once they are touched. A rank has a page of offers
//! for each peer, and a few FIFOs, whatever the number of its peers. A peer that claims an offer writes in its own page
//! only, so a corrupt rank harms only transfers of its own. Each pair has a few ping-pong windows.
//!
//! ```text
//! offers of 0 | offers of 1 | .. | FIFOs of 0 | FIFOs of 1 | .. | windows 0>0 | windows 0>1 | ..
//!
//! offers: a page with the rank's address-space id | a page of offers to 0 | .. | a page of offers to n-1
//! ```

use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use oxmpi_os::cma::{AddressSpaceId, ExpectedAddressSpace};
use oxmpi_os::memory::Mapping;

use super::backing::{Backing, PAGE};
use crate::ring::{BulkOffer, MappedWords, OFFER_WORDS, SharedWords};

/// Offers that a rank can have open to one peer: a page of them.
pub(crate) const OFFERS_PER_PEER: usize = PAGE / (8 * OFFER_WORDS);

/// FIFOs of a rank.
pub(crate) const FIFOS: usize = 4;

/// Bytes of a FIFO.
pub(crate) const FIFO_LEN: usize = 512 << 10;

/// Ping-pong windows of a pair. Each side begins with half of them.
pub(crate) const WINDOWS_PER_PAIR: usize = 4;

/// Greatest size of the ping-pong windows of all pairs together, in bytes.
const WINDOWS_LEN: usize = 256 << 20;

/// Bytes of a ping-pong window of a node of `ranks` ranks: 4 MiB, less with many ranks, and 0 where it would
/// be too short for a long message.
pub(crate) const fn pair_window_len(ranks: u32) -> usize {
    let windows = ranks as usize * ranks as usize * (WINDOWS_PER_PAIR / 2);
    match WINDOWS_LEN / windows {
        0..MIN_WINDOW => 0,
        MAX_WINDOW.. => MAX_WINDOW,
        between => 1 << between.ilog2(),
    }
}

const MIN_WINDOW: usize = 16 << 10;
const MAX_WINDOW: usize = 4 << 20;

/// Bytes of the bulk area of `ranks` ranks.
pub(crate) const fn len(ranks: u32) -> usize {
    let windows = ranks as usize * ranks as usize * (WINDOWS_PER_PAIR / 2);
    windows_at(ranks) + windows * pair_window_len(ranks)
}

/// Offset of the ping-pong windows.
const fn windows_at(ranks: u32) -> usize {
    words_len(ranks) + ranks as usize * FIFOS * FIFO_LEN
}

/// Bytes of its words: all but the FIFOs and windows.
pub(crate) const fn words_len(ranks: u32) -> usize {
    ranks as usize * offers_len(ranks)
}

/// Bytes of one rank's address-space id and offers.
const fn offers_len(ranks: u32) -> usize {
    PAGE + ranks as usize * PAGE
}

/// The mapped bulk areas of all ranks of a node.
#[derive(Debug)]
pub(crate) struct BulkArea {
    mapping: Mapping,
    ranks: u32,
    /// The secret by which peers recognise this process, while the area is mapped.
    _address_space_id: Option<AddressSpaceId>,
}

impl BulkArea {
    /// Maps the areas, which begin at byte `at` of `memory`, for rank `me`.
    pub(crate) fn map(memory: &Backing, at: usize, ranks: u32, me: u32) -> io::Result<Self> {
        // Without an address-space id peers do not use cross-memory attach with this process; nothing else changes.
        let address_space_id = AddressSpaceId::new().ok();
        let proof = address_space_id.as_ref().map(AddressSpaceId::proof);
        let area = Self {
            mapping: memory.map_part(at, len(ranks))?,
            ranks,
            _address_space_id: address_space_id,
        };
        if let Some(proof) = proof {
            let bytes = u128::from_ne_bytes(proof.bytes);
            let words = area.address_space_id(me);
            for (at, word) in [bytes as u64, (bytes >> 64) as u64, proof.at]
                .into_iter()
                .enumerate()
            {
                // SAFETY: the address-space id has three words.
                unsafe { words.store(at, word, Ordering::Release) };
            }
        }
        Ok(area)
    }

    /// The first byte of ping-pong window `index` of `me` and `peer`, as `me` counts them;
    /// [`pair_window_len`] is its length. The peer counts from the other end.
    ///
    /// # Panics
    /// If there is no such rank or window.
    pub(crate) fn pair_window(&self, me: u32, peer: u32, index: usize) -> *mut u8 {
        assert!(me < self.ranks && peer < self.ranks && index < WINDOWS_PER_PAIR);
        let (from, to, index) = if index < WINDOWS_PER_PAIR / 2 {
            (me, peer, index)
        } else {
            (peer, me, WINDOWS_PER_PAIR - 1 - index)
        };
        let pair = from as usize * self.ranks as usize + to as usize;
        let window = pair * (WINDOWS_PER_PAIR / 2) + index;
        let at = windows_at(self.ranks) + window * pair_window_len(self.ranks);
        self.mapping.base().wrapping_add(at)
    }

    /// Gives this process pages for some bytes of window `index` of [`BulkArea::pair_window`], all at once:
    /// page faults one by one cost more than copying the bytes.
    ///
    /// # Errors
    /// The error of madvise: no memory is left, or the kernel is older than 5.14.
    pub(crate) fn populate_pair_window(
        &self,
        me: u32,
        peer: u32,
        index: usize,
        bytes: Range<usize>,
    ) -> io::Result<()> {
        let first = self.pair_window(me, peer, index).addr() - self.mapping.base().addr();
        let start = bytes.start / PAGE * PAGE;
        let len = (bytes.end - start).next_multiple_of(PAGE);
        self.mapping.populate(first + start, len)
    }

    /// Offer `index` of `rank` to `peer`.
    ///
    /// # Panics
    /// If there is no such rank, peer or offer.
    pub(crate) fn offer(&self, rank: u32, peer: u32, index: usize) -> BulkOffer<MappedWords<'_>> {
        assert!(peer < self.ranks && index < OFFERS_PER_PEER);
        let at = PAGE + peer as usize * PAGE + index * OFFER_WORDS * 8;
        BulkOffer::new(self.words(rank, at, OFFER_WORDS), 0)
    }

    /// The first of the [`FIFO_LEN`] bytes of FIFO `index` of `rank`.
    ///
    /// # Panics
    /// If there is no such rank or FIFO.
    pub(crate) fn fifo(&self, rank: u32, index: usize) -> *mut u8 {
        assert!(rank < self.ranks && index < FIFOS);
        let fifo = rank as usize * FIFOS + index;
        let at = words_len(self.ranks) + fifo * FIFO_LEN;
        self.mapping.base().wrapping_add(at)
    }

    /// The proof of the process of `rank`, once that has mapped its area.
    pub(crate) fn proof(&self, rank: u32) -> Option<ExpectedAddressSpace> {
        let words = self.address_space_id(rank);
        // SAFETY: the address-space id has three words; the address is written last.
        let at = unsafe { words.load(2, Ordering::Acquire) };
        // SAFETY: as above.
        let low = unsafe { words.load(0, Ordering::Acquire) };
        // SAFETY: as above.
        let high = unsafe { words.load(1, Ordering::Acquire) };
        let bytes = (u128::from(high) << 64 | u128::from(low)).to_ne_bytes();
        (at != 0).then_some(ExpectedAddressSpace { at, bytes })
    }

    fn address_space_id(&self, rank: u32) -> MappedWords<'_> {
        self.words(rank, 0, 3)
    }

    fn words(&self, rank: u32, at: usize, len: usize) -> MappedWords<'_> {
        assert!(rank < self.ranks && at + len * 8 <= offers_len(self.ranks));
        let start = rank as usize * offers_len(self.ranks);
        let base = self.mapping.base().wrapping_add(start + at);
        let base = NonNull::new(base).expect("mapped memory");
        // SAFETY: inside the mapping by the assertion and aligned, since all parts are whole pages and
        // `at` is a multiple of a line; the mapping lives as long as `self`, and everything in it
        // is reached by atomics or opaque copies.
        unsafe { MappedWords::new(base.cast(), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_os::memory::Memfd;

    #[test]
    fn nothing_overlaps() {
        let memory = Backing::Shared(Memfd::create("oxmpi-test", len(2)).unwrap());
        let area = BulkArea::map(&memory, 0, 2, 1).unwrap();
        let mut parts = std::vec::Vec::new();
        for rank in 0..2 {
            parts.push((area.address_space_id(rank).address(0).addr(), PAGE));
            parts.extend((0..FIFOS).map(|index| (area.fifo(rank, index).addr(), FIFO_LEN)));
            for peer in 0..2 {
                for index in 0..OFFERS_PER_PEER {
                    let first = area.offer(rank, peer, index).words().address(0);
                    parts.push((first.addr(), OFFER_WORDS * 8));
                }
                for index in 0..WINDOWS_PER_PAIR / 2 {
                    let first = area.pair_window(rank, peer, index);
                    let across = area.pair_window(peer, rank, WINDOWS_PER_PAIR - 1 - index);
                    assert_eq!(first, across);
                    parts.push((first.addr(), pair_window_len(2)));
                }
            }
        }
        parts.sort_unstable();
        let base = area.mapping.base().addr();
        assert_eq!(parts[0].0, base);
        for pair in parts.windows(2) {
            assert_eq!(pair[0].0 + pair[0].1, pair[1].0);
        }
        let last = parts[parts.len() - 1];
        assert_eq!(last.0 + last.1, base + len(2));
    }

    #[test]
    fn ping_pong_windows_are_bounded() {
        assert_eq!(pair_window_len(2), 4 << 20);
        for ranks in 1..=1 << 16 {
            let (window, windows) = (pair_window_len(ranks), ranks as usize * ranks as usize * 2);
            assert!(window == 0 || window.is_power_of_two() && window >= MIN_WINDOW);
            assert!(window * windows <= WINDOWS_LEN);
        }
    }

    #[test]
    fn a_rank_is_known_by_its_address_space_id() {
        let memory = Backing::Shared(Memfd::create("oxmpi-test", len(2)).unwrap());
        let one = BulkArea::map(&memory, 0, 2, 1).unwrap();
        assert_eq!(one.proof(0), None);
        let proof = one.proof(1).expect("the system gives random bytes");
        let found = oxmpi_os::cma::read(std::process::id(), &proof, 0, &mut []);
        assert!(matches!(
            found,
            Ok(()) | Err(oxmpi_os::cma::CmaError::Forbidden)
        ));
    }
}
