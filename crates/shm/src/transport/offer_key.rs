//! What a region's key says of its offer ([`OfferKey`]), or of memory that peers have mapped ([`MappedKey`]).

use oxmpi_wire::Key;
use oxmpi_wire::layout::StridedRuns;
use oxmpi_wire::regions::RegionId;

/// The registered regions of one rank. A region's note is the peer that it is offered to, and the offer.
pub(super) type OfferedRegions<B> = oxmpi_wire::regions::Regions<B, Option<(u32, OfferKey)>>;

/// How a peer may take the bytes of a region without asking for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OfferKey {
    /// The place of the offer that the peer claims, and its generation.
    pub(super) place: Option<u32>,
    pub(super) generation: u32,
    /// The address of the first byte if the bytes are contiguous, else 0.
    pub(super) address: u64,
    /// Offset of the first byte in the owner's area of the heap, if all lie there.
    pub(super) heap: Option<u64>,
    /// Of bytes there that are not contiguous: their ranges.
    pub(super) ranges: Option<EqualRanges>,
    /// The ping-pong window in which the bytes go over with the message.
    pub(super) pushed: Option<PushedWindow>,
}

/// Ranges of equal length at equal distances, of bytes in the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EqualRanges {
    /// Bytes of a range, at least 1; of the last one perhaps fewer.
    pub(super) len: u32,
    /// Bytes from the start of one range to the start of the next.
    pub(super) stride: i32,
}

impl EqualRanges {
    /// Shortest range, in bytes, of which each is worth a copy of its own.
    const MIN_LEN: u32 = 64;

    /// These ranges, where a key can say them and they are long enough.
    pub(super) fn of(runs: &StridedRuns) -> Option<Self> {
        let len = u32::try_from(runs.len).ok()?;
        let stride = i32::try_from(runs.stride).ok()?;
        (len >= Self::MIN_LEN).then_some(Self { len, stride })
    }

    const fn word(self) -> u64 {
        (self.stride.cast_unsigned() as u64) << 32 | self.len as u64
    }

    const fn of_word(word: u64) -> Option<Self> {
        let (len, stride) = (word as u32, ((word >> 32) as u32).cast_signed());
        match len {
            0 => None,
            _ => Some(Self { len, stride }),
        }
    }

    pub(super) const fn runs(self) -> StridedRuns {
        StridedRuns {
            offset: 0,
            len: self.len as u64,
            stride: self.stride as i64,
            times: u64::MAX,
        }
    }
}

/// In the word of a place in the heap: the word of the address is that of [`EqualRanges`].
const RANGES: u64 = 1 << 63;

/// A ping-pong window that was filled before the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PushedWindow {
    /// Its number, as the owner counts windows.
    pub(super) window: u8,
    /// Bytes in it when the message left, in units of [`PushedWindow::PAGE`].
    pub(super) pages: u16,
}

impl PushedWindow {
    /// The unit of `pages`, in bytes.
    pub(super) const PAGE: u64 = 1024;

    /// Window `window` with `filled` bytes.
    pub(super) fn new(window: usize, filled: u64) -> Self {
        Self {
            window: window as u8,
            pages: (filled / Self::PAGE).min(u16::MAX.into()) as u16,
        }
    }
}

impl OfferKey {
    /// The key of region `region`, which is offered so.
    pub(super) fn key(&self, region: RegionId) -> Key {
        let OfferKey {
            place,
            generation,
            address,
            heap,
            ranges,
            pushed,
        } = *self;
        let place = place.map_or(0, |place| u64::from(place) + 1);
        let pushed = pushed.map_or(0, |PushedWindow { window, pages }| {
            u64::from(pages) << 8 | (u64::from(window) + 1)
        });
        let offer = pushed << 40 | place << 32 | u64::from(generation);
        let heap = heap.map_or(0, |at| at + 1);
        match ranges {
            None => region.key([offer, address, heap]),
            Some(ranges) => region.key([offer, ranges.word(), heap | RANGES]),
        }
    }

    /// The offer in a key.
    pub(super) fn of_key(key: &Key) -> Self {
        let (_, [offer, address, heap]) = RegionId::from_key(key);
        let window = ((offer >> 40) as u8).checked_sub(1);
        let has_ranges = heap & RANGES != 0;
        let ranges = EqualRanges::of_word(address).filter(|_| has_ranges);
        let heap = (heap & !RANGES).checked_sub(1);
        Self {
            place: u32::from((offer >> 32) as u8).checked_sub(1),
            generation: offer as u32,
            address: if has_ranges { 0 } else { address },
            heap: heap.filter(|_| has_ranges == ranges.is_some()),
            ranges,
            pushed: window.map(|window| PushedWindow {
                window,
                pages: (offer >> 48) as u16,
            }),
        }
    }
}

/// Where the bytes of a region lie that peers may read and write in the heap. Such a region has no offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MappedKey {
    /// Offset of the first byte in the owner's area of the heap.
    pub(super) heap: u64,
    /// Number of bytes.
    pub(super) len: u64,
}

impl MappedKey {
    /// The key of region `region`, which lies so.
    pub(super) fn key(&self, region: RegionId) -> Key {
        region.key([0, self.len, self.heap + 1])
    }

    /// The place in a key; `None` if it has none, or has an offer.
    pub(super) fn of_key(key: &Key) -> Option<Self> {
        let (_, [offer, len, heap]) = RegionId::from_key(key);
        let heap = heap.checked_sub(1).filter(|_| offer == 0)?;
        Some(Self { heap, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_there_and_back() {
        let name = RegionId::from_word(3 << 32 | 9);
        let all = [
            OfferKey::default(),
            OfferKey {
                place: Some(0),
                generation: 7,
                address: 1 << 47,
                heap: Some(0),
                ranges: None,
                pushed: Some(PushedWindow::new(3, 5 * PushedWindow::PAGE + 1)),
            },
            OfferKey {
                place: Some(31),
                heap: Some(1 << 40),
                ranges: Some(EqualRanges {
                    len: u32::MAX,
                    stride: i32::MIN,
                }),
                ..OfferKey::default()
            },
        ];
        for offered in all {
            let key = offered.key(name);
            assert_eq!(
                (RegionId::from_key(&key).0, OfferKey::of_key(&key)),
                (name, offered)
            );
            assert_eq!(MappedKey::of_key(&key), None);
        }
        let empty = name.key([1 << 32, 5 << 32, RANGES | 1]);
        assert_eq!(OfferKey::of_key(&empty).heap, None, "ranges of no bytes");
        let mapped = MappedKey { heap: 0, len: 9 };
        let key = mapped.key(name);
        assert_eq!(MappedKey::of_key(&key), Some(mapped));
        assert_eq!(OfferKey::of_key(&key).place, None, "nothing to claim");
    }
}
